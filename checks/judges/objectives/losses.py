"""`masked_mean_loss` and `pretraining_loss`: first the values, then the gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checks.judges.comparing import (
    IN_PLACE,
    Mistake,
    crashed,
    describe_type,
    explains,
    incorrect,
    not_attempted,
    show_value,
    unforeseen,
)
from checks.judges.objectives.loss_mistakes import LOSS_CRASHES, MEAN_MISTAKES, SUM_MISTAKES
from checks.judges.objectives.reference import Losses, as_number, same_loss
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict


def _value(outcome: Outcome) -> Any:
    return outcome.value["value"] if _has_gradients(outcome.value) else outcome.value


def _has_gradients(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"value", "gradients"}
        and isinstance(value["gradients"], list)
    )


def _judge_loss(
    question: Question,
    cases: list[Case],
    outcomes: Sequence[Outcome],
    expected: Callable[[Losses], float],
    gradients: Callable[[Losses], list[np.ndarray]],
    mistakes: Sequence[Mistake],
    gradient_finding: Callable[[Case, list[bool]], tuple[str, str]],
) -> Verdict:
    """First the values, then the gradients. The case without labels is looked at last: an answer that is wrong
    everywhere is explained by what it does elsewhere."""
    early = not_attempted(question, outcomes) or crashed(question, cases, outcomes, LOSS_CRASHES)
    if early:
        return early
    pairs = list(zip(cases, outcomes, strict=True))
    for case, outcome in pairs:
        if outcome.changed_input:
            return incorrect(question, Finding("changes_its_input", IN_PLACE, case.label))
        if as_number(_value(outcome)) is None:
            got = describe_type(_value(outcome))
            cause = "The answer must be one number, a tensor without axes."
            return incorrect(question, Finding("wrong_type", cause, case.label, got, "a scalar"))
    wrong = [
        (case, outcome) for case, outcome in pairs if not same_loss(_value(outcome), expected(Losses(case)))
    ]
    labelled = [(case, outcome) for case, outcome in wrong if Losses(case).K]
    if wrong:
        return incorrect(
            question, _value_finding(labelled or wrong, len(wrong), len(pairs), expected, mistakes)
        )
    for case, outcome in pairs:
        finding = _gradient_finding(case, outcome, gradients(Losses(case)), gradient_finding)
        if finding:
            return incorrect(question, finding)
    return Verdict(question.name, "correct", 1.0)


def _value_finding(
    wrong: list[tuple[Case, Outcome]],
    count: int,
    total: int,
    expected: Callable[[Losses], float],
    mistakes: Sequence[Mistake],
) -> Finding:
    case, outcome = wrong[0]
    details = (case.label, show_value(as_number(_value(outcome))), show_value(expected(Losses(case))))
    for mistake in mistakes:
        if all(explains(mistake, case, _value(outcome), same_loss) for case, outcome in wrong):
            return Finding(mistake.id, mistake.cause, *details)
    if all(not math.isfinite(as_number(_value(outcome)) or 0.0) for _, outcome in wrong):
        cause = "exp of a large logit overflows, log of 0 is infinite. `log_softmax` and `cross_entropy` avoid both."
        return Finding("softmax_overflows", cause, *details)
    return Finding("unexpected_value", unforeseen(count, total), *details)


def _gradient_finding(
    case: Case,
    outcome: Outcome,
    expected: list[np.ndarray],
    name: Callable[[Case, list[bool]], tuple[str, str]],
) -> Finding | None:
    """A missing gradient is one of zeros: that is right where nothing is selected, and nowhere else."""
    came = outcome.value["gradients"] if _has_gradients(outcome.value) else []
    arrays = [part.data if isinstance(part, Array) else None for part in came]
    arrays = [
        part if part is None or part.shape == want.shape else None
        for part, want in zip(arrays, expected, strict=False)
    ]
    if len(arrays) != len(expected):
        arrays = [None] * len(expected)
    if any(part is not None and not np.isfinite(part).all() for part in arrays):
        cause = (
            "The value is right, its gradient is not a number: a division by 0 is behind a `where`. "
            "Make the denominator at least 1 *before* dividing."
        )
        return Finding("nan_gradient", cause, case.label, "a gradient with nan", "a finite gradient")
    good = [
        np.allclose(0.0 if part is None else part, want, rtol=0, atol=1e-6)
        for part, want in zip(arrays, expected, strict=True)
    ]
    if all(good):
        return None
    id, cause = name(case, [part is not None and bool(part.any()) for part in arrays])
    return Finding(id, cause, case.label, "the right value, another gradient", "the gradient of the loss")


def masked_mean_loss(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return _judge_loss(
        question,
        cases,
        outcomes,
        expected=lambda x: x.mean,
        gradients=lambda x: [x.gradient()],
        mistakes=MEAN_MISTAKES,
        gradient_finding=_mean_gradient,
    )


def _mean_gradient(case: Case, reached: list[bool]) -> tuple[str, str]:
    if not any(reached):
        return (
            "no_gradient",
            "The value is right, but no gradient reaches the logits: no `detach`, `item()`, `no_grad` or NumPy.",
        )
    return (
        "wrong_gradient",
        "The value is right, the gradient is not the one of this mean: something is detached.",
    )


def pretraining_loss(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return _judge_loss(
        question,
        cases,
        outcomes,
        expected=lambda x: x.mean + x.nsp.mean,
        gradients=lambda x: [x.gradient(), x.nsp.gradient()],
        mistakes=SUM_MISTAKES,
        gradient_finding=_sum_gradient,
    )


def _sum_gradient(case: Case, reached: list[bool]) -> tuple[str, str]:
    mlm, nsp = reached
    if mlm and not nsp:
        return "nsp_detached", "The sentence loss is in the value but not in the gradient: it is detached."
    if nsp and not mlm:
        return "mlm_detached", "The token loss is in the value but not in the gradient: it is detached."
    if not mlm:
        return (
            "no_gradient",
            "The value is right, but no gradient reaches the logits: no `item()`, no `no_grad`.",
        )
    return "wrong_gradient", "The value is right, the gradient is not: something is detached or weighted."
