"""Time stamps with the names of zones: nobody loses points to two hours that were none."""

from __future__ import annotations

import sys
from copy import deepcopy
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory

import grading.run
from grading import worker
from grading.exchange import Collect
from grading.moments import moment_of, read_moment, write_moment
from tests.small_course import ASSIGNMENT
from tests.small_run import PART, copy_of, empty_course, grade, hand_in, totals  # noqa: F401 - a fixture

NOON = datetime(2026, 7, 1, 12)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-07-01 12:00:00.000000 UTC", NOON),
        ("2026-07-01T12:00:00Z", NOON),
        ("2026-07-01 12:00", NOON),  # nbgrader's rule
        ("2026-07-01 14:00:00 CEST", NOON),
        ("2026-07-01 08:00:00 EDT", NOON),
        ("2026-07-01 13:00:00 BST", NOON),
        ("2026-07-01 09:00:00 -03", NOON),  # as Python calls São Paulo
        ("2026-07-01 17:45:00 +0545", NOON),
        ("2026-07-01 14:00:00+02:00", NOON),
        ("2026-07-01 14:00:00 UTC+02:00", NOON),
        ("2026-07-01 14:00:00 Europe/Berlin", NOON),
        ("2026-07-01 13:00:00 CET", NOON),  # not what Berlin calls itself then, but no other hour either
        ("2026-10-25 02:30:00 CEST", datetime(2026, 10, 25, 0, 30)),  # the hour that comes twice
        ("2026-10-25 02:30:00 CET", datetime(2026, 10, 25, 1, 30)),
        ("2026-07-01 12:00:00.25 UTC", NOON.replace(microsecond=250_000)),
    ],
)
def test_a_stamp_is_read_by_rule(text: str, moment: datetime) -> None:
    assert read_moment(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-07-01",
        "2026-13-01 10:00:00 UTC",
        "2026-07-01 25:00:00 UTC",
        "2026-07-01 10:00:00 PM",
        "2026-07-01 10:00:00 XYZ",
        "2026-07-01 10:00:00 +99:00",
        "2026-07-01 10:00:00 ../../etc/passwd",
        "2026-07-01 10:00:00 CST",  # Chicago, Havana or Shanghai
        "2026-01-10 10:00:00 CEST",  # no clock shows it in winter
        "2026-10-25 02:30:00 Europe/Berlin",  # twice
        "2026-03-29 02:30:00 Europe/Berlin",  # never
        "9999-12-31 23:59:59 UTC",
        "0001-01-01 00:00:00 UTC",
        "9" * 5000,
    ],
)
def test_a_stamp_that_is_not_sure_is_none(text: str) -> None:
    assert read_moment(text) is None


def test_the_courses_own_zone_says_what_a_shared_name_means() -> None:
    assert read_moment("2026-07-01 17:30:00 IST") is None
    assert read_moment("2026-07-01 17:30:00 IST", "Asia/Kolkata") == NOON
    assert read_moment("2026-07-01 20:00:00 CST", "Asia/Shanghai") == NOON
    assert read_moment("2026-07-01 14:00:00 CEST", "Asia/Shanghai") == NOON
    assert read_moment("2026-07-01 14:00:00 CEST", "no/such zone") == NOON


def test_what_is_written_is_read() -> None:
    assert read_moment(write_moment(NOON)) == NOON
    assert moment_of(2.0**60) is None


# --- where it counts ---------------------------------------------------------------------------------------

STAMPS = {  # by learner: what the exchange wrote for 11:00 UTC, an hour before the deadline; the last is late
    "ada": "2026-07-01 13:00:00.000000 CEST",
    "bo": "2026-07-01 07:00:00.000000 EDT",
    "cy": "2026-07-01 08:00:00.000000 -03",
    "di": "2026-07-01 11:00:00.000000 UTC",
    "eve": "2026-07-01 14:30:00.000000 CEST",
}


