"""What is right about `nsp_pairs`, and what people do instead.

One comparison a case is statistical (`not_half`); all other rules hold in every draw, or never vary in more than
eighty calls where chance would make them vary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from checks.judges.comparing import (
    IN_PLACE,
    crashed,
    describe_type,
    incorrect,
    judge_with_refusals,
    not_attempted,
)
from checks.judges.statistics import is_plausible, percent
from checks.protocol import Case, Finding, Outcome, Question, Verdict

Place = tuple[int, int]  # document and sentence


@dataclass(frozen=True)
class Pairs:
    """What the calls of one case gave: (first, second, label) with sentences as places."""

    case: Case
    calls: list[list[tuple[Place, Place, int]]]

    @cached_property
    def sizes(self) -> list[int]:
        return [len(document) for document in self.case["documents"]]

    @property
    def n(self) -> int:
        """How many examples a call should give."""
        return sum(size - 1 for size in self.sizes)

    @cached_property
    def flat(self) -> list[tuple[Place, Place, int]]:
        return [example for call in self.calls for example in call]

    def labels(self) -> list[list[int]]:
        """The labels of each call, in the order of the first sentences: an answer may shuffle."""
        return [[label for _, _, label in sorted(call)] for call in self.calls]


def nsp_pairs(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_with_refusals(question, cases, outcomes, _judge_pairs)


def _judge_pairs(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    early = not_attempted(question, outcomes) or crashed(question, cases, outcomes)
    if early:
        return early
    pairs = []
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.changed_input:
            return incorrect(question, Finding("changes_its_input", IN_PLACE, case.label))
        read = _read_pairs(case, outcome.value)
        if isinstance(read, Finding):
            return incorrect(question, read)
        pairs.append(read)
    finding = pairs_finding(pairs)
    return incorrect(question, finding) if finding else Verdict(question.name, "correct", 1.0)


def _read_pairs(case: Case, value: Any) -> Pairs | Finding:
    place = {
        sentence: (d, s)
        for d, document in enumerate(case["documents"])
        for s, sentence in enumerate(document)
    }
    wanted = "a list of (sentence, sentence, 0 or 1)"
    if not isinstance(value, list) or len(value) != sum(plan["each"] for plan in case["calls"]):
        return Finding("wrong_type", f"Return {wanted}.", case.label, describe_type(value), wanted)
    read = []
    for call in value:
        if not isinstance(call, list):
            return Finding("wrong_type", f"Return {wanted}.", case.label, describe_type(call), wanted)
        for example in call:
            if not _is_example(example, place):
                cause = "Each example is a triple: two sentences of the documents and a label."
                return Finding("wrong_type", cause, case.label, describe_type(example)[:120], wanted)
        read.append([(place[a], place[b], int(label)) for a, b, label in call])
    return Pairs(case, read)


def _is_example(example: Any, place: dict[str, Place]) -> bool:
    return (
        isinstance(example, (tuple, list))
        and len(example) == 3
        and all(isinstance(sentence, str) and sentence in place for sentence in example[:2])
        and isinstance(example[2], int)
        and example[2] in (0, 1)
    )


def pairs_finding(pairs: list[Pairs]) -> Finding | None:
    for rule in (_examples_rule, _label_rule):
        for pair in pairs:
            finding = rule(pair)
            if finding:
                return finding
    small, large = pairs
    return _source_of_labels(large) or _share_of_strangers([small, large]) or _choice_of_strangers(large)


def _is_next(example: tuple[Place, Place, int]) -> bool:
    (d, s), second, _ = example
    return second == (d, s + 1)


def _examples_rule(pair: Pairs) -> Finding | None:
    """One example for each consecutive pair: every sentence but a document's last is the first of one."""
    wanted = sorted((d, s) for d, size in enumerate(pair.sizes) for s in range(size - 1))
    odd = next((call for call in pair.calls if sorted(a for a, _, _ in call) != wanted), None)
    if odd is None:
        return None
    firsts = sorted(a for a, _, _ in odd)
    expected = f"{pair.n} examples, one for each consecutive pair"
    details = (pair.case.label, f"{len(odd)} examples in a call", expected)
    followers = sorted((d, s + 1) for d, s in wanted)
    if all(sorted(b for _, b, _ in call) == followers for call in pair.calls):
        cause = "The first sentence is exchanged. Keep the first, exchange the second."
        return Finding("replaces_first", cause, *details)
    nexts = [example for example in pair.flat if example[2] == 0]
    if nexts and all((b[0], b[1] + 1) == a for a, b, _ in nexts):
        cause = "The pairs run backwards: the second sentence comes before the first."
        return Finding("order_reversed", cause, *details)
    if any(s == pair.sizes[d] - 1 for d, s in firsts):
        cause = (
            "A document's last sentence has no next one: pairs do not cross from one document into another."
        )
        return Finding("crosses_documents", cause, *details)
    if firsts == sorted(2 * wanted):
        cause = "Each pair gives two examples, a true and a false one. One draw decides which of the two."
        return Finding("two_examples_a_pair", cause, *details)
    if firsts == [(d, s) for d, s in wanted if s % 2 == 0]:
        cause = "Every second pair is missing: the loop steps by two, but pairs overlap."
        return Finding("skips_every_other_pair", cause, *details)
    if firsts and len({d for d, _ in firsts}) == len(firsts):
        cause = "There is one example a document. Each consecutive pair of it gives one."
        return Finding("one_example_a_document", cause, *details)
    if firsts == [(d, s) for d, s in wanted if s < pair.sizes[d] - 2]:
        cause = "The last pair of each document is missing: the loop ends one too early."
        return Finding("misses_last_pair", cause, *details)
    return Finding("wrong_examples", "The examples are not one for each consecutive pair.", *details)


