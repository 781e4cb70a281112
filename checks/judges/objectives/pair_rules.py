"""What holds in every call of `nsp_pairs`, and what people do instead."""

from __future__ import annotations

from collections import Counter

from checks.judges.objectives.pairs import Example, Pairs
from checks.protocol import Finding


def examples_rule(pair: Pairs) -> Finding | None:
    """One example for each consecutive pair: every sentence but a document's last is the first of one."""
    wanted = sorted(a for a, _ in pair.nexts)
    odd = next((call for call in pair.calls if sorted(a for a, _, _ in call) != wanted), None)
    if odd is None:
        return None
    id, cause = _which_examples(pair, sorted(a for a, _, _ in odd))
    got, expected = f"{len(odd)} examples in a call", f"{pair.n} examples, one for each consecutive pair"
    if len(odd) == pair.n:
        have, want = Counter(a for a, _, _ in odd), Counter(wanted)
        place = next(iter(sorted((want - have) or (have - want))))
        got, expected = (
            f"{pair.text(place)} is the first sentence of {count[place]} examples" for count in (have, want)
        )
    return pair.finding(id, cause, got, expected)


def _which_examples(pair: Pairs, firsts: list[tuple[int, int]]) -> tuple[str, str]:
    """The id and cause of a call whose examples have these first sentences."""
    wanted, sizes = sorted(a for a, _ in pair.nexts), pair.sizes
    followers = sorted(b for _, b in pair.nexts)
    nexts = [example for example in pair.flat if example[2] == 0]
    last_ones = [example for example in nexts if example[0][1] == sizes[example[0][0]] - 1]
    if all(sorted(b for _, b, _ in call) == followers for call in pair.calls):
        return "replaces_first", "The first sentence is exchanged. Keep the first, exchange the second."
    if nexts and all((b[0], b[1] + 1) == a for a, b, _ in nexts):
        return "order_reversed", "The pairs run backwards: the second sentence comes before the first."
    if last_ones and all(b == (a[0] + 1, 0) for a, b, _ in last_ones):
        cause = (
            "A document's last sentence has no next one: pairs do not cross from one document into another."
        )
        return "crosses_documents", cause
    if firsts == sorted((d, s) for d, size in enumerate(sizes) for s in range(size)):
        return (
            "last_sentence_begins_a_pair",
            "A document's last sentence has no next one: it begins no example.",
        )
    if firsts == sorted(2 * wanted):
        cause = "Each pair gives two examples, a true and a false one. One draw decides which of the two."
        return "two_examples_a_pair", cause
    if firsts == [(d, s) for d, s in wanted if s % 2 == 0]:
        return (
            "skips_every_other_pair",
            "Every second pair is missing: the loop steps by two, but pairs overlap.",
        )
    if firsts and len({d for d, _ in firsts}) == len(firsts):
        return "one_example_a_document", "There is one example a document. Each consecutive pair gives one."
    if firsts == [(d, s) for d, s in wanted if s < sizes[d] - 2]:
        return (
            "misses_last_pair",
            "The last pair of each document is missing: the loop ends one too early.",
        )
    if firsts == [(d, s) for d, s in wanted if s > 0]:
        return (
            "misses_first_pair",
            "The first pair of each document is missing: the loop begins one too late.",
        )
    return "wrong_examples", "The examples are not one for each consecutive pair."


def _is_own_stranger(example: Example) -> bool:
    first, second, label = example
    return label == 1 and first[0] == second[0]


def label_rule(pair: Pairs) -> Finding | None:
    """Label 0 goes with the true next sentence, label 1 with a sentence of another document."""
    nexts = set(pair.nexts)
    wrong = [it for it in pair.flat if _is_own_stranger(it) or (not it[2] and it[:2] not in nexts)]
    if not wrong:
        return None
    kinds = {(example[:2] in nexts, example[2]) for example in pair.flat}
    id, cause, example = "wrong_label", "A label does not go with its sentence.", wrong[0]
    if kinds == {(True, 1), (False, 0)}:
        id, cause = "labels_swapped", "0 and 1 are swapped: 0 means IsNext."
    elif {label for _, label in kinds} == {0}:
        id, cause = "label_always_0", "Every example has label 0, whatever the second sentence is."
    elif {label for _, label in kinds} == {1}:
        id, cause = "label_always_1", "Every example has label 1, whatever the second sentence is."
    elif all(map(_is_own_stranger, wrong)):
        id = "same_document"
        cause = "The other sentence may come from the same document, where it may even follow. Take another document."
    elif len(kinds) == 4:
        id = "label_drawn_apart"
        cause = (
            "True pairs and strangers come with both labels: they were drawn apart. One draw decides both."
        )
        example = next(example for example in wrong if example[:2] in nexts)
    elif (True, 1) not in kinds:
        id, cause = "zero_without_next", "Label 0 stands with a sentence that does not follow."
    (a, b, label) = example
    got = f"{pair.text(a)} and {pair.text(b)} with label {label}"
    return pair.finding(id, cause, got, "0 with the next sentence, 1 with one of another document")


def twins_rule(pair: Pairs) -> Finding | None:
    """Two documents of the same sentences are two documents: each gives its examples."""
    wanted = Counter(a for a, _ in pair.nexts)
    odd = next((call for call in pair.calls if Counter(a for a, _, _ in call) != wanted), None)
    if odd is None:
        return None
    cause = "Two documents with the same sentences are two documents. Tell them by their index, not by what they hold."
    return pair.finding("equal_documents", cause, f"{len(odd)} examples", f"{pair.n}, one a consecutive pair")


def repeats_rule(pair: Pairs) -> Finding | None:
    """A sentence that stands twice has two followers, and both of them come: told by position, not by its text."""
    wanted = Counter(a for a, _ in pair.nexts)
    (twice,) = (place for place, count in wanted.items() if count == 2)
    name, followers = pair.text(twice), {b for a, b in pair.nexts if a == twice}
    for call in pair.calls:
        count = Counter(a for a, _, _ in call)
        if count != wanted:
            cause = f"{name} stands twice in a document. Each time it is the first sentence of an example."
            got, expected = (f"{it[twice]} of {it.total()} examples begin with it" for it in (count, wanted))
            return pair.finding("equal_sentences", cause, got, expected)
    seen = {b for a, b, label in pair.flat if a == twice and label == 0}
    if seen < followers:
        cause = (
            f"{name} stands twice in a document, but only one of its followers ever comes. `index` finds the first of "
            "equal sentences, a dict keeps one of them: walk over positions."
        )
        got, expected = (" or ".join(map(pair.text, sorted(it))) for it in (seen, followers))
        return pair.finding("equal_sentences", cause, f"label 0 with {got}", f"label 0 with {expected}")
    return label_rule(pair)
