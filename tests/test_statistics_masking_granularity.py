"""Random selections: a right answer is refused less than once in a million times, the named wrong ones always.

Where the chances of every set of words are known, both are computed: by the union bound for a right answer, from
binomial tails for a wrong one. Run lengths of spans have no closed form, because spans touch: there a fast right answer
is simulated many times, and the tolerance has to lie six standard deviations from it and from every wrong one.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from checks.judges.masking_granularity import chances, span_lengths, span_selection
from checks.judges.masking_granularity.chances import final_sets, follow, shares
from checks.judges.masking_granularity.draws import Draws
from checks.judges.masking_granularity.span_length_distribution import clipped, geometric
from checks.judges.statistics import ERROR, is_plausible
from checks.questions import find

ONE_IN_A_MILLION = 1e-6


def by_segment(words, sizes):
    """A segment is drawn first, then a word in it: of `WORDS`, two segments of two and six words."""
    left = [sum(word < 2 for word in words), sum(word >= 2 for word in words)]
    return [1 / left[word >= 2] for word in words]


LOADED = {
    "by_pieces": chances.by_pieces,
    "longest": chances.longest,
    "shortest": chances.shortest,
    "by_segment": by_segment,
}


def cases_of(name, kind):
    return [case for case in find(name).cases(1) if case["statistics"] == kind]


WHOLE, SEGMENTS, WORDS = (
    cases_of(name, kind)[0]
    for name, kind in (
        ("whole_word_selection", "words"),
        ("span_selection", "segments"),
        ("span_selection", "words"),
    )
)


def label(value):
    return getattr(value, "label", str(value))


def as_draws(case, pieces):
    hidden = np.asarray(pieces, dtype=np.uint8)
    return Draws(case, hidden, hidden[:1])


def sizes_of(case):
    return as_draws(case, np.zeros((1, len(case["groups"])))).sizes.tolist()


def from_words(case, words):
    """Draws from an array (N,W) that says which words are hidden."""
    groups = np.array([-1 if group is None else group for group in case["groups"]])
    return as_draws(case, words[:, groups] * (groups >= 0))


# --- sets of words ----------------------------------------------------------------------------------------


def shuffled_words(case, N, rng):
    """The right answer, vectorised: words in the order of random keys, those that do not fit passed over. (N,W)"""
    sizes = np.array(sizes_of(case))
    order = rng.random((N, len(sizes))).argsort(1)
    taken, left = np.zeros((N, len(sizes)), dtype=bool), np.full(N, case["budget"])
    for word in order.T:
        fits = sizes[word] <= left
        taken[np.arange(N), word] = fits
        left -= sizes[word] * fits
    return taken


@pytest.mark.parametrize("case", [WHOLE, SEGMENTS, WORDS], ids=label)
def test_a_right_answer_is_refused_less_than_once_in_a_million_times(case):
    chances = final_sets(sizes_of(case), case["budget"])
    assert sum(chances.values()) == pytest.approx(1)
    events = shares(chances)
    assert len(events) * ERROR < ONE_IN_A_MILLION / 2  # two such cases in one question
    refused = 0.0
    for chance in events.values():
        chance = min(1.0, chance)
        counts = np.arange(case["draws"] + 1)
        allowed = np.array([is_plausible(int(count), case["draws"], chance) for count in counts])
        refused += binom.pmf(counts[~allowed], case["draws"], chance).sum()
    assert refused < ONE_IN_A_MILLION / 2


@pytest.mark.parametrize("case", [WHOLE, SEGMENTS, WORDS], ids=label)
def test_shuffled_words_follow_the_computed_chances(case):
    chances = final_sets(sizes_of(case), case["budget"])
    rng = np.random.default_rng(5)
    for _ in range(60):
        assert follow(from_words(case, shuffled_words(case, case["draws"], rng)), chances)
    many = from_words(case, shuffled_words(case, 60_000, rng))
    assert {words: count / 60_000 for words, count in many.sets.items()} == pytest.approx(chances, abs=0.01)


def accepted(case, wrong):
    """At most so probable is it that draws with the chances `wrong` pass: the event that gives them away best."""
    right, wrong, N = shares(final_sets(sizes_of(case), case["budget"])), shares(wrong), case["draws"]
    best = 1.0
    for event in {*right, *wrong}:
        counts = [count for count in range(N + 1) if is_plausible(count, N, min(1.0, right.get(event, 0.0)))]
        best = min(best, binom.pmf(counts, N, min(1.0, wrong.get(event, 0.0))).sum())
    return best


@pytest.mark.parametrize(
    ("case", "weights"),
    [*((WHOLE, weights) for weights in LOADED), (WORDS, "by_pieces"), (WORDS, "by_segment")],
    ids=label,
)
def test_loaded_choices_of_words_never_pass(case, weights):
    assert accepted(case, final_sets(sizes_of(case), case["budget"], LOADED[weights])) < ONE_IN_A_MILLION


def span_sets(sizes, budget, lengths, *, cut, last=()):
    """The chances of all sets when spans of several words are placed: lengths follow `lengths`; no span goes on behind
    the words of `last`; what does not fit is drawn again, or with `cut` ends early."""
    open_sets, final = {frozenset(): 1.0}, {}
    while open_sets:
        following = {}
        for hidden, chance in open_sets.items():
            spans_here = {}
            for length, start in itertools.product(range(1, len(lengths) + 1), range(len(sizes))):
                span = []
                for word in range(start, min(start + length, len(sizes))):
                    if word in hidden or sum(sizes[w] for w in (*hidden, *span, word)) > budget:
                        break
                    span.append(word)
                    if word in last:
                        break
                if span and (cut or len(span) == length):
                    key = frozenset(span)
                    spans_here[key] = spans_here.get(key, 0.0) + lengths[length - 1]
            if not spans_here:
                key = tuple(sorted(hidden))
                final[key] = final.get(key, 0.0) + chance
            for span, share in spans_here.items():
                larger = hidden | span
                following[larger] = following.get(larger, 0.0) + chance * share / sum(spans_here.values())
        open_sets = following
    return final


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(
    ("case", "last"), [(SEGMENTS, ()), (WORDS, (1,))], ids=["crosses_a_special", "max_length_ignored"]
)
def test_spans_that_go_on_where_they_must_not_never_pass_and_are_named(case, last, cut):
    sizes, lengths = sizes_of(case), geometric(case["options"]["p"], 10)
    wrong = span_sets(sizes, case["budget"], lengths, cut=cut, last=last)
    assert sum(wrong.values()) == pytest.approx(1)
    assert accepted(case, wrong) < ONE_IN_A_MILLION
    right = final_sets(sizes, case["budget"])
    share = span_selection.named_above(shares(right)["neighbours"])
    assert (
        binom.cdf(int(case["draws"] * share), case["draws"], shares(wrong)["neighbours"]) < ONE_IN_A_MILLION
    )


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("case", [WORDS], ids=label)
def test_spans_of_one_word_have_the_chances_of_words(case, cut):
    right = final_sets(sizes_of(case), case["budget"])
    assert span_sets(sizes_of(case), case["budget"], [1.0], cut=cut) == pytest.approx(right)


# --- lengths of spans -------------------------------------------------------------------------------------

REPEATS = 120
LENGTHS = [
    (p, case)
    for case, ps in zip(cases_of("span_selection", "lengths"), ((0.2,), (0.65, 0.7)), strict=True)
    for p in ps
]


def placed_spans(case, lengths, N, rng, *, cut):
    """Spans of equally long words in one segment, N draws at once: (N,W) hidden words."""
    W, budget = max(group for group in case["groups"] if group is not None) + 1, case["budget"] // 2
    hidden, left, rows = np.zeros((N, W + 1), dtype=bool), np.full(N, budget), np.arange(N)
    hidden[:, W] = True  # a wall behind the last word
    places = np.arange(W + 1)
    while (left > 0).any():
        open_rows = rows[left > 0]
        start = rng.integers(0, W, len(open_rows))
        length = rng.choice(len(lengths), len(open_rows), p=lengths) + 1
        free = np.zeros(len(open_rows), dtype=np.int64)
        for step in range(len(lengths)):  # how many words from the start on are in sight
            at = np.minimum(start + step, W)
            free += (free == step) & ~hidden[open_rows, at]
        room = np.minimum(free, left[open_rows])
        length = np.minimum(length, room) if cut else np.where(length <= room, length, 0)
        hidden[open_rows] |= (places >= start[:, None]) & (places < (start + length)[:, None])
        left[open_rows] -= length
    return hidden[:, :W]


def distances(case, p, lengths, *, cut):
    """The judge's distance for `REPEATS` answers whose spans follow `lengths`, when p is what was asked."""
    rng = np.random.default_rng(11)
    L, N = case["options"]["max_length"], case["draws"]
    words = placed_spans(case, lengths, REPEATS * N, rng, cut=cut)
    found = []
    for part in np.split(words, REPEATS):
        draws = from_words(case, part)
        found.append(span_lengths.distance(draws, span_lengths.run_lengths(draws), geometric(p, L)))
    return np.array(found)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("p", "case"), LENGTHS, ids=label)
