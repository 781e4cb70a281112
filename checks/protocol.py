"""What a graded question is made of, and how an answer's evidence travels.

A question has four parts that never mix. *Inputs* are plain data drawn from a seed. The *probe* calls the
learner's answer on them and returns evidence. The *judge* compares inputs and evidence and returns a verdict.
*Misconceptions* are the wrong answers people are known to give, each with a finding of its own.

This module holds what both halves need. Inputs and probes live in `checks.questions`, judges and misconceptions
in `checks.judges`: where a submission is graded the second half is not even there.

Evidence is JSON. It comes from a process that ran somebody else's code, so nothing in it is trusted: sizes are
capped on both ends, arrays travel as bytes with a dtype from a short list, and nothing is ever unpickled.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

EVIDENCE_MIME = "application/vnd.insidebert.evidence+json"
MAX_EVIDENCE_BYTES = 8_000_000
MAX_TEXT = 20_000  # characters in one string
MAX_ITEMS = 200_000  # numbers, strings and containers in one piece of evidence
MAX_DEPTH = 24
MAX_DIGITS = 300  # of an int; more would not fit a float, and nobody's answer is that large

State = Literal["correct", "partial", "incorrect", "not_attempted", "crashed"]


@dataclass(frozen=True)
class Case:
    """One input of a question: plain data that the probe turns into arguments and the judge reads again.

    `label` is how the case is named to the learner ("a tied pre-training model, hidden size 32").
    """

    label: str
    data: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def again(self) -> Case:
        """The same input once more, last of all: what an answer keeps between calls shows in it."""
        return Case(f"{self.label}, asked again", self.data)


@dataclass(frozen=True)
class Question:
    """The half of a question that may stand beside a submission: inputs and probe.

    lesson  the notebook where it is explained, a path in the course; `section` is the heading in it.
    inputs  `random.Random -> list[Case]`, smallest case first; the same seed draws the same cases.
    probe   `(answer, case) -> value`, builds the arguments, calls the answer, returns what it returned.
    """

    name: str
    assignment: str
    signature: str
    lesson: str
    section: str
    inputs: Callable[[random.Random], list[Case]]
    probe: Callable[[Any, Case], Any]

    def cases(self, seed: int) -> list[Case]:
        # Hashing in the name keeps two questions with one seed from drawing the same numbers.
        return self.inputs(random.Random(f"{self.name}:{seed}"))


@dataclass(frozen=True)
class Raised:
    """The answer raised: the exception's name and message, and the line of the answer where it happened."""

    error: str
    message: str
    line: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one case gave: a value, or an exception; and whether the answer changed its arguments."""

    value: Any = None
    raised: Raised | None = None
    changed_input: bool = False

    @property
    def is_blank(self) -> bool:
        """True for the answers that mean "not attempted": `NotImplementedError`, `None` and `...`."""
        if self.raised is not None:
            return self.raised.error == "NotImplementedError"
        return self.value is None or (isinstance(self.value, Other) and self.value.type == "ellipsis")


@dataclass(frozen=True)
class Evidence:
    """What one probe of one question left behind, one outcome per case.

    `handed_on` names the function of the course's own that the answer called instead of doing the work.
    """

    question: str
    outcomes: tuple[Outcome, ...]
    handed_on: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing a judge saw. `id` is stable and counted over a class; the rest is for the learner."""

    id: str
    cause: str
    case: str = ""
    got: str = ""
    expected: str = ""


@dataclass(frozen=True)
class Verdict:
    """The judgement on one question: a state, a score from 0 to 1, the findings, and where to read on.

    A judge leaves `question`, `lesson` and `section` empty; `checks.judges.judge` fills them in.
    """

    question: str
    state: State
    score: float
    findings: tuple[Finding, ...] = ()
    lesson: str = ""
    section: str = ""

    def __post_init__(self) -> None:
        if not (0.0 <= self.score <= 1.0):  # also refuses nan
            raise ValueError(f"A verdict's score lies between 0 and 1; {self.question} got {self.score!r}.")


# --- evidence codec ---------------------------------------------------------------------------------------


class BadEvidence(ValueError):
    """The evidence is not what a probe writes: too large, too deep, of an unknown form or for something else."""


