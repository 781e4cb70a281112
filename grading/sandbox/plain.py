"""A kernel without a sandbox, for `--isolation none`: Jupyter's own, cold, with the rights of whoever grades."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_client.manager import KernelManager


@contextmanager
def plain_kernel(env: dict[str, str]) -> Iterator[tuple[PlainKernel, bool]]:
    """A new kernel, which is never warm; it is gone when the block ends."""
    kernel = PlainKernel(env)
    try:
        yield kernel, False
    finally:
        kernel.close()


class PlainKernel:
    """The same from outside as `templates.Kernel`, on every system. Only time and output are limited."""

    def __init__(self, env: dict[str, str]):
        self._folder = tempfile.TemporaryDirectory(prefix="kernel-", ignore_cleanup_errors=True)
        self._manager = manager = KernelManager(kernel_name="python3")
        manager.connection_file = str(Path(self._folder.name, "kernel.json"))
        if sys.platform != "win32":
            # Kernels on TCP race for ports when several start at once, and anyone on the machine can connect.
            manager.transport = "ipc"
            manager.ip = str(Path(self._folder.name, "k"))
        work = Path(self._folder.name, "work")
        work.mkdir()
        manager.start_kernel(env=os.environ | env, cwd=str(work))
        self.key = manager.session.key.decode()

    def address(self, channel: str) -> str:
        manager = self._manager
        between = "-" if manager.transport == "ipc" else ":"
        return f"{manager.transport}://{manager.ip}{between}{getattr(manager, f'{channel}_port')}"

    def fileno(self) -> int | None:
        """None: nothing tells when such a kernel ends; one has to ask."""
        return None

    def why_ended(self) -> str:
        return "" if self._manager.is_alive() else "it is gone"

    def waited(self) -> float:
        """Nobody counts here: a limit is one by the clock."""
        return 0.0

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()
        self._folder.cleanup()
