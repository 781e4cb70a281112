"""`train_step`: two steps of a linear regression, computed by hand in float64.

A misconception is the same two steps with one line missing, moved or changed.

N rows of a batch, F features. Parameters and gradients are vectors of F+1 numbers, the bias last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from checks.judges.comparing import (
    IN_PLACE,
    RaisedMistake,
    crashed,
    describe_type,
    incorrect,
    not_attempted,
    unforeseen,
)
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict

DEFAULT_LIMIT = 1.0
TOLERANCE = (
    1e-6  # PyTorch adds 1e-6 to the norm it divides by: 1e-7 of a step. The named mistakes differ by 1e-3
)


@dataclass(frozen=True)
class Way:
    """How a step is done. The right one is the default.

    clear   "before" the backward pass, "after" the step, "between" backward and step, "never".
    clip    gradients -> gradients; `clip_at` "before" or "after" the step.
    steps   "after" the backward pass, "before" it, "never".
    """

    training: bool = True
    clear: str = "before"
    clip: str = "norm"
    clip_at: str = "before"
    steps: str = "after"
    default_limit: float = DEFAULT_LIMIT
    loss: str = "before"  # the parameters it is computed with


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
    norm = float(np.linalg.norm(gradients))
    if how == "norm":
        return gradients * min(1.0, limit / norm) if norm else gradients
    if how == "value":
        return np.clip(gradients, -limit, limit)
    if how == "each":
        weight, bias = gradients[:-1], gradients[-1:]
        return np.concatenate([_clipped(weight, limit, "norm"), _clipped(bias, limit, "norm")])
    if how == "always":
        return gradients * limit / norm if norm else gradients
    if how == "to_one":
        return _clipped(gradients, DEFAULT_LIMIT, "norm")
    return gradients


def run(case: Case, way: Way) -> list[Step]:
    """The two steps of a case, done in that way."""
    parameters = np.array([*case["weight"], case["bias"]])
    gradients = None if case["left_behind"] is None else np.array(case["left_behind"])
    limit = way.default_limit if case["max_grad_norm"] is None else case["max_grad_norm"]
    rate, done = case["learning_rate"], []

    for batch in case["batches"]:
        seen = np.array(batch["x"]) * (np.array(batch["keep"]) if way.training else 1.0)
        x, y = np.column_stack([seen, np.ones(len(seen))]), np.array(batch["y"])
        if way.clear == "before":
            gradients = None
        if way.steps == "before" and gradients is not None:
            parameters = parameters - rate * gradients
        if way.steps == "before" and way.clear == "between":
            gradients = None
        loss, fresh = _loss(parameters, x, y)
        gradients = fresh if gradients is None else gradients + fresh
        if way.clip_at == "before":
            gradients = _clipped(gradients, limit, way.clip)
        if way.clear == "between" and way.steps == "after":
            gradients = None
        if way.steps == "after" and gradients is not None:
            parameters = parameters - rate * gradients
        if way.clip_at == "after" and gradients is not None:
            gradients = _clipped(gradients, limit, way.clip)
        if way.clear == "after":
            gradients = None
        if way.loss == "after":
            loss = _loss(parameters, x, y)[0]
        done.append(Step(loss, parameters, gradients))
    return done


# id, cause, how the step is done, whether the gradients that remain must fit too (else several ways look alike)
WAYS: tuple[tuple[str, str, Way, bool], ...] = (
    (
        "not_in_training_mode",
        "The loss is that of evaluation mode: dropout was off. Call `model.train()` first.",
        Way(training=False),
        False,
    ),
    (
        "gradients_accumulate",
        "Nothing clears the gradients: those of earlier batches are added. Call `zero_grad()` before backward.",
        Way(clear="never"),
        False,
    ),
    (
        "clears_after_the_step",
        "Gradients that were there before the call were added. Clear before backward, not after the step.",
        Way(clear="after"),
        False,
    ),
    (
        "clips_after_the_step",
        "The gradients were clipped after the step had used them. Clip between backward and step.",
        Way(clip_at="after"),
        True,
    ),
    (
        "no_clipping",
        "The gradients were not clipped, or too early. Clip their global norm between backward and step.",
        Way(clip="none"),
        False,
    ),
    (
        "clips_by_value",
        "Each number was clipped by itself, which turns the gradient. Clip the norm: all numbers by the same factor.",
        Way(clip="value"),
        False,
    ),
    (
        "clips_each_parameter",
        "Each parameter was clipped by its own norm. The norm is that of all gradients together.",
        Way(clip="each"),
        False,
    ),
    (
        "scales_small_gradients_up",
        "Gradients below the limit were scaled up to it. Clipping only makes long ones shorter.",
        Way(clip="always"),
        False,
    ),
    (
        "limit_hard_coded",
        "A limit of 1.0 is written into the step. Clip to the argument `max_grad_norm`.",
        Way(clip="to_one"),
        False,
    ),
    (
        "zero_grad_before_the_step",
        "The step had no gradients to use: `zero_grad()` stands between backward and step, or backward is missing.",
        Way(clear="between"),
        True,
    ),
    (
        "steps_with_old_gradients",
        "The step came before backward and used the gradients of the batch before. Backward, clip, then step.",
        Way(steps="before", clear="never", clip="none"),
        False,
    ),
    (
        "steps_with_old_gradients",
        "The step came before backward and used the gradients of the batch before. Backward, clip, then step.",
        Way(steps="before", clear="between"),
        False,
    ),
    (
        "steps_before_backward",
        "The step came before backward, when there were no gradients yet. Backward, clip, then step.",
        Way(steps="never"),
        False,
    ),
    (
        "loss_after_the_step",
        "This is the loss after the step. Return the one the gradients came from.",
        Way(loss="after"),
        False,
    ),
)
OTHER_DEFAULT = ("other_default_limit", "With `max_grad_norm` left out the limit must be 1.0.")
NO_STEP = ("no_step", "The parameters did not move: `optimizer.step()` was never called.")

CRASHES = (
    RaisedMistake(
        "batch_not_unpacked",
        "The batch is a dict of arguments: `model(**batch)`.",
        lambda error, message: error == "TypeError" and "positional argument" in message and "'y'" in message,
    ),
    RaisedMistake(
        "output_taken_for_loss",
        "The model returns an output with several parts. The loss is its attribute: `model(**batch).loss`.",
        lambda error, message: error == "AttributeError" and "SimpleNamespace" in message,
    ),
    RaisedMistake(
        "loss_has_no_graph",
        "The loss was cut off from the graph before backward. Call `backward()` on the tensor, `item()` at the end.",
        lambda error, message: (
            "does not require grad" in message or (error == "AttributeError" and "'backward'" in message)
        ),
    ),
    RaisedMistake(
        "other_default_limit",
        "`max_grad_norm` needs a default: with it left out it must be 1.0.",
        lambda error, message: error == "TypeError" and "missing" in message and "max_grad_norm" in message,
    ),
)


# --- comparing --------------------------------------------------------------------------------------------


def _is_steps(value: Any) -> bool:
    """Evidence comes from somebody else's process: nothing about its form is taken for granted."""
    return isinstance(value, list) and len(value) == 2 and all(_is_step(step) for step in value)


