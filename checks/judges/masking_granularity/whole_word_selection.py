"""Whole words that are not all equally likely."""

from __future__ import annotations

from checks.judges.masking_granularity.chances import (
    Weights,
    by_pieces,
    final_sets,
    follow,
    longest,
    shortest,
    unlikely_word,
)
from checks.judges.masking_granularity.draws import Draws
from checks.judges.masking_granularity.every_draw import selection_judge
from checks.protocol import Finding

LEAVES_ROOM = (
    "A word that still fits was left in sight. Pass over words that are too long; stop when none fits."
)
MISTAKES: tuple[tuple[str, str, Weights], ...] = (
    (
        "draws_pieces_not_words",
        "Long words are hidden too often: a piece was drawn and its word hidden. Draw among words, each once.",
        by_pieces,
    ),
    ("longest_first", "The longest words are taken first. Each word is as likely as any other.", longest),
    ("shortest_first", "The shortest words are taken first. Each word is as likely as any other.", shortest),
)
NOT_EQUALLY_LIKELY = (
    "Words are not equally likely. Shuffle all of them, or draw each next one from those that fit."
)


def _chances(draws: Draws) -> Finding | None:
    if not draws.case["statistics"]:
        return None
    sizes = draws.sizes.tolist()
    expected = final_sets(sizes, draws.budget)
    if follow(draws, expected):
        return None
    general = unlikely_word(draws, expected, NOT_EQUALLY_LIKELY)
    for id, cause, weights in MISTAKES:
        if follow(draws, final_sets(sizes, draws.budget, weights)):
            return Finding(id, cause, general.case, general.got, general.expected)
    return general


JUDGE = selection_judge(LEAVES_ROOM, _chances)
