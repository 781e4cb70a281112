"""Several models by name: small ones, one of them frozen in part, and two that were published."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case
from checks.questions.parameter_budget.models import PUBLISHED, build, small_shape, spec

SIGNATURE = "budget_report(models) -> dict[str, dict]"
SECTION = "3 A larger model"


def inputs(rng: Random) -> list[Case]:
    small = {
        f"model-{rng.randrange(100, 1000)}": spec(small_shape(rng)),
        f"other-{rng.randrange(100, 1000)}": spec(small_shape(rng), "pretraining", frozen=True),
    }
    published = {name: spec(shape) for name, shape in PUBLISHED.items()}
    return [
        Case("two small models", {"models": small}),
        Case("bert-tiny and bert-mini", {"models": published}),
    ]


def probe(answer: Callable[[Any], Any], case: Case) -> Any:
    return call(answer, {name: build(model) for name, model in case["models"].items()})
