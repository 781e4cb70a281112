"""The two losses in float64 NumPy, with their gradients.

B batch · S sequence · V vocabulary · K labelled positions
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from checks.questions.objectives.loss_batches import IGNORED, LossBatch


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(log_softmax(logits))


def pick(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """values (…,V) at labels (…); where the label is −100 the value at id 0."""
    return np.take_along_axis(values, np.maximum(labels, 0)[..., None], -1)[..., 0]


def over(top: float, bottom: float) -> float:
    return top / bottom if bottom else math.nan


@dataclass(frozen=True)
class Loss:
    """The cross-entropy of one head: logits (…,V) against labels (…) of which some may be −100."""

    logits: np.ndarray
    labels: np.ndarray

    @cached_property
    def chosen(self) -> np.ndarray:
        return self.labels != IGNORED

    @cached_property
    def each(self) -> np.ndarray:
        """One at every position, at −100 as if the label were 0."""
        return -pick(log_softmax(self.logits), self.labels)

    @cached_property
    def over_classes(self) -> np.ndarray:
        """At every position the mean over all classes of −log p, which label smoothing mixes in."""
        return -log_softmax(self.logits).mean(-1)

    @property
    def K(self) -> int:  # noqa: N802 - the letter of the shapes
        return int(self.chosen.sum())

    @property
    def total(self) -> float:
        return float(self.each[self.chosen].sum())

    @property
    def mean(self) -> float:
        return self.total / max(self.K, 1)

    def mean_of(self, each: np.ndarray) -> float:
        """The mean of something else where there is a label; nan where there is none."""
        return over(float(each[self.chosen].sum()), self.K)

    def gradient(self) -> np.ndarray:
        """(…,V): (softmax − one-hot)/K where there is a label, 0 elsewhere."""
        gradient = softmax(self.logits)
        ids = np.maximum(self.labels, 0)[..., None]
        np.put_along_axis(gradient, ids, pick(gradient, self.labels)[..., None] - 1, -1)
        return gradient * self.chosen[..., None] / max(self.K, 1)


# --- what people put in the place of the cross-entropy or the softmax -------------------------------------


def smoothed(loss: Loss, epsilon: float = 0.1) -> np.ndarray:
    """With `label_smoothing=0.1`."""
    return (1 - epsilon) * loss.each + epsilon * loss.over_classes


def naive_softmax(loss: Loss) -> np.ndarray:
    powers = np.exp(loss.logits)
    return powers / powers.sum(-1, keepdims=True)


def twice_softmax(loss: Loss) -> np.ndarray:
    return -pick(log_softmax(softmax(loss.logits)), loss.labels)


@lru_cache(maxsize=64)
def losses_of(batch: LossBatch) -> tuple[Loss, Loss]:
    """The token loss and the sentence loss of a batch."""
    mlm, nsp = batch.draw_logits()
    return Loss(mlm, np.asarray(batch.labels)), Loss(nsp, np.asarray(batch.nsp_labels))
