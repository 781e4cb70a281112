"""A gradebook that has grades moves from SQLite to a real PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

import grading.run
from grading import worker
from grading.course import Course
from grading.export import export
from grading.export_formats import FORMATS
from insidebert.cli import main
from tests.postgres import Server
from tests.small_course import ASSIGNMENT
from tests.small_run import PART, copy_of, empty_course, grade, hand_in, look_up, totals  # noqa: F401 - a fixture

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.close()


@pytest.fixture
def course(empty_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:  # noqa: F811
    """ada was late, bo has points and a comment by hand, cy an extension and waits for a person, di did nothing."""
    monkeypatch.setattr(worker, "execute", look_up)
    monkeypatch.setattr(grading.run, "prove", lambda *_: None)
    course = copy_of(empty_course, tmp_path / "course")
    with course.gradebook() as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate="2026-03-01 12:00:00 UTC")
        for student, number in {"ada": "17", "bo": "4711", "cy": None, "di": "18"}.items():
            book.add_student(
                student, first_name=f"Ünï {student}", email=f"{student}@example.org", lms_user_id=number
            )
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    for student, hour in {"ada": 13, "bo": 9, "cy": 9}.items():
        hand_in(course, student, "RIGHT", f"2026-03-01 {hour:02d}:00:00 UTC")
    grade(course)
    with course.gradebook() as book:
        book.find_grade("layer_parameters", ASSIGNMENT, ASSIGNMENT, "bo").manual_score = 2.5
        book.find_comment("breakdown_answer", ASSIGNMENT, ASSIGNMENT, "bo").manual_comment = "See me — ok?\n✓"
        book.find_grade("breakdown", ASSIGNMENT, ASSIGNMENT, "cy").needs_manual_grade = True
        book.find_submission(ASSIGNMENT, "cy").extension = timedelta(days=2, hours=3)
        book.db.commit()
    return course


def moved(course: Course, url: str) -> Course:
    """The course as it is when its configuration names the new database."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"\nc.CourseDirectory.db_url = {url!r}\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    return Course.open(course.root)


def exports(course: Course, folder: Path) -> dict[str, bytes]:
    return {name: export(course, name, folder / name)[0].read_bytes() for name in FORMATS}


def test_grades_ids_and_what_was_done_by_hand_arrive(
    course: Course, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.url("moved")
    before, points = exports(course, tmp_path / "before"), totals(course)
    assert main(["move-gradebook", url, "--course", str(course.root)]) == 0
    assert "4 learners, 3 submissions, 18 grades" in capsys.readouterr().out
    there = moved(course, url)
    (course.root / "gradebook.db").unlink()
    assert totals(there) == points
    assert exports(there, tmp_path / "after") == before
    with there.gradebook() as book:
        assert {it.id: it.lms_user_id for it in book.students} == {
            "ada": "17",
            "bo": "4711",
            "cy": None,
            "di": "18",
        }
        comment = book.find_comment("breakdown_answer", ASSIGNMENT, ASSIGNMENT, "bo")
        assert comment.manual_comment == "See me — ok?\n✓"
        assert book.find_submission(ASSIGNMENT, "cy").extension == timedelta(days=2, hours=3)
        assert book.find_submission(ASSIGNMENT, "ada").timestamp == datetime(2026, 3, 1, 13)
        assert book.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, "ada").late_submission_penalty == PART
    outcome = grade(there)  # what has been graded is not graded again, and the next one is
    assert (outcome.graded, outcome.kept) == (0, 3)
    hand_in(there, "di", "RIGHT")
    assert grade(there).graded == 1
    assert totals(there) == {**points, "di": PART}
    assert not (course.root / "gradebook.db").exists()


def test_where_a_release_has_made_the_tables_there_is_room_and_where_a_class_is_there_is_none(
    course: Course, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.url("taken")
    there = moved(course, url)
    there.gradebook().close()  # makes the tables, and the course
    words = ["move-gradebook", url, "--course", str(course.root)]
    assert main(words) == 0  # from gradebook.db, although the configuration names the other already
    points = totals(there)
    assert main(words) == 2
    assert "a class of its own" in capsys.readouterr().err
    assert totals(there) == points == {"ada": PART, "bo": 5.5, "cy": PART}


def test_a_row_that_the_other_will_not_have_leaves_nothing_behind(
    course: Course, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    with course.gradebook() as book:
        book.find_student("di").first_name = "x" * 200  # SQLite does not count
        book.db.commit()
    url = server.url("strict")
    assert main(["move-gradebook", url, "--course", str(course.root)]) == 2
    said = capsys.readouterr().err
    assert "too long" in said and "Nothing was moved" in said and len(said.splitlines()) == 1
    engine = create_engine(url)
    assert inspect(engine).get_table_names() == []
    engine.dispose()
    assert totals(course) == {"ada": PART, "bo": 5.5, "cy": PART}


def test_what_cannot_be_moved_is_one_sentence(
    course: Course, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["move-gradebook", "--course", str(course.root)]
    away = "postgresql+psycopg://grader:secret@127.0.0.1:9/book"
    other = server.url("other")
    engine = create_engine(other)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE theirs (number INTEGER)"))
    engine.dispose()
    for more, says in (
        ([away], "cannot be used"),
        ([other], "somebody else's"),
        ([server.url("free"), "--from", f"sqlite:///{tmp_path / 'none.db'}"], "there is no gradebook"),
        (["nonsense"], "cannot be used"),
    ):
        assert main([*words, *more]) == 2
        said = capsys.readouterr().err
        assert says in said and "secret" not in said and len(said.splitlines()) == 1, said
    shutil.rmtree(course.root / "solutions")
    assert main([*words, away]) == 2
