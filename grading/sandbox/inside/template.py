"""The template: imports once what every notebook imports, then forks a kernel for each request.

A request arrives on an inherited socket pair and carries a kernel's sockets, key, limits and environment; the
seed comes with it and never is in this process's memory before. When the other side goes away, so does this.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from . import confine, landlock
from .guard import guard

# A name that is not there is left out: a kernel that needs it will say so itself.
PRELOAD = (
    "torch",
    "transformers",
    "transformers.models.bert.modeling_bert",
    "transformers.models.albert.modeling_albert",
    "tokenizers",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "pygments.formatters.terminal256",
    "stack_data",
    "tornado.platform.asyncio",
    "checks.probing",
)
# What those would import for nobody: a debugger for ipykernel, and SciPy for transformers' losses of object detection.
LEFT_OUT = ("debugpy", "scipy")


def main(descriptor: int, settings: dict[str, Any]) -> None:
    """Serve requests on the socket `descriptor`.

    Args:
        settings: `preload` (whether to import the libraries), `nested` (whether each kernel gets namespaces of
            its own; the sandbox is then for many kernels, otherwise for one).
    """
    channel = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    confine.leave_root()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other side to handle
    for folder in (confine.HOME, confine.TEMPORARY):
        Path(folder).mkdir(exist_ok=True)
    if settings["preload"]:
        gc.disable()  # nearly all that imports make stays: looking for what does not takes a sixth of their time
        preload()
        gc.enable()
    gc.freeze()  # or the first collection in every kernel would copy all these pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended guards are not waited for
    channel.send(json.dumps(about()).encode())
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, 1 << 16, 8)
        if not message:
            return
        if os.fork() == 0:
            try:
                channel.close()
                serve(json.loads(message), descriptors, nested=settings["nested"])
            finally:
                os._exit(0)
        for received in descriptors:
            os.close(received)


def preload() -> None:
    """Import what kernels will import. Starts no thread and draws no random number."""
    sys.modules.update(dict.fromkeys(LEFT_OUT))  # type: ignore[arg-type]  # None is how one says: not installed
    for name in PRELOAD:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    for name in LEFT_OUT:  # for whoever imports it in a kernel
        del sys.modules[name]
    from checks.questions import all_questions

    all_questions()


def about() -> dict[str, Any]:
    """What the other side may want to know of a template that is ready."""
    return {
        "landlock": landlock.version(),
        "threads": len(os.listdir("/proc/self/task")),  # noqa: PTH208
        "cpu_seconds": time.process_time(),
    }


def serve(request: dict[str, Any], descriptors: list[int], *, nested: bool) -> None:
    """In a process of its own: the guard of the kernel that was asked for."""
    first, *listening = descriptors
    guard(request, socket.socket(fileno=first), listening, nested)
