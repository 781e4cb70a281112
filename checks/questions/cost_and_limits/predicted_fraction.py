"""Lengths on both sides of every corner: below one piece, at the half, at the cap, far beyond it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case

SIGNATURE = "predicted_fraction(length, probability=0.15, cap=20) -> float"
SECTION = "What a batch teaches"


def inputs(rng: Random) -> list[Case]:
    lengths = (2, 3, 10, 19, 30, 50, rng.randrange(60, 100), 128, 134, 256, 512, rng.randrange(600, 900))
    chosen: list[dict[str, Any]] = [
        {"length": rng.randrange(20, 60), "probability": 0.4, "cap": 100},
        {"length": rng.randrange(200, 400), "probability": 0.25, "cap": rng.randrange(30, 45)},
        {"length": 40, "probability": 0.15, "cap": 3},
        {"length": 50, "probability": 0.5, "cap": 1},
    ]
    return [
        Case(", ".join(f"{key}={value}" for key, value in data.items()), data)
        for data in [*({"length": length} for length in lengths), *chosen]
    ]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(*case.data.values())
