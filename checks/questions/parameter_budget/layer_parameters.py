"""Sizes of a layer; the inner one is four times the hidden one in the published models alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case

SIGNATURE = "layer_parameters(hidden, intermediate) -> int"
SECTION = "4 Inside one layer"


def inputs(rng: Random) -> list[Case]:
    shapes = [(rng.randrange(2, 6), rng.randrange(7, 12)), (24, 50), (768, 3_072), (1_024, 4_096)]
    shapes.insert(2, (12 * rng.randrange(10, 40), 100 * rng.randrange(5, 30) + 1))
    return [Case(f"hidden={H}, intermediate={I}", {"H": H, "I": I}) for H, I in shapes]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(case["H"], case["I"])
