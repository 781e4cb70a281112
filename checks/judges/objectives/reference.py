"""The two losses in float64 NumPy, with their gradients.

B batch · S sequence · V vocabulary · K labelled positions
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from checks.protocol import Array, Case
from checks.questions.objectives import IGNORED, draw_logits


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(log_softmax(logits))


def pick(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """values (…,V) at labels (…); where the label is −100 the value at id 0."""
    return np.take_along_axis(values, np.maximum(labels, 0)[..., None], -1)[..., 0]


@dataclass(frozen=True)
class Losses:
    """A case with its cross-entropies in float64."""

    case: Case

    @cached_property
    def logits(self) -> np.ndarray:
        return draw_logits(self.case)[0]  # (B,S,V)

    @cached_property
    def labels(self) -> np.ndarray:
        return np.asarray(self.case["labels"])  # (B,S)

    @cached_property
    def chosen(self) -> np.ndarray:
        return self.labels != IGNORED  # (B,S)

    @cached_property
    def each(self) -> np.ndarray:
        """(B,S), at −100 as if the label were 0."""
        return -pick(log_softmax(self.logits), self.labels)

    @property
    def K(self) -> int:  # noqa: N802 - the letter of the shapes
        return int(self.chosen.sum())

    @property
    def total(self) -> float:
        return float(self.each[self.chosen].sum())

    @property
    def mean(self) -> float:
        return self.total / self.K if self.K else 0.0

    def gradient(self) -> np.ndarray:
        """(B,S,V): (softmax − one-hot)/K where there is a label, 0 elsewhere."""
        gradient = softmax(self.logits)
        np.put_along_axis(
            gradient, np.maximum(self.labels, 0)[..., None], pick(gradient, self.labels)[..., None] - 1, -1
        )
        return gradient * self.chosen[..., None] / max(self.K, 1)

    @cached_property
    def nsp(self) -> Losses:
        """The sentence head as the same thing: one labelled position a row, two classes."""
        return _Nsp(self.case)


@dataclass(frozen=True)
class _Nsp(Losses):
    @cached_property
    def logits(self) -> np.ndarray:
        return draw_logits(self.case)[1]  # (B,2)

    @cached_property
    def labels(self) -> np.ndarray:
        return np.asarray(self.case["nsp_labels"])  # (B,)


def same_loss(got: Any, expected: float) -> bool:
    """Relative 2e-6: float32 passes, Google's 1e-5 in the denominator with one label does not."""
    got = as_number(got)
    if got is None:
        return False
    return (math.isnan(got) and math.isnan(expected)) or bool(
        abs(got - expected) <= max(2e-6 * abs(expected), 1e-9)
    )


def as_number(value: Any) -> float | None:
    """A scalar as a float: a Python number, or an array without axes. Anything else: None."""
    if isinstance(value, Array) and value.data.shape == () and value.data.dtype.kind == "f":
        return float(value.data)
    if isinstance(value, float) or (type(value) is int and abs(value) < 2**53):
        return float(value)
    return None
