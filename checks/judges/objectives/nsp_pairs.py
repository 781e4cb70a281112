"""What is right about `nsp_pairs`: rules that hold in every call, then where the chance comes from.

One comparison a case is statistical (`not_half`); all other rules hold in every draw, or never vary in more than
eighty calls where chance would make them vary.
"""

from __future__ import annotations

from collections.abc import Sequence

from checks.judges.objectives.pair_rules import examples_rule, label_rule, repeats_rule, twins_rule
from checks.judges.objectives.pairs import Pairs, Place, read_pairs
from checks.judges.statistics import is_plausible, percent
from checks.judges.values import RuleJudge, correct, incorrect
from checks.protocol import Case, Finding, Outcome, Verdict

NEVER = 1e-9  # what a right answer leaves out with less probability than this is left out by a wrong one


def _judge(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
    pairs = []
    for case, outcome in zip(cases, outcomes, strict=True):
        read = read_pairs(case, outcome.value)
        if isinstance(read, Finding):
            return incorrect(read)
        pairs.append(read)
    finding = find_mistake(pairs)
    return incorrect(finding) if finding else correct()


def find_mistake(pairs: Sequence[Pairs]) -> Finding | None:
    """The first thing that is wrong about the small corpus, the large one and the two that repeat themselves."""
    small, large, repeating, twins = pairs
    for rule in (examples_rule, label_rule):
        for pair in (small, large):
            if finding := rule(pair):
                return finding
    return (
        _source_of_labels(large)
        or _share_of_strangers([small, large])
        or _fixed_strangers(large)
        or _missing_strangers(large)
        or repeats_rule(repeating)
        or twins_rule(twins)
    )


def _source_of_labels(pair: Pairs) -> Finding | None:
    """More than eighty calls, more than twenty examples each: what never varies there is no chance."""
    calls, labels, n = pair.calls, pair.labels(), pair.n
    ones = [sum(call) for call in labels]
    half = "label 1 with probability ½, on its own for each pair"
    if not any(ones):
        return pair.finding("always_next", "Every example is a true pair.", "label 0 in every example", half)
    if sum(ones) == n * len(calls):
        return pair.finding("never_next", "No example is a true pair.", "label 1 in every example", half)
    if calls[:2] != calls[2:4]:
        cause = "Something is drawn from the global generator: call the methods of `rng`, not of `random`."
        got = "two generators with the same seed, two results"
        return pair.finding("global_generator", cause, got, "the same seed, the same result")
    if all(call == calls[0] for call in calls):
        cause = "The result does not depend on `rng`: a seed is set inside, or nothing is drawn."
        return pair.finding("ignores_generator", cause, "the same examples for any seed", half)
    if calls[::2] == calls[1::2]:
        cause = (
            "The seed is set again in every call, so each epoch sees the same pairs. Just draw from `rng`."
        )
        return pair.finding("same_pairs_every_call", cause, "the same examples in the second call", half)
    if all(call == labels[0] for call in labels):
        cause = "The labels follow a fixed pattern, such as 0, 1, 0, 1. Draw each of them."
        return pair.finding("labels_not_random", cause, "the same labels in every call", half)
    if all(count in (0, n) for count in ones):
        return pair.finding(
            "one_draw_for_all", "One draw decides for all pairs of a call.", "all alike", half
        )
    by_document = [{(a[0], label) for a, _, label in call} for call in calls]
    if all(len(seen) == len({d for d, _ in seen}) for seen in by_document):
        cause = "One draw decides for all pairs of a document. Draw for each pair."
        return pair.finding("one_draw_per_document", cause, "a document's pairs all alike", half)
    if all(abs(2 * count - n) <= 1 for count in ones):
        cause = "Exactly half of the pairs are true in every call. Each pair has a draw of its own."
        return pair.finding("balanced_by_force", cause, f"{ones[0]} of {n} with label 1, always", half)
    return None


def _share_of_strangers(pairs: Sequence[Pairs]) -> Finding | None:
    """Calls 0 and 1 were repeated with the same seed; they count once."""
    for pair in reversed(pairs):
        labels = [label for call in pair.labels()[2:] for label in call]
        if not is_plausible(sum(labels), len(labels), 0.5):
            got = percent(sum(labels), len(labels)) + " with label 1"
            cause = "The true next sentence should come with probability ½."
            return pair.finding("not_half", cause, got, "50 %")
    return None


def _strangers(pair: Pairs) -> list[tuple[Place, Place]]:
    return [(a, b) for a, b, label in pair.flat if label == 1]


def _fixed_strangers(pair: Pairs) -> Finding | None:
    """Nothing says how the other document is drawn, but a draw it is: in so many calls it is not always the same."""
    strangers = _strangers(pair)
    others: dict[int, set[int]] = {}
    for a, b in strangers:
        others.setdefault(a[0], set()).add(b[0])
    if all(len(seen) == 1 for seen in others.values()):
        cause = "The other document is always the same one. Draw it from all the others."
        return pair.finding("other_document_fixed", cause, "always the same document", "a random one")
    from_the_end = {pair.sizes[b[0]] - b[1] for _, b in strangers}
    if len({b[1] for _, b in strangers}) == 1 or len(from_the_end) == 1:
        cause = "The other sentence always stands at the same place of its document. Draw it."
        return pair.finding("other_sentence_fixed", cause, "always the same place", "a random one")
    return None


def _missing_strangers(pair: Pairs) -> Finding | None:
    """Every other document gives strangers, and every sentence of it is one: whether documents or sentences are
    drawn alike, so many draws leave none out."""
    strangers, sizes = _strangers(pair), pair.sizes
    D, N = len(sizes), sum(sizes)
    for d, e in ((d, e) for d in range(D) for e in range(D) if d != e):
        drawn = [b for a, b in strangers if a[0] == d]
        chance = min(1 / (D - 1), sizes[e] / (N - sizes[d]))
        if (1 - chance) ** len(drawn) < NEVER and all(b[0] != e for b in drawn):
            cause = "Strangers come from a part of the other documents only. Draw from all of them."
            got = f"document {d} never gets a sentence of document {e}, in {len(drawn)} draws"
            return pair.finding("strangers_from_a_part", cause, got, "each of the others now and then")
    for place in ((e, s) for e in range(D) for s in range(sizes[e])):
        drawn = [b for a, b in strangers if a[0] != place[0]]
        chance = min(1 / ((D - 1) * sizes[place[0]]), 1 / N)
        if (1 - chance) ** len(drawn) < NEVER and place not in drawn:
            cause = "Some sentences are never drawn as the stranger. Draw from all sentences of the other documents."
            got = f"{pair.text(place)}, sentence {place[1]} of document {place[0]}, is never the stranger"
            return pair.finding("strangers_from_a_part", cause, got, f"now and then in {len(drawn)} draws")
    return None


JUDGE = RuleJudge(_judge)
