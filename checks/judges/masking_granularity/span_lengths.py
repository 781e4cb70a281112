"""How long the spans of an answer are, seen from the runs of hidden words in a long segment.

A budget of a few spans in 180 words: they hardly touch, so that runs of hidden words are spans. A few in a hundred
touch and make one longer run; chance adds the rest. There is no closed form: the tests of these statistics simulate
right answers and every named mistake, and hold the tolerance six standard deviations from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checks.judges.masking_granularity.draws import Draws
from checks.judges.masking_granularity.span_length_distribution import clipped, exchanged, geometric
from checks.judges.statistics import percent
from checks.protocol import Finding

TOLERANCE = 0.13  # total variation between observed and predicted run lengths that a right answer may show


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
        wrong.append(("p_exchanged", cause, exchanged(p, L)))
    return wrong


def odd_lengths(draws: Draws) -> Finding | None:
    p, L = draws.case["options"]["p"], draws.case["options"]["max_length"]
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
