"""Spans, entities and answers, against what a slow and obvious implementation says."""

from __future__ import annotations

import itertools
import random

import pytest
import torch

from insidebert.decoding import (
    Answer,
    accuracy,
    answer_scores,
    answers_from_windows,
    best_path,
    best_span,
    best_threshold,
    entity_f1,
    entity_spans,
    overlap_baseline,
    question_scores,
    tag_transitions,
    word_tags,
)


def slow_best_span(
    start: list[float], end: list[float], context: list[bool], max_length: int
) -> tuple[int, int]:
    best, found = -float("inf"), (-1, -1)
    for i, j in itertools.product(range(len(start)), repeat=2):
        if i <= j < i + max_length and context[i] and context[j] and start[i] + end[j] > best:
            best, found = start[i] + end[j], (i, j)
    return found


def test_best_span_agrees_with_trying_all() -> None:
    rng = random.Random(0)
    for _ in range(300):
        S, max_length = rng.randint(1, 12), rng.randint(1, 6)
        start, end = (
            [float(rng.randint(-3, 3)) for _ in range(S)] for _ in range(2)
        )  # whole numbers: many ties
        context = [rng.random() < 0.7 for _ in range(S)]
        context[rng.randrange(S)] = True
        found = best_span(torch.tensor(start), torch.tensor(end), torch.tensor(context), max_length)
        assert found == slow_best_span(start, end, context, max_length)


def test_best_start_and_best_end_are_not_taken_apart() -> None:
    start, end = torch.tensor([0.0, 1, 0, 9]), torch.tensor([9.0, 0, 5, 0])
    assert best_span(start, end, torch.ones(4)) == (0, 0)
    assert best_span(start, end, torch.tensor([0, 1, 1, 1])) == (3, 3)


def test_the_length_limit_counts_positions() -> None:
    start, end = torch.tensor([9.0, 0, 0, 0]), torch.tensor([0.0, 0, 0, 9])
    assert best_span(start, end, torch.ones(4), max_length=4) == (0, 3)
    assert best_span(start, end, torch.ones(4), max_length=3) != (0, 3)


def test_a_span_stays_in_the_context_whatever_it_scores() -> None:
    nothing = torch.full((4,), -float("inf"))
    assert best_span(nothing, nothing, torch.tensor([0, 0, 1, 1])) == (2, 2)


def test_no_possible_span_is_an_error() -> None:
    with pytest.raises(ValueError, match="context"):
        best_span(torch.zeros(4), torch.zeros(4), torch.zeros(4))
    with pytest.raises(ValueError, match="1 to 0 positions"):
        best_span(torch.zeros(4), torch.zeros(4), torch.ones(4), max_length=0)
    with pytest.raises(ValueError, match="one length"):
        best_span(torch.zeros(4), torch.zeros(3), torch.ones(4))


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O O", set()),
        ("B-PER I-PER O B-LOC", {("PER", 0, 1), ("LOC", 3, 3)}),
        ("B-PER B-PER", {("PER", 0, 0), ("PER", 1, 1)}),
        ("I-ORG I-ORG", {("ORG", 0, 1)}),  # an I- without a B- opens one
        ("B-PER I-ORG", {("PER", 0, 0), ("ORG", 1, 1)}),  # as does one of another type
        ("O I-LOC O I-LOC", {("LOC", 1, 1), ("LOC", 3, 3)}),
        ("", set()),
    ],
)
def test_entity_spans(tags: str, spans: set[tuple[str, int, int]]) -> None:
    assert entity_spans(tags.split()) == spans


NAMES = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG"]


def test_the_best_path_agrees_with_trying_all() -> None:
    torch.manual_seed(0)
    allowed = tag_transitions([[0, 1, 2, 0, 3], [1, 3, 4, 4]], NAMES)
    for words in (1, 2, 3, 4) * 5:
        scores = torch.randn(words, len(NAMES)) * 3

        def worth(path: tuple[int, ...], scores: torch.Tensor = scores) -> float:
            steps = sum(float(allowed[a, b]) for a, b in itertools.pairwise([0, *path, 0]))
            return steps + float(scores.log_softmax(-1)[range(len(path)), list(path)].sum())

        best = max(itertools.product(range(len(NAMES)), repeat=words), key=worth)
        assert best_path(scores, allowed) == list(best)
    assert best_path(torch.zeros(0, len(NAMES)), allowed) == []


@pytest.mark.parametrize("shape", [(3, 1), (3, 4), (5,)])
def test_scores_of_other_tags_have_no_best_path(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="same L tags"):
        best_path(torch.zeros(shape), tag_transitions([], NAMES))


@pytest.mark.parametrize("label", [-100, -1, len(NAMES)])
def test_a_label_that_is_no_tag_is_not_counted(label: int) -> None:
    with pytest.raises(ValueError, match=f"Row 1 has the label {label};"):
        tag_transitions([[0], [0, label]], NAMES)


def test_transitions_are_shares_of_what_follows() -> None:
    log_shares = tag_transitions([[0, 1, 2], [1, 2, 2, 0]], NAMES)
    torch.testing.assert_close(log_shares.exp().sum(1), torch.ones(len(NAMES)))
    # after I-PER: the end, I-PER, O; once more each of O, B-PER, I-PER, B-ORG
    torch.testing.assert_close(log_shares[2].exp(), torch.tensor([3, 1, 2, 1, 0]) / 7)
    with pytest.raises(ValueError, match="the first of them"):
        tag_transitions([], NAMES[::-1])
    assert (log_shares[0, [2, 4]] == -float("inf")).all() and log_shares[1, 4] == -float("inf")


