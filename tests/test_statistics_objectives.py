"""Random answers: a right one is refused less than once in a million times, the named wrong ones always.

The first is shown twice: exactly, from binomial tails over every comparison the judges make, and by simulation with a
fast right answer. The second likewise: the exact chance that a wrong share is taken for the right one, and simulation.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from checks.judges.objectives import mask_fates, mask_selection, nsp_pairs
from checks.judges.objectives.mask_draws import Draws
from checks.judges.objectives.mask_tokens import find_mistake as masking_finding
from checks.judges.objectives.nsp_pairs import find_mistake as pairs_finding
from checks.judges.objectives.pairs import Pairs
from checks.judges.statistics import ERROR, divergence, is_plausible
from checks.questions import find
from checks.questions.objectives.mask_tokens import IGNORED, draw_batch

RIGHT = (0.8, 0.1, 0.1)


def draws(seed, *, mix=RIGHT, share=1.0, low=0, drop=0):
    """What an answer with these shares of [MASK], random and kept would leave for the judge, drawn by NumPy.

    `share` multiplies the probability; random ids come from [low, V - drop).
    """
    rng = np.random.default_rng(seed)
    result = []
    for case in find("mask_tokens").cases(seed):
        ids, special = draw_batch(case)
        calls = sum(plan["each"] for plan in case["calls"])
        shape = (calls, *ids.shape)
        p = share * case.data.get("probability", 0.15)
        selected = (rng.random(shape) < p) & ~special
        fate, other = rng.random(shape), rng.integers(low, case["V"] - drop, shape)
        masked = np.where(selected & (fate < mix[0]), case["mask"], ids)
        masked = np.where(selected & (fate >= mix[0]) & (fate < mix[0] + mix[1]), other, masked)
        labels = np.where(selected, ids, IGNORED)
        if calls > 1:  # the first two generators had the same seed
            masked[2:4], labels[2:4] = masked[:2], labels[:2]
        result.append(Draws(case, ids, special, masked, labels))
    *others, default, explicit = result  # these two had the same seed
    return [*others, default, replace(explicit, masked=default.masked, labels=default.labels)]


def examples(seed, *, half=0.5):
    """What an answer that takes the next sentence with probability `half` would leave for the judge."""
    rng = np.random.default_rng(seed)
    result = []
    for case in find("nsp_pairs").cases(seed)[:4]:
        everything = [(d, s) for d, document in enumerate(case["documents"]) for s in range(len(document))]
        strangers = [[place for place in everything if place[0] != d] for d in range(len(case["documents"]))]
        pairs, calls = Pairs(case, []).nexts, []
        for _ in range(sum(plan["each"] for plan in case["calls"])):
            nexts, picks = rng.random(len(pairs)) < half, rng.random(len(pairs))
            calls.append(
                [
                    (a, b, 0) if is_next else (a, strangers[a[0]][int(pick * len(strangers[a[0]]))], 1)
                    for (a, b), is_next, pick in zip(pairs, nexts, picks, strict=True)
                ]
            )
        calls[2:4] = calls[:2]
        result.append(Pairs(case, calls))
    return result


@pytest.fixture
def comparisons(monkeypatch):
    """Every (n, p) that a judge compares a count with."""
    seen = []

    def record(count, n, p, error=ERROR):
        seen.append((n, p))
        return is_plausible(count, n, p, error)

    for judge in (mask_fates, mask_selection, nsp_pairs):
        monkeypatch.setattr(judge, "is_plausible", record)
    return seen


def band(n, p):
    """The counts of n that are plausible: an interval, lowest and highest."""
    counts = np.arange(n + 1)
    plausible = [k for k in (int(n * p), int(n * p) + 1) if is_plausible(k, n, p)]
    low = high = plausible[0]
    for step in (n, *(2**k for k in range(n.bit_length(), -1, -1))):
        while low - step >= 0 and is_plausible(int(counts[low - step]), n, p):
            low -= step
        while high + step <= n and is_plausible(int(counts[high + step]), n, p):
            high += step
    return low, high


def chance_of_refusal(n, p):
    low, high = band(n, p)
    return binom.cdf(low - 1, n, p) + binom.sf(high, n, p)


def chance_of_acceptance(n, p, actual):
    low, high = band(n, p)
    return binom.cdf(high, n, actual) - binom.cdf(low - 1, n, actual)


@pytest.mark.parametrize(("n", "p"), list(itertools.product((1, 12, 500, 20_000), (0.01, 0.15, 0.5, 0.8083))))
def test_a_count_is_refused_no_more_often_than_promised(n, p):
    assert chance_of_refusal(n, p) <= ERROR
    exact = sum(binom.pmf(k, n, p) for k in range(n + 1) if not is_plausible(k, n, p)) if n < 1000 else 0.0
    assert exact <= ERROR


def test_impossible_counts_are_refused_and_no_trials_say_nothing():
    assert not is_plausible(1, 10_000, 0.0)
    assert not is_plausible(9_999, 10_000, 1.0)
    assert is_plausible(0, 10_000, 0.0)
    assert is_plausible(0, 0, 0.3)
    assert divergence(0.3, 0.3) == 0 and divergence(0.3, 0.0) == math.inf


def test_a_right_masking_is_refused_less_than_once_in_a_million(comparisons):
    assert masking_finding(draws(1)) is None
    assert len(comparisons) * ERROR < 1e-6
    assert sum(chance_of_refusal(n, p) for n, p in comparisons) < 1e-6


def test_right_pairs_are_refused_less_than_once_in_a_million(comparisons):
    assert pairs_finding(examples(1)) is None
    assert sum(chance_of_refusal(n, p) for n, p in comparisons) < 1e-6


def test_no_right_masking_is_refused():
    assert [masking_finding(draws(seed)) for seed in range(60)] == [None] * 60


def test_no_right_pairs_are_refused():
    assert [pairs_finding(examples(seed)) for seed in range(60)] == [None] * 60


@pytest.mark.parametrize(("mix", "finding"), [it[:2] for it in mask_fates.MIXES if not callable(it[0])])
def test_another_mix_never_passes(mix, finding, comparisons):
    masking_finding(draws(1))
    # Of the two large cases: the chance that all three counts pass is at most that of the least likely one.
    large = [(n, p) for n, p in comparisons[3:9]]
    rights = [large[:3], large[3:]]
    accepted = 1.0
    for case, V in zip(rights, (draws(1)[1].case["V"], 30_522), strict=True):
        stray = mix[1] / V
        actual = (mix[0] + stray, mix[1] - 2 * stray, mix[2] + stray)
        accepted *= min(chance_of_acceptance(n, p, q) for (n, p), q in zip(case, actual, strict=True))
    assert accepted < 1e-9
    found = [masking_finding(draws(seed, mix=mix)) for seed in range(12)]
    assert {f.id for f in found} == {finding}


def test_a_share_of_twelve_per_cent_never_passes():
    found = [masking_finding(draws(seed, share=0.8)) for seed in range(12)]
    assert {f.id for f in found} == {"selects_the_masked_only"}


@pytest.mark.parametrize(
    ("options", "finding"),
    [({"drop": 1}, "random_misses_last_id"), ({"low": 1}, "random_misses_first_id")],
    ids=["last", "first"],
)
def test_an_id_that_never_comes_is_missed(options, finding):
    found = [masking_finding(draws(seed, **options)) for seed in range(25)]
    assert {f.id for f in found} == {finding}


@pytest.mark.parametrize("half", [0.25, 0.45, 0.55, 0.75])
def test_another_share_of_true_pairs_never_passes(half, comparisons):
    pairs_finding(examples(1))
    assert min(chance_of_acceptance(n, p, 1 - half) for n, p in comparisons) < 1e-5
    found = [pairs_finding(examples(seed, half=half)) for seed in range(12)]
    assert {f.id for f in found} == {"not_half"}
