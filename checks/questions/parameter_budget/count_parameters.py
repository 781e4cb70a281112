"""Models with and without head, tied and not, frozen in part, inside another module."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case
from checks.questions.parameter_budget.models import build, cases

SIGNATURE = "count_parameters(model) -> int"
SECTION = "1 Walk through the model"


def inputs(rng: Random) -> list[Case]:
    return cases(
        rng,
        {"head": ""},
        {"head": "pretraining"},
        {"head": "mlm", "tied": False},
        {"head": "classifier", "labels": rng.randrange(3, 9), "frozen": True},
        {"head": "", "pooler": False},
        {"head": "", "wrapped": "backbone", "labels": 5},
    )


def probe(answer: Callable[[Any], Any], case: Case) -> Any:
    return answer(build(case["model"]))
