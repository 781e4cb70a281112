"""Which processes have a file open: who is to be waited for, or ended."""

from __future__ import annotations

import os
from pathlib import Path

from grading.flags import printable

_WORDS = 4  # of a command line
_PROCESSES = Path("/proc")


def holders_of(file: Path) -> list[str]:
    """The other processes that have a file open, as people know them; none where the system does not tell.

    A database's log beside its file counts as the file.
    """
    wanted = str(file.resolve())
    names = {wanted, f"{wanted}-wal", f"{wanted}-shm", f"{wanted}-journal"}
    found = []
    for process in sorted(_PROCESSES.glob("[0-9]*"), key=lambda path: int(path.name)):
        if int(process.name) != os.getpid() and _opened(process) & names:
            found.append(f"process {process.name} ({_called(process)})")
    return found


def _opened(process: Path) -> set[str]:
    opened = set()
    try:
        for handle in (process / "fd").iterdir():
            opened.add(os.readlink(handle))  # noqa: PTH115 - a pipe's is no path
    except OSError:  # another user's, or gone meanwhile
        pass
    return opened


def _called(process: Path) -> str:
    """The beginning of its command line; what looks like an address may hold a password."""
    try:
        words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return "ended meanwhile"
    shown = [word.rpartition("/")[2] for word in words if word and "://" not in word]
    return printable(" ".join(shown[:_WORDS]))
