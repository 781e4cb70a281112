"""Lengths whose share ends in a half, is below one, or above the cap."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case
from checks.questions.masking_granularity.rows import positional

SIGNATURE = "prediction_budget(length, probability=0.15, cap=20) -> int"
SECTION = "How much is hidden"


def inputs(rng: Random) -> list[Case]:
    asked: list[dict[str, Any]] = [
        {"length": 3, "cap": 7},
        {"length": 3},
        {"length": 10},  # 1.5: Python rounds a half to the even number
        {"length": rng.choice([21, 22])},  # 3.15 and 3.3 round down
        {"length": 53},  # 7.95: without two or three special tokens it is 8 all the same
        {"length": 30},  # 4.5
        {"length": 70},  # 10.5
        {"length": 128},
        {"length": 137},  # 20.55: one more than the cap
        {"length": 512},
        {"length": rng.randrange(60, 90), "cap": rng.randrange(3, 7)},
        {"length": rng.randrange(60, 90), "cap": 1},
        {"length": rng.randrange(200, 400), "cap": 1_000},
        {"length": rng.randrange(30, 40), "probability": rng.choice([0.3, 0.4])},
        {"length": 250, "probability": 1 / 3, "cap": 100},  # 83.3, and 82.5 with whole per cents
        {"length": 12, "probability": 1.0},
        {"length": rng.randrange(200, 300), "probability": 0.5, "cap": rng.randrange(60, 80)},
    ]
    cases = [Case(", ".join(f"{name}={value}" for name, value in data.items()), data) for data in asked]
    return [*cases, cases[1].again()]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(case["length"], *positional(dict(case.data), probability=0.15, cap=20))
