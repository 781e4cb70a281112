"""Two sentences and a question about them: does B follow A, or are they in order?

Next-sentence prediction (Devlin et al. 2019, sec. 3.1) draws B from another document half of the time; topic
alone gives such a B away. Sentence-order prediction (Lan et al. 2020, sec. 3.1) swaps two neighbours instead.
Label 0 is the true pair in both: IsNext, or in order.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

Sentence = TypeVar("Sentence")


def next_sentence_pairs(
    documents: Sequence[Sequence[Sentence]], rng: random.Random
) -> list[tuple[Sentence, Sentence, int]]:
    """(a, b, label) for every two consecutive sentences of every document.

    With probability ½ b is the true next sentence and the label 0, else b is any sentence of another document
    and the label 1. Raises ValueError for fewer than two documents.
    """
    require_two(documents)
    pairs = []
    for d, document in enumerate(documents):
        for a, b in itertools.pairwise(document):
            if rng.random() < 0.5:
                pairs.append((a, b, 0))
            else:
                pairs.append((a, rng.choice(documents[another(documents, d, rng)]), 1))
    return pairs


def sentence_order_pairs(
    documents: Sequence[Sequence[Sentence]], rng: random.Random
) -> list[tuple[Sentence, Sentence, int]]:
    """(a, b, label) for every two consecutive sentences: in order (0), or with probability ½ swapped (1)."""
    pairs = []
    for document in documents:
        for a, b in itertools.pairwise(document):
            pairs.append((a, b, 0) if rng.random() < 0.5 else (b, a, 1))
    return pairs


def segment_pairs(
    documents: Sequence[Sequence[list[int]]],
    rng: random.Random,
    *,
    tokens: int,
    short_probability: float = 0.1,
) -> Iterator[tuple[list[int], list[int], int]]:
    """What pre-training reads: (ids_a, ids_b, label), segments of several sentences.

    As in Devlin et al. 2019, App. A.2. `documents` hold sentences as token ids, which are gathered until they
    fill `tokens`, or now and then (`short_probability`) a shorter random length, so that fine-tuning on short
    input is no surprise. A is a random share of them, at least one. B is the rest, or sentences of another
    document that fill the room; then the rest is used again in the next pair, so that no text is lost. A pair
    may be longer than `tokens` by one sentence: `packing.pack_pair` cuts it. Raises ValueError for fewer than
    two documents.
    """
    require_two(documents)
    for d, document in enumerate(documents):
        first = 0
        while first < len(document):
            target = rng.randint(2, tokens) if rng.random() < short_probability else tokens
            last = fill(document, first, target)
            split = rng.randint(first + 1, max(first + 1, last - 1))  # A is document[first:split]
            ids_a = joined(document[first:split])
            if split < last and rng.random() < 0.5:
                yield ids_a, joined(document[split:last]), 0
                first = last
            else:
                other = documents[another(documents, d, rng)]
                start = rng.randrange(len(other))
                yield ids_a, joined(other[start : fill(other, start, target - len(ids_a))]), 1
                first = split


def fill(document: Sequence[list[int]], first: int, tokens: int) -> int:
    """The end of the shortest run of sentences from `first` with `tokens` tokens: at least one sentence."""
    total, last = 0, first
    while last < len(document) and (total < tokens or last == first):
        total += len(document[last])
        last += 1
    return last


def joined(sentences: Sequence[list[int]]) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def another(documents: Sequence[Sequence[Sentence]], current: int, rng: random.Random) -> int:
    """The index of a random document that is not `current` and not empty."""
    while True:
        index = rng.randrange(len(documents) - 1)
        index += index >= current
        if documents[index]:
            return index


def require_two(documents: Sequence[Sequence[Sentence]]) -> None:
    filled = sum(1 for document in documents if document)
    if filled < 2:
        raise ValueError(
            f"A sentence that does not follow is drawn from another document, and there is only {filled} "
            "with sentences in it. Give at least two documents."
        )
