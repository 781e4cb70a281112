"""Numbers of parameters, from a thousand to BERT-large's."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case

SIGNATURE = "training_memory(parameters) -> float"
SECTION = "The bill for pre-training"


def inputs(rng: Random) -> list[Case]:
    sizes = [rng.randrange(1_000, 9_999), rng.randrange(10**6, 10**7), 109_482_240, 335_141_888]
    return [Case(f"parameters={size:,}", {"parameters": size}) for size in sizes]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(case["parameters"])
