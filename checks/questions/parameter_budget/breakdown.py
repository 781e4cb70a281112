"""Models with every kind of head, frozen in part, inside another module."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case
from checks.questions.parameter_budget.models import build, cases

SIGNATURE = "breakdown(model) -> dict[str, int]"
SECTION = "6 One encoder, many totals"


def inputs(rng: Random) -> list[Case]:
    return cases(
        rng,
        {"head": ""},
        {"head": "pretraining"},
        {"head": "mlm", "tied": False},
        {"head": "tokens", "labels": rng.randrange(3, 9), "frozen": True},
        {"head": "", "pooler": False},
        {"head": "", "wrapped": "backbone", "labels": 5},
        {"head": "pretraining", "wrapped": "encoder", "labels": 4},
    )


def probe(answer: Callable[[Any], Any], case: Case) -> Any:
    return answer(build(case["model"]))
