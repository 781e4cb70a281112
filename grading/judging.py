"""From the evidence a cell left to the points nbgrader reads: the trusted half, after the kernel is gone.

Fail closed: no evidence, two pieces of it, evidence for another question or evidence that does not parse is 0
with the reason. What the submission printed or returned in the cell is thrown away, whatever it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode, from_dict
from nbgrader.utils import is_grade

from checks.encoding import BadEvidence
from checks.evidence import EVIDENCE_MIME, evidence_from_json
from checks.judges import judge
from checks.protocol import Finding, Question, Verdict
from checks.questions import find
from checks.render import as_html

RECORD = "insidebert"  # where a judged cell's output keeps the verdict for reports


def graded_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that ask a question, in order: nbgrader's autograded code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and is_grade(cell)]


def question_of(cell: NotebookNode) -> Question:
    """The question a graded cell asks: its `grade_id` is the question's name.

    Raises:
        LookupError: the cell asks nothing that `checks` knows, so nobody could judge it.
    """
    return find(cell.metadata["nbgrader"]["grade_id"])


def judge_notebook(notebook: NotebookNode, seed: int) -> list[Verdict]:
    """Judge every graded cell of an executed notebook in place; returns the verdicts in order."""
    verdicts = []
    for cell in graded_cells(notebook):
        verdict = verdict_on(cell, question_of(cell), seed, notebook.cells)
        write_verdict(cell, verdict)
        verdicts.append(verdict)
    return verdicts


def verdict_on(
    cell: NotebookNode, question: Question, seed: int, cells: Sequence[NotebookNode] = ()
) -> Verdict:
    """The verdict on one executed cell.

    Args:
        seed: the one the kernel was started with; the inputs are drawn from it again.
        cells: the notebook's cells, to say which earlier one failed when there is no evidence.
    """
    pieces = evidence_in(cell)
    if not pieces:
        return _refused(question, _why_no_evidence(cell, cells))
    if len(pieces) > 1:
        cause = f"The check ran once and left {len(pieces)} results; nothing else may write them."
        return _refused(question, Finding("evidence_twice", cause))
    cases = question.cases(seed)
    try:
        evidence = evidence_from_json(pieces[0], question=question.name, cases=len(cases))
    except BadEvidence as error:
        return _refused(question, Finding("bad_evidence", f"What the check left is not a result. {error}"))
    return judge(question, cases, evidence)


def evidence_in(cell: NotebookNode) -> list[Any]:
    """What the check left in the cell, as it came: nothing about it is known yet, not even that it is one piece."""
    return [output["data"][EVIDENCE_MIME] for output in _outputs(cell) if EVIDENCE_MIME in _data(output)]


def write_verdict(cell: NotebookNode, verdict: Verdict) -> None:
    """Replace the cell's outputs by one result: points as its plain text, which nbgrader reads, and the verdict
    as its HTML, which people read."""
    points = points_for(verdict, float(cell.metadata["nbgrader"]["points"]))
    parts = {
        "output_type": "execute_result",
        "data": {"text/plain": repr(points), "text/html": as_html(verdict)},
        "execution_count": cell.execution_count or 0,
        "metadata": {
            RECORD: {
                "question": verdict.question,
                "state": verdict.state,
                "score": verdict.score,
                "findings": [finding.id for finding in verdict.findings],
            }
        },
    }
    cell.outputs = [from_dict(parts)]  # what `new_output` makes; it is held to its form with the notebook


def points_for(verdict: Verdict, max_points: float) -> float:
    return round(verdict.score * max_points, 2)


def recorded(cell: NotebookNode) -> dict[str, Any] | None:
    """What `write_verdict` noted in a judged cell; None where it has not been."""
    for output in _outputs(cell):
        metadata = output.get("metadata")
        record = metadata.get(RECORD) if isinstance(metadata, Mapping) else None
        if record and isinstance(record, Mapping):
            return dict(record)
    return None


def is_verdict(cell: NotebookNode) -> bool:
    """Whether the cell is a graded one whose only output is a verdict of ours: nothing in it is a learner's."""
    return bool(
        cell.cell_type == "code"
        and is_grade(cell)
        and len(_outputs(cell)) == 1
        and recorded(cell) is not None
    )


def _refused(question: Question, finding: Finding) -> Verdict:
    return Verdict(question.name, "crashed", 0.0, (finding,), question.lesson, question.section)


def _why_no_evidence(cell: NotebookNode, cells: Sequence[NotebookNode]) -> Finding:
    error = _error(cell)
    if error is None:
        return Finding(
            "no_evidence", "The check left no result: the cell did not run, or its output is gone."
        )
    name, message = error
    if "Timeout" in name or name == "KeyboardInterrupt":
        return Finding(
            "timed_out", "The check did not finish in the time it has. Is there a loop without an end?"
        )
    earlier = [found for other in cells[: _position(cell, cells)] if (found := _error(other))]
    if earlier and name == "NameError":
        first_name, first_message = earlier[0]
        cause = "An earlier cell of the notebook failed, so the answer was never defined."
        return Finding("earlier_cell_failed", cause, got=f"{first_name}: {first_message}")
    return Finding(
        "check_not_run", "The check stopped before it could call the answer.", got=f"{name}: {message}"
    )


def _position(cell: NotebookNode, cells: Sequence[NotebookNode]) -> int:
    return next((index for index, other in enumerate(cells) if other is cell), 0)


def _error(cell: NotebookNode) -> tuple[str, str] | None:
    for output in _outputs(cell):
        if output.get("output_type") == "error":
            return str(output.get("ename", "error"))[:60], _plain(str(output.get("evalue", "")))[:200]
    return None


def _outputs(cell: NotebookNode) -> list[Mapping[str, Any]]:
    """The cell's outputs, as far as they have the form of one: a kernel may send anything."""
    outputs = cell.get("outputs", [])
    return [output for output in outputs if isinstance(output, Mapping)] if isinstance(outputs, list) else []


def _data(output: Mapping[str, Any]) -> Mapping[str, Any]:
    data = output.get("data", {})
    return data if isinstance(data, Mapping) else {}


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).encode("utf-8", "replace").decode("utf-8").strip()
