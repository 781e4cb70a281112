"""How a value is shown to a learner: short, and never two different values as one text."""

from __future__ import annotations

from typing import Any, NamedTuple

from checks.encoding import Array

LONGEST = 8  # elements of a list that are shown


class Difference(NamedTuple):
    got: str
    expected: str


def show_value(value: Any) -> str:
    """A short picture of a value: thousands separated, long things cut."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return _show(value, show_value)


def show_exactly(value: Any) -> str:
    """The same with every digit, and with the type where that is what two equal numbers differ in."""
    if isinstance(value, (int, float)):
        return f"{value!r} ({type(value).__name__})"
    return _show(value, repr)


def show_pair(got: Any, expected: Any) -> Difference:
    """Two values that differ, in two texts that differ."""
    shown = Difference(show_value(got), show_value(expected))
    if shown.got != shown.expected:
        return shown
    exact = Difference(show_exactly(got), show_exactly(expected))
    if exact.got != exact.expected:
        return exact
    return Difference(f"{type(got).__name__} {exact.got}", f"{type(expected).__name__} {exact.expected}")


def _show(value: Any, element: Any) -> str:
    def inside(part: Any) -> str:
        if isinstance(part, str):
            return repr(part)[:120]
        return (
            _show(part, element) if isinstance(part, (dict, list, tuple, set, frozenset)) else element(part)
        )

    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{key!s}: {inside(part)}" for key, part in list(value.items())[:LONGEST]) + "}"
        )
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        more = f", … ({len(value)})" if len(value) > LONGEST else ""
        text = ", ".join(map(inside, list(parts)[:LONGEST])) + more
        opens, closes = "()" if isinstance(value, tuple) else "[]" if isinstance(value, list) else "{}"
        return f"{opens}{text}{closes}"
    return str(value)[:120]


def describe_type(value: Any) -> str:
    """What came, in kind: "float 0.21", "tensor of shape (2,) and dtype int64"."""
    if value is None:
        return "None"
    if isinstance(value, Array) or (hasattr(value, "type") and not isinstance(value, (int, float))):
        return str(value)
    return f"{type(value).__name__} {show_value(value)}"
