"""Talks to one kernel: sends it source, listens until it is done, and believes nothing it says.

Jupyter's own clients wait in loops and take a kernel's messages as they come. Here one poll waits for the reply,
the outputs and the kernel's end at once, every message is held to the form it must have, and all is counted.
"""

from __future__ import annotations

import math
import mmap
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.session import Session
from nbformat import NotebookNode
from nbformat.v4 import new_output

from checks.protocol import EVIDENCE_MIME, MAX_EVIDENCE_BYTES
from grading.sandbox.isolation import NONE, Isolation, KernelLost
from grading.sandbox.limits import Limits
from grading.sandbox.plain import plain_kernel

_GRACE = 5.0  # seconds between an interrupt and the end of the kernel
_LAST_OUTPUTS = 10.0  # seconds for outputs to arrive after the reply, on a busy machine
_QUEUE = 20  # messages that wait here; more wait in the kernel, whose memory is limited
_LOOK_EVERY = 0.1  # seconds between two looks at what no event tells: memory, a kernel that nobody guards
_MOST_HELD = 2**30  # bytes by which this process may grow: what ZeroMQ holds of a message that never ends
_DEEPEST = 30  # of an output's own data
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # as str.splitlines sees them, and nbformat with it


@dataclass(frozen=True)
class Ended:
    """Why a cell, or the kernel with it, was ended: as the name and the text of an error."""

    kind: str
    text: str


@dataclass
class Reply:
    """What a cell showed. `ended` is set when the kernel did not survive it."""

    outputs: list[NotebookNode] = field(default_factory=list)
    times: dict[str, str] = field(default_factory=dict)
    ended: Ended | None = None


class Conversation:
    """An open connection to a new kernel."""

    def __init__(self, process: Any, limits: Limits, *, warm: bool):
        self.warm = warm
        self._process = process
        self._limits = limits
        self._received = 0
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
        deadline = time.monotonic() + self._limits.start_seconds
        while time.monotonic() < deadline:
            asked = self._send("kernel_info_request", {})
            answered = heard = False
            soon = min(time.monotonic() + 2, deadline)
            while not (answered and heard) and time.monotonic() < soon:
                for channel, message in self._messages(soon):
                    answered |= channel == "shell" and _answers(message, asked)
                    heard |= channel == "iopub"
                if why := self._process.why_ended():
                    raise KernelLost(f"a new kernel ended by itself: {why}")
            if answered and heard:
                return
        raise KernelLost(f"a new kernel did not answer within {self._limits.start_seconds:g} s")

    def run(self, source: str, seconds: float) -> Reply:
        """Run one cell.

        Raises:
            KernelLost: the kernel went away without its guard saying why.
        """
        reply = Reply(times={"iopub.status.busy": _now()})
        asked = self._send("execute_request", _request(source))
        outputs = _Outputs(reply.outputs, self._limits.output_bytes)
        reply.ended = self._listen(asked, outputs, time.monotonic() + seconds, seconds)
        reply.times["iopub.status.idle"] = _now()
        return reply

    def _listen(self, asked: str, outputs: _Outputs, deadline: float, seconds: float) -> Ended | None:
        """Collect outputs until the cell is done; returns why the kernel was ended, if it was."""
        replied = idle = interrupted = False
        while not (replied and idle):
            if time.monotonic() >= deadline:
                if replied:
                    return None  # the outputs that are still missing will not come
                if interrupted:
                    return self._timed_out(seconds)
                interrupted, deadline = True, time.monotonic() + _GRACE
                self._process.interrupt()
            for channel, message in self._messages(deadline):
                if not _answers(message, asked):
                    continue
                if channel == "shell":
                    replied = True
                    deadline = min(deadline, time.monotonic() + _LAST_OUTPUTS)
                elif _says_idle(message):
                    idle = True
                else:
                    outputs.add(message)
            if self._received > self._limits.flood_bytes:
                text = f"the submission sent more than {_size(self._limits.flood_bytes)} of output"
                return Ended("OutputLimitError", text)
            if why := self._process.why_ended():
                return self._died(why)
            if self._cut.poll(0):
                return self._cut_off()
            if _memory() - self._memory > _MOST_HELD:
                return Ended("OutputLimitError", "the submission sent output without an end")
        if interrupted:
            outputs.error(self._timed_out(seconds))
        return None

    def _timed_out(self, seconds: float) -> Ended:
        return Ended("CellTimeoutError", f"the cell ran longer than {seconds:.0f} s")

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
        }
        return Ended("DeadKernelError", texts.get(why, f"the cell ended its kernel ({why})"))

    def _send(self, kind: str, content: dict[str, Any]) -> str:
        message = self._session.msg(kind, content)
        self._session.send(self._shell, message)
        return str(message["header"]["msg_id"])

    def _messages(self, deadline: float) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What has arrived by the next event or the deadline: channel and message, in order."""
        wait = min(max(0.0, deadline - time.monotonic()), _LOOK_EVERY)
        ready = dict(self._poller.poll(math.ceil(wait * 1000)))
        # Outputs first: they were sent before the reply that ends a cell.
        for channel, socket in (("iopub", self._iopub), ("shell", self._shell)):
            for _ in range(100 if socket in ready else 0):  # and then look at the clock again
                if self._received > self._limits.flood_bytes:
                    return
                try:
                    parts: list[bytes] = socket.recv_multipart(zmq.NOBLOCK)
                except zmq.Again:
                    break
                self._received += sum(map(len, parts)) + 100
                message = self._read(parts)
                if message is not None:
                    yield channel, message

    def _read(self, parts: list[bytes]) -> Mapping[str, Any] | None:
        """A message, or None for what is none: not signed with the key, not JSON, not of a message's form."""
        try:
            _, signed = self._session.feed_identities(parts)
            message: Mapping[str, Any] = self._session.deserialize(signed)
        except Exception:  # the bytes may be anything
            return None
        form = {"header": Mapping, "parent_header": Mapping, "content": Mapping, "msg_type": str}
        return message if all(isinstance(message.get(key), kind) for key, kind in form.items()) else None


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


