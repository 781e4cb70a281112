"""What an answer returned, as JSON data and back: numbers, texts, containers and arrays, never an object.

The data come from a process that ran somebody else's code, so nothing in them is trusted: sizes are capped on both
ends, arrays travel as bytes with a dtype from a short list, and nothing is ever unpickled.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

MAX_EVIDENCE_BYTES = 8_000_000
MAX_TEXT = 20_000  # characters in one string
MAX_ITEMS = 200_000  # numbers, strings and containers in one piece of evidence
MAX_DEPTH = 24
MAX_DIGITS = 300  # of an int; more would not fit a float, and nobody's answer is that large


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
            return _other("a value nested too deeply")
        if self.items > MAX_ITEMS:
            return _other("a value with too many parts")
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool):
            return value if value is None else bool(value)
        if isinstance(value, int):
            return self._int(int(value))
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else _tag("float", repr(float(value)))
        if isinstance(value, str):
            return clean_text(str(value))[:MAX_TEXT]
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._sequence(value, depth)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        try:
            return self._array(value)
        except Exception:  # sparse, quantised and stranger tensors; objects whose attributes raise
            return _other(type(value).__name__, _picture(value))

    def _int(self, value: int) -> Any:
        if abs(value) < 2**63:
            return value
        if abs(value) >= 10**MAX_DIGITS:
            return _other(f"int of more than {MAX_DIGITS} digits")
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
                return _other("Tensor on the meta device, which holds no numbers")
            value = value.detach().cpu()
            if dtype == "torch.bfloat16":  # NumPy has no such type; float32 holds every one of its values
                value = value.float()
            value = value.numpy()
        if not isinstance(value, np.ndarray) or value.dtype.name not in _DTYPES:
            return _other(type(value).__name__, _picture(value))
        data = np.ascontiguousarray(value)
        if data.nbytes > MAX_EVIDENCE_BYTES // 2:
            return _other(f"{kind} of {data.nbytes:,} bytes, too large to judge")
        text = base64.b64encode(data.tobytes()).decode("ascii")
        about = {"kind": kind, "dtype": dtype.removeprefix("torch."), "stored": data.dtype.name}
        return _tag("array", {**about, "shape": list(value.shape), "bytes": text})


def _tag(name: str, content: Any) -> dict[str, Any]:
    return {"$": name, "of": content}


def _other(kind: str, text: str = "") -> dict[str, Any]:
    return _tag("other", {"type": kind, "text": text})


def clean_text(text: str) -> str:
    """Without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _picture(value: Any) -> str:
    try:
        return clean_text(repr(value))[:200]
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
        return clean_text(data)
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


def read_int(text: str) -> int:
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
    "int": lambda text: read_int(text),
    "float": lambda text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
    "array": _decode_array,
    "other": lambda content: Other(
        clean_text(str(content["type"]))[:200], clean_text(str(content["text"]))[:200]
    ),
}
