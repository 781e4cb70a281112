"""What people compute instead of `masked_mean_loss` and `pretraining_loss`.

N positions of a batch · V vocabulary
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from checks.judges.comparing import (
    Mistake,
    RaisedMistake,
)
from checks.judges.objectives.reference import Losses, log_softmax, pick, softmax
from checks.protocol import Case
from checks.questions.objectives import IGNORED


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
