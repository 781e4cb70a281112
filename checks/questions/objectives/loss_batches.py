"""Logits and labels of the two losses, and a probe that takes their gradients.

B batch · S sequence · V vocabulary
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from checks.probing import call
from checks.questions.objectives.calls import is_blank

IGNORED = -100


@dataclass(frozen=True)
class LossBatch:
    """A batch of both objectives; its logits are drawn from the seed when asked for."""

    V: int
    labels: tuple[tuple[int, ...], ...]  # (B,S)
    nsp_labels: tuple[int, ...]  # (B,)
    scale: float
    seed: int

    def draw_logits(self) -> tuple[np.ndarray, np.ndarray]:
        """Logits of the two heads in float64, (B,S,V) and (B,2)."""
        rng = np.random.default_rng(self.seed)
        B, S = len(self.labels), len(self.labels[0])
        return rng.standard_normal((B, S, self.V)) * self.scale, rng.standard_normal((B, 2)) * self.scale


def draw_batch(rng: Random, S: int, V: int, selected: list[int], scale: float = 2) -> LossBatch:
    """`selected[i]` positions of row i have a label. Three or more: the first and last position and the first and
    last id are among them; one alone is in the last position."""
    rows = []
    for count in selected:
        edges = [0, S - 1] if count >= 3 else [S - 1]
        places = [*edges, *rng.sample([place for place in range(S) if place not in edges], S - len(edges))]
        ids = ([0, V - 1] if count >= 3 else []) + [rng.randrange(1, V) for _ in range(S)]
        row = [IGNORED] * S
        for place, id in zip(places[:count], rng.sample(ids[:count], count), strict=True):
            row[place] = id
        rows.append(tuple(row))
    B = len(rows)
    nsp_labels = rng.sample([index % 2 for index in range(1, B + 1)], B)
    return LossBatch(V, tuple(rows), tuple(nsp_labels), scale, rng.randrange(2**31))


def with_gradients(answer: Callable[..., Any], logits: list[np.ndarray], labels: list[Any]) -> Any:
    """What came, and its gradient with respect to each of the logits; None where it depends on none of them."""
    import torch

    inputs = [torch.from_numpy(array).requires_grad_() for array in logits]
    with torch.enable_grad():
        value = call(answer, *inputs, *(torch.tensor(label) for label in labels))
        if is_blank(value):
            return value
        gradients: Any = [None] * len(inputs)
        if torch.is_tensor(value) and value.numel() == 1 and value.requires_grad:
            gradients = torch.autograd.grad(value.sum(), inputs, allow_unused=True)
    return {"value": value, "gradients": list(gradients)}
