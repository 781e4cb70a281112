"""The sandbox for any program that starts Jupyter kernels: a kernel specification names it and gets its kernels.

    {"argv": [], "display_name": "Sandbox", "language": "python",
     "metadata": {"kernel_provisioner": {"provisioner_name": "insidebert-sandbox"}}}

`insidebert grade` and the preprocessor `Probe` use the same kernels without the detour.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import ExitStack
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerBase

from checks import SEED_VARIABLE
from grading.sandbox.detecting import detect
from grading.sandbox.isolation import KernelLost, SandboxUnavailable
from grading.sandbox.limits import Limits
from grading.sandbox.templates import CHANNELS, Kernel, kernel

_EVERY = 0.05  # seconds between two looks at whether a kernel has ended


class SandboxProvisioner(KernelProvisionerBase):
    """Starts kernels in the sandbox, warm where this process has started one before."""

    _kernel: Kernel | None = None

    @property
    def has_process(self) -> bool:
        return self._kernel is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """There is no command to prepare: the sandbox knows what it runs."""
        return await super().pre_launch(cmd=[], **kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork a kernel. Of the environment it is given it sees the seed of the checks, and nothing else.

        Raises:
            SandboxUnavailable: there can be no sandbox on this machine.
        """
        isolation = detect()
        if not isolation.name:
            raise SandboxUnavailable(f"no kernel without a sandbox: {isolation.missing}.")
        env = {name: value for name, value in kwargs["env"].items() if name == SEED_VARIABLE}
        session: Any = getattr(self.parent, "session", None)  # the kernel manager's
        self._stack = ExitStack()
        self._kernel, _ = self._stack.enter_context(
            kernel(isolation, Limits(), env, key=session.key.decode())
        )
        ports: Any = {f"{name}_port": self._kernel.ports[name] for name in CHANNELS}
        ports["hb_port"] = len(CHANNELS) + 1  # nobody answers there: `poll` knows better
        return {
            "transport": "ipc",
            "ip": self._kernel.ip,
            "key": session.key,
            "signature_scheme": session.signature_scheme,
            **ports,
        }

    async def poll(self) -> int | None:
        if self._kernel is None:
            return 0
        try:
            return 1 if self._kernel.why_ended() else None
        except (KernelLost, SandboxUnavailable):
            return 1

    async def wait(self) -> int | None:
        while (status := await self.poll()) is None:
            await asyncio.sleep(_EVERY)
        await self.kill()
        return status

    async def send_signal(self, signum: int) -> None:
        if self._kernel is not None and signum == signal.SIGINT:
            self._kernel.interrupt()
        elif signum:
            await self.kill()

    async def kill(self, restart: bool = False) -> None:
        if self._kernel is not None:
            self._kernel = None
            self._stack.close()

    async def terminate(self, restart: bool = False) -> None:
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        await self.kill(restart)
