"""What cannot be graded through nbgrader's own ways, `nbgrader autograde` and the formgrader's button: nobody's zero.

All is real but the sandbox. The same through `insidebert grade` is in `test_grade.py`.
"""

from __future__ import annotations

from copy import deepcopy

import nbformat
import pytest
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from grading import preprocessors
from grading.feedback import write_feedback
from grading.sandbox.isolation import SandboxUnavailable
from tests import small_run
from tests.small_course import ASSIGNMENT
from tests.small_run import PART, copy_of, hand_in, look_up, totals

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own
empty_course = small_run.empty_course
SAYS = {
    "KERNEL LOST": "The kernel was lost 2 times",
    "JUDGE FAILS": "RuntimeError: a judge failed",
    "cut off": "The notebook cannot be read: it is cut off",
}


@pytest.fixture
def course(empty_course, tmp_path, monkeypatch):
    """ada and bo have been graded, by the button as well."""
    monkeypatch.setattr(preprocessors, "execute", look_up)
    course = copy_of(empty_course, tmp_path / "course")
    course.config.Probe.isolation = "none"
    hand_in(course, "ada", "RIGHT")
    hand_in(course, "bo", "RIGHT")
    for student in ("ada", "bo"):
        assert course.api.autograde(ASSIGNMENT, student)["success"]
    assert totals(course) == {"ada": PART, "bo": PART}
    return course


def break_it(course, how):
    path = hand_in(course, "ada", how)
    if how == "cut off":
        path.write_bytes(path.read_bytes()[:5000])


def press(course, student):
    """The formgrader's button."""
    said = course.api.autograde(ASSIGNMENT, student)
    return said["success"], said.get("log", "")


def autograde(course, _):
    """`nbgrader autograde --force`, over the whole class; it ends with status 1 where this raises."""
    config = deepcopy(course.config)
    config.CourseDirectory.assignment_id = ASSIGNMENT
    try:
        Autograde(coursedir=CourseDirectory(config=config), config=config, force=True).start()
    except NbGraderException as error:
        return False, str(error)
    return True, ""


@pytest.mark.parametrize("grade", [press, autograde])
@pytest.mark.parametrize("how", SAYS)
def test_nobodys_zero_and_no_older_grade(course, grade, how):
    break_it(course, how)
    success, said = grade(course, "ada")
    assert not success
    assert f"ada's {ASSIGNMENT} has no points and waits for a manual grade. " in said
    assert SAYS[how] in said
    assert "bo's" not in said
    assert totals(course) == {"ada": 0, "bo": PART}
    with course.gradebook() as book:
        grades = book.find_submission(ASSIGNMENT, "ada").notebooks[0].grades
        assert {(one.auto_score, one.needs_manual_grade) for one in grades} == {(None, True)}
        assert not book.find_submission(ASSIGNMENT, "bo").needs_manual_grade
    shown = {one["student"]: one for one in course.api.get_submissions(ASSIGNMENT)}
    assert (shown["ada"]["autograded"], shown["ada"]["needs_manual_grade"]) == (True, True)
    path = course.notebook("autograded_directory", ASSIGNMENT, "ada")
    assert "Not checked" in nbformat.writes(nbformat.read(path, as_version=4))
    assert write_feedback(course, ASSIGNMENT) == (2, {})
    page = course.notebook("feedback_directory", ASSIGNMENT, "ada").with_suffix(".html")
    assert "Not graded yet" in page.read_text(encoding="utf-8")
    hand_in(course, "ada", "RIGHT")
    assert grade(course, "ada")[0]
    assert totals(course) == {"ada": PART, "bo": PART}


def test_a_run_without_a_sandbox_is_nobodys_matter(course, monkeypatch):
    """It holds for the whole class: nobody is left to a person one by one."""

    def refuses(*_):
        raise SandboxUnavailable("there is none")

    monkeypatch.setattr(preprocessors, "execute", refuses)
    success, said = press(course, "ada")
    assert not success
    assert "waits for a manual grade" not in said
