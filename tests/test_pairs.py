"""Sentence pairs: labels, where B comes from, and that no text is lost."""

from __future__ import annotations

import itertools
import random

import pytest

from insidebert.pairs import next_sentence_pairs, segment_pairs, sentence_order_pairs

DOCUMENTS = [[f"{d}.{s}" for s in range(40 + d)] for d in range(30)]
NEIGHBOURS = {(a, b) for document in DOCUMENTS for a, b in itertools.pairwise(document)}


def document_of(sentence: str) -> str:
    return sentence.split(".")[0]


def test_next_sentence_pairs_are_neighbours_or_from_another_document() -> None:
    pairs = next_sentence_pairs(DOCUMENTS, random.Random(1))
    assert [a for a, _, _ in pairs] == [a for document in DOCUMENTS for a in document[:-1]]
    for a, b, label in pairs:
        assert ((a, b) in NEIGHBOURS) if label == 0 else document_of(a) != document_of(b)
    share = sum(label for _, _, label in pairs) / len(pairs)
    assert abs(share - 0.5) < 4 * (0.25 / len(pairs)) ** 0.5


def test_sentence_order_pairs_are_neighbours_in_order_or_swapped() -> None:
    pairs = sentence_order_pairs(DOCUMENTS, random.Random(1))
    assert {(a, b) if label == 0 else (b, a) for a, b, label in pairs} == NEIGHBOURS
    share = sum(label for _, _, label in pairs) / len(pairs)
    assert abs(share - 0.5) < 4 * (0.25 / len(pairs)) ** 0.5


@pytest.mark.parametrize("make", [next_sentence_pairs, sentence_order_pairs])
def test_the_same_seed_gives_the_same_pairs_and_another_does_not(make) -> None:
    assert make(DOCUMENTS, random.Random(3)) == make(DOCUMENTS, random.Random(3))
    assert make(DOCUMENTS, random.Random(3)) != make(DOCUMENTS, random.Random(4))


@pytest.mark.parametrize("documents", [[], [["a", "b"]], [["a", "b"], []]])
def test_one_document_is_not_enough(documents: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="two documents"):
        next_sentence_pairs(documents, random.Random(0))
    with pytest.raises(ValueError, match="two documents"):
        list(segment_pairs([list(map(list, d)) for d in documents], random.Random(0), tokens=20))


def token_documents() -> list[list[list[int]]]:
    """Every token occurs once: document · 10000 + position."""
    rng = random.Random(0)
    documents = []
    for d in range(20):
        tokens = iter(range(d * 10000, (d + 1) * 10000))
        documents.append(
            [[next(tokens) for _ in range(rng.randint(3, 25))] for _ in range(rng.randint(1, 60))]
        )
    return documents


def test_segments_fill_the_row_and_b_follows_a_or_is_another_document() -> None:
    documents = token_documents()
    pairs = list(segment_pairs(documents, random.Random(5), tokens=61, short_probability=0))
    for a, b, label in pairs:
        assert a and b
        assert len({t // 10000 for t in a}) == len({t // 10000 for t in b}) == 1
        assert (b[0] == a[-1] + 1) if label == 0 else (a[0] // 10000 != b[0] // 10000)
    full = sum(len(a) + len(b) >= 61 for a, b, _ in pairs) / len(pairs)
    assert full > 0.7  # the rest are ends of documents
    assert max(len(a) + len(b) for a, b, _ in pairs) <= 61 + 2 * 25
    assert 0.4 < sum(label for _, _, label in pairs) / len(pairs) < 0.7


def test_segments_lose_no_text() -> None:
    documents = token_documents()
    read = set()
    for a, b, label in segment_pairs(documents, random.Random(5), tokens=61):
        read.update(a, b if label == 0 else ())
    assert read == {t for document in documents for sentence in document for t in sentence}


def test_some_segments_are_short() -> None:
    documents = token_documents()

    def short(probability: float) -> float:
        rows = list(segment_pairs(documents, random.Random(5), tokens=100, short_probability=probability))
        return sum(len(a) + len(b) < 50 for a, b, _ in rows) / len(rows)

    assert short(0.5) > short(0.0) + 0.15
