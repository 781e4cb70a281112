"""Talks to one kernel: sends it source, listens until it is done, and believes nothing it says.

Jupyter's own clients wait in loops and take a kernel's messages as they come. Here one poll waits for the reply,
the outputs and the kernel's end at once, every message is held to the form it must have, and all is counted.
"""

from __future__ import annotations

import json
import math
import mmap
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hmac import compare_digest
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.session import Session
from nbformat import NotebookNode

from grading.outputs import Outputs
from grading.sandbox.isolation import NONE, Isolation, KernelLost
from grading.sandbox.limits import Limits
from grading.sandbox.plain import plain_kernel

_GRACE = 5.0  # seconds between an interrupt and the end of the kernel
_LAST_OUTPUTS = 10.0  # seconds for outputs to arrive after the reply, on a busy machine
_QUEUE = 20  # messages that wait here; more wait in the kernel, whose memory is limited
_LOOK_EVERY = 0.1  # seconds between two looks at what no event tells: memory, a kernel that nobody guards
_MOST_HELD = 2**30  # bytes by which this process may grow: what ZeroMQ holds of a message that never ends


@dataclass(frozen=True)
class Ended:
    """Why a cell, or the kernel with it, was ended: as the name and the text of an error."""

    kind: str
    text: str


@dataclass
class Reply:
    """What a cell showed. `ended` is set when the kernel did not survive it; `waited` are seconds for a core."""

    outputs: list[NotebookNode] = field(default_factory=list)
    times: dict[str, str] = field(default_factory=dict)
    ended: Ended | None = None
    waited: float = 0.0


class _Allowance:
    """How long something may take: seconds in which the kernel could run, see `Limits.patience`."""

    def __init__(self, process: Any, seconds: float, limits: Limits):
        self.seconds = seconds
        self._process = process
        self._begin = time.monotonic()
        self._before = process.waited()
        self._last = self._begin + seconds * limits.patience

    def waited(self) -> float:
        """Seconds that others have taken so far."""
        return max(0.0, float(self._process.waited()) - self._before)

    def deadline(self) -> float:
        """As it stands now; others may move it on."""
        return min(self._begin + self.seconds + self.waited(), self._last)


