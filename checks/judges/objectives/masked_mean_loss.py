"""What people compute instead of the mean cross-entropy over the labels that are not −100."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from checks.judges.objectives.losses import RAISED, LossJudge, of_losses
from checks.judges.objectives.reference import (
    Loss,
    log_softmax,
    naive_softmax,
    over,
    pick,
    smoothed,
    softmax,
    twice_softmax,
)
from checks.judges.values import Mistake
from checks.questions.objectives.loss_batches import IGNORED

EPSILONS = [10.0**-digits for digits in range(3, 16)]  # that people add, or set as a floor
NONE_SELECTED = (
    "Nothing is selected and 0/0 is nan; one such batch ruins every weight. Return 0 there: make the number of labels "
    "at least 1 before you divide."
)
TWO_SOFTMAXES = "A softmax before the cross-entropy: that one takes logits and has a softmax inside."
OVERFLOWS = (
    "exp of a large logit overflows, log of 0 is infinite. `log_softmax` and `cross_entropy` avoid both."
)
EPSILON = (
    "A small number was added under the logarithm, which bounds the loss. Take `log_softmax` of the logits."
)
SMOOTHED = "The labels are smoothed. Leave out `label_smoothing`: all the weight belongs to the right id."


def _of(value: Callable[[Loss], float]) -> Callable[..., float]:
    return of_losses(lambda mlm, nsp: value(mlm))


def _mean(each: Callable[[Loss], np.ndarray]) -> Callable[..., float]:
    """The mean over the labels of something else than the cross-entropy."""
    return _of(lambda loss: loss.mean_of(each(loss)))


def _log_of(probability: Callable[[Loss], np.ndarray]) -> Callable[..., float]:
    return _mean(lambda loss: -np.log(probability(loss)))


def _row_means(loss: Loss) -> list[float]:
    rows = zip(loss.each, loss.chosen, strict=True)
    return [float(row[chosen].mean()) for row, chosen in rows if chosen.any()]


def _shifted(loss: Loss) -> float:
    labels = loss.labels[:, 1:]
    each = -pick(log_softmax(loss.logits[:, :-1]), labels)[labels != IGNORED]
    return over(float(each.sum()), each.size)


def _reshaped(loss: Loss) -> np.ndarray:
    """`logits.view(B, V, S)` where a transposition was meant."""
    B, S, V = loss.logits.shape
    return -pick(log_softmax(loss.logits.reshape(B, V, S).transpose(0, 2, 1)), loss.labels)


def _without_zero(loss: Loss) -> float:
    return over(float(loss.each[loss.labels > 0].sum()), int((loss.labels > 0).sum()))


def _with_more_labels(more: float) -> Callable[..., float]:
    return _of(lambda loss: loss.total / (loss.K + more))


def _with_epsilon(epsilon: float) -> Callable[..., float]:
    return _log_of(lambda loss: pick(softmax(loss.logits), loss.labels) + epsilon)


def _with_floor(floor: float) -> Callable[..., float]:
    return _log_of(lambda loss: np.maximum(pick(softmax(loss.logits), loss.labels), floor))


MISTAKES = (
    Mistake("nan_when_nothing_selected", NONE_SELECTED, _of(lambda loss: loss.mean if loss.K else math.nan)),
    Mistake(
        "divides_by_all_positions",
        "The sum is divided by all positions. Divide by the number of labels that are not −100.",
        _of(lambda loss: loss.total / loss.each.size),
    ),
    Mistake(
        "counts_ignored_positions",
        "Positions with label −100 are in the mean, as if their label were 0. Leave them out.",
        _of(lambda loss: loss.each.mean()),
    ),
    Mistake(
        "sums_or_broadcasts",
        "This is the sum over the labels, not their mean. A sum, or a mask of shape (N, 1) times losses of shape (N,): "
        "that broadcasts to (N, N), and the number of labels cancels.",
        _of(lambda loss: loss.total),
    ),
    Mistake(
        "mask_broadcasts",
        "A mask of shape (N, 1) times losses of shape (N,) is (N, N): each loss meets each weight, padding counts. "
        "Give both the same shape.",
        _of(lambda loss: loss.each.sum()),
        _of(lambda loss: loss.each.mean() * loss.chosen.mean()),
    ),
    Mistake(
        "ignored_in_denominator_and_sum",
        "All losses are summed and divided by the number of labels: padding is in the sum.",
        _of(lambda loss: over(loss.each.sum(), loss.K)),
    ),
    Mistake(
        "mean_of_row_means",
        "The mean of the rows' means gives a row with one label the weight of a row with ten. Take all together.",
        _of(lambda loss: over(sum(_row_means(loss)), len(_row_means(loss)))),
        _of(lambda loss: sum(_row_means(loss)) / len(loss.each)),
    ),
    Mistake(
        "divides_by_batch",
        "The sum is divided by the number of rows. Divide by the number of labels that are not −100.",
        _of(lambda loss: loss.total / len(loss.each)),
    ),
    Mistake(
        "label_zero_ignored",
        "Label 0 is left out. 0 is an id like any other; only −100 is left out.",
        _of(_without_zero),
    ),
    Mistake("shifts_labels", "The labels are shifted by one, as in next-token prediction.", _of(_shifted)),
    Mistake(
        "reshape_for_transpose",
        "`view` to (B, V, S) does not transpose, it mixes positions. Use `transpose(1, 2)`, or flatten.",
        _mean(_reshaped),
    ),
    Mistake("softmax_before_cross_entropy", TWO_SOFTMAXES, _mean(twice_softmax)),
    Mistake(
        "no_softmax",
        "The logit itself was taken for a log-probability: there is no softmax.",
        _mean(lambda loss: -pick(loss.logits, loss.labels)),
    ),
    Mistake(
        "no_logarithm",
        "This is a mean of probabilities, without the logarithm. The loss is −log p.",
        _mean(lambda loss: -pick(softmax(loss.logits), loss.labels)),
        _mean(lambda loss: 1 - pick(softmax(loss.logits), loss.labels)),
    ),
    Mistake(
        "sign_flipped", "The sign is the wrong way round: a loss is −log p.", _of(lambda loss: -loss.mean)
    ),
    Mistake(
        "base_two",
        "The logarithm is the binary one. A loss is in nats.",
        _of(lambda loss: loss.mean / math.log(2)),
    ),
    Mistake(
        "perplexity_for_loss",
        "This is the perplexity, exp of the loss. Return the loss.",
        _of(lambda loss: float(np.exp(loss.mean))),
    ),
    Mistake("label_smoothing", SMOOTHED, _mean(smoothed)),
    Mistake(
        "denominator_too_large",
        "Something was added to the number of labels, which biases the mean. Make the number at least 1 instead: "
        "`count.clamp(min=1)`.",
        *map(_with_more_labels, (1e-6, 1e-5, 1e-4, 1e-3, 1.0)),
    ),
    Mistake(
        "softmax_overflows",
        OVERFLOWS,
        _log_of(lambda loss: pick(naive_softmax(loss), loss.labels)),
        _log_of(lambda loss: pick(softmax(loss.logits), loss.labels)),
        _mean(lambda loss: np.log(np.exp(loss.logits).sum(-1)) - pick(loss.logits, loss.labels)),
    ),
    Mistake(
        "epsilon_under_logarithm",
        EPSILON,
        *map(_with_epsilon, EPSILONS),
        *map(_with_floor, EPSILONS),
    ),
)


def _detached(reached: list[bool]) -> tuple[str, str]:
    if not any(reached):
        cause = "The value is right, but no gradient reaches the logits: no `detach`, `item()`, `no_grad` or NumPy."
        return "no_gradient", cause
    cause = "The value is right, the gradient is not the one of this mean: something is detached or rounded."
    return "wrong_gradient", cause


JUDGE = LossJudge(
    expected=_of(lambda loss: loss.mean),
    mistakes=MISTAKES,
    raised=RAISED,
    rounded="loss_rounded",
    gradients=lambda mlm, nsp: [mlm.gradient()],
    detached=_detached,
)
