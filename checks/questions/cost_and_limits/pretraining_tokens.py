"""Runs of pre-training, a small one and the paper's."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case

SIGNATURE = "pretraining_tokens(batch, length, steps) -> int"
SECTION = "The bill for pre-training"


def inputs(rng: Random) -> list[Case]:
    runs = [
        (rng.randrange(2, 9), rng.randrange(10, 20), rng.randrange(21, 40)),
        (32, 128, rng.randrange(1_000, 9_999)),
        (256, 128, 900_000),
        (256, 512, 1_000_000),
        (1, 512, 10),
        (
            99 + 2 * rng.randrange(9),
            511,
            100_001 + 2 * rng.randrange(999),
        ),  # odd: single precision cannot hold it
    ]
    return [
        Case(f"batch={b}, length={s}, steps={n}", {"batch": b, "length": s, "steps": n}) for b, s, n in runs
    ]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(case["batch"], case["length"], case["steps"])
