"""What a kernel's messages leave in a cell: outputs of the notebook format, no more than a file should hold.

A message comes from a process that ran somebody else's code. What has not the form of an output is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_output

from checks.encoding import MAX_EVIDENCE_BYTES
from checks.evidence import EVIDENCE_MIME

_PIECES = 2  # of evidence: one is right, and more are refused
_ERROR = 200_000  # bytes of errors, which are not to go down in noise
_ENVELOPE = 10_000  # bytes of a message that are not its output
_DEEPEST = 30  # of an output's own data
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # as str.splitlines sees them, and nbformat with it


class Outputs:
    """The outputs of one cell, as far as they have the form and the size of outputs.

    Args:
        outputs: where they are put.
        limit: bytes of them that are kept; what comes later and is small enough is kept again.
        evidence: whether the cell may leave evidence, which has room of its own.
    """

    def __init__(self, outputs: list[NotebookNode], limit: int, *, evidence: bool):
        self.outputs = outputs
        self._left = {"else": limit, "error": _ERROR, "evidence": 0}
        if evidence:
            self._left["evidence"] = _PIECES * MAX_EVIDENCE_BYTES
        self._full = False
        self._clear_at_next = False

    def has_room(self, size: int) -> bool:
        """Whether an output of a message of so many bytes could be kept; if not, that is noted."""
        if size <= max(self._left.values()) + _ENVELOPE:
            return True
        self._note()
        return False

    def add(self, message: Mapping[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] == "clear_output":
            self._clear(later=content.get("wait") is True)
            return
        try:
            output = self._allowed(_output(message["msg_type"], content))
            size = _measure(output) if output else 0
        except Exception:  # the content may be anything; what has not the form of an output is none
            return
        if output is None:
            return
        self._clear_if_due()
        kind = "error" if output.output_type == "error" else "else"
        if EVIDENCE_MIME in output.get("data", {}):
            kind = "evidence"
        if size <= self._left[kind]:
            self._left[kind] -= size
            self._append(output)
        else:
            self._note()

    def _allowed(self, output: NotebookNode | None) -> NotebookNode | None:
        """Evidence stands in a graded cell, alone in its bundle, as a check leaves it. Elsewhere it is none."""
        data = output.get("data", {}) if output else {}
        if EVIDENCE_MIME in data and (len(data) > 1 or not self._left["evidence"]):
            del data[EVIDENCE_MIME]
            return output if data else None
        return output

    def _note(self) -> None:
        if not self._full:
            self._full = True
            text = "the cell showed more than its outputs may hold; the rest is not kept\n"
            self.outputs.append(new_output("stream", name="stderr", text=text))

    def error(self, name: str, text: str) -> None:
        line = f"{name}: {text}"
        self.outputs.append(new_output("error", ename=name, evalue=text, traceback=[line]))

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
        if data.keys() == {
            EVIDENCE_MIME
        }:  # any JSON; the rest is held to what nbformat allows under each type
            return from_dict({"output_type": kind, "data": data, "metadata": {}, **counted})
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