class _Outputs:
    """The outputs of one cell, as far as they have the form and the size of outputs."""

    def __init__(self, outputs: list[NotebookNode], limit: int):
        self.outputs = outputs
        self._left = {"evidence": 3 * MAX_EVIDENCE_BYTES, "else": limit}
        self._full = False
        self._clear_at_next = False

    def add(self, message: Mapping[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] == "clear_output":
            self._clear(later=content.get("wait") is True)
            return
        try:
            output = _output(message["msg_type"], content)
            size = _measure(output) if output else 0
        except Exception:  # the content may be anything; what has not the form of an output is none
            return
        if output is None:
            return
        self._clear_if_due()
        kind = "evidence" if EVIDENCE_MIME in output.get("data", {}) else "else"
        if size <= self._left[kind]:
            self._left[kind] -= size
            self._append(output)
        elif not self._full:
            self._full = True
            text = "the cell showed more than its outputs may hold; the rest is not kept\n"
            self.outputs.append(new_output("stream", name="stderr", text=text))

    def error(self, ended: Ended) -> None:
        line = f"{ended.kind}: {ended.text}"
        self.outputs.append(new_output("error", ename=ended.kind, evalue=ended.text, traceback=[line]))

    def _append(self, output: NotebookNode) -> None:
        last = self.outputs[-1] if self.outputs else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            self.outputs.append(output)

    def _clear(self, *, later: bool) -> None:
        self._clear_at_next = later
        if not later:
            self.outputs.clear()

    def _clear_if_due(self) -> None:
        if self._clear_at_next:
            self._clear(later=False)


class _Malformed(ValueError):
    """A kernel's output without the form of one."""


def _output(kind: str, content: Mapping[str, Any]) -> NotebookNode | None:
    """An output of the notebook format from a message's content; None for messages that are no output."""
    if kind == "stream":
        name = "stderr" if content["name"] == "stderr" else "stdout"
        return new_output("stream", name=name, text=_text(content["text"]))
    if kind in ("display_data", "execute_result"):
        data = {_text(mime): _data(value) for mime, value in _mapping(content["data"]).items()}
        counted = {"execution_count": None} if kind == "execute_result" else {}
        return new_output(kind, data=data, metadata={}, **counted)
    if kind == "error":
        lines = content.get("traceback", [])
        traceback = [_text(line) for line in lines] if isinstance(lines, list) else []
        return new_output(
            "error", ename=_text(content["ename"]), evalue=_text(content["evalue"]), traceback=traceback
        )
    return None


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _Malformed(type(value).__name__)
    return value


def _text(value: Any) -> str:
    """A string that a file can hold: without halves of surrogate pairs."""
    if not isinstance(value, str):
        raise _Malformed(type(value).__name__)
    return value.encode("utf-8", "replace").decode("utf-8")


def _data(value: Any, depth: int = 0) -> Any:
    """JSON data that a file can hold: finite numbers, whole strings, no deeper than anything sensible."""
    if depth > _DEEPEST:
        raise _Malformed("nested too deeply")
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, list):
        return [_data(part, depth + 1) for part in value]
    if isinstance(value, Mapping):
        return {_text(key): _data(part, depth + 1) for key, part in value.items()}
    return value


def _measure(value: Any, depth: int = 0) -> int:
    """About how many bytes a value takes in a file, where each part and each line of text is a line, indented."""
    line = depth + 6
    if isinstance(value, str):
        return len(value) + line * (1 + sum(map(value.count, _LINE_ENDS)))
    if isinstance(value, Mapping):
        return sum(len(key) + _measure(part, depth + 1) for key, part in value.items()) + 2 * line
    if isinstance(value, list):
        return sum(_measure(part, depth + 1) for part in value) + 2 * line
    return line + (value.bit_length() // 3 if isinstance(value, int) else 20)


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
