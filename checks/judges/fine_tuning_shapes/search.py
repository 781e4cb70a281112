"""The best pair of positions under changed rules: what an answer to `best_span` may do instead. S positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Pair = tuple[int, int]
Scores = Sequence[float] | np.ndarray
EVERYWHERE = 10**6


def best_span(
    start: Scores,
    end: Scores,
    context: Sequence[bool],
    max_length: int = 30,
    *,
    longest: Callable[[int], int] = lambda max_length: max_length,
    shortest: Callable[[int], int] = lambda max_length: 1,
    starts: np.ndarray | None = None,
    ends: np.ndarray | None = None,
    score: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.add,
    floor: float = -np.inf,
    tie: Callable[[Pair], Any] = lambda pair: pair,
) -> Pair | None:
    """The best allowed pair; None where the rules leave none.

    longest, shortest: from `max_length` to how many tokens an answer may have; 0 or less reaches back before its
        start.
    starts, ends: (S,) where either may lie; the context unless given.
    floor: what a pair scores that is not allowed.
    tie: the pair with the smallest value is the first.
    """
    rows, columns = np.array(start)[:, None], np.array(end)[None, :]
    inside, S = np.array(context), len(context)
    tokens = np.arange(S)[None, :] - np.arange(S)[:, None] + 1
    allowed = (tokens >= shortest(max_length)) & (tokens <= longest(max_length))
    allowed &= (inside if starts is None else starts)[:, None] & (inside if ends is None else ends)[None, :]
    if floor == -np.inf and not allowed.any():
        return None
    scores = np.where(allowed, score(rows, columns), floor)
    best = [(int(i), int(j)) for i, j in np.argwhere(scores == scores.max())]
    return min(best, key=tie)


def searching(**rules: Any) -> Callable[..., Pair | None]:
    return lambda start, end, context, max_length=30: best_span(start, end, context, max_length, **rules)


def within(starts: Callable[..., Any], ends: Callable[..., Any] | None = None) -> Callable[..., Pair | None]:
    """The search with other places for the ends, as functions of the context."""

    def answer(start: Scores, end: Scores, context: Sequence[bool], max_length: int = 30) -> Pair | None:
        inside = np.array(context)
        places = starts(inside), (ends or starts)(inside)
        return best_span(start, end, context, max_length, starts=places[0], ends=places[1])

    return answer


def then(change: Callable[[int, int], Any]) -> Callable[..., Any]:
    """The answer that does something with the right pair."""

    def answer(start: Scores, end: Scores, context: Sequence[bool], max_length: int = 30) -> Any:
        pair = best_span(start, end, context, max_length)
        return pair and change(*pair)

    return answer


def everywhere(inside: np.ndarray) -> np.ndarray:
    return np.ones_like(inside)


def filled(inside: np.ndarray) -> np.ndarray:
    """From the first position of the context to its last, whatever lies between."""
    places = np.flatnonzero(inside)
    return (np.arange(len(inside)) >= places[0]) & (np.arange(len(inside)) <= places[-1])


def without_edges(inside: np.ndarray) -> np.ndarray:
    return inside & ~np.isin(np.arange(len(inside)), (0, len(inside) - 1))


def apart(start: Scores, end: Scores, context: Sequence[bool], places: Any = np.array) -> Pair:
    """The best start and the best end, each for itself."""
    inside = places(np.array(context))
    i, j = (int(np.where(inside, row, -np.inf).argmax()) for row in (start, end))
    return i, j


def apart_then_sorted(start: Scores, end: Scores, context: Sequence[bool]) -> Any:
    return tuple(sorted(apart(start, end, context)))


def one_first(first: str) -> Callable[..., Pair]:
    """The best start (or end) in the context, then the best partner for it."""

    def answer(start: Scores, end: Scores, context: Sequence[bool], max_length: int = 30) -> Pair:
        inside, positions = np.array(context), np.arange(len(context))
        anchor = int(np.where(inside, start if first == "start" else end, -np.inf).argmax())
        tokens = (positions - anchor if first == "start" else anchor - positions) + 1
        allowed = inside & (tokens >= 1) & (tokens <= max_length)
        other = int(np.where(allowed, end if first == "start" else start, -np.inf).argmax())
        return (anchor, other) if first == "start" else (other, anchor)

    return answer


def until_gap(start: Scores, end: Scores, context: Sequence[bool], max_length: int = 30) -> Pair:
    """A position outside the context ends the search for an end."""
    pairs = [
        (i, j)
        for i in range(len(context))
        for j in range(i, min(len(context), i + max_length))
        if all(context[i : j + 1])
    ]
    return max(pairs, key=lambda pair: start[pair[0]] + end[pair[1]])


def zero_outside(start: Scores, end: Scores, context: Sequence[bool], max_length: int = 30) -> Pair | None:
    """Scores outside the context are set to 0 instead of being left out."""
    rows = [np.array(row) * np.array(context) for row in (start, end)]
    return best_span(rows[0], rows[1], [True] * len(context), max_length)


def low_outside(floor: float) -> Callable[..., Pair | None]:
    """Scores outside the context are set to a low number, which other scores may go below."""

    def answer(start: Scores, end: Scores, context: Sequence[bool], max_length: int = 30) -> Pair | None:
        rows = [np.where(context, row, floor) for row in (start, end)]
        return best_span(rows[0], rows[1], [True] * len(context), max_length)

    return answer


def from_zero(start: Scores, end: Scores, context: Sequence[bool], max_length: int = 30) -> Pair | None:
    """A best score that begins at 0 is never beaten by answers below it."""
    pair = best_span(start, end, context, max_length)
    return pair if pair and start[pair[0]] + end[pair[1]] > 0 else (0, 0)
