"""Dropout of a head: what training mode does to the features of a vector, before the linear layer.

The rows fed in training mode have two features that are not 0, so that a row's scores tell which of the two were
kept and by how much they were multiplied. The size is exact; only the number of dropped features is left to chance.

L labels · M vectors that went through dropout
"""

from __future__ import annotations

import itertools

import numpy as np

from checks.judges.statistics import is_plausible, percent
from checks.questions.fine_tuning_shapes.heads import TRAINING_ROWS

DEFAULT = 0.1
TOLERANCE = 1e-4  # scores are of the order of 10, float32 errors below 1e-5, the named mistakes above 1e-2

Wrong = tuple[str, str, str, str]  # id, cause, got, expected


def close(got: np.ndarray, expected: np.ndarray) -> bool:
    return bool(np.allclose(got, expected, rtol=TOLERANCE, atol=TOLERANCE))  # nan is close to nothing


def wrong_dropout(
    training: np.ndarray, zero: np.ndarray, added: np.ndarray, asked: float | None
) -> Wrong | None:
    """What is wrong with the dropout of a head, or None.

    Args:
        training: scores in training mode, (N,…,L).
        zero, added: what a vector of zeros scores, (L,), and what each of the two features adds to it in
            evaluation mode, (2,L).
        asked: the probability that was asked for; None where it was left out.
    """
    scores = training.reshape(-1, zero.shape[-1])  # (M,L)
    p = DEFAULT if asked is None else asked
    wanted = f"each feature dropped with probability {p}, kept ones times {1 / (1 - p):.3g}"
    if close(scores, zero + added.sum(0)):
        if p == 0:
            return None
        cause = "Nothing was dropped in training mode. Put `nn.Dropout(dropout)` in front of the layer and call it."
        return "no_dropout_in_training", cause, "the same scores in both modes", wanted
    kept = _kept(scores, zero, added, 1 / (1 - p))
    if kept is not None:
        return _chance(kept, p, wanted, training)
    return *_mistake(scores, zero, added, p, asked), "other scores in training mode", wanted


def _kept(scores: np.ndarray, zero: np.ndarray, added: np.ndarray, scale: float) -> np.ndarray | None:
    """(M,2) which of the two features each row of scores has kept, if what is kept was multiplied by `scale`.

    None where some row (M,L) cannot have come about so. `added`: (2,L), what each feature adds without dropout.
    """
    ways = list(itertools.product((False, True), repeat=2))
    possible = np.stack([zero + scale * (np.array(way) @ added) for way in ways])  # (4,L)
    fits = (np.abs(scores[:, None] - possible) <= TOLERANCE * (1 + np.abs(possible))).all(-1)  # (M,4)
    return np.array(ways)[fits.argmax(1)] if fits.any(1).all() else None


def _chance(kept: np.ndarray, p: float, wanted: str, training: np.ndarray) -> Wrong | None:
    """Whether rows were dropped independently and often enough.

    2M trials of probability p, M ≥ 800: a right answer fails once in 10⁸ (`statistics.is_plausible`). That all
    rows of a right answer drop alike, or both features always together, has the probability (1−2p(1−p))^M or
    less: for p = 0.1 and M = 800 that is 10⁻⁶⁸.
    """
    drops, M = kept.size - int(kept.sum()), len(kept)
    got = f"{percent(drops, kept.size)} of the features dropped"
    if p > 0 and len(np.unique(training.reshape(len(training), -1).round(3), axis=0)) == 1:
        cause = "The same features were dropped in every row. Draw a mask for the whole tensor: `nn.Dropout` does."
        return "one_mask_for_the_batch", cause, got, wanted
    if p > 0 and M >= TRAINING_ROWS and (kept[:, 0] == kept[:, 1]).all():
        cause = "Whole vectors were dropped. Drop each feature by itself: `nn.Dropout`, not `Dropout1d`."
        return "drops_whole_vectors", cause, got, wanted
    if not is_plausible(drops, kept.size, p):
        cause = "The kept features are scaled for another probability than they are dropped with."
        return "wrong_dropout_rate", cause, got, wanted
    return None


def _mistake(
    scores: np.ndarray, zero: np.ndarray, added: np.ndarray, p: float, asked: float | None
) -> tuple[str, str]:
    def scaled_by(scale: float) -> bool:
        return _kept(scores, zero, added, scale) is not None

    full = (zero + added.sum(0)) / (1 - p)
    if (np.minimum(np.abs(scores), np.abs(scores - full)) <= TOLERANCE * (1 + np.abs(full))).all():
        return (
            "dropout_on_scores",
            "Scores were dropped. Drop features of the vector, before the layer, never its scores.",
        )
    if p > 0 and scaled_by(1.0):
        return (
            "dropout_not_scaled",
            "What is kept must be divided by 1 − dropout, else training and use differ in size.",
        )
    if asked is not None and (scaled_by(1 / (1 - DEFAULT)) or scaled_by(2.0)):
        cause = "The head drops with a probability of its own (0.1, or `nn.Dropout`'s 0.5). Use the argument `dropout`."
        return "dropout_hard_coded", cause
    if p > 0 and scaled_by(1 / p):
        return (
            "keeps_with_the_dropout_probability",
            "`dropout` is the share that is dropped, not the share that is kept.",
        )
    if p > 0 and scaled_by(1 / (1 - p) ** 2):
        return "dropout_twice", "Dropout was applied twice. Once, in front of the layer, is enough."
    if asked is None:
        return "other_default_dropout", "With `dropout` left out it must be 0.1."
    return (
        "unexpected_dropout",
        "In training mode something else than dropout on the layer's input changes the scores.",
    )
