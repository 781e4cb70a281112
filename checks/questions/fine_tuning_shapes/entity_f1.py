"""Small corpora, each with one thing that can go wrong, and one of twelve sentences."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case
from checks.questions.fine_tuning_shapes.tags import random_tags, types

SIGNATURE = "entity_f1(true, predicted) -> (precision, recall, f1)"
SECTION = "What an entity tagger is worth"


def inputs(rng: Random) -> list[Case]:
    a, b, _ = types(rng)
    empty = ["O"] * 3
    one = [f"B-{a}", "O", "O", "O"]
    ends_open = ["O", "O", f"B-{a}"]
    goes_on = [f"I-{a}", "O", "O"]
    first = _corpus("one of two found", [one], [[f"B-{a}", "O", f"B-{b}", "O"]])
    return [
        first,
        _corpus("a type wrong, an end wrong", *_near_misses(a, b)),
        _corpus(
            "the same place in two sentences",
            [one, one, [f"B-{b}", "O"]],
            [one, ["O"] * 4, [f"B-{b}", f"B-{a}"]],
        ),
        _corpus(
            "an entity at the end of a row and one at the start of the next",
            [ends_open, goes_on, empty],
            [ends_open, [f"B-{a}", "O", "O"], [f"B-{b}", "O", "O"]],
        ),
        _corpus("nothing predicted", [one, [f"B-{b}", f"I-{b}"]], [["O"] * 4, ["O"] * 2]),
        _corpus("nothing true", [empty], [[f"I-{b}", "O", f"B-{a}"]]),
        _corpus("nothing true, nothing predicted", [empty, empty[:2]], [empty, empty[:2]]),
        _random_corpus(rng),
        first.again(),
    ]


def _near_misses(a: str, b: str) -> tuple[list[list[str]], list[list[str]]]:
    """One entity right, one with another type, two with another end, one with another start; then one right."""
    pairs = [
        ([f"B-{a}", f"I-{a}", "O"], [f"B-{a}", f"I-{a}", "O"]),
        ([f"B-{b}", "O"], [f"B-{a}", "O"]),
        ([f"B-{a}", f"I-{a}", f"I-{a}", "O"], [f"B-{a}", f"I-{a}", "O", "O"]),
        ([f"B-{b}", f"I-{b}", "O"], [f"B-{b}", "O", "O"]),
        ([f"B-{a}", f"I-{a}", "O", f"B-{b}"], ["O", f"B-{a}", "O", "O"]),
    ]
    first = [[tag for pair in pairs for tag in pair[side]] for side in (0, 1)]
    second = ["O", f"B-{b}", "O"]
    return [first[0], second], [first[1], second]


def _corpus(label: str, true: list[list[str]], predicted: list[list[str]]) -> Case:
    return Case(label, {"true": true, "predicted": predicted})


def _random_corpus(rng: Random) -> Case:
    """Sentences of different lengths, each tag kept with the probability ¾: fewer entities right than wrong."""
    kinds = types(rng)
    true = [random_tags(rng, kinds, rng.randrange(4, 25)) for _ in range(12)]
    noise = [random_tags(rng, kinds, len(row)) for row in true]
    predicted = [
        [tag if rng.random() < 0.75 else other for tag, other in zip(row, others, strict=True)]
        for row, others in zip(true, noise, strict=True)
    ]
    return _corpus("12 sentences", true, predicted)


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, [list(row) for row in case["true"]], [list(row) for row in case["predicted"]])
