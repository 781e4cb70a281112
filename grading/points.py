"""Whether the points in the gradebook are still those that were asked for: an assignment may be released again with
others, and then a learner who was graded before would have 20 of 18."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import text

from grading.flags import printable

_SHOWN = 10  # names in one sentence
_EXCESS = text(
    "SELECT submitted_assignment.student_id, base_cell.name, grade.manual_score, grade_cells.max_score FROM grade"
    " JOIN grade_cells ON grade_cells.id = grade.cell_id JOIN base_cell ON base_cell.id = grade.cell_id"
    " JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id"
    " JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id"
    " JOIN assignment ON assignment.id = submitted_assignment.assignment_id"
    " WHERE assignment.name = :assignment AND grade.manual_score > grade_cells.max_score"
)


def outdated(directory: CourseDirectory, gradebook: Gradebook, assignment: str) -> list[str]:
    """The learners who were graded by other points than the gradebook has for this assignment now."""
    now = _points_now(gradebook, assignment)
    students = (submission.student_id for submission in gradebook.assignment_submissions(assignment))
    then = {student: _points_then(directory, assignment, student) for student in students}
    return sorted(student for student, points in then.items() if points and points != now)


def obstacles(directory: CourseDirectory, gradebook: Gradebook, assignments: Sequence[str]) -> Iterator[str]:
    """A sentence for each reason why grades cannot be given out as they stand; what to do is in it."""
    for assignment in assignments:
        if students := outdated(directory, gradebook, assignment):
            yield (
                f"the points of {assignment} have changed since {names(students)} were graded. "
                f"Run `insidebert grade {assignment}`, which grades them again, and then this."
            )
        if excess := list(_excess(gradebook, assignment)):
            yield (
                f"more points were given by hand than there are now in {assignment}: {names(excess)}. "
                "Put that right in the formgrader, and then run this again."
            )


def names(of: Sequence[str]) -> str:
    """A list for a sentence, not longer than a person reads."""
    more = f" and {len(of) - _SHOWN} more" if len(of) > _SHOWN else ""
    return ", ".join(map(printable, of[:_SHOWN])) + more


def _points_now(gradebook: Gradebook, assignment: str) -> dict[str, float]:
    notebooks = gradebook.find_assignment(assignment).notebooks
    return {cell.name: float(cell.max_score) for notebook in notebooks for cell in notebook.grade_cells}


def _points_then(directory: CourseDirectory, assignment: str, student: str) -> dict[str, float]:
    """By cell, as its autograded notebook has them; nothing where there is none, or none of ours."""
    folder = directory.format_path(directory.autograded_directory, student, assignment)
    try:
        cells: Any = json.loads(Path(folder, f"{assignment}.ipynb").read_bytes())["cells"]
        marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        return {mark["grade_id"]: float(mark["points"]) for mark in marks if mark.get("grade")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _excess(gradebook: Gradebook, assignment: str) -> Iterator[str]:
    """What a person gave that is more than there is; extra credit has a field of its own."""
    for student, cell, given, most in gradebook.db.execute(_EXCESS, {"assignment": assignment}):
        yield f"{student} ({cell}, {given:g} of {most:g})"
