"""Runs of the grader that take milliseconds: all is real but the sandbox, in whose place answers are looked up."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_output
from sqlalchemy import event
from sqlalchemy.engine import Engine

from checks.evidence import EVIDENCE_MIME
from checks.probing import run_probe
from checks.questions import find
from grading.course import Course
from grading.executing import Execution
from grading.judging import graded_cells
from grading.run import Outcome, Run
from grading.sandbox.isolation import NONE
from tests.small_course import ASSIGNMENT, RIGHT, make_course, released, twelve_h_squared


@event.listens_for(Engine, "connect")
def _do_not_wait_for_the_disk(connection: Any, _: Any) -> None:
    """No test pulls the plug, and a busy machine's disk takes a second for each commit."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


PART = 6.0  # the points of the two questions that these learners answer
WRONG = {**RIGHT, "layer_parameters": twelve_h_squared}


def look_up(notebook: Any, seed: int, limits: Any, isolation: Any) -> Execution:
    """In place of `execute`: a learner who writes RIGHT or WRONG into the notebook answers like that."""
    text = notebook.cells[0].source
    if "JUDGE FAILS" in text:
        raise RuntimeError("a judge failed")
    if "KERNEL LOST" in text:
        return Execution(0.01, True, "none", "The kernel was lost 2 times.", lost=True)
    answers = RIGHT if "RIGHT" in text else WRONG if "WRONG" in text else {}
    for cell in graded_cells(notebook):
        name = cell.metadata.nbgrader.grade_id
        cell.outputs = []
        if name in answers:
            question = find(name)
            left = run_probe(question, answers[name], question.cases(seed), quiet=True)
            cell.outputs = [new_output("display_data", data={EVIDENCE_MIME: left})]
    return Execution(0.01, True, "none")


@pytest.fixture(scope="session")
def empty_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: a new gradebook takes nbgrader seconds and two dozen commits."""
    return make_course(tmp_path_factory.mktemp("course") / "empty", {}).root


def copy_of(course: Path, folder: Path) -> Course:
    shutil.copytree(course, folder)
    opened = Course.open(folder)
    opened.config.Application.log_level = "ERROR"
    return opened


class Inline:
    """A worker that works in this process."""

    def submit(self, function: Any, *args: Any) -> Future:
        future: Future = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def renew(self) -> None:
        pass


def hand_in(course: Course, student: str, text: str, timestamp: str | None = None) -> Path:
    """`text` stands in the notebook's first cell."""
    notebook = released()
    notebook.cells[0].source = text
    path = course.notebook("submitted_directory", ASSIGNMENT, student)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    if timestamp:
        (path.parent / "timestamp.txt").write_text(timestamp, encoding="utf-8")
    return path


def grade(course: Course, students: Sequence[str] | None = None, **options: Any) -> Outcome:
    with Run(course, [Inline(), Inline()], NONE, **options) as run:
        return run.grade([ASSIGNMENT], students)


def totals(course: Course) -> dict[str, float]:
    """By learner, as nbgrader counts."""
    with course.gradebook() as gradebook:
        return {
            submission.student.id: submission.score
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }
