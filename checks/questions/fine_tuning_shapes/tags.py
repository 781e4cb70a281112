"""Rows of BIO tags as a model gives them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

SHORT, LONG = ("PER", "ORG", "LOC"), ("MISC", "DATE", "WORK")


def types(rng: Random) -> list[str]:
    """Three types, not all of one length."""
    return [*rng.sample(SHORT, 2), rng.choice(LONG)]


def random_tags(rng: Random, types: Sequence[str], length: int) -> list[str]:
    """Mostly well-formed, with an `I-` out of place now and then."""
    tags: list[str] = []
    while len(tags) < length:
        kind, size = rng.choice(types), rng.randrange(1, 4)
        opening = "I" if rng.random() < 0.2 else "B"
        tags += [f"{opening}-{kind}"] + [f"I-{kind}"] * (size - 1) + ["O"] * rng.choice([0, 1, 1, 2])
    return tags[:length]
