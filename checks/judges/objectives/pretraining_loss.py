"""What people compute instead of the sum of the two means."""

from __future__ import annotations

import math

import numpy as np

from checks.judges.objectives.losses import RAISED, LossJudge, of_losses
from checks.judges.objectives.masked_mean_loss import (
    NONE_SELECTED,
    OVERFLOWS,
    SMOOTHED,
    TWO_SOFTMAXES,
)
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


def _of_class_one(nsp: Loss) -> float:
    return over(float(nsp.each[nsp.labels == 1].sum()), int((nsp.labels == 1).sum()))


def _log_of(probability: np.ndarray, loss: Loss) -> float:
    return loss.mean_of(-np.log(pick(probability, loss.labels)))


MISTAKES = (
    Mistake(
        "nan_when_nothing_selected",
        NONE_SELECTED,
        of_losses(lambda mlm, nsp: mlm.mean + nsp.mean if mlm.K else math.nan),
    ),
    Mistake(
        "sentence_loss_lost_without_labels",
        "A batch without token labels still has its sentence loss: add it all the same.",
        of_losses(lambda mlm, nsp: mlm.mean + nsp.mean if mlm.K else 0.0),
    ),
    Mistake(
        "mean_of_the_two",
        "The sum has no coefficient: do not halve it.",
        of_losses(lambda mlm, nsp: (mlm.mean + nsp.mean) / 2),
    ),
    Mistake(
        "coefficient_on_nsp",
        "The sentence loss is halved. The sum has no coefficient.",
        of_losses(lambda mlm, nsp: mlm.mean + nsp.mean / 2),
    ),
    Mistake(
        "coefficient_on_mlm",
        "The token loss is halved. The sum has no coefficient.",
        of_losses(lambda mlm, nsp: mlm.mean / 2 + nsp.mean),
    ),
    Mistake(
        "nsp_missing",
        "Only the token loss is there. Add the sentence loss.",
        of_losses(lambda mlm, nsp: mlm.mean),
    ),
    Mistake(
        "mlm_missing",
        "Only the sentence loss is there. Add the token loss.",
        of_losses(lambda mlm, nsp: nsp.mean),
    ),
    Mistake(
        "one_mean_over_both",
        "All predictions share one mean. Each objective has its own mean, and the two are added.",
        of_losses(lambda mlm, nsp: (mlm.total + nsp.total) / (mlm.K + nsp.K)),
    ),
    Mistake(
        "mlm_summed",
        "The token losses are summed. Take their mean.",
        of_losses(lambda mlm, nsp: mlm.total + nsp.mean),
    ),
    Mistake(
        "nsp_summed",
        "The sentence losses are summed. Take their mean.",
        of_losses(lambda mlm, nsp: mlm.mean + nsp.total),
    ),
    Mistake(
        "both_summed",
        "Both losses are sums. Take the mean of each.",
        of_losses(lambda mlm, nsp: mlm.total + nsp.total),
    ),
    Mistake(
        "mlm_over_all_positions",
        "The token losses are divided by all positions. Divide by the number of labels that are not −100.",
        of_losses(lambda mlm, nsp: mlm.total / mlm.each.size + nsp.mean),
    ),
    Mistake(
        "mlm_over_batch",
        "The token losses are divided by the number of rows. Divide by the number of labels that are not −100.",
        of_losses(lambda mlm, nsp: mlm.total / len(mlm.each) + nsp.mean),
    ),
    Mistake(
        "mlm_counts_ignored_positions",
        "Positions with label −100 are in the token loss, as if their label were 0.",
        of_losses(lambda mlm, nsp: mlm.each.mean() + nsp.mean),
    ),
    Mistake(
        "product_of_the_two",
        "The two are multiplied. Add them.",
        of_losses(lambda mlm, nsp: mlm.mean * nsp.mean),
    ),
    Mistake(
        "nsp_labels_swapped",
        "The sentence labels are turned round. 0 is IsNext, and class 0 comes first in the logits.",
        of_losses(lambda mlm, nsp: mlm.mean - pick(log_softmax(nsp.logits), 1 - nsp.labels).mean()),
    ),
    Mistake(
        "nsp_class_zero_ignored",
        "Rows with the sentence label 0 are left out. 0 is a class here, IsNext: no `ignore_index=0`.",
        of_losses(lambda mlm, nsp: mlm.mean + _of_class_one(nsp)),
        of_losses(lambda mlm, nsp: mlm.mean + float(nsp.each[nsp.labels == 1].sum()) / len(nsp.each)),
    ),
    Mistake(
        "unlabelled_rows_lost",
        "Rows without a token label lose their sentence loss too. Every row has one.",
        of_losses(lambda mlm, nsp: mlm.mean + nsp.each[mlm.chosen.any(1)].mean()),
    ),
    Mistake(
        "mlm_label_zero_ignored",
        "Token label 0 is left out. 0 is an id like any other; only −100 is left out.",
        of_losses(
            lambda mlm, nsp: over(mlm.each[mlm.labels > 0].sum(), int((mlm.labels > 0).sum())) + nsp.mean
        ),
    ),
    Mistake(
        "label_smoothing",
        SMOOTHED,
        of_losses(lambda mlm, nsp: mlm.mean_of(smoothed(mlm)) + smoothed(nsp).mean()),
        of_losses(lambda mlm, nsp: mlm.mean_of(smoothed(mlm)) + nsp.mean),
        of_losses(lambda mlm, nsp: mlm.mean + smoothed(nsp).mean()),
    ),
    Mistake(
        "softmax_before_cross_entropy",
        TWO_SOFTMAXES,
        of_losses(lambda mlm, nsp: mlm.mean_of(twice_softmax(mlm)) + twice_softmax(nsp).mean()),
        of_losses(lambda mlm, nsp: mlm.mean_of(twice_softmax(mlm)) + nsp.mean),
    ),
    Mistake(
        "softmax_before_nsp", TWO_SOFTMAXES, of_losses(lambda mlm, nsp: mlm.mean + twice_softmax(nsp).mean())
    ),
    Mistake(
        "softmax_overflows",
        OVERFLOWS,
        of_losses(lambda mlm, nsp: _log_of(naive_softmax(mlm), mlm) + _log_of(naive_softmax(nsp), nsp)),
        of_losses(lambda mlm, nsp: _log_of(softmax(mlm.logits), mlm) + _log_of(softmax(nsp.logits), nsp)),
        of_losses(lambda mlm, nsp: _log_of(naive_softmax(mlm), mlm) + nsp.mean),
        of_losses(lambda mlm, nsp: _log_of(softmax(mlm.logits), mlm) + nsp.mean),
    ),
)


def _detached(reached: list[bool]) -> tuple[str, str]:
    mlm, nsp = reached
    if mlm and not nsp:
        return "nsp_detached", "The sentence loss is in the value but not in the gradient: it is detached."
    if nsp and not mlm:
        return "mlm_detached", "The token loss is in the value but not in the gradient: it is detached."
    if not mlm:
        cause = "The value is right, but no gradient reaches the logits: no `item()`, no `no_grad`."
        return "no_gradient", cause
    return "wrong_gradient", "The value is right, the gradient is not: something is detached or weighted."


JUDGE = LossJudge(
    expected=of_losses(lambda mlm, nsp: mlm.mean + nsp.mean),
    mistakes=MISTAKES,
    raised=RAISED,
    rounded="loss_rounded",
    gradients=lambda mlm, nsp: [mlm.gradient(), nsp.gradient()],
    detached=_detached,
)
