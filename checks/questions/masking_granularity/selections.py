"""What the two random questions share: their cases, and a probe that asks many times.

S pieces of a row · N draws
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from checks.probing import call
from checks.protocol import Case
from checks.questions.generators import CountingRandom
from checks.questions.masking_granularity.rows import make_groups, positional

AGAIN = 10  # draws that are repeated from the same seed


def selection(
    rng: Random,
    label: str,
    segments: list[list[int]],
    budget: int,
    draws: int,
    *,
    padding: int = 0,
    statistics: str = "",
    bare: bool = False,
    **options: Any,
) -> Case:
    """A row of segments, each a list of word sizes; `bare`: without a special token in front and behind.
    `statistics` says what its draws are good for."""
    notes = "".join(f", {name}={value}" for name, value in options.items())
    groups = make_groups(segments, padding)
    data = {"groups": groups[1:-1] if bare else groups, "budget": budget, "options": options}
    return Case(
        f"{label}, budget={budget}{notes}",
        {**data, "seed": rng.randrange(2**32), "draws": draws, "statistics": statistics},
    )


def edges(rng: Random) -> list[Case]:
    """Rows where there is nothing to choose: no word, no room, room for all."""
    return [
        selection(rng, "one word of one piece", [[1]], 1, 5),
        selection(rng, "two words of three pieces", [[3, 3]], 2, 5),
        selection(rng, "no word", [[], []], 2, 5),
        selection(rng, "three words, no room", [[1, 2], [1]], 0, 5),
        selection(rng, "three words, more than enough room", [[1, 3], [2]], 20, 5),
        selection(rng, "a word of one piece and one of five", [[1, 5]], 3, 5),
        selection(rng, "a word alone, no special token", [[2]], 2, 5, bare=True),
        selection(rng, "two words, no special token", [[2, 1]], 1, 5, bare=True),
    ]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    """Draws as an array (N,S); anything that is not a list of S bools as it came."""
    first = _draws(answer, case, case["draws"])
    if not isinstance(first, np.ndarray):
        return first
    return {"draws": first, "again": _draws(answer, case, min(AGAIN, case["draws"]))}


def _draws(answer: Callable[..., Any], case: Case, count: int) -> Any:
    rng = CountingRandom(case["seed"])
    groups = case["groups"]
    options = positional(case["options"], p=0.2, max_length=10)
    rows = []
    for number in range(count):
        rng.draws = 0
        arguments = (list(groups), case["budget"], rng, *options)
        value = call(answer, *arguments) if number < 3 else answer(*arguments)
        if value is None or value is ...:
            return value
        if not _is_selection(value, len(groups)):
            return {"not a selection": value}
        rows.append([bool(hidden) for hidden in value])
    return np.array(rows, dtype=np.uint8)


def _is_selection(value: Any, length: int) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == length and all(map(_is_bool, value))


def _is_bool(value: Any) -> bool:
    """A bool of Python's, NumPy's, or of a tensor without axes."""
    return isinstance(value, (bool, np.bool_)) or (
        str(getattr(value, "dtype", "")) in ("bool", "torch.bool") and value.ndim == 0
    )
