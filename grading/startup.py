"""What keeps a grading run's processes quick to start. Imports nothing itself, so that it can go before everything."""

from __future__ import annotations

import os
import sys

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def lighten() -> None:
    """Make what this process imports next, and the processes it starts, no heavier than grading needs.

    jsonschema compiles a grammar of internationalised addresses at import where it finds one: a second of every
    process, and no notebook has such an address to validate. And a pool of processes is parallel enough without
    each of them starting a thread a core.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None is how one says: not installed
    for name in _THREADS:
        os.environ.setdefault(name, "1")