@dataclass(frozen=True)
class Array:
    """A tensor or NumPy array as it came back: who made it, its dtype's name and its numbers."""

    kind: Literal["tensor", "ndarray"]
    dtype: str
    data: np.ndarray = field(compare=False)

    def __str__(self) -> str:
        return f"{self.kind} of shape {tuple(self.data.shape)} and dtype {self.dtype}"


@dataclass(frozen=True)
class Other:
    """An object that evidence cannot carry: its type's name and a short picture of it."""

    type: str
    text: str = ""

    def __str__(self) -> str:
        return self.type


_DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


def encode(value: Any) -> Any:
    """Turn what an answer returned into JSON data. Never raises for a strange object: it becomes `Other`."""
    return _Encoder().encode(value, 0)


class _Encoder:
    """Counts as it goes, so that an endless or enormous object costs a sentence and not the machine."""

    def __init__(self) -> None:
        self.items = 0

    def encode(self, value: Any, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH:
            return _tag("other", {"type": "a value nested too deeply", "text": ""})
        if self.items > MAX_ITEMS:
            return _tag("other", {"type": "a value with too many parts", "text": ""})
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool):
            return value if value is None else bool(value)
        if isinstance(value, int):
            return self._int(int(value))
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else _tag("float", repr(float(value)))
        if isinstance(value, str):
            return _clean(str(value))[:MAX_TEXT]
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._sequence(value, depth)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        try:
            return self._array(value)
        except Exception:  # sparse, quantised and stranger tensors; objects whose attributes raise
            return _tag("other", {"type": type(value).__name__, "text": _picture(value)})

    def _int(self, value: int) -> Any:
        if abs(value) < 2**63:
            return value
        if abs(value) >= 10**MAX_DIGITS:
            return _tag("other", {"type": f"int of more than {MAX_DIGITS} digits", "text": ""})
        return _tag("int", str(value))

    def _sequence(self, value: Any, depth: int) -> Any:
        parts = []
        for part in value:
            if self.items > MAX_ITEMS:
                break
            parts.append(self.encode(part, depth + 1))
        if isinstance(value, list):
            return parts
        return _tag("tuple" if isinstance(value, tuple) else "set", parts)

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> Any:
        pairs = []
        for key, part in value.items():
            if self.items > MAX_ITEMS:
                break
            pairs.append([self.encode(key, depth + 1), self.encode(part, depth + 1)])
        return _tag("dict", pairs)

    def _array(self, value: Any) -> Any:
        kind = "ndarray"
        dtype = str(getattr(value, "dtype", ""))
        if type(value).__module__.startswith("torch") and hasattr(value, "detach"):
            kind = "tensor"
            if value.device.type == "meta":
                return _tag(
                    "other", {"type": "Tensor on the meta device, which holds no numbers", "text": ""}
                )
            value = value.detach().cpu()
            if dtype == "torch.bfloat16":  # NumPy has no such type; float32 holds every one of its values
                value = value.float()
            value = value.numpy()
        if not isinstance(value, np.ndarray) or value.dtype.name not in _DTYPES:
            return _tag("other", {"type": type(value).__name__, "text": _picture(value)})
        data = np.ascontiguousarray(value)
        if data.nbytes > MAX_EVIDENCE_BYTES // 2:
            return _tag("other", {"type": f"{kind} of {data.nbytes:,} bytes, too large to judge", "text": ""})
        return _tag(
            "array",
            {
                "kind": kind,
                "dtype": dtype.removeprefix("torch."),
                "stored": data.dtype.name,
                "shape": list(value.shape),
                "bytes": base64.b64encode(data.tobytes()).decode("ascii"),
            },
        )


def _tag(name: str, content: Any) -> dict[str, Any]:
    return {"$": name, "of": content}


