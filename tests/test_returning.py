"""Returning feedback where not everybody submitted through the exchange."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from grading.course import Course
from grading.feedback import write_feedback
from insidebert.cli import main
from tests.small_course import ASSIGNMENT, make_course

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange on Windows")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """ada came through the exchange, bo by mail."""
    folder = tmp_path_factory.mktemp("returning")
    course = make_course(folder / "course")
    course.config.Exchange.root = str(folder / "exchange")
    (folder / "exchange").mkdir()
    for name in ("timestamp.txt", "submission_secret.txt"):
        (course.notebook("autograded_directory", ASSIGNMENT, "bo").parent / name).unlink()
    assert write_feedback(course, ASSIGNMENT) == (2, {})
    return course


def returned(course: Course) -> list[str]:
    folder = Path(course.config.Exchange.root, "inside-bert", "feedback")
    return [page.read_text(encoding="utf-8") for page in folder.glob("*.html")]


def test_whoever_came_another_way_costs_nobody_else_the_feedback(course: Course) -> None:
    said = course.api.release_feedback(ASSIGNMENT)
    assert said["success"], said
    page = course.notebook("feedback_directory", ASSIGNMENT, "ada").with_suffix(".html")
    assert returned(course) == [page.read_text(encoding="utf-8")]


def test_a_learner_alone_who_came_another_way_is_no_failure(course: Course) -> None:
    before = returned(course)
    assert course.api.release_feedback(ASSIGNMENT, "bo")["success"]
    assert returned(course) == before


def test_who_gets_nothing_is_named(course: Course, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", logger=course.api.log.name):
        said = course.api.release_feedback(ASSIGNMENT)
    assert "exchange: bo." in said["log"]
    assert "ada" not in said["log"]


def test_one_page_that_cannot_be_read_costs_nobody_else_the_feedback(course: Course) -> None:
    slip = course.notebook("feedback_directory", ASSIGNMENT, "ada").with_name("timestamp.txt")
    before = slip.read_bytes()
    other = slip.parents[2] / "aa" / ASSIGNMENT  # comes before her, and fails
    shutil.copytree(slip.parent, other)
    (other / "submission_secret.txt").write_bytes(b"\xff\xfe\xff")
    for page in Path(course.config.Exchange.root, "inside-bert", "feedback").glob("*.html"):
        page.unlink()
    try:
        said = course.api.release_feedback(ASSIGNMENT)
        assert said["success"], said
        assert "aa/parameter_budget is not returned" in said["log"]
        assert len(returned(course)) == 1
        assert slip.read_bytes() == before
    finally:
        shutil.rmtree(other.parent)


def test_the_command_returns_it_where_the_course_s_server_looks(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a configured exchange `insidebert lab` makes one; so must this."""
    monkeypatch.setenv("INSIDEBERT_EXCHANGE", str(tmp_path / "lab"))
    assert main(["feedback", ASSIGNMENT, "--release", "--course", str(course.root)]) == 0
    assert len(list((tmp_path / "lab" / "inside-bert" / "feedback").glob("*.html"))) == 1
