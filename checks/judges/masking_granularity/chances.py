"""The chance of every set of words, in closed form, and whether draws may have come from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from checks.judges.masking_granularity.draws import Draws
from checks.judges.statistics import is_plausible, percent
from checks.protocol import Finding

Weights = Callable[[Sequence[int], Sequence[int]], Sequence[float]]
Chances = Mapping[tuple[int, ...], float]


def uniform(words: Sequence[int], sizes: Sequence[int]) -> Sequence[float]:
    return [1.0] * len(words)


def by_pieces(words: Sequence[int], sizes: Sequence[int]) -> Sequence[float]:
    return [float(sizes[word]) for word in words]


def longest(words: Sequence[int], sizes: Sequence[int]) -> Sequence[float]:
    most = max(sizes[word] for word in words)
    return [float(sizes[word] == most) for word in words]


def shortest(words: Sequence[int], sizes: Sequence[int]) -> Sequence[float]:
    least = min(sizes[word] for word in words)
    return [float(sizes[word] == least) for word in words]


def final_sets(sizes: Sequence[int], budget: int, weights: Weights = uniform) -> Chances:
    """The probability of each final set when words are taken one by one until none that is left fits.

    A word that does not fit now never will, so that shuffling the words and passing over what does not fit is the
    same as drawing each next word among those that fit.
    """
    open_sets: dict[tuple[int, ...], float] = {(): 1.0}
    final: dict[tuple[int, ...], float] = {}
    while open_sets:
        following: dict[tuple[int, ...], float] = {}
        for chosen, chance in open_sets.items():
            left = budget - sum(sizes[word] for word in chosen)
            words = [word for word in range(len(sizes)) if word not in chosen and sizes[word] <= left]
            if not words:
                final[chosen] = chance
                continue
            weight = weights(words, sizes)
            for word, share in zip(words, weight, strict=True):
                if share:
                    larger = tuple(sorted((*chosen, word)))
                    following[larger] = following.get(larger, 0.0) + chance * share / sum(weight)
        open_sets = following
    return final


def neighbours(words: Sequence[int]) -> bool:
    return any(word + 1 in words for word in words)


def shares(chances: Mapping[tuple[int, ...], float]) -> dict[Any, float]:
    """The share of every event a selection is held to: this very set, this word hidden, so many
    words hidden, two neighbours hidden."""
    result: dict[Any, float] = {}
    for words, share in chances.items():
        more = ["neighbours"] if neighbours(words) else []
        for event in (words, *words, f"{len(words)} words", *more):
            result[event] = result.get(event, 0.0) + share
    return result


def follow(draws: Draws, chances: Chances) -> bool:
    """Whether the draws may have come from these chances: every event as often as chance allows (`statistics`).

    At most 31 events a case, so that a right answer is refused with probability 31 · 1e-8 at most.
    """
    counts, expected = shares(draws.sets), shares(chances)
    return all(
        is_plausible(round(counts.get(event, 0)), len(draws.hidden), min(1.0, expected.get(event, 0.0)))
        for event in {*counts, *expected}
    )


def unlikely_word(draws: Draws, chances: Chances, cause: str) -> Finding:
    """The generic finding: the word whose share is furthest from the expected one."""
    W, N = len(draws.sizes), len(draws.hidden)
    expected = np.zeros(W)
    for words, chance in chances.items():
        expected[list(words)] += chance
    got = (draws.pieces > 0).mean(0)
    word = int(np.abs(got - expected).argmax())
    return Finding(
        "words_not_equally_likely",
        cause,
        draws.case.label,
        f"word {word} ({draws.sizes[word]} pieces) hidden in {percent(round(got[word] * N), N)} of {N} draws",
        f"about {100 * expected[word]:.1f} %",
    )
