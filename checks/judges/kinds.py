"""What an answer may be: its form, when it equals another, and how a difference between two is shown.

One rule for all questions says which stand-ins of a type are taken; every exercise repeats it for its learners:

- a number may be Python's, NumPy's, or a tensor or an array without axes;
- a whole number may stand for a real one (1 for 1.0); a real one never for a count (3.0 for 3), nor True for 1;
- a tuple may stand for a list and a list for a tuple.

`plain` applies the first of these to evidence; what it makes of it is what kinds see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from checks.encoding import Array
from checks.judges.showing import Difference, describe_type, show_pair
from checks.protocol import Finding

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
