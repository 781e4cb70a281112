"""What keeps a grading run's processes quick to start. Imports nothing of weight, so that it can go before all else."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def importing() -> Iterator[None]:
    """Around imports: nearly all that they make stays, so nobody looks through it for what does not.

    Not while they run, not at each full collection afterwards, and not at the process's end, where it takes a third
    of a second.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
