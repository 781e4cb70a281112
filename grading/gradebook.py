"""The one writer: from a worker's result to nbgrader's gradebook, through nbgrader's own classes.

One submission is one transaction. `auto_score`, the flag for manual grading, comments and late penalties get the
values that nbgrader's `SaveAutoGrades` and `AssignLatePenalties` give them, without the connection each of those
opens and the commit they make for every cell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from nbgrader.api import Gradebook, InvalidEntry, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from tornado.log import app_log

from grading.course import Course
from grading.database import Unusable, cause_of, sentence

Result = TypeVar("Result")


class Writer:
    """Holds the gradebook of a course open for one run."""

    def __init__(self, course: Course, patience: float = 60.0, wait: Callable[[float], None] = time.sleep):
        """Open it.

        Args:
            patience: seconds to wait for a database that has gone away.
            wait: how to wait, for tests.

        Raises:
            CommandError: it cannot be reached, or another version of nbgrader made it.
        """
        self._course = course
        self._wait = wait
        self._patience = 0.0  # what is not there at the start is not on its way
        self._penalties = AssignLatePenalties(config=course.config)
        self._penalties.init_plugin()
        self.creates_students = bool(course.config.Autograde.get("create_student", True))
        self._book: Gradebook | None = None
        self._persistently(lambda book: None)  # what is wrong with it is said before anybody is graded
        self._patience = patience

    def close(self) -> None:
        if self._book is not None:
            self._book.close()
            self._book = None

    def released(self, assignment: str) -> dict[str, float] | None:
        """The points of each graded cell of an assignment; None where the gradebook does not know it."""
        return self._persistently(partial(_released, assignment=assignment))

    def knows(self, student: str) -> bool:
        return self._persistently(lambda book: _find(book.find_student, student) is not None)

    def scores(self, assignment: str) -> dict[str, dict[str, float | None]]:
        """By student and cell, what the autograder gave: in one look, however large the class."""
        return self._persistently(partial(_scores, assignment=assignment))

    def waiting(self, assignment: str) -> set[str]:
        """The students with a cell that waits for a manual grade."""
        return self._persistently(partial(_waiting, assignment=assignment))

    def write(
        self,
        student: str,
        assignment: str,
        scores: dict[str, float | None],
        *,
        untouched: frozenset[str] = frozenset(),
        submitted: datetime | None = None,
    ) -> None:
        """Write one submission, in one transaction.

        Args:
            scores: points by cell. A cell that is not in it, or None, has no autograded points and waits for a person.
            untouched: the answer cells left as they came.
            submitted: when it was handed in, in UTC and without a zone; None where nobody noted it.

        A manual score stays, and the cell is marked for review, as nbgrader does.

        Raises:
            Unusable: the disk is full, or the database stayed away.
        """
        self._persistently(lambda book: self._write(book, student, assignment, scores, untouched, submitted))

    def _write(
        self,
        book: Gradebook,
        student: str,
        assignment: str,
        scores: dict[str, float | None],
        untouched: frozenset[str],
        submitted: datetime | None,
    ) -> None:
        submission = _find(book.find_submission, assignment, student)
        if submission is None:
            with _one_transaction(book):
                book.update_or_create_student(student)
                submission = book.add_submission(assignment, student)
        if submitted is not None:
            submission.timestamp = submitted
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                grade.auto_score = scores.get(grade.name)
                grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
            for comment in notebook.comments:
                comment.auto_comment = "No response." if comment.name in untouched else None
        book.db.flush()
        for notebook in submission.notebooks:
            notebook.late_submission_penalty = self._penalty(book, submission, notebook, student)
        book.db.commit()

    def _penalty(
        self, book: Gradebook, submission: SubmittedAssignment, notebook: SubmittedNotebook, student: str
    ) -> float | None:
        """By the course's own late policy, held between 0 and the notebook's points as nbgrader does."""
        due = submission.assignment.duedate  # without one, nbgrader's own sum fails on an extension
        late = submission.total_seconds_late if due else 0
        if late <= 0:
            return None
        book.db.refresh(notebook, ["score"])
        penalty = self._penalties.plugin_inst.late_submission_penalty(student, notebook.score, late)
        return None if penalty is None else float(min(max(penalty, 0), notebook.score))

    def _persistently(self, action: Callable[[Gradebook], Result]) -> Result:
        """Do it, again on a new connection while the database is away.

        Safe to repeat: an action either committed or left no trace, and writing the same points twice is writing them.
        """
        deadline = time.monotonic() + self._patience
        pause = 0.25
        while True:
            try:
                with _without_tracebacks():
                    if self._book is None:
                        self._book = self._course.gradebook()
                    return action(self._book)
            except (SQLAlchemyError, InvalidEntry, Unusable) as error:
                self._let_go()
                cause = cause_of(error)
                if not _may_pass(cause) or time.monotonic() + pause > deadline:
                    raise Unusable(sentence(str(self._course.directory.db_url), cause)) from error
            self._wait(pause)
            pause = min(2 * pause, 5.0)

    def _let_go(self) -> None:
        try:
            self.close()
        except SQLAlchemyError:  # a connection that is gone cannot say goodbye
            self._book = None


@contextmanager
def _one_transaction(book: Gradebook) -> Iterator[None]:
    """nbgrader commits whatever it adds, and reads all of it again afterwards; here that is part of a whole."""
    book.db.commit = book.db.flush
    try:
        yield
    finally:
        del book.db.commit  # the class's own again


@contextmanager
def _without_tracebacks() -> Iterator[None]:
    """nbgrader logs the trace of a database's failure, which is told here in a sentence."""
    was, app_log.disabled = app_log.disabled, True
    try:
        yield
    finally:
        app_log.disabled = was


def _find(find: Callable[..., Any], *names: str) -> Any:
    try:
        return find(*names)
    except MissingEntry:
        return None


def _released(book: Gradebook, assignment: str) -> dict[str, float] | None:
    found = _find(book.find_assignment, assignment)
    if found is None:
        return None
    return {cell.name: float(cell.max_score) for notebook in found.notebooks for cell in notebook.grade_cells}


_GRADES = (
    " FROM grade JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id"
    " JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id"
    " JOIN assignment ON assignment.id = submitted_assignment.assignment_id"
    " JOIN base_cell ON base_cell.id = grade.cell_id WHERE assignment.name = :assignment"
)
_SCORES = text(f"SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score {_GRADES}")
_WAITING = text(f"SELECT submitted_assignment.student_id, grade.needs_manual_grade {_GRADES}")


def _scores(book: Gradebook, assignment: str) -> dict[str, dict[str, float | None]]:
    found: dict[str, dict[str, float | None]] = {}
    for student, cell, score in book.db.execute(_SCORES, {"assignment": assignment}):
        found.setdefault(student, {})[cell] = score
    book.db.rollback()  # a reading transaction left open would hold back SQLite's log
    return found


def _waiting(book: Gradebook, assignment: str) -> set[str]:
    rows = book.db.execute(_WAITING, {"assignment": assignment})
    found = {student for student, waits in rows if waits}
    book.db.rollback()
    return found


def _may_pass(error: BaseException | None) -> bool:
    """Whether waiting may help: a server that restarts, a lock; not a full disk or a table that is not there."""
    if not isinstance(error, DBAPIError) or not (
        error.connection_invalidated or isinstance(error, (OperationalError, InterfaceError))
    ):
        return False
    said = str(error.orig).lower()
    return not any(words in said for words in ("disk is full", "no such table", "no such column", "password"))
