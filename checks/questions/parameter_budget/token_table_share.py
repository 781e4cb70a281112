"""Models whose table has other names, is small, or is shared with a head."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case
from checks.questions.parameter_budget.models import build, cases

SIGNATURE = "token_table_share(model) -> float"
SECTION = "2 The token table"


def inputs(rng: Random) -> list[Case]:
    return cases(
        rng,
        {"head": ""},
        {"head": "classifier", "labels": 3},
        {"head": "pretraining"},
        {"head": "", "wrapped": "backbone", "labels": 5, "frozen": True},
        {"head": "", "few_words": True},
        {"head": "mlm", "tied": False},
    )


def probe(answer: Callable[[Any], Any], case: Case) -> Any:
    return answer(build(case["model"]))
