"""Submissions are restored from what `release` wrote, and compared with the release that their learner had."""

from __future__ import annotations

import json
import shutil
import sys

import nbformat
import pytest

import grading.run
from grading import preprocessors, worker
from grading.bundle import write_bundle
from grading.export import export
from grading.export_formats import NbgraderCsv
from grading.feedback import write_feedback
from grading.release import release
from grading.releases import Releases
from insidebert.errors import CommandError
from tests import small_run
from tests.small_course import ASSIGNMENT
from tests.small_run import PART, copy_of, grade, hand_in, look_up, totals

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own
empty_course = small_run.empty_course


@pytest.fixture(scope="module")
def released_course(empty_course, tmp_path_factory):
    course = copy_of(empty_course, tmp_path_factory.mktemp("released") / "course")
    release(course, ASSIGNMENT)
    return course


@pytest.fixture
def course(released_course, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "execute", look_up)
    monkeypatch.setattr(preprocessors, "execute", look_up)
    monkeypatch.setattr(grading.run, "prove", lambda *_: None)
    course = copy_of(released_course.root, tmp_path / "course")
    course.config.Probe.isolation = "none"
    return course


def versions(course):
    return Releases(course.root, ASSIGNMENT).versions()


def exercise(course):
    return course.notebook("release_directory", ASSIGNMENT)


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def try_the_exercise(course):
    """What an instructor does who opens it in JupyterLab."""
    notebook = nbformat.read(exercise(course), as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = "TRIED = 1"
    notebook.cells[0].source = "RIGHT"  # which the sandbox's stand-in takes for right answers
    nbformat.write(notebook, exercise(course))


def autograded(course, student):
    return course.notebook("autograded_directory", ASSIGNMENT, student).read_text(encoding="utf-8")


def test_what_release_writes_is_kept(course):
    assert versions(course) == (exercise(course).read_bytes(),)
    release(course, ASSIGNMENT)
    assert len(versions(course)) == 1


def test_the_formgraders_button_keeps_it_as_well(course):
    shutil.rmtree(course.root / ".insidebert" / "released")
    assert course.api.generate_assignment(ASSIGNMENT)["success"]
    assert versions(course) == (exercise(course).read_bytes(),)


@pytest.mark.parametrize("way", ["insidebert grade", "the formgrader's button"])
def test_what_an_instructor_tries_is_nobodys_answer(course, way):
    """bo has no notebook, cy deleted the answers: neither gets the instructor's."""
    hand_in(course, "ada", "RIGHT")
    (course.folder("submitted_directory") / "bo" / ASSIGNMENT).mkdir(parents=True)
    path = hand_in(course, "cy", "WRONG")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [
        cell for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("solution")
    ]
    nbformat.write(notebook, path)
    try_the_exercise(course)
    students = ["ada", "cy"]
    if way == "insidebert grade":
        assert grade(course).troubles == []
        students.append("bo")
    else:  # nbgrader's button does nothing for one learner without a notebook
        for student in students:
            said = course.api.autograde(ASSIGNMENT, student)
            assert said["success"], said
    assert {**totals(course), "bo": 0} == {"ada": PART, "bo": 0, "cy": PART / 2}
    assert not any("TRIED" in autograded(course, student) for student in students)


def test_an_older_course_takes_up_its_exercises_and_refuses_one_that_was_written_into(course):
    shutil.rmtree(course.root / ".insidebert" / "released")
    hand_in(course, "ada", "RIGHT")
    kept = exercise(course).read_bytes()
    try_the_exercise(course)
    with pytest.raises(CommandError, match=rf"written into .* Run `insidebert release {ASSIGNMENT}`"):
        grade(course)
    said = course.api.autograde(ASSIGNMENT, "ada")
    assert "has been written into" in said["log"]
    assert totals(course) == {}
    exercise(course).write_bytes(kept)
    assert grade(course).graded == 1
    assert versions(course) == (kept,)


def test_a_kept_version_that_was_changed_is_refused(course):
    hand_in(course, "ada", "RIGHT")
    (path,) = (course.root / ".insidebert" / "released" / ASSIGNMENT).glob("*.ipynb")
    change(path, '"points": 5', '"points": 50')
    with pytest.raises(CommandError, match="is not what was released"):
        grade(course)


def test_an_exercise_that_was_written_into_is_not_handed_out(course, repository):
    for name in ("lessons", "checks", "insidebert"):
        (course.root / name).symlink_to(repository / name)
    for name in ("environment.yml", "requirements.lock", "LICENSE", "pyproject.toml"):
        shutil.copyfile(repository / name, course.root / name)
    assert write_bundle(course.root, course.root / "course.zip")
    try_the_exercise(course)
    with pytest.raises(CommandError, match="has been written into"):
        write_bundle(course.root, course.root / "course.zip")


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange on Windows")
def test_an_exercise_that_was_written_into_does_not_go_into_the_exchange(course, tmp_path):
    course.config.Exchange.root = str(tmp_path)
    outbound = tmp_path / "inside-bert" / "outbound"
    try_the_exercise(course)
    said = course.api.release_assignment(ASSIGNMENT)
    assert not said["success"]
    assert "has been written into" in said["log"]
    assert not list(outbound.glob("*"))
    release(course, ASSIGNMENT)
    said = course.api.release_assignment(ASSIGNMENT)
    assert said["success"], said
    assert (outbound / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes() == exercise(course).read_bytes()


# --- a new release -------------------------------------------------------------------------------------------


def more_points(course):
    """The instructor changes points, a check's text and an answer's stub, and releases again."""
    source = course.notebook("source_directory", ASSIGNMENT)
    change(source, '"points": 5', '"points": 4')
    change(source, 'check(\\"layer_parameters\\"', '# so many\\ncheck(\\"layer_parameters\\"')
    release(course, ASSIGNMENT)


def flags(outcome, student):
    return {flag for row in outcome.report.rows if row.student == student for flag in row.flags}


def test_nobody_is_blamed_for_what_the_instructor_changed(course):
    """ada and mal had the first release, bo the second; mal changed a check, and nothing else is said of mal."""
    hand_in_from(course, "ada", "RIGHT")
    hand_in_from(course, "mal", "RIGHT", lambda cell: cell.update(source="3.0"))
    assert flags(grade(course), "ada") == set()
    more_points(course)
    assert len(versions(course)) == 2
    hand_in_from(course, "bo", "RIGHT")
    outcome = grade(course)
    assert outcome.graded == 3  # all of them by the new points
    assert {student: flags(outcome, student) for student in ("ada", "bo", "mal")} == {
        "ada": set(),
        "bo": set(),
        "mal": {"changed_source"},
    }
    assert "# so many" in autograded(course, "ada")  # and what is graded is the new release
    noted = json.loads(autograded(course, "mal"))["metadata"]["insidebert"]["flags"]
    assert [flag["text"] for flag in noted] == [
        "Locked cells were changed; the released ones are graded: count_parameters."
    ]
    said = course.api.autograde(ASSIGNMENT, "ada")
    assert said["success"]
    assert "changed" not in said["log"]


def hand_in_from(course, student, text, change_check=lambda cell: None):
    """From what lies in exercises/ now, as a learner who fetches it today."""
    notebook = nbformat.read(exercise(course), as_version=4)
    notebook.cells[0].source = text
    change_check(
        next(
            c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "count_parameters"
        )
    )
    path = course.notebook("submitted_directory", ASSIGNMENT, student)
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def test_the_release_of_an_older_course_is_compared_with_as_well(course):
    """Its exercises are taken up before the new ones take their place."""
    shutil.rmtree(course.root / ".insidebert" / "released")
    hand_in_from(course, "ada", "RIGHT")
    more_points(course)
    assert flags(grade(course), "ada") == set()


@pytest.mark.parametrize("old", ["5", "1"], ids=["more points", "fewer points"])
def test_nobody_is_told_points_of_an_older_release(course, old):
    """Neither 20 of 18 nor 2 of 3 for a right answer: export and feedback refuse until all are graded again."""
    hand_in_from(course, "ada", "RIGHT")
    hand_in_from(course, "bo", "WRONG")
    grade(course)
    assert export(course, "canvas")[1] == []
    source = course.notebook("source_directory", ASSIGNMENT)
    change(source, '"points": 3,', f'"points": {int(old) + 1},')
    release(course, ASSIGNMENT)
    before = (course.root / "grades-canvas.csv").read_bytes()
    with pytest.raises(CommandError, match=r"have changed since ada, bo were graded.*insidebert grade"):
        export(course, "canvas")
    assert (course.root / "grades-canvas.csv").read_bytes() == before
    with course.gradebook() as book, pytest.raises(CommandError, match="have changed"):
        NbgraderCsv(config=course.config, to=str(course.root / "grades.csv")).export(
            book
        )  # `nbgrader export`
    written, failed = write_feedback(course, ASSIGNMENT)
    assert (written, set(failed)) == (0, {"ada", "bo"})
    assert not list(course.folder("feedback_directory").rglob("*.html"))
    assert grade(course).graded == 2
    assert export(course, "canvas")[1] == []
    assert write_feedback(course, ASSIGNMENT) == (2, {})
    new = 2.0 * (int(old) + 1)  # two right answers
    assert totals(course) == {"ada": new, "bo": new / 2}


def test_points_by_hand_above_the_new_ones_are_named(course):
    hand_in_from(course, "ada", "RIGHT")
    hand_in_from(course, "bo", "RIGHT")
    grade(course)
    with course.gradebook() as book:
        book.find_grade("layer_parameters", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 3.0
        book.find_grade(
            "layer_parameters", ASSIGNMENT, ASSIGNMENT, "bo"
        ).extra_credit = 1.0  # has its own field
        book.db.commit()
    change(course.notebook("source_directory", ASSIGNMENT), '"points": 3,', '"points": 2,')
    release(course, ASSIGNMENT)
    grade(course)
    with pytest.raises(CommandError, match=r"by hand .*: ada \(layer_parameters, 3 of 2\)\. Put that right"):
        export(course, "moodle")
    with course.gradebook() as book:
        book.find_grade("layer_parameters", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 2.0
        book.db.commit()
    assert export(course, "moodle")
