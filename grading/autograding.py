"""Autogrades submissions one by one through nbgrader and says how each question went.

One learner's submission never stops another's: whatever goes wrong with it is a state and a finding in its rows.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grading.course import Course, last_word
from grading.judging import graded_cells, question_of, recorded
from grading.report import Row
from insidebert.cli import CommandError


def submitted_students(course: Course, assignment: str) -> list[str]:
    """Who has handed something in, by name."""
    folder = course.folder("submitted_directory")
    return sorted(path.parent.name for path in folder.glob(f"*/{assignment}") if path.is_dir())


@dataclass(frozen=True)
class Graded:
    """One learner's rows, and the sentence that says why a submission could not be graded."""

    student: str
    rows: list[Row]
    trouble: str = ""


def autograde(course: Course, assignment: str, students: Iterable[str]) -> Iterator[Graded]:
    """Grade one submission after the other; yields each as it is done.

    Raises:
        CommandError: the assignment has not been generated, so that nothing could be graded.
    """
    released = course.notebook("release_directory", assignment)
    if not released.is_file():
        raise CommandError(
            f"{assignment} has not been released. Run `insidebert release {assignment}` first."
        )
    for student in students:
        yield _autograde_one(course, assignment, student, released)


def _autograde_one(course: Course, assignment: str, student: str, released: Path) -> Graded:
    flags = _restore_missing(course.notebook("submitted_directory", assignment, student), released)
    result = course.api.autograde(assignment, student)
    graded = course.notebook("autograded_directory", assignment, student)
    if result["success"] and graded.is_file():
        return Graded(student, rows_of(nbformat.read(graded, as_version=4), assignment, student, flags))
    _record_zero(course, assignment, student)
    rows = [
        Row(
            student,
            assignment,
            question_of(cell).name,
            0.0,
            _points(cell),
            "crashed",
            ["not_gradable"],
            flags,
        )
        for cell in graded_cells(nbformat.read(released, as_version=4))
    ]
    return Graded(student, rows, f"could not be graded and got 0: {last_word(result)}")


def _restore_missing(submitted: Path, released: Path) -> list[str]:
    """A submission without its notebook is graded as the untouched one, and says so."""
    if submitted.is_file():
        return []
    submitted.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(released, submitted)
    return ["missing_notebook"]


def _record_zero(course: Course, assignment: str, student: str) -> None:
    """Points from an earlier run must not stand as if this one had given them."""
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(assignment, student)
        submission = gradebook.find_submission(assignment, student)
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                grade.auto_score = 0.0
                grade.needs_manual_grade = False
        gradebook.db.commit()


def rows_of(notebook: NotebookNode, assignment: str, student: str, flags: list[str]) -> list[Row]:
    """The rows of an autograded notebook, from the verdicts that were written into it."""
    rows = []
    for cell in graded_cells(notebook):
        record = recorded(cell)
        if record is None:
            raise CommandError(
                f"{student}'s {assignment} has a graded cell without a verdict "
                f"({cell.metadata['nbgrader']['grade_id']}). Autograde it again with this course's configuration."
            )
        rows.append(
            Row(
                student,
                assignment,
                record["question"],
                float(cell.outputs[0].data["text/plain"]),
                _points(cell),
                record["state"],
                list(record["findings"]),
                flags,
                _seconds(cell),
            )
        )
    return rows


def _points(cell: NotebookNode) -> float:
    return float(cell.metadata["nbgrader"]["points"])


def _seconds(cell: NotebookNode) -> float:
    try:
        times = cell.metadata["execution"]
        begin, end = times["iopub.status.busy"], times["iopub.status.idle"]
        return round((datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds(), 3)
    except (KeyError, ValueError, TypeError):  # a cell that was interrupted has no end
        return 0.0
