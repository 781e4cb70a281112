"""The judge of `pad_batch`.

B batch · S sequence
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checks.judges.comparing import (
    Mistake,
    describe_type,
    incorrect,
    judge_values,
)
from checks.judges.input_representation.parts import PARTS, find_wrong_keys, with_parts
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict


def _batch(case: Case, **changed: Any) -> dict[str, np.ndarray]:
    """The padded batch, int64 (B,S). Changes: `width`, `fill` (per part), `left`, `fixed` (a function of the
    arrays and the case)."""
    features = case["features"]
    width = changed.get("width", lambda lengths: max(lengths))([len(row["input_ids"]) for row in features])
    fill = {"input_ids": case["pad_id"], "token_type_ids": 0, "attention_mask": 0} | changed.get("fill", {})
    batch = {}
    for part in PARTS:
        rows = []
        for row in features:
            kept = row[part][:width]
            padding = [fill[part](row) if callable(fill[part]) else fill[part]] * (width - len(kept))
            rows.append(padding + kept if changed.get("left") else kept + padding)
        batch[part] = np.array(rows, dtype=np.int64)
    return batch


def _lengths_mask(case: Case) -> np.ndarray:
    lengths = np.array([len(row["input_ids"]) for row in case["features"]])
    return (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)


def _swap(case: Case, **parts: Callable[[dict[str, np.ndarray]], np.ndarray]) -> dict[str, np.ndarray]:
    batch = _batch(case)
    return batch | {part: change(batch) for part, change in parts.items()}


PAD_MISTAKES = (
    Mistake(
        "pads_ids_with_zero",
        "0 is the padding id of some vocabularies only. Fill `input_ids` with the argument `pad_id`.",
        lambda case: _batch(case, fill={"input_ids": 0}),
    ),
    Mistake(
        "pads_everything_with_pad_id",
        "`pad_id` was used in all three tensors. It is an id; mask and segment are 0 on padding.",
        lambda case: _batch(case, fill=dict.fromkeys(PARTS, case["pad_id"])),
    ),
    Mistake(
        "pads_segments_with_pad_id",
        "Segments are padded with `pad_id`. There are two segments, and padding takes 0.",
        lambda case: _batch(case, fill={"token_type_ids": case["pad_id"]}),
    ),
    Mistake(
        "pads_segments_with_one",
        "Padding is in segment 1. It takes segment 0.",
        lambda case: _batch(case, fill={"token_type_ids": 1}),
    ),
    Mistake(
        "repeats_last_segment",
        "Padding got the segment of the row's last id. It takes segment 0, whatever the row ends with.",
        lambda case: _batch(case, fill={"token_type_ids": lambda row: row["token_type_ids"][-1]}),
    ),
    Mistake(
        "attends_to_padding",
        "The mask is 1 on padding, so every real token would attend to nothing. Pad the mask with 0.",
        lambda case: _batch(case, fill={"attention_mask": 1}),
    ),
    Mistake(
        "mask_of_ones",
        "The mask is 1 everywhere. It has to be 0 on padding.",
        lambda case: _swap(case, attention_mask=lambda b: np.ones_like(b["input_ids"])),
    ),
    Mistake(
        "mask_from_ids",
        "The mask was made by comparing ids with `pad_id`. Pad the mask that each row brings.",
        lambda case: _swap(
            case, attention_mask=lambda b: (b["input_ids"] != case["pad_id"]).astype(np.int64)
        ),
    ),
    Mistake(
        "mask_from_length",
        "The mask was made from the row's length. Pad the mask that each row brings: it may hold zeros.",
        lambda case: _swap(case, attention_mask=lambda b: _lengths_mask(case)),
    ),
    Mistake(
        "mask_inverted",
        "The mask is upside down: 1 is text, 0 is padding.",
        lambda case: _swap(case, attention_mask=lambda b: 1 - b["attention_mask"]),
    ),
    Mistake(
        "segments_lost",
        "All segments are 0. Pad the `token_type_ids` that each row brings.",
        lambda case: _swap(case, token_type_ids=lambda b: np.zeros_like(b["input_ids"])),
    ),
    Mistake(
        "pads_on_the_left",
        "The padding stands in front. BERT's positions count from the left: padding goes behind the text.",
        lambda case: _batch(case, left=True),
    ),
    Mistake(
        "cuts_to_the_shortest",
        "Rows were cut to the shortest of the batch. Nothing is lost in padding: go by the longest.",
        lambda case: _batch(case, width=min),
    ),
    Mistake(
        "goes_by_the_first_row",
        "The first row's length was taken for all. Go by the longest row of the batch.",
        lambda case: _batch(case, width=lambda lengths: lengths[0]),
    ),
    Mistake(
        "one_column_too_many",
        "There is a column that is padding in every row. The longest row needs none.",
        lambda case: _batch(case, width=lambda lengths: max(lengths) + 1),
    ),
    Mistake(
        "pads_to_a_multiple_of_eight",
        "The batch was widened to a multiple of 8. Here it is padded to its longest row.",
        lambda case: _batch(case, width=lambda lengths: -(-max(lengths) // 8) * 8),
    ),
    Mistake(
        "pads_to_512",
        "Every row has 512 positions. Pad to the longest row of this batch, the rest is wasted work.",
        lambda case: _batch(case, width=lambda lengths: 512),
    ),
    Mistake(
        "transposed",
        "The axes are exchanged: the batch comes first, (B,S).",
        lambda case: {part: array.T for part, array in _batch(case).items()},
    ),
)


def _is_batch(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(part, Array) and part.kind == "tensor" and part.data.ndim == 2 for part in value.values()
    )


def _same_array(got: Any, expected: np.ndarray) -> bool:
    return isinstance(got, Array) and np.array_equal(got.data, expected)


def _show_batch(values: Any) -> str:
    if (isinstance(values, Array) and values.data.ndim != 2) or not isinstance(values, (Array, np.ndarray)):
        return describe_type(values)
    data = values.data if isinstance(values, Array) else np.asarray(values)
    rows = [f"[{', '.join(map(str, row[:8]))}{', …' if len(row) > 8 else ''}]" for row in data[:4].tolist()]
    return f"{', '.join(rows)}{', …' if len(data) > 4 else ''} of shape {tuple(data.shape)}"


def _not_long(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Finding | None:
    for case, outcome in zip(cases, outcomes, strict=True):
        for part, array in outcome.value.items() if _is_batch(outcome.value) else ():
            if array.dtype != "int64":
                cause = "Embedding tables are indexed with long tensors. Say `dtype=torch.long`."
                return Finding("not_long", cause, case.label, f"{part}: {array.dtype}", "int64")
    return None


def pad_batch(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    early = find_wrong_keys(cases, outcomes) or _not_long(cases, outcomes)
    if early:
        return incorrect(question, early)

    def same(got: Any, expected: Any) -> bool:
        return all(_same_array(got[part], expected[part]) for part in PARTS)

    verdict = judge_values(
        question,
        cases,
        outcomes,
        expected=_batch,
        kind="a dict of three (B,S) tensors",
        is_kind=_is_batch,
        same=same,
        mistakes=PAD_MISTAKES,
    )
    return with_parts(verdict, cases, outcomes, _batch, _same_array, _show_batch)