class Conversation:
    """An open connection to a new kernel."""

    def __init__(self, process: Any, limits: Limits, *, warm: bool):
        self.warm = warm
        self._process = process
        self._limits = limits
        self._session = Session(key=process.key.encode(), username="grader")
        self._context = zmq.Context(io_threads=1)
        self._shell = self._connect(zmq.DEALER, "shell")
        self._iopub = self._connect(zmq.SUB, "iopub")
        self._iopub.subscribe(b"")
        self._cut = self._iopub.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._poller = zmq.Poller()
        self._memory = _memory()
        for source in (self._shell, self._iopub, self._cut, process.fileno()):
            if source is not None:
                self._poller.register(source, zmq.POLLIN)

    @classmethod
    @contextmanager
    def open(cls, isolation: Isolation, limits: Limits, env: dict[str, str]) -> Iterator[Conversation]:
        """A kernel that answers; it is gone when the block ends.

        Raises:
            SandboxUnavailable: it cannot be confined.
            KernelLost: it did not come to answer.
        """
        with cls._kernel(isolation, limits, env) as (process, warm):
            talk = cls(process, limits, warm=warm)
            try:
                talk._greet()
                yield talk
            finally:
                talk._context.destroy(linger=0)

    @staticmethod
    def _kernel(isolation: Isolation, limits: Limits, env: dict[str, str]) -> AbstractContextManager[Any]:
        if isolation == NONE:
            return plain_kernel(env)
        from grading.sandbox.templates import kernel  # there is no such thing but on Linux

        return kernel(isolation, limits, env)

    def _connect(self, kind: int, channel: str) -> zmq.Socket:
        socket = self._context.socket(kind)
        socket.linger = 0
        socket.rcvhwm = _QUEUE
        socket.maxmsgsize = self._limits.message_bytes
        socket.connect(self._process.address(channel))
        return socket

    def _greet(self) -> None:
        """Wait until the kernel answers and its outputs arrive here."""
        allowance = _Allowance(self._process, self._limits.start_seconds, self._limits)
        while time.monotonic() < allowance.deadline():
            asked = self._send("kernel_info_request", {})
            answered = heard = False
            soon = min(time.monotonic() + 2, allowance.deadline())
            while not (answered and heard) and time.monotonic() < soon:
                for channel, message in self._messages(soon):
                    answered |= channel == "shell" and _answers(message, asked)
                    heard |= channel == "iopub"
                if why := self._process.why_ended():
                    raise KernelLost(f"a new kernel ended by itself: {why}")
            if answered and heard:
                return
        raise KernelLost(f"a new kernel did not answer within {self._limits.start_seconds:g} s")

    def run(self, source: str, seconds: float, *, graded: bool = False) -> Reply:
        """Run one cell, for at most so many seconds of its own, see `Limits.patience`.

        Args:
            graded: a check in it leaves evidence, which no other cell may.

        Raises:
            KernelLost: the kernel went away without its guard saying why.
        """
        reply = Reply(times={"iopub.status.busy": _now()})
        asked = self._send("execute_request", _request(source))
        outputs = Outputs(reply.outputs, self._limits.output_bytes, evidence=graded)
        allowance = _Allowance(self._process, seconds, self._limits)
        reply.ended = self._listen(asked, outputs, allowance)
        reply.waited = allowance.waited()
        reply.times["iopub.status.idle"] = _now()
        return reply

    def _listen(self, asked: str, outputs: Outputs, allowance: _Allowance) -> Ended | None:
        """Collect outputs until the cell is done; returns why the kernel was ended, if it was."""
        replied = idle = interrupted = False
        deadline = allowance.deadline()
        while not (replied and idle):
            if time.monotonic() >= deadline:
                if replied:
                    return None  # the outputs that are still missing will not come
                if interrupted:
                    return self._timed_out(allowance)
                if (deadline := allowance.deadline()) > time.monotonic():
                    continue  # others had the cores
                interrupted, deadline = True, time.monotonic() + _GRACE
                self._process.interrupt()
            for channel, message in self._messages(deadline, outputs):
                if not _answers(message, asked):
                    continue
                if channel == "shell":
                    replied = True
                    deadline = min(deadline, time.monotonic() + _LAST_OUTPUTS)
                elif _says_idle(message):
                    idle = True
                else:
                    outputs.add(message)
            if why := self._process.why_ended():
                return self._died(why)
            if self._cut.poll(0):
                return self._cut_off()
            if _memory() - self._memory > _MOST_HELD:
                return Ended("OutputLimitError", "the submission sent output without an end")
        if interrupted:
            timed_out = self._timed_out(allowance)
            outputs.error(timed_out.kind, timed_out.text)
        return None

    def _timed_out(self, allowance: _Allowance) -> Ended:
        return Ended("CellTimeoutError", f"the cell ran longer than {allowance.seconds:.0f} s")

    def _cut_off(self) -> Ended:
        """ZeroMQ hangs up when a kernel ends, and on a message over the limit, after which the next would be lost."""
        soon = time.monotonic() + 1
        while time.monotonic() < soon:
            if why := self._process.why_ended():
                return self._died(why)
            time.sleep(0.02)
        text = f"the submission sent more than {_size(self._limits.message_bytes)} of output at once"
        return Ended("OutputLimitError", text)

    def _died(self, why: str) -> Ended:
        texts = {
            "memory": f"the kernel was ended: it used more than {_size(self._limits.memory_bytes)} of memory",
            "processes": f"the kernel was ended: it ran more than {self._limits.processes} processes",
            "unseen": "the kernel was ended: it hid from what counts its memory",
        }
        return Ended("DeadKernelError", texts.get(why, f"the cell ended its kernel ({why})"))

    def _send(self, kind: str, content: dict[str, Any]) -> str:
        message = self._session.msg(kind, content)
        self._session.send(self._shell, message)
        return str(message["header"]["msg_id"])

    def _messages(
        self, deadline: float, outputs: Outputs | None = None
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What has arrived by the next event or the deadline: channel and message, in order.

        What is too large for what the outputs may still hold is not even read.
        """
        wait = min(max(0.0, deadline - time.monotonic()), _LOOK_EVERY)
        ready = dict(self._poller.poll(math.ceil(wait * 1000)))
        # Outputs first: they were sent before the reply that ends a cell.
        for channel, socket in (("iopub", self._iopub), ("shell", self._shell)):
            for _ in range(100 if socket in ready else 0):  # and then look at the clock again
                try:
                    parts: list[bytes] = socket.recv_multipart(zmq.NOBLOCK)
                except zmq.Again:
                    break
                if outputs and channel == "iopub" and not outputs.has_room(sum(map(len, parts))):
                    continue
                message = self._read(parts)
                if message is not None:
                    yield channel, message

    def _read(self, parts: list[bytes]) -> Mapping[str, Any] | None:
        """A message, or None for what is none: not signed with the key, not JSON, not of a message's form."""
        try:
            frames: list[Any] = self._session.feed_identities(parts)[1]
            signature, signed = frames[0], frames[1:5]
            if not compare_digest(signature, self._session.sign(signed)):
                return None
            header, parent, _, content = map(json.loads, signed)
            message = {"msg_type": header["msg_type"], "parent_header": parent, "content": content}
        except Exception:  # the bytes may be anything
            return None
        form = {"msg_type": str, "parent_header": Mapping, "content": Mapping}
        return message if all(isinstance(message[key], kind) for key, kind in form.items()) else None


def _request(source: str) -> dict[str, Any]:
    return {
        "code": source,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": False,  # input() is an error
        "stop_on_error": False,
    }


def _answers(message: Mapping[str, Any], asked: str) -> bool:
    return message["parent_header"].get("msg_id") == asked


def _says_idle(message: Mapping[str, Any]) -> bool:
    return message["msg_type"] == "status" and message["content"].get("execution_state") == "idle"


def _memory() -> int:
    """Bytes of memory that this process has; 0 where the system keeps no such file."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _size(count: int) -> str:
    return f"{count / 2**30:g} GiB" if count >= 2**30 else f"{count / 2**20:g} MiB"
