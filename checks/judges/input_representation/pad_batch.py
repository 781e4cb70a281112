"""`pad_batch`: how wide a batch is, and what stands where a row has nothing. B batch · S sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from checks.judges.containers import record
from checks.judges.input_representation import PARTS, two_of_three
from checks.judges.tensors import tensor
from checks.judges.values import Mistake, ValueJudge

Features = Sequence[Mapping[str, list[int]]]
Batch = dict[str, np.ndarray]


def pad_batch(
    features: Features,
    pad_id: int,
    width: Callable[[list[int]], int] = max,
    left: bool = False,
    **fills: Any,
) -> Batch:
    """The padded batch, int64 (B,S). `width`: from the rows' lengths to S. `fills`: what pads a part, a number or a
    function of the row."""
    S = width([len(row["input_ids"]) for row in features])
    batch = {}
    for part, fill in ({"input_ids": pad_id, "token_type_ids": 0, "attention_mask": 0} | fills).items():
        rows = []
        for row in features:
            kept = row[part][:S]
            padding = [fill(row) if callable(fill) else fill] * (S - len(kept))
            rows.append(padding + kept if left else kept + padding)
        batch[part] = np.array(rows, dtype=np.int64)
    return batch


def padding(**changed: Any) -> Callable[..., Batch]:
    return lambda features, pad_id: pad_batch(features, pad_id, **changed)


def wide(width: Callable[[list[int]], int]) -> Callable[..., Batch]:
    return padding(width=width)


def each(change: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Batch]:
    """The answer that does something with each of the three tensors."""
    return lambda features, pad_id: {
        part: change(array) for part, array in pad_batch(features, pad_id).items()
    }


def _part(part: str, **fill: Any) -> Callable[..., np.ndarray]:
    return lambda features, pad_id: pad_batch(features, pad_id, **{part: fill["fill"]})[part]


def types(fill: Any) -> Callable[..., np.ndarray]:
    return _part("token_type_ids", fill=fill)


def _by_length(features: Features, pad_id: int) -> np.ndarray:
    lengths = np.array([len(row["input_ids"]) for row in features])
    return (np.arange(lengths.max()) < lengths[:, None]).astype(int)


TYPES, MASK = "token_type_ids", "attention_mask"
MISTAKES = (
    Mistake(
        "pads_everything_with_pad_id",
        "`pad_id` was used in all three tensors. It is an id; mask and segment are 0 on padding.",
        lambda features, pad_id: pad_batch(features, pad_id, token_type_ids=pad_id, attention_mask=pad_id),
    ),
    Mistake(
        "pads_ids_with_zero",
        "0 is the padding id of some vocabularies only. Fill `input_ids` with the argument `pad_id`.",
        lambda features: pad_batch(features, 0)["input_ids"],
        part="input_ids",
    ),
    Mistake(
        "pads_segments_with_pad_id",
        "Segments are padded with `pad_id`. There are two segments, and padding takes 0.",
        lambda features, pad_id: pad_batch(features, pad_id, token_type_ids=pad_id)[TYPES],
        part=TYPES,
    ),
    Mistake(
        "pads_segments_with_one",
        "Padding is in segment 1. It takes segment 0.",
        types(1),
        part=TYPES,
    ),
    Mistake(
        "repeats_last_segment",
        "Padding got the segment of the row's last id. It takes segment 0, whatever the row ends with.",
        types(lambda row: row[TYPES][-1]),
        part=TYPES,
    ),
    Mistake(
        "segments_lost",
        "All segments are 0. Pad the `token_type_ids` that each row brings.",
        lambda features, pad_id: 0 * pad_batch(features, pad_id)[TYPES],
        part=TYPES,
    ),
    Mistake(
        "attends_to_padding",
        "The mask is 1 on padding, so every real token would attend to nothing. Pad the mask with 0.",
        _part(MASK, fill=1),
        part=MASK,
    ),
    Mistake(
        "mask_of_ones",
        "The mask is 1 everywhere. It has to be 0 on padding.",
        lambda features, pad_id: np.ones_like(pad_batch(features, pad_id)[MASK]),
        part=MASK,
    ),
    Mistake(
        "mask_from_ids",
        "The mask was made by comparing ids. A real id may look like padding: pad the mask that each row brings.",
        lambda features, pad_id: (pad_batch(features, pad_id)["input_ids"] != pad_id).astype(int),
        lambda features, pad_id: (pad_batch(features, pad_id)["input_ids"] != 0).astype(int),
        part=MASK,
    ),
    Mistake(
        "mask_from_length",
        "The mask was made from the row's length. Pad the mask that each row brings: it may hold zeros.",
        _by_length,
        part=MASK,
    ),
    Mistake(
        "mask_inverted",
        "The mask is upside down: 1 is text, 0 is padding.",
        lambda features, pad_id: 1 - pad_batch(features, pad_id)[MASK],
        part=MASK,
    ),
    Mistake(
        "pads_on_the_left",
        "The padding stands in front. BERT's positions count from the left: padding goes behind the text.",
        padding(left=True),
    ),
    Mistake(
        "sorts_the_rows",
        "The rows were sorted by length. They keep their order: labels and results are matched by it.",
        lambda features, pad_id: pad_batch(
            sorted(features, key=lambda row: len(row["input_ids"]), reverse=True), pad_id
        ),
        lambda features, pad_id: pad_batch(sorted(features, key=lambda row: len(row["input_ids"])), pad_id),
    ),
    Mistake(
        "cuts_to_the_shortest",
        "Rows were cut to the shortest of the batch. Nothing is lost in padding: go by the longest.",
        wide(min),
    ),
    Mistake(
        "goes_by_the_first_row",
        "The first row's length was taken for all. Go by the longest row of the batch.",
        wide(lambda lengths: lengths[0]),
    ),
    Mistake(
        "goes_by_the_last_row",
        "The last row's length was taken for all. Go by the longest row of the batch.",
        wide(lambda lengths: lengths[-1]),
    ),
    Mistake(
        "one_column_too_many",
        "There is a column that is padding in every row. The longest row needs none.",
        wide(lambda lengths: max(lengths) + 1),
    ),
    Mistake(
        "pads_to_a_multiple_of_eight",
        "The batch was widened to a multiple of 8. Here it is padded to its longest row.",
        wide(lambda lengths: -(-max(lengths) // 8) * 8),
    ),
    Mistake(
        "pads_to_512",
        "Every row has 512 positions. Pad to the longest row of this batch, the rest is wasted work.",
        wide(lambda lengths: 512),
    ),
    Mistake(
        "transposed",
        "The axes are exchanged: the batch comes first, (B,S).",
        each(np.transpose),
    ),
    Mistake(
        "squeezes_one_row",
        "A batch of one row lost an axis. It is (1,S): leave `squeeze()` out, or say which axis it may take.",
        each(lambda array: array[0] if len(array) == 1 else array),
        each(np.squeeze),
    ),
)

BATCH = record(dict.fromkeys(PARTS, tensor("int64")), "a dict of three (B,S) tensors")
JUDGE = ValueJudge(BATCH, pad_batch, MISTAKES, credit=two_of_three)