def _clean(text: str) -> str:
    """Without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _picture(value: Any) -> str:
    try:
        return _clean(repr(value))[:200]
    except Exception:  # somebody else's __repr__ may do anything
        return ""


def decode(data: Any) -> Any:
    """The inverse of `encode` for data from an untrusted process.

    Raises:
        BadEvidence: anything `encode` would not have written.
    """
    if isinstance(data, list):
        return [decode(part) for part in data]
    if isinstance(data, str):
        return _clean(data)
    if not isinstance(data, dict):
        return data
    if set(data) != {"$", "of"}:
        raise BadEvidence(f"Expected an object with the keys '$' and 'of', got {sorted(map(str, data))[:5]}.")
    try:
        return _DECODERS[data["$"]](data["of"])
    except BadEvidence:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, binascii.Error) as error:
        raise BadEvidence(f"Evidence of kind {str(data['$'])[:40]!r} cannot be read ({error}).") from error


def _read_int(text: str) -> int:
    if len(text) > MAX_DIGITS + 1:
        raise BadEvidence(f"An int of {len(text):,} digits; {MAX_DIGITS} is the limit.")
    return int(text)


def _decode_array(content: Mapping[str, Any]) -> Array:
    if content["stored"] not in _DTYPES or content["kind"] not in ("tensor", "ndarray"):
        raise BadEvidence(f"An array of dtype {str(content['stored'])[:40]!r} is not evidence.")
    flat = np.frombuffer(base64.b64decode(content["bytes"], validate=True), dtype=content["stored"])
    return Array(content["kind"], str(content["dtype"])[:20], flat.reshape(content["shape"]))


_DECODERS: dict[Any, Callable[[Any], Any]] = {
    "tuple": lambda parts: tuple(decode(part) for part in parts),
    "set": lambda parts: frozenset(decode(part) for part in parts),
    "dict": lambda pairs: {decode(key): decode(part) for key, part in pairs},
    "int": lambda text: _read_int(text),
    "float": lambda text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
    "array": _decode_array,
    "other": lambda content: Other(_clean(str(content["type"]))[:200], _clean(str(content["text"]))[:200]),
}


def evidence_to_json(question: str, outcomes: list[Any], handed_on: str = "") -> dict[str, Any]:
    """Pack encoded outcomes as the JSON object a probe leaves in its cell."""
    packed = {"question": question, "outcomes": outcomes}
    return packed | {"handed_on": _clean(handed_on)[:200]} if handed_on else packed


def evidence_from_json(payload: Any, *, question: str, cases: int) -> Evidence:
    """Read what a cell left, holding it to the question that was asked.

    Args:
        payload: the JSON data found in the cell's output, or its text.
        question: the only question this evidence may be for.
        cases: how many outcomes there must be.

    Raises:
        BadEvidence: too large, malformed, for another question, or with another number of outcomes.
    """
    try:
        text = payload if isinstance(payload, str) else json.dumps(payload, allow_nan=False)
        if len(text) > MAX_EVIDENCE_BYTES:
            raise BadEvidence(
                f"The evidence is {len(text):,} characters; {MAX_EVIDENCE_BYTES:,} is the limit."
            )
        data = json.loads(text, parse_int=_read_int, parse_constant=_refuse_constant)
        if data["question"] != question:
            raise BadEvidence(f"The evidence is for {str(data['question'])[:60]!r}, not for {question!r}.")
        _hold_to_limits(data)
        if len(data["outcomes"]) != cases:
            raise BadEvidence(f"{len(data['outcomes'])} outcomes for {cases} inputs.")
        outcomes = tuple(_outcome_from_json(item) for item in data["outcomes"])
        return Evidence(question, outcomes, _clean(str(data.get("handed_on", "")))[:200])
    except BadEvidence:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadEvidence(f"The evidence cannot be read ({type(error).__name__}).") from error


def outcome_to_json(
    value: Any, *, raised: Raised | None = None, changed_input: bool = False
) -> dict[str, Any]:
    """One outcome as JSON data."""
    if raised is not None:
        return {"raised": [raised.error[:100], raised.message[:1000], raised.line[:300]]}
    return {"value": encode(value), "changed_input": changed_input}


def _outcome_from_json(item: Mapping[str, Any]) -> Outcome:
    if "raised" in item:
        error, message, line = (_clean(str(part)) for part in item["raised"])
        return Outcome(raised=Raised(error[:100], message[:1000], line[:300]))
    return Outcome(value=decode(item["value"]), changed_input=item["changed_input"] is True)


def _hold_to_limits(data: Any) -> None:
    """Raise `BadEvidence` for what is deeper or has more parts than `encode` writes (a tag adds two levels)."""
    waiting, parts = [(data, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        parts += len(inside)
        if depth > 3 * MAX_DEPTH + 4 or parts > 4 * MAX_ITEMS:
            raise BadEvidence("The evidence is nested too deeply or has too many parts.")
        waiting += [(part, depth + 1) for part in inside]


def _refuse_constant(name: str) -> Any:
    raise BadEvidence(f"{name} is not JSON.")
