"""What a kernel and the processes it started use, as /proc tells it.

Everything is read as bytes: a process may call itself anything. What has ended uses nothing; what is there and cannot
be read is `Unseen`, and no guard lets such a process be.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_ENDED = (FileNotFoundError, ProcessLookupError)
_TICK = os.sysconf("SC_CLK_TCK")
_OWN = ("RssAnon", "RssShmem", "VmSwap")


class Unseen(Exception):
    """A process is there, and what it uses cannot be read."""


@dataclass(frozen=True)
class Process:
    """One process at one moment.

    Attributes:
        state: one letter, such as "R" for running; see proc(5). It is the first thread's.
        cpu_seconds: its own, and those of the children it has waited for.
    """

    pid: int
    parent: int
    state: str
    threads: int
    cpu_seconds: float


def processes() -> dict[int, Process]:
    """Every process that this one can see."""
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            try:
                found[int(name)] = _process(int(name))
            except _ENDED:
                continue
    return found


def _process(pid: int) -> Process:
    fields = stat_fields(f"/proc/{pid}/stat")
    ticks = sum(map(int, fields[11:15]))
    return Process(pid, int(fields[1]), fields[0].decode(), int(fields[17]), ticks / _TICK)


def stat_fields(path: str) -> list[bytes]:
    """What stands in a `stat` file after the name, which may hold spaces, brackets and line ends."""
    return _read(path).rpartition(b")")[2].split()


def descendants(kernel: int, everything: dict[int, Process]) -> list[Process]:
    """The kernel and every process it has started. Those whose parents have ended are the kernel's own children,
    since it is the first process of its namespace."""
    children: dict[int, list[int]] = {}
    for process in everything.values():
        children.setdefault(process.parent, []).append(process.pid)
    found, waiting = [], [kernel]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        if pid in everything:
            found.append(everything[pid])
    return found


def memory(members: Iterable[Process], enough: int) -> int:
    """Bytes of memory that these processes have together, swapped ones included; exact above `enough`.

    Forked processes share pages, and only a slower count divides them. A process that hides that count is charged
    for all it shares.

    Raises:
        Unseen: what a process has cannot be read.
    """
    pids = [process.pid for process in members]
    if (whole := sum(map(_whole, pids))) <= enough:
        return whole
    return sum(map(_divided, pids))


def _whole(pid: int) -> int:
    """What a process has, as if it shared nothing."""
    try:
        return _of_threads(pid)
    except _ENDED:
        return 0
    except OSError as error:
        raise Unseen(str(error)) from error


def _of_threads(pid: int) -> int:
    """All threads have the same memory. The first shows none when it has ended, and others may still go on."""
    if (size := _own(f"/proc/{pid}/status")) is not None:
        return size
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
        with contextlib.suppress(*_ENDED):
            if (size := _own(f"/proc/{pid}/task/{thread}/status")) is not None:
                return size
    return 0


def _own(path: str) -> int | None:
    table = _table(path)
    return sum(table.get(name, 0) for name in _OWN) if "RssAnon" in table else None


def _divided(pid: int) -> int:
    """What a process has, shared pages divided among those that share them."""
    try:
        table = _table(f"/proc/{pid}/smaps_rollup")
    except OSError:  # it has ended, or made itself unreadable, or only threads are left of it
        return _whole(pid)
    return table["Pss"] + table.get("SwapPss", 0) if "Pss" in table else _whole(pid)


def _table(path: str) -> dict[str, int]:
    """The lines of a table in /proc that hold kilobytes, in bytes, by name."""
    lines = (line.split() for line in _read(path).splitlines())
    return {
        words[0][:-1].decode("ascii", "replace"): int(words[1]) * 1024 for words in lines if _is_size(words)
    }


def _is_size(words: Sequence[bytes]) -> bool:
    return len(words) == 3 and words[2] == b"kB" and words[1].isdigit()


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - many times a second
        parts = []
        while part := file.read(1 << 16):
            parts.append(part)
        return b"".join(parts)