def _is_step(step: Any) -> bool:
    if not isinstance(step, dict) or step.keys() != {
        "loss",
        "keeps_graph",
        "parameters",
        "gradients",
        "taken",
    }:
        return False
    gradients = step["gradients"]
    return _is_vector(step["parameters"]) and (gradients is None or _is_vector(gradients))


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and all(isinstance(part, float) for part in value)


def _number(loss: Any) -> float | None:
    """The loss as a number, in a float or in a tensor."""
    if isinstance(loss, Array) and loss.data.size == 1:
        return float(loss.data.reshape(()))
    return loss if isinstance(loss, float) else None


def _close(got: Any, expected: Any) -> bool:
    return bool(np.allclose(np.array(got, dtype=float), expected, rtol=TOLERANCE, atol=TOLERANCE))


def _moved_so(steps: Sequence[dict[str, Any]], wanted: Sequence[Step]) -> bool:
    return all(_close(got["parameters"], step.parameters) for got, step in zip(steps, wanted, strict=True))


def _lost_so(steps: Sequence[dict[str, Any]], wanted: Sequence[Step]) -> bool:
    return all(
        loss is not None and _close(loss, step.loss)
        for loss, step in ((_number(got["loss"]), step) for got, step in zip(steps, wanted, strict=True))
    )


def _left_so(steps: Sequence[dict[str, Any]], wanted: Sequence[Step]) -> bool:
    for got, step in zip(steps, wanted, strict=True):
        if got["gradients"] is None or step.gradients is None:
            # `zero_grad(set_to_none=False)` leaves zeros where the usual one leaves nothing.
            rest = got["gradients"] if step.gradients is None else step.gradients
            if rest is not None and np.any(rest):
                return False
        elif not _close(got["gradients"], step.gradients):
            return False
    return True


