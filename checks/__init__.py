"""What an exercise calls: `check("count_parameters", count_parameters)`.

In a learner's notebook it draws fresh inputs, calls the answer, judges what came and shows the verdict. Where a
submission is graded (`INSIDEBERT_SEED` is set) the same line only calls the answer and leaves its evidence in the
cell: what is right is decided elsewhere, afterwards, by a process that never ran the submission.
"""

from __future__ import annotations

import os
import secrets
import sys
from typing import Any

from checks.evidence import EVIDENCE_MIME, evidence_from_json
from checks.protocol import Finding, Question, Verdict

__all__ = ["CheckFailed", "check"]

SEED_VARIABLE = "INSIDEBERT_SEED"


class CheckFailed(AssertionError):
    """The answer is not right yet. In a notebook it shows as the verdict, without a stack of our frames."""

    def __init__(self, verdict: Verdict, text: str):
        super().__init__(text)
        self.verdict = verdict

    def _render_traceback_(self) -> list[str]:
        """IPython's hook: what stands in the notebook instead of a traceback."""
        return str(self).splitlines()


def check(question: str, answer: Any) -> Any:
    """Check an answer and say what is wrong with it.

    Args:
        question: the question's name, e.g. "count_parameters".
        answer: the function or class you wrote.

    Returns:
        None when the answer is right; a `NotAttempted` mark, which counts as 0, when there is no answer yet.

    Raises:
        CheckFailed: the answer is not right; the message says why.
        LookupError: there is no such question.
    """
    from checks.probing import run_probe
    from checks.questions import find

    asked = find(question)
    grading_seed = os.environ.get(SEED_VARIABLE)
    seed = int(grading_seed) if grading_seed else secrets.randbits(48)
    cases = asked.cases(seed)
    if not grading_seed and (verdict := _stale(asked, answer)):
        return _show(asked.assignment, verdict)
    evidence = run_probe(asked, answer, cases, quiet=grading_seed is not None)
    if grading_seed:
        _leave(evidence)
        return None

    from checks.judges import judge

    # Through the same codec as in grading, so that the two can never disagree.
    verdict = judge(asked, cases, evidence_from_json(evidence, question=asked.name, cases=len(cases)))
    return _show(asked.assignment, verdict)


def _stale(asked: Question, answer: Any) -> Verdict | None:
    """A verdict that judges nothing, where the cell with the answer failed to run since it was defined."""
    from checks.origins import cell_that_did_not_run

    main = sys.modules.get("__main__")
    error = cell_that_did_not_run(asked.name, answer, list(getattr(main, "In", ())))
    if not error:
        return None
    cause = "The cell with your answer did not run, so this would judge the version before. Run it and see its error."
    finding = Finding("cell_did_not_run", cause, got=error)
    return Verdict(asked.name, "crashed", 0.0, (finding,), asked.lesson, asked.section)


def _leave(evidence: dict[str, Any]) -> None:
    from IPython.display import display

    display({EVIDENCE_MIME: evidence}, raw=True)


def _show(assignment: str, verdict: Verdict) -> Any:
    from checks.render import NotAttempted, as_html, as_text, display_html, in_notebook
    from insidebert.predictions import record_exercise

    record_exercise(assignment, verdict.question, verdict.state)
    # nbgrader's Validate runs every cell whatever happens and shows the exception alone; a notebook shows the
    # verdict, and stops at an exception.
    validating = os.environ.get("NBGRADER_EXECUTION") == "validate"
    if verdict.state == "not_attempted" and not validating:
        if not in_notebook():
            print(as_text(verdict))
        return NotAttempted(verdict)
    if verdict.state == "correct":
        display_html(as_html(verdict, in_exercise=True), as_text(verdict))
        return None
    if not validating and display_html(as_html(verdict, in_exercise=True), ""):
        raise CheckFailed(verdict, f"{verdict.question}: {verdict.state} (the reason stands above)")
    raise CheckFailed(verdict, as_text(verdict))
