"""Inputs and probes of the assignment `masking_granularity` (lesson 04).

A row travels as tokens or as groups: for each piece the number of its word, None for a special token. The two
questions that choose at random are asked many times with one generator, then again from the same seed: the draws
leave as 0 and 1, one row a draw.

S pieces of a row · N draws
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import numpy as np

from checks.probing import call
from checks.protocol import Assignment, Case

ASSIGNMENT = Assignment("masking_granularity", "lessons/04_which_unit_is_hidden.ipynb")

Groups = list[int | None]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
AGAIN = 10  # draws that are repeated from the same seed


def _positional(given: dict[str, Any], **defaults: Any) -> list[Any]:
    """The arguments with a default, in order, up to the last that is given."""
    last = max((index for index, name in enumerate(defaults) if name in given), default=-1)
    return [given.get(name, value) for name, value in list(defaults.items())[: last + 1]]


# --- word_groups ------------------------------------------------------------------------------------------


def _word(rng: Random, pieces: int = 1) -> list[str]:
    text = ["".join(rng.sample(LETTERS, rng.randrange(2, 5))) for _ in range(pieces)]
    return [text[0], *(f"##{part}" for part in text[1:])]


def _group_inputs(rng: Random) -> list[Case]:
    def words(*sizes: int) -> list[str]:
        return [piece for size in sizes for piece in _word(rng, size)]

    cut = [f"##{''.join(rng.sample(LETTERS, 3))}" for _ in range(3)]
    longer = [rng.randrange(1, 4) for _ in range(12)]
    rows = [
        ["[CLS]", *words(1, 1), "[SEP]"],
        ["[CLS]", *words(2), "[SEP]"],
        ["[CLS]", *words(2, 1, 3, 1), "[SEP]"],
        ["[CLS]", *words(1, 2), "[SEP]", *words(1, 2), "[SEP]"],
        ["[CLS]", *words(1, 2), "[SEP]", cut[0], cut[1], *words(1), "[SEP]"],
        ["[CLS]", cut[2], *words(1), "[SEP]"],
        ["[CLS]", *words(2, 1), "[SEP]", "[PAD]", "[PAD]"],
        ["[CLS]", *words(1), "[", *words(1), "]", "#", *words(1), "[SEP]"],
        ["[CLS]", *words(*longer[:6]), "[SEP]", *words(*longer[6:]), "[SEP]", *["[PAD]"] * 5],
    ]
    return [Case(_shown(row), {"tokens": row}) for row in rows]


def _shown(row: list[str]) -> str:
    return " ".join(row[:12]) + (f" … ({len(row)} tokens)" if len(row) > 12 else "")


# --- half_open_words --------------------------------------------------------------------------------------


def make_groups(segments: Iterable[Iterable[int]], padding: int = 0) -> Groups:
    """The groups of a row: a special token, then each segment's words by their sizes and a special token."""
    groups: Groups = [None]
    number = 0
    for segment in segments:
        for size in segment:
            groups += [number] * size
            number += 1
        groups.append(None)
    return groups + [None] * padding


def _half_open_inputs(rng: Random) -> list[Case]:
    """Hidden pieces word by word, 1 hidden and 0 in sight, the row's special tokens in front and behind."""
    n = rng.randrange(4, 6)
    patterns: list[list[str]] = [
        ["01", "0"],
        ["111", "0", "00", "1", "11"],
        ["101", "100", "110", "0", "1", "010"],
        ["0" + "1" * n, "10010", "00", "1010", "11"],
        ["".join(rng.choice("01") for _ in range(rng.randrange(1, 5))) for _ in range(30)] + ["0101", "10"],
    ]
    cases = []
    for number, words in enumerate(patterns):
        groups = make_groups([[len(word) for word in words]])
        hidden = [False, *(mark == "1" for word in words for mark in word), False]
        cases.append(_hidden(hidden, groups, f"{len(words)} words"))
        if number == 3:  # a wrong mask may hide a special token; that makes no word half-open
            cases.append(_hidden([True, *hidden[1:]], groups, f"{len(words)} words, a special token hidden"))
    return cases


def _hidden(hidden: list[bool], groups: Groups, label: str) -> Case:
    marks = " ".join("·" if g is None else str(g) for g in groups[:20])
    picture = "".join("#" if h else "-" for h in hidden[:20])
    return Case(f"{label}; groups {marks}, hidden {picture}", {"hidden": hidden, "groups": groups})


# --- prediction_budget ------------------------------------------------------------------------------------


def _budget_inputs(rng: Random) -> list[Case]:
    asked: list[tuple[int, dict[str, Any]]] = [
        (3, {}),
        (10, {}),
        (rng.choice([21, 22]), {}),  # 3.15 and 3.3 round down
        (53, {}),  # 7.95: without two or three special tokens it is 8 all the same
        (30, {}),  # 4.5: Python rounds a half to the even number
        (70, {}),  # 10.5
        (128, {}),
        (512, {}),
        (rng.randrange(60, 90), {"cap": rng.randrange(3, 7)}),
        (rng.randrange(200, 400), {"cap": 1_000}),
        (rng.randrange(30, 40), {"probability": rng.choice([0.3, 0.4])}),
        (rng.randrange(200, 300), {"probability": 0.5, "cap": rng.randrange(60, 80)}),
    ]
    return [
        Case(", ".join([f"length={n}", *(f"{k}={v}" for k, v in more.items())]), {"length": n, "more": more})
        for n, more in asked
    ]


# --- choosing words and spans -----------------------------------------------------------------------------


