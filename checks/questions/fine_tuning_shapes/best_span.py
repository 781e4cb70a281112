"""Rows whose peaks lie where a wrong search would go. Scores are multiples of a quarter, so that ties are ties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case

SIGNATURE = "best_span(start, end, context, max_length=30) -> (i, j)"
SECTION = "From scores to an answer"
REFUSED = "No position lies in the context, so there is no answer: whatever is returned would be one."


def inputs(rng: Random) -> list[Case]:
    limit, first = rng.randrange(3, 6), rng.randrange(4, 9)
    within = {2 + limit: 5, 1 + limit: 3, 5 + limit: 5.5}
    clear = _row(rng, "a clear answer", 7, (2, 6), {3: 5}, {4: -0.5})
    late, early = dict.fromkeys(range(26, 48), 6), dict.fromkeys(range(2, 24), 6)
    return [
        clear,
        _row(rng, "an answer of one token", 8, (2, 7), {4: 6}, {4: 6, 6: 4}),
        _row(rng, "from the first position to the last", 6, (0, 6), {0: 5}, {5: 5}),
        _row(rng, "all scores below 0", 9, (3, 8), {4: -0.5}, {6: -0.5}),
        _row(rng, "scores far below 0 in the context", 9, (3, 8), {4: 1}, {6: 1}, deep=1_001_000),
        _row(rng, "the best end before the best start", 10, (2, 9), {7: 6, 3: 3.5}, {4: 6.5, 8: 2}),
        _row(rng, "a high end without a start before it", 10, (2, 9), {5: 5}, {2: 6, 7: 4}),
        _row(rng, "a question that scores high", 10, (5, 9), {1: 9, 6: 4}, {7: 4}),
        _row(rng, "padding that scores high", 10, (3, 7), {4: 4}, {6: 4, 8: 9}),
        _row(rng, "a context with a gap that scores high", 11, (2, 10), {3: 4, 5: 6}, {8: 4, 5: 5}, gap=5),
        _row(rng, f"just within max_length={limit}", 14, (1, 13), {3: 5}, within, max_length=limit),
        _row(
            rng,
            f"just beyond max_length={limit}",
            14,
            (1, 13),
            {3: 5, 4: 2.5},
            {3 + limit: 5},
            max_length=limit,
        ),
        _row(rng, "equal scores", 16, (2, 15), {4: 5, 6: 5}, {8: 5, 11: 5}),
        _row(rng, "far apart, max_length left out", 48, (2, 47), {4: 6, 14: 4}, {38: 6, 43: 4}),
        _row(
            rng,
            "30 and 31 tokens, max_length left out",
            44,
            (2, 43),
            {first: 8},
            {first + 29: 8, first + 30: 8.5},
        ),
        _row(rng, "35 tokens, max_length=40", 44, (2, 43), {4: 6}, {38: 6}, max_length=40),
        _row(rng, "22 high starts behind 22 high ends", 50, (1, 49), late | {24: 5}, early | {25: 5}),
        _row(rng, "a random row of 40", 40, (rng.randrange(5, 12), 38), {}, {}, spread=24, max_length=8),
        _row(rng, "no context", 5, (0, 0), {}, {}, refused=REFUSED),
        clear.again(),
    ]


def _row(
    rng: Random,
    label: str,
    S: int,
    context: tuple[int, int],
    start: Mapping[int, float],
    end: Mapping[int, float],
    *,
    spread: int = 8,
    deep: float = 0.0,
    gap: int | None = None,
    **data: Any,
) -> Case:
    """A row of S positions whose context runs from context[0] up to context[1], without `gap`. `start` and `end`
    are peaks above a floor between −4 and −2; in the context everything is lower by `deep`."""
    scores = [[-4 + rng.randrange(spread + 1) / 4 for _ in range(S)] for _ in range(2)]
    inside = [context[0] <= position < context[1] and position != gap for position in range(S)]
    for row, peaks in zip(scores, (start, end), strict=True):
        for position, score in peaks.items():
            row[position] = float(score)
        row[:] = [score - deep * within for score, within in zip(row, inside, strict=True)]
    where = f"S={S}, context {context[0]} to {context[1] - 1}" if any(inside) else f"S={S}"
    data |= {"start": scores[0], "end": scores[1], "context": inside}
    return Case(f"{label}, {where}" + (f" without {gap}" if gap else ""), data)


def probe(answer: Callable[..., Any], case: Case) -> Any:
    import torch

    rows = (torch.tensor(case["start"]), torch.tensor(case["end"]), torch.tensor(case["context"]))
    limit = [case["max_length"]] if "max_length" in case.data else []
    return call(answer, *rows, *limit)
