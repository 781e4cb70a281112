"""Grades as files that other programs read: nbgrader's own columns, Canvas's gradebook import, Moodle's grade import.

Each is an nbgrader exporter: `nbgrader export --exporter=grading.export_formats.CanvasCsv` works too. nbgrader's own
`CsvExportPlugin` writes names as they are, unquoted: a comma in one shifts the grades, and a learner who calls herself
`=HYPERLINK(…)` gets a formula into the instructor's spreadsheet.

The columns of Canvas and Moodle are those that their own importers look for (canvas-lms `lib/gradebook_importer.rb`,
moodle `grade/import/csv/classes/load_data.php`).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from nbgrader.api import Assignment, Gradebook, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins.export import ExportPlugin
from traitlets import Bool

from grading.points import obstacles
from insidebert.errors import CommandError

# Where a spreadsheet may begin to read a formula: at the start of a cell, or after what it may take for a separator.
_FORMULA = re.compile(r"(^|[,;|\"])(\s*)(?=[=+\-@＝＋－＠])")
# Ends of lines, what a terminal obeys, what turns the direction of writing, and halves of characters.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")


@dataclass(frozen=True)
class Grade:
    """One learner's points for one assignment, as the gradebook has them: manual grades and penalties included."""

    assignment: str
    student: str
    raw_score: float = 0.0
    penalty: float = 0.0
    timestamp: Any = ""
    handed_in: bool = False
    needs_manual_grade: bool = False

    @property
    def score(self) -> float:
        return max(0.0, self.raw_score - self.penalty)


class Grades:
    """The grades of a gradebook, chosen by assignment and learner; read with one query."""

    def __init__(self, gradebook: Gradebook, assignments: Sequence[str] = (), students: Sequence[str] = ()):
        self.assignments = [it for it in gradebook.assignments if not assignments or it.name in assignments]
        self.students = [it for it in gradebook.students if not students or it.id in students]
        rows = gradebook.db.query(
            Assignment.name,
            SubmittedAssignment.student_id,
            SubmittedAssignment.score,
            SubmittedAssignment.late_submission_penalty,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.needs_manual_grade,
        ).join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        self._found = {
            (name, student): Grade(
                name, student, score or 0.0, penalty or 0.0, timestamp or "", True, bool(manual)
            )
            for name, student, score, penalty, timestamp, manual in rows
        }

    def of(self, assignment: str, student: str) -> Grade:
        """A learner's grade; who handed in nothing has 0, as in nbgrader."""
        return self._found.get((assignment, student)) or Grade(assignment, student)

    def __iter__(self) -> Iterator[Grade]:
        return (self.of(a.name, s.id) for a in self.assignments for s in self.students)


def text(value: Any) -> str:
    """A cell that a spreadsheet reads as text: on one line, and with `'` before what would be a formula."""
    return _FORMULA.sub(r"\1\2'", _CONTROL.sub(" ", "" if value is None else str(value)))


def number(value: float) -> str:
    """Points to a hundredth, without trailing zeros; a point is the decimal sign."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


class _Csv(ExportPlugin):
    """Writes `rows` to the file named by `--to`."""

    default_name: ClassVar[str]
    blank_missing = Bool(False, help="leave the cell empty, not 0, where a learner handed in nothing").tag(
        config=True
    )

    def export(self, gradebook: Gradebook) -> None:
        grades = Grades(gradebook, list(map(str, self.assignment)), list(map(str, self.student)))
        wanted = [assignment.name for assignment in grades.assignments]
        if found := list(obstacles(CourseDirectory(config=self.config), gradebook, wanted)):
            raise CommandError("nothing is exported: " + " ".join(found))
        path = Path(self.to or self.default_name)
        partial = path.with_name(path.name + ".part")
        with partial.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(self.rows(grades))
        partial.replace(path)
        self.log.info("Exported grades to %s", path)

    def rows(self, grades: Grades) -> Iterator[list[str]]:
        raise NotImplementedError

    def points(self, grade: Grade) -> str:
        return "" if self.blank_missing and not grade.handed_in else number(grade.score)


class NbgraderCsv(_Csv):
    """nbgrader's own table, a row an assignment and learner; the same bytes wherever nothing needs quoting."""

    default_name = "grades.csv"

    def rows(self, grades: Grades) -> Iterator[list[str]]:
        yield [
            "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
            "late_submission_penalty", "score", "max_score",
        ]  # fmt: skip
        for assignment in grades.assignments:
            for student in grades.students:
                grade = grades.of(assignment.name, student.id)
                missing = self.blank_missing and not grade.handed_in
                points = (
                    ["", "", ""] if missing else [str(grade.raw_score), str(grade.penalty), str(grade.score)]
                )
                person = (student.id, student.last_name, student.first_name, student.email)
                yield [
                    text(assignment.name), text(assignment.duedate), text(grade.timestamp), *map(text, person),
                    *points, str(assignment.max_score),
                ]  # fmt: skip


class CanvasCsv(_Csv):
    """Canvas's gradebook import: a row a learner, a column an assignment, and above them the points possible.

    Canvas finds a learner by ID (nbgrader's `lms_user_id`), else by SIS login (nbgrader's student id), else by name; an
    assignment by its title, which may end in its Canvas id in brackets.
    """

    default_name = "grades-canvas.csv"

    def rows(self, grades: Grades) -> Iterator[list[str]]:
        names = [text(assignment.name) for assignment in grades.assignments]
        yield ["Student", "ID", "SIS Login ID", "Section", *names]
        yield ["    Points Possible", "", "", "", *(number(it.max_score) for it in grades.assignments)]
        for student in grades.students:
            full = ", ".join(part for part in (student.last_name, student.first_name) if part) or student.id
            # Canvas takes any row whose name says so for the one with the points possible.
            full = full.replace("Points Possible", "Points-Possible")
            own = [self.points(grades.of(assignment.name, student.id)) for assignment in grades.assignments]
            yield [text(full), text(student.lms_user_id), text(student.id), "", *own]


class MoodleCsv(_Csv):
    """Moodle's grade import: a row a learner, a column an assignment.

    The import's page asks which column identifies the learner (username, ID number or email address) and which grade
    item each other column goes to. Moodle refuses the whole file when it knows one of the learners not.
    """

    default_name = "grades-moodle.csv"

    def rows(self, grades: Grades) -> Iterator[list[str]]:
        names = [text(assignment.name) for assignment in grades.assignments]
        yield ["Username", "ID number", "First name", "Last name", "Email address", *names]
        for student in grades.students:
            person = (student.id, student.lms_user_id, student.first_name, student.last_name, student.email)
            own = [self.points(grades.of(assignment.name, student.id)) for assignment in grades.assignments]
            yield [*map(text, person), *own]


FORMATS: dict[str, type[_Csv]] = {"nbgrader": NbgraderCsv, "canvas": CanvasCsv, "moodle": MoodleCsv}