def _label_rule(pair: Pairs) -> Finding | None:
    """Label 0 goes with the true next sentence, label 1 with a sentence of another document."""
    expected = "0 with the next sentence, 1 with one of another document"

    def finding(id: str, cause: str, example: tuple[Place, Place, int]) -> Finding:
        (d, s), (e, t), label = example
        documents = pair.case["documents"]
        got = f"“{documents[d][s]}” and “{documents[e][t]}” with label {label}"
        return Finding(id, cause, pair.case.label, got, expected)

    wrong = [
        example
        for example in pair.flat
        if (_is_next(example) if example[2] else not _is_next(example)) or _is_own_stranger(example)
    ]
    if not wrong:
        return None
    if all(_is_next(example) == (example[2] == 1) for example in pair.flat):
        return finding("labels_swapped", "0 and 1 are swapped: 0 means IsNext.", wrong[0])
    if all(label == 0 for _, _, label in pair.flat):
        return finding(
            "label_always_0", "Every example has label 0, whatever the second sentence is.", wrong[0]
        )
    if all(label == 1 for _, _, label in pair.flat):
        return finding(
            "label_always_1", "Every example has label 1, whatever the second sentence is.", wrong[0]
        )
    own = [example for example in wrong if _is_own_stranger(example)]
    if own and len(own) == len(wrong):
        cause = (
            "The other sentence may come from the same document, where it may even follow. Take another one."
        )
        return finding("same_document", cause, own[0])
    if any(_is_next(example) for example in wrong):
        cause = (
            "A true next sentence has label 1: label and sentence were drawn apart. One draw decides both."
        )
        return finding("label_drawn_apart", cause, wrong[0])
    return finding("zero_without_next", "Label 0 stands with a sentence that does not follow.", wrong[0])


def _is_own_stranger(example: tuple[Place, Place, int]) -> bool:
    first, second, label = example
    return label == 1 and first[0] == second[0]


def _source_of_labels(pair: Pairs) -> Finding | None:
    """More than eighty calls, more than twenty examples each: what never varies there is no chance."""
    calls, labels, case = pair.calls, pair.labels(), pair.case.label
    ones = [sum(call) for call in labels]
    half = "label 1 with probability ½, on its own for each pair"
    if sum(ones) == 0:
        return Finding("always_next", "Every example is a true pair.", case, "label 0 in every example", half)
    if sum(ones) == pair.n * len(calls):
        return Finding("never_next", "No example is a true pair.", case, "label 1 in every example", half)
    if calls[:2] != calls[2:4]:
        cause = "Something is drawn from the global generator: call the methods of `rng`, not of `random`."
        got = "two generators with the same seed, two results"
        return Finding("global_generator", cause, case, got, "the same seed, the same result")
    if all(call == calls[0] for call in calls):
        cause = "The result does not depend on `rng`: a seed is set inside, or nothing is drawn."
        return Finding("ignores_generator", cause, case, "the same examples for any seed", half)
    if calls[::2] == calls[1::2]:
        cause = (
            "The seed is set again in every call, so each epoch sees the same pairs. Just draw from `rng`."
        )
        return Finding("same_pairs_every_call", cause, case, "the same examples in the second call", half)
    if all(call == labels[0] for call in labels):
        cause = "The labels follow a fixed pattern, such as 0, 1, 0, 1. Draw each of them."
        return Finding("labels_not_random", cause, case, "the same labels in every call", half)
    if all(count in (0, pair.n) for count in ones):
        return Finding(
            "one_draw_for_all", "One draw decides for all pairs of a call.", case, "all alike", half
        )
    by_document = [{(a[0], label) for a, _, label in call} for call in calls]
    if all(len(seen) == len({d for d, _ in seen}) for seen in by_document):
        cause = "One draw decides for all pairs of a document."
        return Finding("one_draw_per_document", cause, case, "a document's pairs all alike", half)
    if all(abs(2 * count - pair.n) <= 1 for count in ones):
        cause = "Exactly half of the pairs are true in every call. Each pair has a draw of its own."
        return Finding("balanced_by_force", cause, case, f"{ones[0]} of {pair.n} with label 1, always", half)
    return None


def _share_of_strangers(pairs: list[Pairs]) -> Finding | None:
    """Calls 0 and 1 were repeated with the same seed; they count once."""
    for pair in reversed(pairs):
        labels = [label for call in pair.labels()[2:] for label in call]
        if not is_plausible(sum(labels), len(labels), 0.5):
            got = percent(sum(labels), len(labels)) + " with label 1"
            cause = "The true next sentence should come with probability ½."
            return Finding("not_half", cause, pair.case.label, got, "50 %")
    return None


def _choice_of_strangers(pair: Pairs) -> Finding | None:
    """Nothing says how the other document is drawn, but a draw it is: over eighty calls it is not always the same."""
    strangers = [(a, b) for a, b, label in pair.flat if label == 1]
    others: dict[int, set[int]] = {}
    for a, b in strangers:
        others.setdefault(a[0], set()).add(b[0])
    if all(len(seen) == 1 for seen in others.values()):
        cause = "The other document is always the same one. Draw it from all the others."
        return Finding(
            "other_document_fixed", cause, pair.case.label, "always the same document", "a random one"
        )
    positions = {b[1] for _, b in strangers}
    from_the_end = {pair.sizes[b[0]] - b[1] for _, b in strangers}
    if len(positions) == 1 or len(from_the_end) == 1:
        cause = "The other sentence always stands at the same place of its document. Draw it."
        return Finding(
            "other_sentence_fixed", cause, pair.case.label, "always the same place", "a random one"
        )
    return None
