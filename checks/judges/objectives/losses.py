"""What the judges of the two losses share: first the value, then its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from checks.encoding import Array
from checks.judges.kinds import Kind, number
from checks.judges.objectives.reference import Loss, losses_of
from checks.judges.values import IN_PLACE, RaisedMistake, ValueJudge, correct, incorrect
from checks.protocol import Case, Finding, Outcome, Verdict
from checks.questions.objectives.loss_batches import LossBatch

# float32 passes; 1e-6 or more in a denominator of one label does not.
SCALAR = replace(number(5e-7, 1e-9), words="one number, a tensor without axes")
NAN_GRADIENT = (
    "The value is right, its gradient is not a number: a division by 0, or log of 0, is behind a `where` or a product "
    "with 0. Make the denominator at least 1 *before* dividing."
)


def of_losses(value: Callable[[Loss, Loss], float]) -> Callable[..., float]:
    """A function of a case's batch from one of its token loss and its sentence loss."""

    def way(batch: LossBatch) -> float:
        with np.errstate(all="ignore"):
            return float(value(*losses_of(batch)))

    return way


@dataclass(frozen=True, kw_only=True)
class LossJudge(ValueJudge):
    """A `ValueJudge` of the value that also looks at its gradient.

    gradients  the right ones, from the two losses.
    detached   from which of them came, the id and cause of a wrong one.
    """

    kind: Kind = SCALAR
    gradients: Callable[[Loss, Loss], list[np.ndarray]]
    detached: Callable[[list[bool]], tuple[str, str]]

    def __call__(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
        """What an answer does where there are labels says which mistake it is; it may go on in any way without."""
        pairs = list(zip(cases, map(_without_gradients, outcomes), strict=True))
        for labelled in (True, False):
            some = [pair for pair in pairs if bool(losses_of(pair[0]["batch"])[0].K) is labelled]
            verdict = super().__call__([case for case, _ in some], [outcome for _, outcome in some])
            if verdict.state != "correct":
                return verdict
        for case, outcome in zip(cases, outcomes, strict=True):
            if finding := self._wrong_gradient(case, outcome):
                return incorrect(finding)
        return correct()

    def _wrong_gradient(self, case: Case, outcome: Outcome) -> Finding | None:
        """A missing gradient is one of zeros: that is right where nothing is selected, and nowhere else."""
        expected = self.gradients(*losses_of(case["batch"]))
        came = outcome.value["gradients"] if _has_gradients(outcome.value) else []
        arrays = [part.data if isinstance(part, Array) else None for part in came]
        if len(arrays) != len(expected) or any(
            part is not None and part.shape != want.shape for part, want in zip(arrays, expected, strict=True)
        ):
            arrays = [None] * len(expected)
        if any(part is not None and not np.isfinite(part).all() for part in arrays):
            return Finding(
                "nan_gradient", NAN_GRADIENT, case.label, "a gradient with nan", "a finite gradient"
            )
        for part, want in zip(arrays, expected, strict=True):
            got = np.zeros_like(want) if part is None else part
            off = np.argwhere(~np.isclose(got, want, rtol=0, atol=1e-6))
            if len(off):
                id, cause = self.detached([it is not None and bool(it.any()) for it in arrays])
                where = tuple(int(index) for index in off[0])
                shown = f"d loss / d logits{list(where)}"
                return Finding(
                    id, cause, case.label, f"{shown} = {got[where]!r:.24}", f"{shown} = {want[where]!r:.24}"
                )
        return None


def _without_gradients(outcome: Outcome) -> Outcome:
    return replace(outcome, value=outcome.value["value"]) if _has_gradients(outcome.value) else outcome


def _has_gradients(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"value", "gradients"}
        and isinstance(value["gradients"], list)
    )


RAISED = (
    RaisedMistake(
        "changes_its_input",
        f"{IN_PLACE} The gradient needs what stood there.",
        lambda error, message: "modified by an inplace operation" in message,
    ),
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
