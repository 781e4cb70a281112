"""Shapes of an encoder, from one that can be done by hand to BERT-large."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case

SIGNATURE = "encoder_flops(length, hidden, intermediate, layers) -> (linear, attention)"
SECTION = "Quadratic attention"


def inputs(rng: Random) -> list[Case]:
    shapes = [
        (2, 4, 12, 2),
        (rng.randrange(5, 40), rng.randrange(8, 64), rng.randrange(65, 300), rng.randrange(3, 7)),
        (128, 768, 3_072, 12),
        (512, 768, 3_072, 12),
        (rng.randrange(600, 5_000), 1_024, 4_096, 24),
        (1, 6, 15, 1),
    ]
    return [
        Case(f"length={S}, hidden={H}, intermediate={I}, layers={L}", {"S": S, "H": H, "I": I, "L": L})
        for S, H, I, L in shapes
    ]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(case["S"], case["H"], case["I"], case["L"])
