"""What an answer may be: its form, when it equals another, and how a difference between two is shown.

One rule for all questions says which stand-ins of a type are taken; every exercise repeats it for its learners:

- a number may be Python's, NumPy's, or a tensor or an array without axes;
- a whole number may stand for a real one (1 for 1.0); a real one never for a count (3.0 for 3), nor True for 1;
- a tuple may stand for a list and a list for a tuple.

`plain` applies the first of these to evidence; what it makes of it is what kinds see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from checks.judges.showing import Difference, describe_type, show_pair
from checks.protocol import Array, Finding

Same = Callable[[Any, Any], bool]
SHORT = 90  # characters of a value that is shown whole


@dataclass(frozen=True)
class Kind:
    """The form of an answer.

    words    for the learner: "an int".
    accepts  whether a value has the form.
    same     (got, expected) -> whether they agree; both have the form.
    parts    (got, expected) -> (where, kind, got, expected) of each part; nothing for a value without parts.
    answer   a plain value -> what an answer that gives it would return.
    """

    words: str
    accepts: Callable[[Any], bool]
    same: Same
    parts: Callable[[Any, Any], Iterator[tuple[str, Kind, Any, Any]]] = lambda got, expected: iter(())
    answer: Callable[[Any], Any] = lambda value: value
    keys: tuple[str, ...] = ()
    problem: Callable[[Any, Any], Finding | None] = field(default=lambda got, expected: None)

    def find_problem(self, got: Any, expected: Any) -> Finding | None:
        """What keeps `got` from being compared at all; None where it has the form of the expected value."""
        if found := self.problem(got, expected):
            return found
        if self.accepts(got):
            return None
        got_words = describe_type(got)
        return Finding("wrong_type", f"The answer must be {self.words}.", got=got_words, expected=self.words)

    def difference(self, got: Any, expected: Any) -> Difference:
        """The first place where two values differ, in two texts that differ as well."""
        where, one, other = self._locate(got, expected)
        shown = show_pair(one, other)
        return Difference(*(f"{where}: {text}" if where else text for text in shown))

    def with_part(self, value: Any, part: str, other: Any) -> Any:
        """The same value with another one in the place of a named part."""
        if isinstance(value, dict):
            return {**value, part: other}
        return tuple(other if key == part else one for key, one in zip(self.keys, value, strict=True))

    def _locate(self, got: Any, expected: Any) -> tuple[str, Any, Any]:
        """The largest part that shows a difference in few words: where it is, and the two values there."""
        shown = show_pair(got, expected)
        in_parts = self.keys or self.words == "a tensor"  # a difference is shown in a key, in a cell
        if not in_parts and max(map(len, shown)) <= SHORT and shown.got != shown.expected:
            return "", got, expected
        for where, kind, one, other in self.parts(got, expected):
            if not kind.same(one, other):
                deeper, one, other = kind._locate(one, other)
                return f"{where} {deeper}" if deeper[:1].isalpha() else where + deeper, one, other
        return "", got, expected


# --- numbers and texts --------------------------------------------------------------------------------------


def is_number(value: Any) -> bool:
    """An int or a float; a bool is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """A value with Python's numbers in place of tensors and arrays without axes, in lists, tuples and dicts too."""
    if isinstance(value, Array):
        return value.data.item() if value.data.ndim == 0 else value
    if isinstance(value, (list, tuple)):
        return type(value)(plain(part) for part in value)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value


def number(relative: float = 1e-9, absolute: float = 0.0, words: str = "a number") -> Kind:
    """A real number, equal within a tolerance; nan equals nan alone."""

    def same(got: Any, expected: Any) -> bool:
        if got != got or expected != expected:
            return bool(got != got and expected != expected)
        if got == expected:
            return True
        if math.inf in (abs(got), abs(expected)):  # no number lies within a share of infinity
            return False
        try:
            return bool(abs(got - expected) <= max(relative * abs(expected), absolute))
        except OverflowError:  # an int beyond all floats
            return False

    return Kind(words, is_number, same)


INT = Kind("an int", lambda value: type(value) is int, lambda got, expected: bool(got == expected))
NUMBER = number()
BOOL = Kind("True or False", lambda value: type(value) is bool, lambda got, expected: got is expected)
TEXT = Kind("a string", lambda value: isinstance(value, str), lambda got, expected: bool(got == expected))


def optional(kind: Kind) -> Kind:
    """None, or a value of the kind."""
    return Kind(
        f"None or {kind.words}",
        lambda value: value is None or kind.accepts(value),
        lambda got, expected: got is expected if None in (got, expected) else kind.same(got, expected),
    )


