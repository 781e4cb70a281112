"""Tables and factors, on both sides of the break-even."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case

SIGNATURE = "factorised_table(vocab, hidden, factor) -> (parameters, times_smaller)"
SECTION = "8 A cheaper table"


def inputs(rng: Random) -> list[Case]:
    tables = [
        (rng.randrange(50, 90), rng.randrange(20, 30), rng.randrange(3, 9)),
        (1_000 * rng.randrange(8, 60) + 1, 64 * rng.randrange(5, 16), 32 * rng.randrange(2, 6)),
        (30_522, 768, 128),
        (30_522, 1_024, 128),
        (30_522, 768, 1_000),  # beyond the break-even: the two matrices are larger than the one
    ]
    return [Case(f"vocab={V}, hidden={H}, factor={E}", {"V": V, "H": H, "E": E}) for V, H, E in tables]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(case["V"], case["H"], case["E"])
