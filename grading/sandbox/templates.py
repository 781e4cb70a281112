"""The outer side of the sandbox: templates that run in it, and the kernels they fork.

Each process that grades has one warm template, started at its first submission and closed when the process
ends; it never outlives this one, since both hang on one socket pair. A forked process does not inherit it, unless it
was shared: workers that are forked from one process then fork their kernels from one template.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grading.sandbox import bubblewrap
from grading.sandbox.cgroup import KernelGroup, delegated
from grading.sandbox.isolation import Isolation, KernelLost, SandboxUnavailable
from grading.sandbox.limits import Limits

CHANNELS = ("shell", "stdin", "control", "iopub")  # in the order in which an IPython kernel binds them
_WARM_UP = 180.0  # seconds for the imports, on a busy machine
_LAST_WORD = 5.0  # seconds for a guard to say that all is over, and for Linux to make it so
_LONGEST_PATH = 90  # of the 107 bytes that the name of a Unix socket may have


class Template:
    """A process in a new sandbox that forks kernels.

    Args:
        nested: each kernel gets namespaces of its own and the template serves many; otherwise it serves one.
        preload: import the libraries first.
    """

    def __init__(self, *, nested: bool, preload: bool = True, scratch_bytes: int = Limits.scratch_bytes):
        self.nested = nested
        self.used = False
        self.shared = False
        self._owner = os.getpid()
        self.about: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the template
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._info, their_info = os.pipe()
        settings = {"nested": nested, "preload": preload}
        try:
            self.process = subprocess.Popen(
                bubblewrap.command(theirs.fileno(), their_info, settings, scratch_bytes),
                pass_fds=[theirs.fileno(), their_info],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C in the terminal is for this process alone
            )
        finally:
            theirs.close()
            os.close(their_info)

    def ready(self) -> Template:
        """Waits until its imports are done.

        Raises:
            SandboxUnavailable: it ended, or is not done in time. It is closed.
        """
        waited, _, _ = select.select([self._socket], [], [], _WARM_UP)
        message = self._socket.recv(1 << 16) if waited else b""
        if not message:
            reason = self._last_words()
            self.close()
            raise SandboxUnavailable(f"no kernel can be started in the sandbox: {reason}")
        self.about = json.loads(message)
        return self

    def _last_words(self) -> str:
        self._end()
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it did not answer within {_WARM_UP:.0f} s"

    @property
    def alive(self) -> bool:
        """Whether it is there. A process that did not start it learns that from the first kernel it asks for."""
        return self._owner != os.getpid() or self.process.poll() is None

    def kernel(self, limits: Limits, env: dict[str, str], *, key: str = "", trial: bool = False) -> Kernel:
        """Fork a kernel; as a trial, one that ends when its walls are up.

        Raises:
            KernelLost: the template is gone.
        """
        kernel = Kernel(limits, key)
        try:
            message = json.dumps(
                {"key": kernel.key, "env": env, "limits": asdict(limits), "trial": trial}
            ).encode()
            with self._lock:
                self.used = True
                socket.send_fds(self._socket, [message], kernel.give_away())
        except OSError as error:
            kernel.close()
            raise KernelLost(f"the template is gone ({error.strerror})") from error
        finally:
            kernel.given_away()
        return kernel

    def close(self) -> None:
        """End the template and every kernel of it. Returns when they are gone. A shared one is its owner's to end."""
        if self._owner != os.getpid():
            self.forget()
        else:
            self._end()
            self._socket.close()
            self._errors.close()

    def _end(self) -> None:
        if self._info >= 0:
            info = os.read(self._info, 1 << 16)  # comes at once, or is empty when bubblewrap failed before
            os.close(self._info)
            self._info = -1
            if info and self.process.poll() is None:
                # The first process of the sandbox's PID namespace: Linux ends all the others with it.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(json.loads(info)["child-pid"], signal.SIGKILL)
        self.process.wait()

    def inherit(self) -> None:
        """In a forked process: use it beside the parent. A request is one message, so that none mixes with another."""
        self._lock = threading.Lock()
        self.process.returncode = 0  # nobody's child here

    def forget(self) -> None:
        """In a forked process: let go of what belongs to the parent, without ending it."""
        with contextlib.suppress(OSError):
            os.close(self._socket.detach())
            os.close(self._info)
        self._errors.close()
        self.process.returncode = 0  # nobody's child here


