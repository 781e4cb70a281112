"""Two steps of a linear regression, done by hand in float64: the right way, and with a line missing, moved or changed.

N rows of a batch, F features. Parameters and gradients are vectors of F+1 numbers, the bias last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from checks.protocol import Case
from checks.questions.fine_tuning_shapes.train_step import MOMENTUM

DEFAULT_LIMIT = 1.0


@dataclass(frozen=True)
class Way:
    """How a step is done. The right one is the default.

    clear   "before" the backward pass, "after" the step, "between" backward and step, "first" of the calls only,
            "never".
    clip    what is clipped, and how; `clip_at` "before" or "after" the step.
    steps   "after" the backward pass, "before" it, "never".
    loss    "before" or "after": the parameters it is computed with.
    """

    training: bool = True
    clear: str = "before"
    clip: str = "norm"
    clip_at: str = "before"
    steps: str = "after"
    loss: str = "before"


@dataclass(frozen=True)
class Step:
    loss: float
    parameters: np.ndarray
    gradients: np.ndarray | None


def _loss(parameters: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Mean squared error of x (N,F+1) against y (N,), and its gradient."""
    error = x @ parameters - y
    return float((error**2).mean()), 2 * x.T @ error / len(y)


def _clipped(gradients: np.ndarray, limit: float, how: str) -> np.ndarray:
    norms = {"norm": 2, "always": 2, "sum": 1, "maximum": np.inf}
    if how in norms:
        norm = float(np.linalg.norm(gradients, norms[how]))
        scale = limit / norm if norm else 1.0
        return gradients * (scale if how == "always" else min(1.0, scale))
    if how == "value":
        return np.clip(gradients, -limit, limit)
    if how == "each":
        weight, bias = gradients[:-1], gradients[-1:]
        return np.concatenate([_clipped(weight, limit, "norm"), _clipped(bias, limit, "norm")])
    if how == "to_one":
        return _clipped(gradients, DEFAULT_LIMIT, "norm")
    return gradients


def run(case: Case, way: Way) -> list[Step]:
    """The two steps of a case, done in that way."""
    parameters = np.array([*case["weight"], case["bias"]])
    gradients = None if case["left_behind"] is None else np.array(case["left_behind"])
    limit = DEFAULT_LIMIT if case["max_grad_norm"] is None else case["max_grad_norm"]
    done: list[Step] = []
    velocity = np.zeros_like(parameters)

    def move() -> None:
        nonlocal parameters, velocity
        if gradients is None:
            return
        velocity = MOMENTUM * velocity + gradients
        parameters = parameters - case["learning_rate"] * velocity

    for number, batch in enumerate(case["batches"]):
        seen = np.array(batch["x"]) * (np.array(batch["keep"]) if way.training else 1.0)
        x, y = np.column_stack([seen, np.ones(len(seen))]), np.array(batch["y"])
        if way.clear == "before" or (way.clear == "first" and number == 0):
            gradients = None
        if way.steps == "before":
            move()
        if way.steps == "before" and way.clear == "between":
            gradients = None
        loss, fresh = _loss(parameters, x, y)
        if way.clip == "loss" and loss > limit:  # a loss cut off at the limit has no slope
            fresh = 0 * fresh
        gradients = fresh if gradients is None else gradients + fresh
        if way.clip_at == "before":
            gradients = _clipped(gradients, limit, way.clip)
        if way.clear == "between" and way.steps == "after":
            gradients = None
        if way.steps == "after":
            move()
        if way.clip_at == "after" and gradients is not None:
            gradients = _clipped(gradients, limit, way.clip)
        if way.clear == "after":
            gradients = None
        if way.loss == "after":
            loss = _loss(parameters, x, y)[0]
        done.append(Step(loss, parameters, gradients))
    return done


def slope(case: Case) -> np.ndarray:
    """The gradient of the first batch, not clipped, where nothing was left behind."""
    batch = case["batches"][0]
    seen = np.array(batch["x"]) * np.array(batch["keep"])
    x = np.column_stack([seen, np.ones(len(seen))])
    return _loss(np.array([*case["weight"], case["bias"]]), x, np.array(batch["y"]))[1]
