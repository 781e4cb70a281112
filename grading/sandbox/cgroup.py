"""A cgroup for each kernel, where whoever grades has been given one to divide: Linux then holds the limits itself.

The guard goes on beside it. How to be given one: `systemd-run --user --scope -p Delegate=yes insidebert grade`. See
cgroups(7), version 2; systemd marks what it gives away, and nothing that is not marked is touched.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from functools import cache
from pathlib import Path

from grading.sandbox.limits import Limits

_MOUNTED = Path("/sys/fs/cgroup")
_OURS = Path("/proc/self/cgroup")
_CONTROLLERS = {"cpu", "memory", "pids"}
_SUPERVISORS = (
    "insidebert-supervisors"  # Linux divides nothing among a cgroup's children while it has processes itself
)
_MARK = "user.delegate"
_PERIOD = 100_000  # microseconds: one core is as many in each period


@cache
def delegated() -> Path | None:
    """The cgroup in which kernels get theirs, made ready; None where none was given, or not with all controllers."""
    try:
        own = _own()
        if own is None or os.getxattr(own, _MARK) != b"1":
            return None
        if not set(own.joinpath("cgroup.controllers").read_text("ascii").split()) >= _CONTROLLERS:
            return None
        _make_way(own)
        for name in sorted(_CONTROLLERS):
            _write(own, "cgroup.subtree_control", f"+{name}")
    except OSError:
        return None
    return own


def _own() -> Path | None:
    for line in _OURS.read_text("utf-8").splitlines():
        if line.startswith("0::/"):
            found = _MOUNTED / line.removeprefix("0::/")
            return found.parent if found.name == _SUPERVISORS else found
    return None


def _make_way(own: Path) -> None:
    """Move this process and those beside it into a cgroup below."""
    beside = own / _SUPERVISORS
    beside.mkdir(exist_ok=True)
    for pid in own.joinpath("cgroup.procs").read_text("ascii").split():
        with contextlib.suppress(ProcessLookupError):
            _write(beside, "cgroup.procs", pid)


class KernelGroup:
    """The cgroup of one kernel and all it starts.

    Args:
        within: what `delegated` found.

    Raises:
        OSError: it cannot be made, or not with these limits.
    """

    def __init__(self, within: Path, limits: Limits):
        self.folder = within / f"insidebert-kernel-{secrets.token_hex(8)}"
        self.folder.mkdir()
        _write(self.folder, "memory.max", str(limits.memory_bytes))
        _write(self.folder, "memory.oom.group", "1")  # all of them end, not the largest
        _write(self.folder, "pids.max", str(limits.processes))
        _write(self.folder, "cpu.max", f"{_PERIOD} {_PERIOD}")
        with contextlib.suppress(OSError):  # where Linux counts no swap
            _write(self.folder, "memory.swap.max", "0")

    def take(self, pid: int) -> None:
        """Put a process in; what it starts from now on is in as well."""
        _write(self.folder, "cgroup.procs", str(pid))

    def ran_out_of_memory(self) -> bool:
        """Whether Linux has ended it for that."""
        with contextlib.suppress(OSError):
            events = dict(
                line.split() for line in (self.folder / "memory.events").read_text("ascii").splitlines()
            )
            return int(events.get("oom_kill", 0)) > 0
        return False

    def close(self) -> None:
        """Remove it, once its processes have ended."""
        for _ in range(20):
            try:
                return self.folder.rmdir()
            except OSError:  # one of them is still on its way out
                time.sleep(0.01)
        return None


def _write(folder: Path, name: str, value: str) -> None:
    (folder / name).write_text(value, encoding="ascii")
