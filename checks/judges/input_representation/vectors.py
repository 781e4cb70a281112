"""`embed`: three lookups and a norm in float64 NumPy, and ways to change one of the four.

B batch · S sequence · H hidden · P rows of the position table
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from checks.questions.input_representation.embed import tables

Batch = Mapping[str, Any]
Way = Callable[[Batch], np.ndarray]


def lookups(batch: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The vectors of words, positions and segments, (B,S,H) each."""
    table, ids = tables(batch), np.array(batch["input_ids"])
    position = np.broadcast_to(table["position"][: ids.shape[1]], (*ids.shape, batch["H"]))
    return table["word"][ids], position, table["segment"][np.array(batch["token_type_ids"])]


def normalised(
    batch: Batch,
    x: np.ndarray,
    *,
    axis: int = -1,
    eps: float | None = None,
    ddof: int = 0,
    outside: bool = False,
    plain: bool = False,
) -> np.ndarray:
    """LayerNorm of x. `outside` the root eps is added, `plain` leaves weight and bias out."""
    table, eps = tables(batch), batch["eps"] if eps is None else eps
    variance = x.var(axis, keepdims=True, ddof=min(ddof, x.shape[axis] - 1))
    below = np.sqrt(variance) + eps if outside else np.sqrt(variance + eps)
    standard = (x - x.mean(axis, keepdims=True)) / below
    return standard if plain else standard * table["weight"] + table["bias"]


def total(batch: Batch) -> np.ndarray:
    word, position, segment = lookups(batch)
    return word + position + segment


def norm(**how: Any) -> Way:
    """The right sum, normalised in another way."""
    return lambda batch: normalised(batch, total(batch), **how)


def summed(total: Callable[..., Any]) -> Way:
    """The norm of another sum; `total(word, position, segment)`."""
    return lambda batch: normalised(batch, total(*lookups(batch)))


def placed(places: Callable[[np.ndarray, np.ndarray, int], Any]) -> Way:
    """The embedding with other positions; `places(ids, types, P)` broadcasts to (B,S)."""

    def answer(batch: Batch) -> np.ndarray:
        word, _, segment = lookups(batch)
        rows = places(np.array(batch["input_ids"]), np.array(batch["token_type_ids"]), batch["P"])
        return normalised(batch, word + tables(batch)["position"][np.asarray(rows)] + segment)

    return answer


def restarting(ids: np.ndarray, types: np.ndarray, P: int) -> np.ndarray:
    first, count = (types == 0).sum(1, keepdims=True), np.arange(types.shape[1])
    return np.where(count < first, count, count - first)


def sinusoids(word: np.ndarray, position: np.ndarray, segment: np.ndarray) -> np.ndarray:
    S, H = word.shape[1:]
    angle = np.arange(S)[:, None] / 10_000 ** (np.arange(0, H, 2) / H)
    return word + np.stack([np.sin(angle), np.cos(angle)], -1).reshape(S, H) + segment