@pytest.fixture
def course(empty_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: F811
    from tests.small_run import look_up

    monkeypatch.setattr(worker, "execute", look_up)
    monkeypatch.setattr(grading.run, "prove", lambda *_: None)
    course = copy_of(empty_course, tmp_path / "course")
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    with course.gradebook() as book:
        book.find_assignment(ASSIGNMENT).duedate = NOON
        book.db.commit()
    for student, stamp in STAMPS.items():
        hand_in(course, student, "RIGHT", stamp)
    return course


def times(course) -> dict[str, datetime]:
    with course.gradebook() as book:
        return {it.student.id: it.timestamp for it in book.assignment_submissions(ASSIGNMENT)}


def test_a_zones_name_costs_nobody_a_penalty(course) -> None:
    grade(course)
    assert times(course) == {
        **dict.fromkeys(STAMPS, NOON.replace(hour=11)),
        "eve": datetime(2026, 7, 1, 12, 30),
    }
    with course.gradebook() as book:
        found = book.notebook_submissions(ASSIGNMENT, ASSIGNMENT)
        assert {it.student.id: it.score - (it.late_submission_penalty or 0) for it in found} == {
            **dict.fromkeys(STAMPS, PART),
            "eve": 0,
        }
    assert totals(course)["di"] == PART


def test_nbgraders_own_run_reads_the_same_times(course) -> None:
    from nbgrader.converters import Autograde

    config = deepcopy(course.config)
    config.Autograde.autograde_preprocessors = []
    config.CourseDirectory.assignment_id = ASSIGNMENT
    Autograde(coursedir=CourseDirectory(config=config), config=config).start()
    assert times(course) == {
        **dict.fromkeys(STAMPS, NOON.replace(hour=11)),
        "eve": datetime(2026, 7, 1, 12, 30),
    }
    kept = course.notebook("autograded_directory", ASSIGNMENT, "ada").with_name("timestamp.txt")
    assert (
        kept.read_text(encoding="utf-8") == STAMPS["ada"]
    )  # the exchange knows the feedback by these letters


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange there")
@pytest.mark.parametrize("random", ["+c2VjcmV0Xy0x", ""])
@pytest.mark.parametrize("stamp", [*STAMPS.values(), "2026-07-01 13:00:00 +0200"])
def test_the_exchange_sorts_by_the_time_that_a_name_means(
    course, tmp_path: Path, stamp: str, random: str
) -> None:
    folder = tmp_path / f"a+b+{ASSIGNMENT}+{stamp}{random}"
    folder.mkdir()
    config = deepcopy(course.config)
    config.CourseDirectory.assignment_id = ASSIGNMENT
    config.ExchangeCollect.check_owner = False
    collect = Collect(coursedir=CourseDirectory(config=config), config=config)
    record = collect._path_to_record(str(folder))
    assert (record["username"], record["timestamp"]) == ("a+b", read_moment(stamp))
    folder.rmdir()
    assert collect._path_to_record(str(folder))["username"] is None


# --- due dates ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-01 14:00 +0200",  # as the formgrader writes it
        "2026-07-01 08:00 -0400",
        "2026-07-01 14:00 CEST",
        "2026-07-01 14:00 Europe/Berlin",
        "2026-07-01T12:00:00Z",
        "July 1, 2026 12:00",  # as it went
        NOON,
    ],
)
def test_a_due_date_is_the_moment_it_says(course, text: str | datetime) -> None:
    with course.gradebook() as book:
        book.update_or_create_assignment(ASSIGNMENT, duedate=text)
        assert book.find_assignment(ASSIGNMENT).duedate == NOON


def test_a_due_date_that_is_not_sure_is_refused(course) -> None:
    with course.gradebook() as book, pytest.raises(ValueError, match="offset"):
        book.update_or_create_assignment(ASSIGNMENT, duedate="2026-07-01 14:00 CST")


def test_the_formgraders_list_survives_any_stamp(course) -> None:
    hand_in(course, "bo", "RIGHT", "soon")
    hand_in(course, "cy", "RIGHT", "2026-07-01 14:00:00 CST")
    times = {
        student: course.api.get_submitted_timestamp(ASSIGNMENT, student) for student in ("ada", "bo", "cy")
    }
    assert times == {"ada": NOON.replace(hour=11), "bo": None, "cy": None}
    assert {it["student"] for it in course.api.get_submissions(ASSIGNMENT)} == set(STAMPS)
