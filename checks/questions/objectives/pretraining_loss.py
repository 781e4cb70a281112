"""Batches of both objectives, with and without token labels."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case
from checks.questions.objectives.loss_batches import draw_batch, with_gradients

SIGNATURE = "pretraining_loss(mlm_logits, nsp_logits, mlm_labels, nsp_labels) -> scalar"
SECTION = "The sum"


def inputs(rng: Random) -> list[Case]:
    typical = [0, *(rng.randrange(3, 8) for _ in range(7))]
    batches = {
        "one row of 4, one label, V=5": draw_batch(rng, 4, 5, [1]),
        "two rows of 4, one label, V=5": draw_batch(rng, 4, 5, [1, 0]),
        "three rows of 6, four labels, V=9": draw_batch(rng, 6, 9, [3, 1, 0]),
        "logits in the thousands": draw_batch(rng, 6, 9, [2, 3], scale=2_000),
        "eight rows of 32, some labels, V=50": draw_batch(rng, 32, 50, typical),
        "no position has a label": draw_batch(rng, 5, 11, [0, 0]),
    }
    return [Case(label, {"batch": batch}) for label, batch in batches.items()]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    batch = case["batch"]
    return with_gradients(answer, list(batch.draw_logits()), [batch.labels, batch.nsp_labels])
