"""Batches with few, many and no labels, and logits whose exponentials overflow."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case
from checks.questions.objectives.loss_batches import draw_batch, with_gradients

SIGNATURE = "masked_mean_loss(logits, labels) -> scalar"
SECTION = "Hide fifteen per cent"


def inputs(rng: Random) -> list[Case]:
    typical = [0, *(rng.randrange(3, 8) for _ in range(3))]
    batches = {
        "one row of 4, one label, V=5": draw_batch(rng, 4, 5, [1]),
        "two rows of 6, three labels and one, V=7": draw_batch(rng, 6, 7, [3, 1]),
        "every position has a label": draw_batch(rng, 4, 6, [4, 4]),
        "logits in the thousands": draw_batch(rng, 6, 9, [2, 3], scale=2_000),
        "four rows of 32, some labels, V=100": draw_batch(rng, 32, 100, typical),
        "no position has a label": draw_batch(rng, 5, 11, [0, 0, 0]),
    }
    return [Case(label, {"batch": batch}) for label, batch in batches.items()]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    logits, _ = case["batch"].draw_logits()
    return with_gradients(answer, [logits], [case["batch"].labels])
