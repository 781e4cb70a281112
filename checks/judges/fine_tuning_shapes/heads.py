"""`SequenceHead`, `TokenHead`, `SpanHead`: which positions a score depends on, how, and what dropout does to it.

The probe filled every parameter with numbers of its own choice, so the judge knows none of them. It does not need to:
feeding a 1 in one place after the other shows what each place adds to each score. A right head is exact in that
picture: a score is the sum of what its own position adds, and nothing else.

B batch · S sequence · H hidden · L labels
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
)
from checks.judges.fine_tuning_shapes.dropout import TOLERANCE, Wrong, close, wrong_dropout
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict
from checks.questions.fine_tuning_shapes import LOUD, TRAINING_ROWS, hidden_states

OUTPUTS = ("scores", "again", "units", "training")
Readings = dict[str, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Head:
    """What a kind of head must give: the shape of its scores for (B,S,H), and whether each position has its own."""

    outputs: str
    shape: Callable[[int, int, int], Shape]  # B, S, L
    every_position: bool


SEQUENCE = Head("a tensor (B,num_labels)", lambda B, S, L: (B, L), False)
TOKEN = Head("a tensor (B,S,num_labels)", lambda B, S, L: (B, S, L), True)
SPAN = Head("two tensors (B,S)", lambda B, S, L: (B, S, 2), True)


# --- kinds and shapes -------------------------------------------------------------------------------------


def _is_floats(value: Any) -> bool:
    return isinstance(value, Array) and value.kind == "tensor" and value.dtype.startswith("float")


def _wrong_kind(head: Head, case: Case, value: Any) -> Finding | None:
    """Says what is not a head, or gives no scores; the scores' shapes are not looked at."""
    if not isinstance(value, dict) or set(value) != {"parameters", *OUTPUTS}:
        cause = "The class must be an `nn.Module`, so that its layers are moved, saved and trained with the model."
        return Finding("wrong_type", cause, case.label, describe_type(value), "an nn.Module")
    scores = value["scores"]
    parts = scores if head is SPAN and isinstance(scores, (tuple, list)) else [scores]
    if any(isinstance(part, Array) and part.dtype.startswith("int") for part in parts):
        cause = "These are labels, not scores: the loss needs a score for each choice. Leave the argmax out."
        return Finding("labels_for_scores", cause, case.label, describe_type(parts[0]), head.outputs)
    if head is SPAN and _is_floats(scores):
        cause = "The two columns are still one tensor. Take it apart along its last axis and return two."
        return Finding("one_tensor_for_two", cause, case.label, describe_type(scores), head.outputs)
    pairs = head is not SPAN or (isinstance(scores, (tuple, list)) and len(scores) == 2)
    if not pairs or not all(_is_floats(part) for part in parts):
        cause = f"`forward` must return {head.outputs}."
        return Finding("wrong_type", cause, case.label, describe_type(scores), head.outputs)
    return None


def _wrong_shape(head: Head, case: Case, value: Readings) -> Finding | None:
    B, S, H, L = case["B"], case["S"], case["H"], case.data.get("L", 1)
    scores = value["scores"]
    got = scores.data.shape if head is not SPAN else scores[0].data.shape
    wanted = head.shape(B, S, L) if head is not SPAN else (B, S)
    if head is SPAN and scores[1].data.shape != got:
        got = scores[1].data.shape if got == wanted else got
    if got == wanted:
        return None
    id = next((id for shape, id in _mistaken_shapes(head, B, S, H, L) if shape == got), "wrong_shape")
    if id == "wrong_shape" and got == tuple(size for size in wanted if size != 1):
        id = "squeeze_drops_an_axis"
    cause = SHAPE_CAUSES.get(id, f"The shape is not that of {head.outputs}.")
    return Finding(id, cause, case.label, f"shape {got}", f"shape {wanted}")


