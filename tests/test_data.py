"""The labelled sets of the course: their sizes, their variety, and that their labels are what they say."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import torch

from insidebert.decoding import (
    answers_from_windows,
    best_threshold,
    entity_f1,
    entity_spans,
    question_scores,
    word_tags,
)
from insidebert.features import answer_windows, word_features
from insidebert.reading import ENTITY_TAGS, SPLITS, data_features
from insidebert.sources import DATA_FOLDER, load_data, load_tokenizer

SIZES = {
    "sentiment": (400, 100, 100),
    "entities": (200, 50, 50),
    "question_answering": (200, 50, 50),
}

Rows = dict[str, list[dict[str, Any]]]


def rows_of(task: str) -> Rows:
    folder = DATA_FOLDER / task
    return {
        split: [json.loads(line) for line in Path(folder, f"{split}.jsonl").read_text("utf-8").splitlines()]
        for split in SPLITS
    }


def every(task: str) -> list[dict[str, Any]]:
    return [row for rows in rows_of(task).values() for row in rows]


def texts(task: str) -> list[str]:
    """What was written: each sentence, each passage once, and each question."""
    rows = every(task)
    if task == "sentiment":
        return [row["sentence"] for row in rows]
    if task == "entities":
        return [" ".join(row["tokens"]) for row in rows]
    return [*dict.fromkeys(row["context"] for row in rows), *(row["question"] for row in rows)]


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())


@pytest.mark.parametrize("task", SIZES)
def test_sizes_and_columns(task: str) -> None:
    rows = rows_of(task)
    assert tuple(len(rows[split]) for split in SPLITS) == SIZES[task]
    assert all(set(row) == set(data_features(task)) for row in every(task))


@pytest.mark.parametrize("task", SIZES)
def test_datasets_reads_them_unchanged(task: str) -> None:
    data, written = load_data(task, offline=True), rows_of(task)
    for split in SPLITS:
        assert data[split].to_list() == written[split]
        assert data[split].features == data_features(task)


@pytest.mark.parametrize("task", SIZES)
def test_each_has_a_data_card(task: str) -> None:
    card = Path(DATA_FOLDER, task, "README.md").read_text("utf-8")
    assert all(str(size) in card for size in SIZES[task])


@pytest.mark.parametrize("task", SIZES)
def test_identifiers_are_unique_in_a_split(task: str) -> None:
    for rows in rows_of(task).values():
        names = [row["idx" if task == "sentiment" else "id"] for row in rows]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("task", SIZES)
def test_no_phrase_is_used_up(task: str) -> None:
    """A template would show as one sequence of five words in many rows."""
    written = texts(task)
    used: dict[tuple[str, ...], int] = Counter()
    for text in written:
        row = words(text)
        used.update({tuple(row[i : i + 5]) for i in range(len(row) - 4)})
    limit = 0.01 * len(written)
    assert {" ".join(phrase): count for phrase, count in used.items() if count > limit} == {}


@pytest.mark.parametrize("task", SIZES)
def test_no_row_is_in_two_splits_or_twice(task: str) -> None:
    seen = Counter(" ".join(words(text)) for text in texts(task))
    assert [text for text, count in seen.items() if count > 1] == []


def test_sentiment_labels_are_balanced() -> None:
    for rows in rows_of("sentiment").values():
        positive = sum(row["label"] for row in rows) / len(rows)
        assert 0.45 <= positive <= 0.55


def test_sentiment_is_varied() -> None:
    rows = every("sentiment")
    lengths = [len(words(row["sentence"])) for row in rows]
    assert min(lengths) <= 5 and max(lengths) >= 30
    turns = {"not", "never", "no", "nothing", "nor", "but", "yet", "although", "though", "however", "despite"}
    share = sum(bool(turns & set(words(row["sentence"]))) or "n't" in row["sentence"] for row in rows) / len(
        rows
    )
    assert share >= 0.25  # negation and contrast
    firsts = Counter(words(row["sentence"])[0] for row in rows)
    assert firsts.most_common(1)[0][1] <= 0.3 * len(rows)


def test_one_word_does_not_give_the_sentiment_away() -> None:
    """No word is in a tenth of the rows and nearly always of one label."""
    seen: dict[str, list[int]] = defaultdict(list)
    for row in every("sentiment"):
        for word in set(words(row["sentence"])):
            seen[word].append(row["label"])
    told = {w: len(r) for w, r in seen.items() if len(r) >= 60 and not 0.1 <= sum(r) / len(r) <= 0.9}
    assert told == {}


def test_entity_tags_are_valid_bio() -> None:
    for row in every("entities"):
        tags = [ENTITY_TAGS[tag] for tag in row["ner_tags"]]
        assert len(tags) == len(row["tokens"]) and all(row["tokens"]), row["id"]
        for previous, tag in zip(["O", *tags], tags, strict=False):
            assert not tag.startswith("I-") or previous[2:] == tag[2:], (row["id"], tags)


def test_every_type_of_entity_is_in_every_split() -> None:
    for rows in rows_of("entities").values():
        kinds = Counter(
            kind for row in rows for kind, _, _ in entity_spans([ENTITY_TAGS[tag] for tag in row["ner_tags"]])
        )
        assert set(kinds) == {"PER", "ORG", "LOC", "MISC"}
        assert min(kinds.values()) >= 0.1 * sum(kinds.values())


def test_answers_stand_where_they_say() -> None:
    for row in every("question_answering"):
        answers = row["answers"]
        assert len(answers["text"]) == len(answers["answer_start"]), row["id"]
        for text, start in zip(answers["text"], answers["answer_start"], strict=True):
            assert row["context"][start : start + len(text)] == text != "", row["id"]
            before, after = row["context"][:start][-1:], row["context"][start + len(text) :][:1]
            assert not before.isalnum() and not after.isalnum(), row["id"]  # whole words


def test_a_fifth_of_the_questions_has_no_answer() -> None:
    for rows in rows_of("question_answering").values():
        assert 0.15 <= sum(not row["answers"]["text"] for row in rows) / len(rows) <= 0.25
    assert sum(not row["answers"]["text"] for row in every("question_answering")) == 60


def test_passages_belong_to_one_split() -> None:
    passages = {
        split: {row["context"] for row in rows} for split, rows in rows_of("question_answering").items()
    }
    assert sum(len(contexts) for contexts in passages.values()) == 120 == len(set().union(*passages.values()))
    titles = [{row["title"] for row in rows} for rows in rows_of("question_answering").values()]
    assert sum(map(len, titles)) == len(set().union(*titles))


# --- a model that gives the targets the highest scores gets everything right ----------------------------------


def peak(position: int, length: int) -> torch.Tensor:
    return torch.eye(length)[position]


@pytest.mark.parametrize("max_length", [256, 96])
def test_perfect_scores_decode_to_the_answers(max_length: int) -> None:
    tokenizer = load_tokenizer(offline=True)
    for split, rows in rows_of("question_answering").items():
        windows = answer_windows(rows, tokenizer, max_length=max_length, overlap=32)
        logits = [
            tuple(peak(window[f"{end}_positions"], len(window["input_ids"])) for end in ("start", "end"))
            for window in windows
        ]
        answers = answers_from_windows(rows, windows, logits)
        threshold = best_threshold(rows, answers)
        scores = question_scores(rows, [answer.given(threshold) for answer in answers])
        assert scores["unanswerable"] == 1, split
        assert scores["answerable_f1"] == pytest.approx(1), split


def test_perfect_scores_decode_to_the_entities() -> None:
    tokenizer, rows = load_tokenizer(offline=True), rows_of("entities")["test"]
    features = word_features(rows, tokenizer, num_labels=len(ENTITY_TAGS))
    predicted = [
        word_tags(
            torch.stack([peak(max(label, 0), 9) for label in row["labels"]]),
            row["labels"],
            len(tags),
            ENTITY_TAGS,
        )
        for row, tags in zip(features, (row["tokens"] for row in rows), strict=True)
    ]
    true = [[ENTITY_TAGS[tag] for tag in row["ner_tags"]] for row in rows]
    assert entity_f1(true, predicted) == (1, 1, 1)
