"""What an LMS lets a teacher download, well-meant and not, into `submitted/`."""

from __future__ import annotations

import io
import os
import shutil
import stat
import zipfile
from pathlib import Path

import pytest

from grading.collect import collect, run
from grading.course import Course
from grading.lms import Owner, owner_of
from insidebert.errors import CommandError

ROOT = Path(__file__).parents[1]
ASSIGNMENT = "parameter_budget"
NOTEBOOK = (ROOT / "exercises" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_bytes()


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory):
    """With a gradebook: making one takes longer than all that is done with it here."""
    folder = tmp_path_factory.mktemp("empty") / "course"
    for part in ("solutions", "exercises"):
        shutil.copytree(ROOT / part / ASSIGNMENT, folder / part / ASSIGNMENT)
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    Course.open(folder).gradebook().close()
    return folder


@pytest.fixture
def course(empty_course, tmp_path):
    shutil.copytree(empty_course, tmp_path / "course")
    opened = Course.open(tmp_path / "course")
    opened.config.Application.log_level = "ERROR"
    return opened


def archive(**files):
    """The bytes of a zip of these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            target.writestr(name, data)
    return stream.getvalue()


def downloaded(tmp_path, files):
    path = tmp_path / "submissions.zip"
    path.write_bytes(archive(**files))
    return path


def submitted(course):
    folder = course.folder("submitted_directory")
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("doejane_12345_67890_budget.ipynb", (Owner("canvas", "doejane", "12345"), "budget.ipynb")),
        (
            "doejane_LATE_12345_67890_my_own.ipynb",
            (Owner("canvas", "doejane", "12345", True), "my_own.ipynb"),
        ),
        ("doejane_1_2_smith_9_8_x.ipynb", (Owner("canvas", "doejane", "1"), "smith_9_8_x.ipynb")),
        ("Jane Doe_77_assignsubmission_file_/a.ipynb", (Owner("moodle", "Jane Doe", "77"), "a.ipynb")),
        ("Jane Doe_77_assignsubmission_file/a.ipynb", (Owner("moodle", "Jane Doe", "77"), "a.ipynb")),
        ("Jane Doe_77_assignsubmission_file_a.ipynb", (Owner("moodle", "Jane Doe", "77"), "a.ipynb")),
        (
            "ps/José O'Neill-Li_7_assignsubmission_file_/a.ipynb",
            (Owner("moodle", "José O'Neill-Li", "7"), "a.ipynb"),
        ),
        ("ada.ipynb", (Owner("", "ada"), "ada.ipynb")),
        ("ada/notes/budget.ipynb", (Owner("", "ada"), "budget.ipynb")),
        ("../ada.ipynb", None),
        ("/etc/ada.ipynb", None),
        ("a/../../b.ipynb", None),
        ("..\\..\\b.ipynb", None),
        ("C:/b.ipynb", None),
        (".ssh/b.ipynb", None),
        ("a\nb.ipynb", None),
        ("Jane_1_assignsubmission_file_x_2_assignsubmission_file_a.ipynb", None),
        ("_1_2_a.ipynb", None),
        ("", None),
        ("x" * 300 + ".ipynb", None),
    ],
)
def test_whose_a_file_is_stands_in_what_the_lms_wrote(path, owner):
    assert owner_of(path) == owner


@pytest.mark.parametrize(
    "name",
    [
        "lovelaceada_17_4711_x.ipynb",
        "Ada_1_assignsubmission_file_x.ipynb",
        "Ada_1_assignsubmission_file_/x.ipynb",
    ],
)
def test_nobody_hands_in_for_another_by_what_they_call_a_file(course, tmp_path, name):
    with course.gradebook() as gradebook:
        gradebook.add_student("ada", first_name="Ada", last_name="Lovelace", lms_user_id="17")
    files = {f"ada/{ASSIGNMENT}.ipynb": NOTEBOOK, f"bo/{name}": NOTEBOOK}
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, files)) == (["ada", "bo"], [])
    assert submitted(course) == {
        f"ada/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"bo/{ASSIGNMENT}/{name.rpartition('/')[2]}",
    }


def test_a_folder_around_all_is_nobodys(course, tmp_path):
    files = {f"week 3/doejane_11_500_{ASSIGNMENT}.ipynb": NOTEBOOK, "week 3/roejohn_12_501_a.ipynb": NOTEBOOK}
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, files))[0] == ["doejane_11", "roejohn_12"]


def test_canvas(course, tmp_path):
    files = {
        f"doejane_11_500_{ASSIGNMENT}.ipynb": NOTEBOOK,
        f"roejohn_LATE_12_501_{ASSIGNMENT}-3.ipynb": NOTEBOOK,
        "moeann_13_502_homework.ipynb": NOTEBOOK,
        "coebob_14_503_essay.pdf": b"%PDF",
    }
    learners, notes = collect(course, ASSIGNMENT, downloaded(tmp_path, files))
    assert learners == ["coebob_14", "doejane_11", "moeann_13", "roejohn_12"]
    assert submitted(course) == {
        f"doejane_11/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"roejohn_12/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"moeann_13/{ASSIGNMENT}/homework.ipynb",
    }
    assert (course.folder("submitted_directory") / "coebob_14" / ASSIGNMENT).is_dir()  # is graded as without
    assert any("roejohn_12 was late" in note for note in notes)
    assert any("essay.pdf" in note for note in notes)
    with course.gradebook() as gradebook:
        assert {student.id: student.lms_user_id for student in gradebook.students}["doejane_11"] == "11"


def test_people_keep_the_names_the_gradebook_has_for_them(course, tmp_path):
    with course.gradebook() as gradebook:
        gradebook.add_student("jdoe", lms_user_id="11")
        gradebook.add_student("jroe", first_name="John", last_name="Roe")
    files = {
        f"doejane_11_500_{ASSIGNMENT}.ipynb": NOTEBOOK,
        f"John Roe_9_assignsubmission_file_/{ASSIGNMENT}.ipynb": NOTEBOOK,
    }
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, files))[0] == ["jdoe", "jroe"]


def test_moodle_does_not_mix_up_two_people_of_one_name(course, tmp_path):
    files = {f"Ann Lee_{number}_assignsubmission_file_/{ASSIGNMENT}.ipynb": NOTEBOOK for number in (1, 2)} | {
        f"Bo Li_3_assignsubmission_file_/{ASSIGNMENT}.ipynb": NOTEBOOK
    }
    learners, notes = collect(course, ASSIGNMENT, downloaded(tmp_path, files))
    assert learners == ["Bo Li"]
    assert any("Ann Lee" in note for note in notes)


def test_a_folder_of_notebooks_named_by_learner(course, tmp_path):
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "ada.ipynb").write_bytes(NOTEBOOK)
    (folder / "bo.zip").write_bytes(
        archive(**{"work/a.ipynb": NOTEBOOK, "work/torch.py": "raise SystemExit"})
    )
    (folder / "cy.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(folder / "di.ipynb")
    learners, notes = collect(course, ASSIGNMENT, folder)
    assert learners == ["ada", "bo", "cy", "di"]  # two of them with nothing to grade
    assert submitted(course) == {f"ada/{ASSIGNMENT}/ada.ipynb", f"bo/{ASSIGNMENT}/a.ipynb"}
    assert len(notes) == 2


def link(name):
    member = zipfile.ZipInfo(name)
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


def test_a_hostile_archive_writes_nothing_else(course, tmp_path):
    inner = archive(
        **{"../../../up.ipynb": NOTEBOOK, "/abs.ipynb": NOTEBOOK, "evil.zip": archive(x="y"), "b.exe": "MZ"}
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(link("eve_1_2_link.ipynb"), "/etc/passwd")
        target.writestr("../../eve_1_3_up.ipynb", NOTEBOOK)
        target.writestr("/tmp/eve_1_4_abs.ipynb", NOTEBOOK)
        target.writestr("eve_1_5_inner.zip", inner)
        target.writestr("eve_1_6_bomb.ipynb", b"\0" * 300_000_000)
        target.writestr("eve_1_7_timestamp.txt", "2001-01-01 00:00:00 UTC")
        target.writestr("mal_2_8_bomb.zip", archive(**{"a.ipynb": b"\0" * 100_000_000}))
        target.writestr("mal_2_9_broken.zip", b"PK\x05\x06" + b"\xff" * 18)
        target.writestr(f"ada_3_1_{ASSIGNMENT}.ipynb", NOTEBOOK)
    path = tmp_path / "submissions.zip"
    path.write_bytes(stream.getvalue())
    before = {found for found in tmp_path.rglob("*") if "submitted" not in found.parts}
    learners, _ = collect(course, ASSIGNMENT, path)
    assert learners == ["ada_3", "eve_1", "mal_2"]
    assert submitted(course) == {
        f"ada_3/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"eve_1/{ASSIGNMENT}/up.ipynb",
        f"eve_1/{ASSIGNMENT}/abs.ipynb",
    }
    written = {
        found for found in tmp_path.rglob("*") if not {"submitted", "downloaded"} & set(found.parts)
    } - before
    assert {found.name for found in written} <= {"gradebook.db"}
    assert not Path("/tmp/abs.ipynb").exists()


def test_an_archive_that_holds_itself_comes_to_an_end(course, tmp_path):
    data = archive(**{"a.ipynb": NOTEBOOK})
    for _ in range(30):
        data = archive(**{"deeper.zip": data})
    learners, _ = collect(course, ASSIGNMENT, downloaded(tmp_path, {"eve_1_2_deep.zip": data}))
    assert learners == ["eve_1"]
    assert submitted(course) == set()


def test_what_was_there_is_replaced_only_by_force(course, tmp_path):
    path = downloaded(tmp_path, {"ada.ipynb": NOTEBOOK})
    collect(course, ASSIGNMENT, path)
    with pytest.raises(CommandError, match="already, by ada"):
        collect(course, ASSIGNMENT, path)
    (course.folder("submitted_directory") / "ada" / ASSIGNMENT / "old.txt").touch()
    collect(course, ASSIGNMENT, path, force=True)
    assert submitted(course) == {f"ada/{ASSIGNMENT}/ada.ipynb"}


@pytest.mark.parametrize(
    ("assignment", "download", "says"),
    [
        ("no_such", "submissions.zip", "has not been released"),
        (ASSIGNMENT, "no_such.zip", "is not there"),
        (ASSIGNMENT, "empty", "nothing in"),
        (ASSIGNMENT, "broken.zip", "nothing in"),
    ],
)
def test_what_cannot_be_collected_is_a_sentence(course, tmp_path, assignment, download, says):
    downloaded(tmp_path, {"ada.ipynb": NOTEBOOK})
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(CommandError, match=says):
        collect(course, assignment, tmp_path / download)


def test_the_command_says_how_many_and_what_was_left(course, tmp_path, capsys):
    from argparse import Namespace

    path = downloaded(tmp_path, {"ada.ipynb": NOTEBOOK, "notes.txt": "x"})
    status = run(Namespace(course=course.root, assignment=ASSIGNMENT, download=path, force=False))
    shown = capsys.readouterr().out
    assert status == 1
    assert (
        "2 submissions" in shown
    )  # `notes` is a learner's name as good as any, and is graded as without a notebook
    assert "notes.txt" in shown
