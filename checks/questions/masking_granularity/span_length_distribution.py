"""Geometric distributions with and without a long tail behind the limit."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case
from checks.questions.masking_granularity.rows import positional

SIGNATURE = "span_length_distribution(p=0.2, max_length=10) -> list[float]"
SECTION = "How long is a span"


def inputs(rng: Random) -> list[Case]:
    asked: list[dict[str, Any]] = [
        {"p": 0.5, "max_length": 2},
        {"p": 0.3, "max_length": 1},
        {"p": round(rng.uniform(0.25, 0.45), 3), "max_length": rng.randrange(4, 8)},
        {"max_length": 5},
        {"p": round(rng.uniform(0.05, 0.15), 3), "max_length": 12},
        {"p": round(rng.uniform(0.7, 0.9), 3)},
        {},
    ]
    cases = [
        Case(", ".join(f"{name}={value}" for name, value in data.items()) or "the defaults", data)
        for data in asked
    ]
    return [*cases, cases[0].again()]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(*positional(dict(case.data), p=0.2, max_length=10))
