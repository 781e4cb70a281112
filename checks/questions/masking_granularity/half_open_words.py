"""Masks that hide some words whole and others in part."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case
from checks.questions.masking_granularity.rows import Groups, make_groups

SIGNATURE = "half_open_words(hidden, groups) -> int"
SECTION = "A piece with its siblings in sight"


def inputs(rng: Random) -> list[Case]:
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
        cases.append(_hidden(f"{len(words)} words", hidden, groups))
        if number == 2:
            cases.append(_hidden("no special token", hidden[1:-1], groups[1:-1]))
        if number == 3:  # a wrong mask may hide a special token; that makes no word half-open
            cases.append(_hidden(f"{len(words)} words, a special token hidden", [True, *hidden[1:]], groups))
    cases.insert(1, _hidden("no word", [True, False, False], [None, None, None]))
    return [*cases, cases[0].again()]


def _hidden(label: str, hidden: list[bool], groups: Groups) -> Case:
    marks = " ".join("·" if g is None else str(g) for g in groups[:20])
    picture = "".join("#" if h else "-" for h in hidden[:20])
    return Case(f"{label}; groups {marks}, hidden {picture}", {"hidden": hidden, "groups": groups})


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, list(case["hidden"]), list(case["groups"]))
