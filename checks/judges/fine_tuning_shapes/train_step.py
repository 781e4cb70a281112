"""`train_step`: parameters and losses against the same two steps done by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from checks.encoding import Array
from checks.judges.fine_tuning_shapes.step_mistakes import RAISED, WAYS
from checks.judges.fine_tuning_shapes.steps import Step, Way, run, slope
from checks.judges.showing import describe_type, show_pair
from checks.judges.values import RuleJudge, correct, incorrect, partly, unforeseen
from checks.protocol import Case, Finding, Outcome, Verdict

# PyTorch adds 1e-6 to the norm it divides by: 1e-7 of a step. The named mistakes differ by 1e-3.
TOLERANCE = 1e-6
KEYS = {"loss", "keeps_graph", "parameters", "gradients", "taken"}
Got = Sequence[dict[str, Any]]


# --- evidence comes from somebody else's process: nothing about its form is taken for granted ------------------


def _is_steps(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_step, value))


def _is_step(step: Any) -> bool:
    if not isinstance(step, dict) or step.keys() != KEYS or type(step["taken"]) is not int:
        return False
    return _is_vector(step["parameters"]) and (step["gradients"] is None or _is_vector(step["gradients"]))


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and all(isinstance(part, float) for part in value)


def _number(loss: Any) -> float | None:
    """The loss as a number, in a float or in a tensor."""
    if isinstance(loss, Array) and loss.data.size == 1:
        return float(loss.data.reshape(()))
    return loss if isinstance(loss, float) else None


# --- what a way of doing the step predicts --------------------------------------------------------------------


def _close(got: Any, expected: Any) -> bool:
    return bool(np.allclose(np.array(got, dtype=float), expected, rtol=TOLERANCE, atol=TOLERANCE))


def _moved_so(got: dict[str, Any], step: Step) -> bool:
    return _close(got["parameters"], step.parameters)


def _lost_so(got: dict[str, Any], step: Step) -> bool:
    loss = _number(got["loss"])
    return loss is not None and _close(loss, step.loss)


def _left_so(got: dict[str, Any], step: Step) -> bool:
    """`zero_grad(set_to_none=False)` leaves zeros where the usual one leaves nothing."""
    rest, expected = got["gradients"], step.gradients
    return _close(np.zeros(4) if rest is None else rest, np.zeros(4) if expected is None else expected)


Comparison = Callable[[dict[str, Any], Step], bool]


def _fits(way: Way, case: Case, value: Got, compare: Sequence[Comparison]) -> bool:
    return all(same(*pair) for pair in zip(value, run(case, way), strict=True) for same in compare)


def _rule(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
    """A step that is right and returns the loss as a tensor gets two thirds."""
    for case, outcome in zip(cases, outcomes, strict=True):
        if not _is_steps(outcome.value):
            got = describe_type(outcome.value)
            cause = "The answer must do the step and return its loss."
            return incorrect(Finding("wrong_type", cause, case.label, got, "a float"))
    values = [outcome.value for outcome in outcomes]
    return _wrong_step(cases, values) or _wrong_loss(cases, values)


def _wrong_step(cases: Sequence[Case], values: Sequence[Got]) -> Verdict | None:
    """What is wrong with the parameters, or with the losses where they are numbers."""
    numeric = all(_number(step["loss"]) is not None for value in values for step in value)
    compare = (_moved_so, _lost_so) if numeric else (_moved_so,)
    wrong = [i for i, pair in enumerate(zip(cases, values, strict=True)) if not _fits(Way(), *pair, compare)]
    if not wrong:
        return None
    name = _name(cases, values, wrong, compare)
    id, cause = name or ("unexpected_value", unforeseen(wrong, cases))
    return incorrect(Finding(id, cause, *_first_difference(cases[wrong[0]], values[wrong[0]])))


def _name(
    cases: Sequence[Case], values: Sequence[Got], wrong: Sequence[int], compare: Sequence[Comparison]
) -> tuple[str, str] | None:
    """The mistake that predicts every step, the right ones too."""

    def predicts(way: Way, *more: Comparison) -> bool:
        return all(_fits(way, *pair, (*compare, *more)) for pair in zip(cases, values, strict=True))

    taken = [step["taken"] for value in values for step in value]
    if not any(taken) and all(
        _fits(Way(steps="never"), *pair, (_moved_so,)) for pair in zip(cases, values, strict=True)
    ):
        return "no_step", "The parameters did not move: `optimizer.step()` was never called."
    if not any(taken):
        return (
            "moves_by_hand",
            "The parameters were moved by hand. Let `optimizer.step()` do it, in its own way.",
        )
    if taken == [2, 4] * len(cases):
        return (
            "steps_twice",
            "The optimizer took two steps in one call. One batch, one backward pass, one step.",
        )
    for id, cause, way, gradients in WAYS:
        if predicts(way, *((_left_so,) if gradients else ())):
            return id, cause
    if all(cases[i]["max_grad_norm"] is None for i in wrong) and _clipped_to_another_limit(
        cases, values, wrong
    ):
        return "other_default_limit", "With `max_grad_norm` left out the limit must be 1.0."
    return None


def _clipped_to_another_limit(cases: Sequence[Case], values: Sequence[Got], wrong: Sequence[int]) -> bool:
    """Whether the first step goes down the slope, by another length."""
    for case, value in ((cases[i], values[i]) for i in wrong):
        down = slope(case)
        moved = np.array([*case["weight"], case["bias"]]) - value[0]["parameters"]
        share = float(moved @ down / (down @ down))
        if not 0 < share <= case["learning_rate"] * (1 + TOLERANCE) or not _close(moved, share * down):
            return False
    return True


def _first_difference(case: Case, value: Got) -> tuple[str, str, str]:
    """(case, got, expected): the first number that differs."""
    for number, (got, step) in enumerate(zip(value, run(case, Way()), strict=True), 1):
        for place, (one, other) in enumerate(zip(got["parameters"], step.parameters.tolist(), strict=True)):
            if not _close(one, other):
                shown = show_pair(one, other)
                what = f"step {number}, {'the bias' if place == 3 else f'weight [{place}]'}"
                return case.label, f"{what}: {shown.got}", f"{what}: {shown.expected}"
        loss = _number(got["loss"])
        if loss is None or not _close(loss, step.loss):
            shown = show_pair(loss, step.loss)
            text = describe_type(got["loss"]) if loss is None else shown.got
            return case.label, f"loss of step {number}: {text}", shown.expected
    return case.label, "", ""


def _wrong_loss(cases: Sequence[Case], values: Sequence[Got]) -> Verdict:
    """The step is right. What is left is what it returned."""
    for case, value in zip(cases, values, strict=True):
        if type(value[0]["loss"]) is not float:
            return partly(2 / 3, replace(_no_float(value[0]), case=case.label))
    return correct()


def _no_float(step: dict[str, Any]) -> Finding:
    if step["keeps_graph"] is True:
        cause = (
            "The tensor keeps the graph of its step: collect some, and memory runs out. Return `loss.item()`."
        )
        id = "returns_tensor_with_graph"
    elif isinstance(step["loss"], Array):
        id, cause = "returns_tensor", "The loss is still a tensor. Return a Python float: `loss.item()`."
    elif step["loss"] is None:
        id, cause = "returns_nothing", "The step was done, and its loss was not returned."
    else:
        id, cause = "wrong_type", "Return the loss as a Python float."
    return Finding(id, cause, got=describe_type(step["loss"]), expected="a Python float")


JUDGE = RuleJudge(_rule, RAISED)
