"""From token ids to rows a model can read: `[CLS] A [SEP] B [SEP]`, truncated, padded, batched.

B batch, S sequence.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch


def pack_pair(
    ids_a: Sequence[int], ids_b: Sequence[int] | None, *, cls_id: int, sep_id: int, max_length: int
) -> dict[str, list[int]]:
    """One row: `input_ids`, `token_type_ids` (0 up to the first [SEP], then 1) and `attention_mask`.

    `ids_b` may be None: one segment, one [SEP]. A row over `max_length` loses tokens from the end of the
    longer segment, one at a time, of B on a tie (Devlin et al. 2019, App. A.2). ValueError where not even the
    special tokens fit.
    """
    specials = 2 if ids_b is None else 3
    segments = [list(ids_a)] if ids_b is None else [list(ids_a), list(ids_b)]
    if max_length < specials:
        raise ValueError(
            f"A row of at most {max_length} tokens has no room for its {specials} special tokens: "
            "raise max_length."
        )
    while specials + sum(map(len, segments)) > max_length:
        longer = 0 if len(segments[0]) > len(segments[-1]) else -1
        segments[longer].pop()
    input_ids, token_type_ids = [cls_id], [0]
    for number, segment in enumerate(segments):
        input_ids += [*segment, sep_id]
        token_type_ids += [number] * (len(segment) + 1)
    return {
        "input_ids": input_ids,
        "token_type_ids": token_type_ids,
        "attention_mask": [1] * len(input_ids),
    }


def pad_batch(features: Sequence[dict[str, Any]], pad_id: int) -> dict[str, torch.Tensor]:
    """(B,S) long tensors `input_ids`, `token_type_ids`, `attention_mask`, S the longest row of this batch.

    On padding the mask and the segment are 0. ValueError for an empty batch.
    """
    if not features:
        raise ValueError("A batch of no rows has no shape. Give at least one row.")
    S = max(len(row["input_ids"]) for row in features)
    fill = {"input_ids": pad_id, "token_type_ids": 0, "attention_mask": 0}
    return {
        name: torch.tensor([[*row[name], *[value] * (S - len(row[name]))] for row in features])
        for name, value in fill.items()
    }


def pack_documents(
    documents: Iterable[Sequence[int]], *, cls_id: int, sep_id: int, max_length: int
) -> list[dict[str, list[int]]]:
    """Several short documents in a row: `[CLS] one [SEP] two [SEP] …` (Liu et al. 2019, sec. 4.2).

    Documents keep their order; each goes into the open row if it fits and opens the next row if not. A
    document that no row can hold is cut into rows of its own. Empty documents are left out.
    """
    room = max_length - 2
    if room < 1:
        raise ValueError(
            f"A row of {max_length} tokens holds [CLS], [SEP] and nothing else: raise max_length."
        )
    rows: list[list[int]] = []
    for document in documents:
        for start in range(0, len(document), room):
            piece = [*document[start : start + room], sep_id]
            if rows and start == 0 and len(rows[-1]) + len(piece) <= max_length:
                rows[-1] += piece
            else:
                rows.append([cls_id, *piece])
    return [
        {"input_ids": row, "token_type_ids": [0] * len(row), "attention_mask": [1] * len(row)} for row in rows
    ]


def length_batches(
    lengths: Sequence[int], batch_size: int, rng: random.Random, *, window: int = 64
) -> Iterator[list[int]]:
    """Batches of row numbers, rows of similar length together, so that little of a batch is padding.

    Rows are shuffled, cut into windows of `window` batches, sorted by length inside a window only, and the
    batches of a window come in random order: an epoch sees every row once, no two epochs the same batches.
    """
    if batch_size < 1 or window < 1:
        raise ValueError(f"batch_size {batch_size} and window {window} must both be at least 1.")
    order = list(range(len(lengths)))
    rng.shuffle(order)
    for start in range(0, len(order), window * batch_size):
        near = sorted(order[start : start + window * batch_size], key=lengths.__getitem__)
        batches = [near[i : i + batch_size] for i in range(0, len(near), batch_size)]
        rng.shuffle(batches)
        yield from batches