Comparison = Callable[[Sequence[dict[str, Any]], Sequence[Step]], bool]


def _explains(way: Way, cases: Sequence[Case], values: Sequence[Any], *compare: Comparison) -> bool:
    return all(
        same(value, run(case, way)) for case, value in zip(cases, values, strict=True) for same in compare
    )


def _details(case: Case, value: Any) -> tuple[str, str, str]:
    """(case, got, expected), the first number that differs."""
    for number, (got, step) in enumerate(zip(value, run(case, Way()), strict=True), 1):
        if not _close(got["parameters"], step.parameters):
            return (
                case.label,
                f"after step {number}: {_row(got['parameters'])}",
                _row(step.parameters.tolist()),
            )
        loss = _number(got["loss"])
        if loss is None or not _close(loss, step.loss):
            shown = describe_type(got["loss"]) if loss is None else f"{loss:.6g}"
            return case.label, f"loss of step {number}: {shown}", f"{step.loss:.6g}"
    return case.label, "", ""


def _row(parameters: Sequence[float]) -> str:
    return "parameters " + ", ".join(f"{number:.4f}" for number in parameters)


def train_step(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    """Parameters and losses against the step done by hand. A step that is right and returns the loss as a tensor
    gets two thirds."""
    early = not_attempted(question, outcomes) or crashed(question, cases, outcomes, CRASHES)
    if early:
        return early
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.changed_input:
            return incorrect(question, Finding("changes_its_input", IN_PLACE, case.label))
        if not _is_steps(outcome.value):
            got = describe_type(outcome.value)
            cause = "The answer must do the step and return its loss."
            return incorrect(question, Finding("wrong_type", cause, case.label, got, "a float"))
    values = [outcome.value for outcome in outcomes]
    return _wrong_step(question, cases, values) or _wrong_loss(question, cases, values)


def _wrong_step(question: Question, cases: Sequence[Case], values: Sequence[Any]) -> Verdict | None:
    """What is wrong with the parameters, or with the losses where they are numbers."""
    numeric = all(_number(step["loss"]) is not None for value in values for step in value)
    compare: tuple[Comparison, ...] = (_moved_so, _lost_so) if numeric else (_moved_so,)
    wrong = [
        index
        for index, (case, value) in enumerate(zip(cases, values, strict=True))
        if not _explains(Way(), [case], [value], *compare)
    ]
    if not wrong:
        return None
    details = _details(cases[wrong[0]], values[wrong[0]])
    failed = [cases[index] for index in wrong], [values[index] for index in wrong]
    if not any(step["taken"] for value in values for step in value) and _explains(
        Way(steps="never"), *failed, _moved_so
    ):
        return incorrect(question, Finding(*NO_STEP, *details))
    if all(case["max_grad_norm"] is None for case in failed[0]):
        return incorrect(question, Finding(*OTHER_DEFAULT, *details))
    for id, cause, way, gradients in WAYS:
        if _explains(way, *failed, *compare, *((_left_so,) if gradients else ())):
            return incorrect(question, Finding(id, cause, *details))
    return incorrect(question, Finding("unexpected_value", unforeseen(len(wrong), len(cases)), *details))


def _wrong_loss(question: Question, cases: Sequence[Case], values: Sequence[Any]) -> Verdict:
    """The step is right. What is left is what it returned."""
    for case, value in zip(cases, values, strict=True):
        loss = value[0]["loss"]
        if type(loss) is float:
            continue
        if value[0]["keeps_graph"] is True:
            id, cause = (
                "returns_tensor_with_graph",
                "The tensor keeps the graph of its step: collect some, and memory runs out. Return `loss.item()`.",
            )
        elif isinstance(loss, Array):
            id, cause = "returns_tensor", "The loss is still a tensor. Return a Python float: `loss.item()`."
        elif loss is None:
            id, cause = "returns_nothing", "The step was done, and its loss was not returned."
        else:
            id, cause = "wrong_type", "Return the loss as a Python float."
        finding = Finding(id, cause, case.label, describe_type(loss), "a Python float")
        return replace(incorrect(question, finding), state="partial", score=2 / 3)
    return Verdict(question.name, "correct", 1.0, lesson=question.lesson)
