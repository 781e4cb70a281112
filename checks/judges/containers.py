"""Answers of several values: lists, pairs, sets and dicts, each part of a kind of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from checks.judges.kinds import INT, Kind
from checks.judges.showing import describe_type
from checks.protocol import Finding


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
