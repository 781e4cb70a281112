"""Rows of words to choose from, one of them so small that the chance of every set is known."""

from __future__ import annotations

from random import Random

from checks.protocol import Case
from checks.questions.masking_granularity import selections

SIGNATURE = "whole_word_selection(groups, budget, rng) -> list[bool]"
SECTION = "Whole-word masking"
probe = selections.probe


def inputs(rng: Random) -> list[Case]:
    long = [[rng.randrange(1, 5) for _ in range(n)] for n in (14, 11)]
    six = rng.sample([1, 1, 2, 2, 4, 4], 6)  # some choices leave room that no word fills
    return [
        *selections.edges(rng),
        selections.selection(
            rng, "six words in two segments", [six[:2], six[2:]], 5, 3_000, statistics="words"
        ),
        selections.selection(rng, "25 words in two segments", long, rng.randrange(9, 13), 60, padding=4),
    ]
