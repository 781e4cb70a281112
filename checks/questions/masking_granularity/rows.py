"""Rows of pieces as the questions draw them."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

Groups = list[int | None]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def draw_words(rng: Random, *sizes: int) -> list[str]:
    """The pieces of as many words as there are sizes, each of so many pieces."""
    return [
        f"{'##' if piece else ''}{''.join(rng.sample(LETTERS, rng.randrange(2, 5)))}"
        for size in sizes
        for piece in range(size)
    ]


def make_groups(segments: Iterable[Iterable[int]], padding: int = 0) -> Groups:
    """The groups of a row: a special token, then each segment's words by their sizes and a special token."""
    groups: Groups = [None]
    number = 0
    for segment in segments:
        for size in segment:
            groups += [number] * size
            number += 1
        groups.append(None)
    return groups + [None] * padding


def positional(given: dict[str, Any], **defaults: Any) -> list[Any]:
    """The arguments with a default, in order, up to the last that is given."""
    last = max((index for index, name in enumerate(defaults) if name in given), default=-1)
    return [given.get(name, value) for name, value in list(defaults.items())[: last + 1]]
