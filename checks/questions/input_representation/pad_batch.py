"""Batches of rows: one and many, the longest first and last, ids and masks that look like padding."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case

SIGNATURE = "pad_batch(features, pad_id) -> dict of (B,S) tensors"
SECTION = "From rows to a batch"


def inputs(rng: Random) -> list[Case]:
    two = _batch(rng, "two rows", [3, 5], rng.randrange(2, 99))
    return [
        two,
        _batch(rng, "one row", [4], rng.randrange(2, 99)),
        _batch(rng, "a row of one id", [1, 2], rng.randrange(2, 99)),
        _batch(rng, "rows of one length", [3, 3], rng.randrange(2, 99)),
        _batch(rng, "four rows, the longest first", [7, 2, 4, 6], rng.randrange(2, 99)),
        _like_padding(rng),
        _batch(rng, "eight rows, padding id 0", [25, *(rng.randrange(9, 25) for _ in range(6)), 45], 0),
        two.again(),
    ]


def _like_padding(rng: Random) -> Case:
    """A row may hold the padding id or 0 as real ids, and bring padding of its own: only its mask tells."""
    case = _batch(rng, "rows that hold the padding id and 0 themselves", [6, 4, 5], rng.randrange(2, 99))
    first, second, third = case["features"]
    for place in (2, -1):
        first["input_ids"][place] = case["pad_id"]
    first["input_ids"][3] = 0
    second["attention_mask"][3] = 0
    third["input_ids"][1] = 0
    return case


def _batch(rng: Random, label: str, lengths: list[int], pad_id: int) -> Case:
    features = []
    for number, length in enumerate(lengths):
        second = 0 if number % 3 == 2 or length < 2 else rng.randrange(1, length)  # every third row is single
        features.append(
            {
                "input_ids": [rng.randrange(1_000, 30_000) for _ in range(length)],
                "token_type_ids": [0] * (length - second) + [1] * second,
                "attention_mask": [1] * length,
            }
        )
    return Case(f"{label}, lengths {lengths}, pad_id={pad_id}", {"features": features, "pad_id": pad_id})


def probe(answer: Callable[..., Any], case: Case) -> Any:
    features = [{name: list(values) for name, values in row.items()} for row in case["features"]]
    return call(answer, features, case["pad_id"])