def test_neighbours_decide_what_a_word_leaves_open() -> None:
    often = tag_transitions([[1, 2, 0]] * 50, NAMES)
    scores = torch.zeros(5, len(NAMES))  # the outer two are [CLS] and [SEP]
    scores[1, 1], scores[2, 1], scores[2, 2], scores[3, 0] = 5.0, 1.0, 0.9, 5.0
    labels = [-100, 0, 0, 0, -100]
    assert word_tags(scores, labels, 3, NAMES) == ["B-PER", "B-PER", "O"]
    assert word_tags(scores, labels, 4, NAMES, often) == ["B-PER", "I-PER", "O", "O"]


@pytest.mark.parametrize("tag", ["PER", "b-PER", "B-", "B", "E-PER", "O-PER", ""])
def test_a_tag_that_is_not_bio_is_named(tag: str) -> None:
    with pytest.raises(ValueError, match="Tag 1 is"):
        entity_spans(["O", tag])


def test_entity_f1_counts_over_the_corpus() -> None:
    true = [["B-PER", "I-PER", "O"], ["B-LOC", "O"], ["O", "B-ORG"]]
    predicted = [["B-PER", "O", "O"], ["B-LOC", "B-LOC"], ["O", "B-ORG"]]
    precision, recall, f1 = entity_f1(true, predicted)  # 2 right of 4 found, of 3 wanted
    assert (precision, recall) == (2 / 4, 2 / 3)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


def test_entity_f1_where_it_is_undefined() -> None:
    assert entity_f1([["O"]], [["O"]]) == (0.0, 0.0, 0.0)
    assert entity_f1([["B-PER"]], [["O"]]) == (0.0, 0.0, 0.0)
    assert entity_f1([["B-PER"]], [["B-LOC"]]) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="lengths differ"):
        entity_f1([["O", "O"]], [["O"]])
    with pytest.raises(ValueError, match="lengths differ"):
        entity_f1([["O"]], [])


def test_word_tags_reads_first_pieces_and_fills_what_was_cut() -> None:
    logits = torch.eye(3)[torch.tensor([0, 1, 2, 2, 0])]
    tags = word_tags(logits, [-100, 1, -100, 0, -100], words=4, names=["O", "B-PER", "I-PER"])
    assert tags == ["B-PER", "I-PER", "O", "O"]


def test_accuracy() -> None:
    assert accuracy([torch.tensor([0.0, 1]), torch.tensor([3.0, 1])], [1, 1]) == 0.5
    with pytest.raises(ValueError, match="one each"):
        accuracy([], [])


@pytest.mark.parametrize(
    ("given", "accepted", "exact", "f1"),
    [
        ("The Seine!", ["seine"], 1, 1),
        ("river Seine", ["the Seine"], 0, 2 / 3),
        ("Rhine", ["Seine", "the Rhine"], 1, 1),
        ("", [], 1, 1),
        ("Seine", [], 0, 0),
        ("", ["Seine"], 0, 0),
        ("Rhine", ["Seine"], 0, 0),
        ("the", ["Seine"], 0, 0),
    ],
)
def test_answer_scores(given: str, accepted: list[str], exact: float, f1: float) -> None:
    assert answer_scores(given, accepted) == (exact, pytest.approx(f1))


def question(context: str, *texts: str) -> dict:
    return {
        "context": context,
        "answers": {"text": list(texts), "answer_start": [context.index(t) for t in texts]},
    }


def scores(
    length: int, none: float, first: int, last: int, value: float
) -> tuple[torch.Tensor, torch.Tensor]:
    start, end = torch.zeros(length), torch.zeros(length)
    start[0] = end[0] = none / 2
    start[first] = end[last] = value / 2
    return start, end


def test_answers_come_from_the_best_window_and_the_most_doubtful_none() -> None:
    rows = [question("red green blue", "green"), question("one two")]
    windows = [
        {"row": 0, "offsets": [None, None, (0, 3), (4, 9)]},
        {"row": 0, "offsets": [None, None, (4, 9), (10, 14)]},
        {"row": 1, "offsets": [None, None, (0, 3), (4, 7)]},
    ]
    logits = [scores(4, 1, 2, 2, 3), scores(4, 5, 2, 3, 8), scores(4, 6, 2, 2, 4)]
    first, second = answers_from_windows(rows, windows, logits)
    assert first == Answer("green blue", 4, 14, 8 - 1)
    assert (second.text, second.margin) == ("one", -2)
    assert [first.given(), second.given(), first.given(7.5)] == ["green blue", "", ""]


def test_decoding_refuses_windows_of_other_rows() -> None:
    with pytest.raises(ValueError, match="No window belongs to row 0"):
        answers_from_windows([question("one")], [], [])


def test_question_scores_keep_the_unanswerable_apart() -> None:
    rows = [question("red green", "green"), question("red"), question("blue")]
    found = question_scores(rows, ["red green", "", "blue"])
    assert found["answerable_f1"] == pytest.approx(2 / 3)
    assert found["unanswerable"] == 0.5
    assert found["f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert found["exact"] == pytest.approx(1 / 3)


def test_the_threshold_separates_what_can_be_separated() -> None:
    rows = [question("red", "red"), question("red"), question("red", "red"), question("red")]
    answers = [Answer("red", 0, 3, margin) for margin in (4.0, 1.0, 3.0, 2.0)]
    threshold = best_threshold(rows, answers)
    assert 2.0 <= threshold <= 3.0
    assert question_scores(rows, [answer.given(threshold) for answer in answers])["f1"] == 1


def test_the_baseline_picks_the_sentence_with_most_shared_words() -> None:
    context = "The mill stood still. A heron nested on the wheel; nobody moved it. In May the wheel turned."
    assert overlap_baseline(context, "Where did the heron nest?") == "A heron nested on the wheel;"
    assert overlap_baseline(context, "Who cares?") == "The mill stood still."
