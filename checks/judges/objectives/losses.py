"""`masked_mean_loss` and `pretraining_loss`: values and gradients against a float64 reference in NumPy.

B batch · S sequence · V vocabulary · K labelled positions
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from checks.judges.comparing import (
    IN_PLACE,
    Mistake,
    RaisedMistake,
    crashed,
    describe_type,
    explains,
    incorrect,
    not_attempted,
    show_value,
    unforeseen,
)
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict
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


LOSS_CRASHES = (
    RaisedMistake(
        "minus_100_not_ignored",
        "−100 was used as a class. Leave those positions out before you look anything up.",
        lambda error, message: "out of bounds" in message and "-100" in message,
    ),
    RaisedMistake(
        "class_axis_not_second",
        "`cross_entropy` wants the classes on axis 1. Flatten to (B·S, V) and (B·S,), or transpose.",
        lambda error, message: "Expected target size" in message or "spatial dims" in message,
    ),
    RaisedMistake(
        "changes_logits_in_place",
        "Logits that need a gradient cannot be changed in place. Compute new ones.",
        lambda error, message: "leaf Variable" in message,
    ),
)


def _loss_mistake(id: str, cause: str, value: Callable[[Losses], float]) -> Mistake:
    def returns(case: Case) -> Any:
        with np.errstate(all="ignore"):
            return float(value(Losses(case)))

    return Mistake(id, cause, returns)


def _over(top: float, bottom: float) -> float:
    return top / bottom if bottom else math.nan


def _row_means(loss: Losses) -> list[float]:
    return [
        float(row[chosen].mean()) for row, chosen in zip(loss.each, loss.chosen, strict=True) if chosen.any()
    ]


def _shifted(loss: Losses) -> float:
    labels = loss.labels[:, 1:]
    each = -pick(log_softmax(loss.logits[:, :-1]), labels)[labels != IGNORED]
    return _over(float(each.sum()), each.size)


def _reshaped(loss: Losses) -> float:
    """`logits.view(B, V, S)` where a transposition was meant."""
    B, S, V = loss.logits.shape
    logits = loss.logits.reshape(B, V, S).transpose(0, 2, 1)
    return _over(float(-pick(log_softmax(logits), loss.labels)[loss.chosen].sum()), loss.K)


def _selected_mean(each: np.ndarray, loss: Losses) -> float:
    return _over(float(each[loss.chosen].sum()), loss.K)


def _with_epsilon(epsilon: float) -> Callable[[Losses], float]:
    return lambda x: x.total / (x.K + epsilon)


NONE_SELECTED = Mistake(
    "nan_when_nothing_selected",
    "Nothing is selected and 0/0 is nan; one such batch ruins every weight. Return 0 there.",
    lambda case: math.nan if not Losses(case).K else NotImplemented,
)
TWO_SOFTMAXES = "A softmax before the cross-entropy: that one takes logits and has a softmax inside."
ROW_MEANS = (
    "The mean of the rows' means gives a row with one label the weight of a row with ten. Take all together."
)
BROADCASTS = "A mask of shape (N, 1) times losses of shape (N,) is (N, N): each loss meets each weight, padding counts."
MEAN_MISTAKES = (
    NONE_SELECTED,
    _loss_mistake(
        "divides_by_all_positions",
        "The sum is divided by all positions. Divide by the number of labels that are not −100.",
        lambda x: x.total / x.each.size,
    ),
    _loss_mistake(
        "counts_ignored_positions",
        "Positions with label −100 are in the mean, as if their label were 0.",
        lambda x: x.each.mean(),
    ),
    _loss_mistake(
        "sums_or_broadcasts",
        "This is the sum over the labels, not their mean. A sum, or a mask of shape (N, 1) times losses of shape (N,): "
        "that broadcasts to (N, N), and the number of labels cancels.",
        lambda x: x.total,
    ),
    _loss_mistake(
        "mask_broadcasts",
        BROADCASTS,
        lambda x: x.each.sum(),
    ),
    _loss_mistake(
        "mask_broadcasts",
        BROADCASTS,
        lambda x: x.each.mean() * x.chosen.mean(),
    ),
    _loss_mistake(
        "ignored_in_denominator_and_sum",
        "All losses are summed and divided by the number of labels: padding is in the sum.",
        lambda x: _over(x.each.sum(), x.K),
    ),
    _loss_mistake(
        "mean_of_row_means",
        ROW_MEANS,
        lambda x: _over(sum(_row_means(x)), len(_row_means(x))),
    ),
    _loss_mistake(
        "mean_of_row_means",
        ROW_MEANS,
        lambda x: sum(_row_means(x)) / len(x.each),
    ),
    _loss_mistake(
        "divides_by_batch",
        "The sum is divided by the number of rows. Divide by the number of labels that are not −100.",
        lambda x: x.total / len(x.each),
    ),
    _loss_mistake(
        "label_zero_ignored",
        "Label 0 is left out. 0 is an id like any other; only −100 is left out.",
        lambda x: _over(float(x.each[x.labels > 0].sum()), int((x.labels > 0).sum())),
    ),
    _loss_mistake("shifts_labels", "The labels are shifted by one, as in next-token prediction.", _shifted),
    _loss_mistake(
        "reshape_for_transpose",
        "`view` to (B, V, S) does not transpose, it mixes positions. Use `transpose(1, 2)`, or flatten.",
        _reshaped,
    ),
    _loss_mistake(
        "softmax_before_cross_entropy",
        TWO_SOFTMAXES,
        lambda x: _selected_mean(-pick(log_softmax(softmax(x.logits)), x.labels), x),
    ),
    _loss_mistake(
        "no_softmax",
        "The logit itself was taken for a log-probability: there is no softmax.",
        lambda x: _selected_mean(-pick(x.logits, x.labels), x),
    ),
    _loss_mistake(
        "no_logarithm",
        "This is the mean of the probabilities, without the logarithm.",
        lambda x: _selected_mean(-pick(softmax(x.logits), x.labels), x),
    ),
    _loss_mistake(
        "no_logarithm",
        "This is the mean of 1 − probability, without the logarithm.",
        lambda x: _selected_mean(1 - pick(softmax(x.logits), x.labels), x),
    ),
    _loss_mistake("sign_flipped", "The sign is the wrong way round: a loss is −log p.", lambda x: -x.mean),
    _loss_mistake(
        "base_two", "The logarithm is the binary one. A loss is in nats.", lambda x: x.mean / math.log(2)
    ),
    *(
        _loss_mistake(
            "denominator_too_large",
            f"{epsilon:g} was added to the number of labels, which biases the mean. Use at least 1 instead.",
            _with_epsilon(epsilon),
        )
        for epsilon in (1e-5, 1e-4, 1e-3, 1.0)
    ),
)


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


SUM_MISTAKES = (
    NONE_SELECTED,
    _loss_mistake(
        "mean_of_the_two", "The sum has no coefficient: do not halve it.", lambda x: (x.mean + x.nsp.mean) / 2
    ),
    _loss_mistake(
        "coefficient_on_nsp",
        "The sentence loss is halved. The sum has no coefficient.",
        lambda x: x.mean + x.nsp.mean / 2,
    ),
    _loss_mistake(
        "coefficient_on_mlm",
        "The token loss is halved. The sum has no coefficient.",
        lambda x: x.mean / 2 + x.nsp.mean,
    ),
    _loss_mistake("nsp_missing", "Only the token loss is there. Add the sentence loss.", lambda x: x.mean),
    _loss_mistake(
        "mlm_missing", "Only the sentence loss is there. Add the token loss.", lambda x: x.nsp.mean
    ),
    _loss_mistake(
        "one_mean_over_both",
        "All predictions share one mean. Each objective has its own mean, and the two are added.",
        lambda x: (x.total + x.nsp.total) / (x.K + x.nsp.K),
    ),
    _loss_mistake(
        "mlm_summed", "The token losses are summed. Take their mean.", lambda x: x.total + x.nsp.mean
    ),
    _loss_mistake(
        "nsp_summed", "The sentence losses are summed. Take their mean.", lambda x: x.mean + x.nsp.total
    ),
    _loss_mistake(
        "both_summed", "Both losses are sums. Take the mean of each.", lambda x: x.total + x.nsp.total
    ),
    _loss_mistake(
        "mlm_over_all_positions",
        "The token losses are divided by all positions. Divide by the number of labels that are not −100.",
        lambda x: x.total / x.each.size + x.nsp.mean,
    ),
    _loss_mistake(
        "mlm_counts_ignored_positions",
        "Positions with label −100 are in the token loss, as if their label were 0.",
        lambda x: x.each.mean() + x.nsp.mean,
    ),
    _loss_mistake("product_of_the_two", "The two are multiplied. Add them.", lambda x: x.mean * x.nsp.mean),
    _loss_mistake(
        "nsp_labels_swapped",
        "The sentence labels are turned round. 0 is IsNext, and class 0 comes first in the logits.",
        lambda x: x.mean - float(pick(log_softmax(x.nsp.logits), 1 - x.nsp.labels).mean()),
    ),
    _loss_mistake(
        "softmax_before_cross_entropy",
        TWO_SOFTMAXES,
        lambda x: (
            _selected_mean(-pick(log_softmax(softmax(x.logits)), x.labels), x)
            - float(pick(log_softmax(softmax(x.nsp.logits)), x.nsp.labels).mean())
        ),
    ),
    _loss_mistake(
        "softmax_before_nsp",
        TWO_SOFTMAXES,
        lambda x: x.mean - float(pick(log_softmax(softmax(x.nsp.logits)), x.nsp.labels).mean()),
    ),
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
