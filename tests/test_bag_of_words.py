"""A bag of words tells topics apart and knows nothing about order."""

from __future__ import annotations

import random

import pytest
import torch

from insidebert.bag_of_words import BagOfWords
from insidebert.pairs import segment_pairs, sentence_order_pairs

V, TOPICS = 200, 20


def documents(seed, count=60):
    """Each document draws its pieces from one of twenty topics of ten pieces."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        topic = range(10 * rng.randrange(TOPICS), V)[:10]
        made.append([rng.choices(topic, k=6) for _ in range(12)])
    return made


def strangers(made, seed):
    return list(segment_pairs(made, random.Random(seed), tokens=24, short_probability=0))


def swapped(pairs, seed):
    return sentence_order_pairs([[a, b] for a, b, label in pairs if label == 0], random.Random(seed))


@pytest.fixture(scope="module")
def corpora():
    return documents(0), documents(1)


def test_it_tells_strangers_by_their_topic(corpora):
    train, test = (strangers(made, 2) for made in corpora)
    assert BagOfWords(corpora[0], V).fit(train).accuracy(test) > 0.85


def test_it_cannot_tell_an_order_that_words_do_not_show(corpora):
    train, test = (swapped(strangers(made, 2), 3) for made in corpora)
    assert BagOfWords(corpora[0], V).fit(train).accuracy(test) < 0.65


def test_it_could_tell_an_order_that_words_show(corpora):
    """The order task is not hard for it by construction: a piece that only first segments have is enough."""
    first, second = [199], [198]  # "however" opens no text
    pairs = sentence_order_pairs([[first, second] for _ in range(2000)], random.Random(3))
    assert BagOfWords(corpora[0], V).fit(pairs).accuracy(pairs) == 1


def test_order_inside_a_segment_and_repetition_change_nothing(corpora):
    bag = BagOfWords(corpora[0], V)
    assert torch.equal(bag.features([([1, 2, 3], [4], 0)]), bag.features([([3, 3, 1, 2], [4], 1)]))


def test_a_piece_of_every_document_counts_nothing():
    bag = BagOfWords([[[1, 2]], [[1, 3]]], 5)
    assert bag.weight[1] == 0 and bag.weight[2] > 0
    assert bag.features([([1], [1], 0)]).abs().sum() == 0


def test_the_same_seed_learns_the_same(corpora):
    pairs = strangers(corpora[0], 2)
    first, second = (BagOfWords(corpora[0], V).fit(pairs, seed=4).coefficients for _ in range(2))
    assert torch.equal(first, second)


def test_nothing_to_learn_from_is_said(corpora):
    bag = BagOfWords(corpora[0], V)
    for call in (lambda: BagOfWords([], V), lambda: bag.fit([]), lambda: bag.accuracy([])):
        with pytest.raises(ValueError, match=r"pairs|documents"):
            call()
