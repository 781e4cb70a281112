"""Spans that start or end where they should not, or are not as long as they should be.

How spans are placed is free in many details: whether one that does not fit is drawn again or cut short, whether
starts or whole spans are drawn. Three cases hold what all of these have in common.

segments  One word between two special tokens: every span has one word, so all sets are equally likely.
words     `max_length=1`: spans are words, and the exact chances are those of whole-word masking.
lengths   A long segment and a budget of a few spans: they hardly touch, so that runs of hidden words are spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from checks.judges.masking_granularity.chances import by_pieces, final_sets, follow, shares, unlikely_word
from checks.judges.masking_granularity.draws import Draws
from checks.judges.masking_granularity.every_draw import selection_judge
from checks.judges.masking_granularity.span_lengths import odd_lengths
from checks.judges.statistics import percent
from checks.protocol import Finding

LEAVES_ROOM = (
    "A word that still fits was left in sight. Where a span is too long draw again; stop when no word fits."
)
NOT_EQUALLY_LIKELY = "Spans do not start at each word with the same chance. Draw the start among the words."


def _other_defaults(draws: Sequence[Draws]) -> Finding | None:
    """The same row and seed, once without `p` and `max_length` and once with 0.2 and 10."""
    for one, two in pairwise(draws):
        if {**one.case.data, "options": two.case["options"]} == two.case.data and not one.case["options"]:
            odd = np.flatnonzero((one.hidden != two.hidden).any(1))
            if len(odd):
                cause = "Without `p` and `max_length` the spans are not those of 0.2 and 10. What are the defaults?"
                got, expected = one.picture(int(odd[0])), two.picture(int(odd[0]))
                return Finding("wrong_default", cause, one.case.label, got, expected)
    return None


def _chances(draws: Draws) -> Finding | None:
    kind = draws.case["statistics"]
    if kind == "lengths":
        return odd_lengths(draws)
    return _places(draws, kind) if kind else None


# --- where spans start ------------------------------------------------------------------------------------


def named_above(share: float) -> float:
    """From which share of neighbouring words on spans are said to go on where they must not."""
    return share + 0.28 * (1 - share)


def _places(draws: Draws, kind: str) -> Finding | None:
    sizes, N = draws.sizes.tolist(), len(draws.hidden)
    expected = final_sets(sizes, draws.budget)
    if follow(draws, expected):
        return None
    share, count = shares(expected)["neighbours"], round(shares(draws.sets).get("neighbours", 0))
    general = unlikely_word(draws, expected, NOT_EQUALLY_LIKELY)
    # Spans that go on where they must not bring neighbours together often; a mere preference does so a little.
    if count > named_above(share) * N and (kind == "words" or _all_neighbours(draws)):
        return _too_close(draws, kind, count, share)
    if follow(draws, final_sets(sizes, draws.budget, by_pieces)):
        cause = "Long words are hidden too often: the start was drawn among pieces. Draw it among words."
        return Finding("starts_at_a_piece", cause, general.case, general.got, general.expected)
    return general


def _all_neighbours(draws: Draws) -> bool:
    """Whether any two neighbours are hidden together, as spans do that go on; not always the same two."""
    both = (draws.pieces[:, :-1] > 0) & (draws.pieces[:, 1:] > 0)  # (N, W - 1)
    return bool(both.sum(0).min() > 0.4 * both.sum(0).mean())


def _too_close(draws: Draws, kind: str, count: int, share: float) -> Finding:
    got = f"neighbouring words hidden together in {percent(count, len(draws.hidden))} of the draws"
    expected = f"about {100 * share:.1f} %"
    if kind == "segments":
        cause = (
            "Words on both sides of a special token are hidden together: a span ends where its segment ends."
        )
        return Finding("crosses_a_special", cause, draws.case.label, got, expected)
    cause = "With `max_length=1` a span is one word, and longer ones came. Draw lengths from 1 to `max_length` only."
    return Finding("max_length_ignored", cause, draws.case.label, got, expected)


JUDGE = selection_judge(LEAVES_ROOM, _chances, _other_defaults)
