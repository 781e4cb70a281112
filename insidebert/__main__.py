"""`python -m insidebert` is `insidebert`."""

import sys

from insidebert.cli import main

sys.exit(main())
