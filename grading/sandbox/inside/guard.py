"""The guard of one kernel: starts it behind its walls, watches what it uses, ends it, says why it ended.

It stays outside the kernel's PID namespace. A kernel cannot see it, and when the first process of a namespace
ends Linux ends all the others in it: whatever a submission started is gone with its kernel.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import confine

EVERY = 0.1  # seconds between two looks at what the kernel uses


def guard(request: Mapping[str, Any], control: socket.socket, listening: Sequence[int], nested: bool) -> None:
    """Start a kernel and watch it until it ends or the other side of `control` says so or goes away.

    Args:
        request: `key`, `env` (for the kernel alone), `limits`, and `trial`: put up the walls and end.
        listening: descriptors of the kernel's four sockets.
        nested: whether to make new namespaces; without them the kernel is alone in the sandbox's.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        if nested:
            confine.own_namespaces()
    except OSError as error:
        _send(control, "failed", str(error))
        return
    if (kernel := os.fork()) == 0:
        _become_kernel(request, control, listening, nested)
    for descriptor in listening:
        os.close(descriptor)
    reason = _watch(kernel, control, request["limits"], nested)
    with contextlib.suppress(ProcessLookupError):
        os.kill(kernel, signal.SIGKILL)
    _, status, used = os.wait4(kernel, 0)
    cpu_seconds = used.ru_utime + used.ru_stime + time.process_time()
    _send(control, "ended", reason or _describe(status), cpu_seconds=cpu_seconds)


def _become_kernel(
    request: Mapping[str, Any], control: socket.socket, listening: Sequence[int], nested: bool
) -> NoReturn:
    """In the child: put up the walls, forget everything but the sockets, be a kernel.

    The first line of the submission runs when `control` is closed.
    """
    try:
        if nested:
            confine.own_files(request["limits"]["scratch_bytes"])
        confine.hold_to(request["limits"])
        confine.give_up_privileges()
        if request["trial"]:
            os._exit(0)
        os.environ.update(request["env"])
        os.chdir(confine.HOME)
        control, *sockets = _keep_only(control, listening)
        from .kernel import prepare

        app = prepare([listener.detach() for listener in sockets], request["key"])
    except BaseException as error:
        _send(control, "failed", f"{type(error).__name__}: {error}")
        os._exit(70)
    control.close()
    app.start()
    os._exit(0)


def _keep_only(control: socket.socket, listening: Sequence[int]) -> list[socket.socket]:
    """Close every descriptor but these, which get new numbers; standard input and output lead nowhere."""
    high = [
        os.dup2(descriptor, 200 + index) for index, descriptor in enumerate([control.detach(), *listening])
    ]
    nowhere = os.open("/dev/null", os.O_RDWR)
    kept = [os.dup2(nowhere, number) for number in range(3)]
    kept += [os.dup2(descriptor, 3 + index, inheritable=False) for index, descriptor in enumerate(high)]
    os.closerange(len(kept), max(int(name) for name in os.listdir("/proc/self/fd")) + 1)  # noqa: PTH208
    return [socket.socket(fileno=descriptor) for descriptor in kept[3:]]


def _watch(kernel: int, control: socket.socket, limits: Mapping[str, int], nested: bool) -> str:
    """Wait for an end; returns why the kernel has to be ended, or nothing when it has ended by itself."""
    ended = os.pidfd_open(kernel)
    waiting = select.poll()
    waiting.register(ended, select.POLLIN)
    waiting.register(control, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in waiting.poll(EVERY * 1000)]
        if ended in ready:
            return ""
        if control.fileno() in ready:
            if control.recv(100) != b"interrupt":  # "end", or nothing: nobody is there any more
                return "asked"
            os.kill(kernel, signal.SIGINT)
        if excess := _excess(list(_members(kernel, nested)), limits):
            return excess


def _members(kernel: int, nested: bool) -> Iterator[int]:
    """The kernel and every process it has started, or what is left of those."""
    parents = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                parents[int(name)] = int(
                    Path(f"/proc/{name}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
                )
    if not nested:  # the sandbox is this kernel's alone
        yield from parents.keys() - {1, os.getpid(), os.getppid()}
        return
    found, waiting = set(), [kernel]
    while waiting:
        member = waiting.pop()
        found.add(member)
        waiting += [pid for pid, parent in parents.items() if parent == member and pid not in found]
    yield from found


def _excess(members: list[int], limits: Mapping[str, int]) -> str:
    """What the kernel has too much of, or nothing."""
    if len(members) > limits["processes"]:
        return "processes"
    if sum(_used(pid, "status", ("RssAnon", "RssShmem")) for pid in members) > limits["memory_bytes"] and (
        # Forked processes share pages; only this slower count divides them.
        sum(_used(pid, "smaps_rollup", ("Pss",)) for pid in members) > limits["memory_bytes"]
    ):
        return "memory"
    return ""


def _used(pid: int, table: str, names: Sequence[str]) -> int:
    """Bytes of memory that one of the process's tables in /proc shows under these names."""
    try:
        lines = Path(f"/proc/{pid}/{table}").read_text(encoding="utf-8").splitlines()
    except OSError:  # it has ended
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.split(":")[0] in names)


def _describe(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def _send(control: socket.socket, kind: str, text: str, **more: Any) -> None:
    with contextlib.suppress(OSError):  # nobody is there any more
        control.send(json.dumps({kind: text, **more}).encode())
