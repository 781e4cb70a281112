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
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from . import confine, usage
from .share import Share

EVERY = 0.1  # seconds between two looks at what the kernel uses


def guard(request: Mapping[str, Any], control: socket.socket, listening: Sequence[int], nested: bool) -> None:
    """Start a kernel and watch it until it ends or the other side of `control` says so or goes away.

    The kernel ends with this function, also when that fails. The other side gets a pidfd of the kernel and sees to it
    that the kernel ends when this process does, whatever it ends of.

    Args:
        request: `key`, `env` (for the kernel alone), `limits`, and `trial`: put up the walls and end.
        listening: descriptors of the kernel's four sockets.
        nested: whether to make new namespaces; without them the kernel is alone in the sandbox's.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()  # no signal to a group of processes goes beyond one kernel, or one guard
    try:
        if nested:
            confine.own_namespaces()
    except OSError as error:
        _send(control, "failed", str(error))
        return
    if (kernel := os.fork()) == 0:
        _become_kernel(request, control, listening, nested)
    try:
        for descriptor in listening:
            os.close(descriptor)
        pidfd = os.pidfd_open(kernel)
        with contextlib.suppress(OSError):  # nobody is there any more, which the watch will see
            socket.send_fds(control, [json.dumps({"started": True}).encode()], [pidfd])
        reason = _watch(kernel, pidfd, control, request["limits"], nested)
    finally:
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
        os.setsid()
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

        app = prepare(
            [listener.detach() for listener in sockets], request["key"], request["limits"]["message_bytes"]
        )
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


def _watch(kernel: int, pidfd: int, control: socket.socket, limits: Mapping[str, int], nested: bool) -> str:
    """Wait for an end; returns why the kernel has to be ended, or nothing when it has ended by itself."""
    share = Share(time.monotonic())
    waiting = select.poll()
    waiting.register(pidfd, select.POLLIN)
    waiting.register(control, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in waiting.poll(EVERY * 1000)]
        if pidfd in ready:
            return ""
        if control.fileno() in ready:
            if control.recv(100) != b"interrupt":  # "end", or nothing: nobody is there any more
                return "asked"
            os.kill(kernel, signal.SIGINT)
        members = _members(kernel, nested)
        if excess := _excess(members, limits):
            return excess
        share.hold(members, time.monotonic())


def _members(kernel: int, nested: bool) -> list[usage.Process]:
    """The kernel and every process it has started, or what is left of those."""
    everything = usage.processes()
    if nested:
        return usage.descendants(kernel, everything)
    ours = (1, os.getpid(), os.getppid())  # the sandbox is this kernel's alone
    return [process for process in everything.values() if process.pid not in ours]


def _excess(members: Sequence[usage.Process], limits: Mapping[str, int]) -> str:
    """What the kernel has too much of, or nothing."""
    if len(members) > limits["processes"]:
        return "processes"
    try:
        used = usage.memory(members, enough=limits["memory_bytes"])
    except usage.Unseen:
        return "unseen"
    return "memory" if used > limits["memory_bytes"] else ""


def _describe(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def _send(control: socket.socket, kind: str, text: str, **more: Any) -> None:
    with contextlib.suppress(OSError):  # nobody is there any more
        control.send(json.dumps({kind: text, **more}).encode())
