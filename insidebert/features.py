"""From labelled rows to what a model reads: features, aligned labels, windows, padded batches.

B batch, S sequence. A feature is a dictionary of one row's lists: `input_ids`, `token_type_ids`,
`attention_mask` and the targets by the names that the loss of its head takes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from insidebert.packing import length_batches, pad_batch

IGNORED = -100  # a label that no loss counts: what `cross_entropy` ignores
INPUTS = ("input_ids", "token_type_ids", "attention_mask")


def align_labels(word_ids: Sequence[int | None], word_labels: Sequence[int]) -> list[int]:
    """The label of a word on its first piece, −100 on its other pieces and on special tokens.

    `word_ids`: the word of each position, `None` for special tokens (`encoding.word_ids()`).
    """
    before = [None, *word_ids][:-1] if word_ids else []
    return [
        IGNORED if word is None or word == previous else word_labels[word]
        for word, previous in zip(word_ids, before, strict=True)
    ]


def sentence_features(
    rows: Sequence[Mapping[str, Any]],
    tokenizer: Any,
    *,
    num_labels: int,
    max_length: int = 128,
    text: str = "sentence",
    label: str = "label",
) -> list[dict[str, Any]]:
    """Rows with a text and a label as features for `SequenceHead`, cut at `max_length` pieces.

    Raises `ValueError` for an empty text, an unknown label, or a `max_length` beyond the position table.
    """
    _check_length(max_length, tokenizer)
    features = []
    for index, row in enumerate(rows):
        if not row[text].strip():
            raise ValueError(f"Row {index} has an empty {text}: there is nothing to classify. Drop the row.")
        _check_labels([row[label]], num_labels, index)
        features.append(
            {**tokenizer(row[text], truncation=True, max_length=max_length), "labels": row[label]}
        )
    return features


def word_features(
    rows: Sequence[Mapping[str, Any]],
    tokenizer: Any,
    *,
    num_labels: int,
    max_length: int = 128,
    words: str = "tokens",
    label: str = "ner_tags",
    capitals: bool = False,
) -> list[dict[str, Any]]:
    """Rows of words with a label each as features for `TokenHead`, cut at `max_length` pieces.

    `capitals=True` marks the words that begin with a capital letter by their segment (`capital_segments`).
    Raises `ValueError` for a row without words, a word without a label, an unknown label, or as `sentence_features`.
    """
    _check_length(max_length, tokenizer)
    features = []
    for index, row in enumerate(rows):
        if not row[words]:
            raise ValueError(f"Row {index} has no words. Drop the row.")
        if len(row[words]) != len(row[label]):
            raise ValueError(
                f"Row {index} has {len(row[words])} words and {len(row[label])} labels; one each."
            )
        _check_labels(row[label], num_labels, index)
        encoding = tokenizer(row[words], is_split_into_words=True, truncation=True, max_length=max_length)
        if capitals:
            encoding["token_type_ids"] = capital_segments(encoding.word_ids(), row[words])
        features.append({**encoding, "labels": align_labels(encoding.word_ids(), row[label])})
    return features


def capital_segments(word_ids: Sequence[int | None], words: Sequence[str]) -> list[int]:
    """1 for the pieces of a word that begins with a capital letter, else 0.

    An uncased vocabulary forgets the best hint of a name. A row of one sentence has no use for its segments, and their
    table has a vector to spare: fine-tuning learns what it now means.
    """
    return [int(word is not None and words[word][:1].isupper()) for word in word_ids]


def answer_windows(
    rows: Sequence[Mapping[str, Any]], tokenizer: Any, *, max_length: int = 384, overlap: int = 128
) -> list[dict[str, Any]]:
    """`[CLS] question [SEP] passage [SEP]` as features for `SpanHead`; a long passage becomes several
    windows.

    `overlap` is how many pieces of the passage two windows share. That is what `transformers` calls `stride`;
    in Google's code the stride is the step from one window to the next, and the overlap the rest. Beside the
    model's inputs a window has `row`, the index of its row, and `offsets`: the characters of the passage that
    each position covers, `None` outside the passage. The target of a window without the whole answer is
    position 0, `[CLS]`. Raises `ValueError` for an overlap that leaves no step, a question that leaves no
    room, an answer that is not where the row says it is, or an empty question or passage.
    """
    _check_length(max_length, tokenizer)
    windows = []
    for index, row in enumerate(rows):
        if not row["question"].strip() or not row["context"].strip():
            raise ValueError(f"Row {index} has an empty question or passage. Drop the row.")
        span = _answer_characters(row, index)
        room = max_length - len(tokenizer(row["question"], add_special_tokens=False)["input_ids"]) - 3
        if not 0 <= overlap < room:
            raise ValueError(
                f"The question of row {index} leaves {room} of {max_length} positions to the passage; "
                f"windows that share {overlap} of them never get on. Give an overlap from 0 to {room - 1}, or a "
                "longer max_length."
            )
        encoding = tokenizer(
            row["question"],
            row["context"],
            truncation="only_second",
            max_length=max_length,
            stride=overlap,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        for window in range(len(encoding["input_ids"])):
            inside = [sequence == 1 for sequence in encoding.sequence_ids(window)]
            covers = zip(inside, encoding["offset_mapping"][window], strict=True)
            offsets = [tuple(offset) if is_passage else None for is_passage, offset in covers]
            first, last = _answer_positions(offsets, span)
            windows.append(
                {
                    **{name: encoding[name][window] for name in INPUTS},
                    "start_positions": first,
                    "end_positions": last,
                    "row": index,
                    "offsets": offsets,
                }
            )
    return windows


def _answer_characters(row: Mapping[str, Any], index: int) -> tuple[int, int] | None:
    """Where the first accepted answer stands in the passage, end exclusive; `None` when there is none."""
    if not row["answers"]["text"]:
        return None
    text, start = row["answers"]["text"][0], row["answers"]["answer_start"][0]
    if row["context"][start : start + len(text)] != text:
        raise ValueError(
            f"Row {index}: at character {start} the passage reads "
            f"{row['context'][start : start + len(text)]!r}, the answer is {text!r}."
        )
    return start, start + len(text)


def _answer_positions(
    offsets: Sequence[tuple[int, int] | None], span: tuple[int, int] | None
) -> tuple[int, int]:
    """The first and the last position of the answer, or (0, 0) when this window does not hold all of it."""
    if span is None:
        return 0, 0
    begin, end = span
    starts = [i for i, offset in enumerate(offsets) if offset and offset[0] <= begin < offset[1]]
    ends = [i for i, offset in enumerate(offsets) if offset and offset[0] < end <= offset[1]]
    return (starts[0], ends[0]) if starts and ends else (0, 0)


def _check_length(max_length: int, tokenizer: Any) -> None:
    if not 3 <= max_length <= tokenizer.model_max_length:
        raise ValueError(
            f"max_length is {max_length}; it may be 3 to {tokenizer.model_max_length}, the rows of the "
            "position table."
        )


def _check_labels(labels: Sequence[int], num_labels: int, index: int) -> None:
    unknown = [label for label in labels if not 0 <= label < num_labels]
    if unknown:
        raise ValueError(
            f"Row {index} has the label {unknown[0]}; this head knows 0 to {num_labels - 1}. "
            "−1 is how public test sets hide their labels: use another split."
        )


def collate(features: Sequence[Mapping[str, Any]], pad_id: int = 0) -> dict[str, Tensor]:
    """A batch of (B,S) inputs padded to its longest row, with its targets; labels of padding are −100.

    Raises `ValueError` for a batch without rows or a row without tokens.
    """
    empty = [index for index, row in enumerate(features) if not row["input_ids"]]
    if empty:
        raise ValueError(f"Row {empty[0]} of this batch has no tokens, not even [CLS]. Drop the row.")
    batch = pad_batch([dict(row) for row in features], pad_id)
    S = batch["input_ids"].shape[1]
    for name in ("labels", "start_positions", "end_positions"):
        if name in features[0]:
            targets = [row[name] for row in features]
            if isinstance(targets[0], Sequence):
                targets = [[*row, *[IGNORED] * (S - len(row))] for row in targets]
            batch[name] = torch.tensor(targets)
    return batch


def batches(
    features: Sequence[Mapping[str, Any]], batch_size: int, rng: random.Random
) -> Iterator[dict[str, Tensor]]:
    """One epoch in padded batches of rows of similar length, in random order."""
    lengths = [len(row["input_ids"]) for row in features]
    for rows in length_batches(lengths, batch_size, rng, window=8):
        yield collate([features[row] for row in rows])
