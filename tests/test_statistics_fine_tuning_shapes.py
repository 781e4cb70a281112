"""The one judgement of `fine_tuning_shapes` that rests on chance: how often a head's dropout drops.

A right head is refused less than once in a million, by a bound that holds for every n and is checked here against the
exact tail; heads that drop too often or too seldom are refused every time.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from checks.judges.fine_tuning_shapes.dropout import wrong_dropout
from checks.judges.statistics import ERROR, is_plausible
from checks.questions import find
from checks.questions.fine_tuning_shapes.heads import LOUD, TRAINING_ROWS

DRAWS = 200  # heads that are judged whole
COUNTS = 1_000_000  # heads of which only the number of dropped features is drawn
ZERO = np.array([0.5, -0.25])  # (L,)
ADDED = np.array([[0.125, -1.0], [LOUD * 0.875, LOUD * 0.25]])  # (2,L)
RATES = (0.1, 0.25, 0.4, 0.5)  # all that the inputs draw


def scores_of(kept, p):
    """(N,L): what rows score that kept these features (N,2), kept ones divided by 1 − p."""
    return ZERO + kept @ ADDED / (1 - p)


def verdicts(rate, p):
    """The finding, or None, on each of many heads that drop with `rate` and scale for `p`."""
    rng = np.random.default_rng(round(1000 * rate))
    for kept in rng.random((DRAWS, TRAINING_ROWS, 2)) >= rate:
        wrong = wrong_dropout(scores_of(kept, p), ZERO, ADDED, p)
        yield wrong[0] if wrong else None


def plausible(rate, p):
    """Whether each of very many counts passes for `p` where features were dropped with `rate`."""
    n = 2 * TRAINING_ROWS
    counts = np.random.default_rng(5).binomial(n, rate, COUNTS)
    return {is_plausible(count, n, p) for count in np.unique(counts).tolist()}


def exact_error(n, p):
    """The probability that a right head of n features is refused, summed over all counts."""
    logs = [
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(p)
        + (n - k) * math.log(1 - p)
        for k in range(n + 1)
    ]
    return math.fsum(math.exp(log) for k, log in enumerate(logs) if not is_plausible(k, n, p))


def features(case, every_position):
    return 2 * TRAINING_ROWS * (case["S"] if every_position else 1)


@pytest.mark.parametrize(("name", "every_position"), [("SequenceHead", False), ("TokenHead", True)])
def test_a_right_head_is_refused_less_than_once_in_a_million(name, every_position):
    for seed in range(5):
        cases = [case for case in find(name).cases(seed) if case["dropout"] != 0]
        rates = [0.1 if case["dropout"] is None else case["dropout"] for case in cases]
        assert set(rates) <= set(RATES)
        exact = [exact_error(features(case, every_position), p) for case, p in zip(cases, rates, strict=True)]
        # Both features always alike, which is said of `Dropout1d`, may happen by chance as well.
        alike = [(1 - 2 * p * (1 - p)) ** TRAINING_ROWS for p in rates]
        assert math.fsum(exact + alike) <= len(cases) * ERROR < 1e-6


@pytest.mark.parametrize("p", RATES)
def test_right_heads_draw_no_finding(p):
    assert set(verdicts(p, p)) == {None}
    assert plausible(p, p) == {True}


@pytest.mark.parametrize("p", (0.25, 0.4, 0.5))
@pytest.mark.parametrize("factor", (0.5, 1.5))
def test_heads_that_drop_half_or_half_as_much_again_are_found_every_time(p, factor):
    assert set(verdicts(factor * p, p)) == {"wrong_dropout_rate"}
    assert plausible(factor * p, p) == {False}


@pytest.mark.parametrize("p", RATES)
def test_whole_vectors_are_found_every_time(p):
    rng = np.random.default_rng(3)
    for kept in rng.random((DRAWS, TRAINING_ROWS, 1)) >= p:
        wrong = wrong_dropout(scores_of(np.repeat(kept, 2, 1), p), ZERO, ADDED, p)
        assert wrong is not None
        assert wrong[0] == "drops_whole_vectors"
