"""Calls of a random answer, planned by seed: whose chance is it, and does it come anew?"""

from __future__ import annotations

from random import Random


def plan_calls(rng: Random, different: int) -> list[dict[str, int]]:
    """Two plans with one generator seed and different global seeds, then `different` more seeds.

    With each generator the answer is called twice in a row (`each`).
    """
    first = rng.randrange(2**31)
    seeds = [first, first, *(rng.randrange(2**31) for _ in range(different))]
    return [{"generator": seed, "world": rng.randrange(2**31), "each": 2} for seed in seeds]


def call_once(rng: Random) -> list[dict[str, int]]:
    return [{"generator": rng.randrange(2**31), "world": rng.randrange(2**31), "each": 1}]


def is_blank(value: object) -> bool:
    return value is None or value is ...
