"""Inputs and probes of the assignment `cost_and_limits` (lesson 06).

S positions · H hidden · I intermediate · L layers
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Assignment, Case

ASSIGNMENT = Assignment("cost_and_limits", "lessons/06_cost_and_limits.ipynb")


def _flops_inputs(rng: Random) -> list[Case]:
    shapes = [
        (2, 4, 12, 2),
        (rng.randrange(5, 40), rng.randrange(8, 64), rng.randrange(65, 300), rng.randrange(3, 7)),
        (128, 768, 3_072, 12),
        (512, 768, 3_072, 12),
        (rng.randrange(600, 5_000), 1_024, 4_096, 24),
    ]
    return [
        Case(f"length={s}, hidden={h}, intermediate={i}, layers={n}", {"S": s, "H": h, "I": i, "L": n})
        for s, h, i, n in shapes
    ]


def _tokens_inputs(rng: Random) -> list[Case]:
    runs = [
        (rng.randrange(2, 9), rng.randrange(10, 20), rng.randrange(21, 40)),
        (32, 128, rng.randrange(1_000, 9_999)),
        (256, 128, 900_000),
        (256, 512, 1_000_000),
    ]
    return [
        Case(f"batch={b}, length={s}, steps={n}", {"batch": b, "length": s, "steps": n}) for b, s, n in runs
    ]


def _fraction_inputs(rng: Random) -> list[Case]:
    """Lengths on both sides of every corner: below one piece, at the half, at the cap, far beyond it."""
    plain: list[dict[str, Any]] = [
        {"length": length}
        for length in (
            2,
            3,
            10,
            19,
            30,
            50,
            rng.randrange(60, 100),
            128,
            134,
            256,
            512,
            rng.randrange(600, 900),
        )
    ]
    chosen: list[dict[str, Any]] = [
        {"length": rng.randrange(20, 60), "probability": 0.4, "cap": 100},
        {"length": rng.randrange(200, 400), "probability": 0.25, "cap": rng.randrange(30, 45)},
        {"length": 40, "probability": 0.15, "cap": 3},
    ]
    return [Case(", ".join(f"{key}={value}" for key, value in data.items()), data) for data in plain + chosen]


def _memory_inputs(rng: Random) -> list[Case]:
    sizes = [rng.randrange(1_000, 9_999), rng.randrange(10**6, 10**7), 109_482_240, 335_141_888]
    return [Case(f"parameters={size:,}", {"parameters": size}) for size in sizes]


def _runs_inputs(rng: Random) -> list[Case]:
    """Scores with three decimals, and rates with a half more: no score lies on an edge of the tolerance."""

    def mixed(scores: list[float]) -> list[float]:
        rng.shuffle(scores)
        middle = sorted(scores)[
            len(scores) // 2
        ]  # comes last: the last run is neither the best nor the worst
        scores.remove(middle)
        return [*scores, middle]

    def scores(low: float, high: float, count: int, *more: float) -> list[float]:
        return mixed([round(rng.uniform(low, high), 3) for _ in range(count)] + list(more))

    rate = round(rng.uniform(0.6, 0.7), 3) + 0.0005
    low, high = round(1 - rate + 0.0005, 3), round(rate - 0.0005, 3)
    even = mixed([*scores(0.85, 0.95, 3), 0.501, 0.498])
    wide = {"scores": scores(0.8, 0.95, 4, high - 0.02, low + 0.03, low - 0.015), "majority_rate": rate}
    return [
        Case("three runs, none collapsed", {"scores": scores(0.8, 0.95, 3), "majority_rate": rate}),
        Case(
            "six runs, two at the majority's rate, one at the other class's",
            {"scores": scores(0.8, 0.95, 3, high, high + 0.003, low - 0.002), "majority_rate": rate},
        ),
        Case("five runs, classes of equal size", {"scores": even, "majority_rate": 0.5}),
        Case("seven runs, near the rates but not at them", wide),
        Case("seven runs, tolerance=0.04", wide | {"tolerance": 0.04}),
        Case(
            "four runs, below either rate", {"scores": scores(0.1, 0.2, 2, high, 0.9), "majority_rate": rate}
        ),
    ]


def _runs_probe(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, *case.data.values())  # scores, majority_rate and, in one case, tolerance


QUESTIONS = (
    ASSIGNMENT.question(
        "encoder_flops",
        "encoder_flops(length, hidden, intermediate, layers) -> (linear, attention)",
        "Quadratic attention",
        _flops_inputs,
        lambda answer, case: answer(case["S"], case["H"], case["I"], case["L"]),
    ),
    ASSIGNMENT.question(
        "pretraining_tokens",
        "pretraining_tokens(batch, length, steps) -> int",
        "The bill for pre-training",
        _tokens_inputs,
        lambda answer, case: answer(case["batch"], case["length"], case["steps"]),
    ),
    ASSIGNMENT.question(
        "predicted_fraction",
        "predicted_fraction(length, probability=0.15, cap=20) -> float",
        "What a batch teaches",
        _fraction_inputs,
        lambda answer, case: answer(*case.data.values()),
    ),
    ASSIGNMENT.question(
        "training_memory",
        "training_memory(parameters) -> float",
        "The bill for pre-training",
        _memory_inputs,
        lambda answer, case: answer(case["parameters"]),
    ),
    ASSIGNMENT.question(
        "summarise_runs",
        "summarise_runs(scores, majority_rate, tolerance=0.005) -> dict",
        "One run is no result",
        _runs_inputs,
        _runs_probe,
    ),
)
