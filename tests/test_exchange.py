"""Collecting from an exchange in which somebody tries something."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import grading.exchange
from grading.course import Course, done
from grading.run import Submission
from tests.small_course import ASSIGNMENT, make_course

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange there")

ME = grading.exchange._user(os.getuid())
NOTEBOOK = f"{ASSIGNMENT}.ipynb"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """One gradebook for all: making it takes seconds."""
    folder = tmp_path_factory.mktemp("exchange")
    course = make_course(folder / "course", {})
    course.config.Exchange.root = str(folder / "exchange")
    return course


@pytest.fixture
def course(whole: Course) -> Iterator[Course]:
    """Nothing has been handed in or collected."""
    for folder in (inbound(whole), whole.root / "submitted"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    yield whole


def inbound(course: Course) -> Path:
    return Path(course.config.Exchange.root, "inside-bert", "inbound")


def hand_in(course: Course, name: str, hour: int = 8, text: str = "an answer") -> Path:
    """A submission as nbgrader leaves it; it lies there as this process's user's."""
    folder = inbound(course) / f"{name}+{ASSIGNMENT}+2026-03-01 {hour:02d}:00:00 UTC+abc"
    folder.mkdir()
    (folder / NOTEBOOK).write_text(text, encoding="utf-8")
    (folder / "timestamp.txt").write_text(f"2026-03-01 {hour:02d}:00:00 UTC", encoding="utf-8")
    return folder


def collected(course: Course, name: str = ME) -> dict[str, str]:
    """What `collect` puts into the course, file by file."""
    done(course.api.collect(ASSIGNMENT), "Collecting")
    folder = course.root / "submitted" / name / ASSIGNMENT
    return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in folder.glob("*")}


def test_the_newest_is_taken_with_its_times(course: Course) -> None:
    hand_in(course, ME, 8, "first")
    newest = hand_in(course, ME, 9, "second")
    os.utime(newest / NOTEBOOK, (1_700_000_000, 1_700_000_000))
    assert collected(course)[NOTEBOOK] == "second"
    assert (course.root / "submitted" / ME / ASSIGNMENT / NOTEBOOK).stat().st_mtime == 1_700_000_000


@pytest.mark.parametrize(
    ("stamp", "flags", "year"),
    [
        ("2026-03-01 08:00:00 UTC", [], 2026),
        ("2001-03-01 08:00:00 UTC", ["early_timestamp"], 2001),
        ("never", ["bad_timestamp"], 2026),
    ],
)
def test_a_forged_time_is_known_by_the_notebooks_own_also_in_a_copy_of_the_course(
    course: Course, tmp_path: Path, stamp: str, flags: list[str], year: int
) -> None:
    """The exchange saw when the notebook changed; a copy of the course has other times, and the same flags."""
    folder = hand_in(course, ME)
    (folder / "timestamp.txt").write_text(stamp, encoding="utf-8")
    seen = datetime(2026, 3, 1, 8, tzinfo=UTC).timestamp()
    os.utime(folder / NOTEBOOK, (seen, seen))
    collected(course)
    shutil.copytree(course.root, tmp_path / "copy", copy_function=shutil.copyfile)
    assignment = SimpleNamespace(name=ASSIGNMENT, digest="", terms=None)
    loaded = []
    for root in (course.root, tmp_path / "copy"):
        one = Submission(ME, assignment, Course.open(root))  # type: ignore[arg-type]
        _, noted, _ = one.load()
        assert [flag.id for flag in noted] == flags
        assert one.slip.submitted is not None
        assert one.slip.submitted.year == year
        loaded.append((one.key, one.slip))
    assert loaded[0] == loaded[1]
    (tmp_path / "copy" / "submitted" / ME / ASSIGNMENT / NOTEBOOK).write_text("another", encoding="utf-8")
    _, noted, _ = one.load()
    assert "early_timestamp" not in [flag.id for flag in noted]  # of that one nothing is known


def test_a_time_that_cannot_be_noted_costs_nobody_the_submission(course: Course) -> None:
    hand_in(course, ME)
    folder = course.root / ".insidebert" / "collected"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("in the way", encoding="utf-8")
    try:
        assert collected(course)[NOTEBOOK] == "an answer"
    finally:
        folder.unlink()


def test_a_forged_one_neither_counts_nor_hides_the_learners_own(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = hand_in(course, "ada", 8, "her own").stat().st_uid
    forged = hand_in(course, "ada", 9, "forged")
    owners = {forged.stat().st_ino: "ben"}
    real = os.lstat

    def lstat(path: str, **named: Any) -> os.stat_result:  # who is not root cannot give a folder away
        about = real(path, **named)
        return os.stat_result((*about[:4], mine + 1, *about[5:])) if about.st_ino in owners else about

    monkeypatch.setattr(grading.exchange.os, "lstat", lstat)
    monkeypatch.setattr(grading.exchange, "_user", lambda number: "ada" if number == mine else "ben")
    assert collected(course, "ada")[NOTEBOOK] == "her own"


def test_somebody_elses_folder_is_left_where_it_is(course: Course) -> None:
    hand_in(course, "somebody-else")
    assert collected(course, "somebody-else") == {}


def test_any_owner_will_do_where_the_course_says_so(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(course.config.ExchangeCollect, "check_owner", False)
    hand_in(course, "somebody-else")
    assert collected(course, "somebody-else")[NOTEBOOK] == "an answer"


@pytest.mark.parametrize("name", ["soon+x", "", "2026-99-99 00:00:00 UTC+x"])
def test_a_name_without_a_time_stops_nobody(course: Course, name: str) -> None:
    (inbound(course) / f"x+{ASSIGNMENT}+{name}").mkdir()
    (inbound(course) / f"{ME}+{ASSIGNMENT}+2026-03-01 10:00:00 UTC+abc").write_text("no folder")
    hand_in(course, ME)
    assert collected(course)[NOTEBOOK] == "an answer"


@pytest.mark.parametrize("secret", ["solution", "gradebook.db", "folder"])
def test_a_link_brings_nothing_out(course: Course, tmp_path: Path, secret: str) -> None:
    target = tmp_path / secret
    if secret == "folder":
        target.mkdir()
    else:
        target.write_text("the instructor's", encoding="utf-8")
    folder = hand_in(course, ME)
    (folder / NOTEBOOK).unlink()
    (folder / NOTEBOOK).symlink_to(target)
    (folder / "more").symlink_to(target)
    assert set(collected(course)) == {"timestamp.txt"}


def test_a_submission_that_is_a_link_is_none(course: Course, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    hand_in(course, ME).rename(elsewhere)
    (inbound(course) / f"{ME}+{ASSIGNMENT}+2026-03-01 08:00:00 UTC+abc").symlink_to(elsewhere)
    assert collected(course) == {}


def test_a_pipe_is_not_waited_for_and_too_much_is_left_out(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading.exchange, "MAX_TOTAL", 100)
    folder = hand_in(course, ME)
    os.mkfifo(folder / "a-pipe")
    (folder / "large").write_bytes(bytes(101))
    assert set(collected(course)) == {NOTEBOOK, "timestamp.txt"}


@pytest.mark.parametrize("text", [b"soon", b"\xff\xfe", b"9" * 30, b"2026-01-01 00:00:00 +" + b"9" * 30])
def test_an_earlier_one_whose_time_says_nothing_stops_nobody(course: Course, text: bytes) -> None:
    (hand_in(course, ME, 8, "first") / "timestamp.txt").write_bytes(text)
    assert collected(course)[NOTEBOOK] == "first"
    hand_in(course, ME, 9, "second")
    assert collected(course)[NOTEBOOK] == "second"


@pytest.mark.parametrize("call", ["lstat", "open"])
def test_a_folder_that_is_closed_or_gone_costs_nobody_what_they_handed_in(
    course: Course, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(course.config.ExchangeCollect, "check_owner", False)
    hand_in(course, "ada", 8, "first")
    assert collected(course, "ada")[NOTEBOOK] == "first"
    closed, real = hand_in(course, "ada", 9, "second"), getattr(os, call)
    hand_in(course, "ben", 8, "his")

    def refuse(path: Any, *words: Any, **named: Any) -> Any:  # nothing is closed to root
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *words, **named)

    monkeypatch.setattr(grading.exchange.os, call, refuse)
    assert collected(course, "ben")[NOTEBOOK] == "his"
    assert collected(course, "ada")[NOTEBOOK] == "first"


def test_what_lies_beside_the_notebook_takes_no_room_from_it(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading.exchange, "MAX_TOTAL", 100)
    monkeypatch.setattr(grading.exchange, "MAX_FILES", 1)
    folder = hand_in(course, ME)
    for name in "ab":
        (folder / name).write_bytes(bytes(90))
    assert set(collected(course)) == {NOTEBOOK, "timestamp.txt"}


def test_other_instructors_may_write_what_one_collects(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course.api.coursedir, "groupshared", True)
    hand_in(course, ME)
    before = os.umask(0o077)
    try:
        assert collected(course)
    finally:
        os.umask(before)
    for path in (course.root / "submitted" / ME).rglob("*"):
        assert path.stat().st_mode & 0o060 == 0o060, path


def test_nobodys_name_is_no_folder_of_the_course(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(course.config.ExchangeCollect, "check_owner", False)
    hand_in(course, "")
    assert collected(course, "") == {}
    assert not list((course.root / "submitted").iterdir())


def test_a_name_that_a_terminal_would_obey_is_told_in_letters(course: Course) -> None:
    (inbound(course) / f"x\x1b]0;\x07+{ASSIGNMENT}+2026-03-01 10:00:00 UTC+abc").mkdir()
    said = course.api.collect(ASSIGNMENT)
    assert said["success"] and r"\x1b" in said["log"] and "\x1b" not in said["log"]
