"""What a grading run writes and when; what it does again and what not; what it says when something is missing."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

import grading.run
from grading import readiness, worker
from grading.course import Course
from grading.grade import the_only_grader
from grading.gradebook import Unusable, Writer
from grading.journal import Journal, write_whole
from grading.report import table
from insidebert.cli import main
from insidebert.errors import CommandError
from tests import small_run
from tests.small_course import ASSIGNMENT
from tests.small_run import PART, Inline, copy_of, grade, hand_in, look_up, totals

empty_course = small_run.empty_course


@pytest.fixture
def course(empty_course, tmp_path, monkeypatch):
    """A released assignment, nobody graded; no kernel, and solutions taken for proven."""
    monkeypatch.setattr(worker, "execute", look_up)
    monkeypatch.setattr(grading.run, "prove", lambda *_: None)
    return copy_of(empty_course, tmp_path / "course")


def autograded(course, student):
    return course.notebook("autograded_directory", ASSIGNMENT, student)


# --- what is written ---------------------------------------------------------------------------------------


def test_points_states_and_files_are_where_nbgrader_and_people_look(course):
    hand_in(course, "ada", "RIGHT", "2026-03-01 09:00:00 UTC")
    hand_in(course, "bo", "WRONG")
    (course.folder("submitted_directory") / "cy" / ASSIGNMENT).mkdir(parents=True)
    outcome = grade(course)
    assert totals(course) == {"ada": PART, "bo": PART / 2, "cy": 0}
    assert (outcome.graded, outcome.kept, outcome.left, outcome.troubles) == (3, 0, 0, [])
    rows = {(row.student, row.question): row for row in outcome.report.rows}
    assert len(rows) == 18
    assert rows["ada", "layer_parameters"].state == "correct"
    assert rows["bo", "layer_parameters"].findings == ["twelve_h_squared"]
    assert rows["cy", "breakdown"].flags == ["missing_notebook"]
    assert "twelve_h_squared" in autograded(course, "bo").read_text(encoding="utf-8")
    assert autograded(course, "ada").with_name("timestamp.txt").is_file()
    with course.gradebook() as book:
        assert book.find_submission(ASSIGNMENT, "ada").timestamp == datetime(2026, 3, 1, 9)
        blank = book.find_comment("breakdown_answer", ASSIGNMENT, ASSIGNMENT, "ada")
        assert blank.auto_comment == "No response."
        assert not book.find_submission(ASSIGNMENT, "ada").needs_manual_grade


def test_the_points_are_those_that_nbgraders_own_preprocessor_gives(course):
    import nbformat
    from nbgrader.preprocessors import SaveAutoGrades

    hand_in(course, "ada", "RIGHT")
    grade(course)

    def stored():
        with course.gradebook() as book:
            notebook = book.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, "ada")
            grades = {g.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for g in notebook.grades}
            return grades, {comment.name: comment.auto_comment for comment in notebook.comments}

    ours = stored()
    names = {"notebook": ASSIGNMENT, "assignment": ASSIGNMENT, "student": "ada"}
    resources = {"nbgrader": {**names, "db_url": course.directory.db_url}}
    SaveAutoGrades().preprocess(nbformat.read(autograded(course, "ada"), as_version=4), resources)
    assert stored() == ours


def test_a_manual_score_stays_and_asks_for_review(course):
    hand_in(course, "ada", "WRONG")
    grade(course)
    with course.gradebook() as book:
        book.find_grade("layer_parameters", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 2.5
        book.db.commit()
    hand_in(course, "ada", "RIGHT")
    grade(course)
    with course.gradebook() as book:
        regraded = book.find_grade("layer_parameters", ASSIGNMENT, ASSIGNMENT, "ada")
        assert (regraded.auto_score, regraded.manual_score, regraded.score) == (3.0, 2.5, 2.5)
        assert regraded.needs_manual_grade


def test_late_penalties_follow_the_courses_policy_and_go_when_nobody_is_late(course):
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    with course.gradebook() as book:
        book.find_assignment(ASSIGNMENT).duedate = datetime(2026, 3, 1, 12)
        book.db.commit()
    hand_in(course, "ada", "RIGHT", "2026-03-01 11:00:00 UTC")
    hand_in(course, "bo", "RIGHT", "2026-03-01 13:00:00 UTC")
    grade(course)

    def penalties():
        with course.gradebook() as book:
            notebooks = book.notebook_submissions(ASSIGNMENT, ASSIGNMENT)
            return {notebook.student.id: notebook.late_submission_penalty for notebook in notebooks}

    assert penalties() == {"ada": None, "bo": PART}
    with course.gradebook() as book:
        book.find_submission(ASSIGNMENT, "bo").extension = timedelta(hours=2)
        book.db.commit()
    grade(course, force=True)
    assert penalties() == {"ada": None, "bo": None}


def test_a_stranger_is_not_graded_where_the_course_says_so(course):
    course.config.Autograde.create_student = False
    with course.gradebook() as book:
        book.add_student("ada")
    hand_in(course, "ada", "RIGHT")
    hand_in(course, "mallory", "RIGHT")
    outcome = grade(course)
    assert totals(course) == {"ada": PART}
    assert len(outcome.troubles) == 1
    assert "mallory is not in the gradebook" in outcome.troubles[0]


def test_who_has_not_submitted_and_who_does_not_exist_are_told_apart(course):
    with course.gradebook() as book:
        book.add_student("bo")
    hand_in(course, "ada", "RIGHT")
    outcome = grade(course, ["ada", "bo", "adda"])
    assert outcome.graded == 1
    assert outcome.troubles[0] == f"bo has not submitted {ASSIGNMENT}."
    assert "no student 'adda'" in outcome.troubles[1]


# --- what is done again, and what not ----------------------------------------------------------------------


def test_what_has_been_graded_is_not_graded_again_and_stands_in_the_report(course):
    hand_in(course, "ada", "RIGHT")
    hand_in(course, "bo", "WRONG")
    first = grade(course)
    again = grade(course)
    assert (again.graded, again.kept) == (0, 2)
    assert again.report.rows == first.report.rows
    assert again.report.to_json()["summary"]["per_minute"] == 0
    hand_in(course, "bo", "RIGHT")
    third = grade(course)
    assert (third.graded, third.kept) == (1, 1)
    assert totals(course) == {"ada": PART, "bo": PART}
    assert grade(course, force=True).graded == 2


@pytest.mark.parametrize("what", ["points", "notebook", "questions", "lock", "timestamp", "half a record"])
def test_a_record_counts_only_while_all_it_stands_for_is_there(course, monkeypatch, what):
    submitted = hand_in(course, "ada", "RIGHT", "2026-03-01 09:00:00 UTC")
    grade(course)
    if what == "points":
        with course.gradebook() as book:
            book.find_grade("layer_parameters", ASSIGNMENT, ASSIGNMENT, "ada").auto_score = 0.0
            book.db.commit()
    elif what == "notebook":
        autograded(course, "ada").unlink()
    elif what == "questions":
        monkeypatch.setattr(readiness.Desk, "_questions", b"other questions")
    elif what == "lock":
        (course.root / "requirements.lock").write_text("torch==9", encoding="utf-8")
    elif what == "timestamp":
        (submitted.parent / "timestamp.txt").write_text("2026-03-02 09:00:00 UTC", encoding="utf-8")
    else:
        record = Journal(course.root).path(ASSIGNMENT, "ada")
        record.write_text(record.read_text(encoding="utf-8")[:40], encoding="utf-8")
    assert grade(course).graded == 1
    assert totals(course) == {"ada": PART}
    assert grade(course).graded == 0


def test_a_copy_of_the_course_is_graded_already_and_blames_nobody(course, tmp_path):
    """`cp -r` gives every file a new time; a submission is known by its bytes."""
    hand_in(course, "ada", "RIGHT", "2026-03-01 09:00:00 UTC")
    hand_in(course, "bo", "RIGHT", "no time at all")
    hand_in(course, "cy", "RIGHT")
    first = grade(course)
    shutil.copytree(course.root, tmp_path / "copy", copy_function=shutil.copyfile)
    again = grade(Course.open(tmp_path / "copy"))
    assert (again.graded, again.kept) == (0, 3)
    assert again.report.rows == first.report.rows
    forced = grade(Course.open(tmp_path / "copy"), force=True)
    assert {(row.student, tuple(row.flags)) for row in forced.report.rows} == {
        ("ada", ()),
        ("bo", ("bad_timestamp",)),
        ("cy", ()),
    }


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        (grading.run, "write_whole"),
        (grading.run.evidence, "write"),
        (Writer, "write"),
        (Writer, "_penalty"),
        (Journal, "write"),
    ],
)
@pytest.mark.parametrize("after", [False, True])
def test_an_end_at_any_moment_loses_nothing_and_gives_nothing_twice(course, monkeypatch, owner, step, after):
    students = ("ada", "bo", "cy")
    for student in students:
        hand_in(course, student, "WRONG", "2026-03-01 09:00:00 UTC")
    grade(course)
    for student in students:
        hand_in(course, student, "RIGHT", "2026-03-01 09:00:00 UTC")
    real, calls = getattr(owner, step), []

    def ends(*args, **kwargs):
        calls.append(step)
        if len(calls) < 2:  # the first submission gets through
            return real(*args, **kwargs)
        if after:
            real(*args, **kwargs)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, ends)
        with pytest.raises(Killed):
            grade(course)
    left = grade(course)
    assert 1 <= left.graded <= 3
    assert left.graded + left.kept == 3
    assert totals(course) == dict.fromkeys(students, PART)
    assert {row.points for row in left.report.rows if row.question == "layer_parameters"} == {3.0}
    with course.gradebook() as book:
        assert book.db.execute(text("SELECT count(*) FROM grade")).scalar() == 18
    assert not list(course.root.rglob("*.part"))


def test_stopping_leaves_the_rest_for_the_next_run(course):
    for student in ("ada", "bo", "cy"):
        hand_in(course, student, "RIGHT")
    asked = iter([False, True])
    outcome = grade(course, stop=lambda: next(asked, True))
    assert (outcome.graded, outcome.left) == (1, 2)
    assert grade(course).graded == 2
    assert totals(course) == dict.fromkeys(("ada", "bo", "cy"), PART)


# --- what is our fault -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "says"), [("JUDGE FAILS", "a judge failed"), ("KERNEL LOST", "The kernel was lost 2 times")]
)
def test_our_own_failure_gives_no_zero_and_leaves_no_old_score(course, broken, says):
    hand_in(course, "ada", "RIGHT")
    hand_in(course, "bo", "RIGHT")
    grade(course)
    hand_in(course, "ada", broken)
    outcome = grade(course)
    assert totals(course) == {"ada": 0, "bo": PART}
    assert_waits_for_a_person(course, "ada")
    assert not autograded(course, "ada").with_name("evidence.json").exists()
    assert len(outcome.troubles) == 1
    assert outcome.troubles[0].startswith(f"ada's {ASSIGNMENT} has no points.")
    assert says in outcome.troubles[0]
    rows = [row for row in outcome.report.rows if row.student == "ada"]
    assert {(row.state, tuple(row.findings)) for row in rows} == {("crashed", ("not_gradable",))}
    assert grade(course).graded == 1  # tried again
    hand_in(course, "ada", "RIGHT")
    assert grade(course).troubles == []
    assert totals(course) == {"ada": PART, "bo": PART}


def assert_waits_for_a_person(course, student):
    with course.gradebook() as book:
        grades = book.find_submission(ASSIGNMENT, student).notebooks[0].grades
        assert {(one.auto_score, one.needs_manual_grade) for one in grades} == {(None, True)}
    shown = autograded(course, student).read_text(encoding="utf-8")  # the formgrader has something to show
    assert "Not checked" in shown


BROKEN = {
    "cut off": (lambda text: text[: len(text) // 2], "it is cut off"),
    "empty": (lambda text: "", "it is empty"),
    "merge markers": (
        lambda text: text.replace('"cells": [', '"cells": [\n<<<<<<< HEAD\n=======\n>>>>>>> theirs', 1),
        "marks of a merge that was not finished",
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_what_cannot_be_read_is_not_a_zero(course, how):
    spoil, says = BROKEN[how]
    hand_in(course, "ada", "RIGHT")
    path = hand_in(course, "bo", "RIGHT")
    grade(course)
    path.write_text(spoil(path.read_text(encoding="utf-8")), encoding="utf-8")
    outcome = grade(course)
    assert totals(course) == {"ada": PART, "bo": 0}
    assert_waits_for_a_person(course, "bo")
    rows = [row for row in outcome.report.rows if row.student == "bo"]
    assert {(row.state, row.points) for row in rows} == {("crashed", 0.0)}
    assert {tuple(row.flags) for row in rows} == {("unreadable_notebook",)}
    assert len(outcome.troubles) == 1
    assert outcome.troubles[0].startswith(f"bo's {ASSIGNMENT} has no points. The notebook cannot be read: ")
    assert says in outcome.troubles[0]
    again = grade(course)
    assert (again.graded, again.troubles) == (0, outcome.troubles)  # named until a person has been there
    with course.gradebook() as book:
        for one in book.find_submission(ASSIGNMENT, "bo").notebooks[0].grades:
            one.manual_score, one.needs_manual_grade = 1.0, False
        book.db.commit()
    assert grade(course).troubles == []
    assert totals(course) == {"ada": PART, "bo": 6.0}


def test_outputs_cost_nobody_a_point(course):
    """A 17 MiB picture, and a plotly figure of a million numbers with half a million brackets."""
    import nbformat
    from nbformat.v4 import new_output

    heavy = {
        "ada": {"image/png": "iVBO" * (17 * 2**18)},
        "bo": {"application/vnd.plotly.v1+json": {"data": [{"z": [[1.5, 2.5]] * 250_000}]}},
        "cy": {"text/html": '<div id=\\"a\\">' * 500_000},
    }
    for student, data in heavy.items():
        path = hand_in(course, student, "RIGHT")
        notebook = nbformat.read(path, as_version=4)
        code = next(cell for cell in notebook.cells if cell.cell_type == "code")
        code.outputs = [new_output("display_data", data=data)]
        text = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
        text["attachments"] = {"image.png": {"image/png": "iVBO" * 2**20}}
        notebook.metadata["widgets"] = {"state": [[0]] * 500_000}
        path.write_text(json.dumps(notebook), encoding="utf-8")
    outcome = grade(course)
    assert outcome.troubles == []
    assert totals(course) == dict.fromkeys(heavy, PART)
    assert {tuple(row.flags) for row in outcome.report.rows} == {()}


def test_a_solution_that_fails_its_own_check_grades_nobody(empty_course, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "execute", look_up)  # which knows two of six answers, and nobody's solution
    course = copy_of(empty_course, tmp_path / "course")
    hand_in(course, "ada", "RIGHT")
    with pytest.raises(CommandError, match=r"solution of parameter_budget fails its own check: count_param"):
        grade(course)
    assert totals(course) == {}


# --- what must hold before ---------------------------------------------------------------------------------


def test_an_assignment_must_exist_be_released_and_be_the_one_in_the_gradebook(course):
    hand_in(course, "ada", "RIGHT")
    with grading.run.Run(course, [Inline()], readiness.NONE) as run:
        with pytest.raises(CommandError, match="there are: parameter_budget"):
            run.grade(["masking"])
        released = course.notebook("release_directory", ASSIGNMENT)
        kept = released.read_text(encoding="utf-8")
        released.unlink()
        with pytest.raises(CommandError, match="has not been released"):
            run.grade([ASSIGNMENT])
        released.write_text(kept, encoding="utf-8")
        assert run.grade([ASSIGNMENT]).graded == 1
        with course.gradebook() as book:
            book.update_or_create_grade_cell(
                "breakdown", ASSIGNMENT, ASSIGNMENT, max_score=50, cell_type="code"
            )
        with pytest.raises(CommandError, match="differ about its questions"):
            run.grade([ASSIGNMENT])
        with course.gradebook() as book:
            book.remove_assignment(ASSIGNMENT)
        with pytest.raises(CommandError, match="has not been released"):
            run.grade([ASSIGNMENT])


def test_a_course_without_submissions_says_so(course):
    with (
        grading.run.Run(course, [Inline()], readiness.NONE) as run,
        pytest.raises(CommandError, match="nobody has submitted"),
    ):
        run.grade()


def test_a_gradebook_of_another_version_is_refused(course):
    hand_in(course, "ada", "RIGHT")
    with course.gradebook() as book:
        book.db.execute(text("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32))"))
        book.db.execute(text("DELETE FROM alembic_version"))
        book.db.execute(text("INSERT INTO alembic_version VALUES ('50a4d84c131a')"))
        book.db.commit()
    with pytest.raises(CommandError, match="nbgrader db upgrade"):
        grade(course)


def test_two_graders_in_one_course_are_one_too_many(tmp_path):
    with the_only_grader(tmp_path), pytest.raises(CommandError, match="another"), the_only_grader(tmp_path):
        pass
    with the_only_grader(tmp_path):
        pass


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--course", "{empty}"], "is no course"),
        (["--course", "{course}", "--report", "{empty}/file/report.json"], "file"),
        (["--course", "{course}", "--report", "{empty}"], "empty"),
    ],
)
def test_the_command_ends_with_one_sentence_and_status_2(course, tmp_path, capsys, words, says):
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "file").touch()
    words = [word.format(empty=empty, course=course.root) for word in words]
    assert main(["grade", "--workers", "1", *words]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert says in said[0]


# --- disks and databases -----------------------------------------------------------------------------------


def test_a_full_disk_keeps_the_old_file_and_ends_the_run(course, monkeypatch, tmp_path):
    path = tmp_path / "file"
    write_whole(path, "old")

    def full(self, data, encoding=None):
        with self.open("w", encoding=encoding) as file:
            file.write(data[:2])
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    hand_in(course, "ada", "RIGHT")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space left"):
            write_whole(path, "new and longer")
        with pytest.raises(OSError, match="No space left"):
            grade(course)
    assert path.read_text(encoding="utf-8") == "old"
    assert not list(course.root.rglob("*.part"))
    assert grade(course).graded == 1
    assert totals(course) == {"ada": PART}


def test_a_gradebook_without_room_ends_the_run_with_a_sentence(course):
    for number in range(20):
        hand_in(course, f"learner{number:02}", "RIGHT")
    grade(course, [f"learner{number:02}" for number in range(3)])

    @event.listens_for(Engine, "connect")
    def small(connection, _):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    try:
        with pytest.raises(Unusable, match="the disk is full"):
            grade(course)
    finally:
        event.remove(Engine, "connect", small)
    before = totals(course)
    assert set(before.values()) <= {PART, 0.0}
    outcome = grade(course)
    assert outcome.graded + outcome.kept == 20
    assert outcome.kept >= 3
    assert totals(course) == {f"learner{number:02}": PART for number in range(20)}


def test_a_database_that_goes_away_and_returns_costs_a_pause(course):
    hand_in(course, "ada", "RIGHT")
    grade(course)
    waited, failing = [], [True]

    @event.listens_for(Engine, "before_cursor_execute")
    def away(connection, cursor, statement, parameters, context, executemany):
        if failing[0] and statement.startswith("UPDATE grade"):
            cursor.execute("SELECT load_extension('gone')")  # an OperationalError of the driver's own

    def wait(seconds):
        waited.append(seconds)
        failing[0] = len(waited) < 3

    try:
        writer = Writer(course, wait=wait)
        writer.write("ada", ASSIGNMENT, {"layer_parameters": 1.5})
        assert len(waited) == 3
        assert waited == sorted(waited)
        failing[0] = True
        patience = Writer(course, patience=0.0, wait=waited.append)
        with pytest.raises(Unusable, match="run the same command again"):
            patience.write("ada", ASSIGNMENT, {"layer_parameters": 3.0})
    finally:
        event.remove(Engine, "before_cursor_execute", away)
    assert writer.scores(ASSIGNMENT)["ada"]["layer_parameters"] == 1.5
    writer.close()


def test_nbgraders_own_connections_wait_for_a_writer_too(course):
    program = """if True:
        import sys
        from nbgrader.api import Gradebook
        from traitlets.config import PyFileConfigLoader
        PyFileConfigLoader("nbgrader_config.py").load_config()
        with Gradebook(sys.argv[1]) as book, book.engine.connect() as connection:
            for name in ("journal_mode", "busy_timeout"):
                print(connection.exec_driver_sql(f"PRAGMA {name}").scalar())
    """
    ran = subprocess.run(
        [sys.executable, "-c", program, course.directory.db_url],
        cwd=course.root,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    mode, wait = ran.stdout.split()
    assert mode == "wal"
    assert int(wait) >= 10_000


def test_a_database_of_somebody_elses_keeps_its_journal(tmp_path):
    from sqlalchemy import create_engine

    engine = create_engine(f"sqlite:///{tmp_path / 'other.db'}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE theirs (number INTEGER)"))
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "delete"


def test_a_records_name_fits_any_file_system(tmp_path):
    journal = Journal(tmp_path)
    long, other = "x" * 250, "x" * 249 + "y"
    journal.write(ASSIGNMENT, long, {"key": "1"})
    assert journal.read(ASSIGNMENT, long) == {"key": "1"}
    assert journal.read(ASSIGNMENT, other) is None
    path = journal.path(ASSIGNMENT, "ada")
    path.write_text(json.dumps([1]), encoding="utf-8")
    assert journal.read(ASSIGNMENT, "ada") is None


@pytest.mark.parametrize(
    ("name", "shown"), [(b"m\xff", r"m\udcff"), (b"m\nmo", r"m\nmo"), (b"m\x1b[2J", r"m\x1b")]
)
def test_a_folder_whose_name_is_no_text_is_left_for_a_person(course, name, shown):
    """nbgrader writes no feedback for anybody where one name has two lines."""
    import os

    hand_in(course, "ada", "RIGHT")
    os.makedirs(os.path.join(os.fsencode(course.folder("submitted_directory")), name, ASSIGNMENT.encode()))  # noqa: PTH103, PTH118
    outcome = grade(course)
    assert totals(course) == {"ada": PART}
    assert len(outcome.troubles) == 1 and shown in outcome.troubles[0]


def test_a_long_name_leaves_room_for_the_points(course):
    from rich.console import Console

    long = "a.very.long.name.of.a.learner@students.of.a.university.example"
    hand_in(course, long, "WRONG")
    console = Console(width=80)
    with console.capture() as shown:
        console.print(table(grade(course).report.rows))
    assert "3 ✓" in shown.get() and "0 ✗" in shown.get() and "…" not in shown.get()


def test_a_record_of_another_form_counts_as_none(course):
    hand_in(course, "ada", "RIGHT")
    grade(course)
    journal = Journal(course.root)
    record = journal.read(ASSIGNMENT, "ada")
    for changed in ({"rows": [{"odd": 1}]}, {"rows": None}, {"flags": [1]}):
        journal.write(ASSIGNMENT, "ada", record | changed)
        outcome = grade(course)
        assert (outcome.graded, outcome.kept, totals(course)) == (1, 0, {"ada": PART})


def test_a_submission_is_written_as_a_whole_or_not_at_all(course, monkeypatch):
    writer = Writer(course)
    monkeypatch.setattr(writer, "_penalty", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        writer.write("ada", ASSIGNMENT, {})
    writer.close()
    with course.gradebook() as book:
        assert book.students == [] and book.assignment_submissions(ASSIGNMENT) == []
    writer = Writer(course)
    writer.write("ada", ASSIGNMENT, {"layer_parameters": 2.0})
    writer.close()
    assert totals(course) == {"ada": 2.0}
