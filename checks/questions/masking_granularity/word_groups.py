"""Rows of tokens whose words are to be numbered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case
from checks.questions.masking_granularity.rows import LETTERS, draw_words

SIGNATURE = "word_groups(tokens) -> list[int | None]"
SECTION = "Pieces and words"


def inputs(rng: Random) -> list[Case]:
    words = partial(draw_words, rng)
    cut = [f"##{''.join(rng.sample(LETTERS, 3))}" for _ in range(3)]
    (same,) = words(1)
    longer = [rng.randrange(1, 4) for _ in range(12)]
    rows = [
        ["[CLS]", *words(1, 1), "[SEP]"],
        ["[CLS]", *words(2), "[SEP]"],
        ["[CLS]", *words(2, 1, 3, 1), "[SEP]"],
        ["[CLS]", *words(1, 2), "[SEP]", *words(1, 2), "[SEP]"],
        ["[CLS]", *words(1, 2), "[SEP]", cut[0], cut[1], *words(1), "[SEP]"],
        ["[CLS]", cut[2], *words(1), "[SEP]"],
        ["[CLS]", *words(2, 1), "[SEP]", "[PAD]", "[PAD]"],
        # Text that looks special, or like a piece: the list of special tokens and the two signs in front decide.
        ["[CLS]", *words(1), "[", *words(1), "]", "#", *words(1), "pad", f"{same}##", "[SEP]"],
        ["[CLS]", "[UNK]", *words(1), "[MASK]", cut[0], "[SEP]"],
        ["[CLS]", same, same, *words(1), same, cut[0], same, cut[0], cut[0], "[SEP]"],
        [*words(2, 1)],
        ["[PAD]", "[CLS]", "[SEP]"],
        [],
        ["[CLS]", *words(*longer[:6]), "[SEP]", *words(*longer[6:]), "[SEP]", *["[PAD]"] * 5],
    ]
    cases = [Case(_shown(row), {"tokens": row}) for row in rows]
    return [*cases, cases[0].again()]


def _shown(row: list[str]) -> str:
    return " ".join(row[:12]) + (f" … ({len(row)} tokens)" if len(row) > 12 else "") or "a row without tokens"


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, list(case["tokens"]))
