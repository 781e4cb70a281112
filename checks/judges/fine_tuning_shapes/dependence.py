"""What a score depends on: positions, rows, weights, and whether it is the linear function it should be.

B batch · S sequence · H hidden · L labels
"""

from __future__ import annotations

import itertools

import numpy as np

from checks.judges.fine_tuning_shapes.dropout import TOLERANCE, Wrong, close
from checks.judges.fine_tuning_shapes.shapes import Head, Numbers
from checks.protocol import Case
from checks.questions.fine_tuning_shapes.heads import hidden_states

OWN = "scores of a position that depend on its own vector alone"
MIXED = "scores of a position that depend on other positions"
FIRST = "scores that depend on position 0 alone"
SCRAMBLED = (
    "`view` only cuts the row of numbers anew, so that scores of different positions change places. Take the last "
    "axis apart with `unbind(-1)`, or swap axes with `transpose`."
)
NO_LINE = ("not_linear", "", "", "")  # told apart further in `_bent`


def shares(case: Case, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(what a row of zeros scores, (S,H,…) what a 1 at a position and feature adds to it)."""
    added = units[1:] - units[:1]
    return units[0], added.reshape(case["S"], case["H"], *units.shape[1:])


def own_weights(head: Head, case: Case, numbers: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """(H,L) what the features of position 0 add to its scores, and (L,) what a vector of zeros scores."""
    zero, added = shares(case, numbers["units"])
    return (added[0][:, 0], zero[0]) if head.every_position else (added[0], zero)


def is_parallel(weights: np.ndarray) -> bool:
    """Whether one of two columns is a multiple of the other."""
    return bool(np.linalg.matrix_rank(weights, tol=1e-3) < 2)


def dependence(head: Head, case: Case, numbers: Numbers) -> Wrong | None:
    """(id, cause, got, expected) when a score is not a linear function of its own position alone."""
    scores, x = numbers["scores"], hidden_states(case).astype(np.float64)
    zero, added = shares(case, numbers["units"])
    if not np.isfinite(scores).all():
        cause = "Some scores are not finite. Return what the layer gives; which positions may be chosen is asked later."
        return "infinite_scores", cause, _begin(scores), "finite numbers"
    if np.abs(added).max() <= TOLERANCE and close(scores, scores[:1]):
        cause, got = "The scores do not depend on the input.", "the same scores for any input"
        return "reads_nothing", cause, got, "scores that depend on the input"
    mixed = not close(numbers["alone"], scores[:1])
    wrong = (_own_position if head.every_position else _position_0)(x, scores, zero, added)
    if not wrong and not mixed:
        return _multiple(head, case, numbers)
    if softmax := _softmax(scores, numbers["units"]):
        return *softmax, _begin(scores), "any number, of either sign"
    if head.every_position and _is_scrambled(head, case, numbers):
        return "scrambled_view", SCRAMBLED, MIXED, OWN
    if mixed:
        cause = "A row's scores change with the other rows of the batch. Each row is scored by itself."
        return "mixes_rows", cause, "other scores for a row alone", "the same scores in any batch"
    if wrong and wrong[0] == "not_linear":
        return *_bent(scores, numbers["units"]), _begin(scores), "a linear function of the vector"
    return wrong


def _softmax(scores: np.ndarray, units: np.ndarray) -> tuple[str, str] | None:
    """A softmax or its logarithm on the scores, whichever axis it runs along."""
    both = (scores, units)
    for axis in range(scores.ndim):
        if scores.shape[axis] > 1 and all(s.min() >= 0 and close(s.sum(axis), np.ones(1)) for s in both):
            cause = "These are probabilities. Return the scores: the cross-entropy takes its own softmax."
            return "softmax_in_head", cause
        if scores.shape[axis] > 1 and all(close(np.logaddexp.reduce(s, axis), np.zeros(1)) for s in both):
            cause = "These are log-probabilities. Return the scores: the cross-entropy takes its own softmax."
            return "log_softmax_in_head", cause
    return None


def _bent(scores: np.ndarray, units: np.ndarray) -> tuple[str, str]:
    """What bends the scores of the right positions."""
    lowest, highest = min(scores.min(), units.min()), max(scores.max(), units.max())
    if lowest == 0:  # exactly: no sigmoid reaches it
        return (
            "relu_on_scores",
            "No score is negative: a ReLU stands behind the layer. Return what the layer gives.",
        )
    if lowest > 0 and highest <= 1:
        return (
            "sigmoid_in_head",
            "A sigmoid squeezed the scores into 0 to 1. Return them as the layer gives them.",
        )
    cause = (
        "An activation, a norm or a second layer bends the scores. A head is dropout and one linear layer."
    )
    return "not_linear", cause


def _position_0(x: np.ndarray, scores: np.ndarray, zero: np.ndarray, added: np.ndarray) -> Wrong | None:
    read = [p for p in range(len(added)) if np.abs(added[p]).max() > TOLERANCE]  # added: (S,H,L)
    if read in ([0], []):  # none: a ReLU may swallow every 1
        return None if close(scores, x[:, 0] @ added[0] + zero) else NO_LINE
    if read == [len(added) - 1]:
        cause = "The last position was read. Padding stands there in most rows; `[CLS]` is position 0."
        return "reads_last_position", cause, "scores of the last position", FIRST
    if read == [1]:
        cause = "Position 1 was read, the first piece. `[CLS]` is position 0."
        return "reads_position_1", cause, "scores of position 1", FIRST
    got = f"scores that depend on {len(read)} of {len(added)} positions"
    if all(close(share, added[0]) for share in added):
        if close(scores, x.max(1) @ added[0] + zero):
            cause = "The largest value of each feature was taken over all positions. Read position 0 alone."
            return "maximum_over_positions", cause, got, FIRST
        if close(scores, x.sum(1) @ added[0] + zero):
            cause = "All positions were averaged or added up, padding among them. Read position 0 alone: `x[:, 0]`."
            return "mean_over_positions", cause, got, FIRST
    cause = "Other positions than 0 reach the scores. Take the vector at position 0 before anything else."
    return "reads_other_positions", cause, got, FIRST


def _own_position(x: np.ndarray, scores: np.ndarray, zero: np.ndarray, added: np.ndarray) -> Wrong | None:
    S = len(added)  # added: (S,H,S,L), from position p to the scores of position q
    reach, own = np.abs(added).max((1, 3)) > TOLERANCE, np.eye(S, dtype=bool)  # (S,S)
    if reach[~own].any():
        if reach[0].all() and not reach[1:].any():
            cause = (
                "Every position got the scores of position 0. The layer works on the whole (B,S,H) at once."
            )
            return "position_0_for_all", cause, MIXED, OWN
        if any(np.array_equal(reach, np.roll(own, by, 1)) for by in (1, -1)):
            cause = "The scores are shifted by one position. Position s scores the vector at s."
            return "shifted_by_one", cause, MIXED, OWN
        cause = "Positions were mixed with each other. The encoder did that already; the head looks at one at a time."
        return "mixes_positions", cause, MIXED, OWN
    if reach.any() and not reach[own].all():
        cause = "Some positions score the same whatever stands there. All are scored: label −100 hides some later."
        return "positions_left_out", cause, "scores that do not depend on the vector", OWN
    if close(scores, x @ added[0][:, 0] + zero[0]):
        return None
    each = np.stack([x[:, s] @ added[s][:, s] + zero[s] for s in range(S)], 1)
    if reach.any() and close(scores, each):
        cause = "Each position has weights of its own. One layer scores them all, however long the row is."
        return "weights_by_position", cause, "other weights at other positions", "the same weights everywhere"
    return NO_LINE


def _is_scrambled(head: Head, case: Case, numbers: Numbers) -> bool:
    """Whether the scores are right once they are read in the order in which a layer writes them."""

    def sorted_out(scores: np.ndarray) -> np.ndarray:
        return np.moveaxis(scores, -1, 0 if head.two else 1).reshape(scores.shape)

    x = hidden_states(case).astype(np.float64)
    return (
        _own_position(x, sorted_out(numbers["scores"]), *shares(case, sorted_out(numbers["units"]))) is None
    )


def _multiple(head: Head, case: Case, numbers: Numbers) -> Wrong | None:
    """A sign or a factor behind the layer: its weights are the head's parameters then, all times one number."""
    weights, zero = own_weights(head, case, numbers)
    values, L = np.vstack([weights, zero]), len(zero)
    if numbers["parameters"].size == weights.size:
        values = weights
    parameters = np.sort(numbers["parameters"])
    if parameters.size != values.size:
        return None
    factor = np.abs(values).max() / np.abs(parameters).max()
    signs = itertools.product((1, -1), repeat=L)
    found = next((s for s in signs if close(np.sort((values * s).ravel()), factor * parameters)), None)
    if found is None or (
        set(found) == {1} and abs(factor - 1 + (case.data.get("dropout") or 0)) <= TOLERANCE
    ):
        return None
    if set(found) != {1}:
        cause = "Scores have the opposite sign of what the layer gives. Return them as they are."
        return "scores_negated", cause, "the layer's scores times −1", "the layer's scores"
    if abs(factor - 1) <= TOLERANCE:
        return None
    cause = "The scores are what the layer gives, times a number. Return them as they are."
    return "scores_scaled", cause, f"the layer's scores times {factor:.3g}", "the layer's scores"


def _begin(scores: np.ndarray) -> str:
    row = scores.reshape(-1, scores.shape[-1])[0]
    return "scores that begin " + ", ".join(f"{number:.4f}" for number in row[:4].tolist())
