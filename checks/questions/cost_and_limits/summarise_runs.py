"""Scores of several runs: some collapsed to one class, some merely bad, two of them equal."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case

SIGNATURE = "summarise_runs(scores, majority_rate, tolerance=0.005) -> dict"
SECTION = "One run is no result"


def inputs(rng: Random) -> list[Case]:
    """Scores have three decimals and rates a half more, so that no score lies on an edge of the tolerance.

    In one case three do, in eighths: those are exact, however they are added and subtracted.
    """

    def scores(low: float, high: float, count: int, *more: float) -> list[float]:
        return _mixed(rng, [round(rng.uniform(low, high), 3) for _ in range(count)] + list(more))

    rate = round(rng.uniform(0.6, 0.7), 3) + 0.0005
    low, high = round(1 - rate + 0.0005, 3), round(rate - 0.0005, 3)
    twice = round(rng.uniform(0.8, 0.9), 3)
    wide = {"scores": scores(0.8, 0.95, 4, high - 0.02, low + 0.03, low - 0.015), "majority_rate": rate}
    runs: list[tuple[str, dict[str, Any]]] = [
        ("three runs, none collapsed", {"scores": scores(0.8, 0.95, 3), "majority_rate": rate}),
        (
            "six runs, two at the majority's rate, one at the other class's",
            {"scores": scores(0.8, 0.95, 3, high, high + 0.003, low - 0.002), "majority_rate": rate},
        ),
        (
            "five runs, classes of equal size",
            {"scores": _mixed(rng, [*scores(0.85, 0.95, 3), 0.501, 0.498]), "majority_rate": 0.5},
        ),
        (
            "six runs, equal scores among them",
            {"scores": _mixed(rng, [twice, twice, 0.951, high, high, low]), "majority_rate": rate},
        ),
        ("seven runs, near the rates but not at them", wide),
        (
            "five runs, just inside and just outside the default tolerance",
            {
                "scores": _mixed(
                    rng, [0.9, rate + 0.0048, rate - 0.0052, 1 - rate + 0.0052, 1 - rate - 0.0048]
                ),
                "majority_rate": rate,
            },
        ),
        ("seven runs, tolerance=0.04", wide | {"tolerance": 0.04}),
        ("seven runs, tolerance=0.0001", wide | {"tolerance": 0.0001}),
        (
            "five runs, three of them exactly `tolerance` away from a rate",
            {"scores": [0.875, 0.625, 0.125, 1.0, 0.9375], "majority_rate": 0.75, "tolerance": 0.125},
        ),
        (
            "four runs, the best of them collapsed",
            {"scores": scores(0.1, 0.2, 3, high), "majority_rate": rate},
        ),
    ]
    return [Case(label, data) for label, data in runs]


def _mixed(rng: Random, scores: list[float]) -> list[float]:
    """Shuffled, with the one in the middle last: the last run is neither the best nor the worst."""
    rng.shuffle(scores)
    middle = sorted(scores)[len(scores) // 2]
    scores.remove(middle)
    return [*scores, middle]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, *case.data.values())  # scores, majority_rate and, in some cases, tolerance
