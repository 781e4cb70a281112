"""Two scores for each position, and no dropout."""

from __future__ import annotations

from random import Random

from checks.protocol import Case
from checks.questions.fine_tuning_shapes import heads

SIGNATURE = "SpanHead(hidden): (B,S,H) -> (start (B,S), end (B,S))"
SECTION = "Two scores for every position"


def inputs(rng: Random) -> list[Case]:
    shapes = [(3, 5, rng.randrange(6, 9)), (1, 4, 6), (2, 6, rng.randrange(3, 6))]
    return [
        Case(
            f"B={B}, S={S}, hidden={H}",
            {"B": B, "S": S, "H": H, "L": 2, "arguments": [H], "seed": rng.randrange(2**32)},
        )
        for B, S, H in shapes
    ]


probe = heads.probe
