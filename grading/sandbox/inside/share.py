"""One submission's share of the machine: about one core.

A kernel that uses more, with all it has started, goes to one core with every thread, and so many threads that want to
run get so much less weight there that together they weigh about as much as one. Others move to the other cores by
themselves. Seccomp keeps a submission from changing the first, Linux from changing the second.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Sequence

from .usage import Process, stat_fields

EVERY = 1.0  # seconds between two looks
SHARE = 1.25  # cores, on average between two looks: one, and what a kernel's own threads use beside it
CROWD = 4  # processes that want to run at once; some may end before their time shows anywhere
_NICEST = 19
_WEIGHT = 1.25  # between one nice value and the next, see sched(7)


class Share:
    """What one kernel has used, and what it may."""

    def __init__(self, now: float):
        self._looked = now
        self._used = 0.0

    def hold(self, members: Sequence[Process], now: float) -> None:
        """Put the processes of a kernel on one core if they use more than their share."""
        if (passed := now - self._looked) < EVERY:
            return
        used = sum(process.cpu_seconds for process in members)
        running = sum(process.state == "R" for process in members)
        if used - self._used > SHARE * passed or running > CROWD:
            _put_back(members)
        self._looked, self._used = now, used


def _put_back(members: Sequence[Process]) -> None:
    threads = list(_threads(members))
    running = sum(is_running for _, is_running in threads)
    nice = min(math.ceil(math.log(max(running, 1), _WEIGHT)), _NICEST)
    core = max(os.sched_getaffinity(0))
    for thread, _ in threads:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(thread, {core})
            with contextlib.suppress(PermissionError):  # it is nicer already
                os.setpriority(os.PRIO_PROCESS, thread, nice)


def _threads(members: Sequence[Process]) -> Iterator[tuple[int, bool]]:
    """Every thread, and whether it wants to run."""
    for process in members:
        folder = f"/proc/{process.pid}/task"
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for name in os.listdir(folder):  # noqa: PTH208
                yield int(name), stat_fields(f"{folder}/{name}/stat")[0] == b"R"