def _mistaken_shapes(head: Head, B: int, S: int, H: int, L: int) -> list[tuple[Shape, str]]:
    if head is SEQUENCE:
        return [
            ((B, S, L), "scores_for_every_position"),
            ((B, 1, L), "keeps_position_axis"),
            ((S, L), "reads_first_row"),
            ((B, H), "returns_the_vector"),
            ((L, B), "axes_swapped"),
        ]
    if head is TOKEN:
        return [
            ((B, L), "scores_for_position_0"),
            ((B, L, S), "axes_swapped"),
            ((B * S, L), "batch_flattened"),
            ((B, S - 1, L), "specials_dropped"),
            ((B, S - 2, L), "specials_dropped"),
            ((B, S, H), "returns_the_vector"),
        ]
    return [
        ((B, S, 1), "keeps_last_axis"),
        ((B,), "scores_for_position_0"),
        ((S, 2), "unpacked_along_wrong_axis"),
        ((B, S // 2, 2), "unpacked_along_wrong_axis"),
        ((B, S - S // 2, 2), "unpacked_along_wrong_axis"),
        ((S, B), "axes_swapped"),
    ]


UNPACKED = "Start and end are the last axis, and something else was taken apart. Try `unbind(-1)`."
SHAPE_CAUSES = {
    "scores_for_every_position": "These are scores for every position. Pick position 0.",
    "keeps_position_axis": "Position 0 was cut out as a slice. `x[:, 0]` takes its axis away.",
    "reads_first_row": "`x[0]` is the first row of the batch. Position 0 of every row is `x[:, 0]`.",
    "returns_the_vector": "This is the hidden vector itself. A linear layer makes scores of it.",
    "axes_swapped": "The axes are swapped. The batch comes first, labels come last.",
    "scores_for_position_0": "There is one score, or one row of scores, a sentence. Every position gets its own.",
    "batch_flattened": "Batch and positions were run together. Keep them apart: the loss may flatten, not the head.",
    "specials_dropped": "Positions are missing. Keep those of special tokens too: label −100 hides them later.",
    "keeps_last_axis": "The last axis of length 1 is still there. `squeeze(-1)` takes it away.",
    "unpacked_along_wrong_axis": UNPACKED,
    "squeeze_drops_an_axis": "`squeeze()` takes away every axis of length 1, a batch of one too. Say which axis.",
}


def _numbers(head: Head, case: Case, value: Readings) -> dict[str, np.ndarray] | None:
    """The scores as float64 arrays, start and end side by side; None where some shape is impossible."""
    L, S = (2 if head is SPAN else case["L"]), case["S"]
    rows = {"scores": case["B"], "again": case["B"], "units": 1 + S * case["H"], "training": TRAINING_ROWS}
    numbers = {}
    for name, B in rows.items():
        raw = value[name]
        parts = raw if isinstance(raw, (tuple, list)) else [raw]
        if not all(_is_floats(part) for part in parts) or len({part.data.shape for part in parts}) != 1:
            return None
        arrays = [part.data.astype(np.float64) for part in parts]
        numbers[name] = np.stack(arrays, -1) if head is SPAN else arrays[0]
        if len(parts) != (2 if head is SPAN else 1) or numbers[name].shape != head.shape(B, S, L):
            return None
    return numbers


# --- what a score depends on ------------------------------------------------------------------------------


def _shares(case: Case, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(what a row of zeros scores, (S,H,…) what a 1 at a position and feature adds to it)."""
    added = units[1:] - units[:1]
    return units[0], added.reshape(case["S"], case["H"], *units.shape[1:])


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
        cause = "A sigmoid squeezed the scores into 0 to 1. Return them as the layer gives them."
        return "sigmoid_in_head", cause
    cause = (
        "An activation, a norm or a second layer bends the scores. A head is dropout and one linear layer."
    )
    return "not_linear", cause


def _dependence(head: Head, case: Case, numbers: Mapping[str, np.ndarray]) -> Wrong | None:
    """(id, cause, got, expected) when a score is not a linear function of its own position alone."""
    scores, x = numbers["scores"], hidden_states(case).astype(np.float64)
    zero, shares = _shares(case, numbers["units"])
    if np.abs(shares).max() <= TOLERANCE and close(scores, scores[:1]):
        cause, got = "The scores do not depend on the input.", "the same scores for any input"
        return "reads_nothing", cause, got, "scores that depend on the input"
    wrong = (_own_position if head.every_position else _position_0)(x, scores, zero, shares)
    softmax = _softmax(scores, numbers["units"]) if wrong else None
    if softmax:
        return *softmax, _first(scores), "any number, of either sign"
    if wrong and wrong[0] == "not_linear":
        return *_bent(scores, numbers["units"]), *wrong[2:]
    if wrong is None and head is SPAN and close(scores[..., 0], scores[..., 1]):
        cause = "Start and end got the same scores. Each needs its own weights: two outputs, or two layers."
        return "same_scores_twice", cause, "start equal to end", "two different rows of scores"
    return wrong


def _position_0(x: np.ndarray, scores: np.ndarray, zero: np.ndarray, shares: np.ndarray) -> Wrong | None:
    read = [p for p in range(len(shares)) if np.abs(shares[p]).max() > TOLERANCE]  # shares: (S,H,L)
    expected = "scores that depend on position 0 alone"
    if read in ([0], []):  # none: a ReLU may swallow every 1
        if close(scores, x[:, 0] @ shares[0] + zero):
            return None
        return "not_linear", "", _first(scores), "a linear function of the vector at position 0"
    if read == [len(shares) - 1]:
        cause = "The last position was read. Padding stands there in most rows; `[CLS]` is position 0."
        return "reads_last_position", cause, "scores of the last position", expected
    if read == [1]:
        cause = "Position 1 was read, the first piece. `[CLS]` is position 0."
        return "reads_position_1", cause, "scores of position 1", expected
    got = f"scores that depend on {len(read)} of {len(shares)} positions"
    if all(close(share, shares[0]) for share in shares):
        if close(scores, x.max(1) @ shares[0] + zero):
            cause = "The largest value of each feature was taken over all positions. Read position 0 alone."
            return "maximum_over_positions", cause, got, expected
        cause = (
            "All positions were averaged or added up, padding among them. Read position 0 alone: `x[:, 0]`."
        )
        return "mean_over_positions", cause, got, expected
    cause = "Other positions than 0 reach the scores. Take the vector at position 0 before anything else."
    return "reads_other_positions", cause, got, expected


def _own_position(x: np.ndarray, scores: np.ndarray, zero: np.ndarray, shares: np.ndarray) -> Wrong | None:
    S = len(shares)  # shares: (S,H,S,L), from position p to the scores of position q
    reach = np.abs(shares).max((1, 3)) > TOLERANCE  # (S,S)
    expected = "scores of a position that depend on its own vector alone"
    if reach.any() and not np.array_equal(reach, np.eye(S, dtype=bool)):
        got = "scores of a position that depend on other positions"
        if reach[0].all() and not reach[1:].any():
            cause = (
                "Every position got the scores of position 0. The layer works on the whole (B,S,H) at once."
            )
            return "position_0_for_all", cause, got, expected
        if any(np.array_equal(reach, np.roll(np.eye(S, dtype=bool), by, 1)) for by in (1, -1)):
            cause = "The scores are shifted by one position. Position s scores the vector at s."
            return "shifted_by_one", cause, got, expected
        cause = "Positions were mixed with each other. The encoder did that already; the head looks at one at a time."
        return "mixes_positions", cause, got, expected
    own = shares[0][:, 0]  # (H,L)
    if not close(scores, x @ own + zero[0]):
        return "not_linear", "", _first(scores), "a linear function of each position's vector"
    return None


def _first(scores: np.ndarray) -> str:
    row = scores.reshape(-1, scores.shape[-1])[0]
    return "scores that begin " + ", ".join(f"{number:.4f}" for number in row[:4].tolist())


def _training(head: Head, case: Case, numbers: Mapping[str, np.ndarray]) -> Wrong | None:
    """What is wrong in training mode, where the scores in evaluation mode are right."""
    zero, shares = _shares(case, numbers["units"])
    added = (shares[0][:2, 0] if head.every_position else shares[0][:2]) * np.array([[1.0], [LOUD]])  # (2,L)
    zero = zero[0] if head.every_position else zero
    if head is not SPAN:
        return wrong_dropout(numbers["training"], zero, added, case["dropout"])
    if close(numbers["training"], zero + added.sum(0)):
        return None
    cause = "`SpanHead` takes no dropout: the published head is two vectors and nothing else."
    return "dropout_in_span_head", cause, "other scores in training mode", "the same in both modes"


# --- the judges -------------------------------------------------------------------------------------------

CRASHES = (
    RaisedMistake(
        "super_init_missing",
        "`super().__init__()` was not called. It must be the first line of `__init__`, before any layer is set.",
        lambda error, message: (
            (error == "AttributeError" and "before Module.__init__()" in message)
            or (error == "AttributeError" and "has no attribute '_" in message)
        ),
    ),
    RaisedMistake(
        "other_default_dropout",
        "`dropout` needs a default: with it left out it must be 0.1.",
        lambda error, message: error == "TypeError" and "missing" in message and "argument" in message,
    ),
    RaisedMistake(
        "unpacked_along_wrong_axis",
        UNPACKED,
        lambda error, message: error == "ValueError" and "to unpack" in message,
    ),
    RaisedMistake(
        "layer_for_wrong_width",
        "The layer was built for vectors of another width. It takes `hidden` numbers in and gives the scores out.",
        lambda error, message: error == "RuntimeError" and "shapes cannot be multiplied" in message,
    ),
)


def _structure(head: Head, case: Case, value: Any) -> Finding | None:
    finding = _wrong_kind(head, case, value) or _wrong_shape(head, case, value)
    if finding:
        return finding
    numbers = _numbers(head, case, value)
    if numbers is None or type(value["parameters"]) is not int:
        cause = f"`forward` must return {head.outputs} for every batch, in both modes."
        return Finding("wrong_type", cause, case.label, "another shape for another batch", head.outputs)
    if not close(numbers["again"], numbers["scores"]):
        cause = (
            "Two passes in evaluation mode differ: dropout is still on. `nn.Dropout` turns it off by itself."
        )
        got, expected = "other scores the second time", "the same scores twice"
        if value["parameters"] == 0:
            cause = (
                "The layer is built anew in every `forward`: nothing can be learned. Build it in `__init__`."
            )
            return Finding("layer_not_registered", cause, case.label, got, expected)
        return Finding("dropout_in_evaluation", cause, case.label, got, expected)
    if value["parameters"] == 0:
        cause = "The head has no parameters to train. Set its layer as an attribute in `__init__`."
        return Finding("layer_not_registered", cause, case.label, "0 parameters", "a linear layer's")
    wrong = _dependence(head, case, numbers)
    return _finding(case, wrong) if wrong else None


def _finding(case: Case, wrong: Wrong) -> Finding:
    id, cause, got, expected = wrong
    return Finding(id, cause, case.label, got, expected)


def _judge(head: Head) -> Callable[[Question, list[Case], Sequence[Outcome]], Verdict]:
    def judge(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
        """First what the scores depend on, in every case; a head right in this and wrong in its dropout gets half."""
        early = not_attempted(question, outcomes) or crashed(question, cases, outcomes, CRASHES)
        if early:
            return early
        pairs = list(zip(cases, outcomes, strict=True))
        with np.errstate(all="ignore"):  # an answer may give inf and nan
            return judge_pairs(question, pairs)

    def judge_pairs(question: Question, pairs: list[tuple[Case, Outcome]]) -> Verdict:
        for case, outcome in pairs:
            finding = _structure(head, case, outcome.value)
            if finding:
                return incorrect(question, finding)
        for case, outcome in pairs:
            if outcome.changed_input:
                return incorrect(question, Finding("changes_its_input", IN_PLACE, case.label))
            numbers = _numbers(head, case, outcome.value)
            wrong = _training(head, case, numbers) if numbers else None
            if wrong:
                verdict = incorrect(question, _finding(case, wrong))
                return replace(verdict, state="partial", score=0.5)
        return Verdict(question.name, "correct", 1.0, lesson=question.lesson)

    return judge


sequence_head = _judge(SEQUENCE)
token_head = _judge(TOKEN)
span_head = _judge(SPAN)
