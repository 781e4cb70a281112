"""What the three heads have in common: from the readings of a head to a verdict.

The probe filled every parameter with numbers of its own choice, so the judge knows none of them. It does not need to:
feeding a 1 in one place after the other shows what each place adds to each score. A right head is exact in that
picture: a score is the sum of what its own position adds, and nothing else.

B batch · S sequence · H hidden · L labels
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from checks.judges.fine_tuning_shapes.dependence import dependence, is_parallel, own_weights
from checks.judges.fine_tuning_shapes.dropout import Wrong, close, wrong_dropout
from checks.judges.fine_tuning_shapes.shapes import Head, Numbers, numbers_of, wrong_kind, wrong_shape
from checks.judges.values import RaisedMistake, RuleJudge, correct, incorrect, partly
from checks.protocol import Case, Finding, Outcome, Verdict
from checks.questions.fine_tuning_shapes.heads import LOUD

# What people get wrong for some sizes and probabilities only, so that it says nothing of the other cases.
SOMETIMES = {
    "squeeze_drops_an_axis",
    "axes_swapped",
    "dropout_in_evaluation",
    "dropout_on_scores",
    "relu_on_scores",
    "scrambled_view",
    "sigmoid_in_head",
    "other_default_dropout",
    "dropout_hard_coded",
    "keeps_with_the_dropout_probability",
    "wrong_dropout_rate",
}


def judge_of(head: Head) -> RuleJudge:
    def rule(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
        """First what the scores depend on, in every case; a head right in this and wrong in its dropout gets half."""
        pairs = [(case, outcome.value) for case, outcome in zip(cases, outcomes, strict=True)]
        with np.errstate(all="ignore"):  # an answer may give inf and nan
            if finding := _first([_structure(head, *pair) for pair in pairs]):
                return incorrect(finding)
            readings = [(case, numbers_of(head, case, value) or {}) for case, value in pairs]
            if finding := _one_vector(head, readings):
                return incorrect(finding)
            dropping = [pair for pair in readings if pair[0].data.get("dropout") != 0]
            still = [pair for pair in readings if pair[0].data.get("dropout") == 0]
            finding = _first([_training(head, *pair) for pair in dropping])
            finding = finding or _first([_training(head, *pair) for pair in still])
            return partly(0.5, finding) if finding else correct()

    return RuleJudge(rule, RAISED)


def _first(findings: Sequence[Finding | None]) -> Finding | None:
    """The finding on the smallest case. Where other cases are right it has no name: that would explain them wrong."""
    first = next((finding for finding in findings if finding), None)
    right = findings.count(None)
    if first is None or not right or first.id in SOMETIMES:
        return first
    cause = f"Right on {right} of {len(findings)} inputs; the smallest that fails is shown."
    return replace(first, id="unexpected_value", cause=cause)


def _structure(head: Head, case: Case, value: Any) -> Finding | None:
    sizes = [case[size] for size in "SHL"]
    wrong = wrong_kind(head, value) or wrong_shape(head, value["scores"], case["B"], *sizes)
    numbers = None if wrong else numbers_of(head, case, value)
    if not wrong and not wrong_kind(head, value | {"scores": value["alone"]}):
        wrong = wrong_shape(head, value["alone"], 1, *sizes)
    if not wrong and numbers is None:
        cause = f"`forward` must return {head.outputs} for every batch, in both modes."
        wrong = "wrong_type", cause, "another shape for another batch", head.outputs
    if not wrong and numbers is not None:
        wrong = _steadiness(numbers) or dependence(head, case, numbers)
    return _finding(case, wrong) if wrong else None


def _steadiness(numbers: Numbers) -> Wrong | None:
    """Scores that differ from pass to pass, and a head without parameters."""
    if not numbers["parameters"].size:
        return "layer_not_registered", NONE_TO_TRAIN, "0 parameters", "a linear layer's"
    if close(numbers["again"], numbers["scores"]):
        return None
    return "dropout_in_evaluation", STILL_ON, "other scores the second time", "the same scores twice"


def _one_vector(head: Head, readings: Sequence[tuple[Case, Numbers]]) -> Finding | None:
    """Two small vectors may point one way by chance; they do not in two cases of six numbers and more."""
    wide = [(case, numbers) for case, numbers in readings if case["H"] >= 6]
    if not head.two or not all(is_parallel(own_weights(head, *pair)[0]) for pair in wide):
        return None
    label = readings[0][0].label
    if all(close(numbers["scores"][..., 0], numbers["scores"][..., 1]) for _, numbers in readings):
        cause = "Start and end got the same scores. Each needs its own weights: two outputs, or two layers."
        return Finding(
            "same_scores_twice", cause, label, "start equal to end", "two different rows of scores"
        )
    cause = "Start and end share their weights, so that one follows from the other. Each needs weights of its own."
    return Finding("one_vector_for_two", cause, label, "one vector of weights", "two")


def _training(head: Head, case: Case, numbers: Numbers) -> Finding | None:
    """What is wrong in training mode, where the scores in evaluation mode are right."""
    weights, zero = own_weights(head, case, numbers)
    added = weights[:2] * np.array([[1.0], [LOUD]])  # (2,L)
    if not head.two:
        wrong = wrong_dropout(numbers["training"], zero, added, case["dropout"])
        return _finding(case, wrong) if wrong else None
    if close(numbers["training"], zero + added.sum(0)):
        return None
    cause = "`SpanHead` takes no dropout: the published head is two vectors and nothing else."
    return _finding(
        case, ("dropout_in_span_head", cause, "other scores in training mode", "the same in both modes")
    )


def _finding(case: Case, wrong: Wrong) -> Finding:
    id, cause, got, expected = wrong
    return Finding(id, cause, case.label, got, expected)


STILL_ON = "Two passes in evaluation mode differ: dropout is still on. `nn.Dropout` turns it off by itself."
NONE_TO_TRAIN = (
    "The head has no parameters to train. Set a layer, or an `nn.Parameter`, as an attribute in `__init__`; in a plain "
    "list, as a plain tensor, or made anew in `forward`, it is not found."
)
RAISED = (
    RaisedMistake(
        "super_init_missing",
        "`super().__init__()` was not called. It must be the first line of `__init__`, before any layer is set.",
        lambda error, message: (
            error == "AttributeError"
            and ("before Module.__init__()" in message or "has no attribute '_" in message)
        ),
    ),
    RaisedMistake(
        "other_default_dropout",
        "`dropout` needs a default: with it left out it must be 0.1.",
        lambda error, message: error == "TypeError" and "missing" in message and "'dropout'" in message,
    ),
    RaisedMistake(
        "unpacked_along_wrong_axis",
        "Something else than start and end was taken apart. They are the last axis: try `unbind(-1)`.",
        lambda error, message: error == "ValueError" and "to unpack" in message,
    ),
    RaisedMistake(
        "layer_for_wrong_width",
        "The layer was built for vectors of another width. It takes `hidden` numbers in and gives the scores out.",
        lambda error, message: error == "RuntimeError" and "shapes cannot be multiplied" in message,
    ),
)
