"""The judge of `span_selection`.

How spans are placed is free in many details: whether one that does not fit is drawn again or cut short, whether
starts or whole spans are drawn. Three cases hold what all of these have in common.

segments  One word between two special tokens: every span has one word, so all sets are equally likely.
words     `max_length=1`: spans are words, and the exact chances are those of whole-word masking.
lengths   A long segment and a budget of a few spans: they hardly touch, so that runs of hidden words are spans.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checks.judges.masking_granularity.numbers import clipped, geometric
from checks.judges.masking_granularity.selecting import (
    Draws,
    by_pieces,
    final_sets,
    follow,
    judge_draws,
    shares,
    unlikely_word,
)
from checks.judges.statistics import percent
from checks.protocol import Case, Finding, Outcome, Question, Verdict

LEAVES_ROOM = (
    "A word that still fits was left in sight. Where a span is too long draw again; stop when no word fits."
)
NOT_EQUALLY_LIKELY = "Spans do not start at each word with the same chance. Draw the start among the words."

# Total variation between observed and predicted run lengths that a right answer may show. A few spans in a hundred
# touch and make one longer run; chance adds the rest. No closed form: tests/test_statistics_masking_granularity.py
# simulates right answers and every named mistake and holds the tolerance six standard deviations from all of them.
TOLERANCE = 0.13


def _chances(draws: Draws) -> Finding | None:
    kind = draws.case.data.get("statistics")
    if kind == "lengths":
        return _lengths(draws)
    return _places(draws, kind) if kind else None


# --- where spans start ------------------------------------------------------------------------------------


def named_above(share: float) -> float:
    """From which share of neighbouring words on spans are said to go on where they must not."""
    return share + 0.35 * (1 - share)


def _places(draws: Draws, kind: str) -> Finding | None:
    sizes, N = draws.sizes.tolist(), len(draws.hidden)
    expected = final_sets(sizes, draws.budget)
    if follow(draws, expected):
        return None
    share, count = shares(expected)["neighbours"], round(shares(draws.sets).get("neighbours", 0))
    general = unlikely_word(draws, expected, NOT_EQUALLY_LIKELY)
    # Spans that go on where they must not bring neighbours together often; a mere preference does so a little.
    if count > named_above(share) * N:
        return _too_close(draws, kind, count, share)
    if follow(draws, final_sets(sizes, draws.budget, by_pieces)):
        cause = "Long words are hidden too often: the start was drawn among pieces. Draw it among words."
        return Finding("starts_at_a_piece", cause, general.case, general.got, general.expected)
    return general


def _too_close(draws: Draws, kind: str, count: int, share: float) -> Finding:
    got = f"neighbouring words hidden together in {percent(count, len(draws.hidden))} of the draws"
    expected = f"about {100 * share:.1f} %"
    if kind == "segments":
        cause = (
            "Words on both sides of a special token are hidden together: a span ends where its segment ends."
        )
        return Finding("crosses_a_special", cause, draws.case.label, got, expected)
    cause = "With `max_length=1` a span is one word; longer ones came. Use the argument, not 10."
    return Finding("max_length_ignored", cause, draws.case.label, got, expected)


# --- how long they are ------------------------------------------------------------------------------------


def run_lengths(draws: Draws) -> np.ndarray:
    """Lengths, in words, of all runs of hidden words, over all draws."""
    hidden = np.pad(draws.pieces > 0, ((0, 0), (1, 1))).astype(np.int8)
    edges = np.diff(hidden, axis=1)
    return np.flatnonzero(edges.ravel() < 0) - np.flatnonzero(edges.ravel() > 0)


def total_variation(lengths: np.ndarray, shares: Sequence[float]) -> float:
    """Half the summed differences between observed lengths and the shares of lengths 1, 2, …"""
    observed = np.bincount(lengths, minlength=len(shares) + 1)[1:] / len(lengths)
    expected = np.pad(np.asarray(shares, dtype=np.float64), (0, max(0, len(observed) - len(shares))))
    return float(np.abs(observed - expected).sum() / 2)


def span_shares(shares: Sequence[float], words: int, *, redraw: bool) -> list[float]:
    """The shares of span lengths among all spans of a draw, when lengths follow `shares` and the budget is `words`.

    The last spans are shorter than drawn: what does not fit the rest of the budget is drawn again, or cut short.
    """
    counts = [[0.0] * len(shares)]  # counts[left]: expected spans of each length when so many words are left
    for left in range(1, words + 1):
        ends = [0.0] * len(shares)
        for index, share in enumerate(shares):
            if index < left or not redraw:
                ends[min(index, left - 1)] += share
        total = sum(ends)
        if not total:  # no length fits at all: nothing but the rest
            ends[left - 1] = total = 1.0
        row = [0.0] * len(shares)
        for index, share in enumerate(ends):
            if share:
                row = [a + share / total * b for a, b in zip(row, counts[left - index - 1], strict=True)]
                row[index] += share / total
        counts.append(row)
    spans = sum(counts[words])
    return [count / spans for count in counts[words]]


def distance(draws: Draws, lengths: np.ndarray, shares: Sequence[float]) -> float:
    """How far observed runs are from spans of these lengths, whichever way the budget ends."""
    words = draws.budget // int(draws.sizes[0])
    return min(
        total_variation(lengths, span_shares(shares, words, redraw=redraw)) for redraw in (True, False)
    )


def _in_words(shares: Sequence[float], pieces: int) -> list[float]:
    """Span lengths in words when they were drawn in pieces, `pieces` to a word; the last word is hidden whole."""
    result = [0.0] * len(shares)
    for length, share in enumerate(shares, start=1):
        result[-(-length // pieces) - 1] += share
    return result


def _wrong_lengths(p: float, L: int, pieces: int) -> list[tuple[str, str, Sequence[float]]]:
    in_pieces = (
        "Span lengths were counted in pieces. A span of length 3 has three words, however long they are."
    )
    wrong: list[tuple[str, str, Sequence[float]]] = [
        (
            "spans_clipped",
            "The longest spans are too frequent: longer ones were cut to `max_length`. Draw from the distribution "
            "of the question before, which is cut off and renormalised.",
            clipped(p, L),
        ),
        (
            "one_word_spans",
            "Every span is a single word. Draw its length, then hide that many neighbouring words.",
            [1.0],
        ),
        (
            "longest_spans_only",
            "Every span is as long as `max_length` allows. Draw its length.",
            [0.0] * (L - 1) + [1.0],
        ),
        ("lengths_in_pieces", in_pieces, _in_words(geometric(p, L), pieces)),
        (
            "uniform_lengths",
            "All span lengths are equally frequent. Weight them with `span_length_distribution(p, max_length)`.",
            [1 / L] * L,
        ),
        ("p_ignored", "Span lengths follow p = 0.2. Use the argument `p`.", geometric(0.2, L)),
    ]
    if (
        p < 0.5
    ):  # the case with a large p comes second, and p and 1 - p are not exchanged in one of them alone
        cause = "Span lengths follow 1 − p. A span ends behind a word with probability p."
        wrong.append(("p_exchanged", cause, geometric(1 - p, L)))
    return wrong


def _lengths(draws: Draws) -> Finding | None:
    p, L = draws.case["more"]["p"], draws.case["more"]["max_length"]
    lengths = run_lengths(draws)
    if distance(draws, lengths, geometric(p, L)) <= TOLERANCE:
        return None
    wrong = _wrong_lengths(p, L, int(draws.sizes[0]))
    id, cause, shares = min(wrong, key=lambda mistake: distance(draws, lengths, mistake[2]))
    if distance(draws, lengths, shares) > TOLERANCE:
        id, cause = (
            "span_lengths_off",
            "Spans are not as long as `span_length_distribution(p, max_length)` says.",
        )
    return Finding(
        id, cause, draws.case.label, _shares(lengths, L), f"mean {_mean(geometric(p, L)):.2f} words"
    )


def _mean(shares: Sequence[float]) -> float:
    return sum(length * share for length, share in enumerate(shares, start=1))


def _shares(lengths: np.ndarray, L: int) -> str:
    N = len(lengths)
    one, most = percent(int((lengths == 1).sum()), N), percent(int((lengths >= L).sum()), N)
    return f"spans of mean {lengths.mean():.2f} words, {one} of one word, {most} of {L} or more"


def span_selection(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_draws(question, cases, outcomes, leaves_room=LEAVES_ROOM, chances=_chances)