def test_right_span_lengths_stay_six_deviations_below_the_tolerance(p, case, cut):
    found = distances(case, p, geometric(p, case["options"]["max_length"]), cut=cut)
    assert found.max() < span_lengths.TOLERANCE
    assert found.mean() + 6 * found.std() < span_lengths.TOLERANCE


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("name", ["clipped", "one_word", "longest", "pieces", "exchanged"])
def test_wrong_span_lengths_stay_six_deviations_above_it(name, cut):
    p, case = LENGTHS[0]
    L = case["options"]["max_length"]
    wrong = {
        "clipped": clipped(p, L),
        "one_word": [1.0],
        "longest": [0.0] * (L - 1) + [1.0],
        "pieces": [sum(geometric(p, L)[:2]), sum(geometric(p, L)[2:])],  # words have two pieces
        "exchanged": geometric(1 - p, L),
    }[name]
    found = distances(case, p, wrong, cut=cut)
    assert found.mean() - 6 * found.std() > span_lengths.TOLERANCE


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("name", ["uniform", "p_ignored"])
@pytest.mark.parametrize(("p", "case"), LENGTHS[1:], ids=label)
def test_lengths_that_ignore_p_stay_six_deviations_above_it(p, case, name, cut):
    L = case["options"]["max_length"]
    found = distances(case, p, [1 / L] * L if name == "uniform" else geometric(0.2, L), cut=cut)
    assert found.mean() - 6 * found.std() > span_lengths.TOLERANCE
