"""An ordinary IPython kernel on sockets that somebody else opened."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import zmq
from ipykernel import ipkernel
from ipykernel.kernelapp import IPKernelApp
from traitlets.config import Config

from .sending import SmallSession

_ENVELOPE = 10_000  # bytes of a message that are not its own


class Kernel(IPKernelApp):
    """Answers on inherited listening sockets: it need not be able to make one, nor to know where they are."""

    listening: Sequence[int] = ()  # for shell, stdin, control and iopub, in the order they are bound
    bound = 0

    def _bind_socket(self, s: Any, port: int) -> int:
        s.setsockopt(zmq.USE_FD, self.listening[self.bound])
        s.sndhwm = 0  # nothing is dropped when the other side is slow: it waits here, in this kernel's memory
        self.bound += 1
        s.bind(f"ipc:///socket-{self.bound}")
        return self.bound

    def init_connection_file(self) -> None:
        """Nobody reads one: the other side knows the sockets and the key."""

    def write_connection_file(self, **kwargs: Any) -> None:
        """Nobody reads one."""

    def init_heartbeat(self) -> None:
        """The guard knows better whether the kernel lives."""


@contextmanager
def no_modules_to_debug() -> Iterator[None]:
    """ipykernel asks every module for its file, for a debugger. That copies half of the pages which a kernel would
    otherwise go on sharing with its template, and nobody debugs here."""
    ipkernel.sys = SimpleNamespace(**vars(sys) | {"modules": {}})  # type: ignore[assignment]
    try:
        yield
    finally:
        ipkernel.sys = sys


def prepare(listening: Sequence[int], key: str, most: int) -> Kernel:
    """A kernel that waits for `start()`, and sends no message of more than `most` bytes."""
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()  # Python's own generator does so at a fork; torch starts from one seed in any process
    config = Config()
    config.HistoryManager.enabled = False  # a database and a thread for what nobody reads
    session = SmallSession(key=key.encode())
    session.most = most - _ENVELOPE
    app = Kernel.instance(config=config, session=session, transport="ipc", ip="/socket")
    app.listening = listening
    with no_modules_to_debug():
        app.initialize([])
    # `quit()` would end the kernel a moment later, in the middle of another cell, which would be blamed for it.
    shell: Any = app.shell
    shell.unobserve_all("exit_now")
    return app