def identical(one: Any, other: Any) -> bool:
    """Whether two plain values are equal in form and, up to rounding, in their numbers. Arrays never are."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(identical, one, other))
    if is_number(one) and is_number(other):
        return type(one) is type(other) and NUMBER.same(one, other)
    return not isinstance(one, Array) and type(one) is type(other) and bool(one == other)


# --- several values ------------------------------------------------------------------------------------------


def list_of(item: Kind, words: str = "", length: int | None = None) -> Kind:
    """A list or tuple whose elements are all of one kind; of a fixed length where one is given."""
    return _row(words or f"a list, each element {item.words}", lambda index: item, length)


def tuple_of(*items: Kind, words: str, names: tuple[str, ...] = ()) -> Kind:
    """A fixed number of values, each of its own kind: "a pair (parameters, times_smaller)"; `names` of its parts."""
    return _row(words, lambda index: items[index], len(items), names)


def _row(words: str, item: Callable[[int], Kind], length: int | None, names: tuple[str, ...] = ()) -> Kind:
    def accepts(value: Any) -> bool:
        return (
            isinstance(value, (list, tuple))
            and (length is None or len(value) == length)
            and all(item(index).accepts(part) for index, part in enumerate(value))
        )

    def same(got: Any, expected: Any) -> bool:
        return len(got) == len(expected) and all(
            item(index).same(*pair) for index, pair in enumerate(zip(got, expected, strict=True))
        )

    def parts(got: Any, expected: Any) -> Iterator[tuple[str, Kind, Any, Any]]:
        for index, (one, other) in enumerate(zip(got, expected, strict=False)):
            yield names[index] if names else f"[{index}]", item(index), one, other
        if len(got) != len(expected):
            yield "length", INT, len(got), len(expected)

    return Kind(words, accepts, same, parts, keys=names)


def set_of(item: Kind, words: str) -> Kind:
    """A set whose elements are all of one kind, compared exactly."""

    def shown(got: Any, expected: Any) -> Iterator[tuple[str, Kind, Any, Any]]:
        wrong, missing = sorted(got - expected, key=repr)[:1], sorted(expected - got, key=repr)[:1]
        nothing = Kind("", lambda value: True, lambda got, expected: False)
        yield (
            "the first that differs",
            nothing,
            (wrong or ["nothing more"])[0],
            (missing or ["nothing more"])[0],
        )

    return Kind(
        words,
        lambda value: isinstance(value, (set, frozenset)) and all(map(item.accepts, value)),
        lambda got, expected: bool(got == expected),
        shown,
    )


def record(parts: Mapping[str, Kind], words: str = "") -> Kind:
    """A dict with exactly these keys, each value of its own kind."""
    words = words or "a dict with the keys " + ", ".join(parts)

    def problem(got: Any, expected: Any) -> Finding | None:
        if not isinstance(got, dict):
            return Finding("wrong_type", "The answer must be a dict.", got=describe_type(got), expected=words)
        if missing := [key for key in parts if key not in got]:
            return Finding(
                "missing_keys", "Keys are missing.", got=f"no {', '.join(missing)}", expected=words
            )
        if extra := [str(key) for key in got if key not in parts]:
            return Finding("extra_keys", "There are more keys.", got=", ".join(extra[:4]), expected=words)
        for key, kind in parts.items():
            if found := kind.find_problem(got[key], expected[key]):
                cause = found.cause.replace("The answer", f"`{key}`").replace(
                    "The shape", f"The shape of `{key}`"
                )
                return replace(found, cause=cause, got=f"{key}: {found.got}")
        return None

    return Kind(
        words,
        lambda value: problem(value, value) is None,
        lambda got, expected: all(kind.same(got[key], expected[key]) for key, kind in parts.items()),
        lambda got, expected: ((key, kind, got[key], expected[key]) for key, kind in parts.items()),
        lambda value: {key: kind.answer(value[key]) for key, kind in parts.items()},
        tuple(parts),
        problem,
    )


def mapping(item: Kind, words: str) -> Kind:
    """A dict with the names that are expected, each value of one kind."""

    def problem(got: Any, expected: Any) -> Finding | None:
        names = ", ".join(map(str, expected))
        if not isinstance(got, dict):
            return Finding("wrong_type", "The answer must be a dict.", got=describe_type(got), expected=words)
        if set(got) != set(expected):
            found = ", ".join(map(str, got)) or "an empty dict"
            return Finding("wrong_names", "There must be a row for each name.", got=found, expected=names)
        for name, value in expected.items():
            if found_inside := item.find_problem(got[name], value):
                return replace(found_inside, got=f"{name}: {found_inside.got}")
        return None

    return Kind(
        words,
        lambda value: isinstance(value, dict) and all(map(item.accepts, value.values())),
        lambda got, expected: (
            got.keys() == expected.keys() and all(item.same(got[it], expected[it]) for it in got)
        ),
        lambda got, expected: ((f"{name}: ", item, got[name], expected[name]) for name in expected),
        lambda value: {name: item.answer(one) for name, one in value.items()},
        problem=problem,
    )