def _selection(
    rng: Random, label: str, segments: list[list[int]], budget: int, draws: int, **data: Any
) -> Case:
    padding = data.pop("padding", 0)
    groups = make_groups(segments, padding)
    notes = "".join(f", {name}={value}" for name, value in data.get("more", {}).items())
    return Case(
        f"{label}, budget={budget}{notes}",
        {"groups": groups, "budget": budget, "seed": rng.randrange(2**32), "draws": draws, **data},
    )


def _mixed(rng: Random, sizes: list[int]) -> list[int]:
    return rng.sample(sizes, len(sizes))


def _whole_inputs(rng: Random) -> list[Case]:
    long = [[rng.randrange(1, 5) for _ in range(n)] for n in (14, 11)]
    six = _mixed(rng, [1, 1, 1, 2, 2, 4])
    return [
        _selection(rng, "one word of one piece", [[1]], 1, 5),
        _selection(rng, "two words of three pieces", [[3, 3]], 2, 5),
        _selection(rng, "six words in two segments", [six[:2], six[2:]], 5, 3_000, statistics=True),
        _selection(rng, "25 words in two segments", long, rng.randrange(9, 13), 60, padding=4),
    ]


def _span_inputs(rng: Random) -> list[Case]:
    long = [[rng.randrange(1, 4) for _ in range(n)] for n in (14, 11, 6)]
    eight = _mixed(rng, [1, 1, 1, 1, 2, 2, 2, 2])
    alike = [[2] * 180]
    steep = {"p": rng.choice([0.65, 0.7]), "max_length": 5}
    return [
        _selection(rng, "one word of one piece", [[1]], 1, 5),
        _selection(rng, "two words of three pieces", [[3, 3]], 2, 5),
        _selection(rng, "31 words in three segments", long, rng.randrange(12, 18), 60, padding=4),
        _selection(
            rng, "six segments of one word", [[1]] * 6, 2, 2_000, statistics="segments", more={"p": 0.05}
        ),
        _selection(
            rng, "eight words", [eight], 3, 3_000, statistics="words", more={"p": 0.1, "max_length": 1}
        ),
        _selection(
            rng,
            "180 words of two pieces",
            alike,
            24,
            120,
            statistics="lengths",
            more={"p": 0.2, "max_length": 4},
        ),
        _selection(rng, "180 words of two pieces", alike, 24, 120, statistics="lengths", more=steep),
    ]


def _call_selection(answer: Callable[..., Any], case: Case) -> Any:
    """Draws as an array (N,S); anything that is not a list of S bools as it came."""
    first = _draws(answer, case, case["draws"])
    if not isinstance(first, np.ndarray):
        return first
    again = _draws(answer, case, min(AGAIN, case["draws"]))
    return {"draws": first, "again": again}


def _draws(answer: Callable[..., Any], case: Case, count: int) -> Any:
    rng = Random(case["seed"])
    groups = case["groups"]
    more = _positional(case.data.get("more", {}), p=0.2, max_length=10)
    rows = []
    for number in range(count):
        arguments = (list(groups), case["budget"], rng, *more)
        value = call(answer, *arguments) if number < 3 else answer(*arguments)
        if value is None or value is ...:
            return value
        if not _is_selection(value, len(groups)):
            return {"not a selection": value}
        rows.append([bool(hidden) for hidden in value])
    return np.array(rows, dtype=np.uint8)


def _is_selection(value: Any, length: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == length
        and all(isinstance(hidden, (bool, np.bool_)) for hidden in value)
    )


# --- span_length_distribution -----------------------------------------------------------------------------


def _distribution_inputs(rng: Random) -> list[Case]:
    asked: list[dict[str, Any]] = [
        {"p": 0.5, "max_length": 2},
        {"p": 0.3, "max_length": 1},
        {"p": round(rng.uniform(0.25, 0.45), 3), "max_length": rng.randrange(4, 8)},
        {"max_length": 5},
        {"p": round(rng.uniform(0.05, 0.15), 3), "max_length": 12},
        {},
    ]
    return [
        Case(", ".join(f"{k}={v}" for k, v in more.items()) or "the defaults", {"more": more})
        for more in asked
    ]


QUESTIONS = (
    ASSIGNMENT.question(
        "word_groups",
        "word_groups(tokens) -> list[int | None]",
        "Pieces and words",
        _group_inputs,
        lambda answer, case: call(answer, list(case["tokens"])),
    ),
    ASSIGNMENT.question(
        "half_open_words",
        "half_open_words(hidden, groups) -> int",
        "A piece with its siblings in sight",
        _half_open_inputs,
        lambda answer, case: call(answer, list(case["hidden"]), list(case["groups"])),
    ),
    ASSIGNMENT.question(
        "prediction_budget",
        "prediction_budget(length, probability=0.15, cap=20) -> int",
        "How much is hidden",
        _budget_inputs,
        lambda answer, case: answer(case["length"], *_positional(case["more"], probability=0.15, cap=20)),
    ),
    ASSIGNMENT.question(
        "whole_word_selection",
        "whole_word_selection(groups, budget, rng) -> list[bool]",
        "Whole-word masking",
        _whole_inputs,
        _call_selection,
    ),
    ASSIGNMENT.question(
        "span_length_distribution",
        "span_length_distribution(p=0.2, max_length=10) -> list[float]",
        "How long is a span",
        _distribution_inputs,
        lambda answer, case: answer(*_positional(case["more"], p=0.2, max_length=10)),
    ),
    ASSIGNMENT.question(
        "span_selection",
        "span_selection(groups, budget, rng, p=0.2, max_length=10) -> list[bool]",
        "Span masking",
        _span_inputs,
        _call_selection,
    ),
)