class Kernel:
    """One kernel, seen from outside: four sockets to talk to, and a guard that watches it.

    The sockets are opened here and given to the kernel listening, so that nothing in the sandbox needs a path.
    """

    def __init__(self, limits: Limits, key: str = "") -> None:
        self._limits = limits
        self.key = key or secrets.token_hex(32)
        self._folder = tempfile.TemporaryDirectory(prefix="kernel-", dir=_short_folder())
        self.ip = str(Path(self._folder.name, "k"))
        self.ports = {name: number for number, name in enumerate(CHANNELS, 1)}
        self._listening = [self._listen(name) for name in CHANNELS]
        self._guard, self._guards_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pidfd: int | None = None
        self._group: KernelGroup | None = None
        self.ended = ""
        self.cpu_seconds = 0.0  # of the kernel, the children it waited for and its guard, once it has ended

    def _listen(self, channel: str) -> socket.socket:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(self.address(channel).removeprefix("ipc://"))
        listening.listen(8)
        return listening

    def address(self, channel: str) -> str:
        """Where a channel of the kernel is, as ZeroMQ writes it."""
        return f"ipc://{self.ip}-{self.ports[channel]}"

    def give_away(self) -> list[int]:
        return [self._guards_end.fileno(), *(listening.fileno() for listening in self._listening)]

    def given_away(self) -> None:
        for end in (self._guards_end, *self._listening):
            end.close()

    def fileno(self) -> int:
        """Becomes readable when the kernel has ended."""
        return self._guard.fileno()

    def why_ended(self, seconds: float = 0) -> str:
        """Why the kernel has ended, in a few words; empty while it lives.

        Raises:
            KernelLost: its guard went away without a word.
            SandboxUnavailable: its walls could not be put up.
        """
        deadline = time.monotonic() + seconds
        while not self.ended:
            left = max(deadline - time.monotonic(), 0)
            if not select.select([self._guard], [], [], left)[0]:
                break
            self._hear()
        return self.ended

    def _hear(self) -> None:
        """What its guard says."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self._guard, 1 << 16, 1)
        except OSError:
            message, descriptors = b"", []
        if descriptors:  # it has begun
            (self._pidfd,) = descriptors
            self._enclose()
            return
        if not message:
            self.ended = "lost"
            raise KernelLost("the kernel's guard is gone")
        said = json.loads(message)
        self.ended = said.get("ended") or "failed"
        if self._group and self._group.ran_out_of_memory():
            self.ended = "memory"
        self.cpu_seconds = said.get("cpu_seconds", 0.0)
        if "failed" in said:
            raise SandboxUnavailable(f"a kernel cannot be confined here: {said['failed']}")

    def _enclose(self) -> None:
        """Put the kernel into a cgroup of its own, where there can be one. No cell has run yet."""
        if (within := delegated()) is None:
            return
        with contextlib.suppress(OSError):  # its guard holds the same limits
            self._group = KernelGroup(within, self._limits)
            self._group.take(self.pid())

    def pid(self) -> int:
        """Its number here, outside; 0 before it has begun and after it has ended."""
        if self._pidfd is None:
            return 0
        told = dict(
            line.split(":")
            for line in Path(f"/proc/self/fdinfo/{self._pidfd}").read_text("ascii").splitlines()
        )
        return max(int(told["Pid"]), 0)

    def waited(self) -> float:
        """Seconds in which its first thread, which runs the cells, could have run and others had the cores.

        0 where Linux does not count them.
        """
        with contextlib.suppress(OSError, IndexError, ValueError):
            return int(Path(f"/proc/{self.pid()}/schedstat").read_text("ascii").split()[1]) / 1e9
        return 0.0

    def interrupt(self) -> None:
        with contextlib.suppress(OSError):
            self._guard.send(b"interrupt")

    def close(self) -> None:
        """End the kernel and all it started. Returns when Linux has done so, or soon after."""
        if not self.ended:
            with contextlib.suppress(OSError):
                self._guard.send(b"end")
            with contextlib.suppress(KernelLost, SandboxUnavailable):
                self.why_ended(_LAST_WORD)
        self._make_sure()
        self._guard.close()
        self._folder.cleanup()

    def _make_sure(self) -> None:
        """End the kernel, whatever has become of its guard; Linux ends all others of its namespace with it."""
        if self._pidfd is None:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        select.select([self._pidfd], [], [], _LAST_WORD)
        os.close(self._pidfd)
        self._pidfd = None
        if self._group:
            self._group.close()


def _short_folder() -> str | None:
    """The usual temporary folder, unless a socket's name in it would be too long."""
    return None if len(os.fsencode(tempfile.gettempdir())) < _LONGEST_PATH - 20 else "/tmp"


# --- the template of this process -----------------------------------------------------------------------

_own: Template | None = None
_own_lock = threading.Lock()


@contextmanager
def kernel(
    isolation: Isolation, limits: Limits, env: dict[str, str], key: str = ""
) -> Iterator[tuple[Kernel, bool]]:
    """A new kernel in a sandbox, and whether it is warm; when the block ends so does all the kernel started.

    Args:
        env: for the kernel alone, on top of what the sandbox has.
        key: that messages are signed with; a new one unless given.

    Raises:
        KernelLost: the template went away; the next call starts another.
        SandboxUnavailable: there can be none.
    """
    template = _own_template() if isolation.warm else _cold_template(limits)
    warm = template.used
    try:
        started = template.kernel(limits, env, key=key)
        try:
            yield started, warm
        finally:
            started.close()
    except KernelLost:
        close_template()
        raise
    finally:
        if not isolation.warm:
            template.close()


def _cold_template(limits: Limits) -> Template:
    """For one kernel, which imports what it needs."""
    return Template(nested=False, preload=False, scratch_bytes=limits.scratch_bytes).ready()


def _own_template() -> Template:
    global _own
    with _own_lock:
        if _own is None or not _own.alive:
            if _own is not None:
                _own.close()
            _own = Template(nested=True).ready()
        return _own


@contextmanager
def sharing() -> Iterator[None]:
    """Start a template that this process and those forked from it use; its imports run beside the block's own.

    Where there can be no such sandbox nothing is shared, and whoever wants a kernel will hear why.
    """
    global _own
    try:
        template = Template(nested=True)
    except (OSError, SandboxUnavailable):
        yield
        return
    yield
    with contextlib.suppress(SandboxUnavailable):
        _own = template.ready()
        _own.shared = _own.used = True


def close_template() -> None:
    """End this process's template, if it has one; the next kernel starts another."""
    global _own
    with _own_lock:
        if _own is not None:
            _own.close()
        _own = None


def _after_fork() -> None:
    global _own, _own_lock
    _own_lock = threading.Lock()
    if _own is not None and _own.shared:
        _own.inherit()
    elif _own is not None:
        _own.forget()
        _own = None


atexit.register(close_template)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
