"""The judge of `whole_word_selection`."""

from __future__ import annotations

from collections.abc import Sequence

from checks.judges.masking_granularity.selecting import (
    Draws,
    Weights,
    by_pieces,
    final_sets,
    follow,
    judge_draws,
    longest,
    shortest,
    unlikely_word,
)
from checks.protocol import Case, Finding, Outcome, Question, Verdict

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
    if not draws.case.data.get("statistics"):
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


def whole_word_selection(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_draws(question, cases, outcomes, leaves_room=LEAVES_ROOM, chances=_chances)
