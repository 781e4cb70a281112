"""Rows of pieces: long words, words without a piece, padding, rows without special tokens."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case

SIGNATURE = "align_labels(word_ids, word_labels) -> list[int]"
SECTION = "Labels for words, scores for pieces"


def inputs(rng: Random) -> list[Case]:
    two = _pieces(rng, "two words of one piece", [1, 1])
    return [
        two,
        _pieces(rng, "a word of three pieces", [1, 3, 1]),
        _pieces(rng, "words with equal labels", [1, 2, 1], labels=[3, 3, 3]),
        _pieces(rng, "no special tokens, a long word first", [2, 1, 1], special=False),
        _pieces(rng, "long words first and last", [rng.randrange(2, 5), 1, 2, rng.randrange(2, 5)]),
        _pieces(rng, "padding behind", [2, 1, 1, 3], padding=rng.randrange(2, 5)),
        _pieces(rng, "a word that left no piece", [1, 2, 0, 2, 1]),
        _pieces(rng, "a row cut off in the middle", [1, 2, 3, 1, 4, 2, 1], cut=7),
        _pieces(rng, "30 words", [rng.choice([1, 1, 1, 2, 3]) for _ in range(29)] + [2], padding=9),
        two.again(),
    ]


def _pieces(
    rng: Random,
    label: str,
    pieces: list[int],
    *,
    labels: list[int] | None = None,
    special: bool = True,
    padding: int = 0,
    cut: int | None = None,
) -> Case:
    words = [word for word, count in enumerate(pieces) for _ in range(count)][:cut]
    # Odd labels are B-, the even one behind each is its I-; 0 is O. The first word always carries an entity.
    drawn = [rng.choice([0, 1, 2, 3, 4, 5] if word else [1, 3, 5]) for word in range(len(pieces))]
    around = [None] * special
    word_ids = [*around, *words, *around, *[None] * padding]
    return Case(label, {"word_ids": word_ids, "word_labels": drawn if labels is None else labels})


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, list(case["word_ids"]), list(case["word_labels"]))
