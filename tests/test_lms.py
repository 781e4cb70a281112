"""What an LMS lets a teacher download, well-meant and not, into `submitted/`."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import struct
import time
import unicodedata
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from grading.collect import Line, collect
from grading.course import Course
from grading.intake import MAX_BYTES, read_slip
from grading.lms import Named, Owner, owner_of
from insidebert.cli import main
from insidebert.errors import CommandError
from tests.small_course import _add_assignment

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


JANE = Owner("canvas", "doejane", "12345")


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("doejane_12345_67890_budget.ipynb", Named(JANE, "budget.ipynb", 67890)),
        ("doejane_LATE_12345_67890_my_own.ipynb", Named(JANE, "my_own.ipynb", 67890, late=True)),
        ("doejane_1_2_smith_9_8_x.ipynb", Named(Owner("canvas", "doejane", "1"), "smith_9_8_x.ipynb", 2)),
        ("doejane_12345_text.html", Named(JANE, "text.html")),
        ("doejane_LATE_12345_link.html", Named(JANE, "link.html", late=True)),
        ("Jane Doe_77_assignsubmission_file_/a.ipynb", Named(Owner("moodle", "Jane Doe", "77"), "a.ipynb")),
        ("Jane Doe_77_assignsubmission_file/a.ipynb", Named(Owner("moodle", "Jane Doe", "77"), "a.ipynb")),
        ("Jane Doe_77_assignsubmission_file_a.ipynb", Named(Owner("moodle", "Jane Doe", "77"), "a.ipynb")),
        (
            "José O'Neill-Li_7_assignsubmission_file_/draft/a.ipynb",
            Named(Owner("moodle", "José O'Neill-Li", "7"), "draft/a.ipynb"),
        ),
        ("राम शर्मा_7_assignsubmission_file_/a.ipynb", Named(Owner("moodle", "राम शर्मा", "7"), "a.ipynb")),
        ("สมชาย ใจดี.ipynb", Named(Owner("", "สมชาย ใจดี"), "สมชาย ใจดี.ipynb")),
        ("ada.ipynb", Named(Owner("", "ada"), "ada.ipynb")),
        ("ada/notes/budget.ipynb", Named(Owner("", "ada"), "notes/budget.ipynb")),
        ("ada/doejane_12345_67890_budget.ipynb", Named(Owner("", "ada"), "doejane_12345_67890_budget.ipynb")),
        ("../ada.ipynb", None),
        ("/etc/ada.ipynb", None),
        ("a/../../b.ipynb", None),
        ("..\\..\\b.ipynb", None),
        ("C:/b.ipynb", None),
        (".ssh/b.ipynb", None),
        ("a\nb.ipynb", None),
        ("a\u202eb.ipynb", None),
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
        gradebook.add_student("bo")
    files = {f"ada/{ASSIGNMENT}.ipynb": NOTEBOOK, f"bo/{name}": NOTEBOOK}
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, files)).students == ["ada", "bo"]
    assert submitted(course) == {
        f"ada/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"bo/{ASSIGNMENT}/{name.rpartition('/')[2]}",
    }


# --- one learner alone in a download ------------------------------------------------------------------------

ALONE = {"ben.ipynb": NOTEBOOK, "cyd/a.ipynb": b"cyd's"}
FORGED = {"lovelaceben_11_500_a.ipynb": NOTEBOOK, "cy_12_501_a.ipynb": NOTEBOOK}


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("kind", ["archive", "folder", "folder in an archive"])
def test_a_folder_or_archive_of_one_learner_is_hers_alone(course, tmp_path, kind, listed):
    if listed:
        with course.gradebook() as gradebook:
            for student in ("ada", "ben", "cyd"):
                gradebook.add_student(student)
    learners = collect(course, ASSIGNMENT, alone(tmp_path, kind, ALONE)).students
    assert learners == ["ada"]
    assert submitted(course) == {f"ada/{ASSIGNMENT}/ben.ipynb"}


@pytest.mark.parametrize("kind", ["archive", "folder", "folder in an archive"])
def test_what_seems_to_hold_a_class_is_hers_if_she_is_known_and_else_a_person_decides(course, tmp_path, kind):
    path = alone(tmp_path, kind, FORGED)
    with pytest.raises(CommandError, match="2 people are named in there"):
        collect(course, ASSIGNMENT, path)
    assert submitted(course) == set()
    with course.gradebook() as gradebook:
        gradebook.add_student("ada")
        gradebook.add_student("ben", lms_user_id="11")
    assert collect(course, ASSIGNMENT, path).students == ["ada"]
    assert {name.split("/")[0] for name in submitted(course)} == {"ada"}


def alone(tmp_path, kind, files):
    """Ada's folder or archive, and nothing else."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    if kind == "folder in an archive":
        return downloaded(tmp_path, {f"ada/{name}": data for name, data in files.items()})
    if kind == "archive":
        (inbox / "ada.zip").write_bytes(archive(**files))
    else:
        with zipfile.ZipFile(io.BytesIO(archive(**files))) as packed:
            packed.extractall(inbox / "ada")
    return inbox


# --- which file ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (["a/PB.ipynb", "a/draft/PB.ipynb"], "PB.ipynb"),
        (["a/draft/PB.ipynb", "a/notes.ipynb"], "draft/PB.ipynb"),
        (["a/PB (1).ipynb", "a/PB.ipynb"], "PB.ipynb"),
        (["a/PB-Copy1.ipynb", "a/PB.ipynb"], "PB.ipynb"),
        (["a/sheets/x.ipynb", "a/y.ipynb"], "y.ipynb"),
        (["doe_1_10_PB.ipynb", "doe_1_12_PB-2.ipynb", "doe_1_11_PB-1.ipynb"], "PB-2.ipynb"),
        (["doe_1_10_PB-9.ipynb", "doe_1_12_PB-10.ipynb"], "PB-10.ipynb"),
        (["doe_1_9_PB.ipynb", "doe_1_10_PB.ipynb"], "PB.ipynb"),
        (["doe_1_9_PB.ipynb", "doe_1_10_essay.ipynb"], "PB.ipynb"),
        (["a/.ipynb_checkpoints/PB.ipynb", "a/x.ipynb"], "x.ipynb"),
        (["__MACOSX/a/PB.ipynb", "a/x.ipynb"], "x.ipynb"),
    ],
)
def test_the_notebook_that_counts(course, tmp_path, names, taken):
    names = [name.replace("PB", ASSIGNMENT) for name in names]
    taken = taken.replace("PB", ASSIGNMENT)
    collected = collect(course, ASSIGNMENT, downloaded(tmp_path, {name: name.encode() for name in names}))
    (line,) = collected.lines
    assert line.file == taken
    (path,) = submitted(course)
    data = (course.folder("submitted_directory") / path).read_text(encoding="utf-8")
    assert data == max(
        (name for name in names if name.endswith(taken)), key=lambda name: (-name.count("/"), len(name))
    )
    visible = [name for name in names if "checkpoints" not in name and "MACOSX" not in name]
    assert line.look.startswith("left: ") == (len(visible) > 1)
    assert (path.rpartition("/")[2] == f"{ASSIGNMENT}.ipynb") == (ASSIGNMENT in taken)


def test_a_loose_notebook_comes_before_one_in_an_archive(course, tmp_path):
    files = {
        "doe_1_10_all.zip": archive(**{f"{ASSIGNMENT}.ipynb": b"packed"}),
        f"doe_1_9_{ASSIGNMENT}.ipynb": b"loose",
    }
    (line,) = collect(course, ASSIGNMENT, downloaded(tmp_path, files)).lines
    assert (line.file, line.look) == (f"{ASSIGNMENT}.ipynb", f"left: all.zip/{ASSIGNMENT}.ipynb")


# --- whole downloads ----------------------------------------------------------------------------------------


def test_canvas(course, tmp_path):
    files = {
        f"doejane_11_500_{ASSIGNMENT}.ipynb": NOTEBOOK,
        f"roejohn_12_501_{ASSIGNMENT}-3.ipynb": NOTEBOOK,
        "moeann_13_502_homework.ipynb": NOTEBOOK,
        "coebob_14_503_essay.pdf": b"%PDF",
        "doejane_11_text.html": b"see the file",
        "anon_a1b2c_504_x.ipynb": NOTEBOOK,
    }
    collected = collect(course, ASSIGNMENT, downloaded(tmp_path, files))
    assert collected.students == ["coebob_14", "doejane_11", "moeann_13", "roejohn_12"]
    assert submitted(course) == {
        f"doejane_11/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"roejohn_12/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"moeann_13/{ASSIGNMENT}/homework.ipynb",
    }
    assert (course.folder("submitted_directory") / "coebob_14" / ASSIGNMENT).is_dir()  # is graded as without
    lines = {line.who: line for line in collected.lines}
    assert lines["coebob_14"] == Line("coebob_14", "no notebook", "left: essay.pdf", needs_you=True)
    assert lines["doejane_11"].look == "left: text.html"
    assert lines["anon"].look.startswith("anonymous")
    with course.gradebook() as gradebook:
        assert {student.id: student.lms_user_id for student in gradebook.students}["doejane_11"] == "11"


def test_what_is_late_for_canvas_is_late_for_the_policy(course, tmp_path):
    path = downloaded(
        tmp_path,
        {f"doejane_LATE_11_500_{ASSIGNMENT}.ipynb": NOTEBOOK, f"bo_12_501_{ASSIGNMENT}.ipynb": NOTEBOOK},
    )
    collected = collect(course, ASSIGNMENT, path)
    assert {line.who for line in collected.lines if line.needs_you} == {"doejane_11"}
    assert "no due date" in next(line.look for line in collected.lines if line.needs_you)
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-03-01 12:00:00 UTC")
    collected = collect(course, ASSIGNMENT, path)
    assert not collected.needs_you
    assert "2026-03-01 12:00:01 UTC" in next(line.look for line in collected.lines if line.late)
    assert "not how late" in collected.notes[0]
    folder = course.folder("submitted_directory")
    slip = read_slip(folder / "doejane_11" / ASSIGNMENT)
    assert (slip.submitted, slip.flags) == (datetime(2026, 3, 1, 12, 0, 1), [])
    assert read_slip(folder / "bo_12" / ASSIGNMENT).submitted is None


def test_people_keep_the_names_the_gradebook_has_for_them(course, tmp_path):
    with course.gradebook() as gradebook:
        gradebook.add_student("jdoe", lms_user_id="11")
        gradebook.add_student("jroe", first_name="John", last_name="Roe")
    files = {
        f"doejane_11_500_{ASSIGNMENT}.ipynb": NOTEBOOK,
        f"John Roe_9_assignsubmission_file_/{ASSIGNMENT}.ipynb": NOTEBOOK,
    }
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, files)).students == ["jdoe", "jroe"]


ROSTER = {
    "ada": ("Ada", "Lovelace"),
    "jm": ("Jörg", "Müller"),
    "so": ("Sinéad", "O'Neill"),
    "rs": ("राम", "शर्मा"),
    "lw": ("Li", "Wang"),
    "wl": ("Wang", "Li"),
    "jd": ("José", "Díaz"),
    "ja": ("Jose", "Diaz"),
    "ac": ("Anne-Marie", "Curie"),
}


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("Ada Lovelace", "ada"),
        ("ADA LOVELACE", "ada"),
        ("Lovelace Ada", "ada"),
        ("Lovelace, Ada", "ada"),
        ("Ada Lovelace (Gast)", "ada"),
        ("Group A-Ada Lovelace", "ada"),
        ("Gruppe-1-Anne-Marie Curie", "ac"),
        (unicodedata.normalize("NFD", "Jörg Müller"), "jm"),
        ("Jorg Muller", "jm"),
        ("Sinéad ONeill", "so"),
        ("Sinead O’Neill", "so"),
        ("राम शर्मा", "rs"),
        ("रम शर्मा", None),
        ("José Díaz", "jd"),
        ("Jose Diaz", "ja"),
        ("JOSE DIAZ", None),  # both
        ("Li Wang", None),  # and who comes first?
        ("Marie Curie", None),
        ("Ada Byron", None),
        ("Participant 7", None),
        ("Group A-Participant", None),
    ],
)
def test_a_name_finds_its_learner_or_nobody(course, tmp_path, name, student):
    with course.gradebook() as gradebook:
        for who, (first, last) in ROSTER.items():
            gradebook.add_student(who, first_name=first, last_name=last)
    path = downloaded(tmp_path, {f"{name}_7_assignsubmission_file_/a.ipynb": NOTEBOOK})
    collected = collect(course, ASSIGNMENT, path)
    assert collected.students == ([student] if student else [])
    assert collected.needs_you == (student is None)
    if student is None:
        assert [(line.who, line.file) for line in collected.lines] == [(name, "not taken")]
        assert submitted(course) == set()
    with course.gradebook() as gradebook:
        assert {it.id for it in gradebook.students} == set(ROSTER)


def test_canvas_finds_a_learner_of_the_class_list_by_name_once_and_by_number_afterwards(course, tmp_path):
    with course.gradebook() as gradebook:
        gradebook.add_student("so", first_name="Sinéad", last_name="O'Neill")
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, {"oneillsinead_5_6_a.ipynb": b"1"})).students == [
        "so"
    ]
    later = downloaded(tmp_path, {"married_5_7_a.ipynb": b"2", "oneillsinead_6_8_a.ipynb": b"3"})
    collected = collect(course, ASSIGNMENT, later, force=True)
    assert collected.students == ["so"]
    assert [line.who for line in collected.lines if line.needs_you] == [
        "oneillsinead"
    ]  # another of that name


def test_a_number_that_two_learners_have_is_nobodys(course, tmp_path):
    with course.gradebook() as gradebook:
        for who, number in (("ada", "7"), ("bo", "8"), ("cy", "7")):
            gradebook.add_student(who, lms_user_id=number, last_name=who)
    collected = collect(
        course, ASSIGNMENT, downloaded(tmp_path, {"x_7_1_a.ipynb": b"1", "y_8_2_a.ipynb": b"2"})
    )
    assert collected.students == ["bo"]
    assert [(line.who, line.look) for line in collected.lines if line.needs_you] == [
        ("x", "could be ada or cy")
    ]


def test_nobody_new_is_made_in_silence_where_there_is_a_class_list(course, tmp_path, capsys):
    with course.gradebook() as gradebook:
        gradebook.add_student("ada")
    path = downloaded(tmp_path, {"ada.ipynb": NOTEBOOK, "adda.ipynb": NOTEBOOK})
    words = ["collect", ASSIGNMENT, str(path), "--course", str(course.root)]
    assert main(words) == 1
    shown = capsys.readouterr().out
    assert "adda" in shown and "not in the gradebook" in shown and "--new" in shown
    assert submitted(course) == {f"ada/{ASSIGNMENT}/ada.ipynb"}
    assert main([*words, "--new"]) == 0
    assert "new in the gradebook" in capsys.readouterr().out
    assert {name.split("/")[0] for name in submitted(course)} == {"ada", "adda"}


def test_whom_canvas_numbers_is_no_stranger_where_there_is_no_class_list(course, tmp_path):
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, {"a_1_1_x.ipynb": NOTEBOOK})).students == ["a_1"]
    later = downloaded(tmp_path, {"a_1_1_x.ipynb": NOTEBOOK, "b_2_2_x.ipynb": NOTEBOOK})
    assert collect(course, ASSIGNMENT, later).students == ["a_1", "b_2"]


def test_moodle_does_not_mix_up_two_people_of_one_name(course, tmp_path):
    files = {f"Ann Lee_{number}_assignsubmission_file_/{ASSIGNMENT}.ipynb": NOTEBOOK for number in (1, 2)} | {
        f"Bo Li_3_assignsubmission_file_/{ASSIGNMENT}.ipynb": NOTEBOOK
    }
    collected = collect(course, ASSIGNMENT, downloaded(tmp_path, files))
    assert collected.students == ["Bo Li"]
    assert [line.look for line in collected.lines if line.who == "Ann Lee"] == [
        "several people are called so"
    ] * 2


def test_one_name_in_two_encodings_is_one_learner(course, tmp_path):
    names = {unicodedata.normalize(form, f"Jörg/{form}.ipynb"): NOTEBOOK for form in ("NFC", "NFD")}
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, names)).students == ["Jörg"]


def test_two_names_that_some_file_systems_take_for_one_are_nobodys(course, tmp_path):
    collected = collect(course, ASSIGNMENT, downloaded(tmp_path, {"Ada.ipynb": b"1", "ada.ipynb": b"2"}))
    assert collected.students == []
    assert len(collected.lines) == 2


def test_a_folder_of_notebooks_named_by_learner(course, tmp_path):
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "ada.ipynb").write_bytes(NOTEBOOK)
    (folder / "bo.zip").write_bytes(
        archive(**{"work/a.ipynb": NOTEBOOK, "work/torch.py": "raise SystemExit"})
    )
    (folder / "cy.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(folder / "di.ipynb")
    collected = collect(course, ASSIGNMENT, folder)
    assert collected.students == ["ada", "bo", "cy", "di"]
    # An empty notebook stands for what nobody can read: it waits for a person.
    files = {"ada": "ada", "bo": "a", "cy": "cy", "di": "di"}
    assert submitted(course) == {f"{who}/{ASSIGNMENT}/{file}.ipynb" for who, file in files.items()}
    assert {line.who for line in collected.lines if "cannot be read: a link" in line.look} == {"cy", "di"}
    assert (course.folder("submitted_directory") / "cy" / ASSIGNMENT / "cy.ipynb").read_bytes() == b""


# --- hostile ------------------------------------------------------------------------------------------------


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
        target.writestr("eve_1_6_bomb.ipynb", bytes(MAX_BYTES + 1))
        target.writestr("eve_1_7_timestamp.txt", "2001-01-01 00:00:00 UTC")
        target.writestr("mal_2_8_bomb.zip", archive(**{"a.ipynb": bytes(MAX_BYTES + 1)}))
        target.writestr("mal_2_9_broken.zip", b"PK\x05\x06" + b"\xff" * 18)
        target.writestr(f"ada_3_1_{ASSIGNMENT}.ipynb", NOTEBOOK)
    path = tmp_path / "submissions.zip"
    path.write_bytes(stream.getvalue())
    before = {found for found in tmp_path.rglob("*") if "submitted" not in found.parts}
    collected = collect(course, ASSIGNMENT, path)
    assert collected.students == ["ada_3", "eve_1", "mal_2"]
    assert submitted(course) == {
        f"ada_3/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"eve_1/{ASSIGNMENT}/bomb.ipynb",
        f"mal_2/{ASSIGNMENT}/a.ipynb",
    }
    sizes = {path.name: path.stat().st_size for path in course.folder("submitted_directory").rglob("*.ipynb")}
    assert (sizes["bomb.ipynb"], sizes["a.ipynb"]) == (0, 0)  # what nobody can read
    assert {line.who for line in collected.lines if line.needs_you} >= {"eve_1", "mal_2"}
    written = {
        found for found in tmp_path.rglob("*") if not {"submitted", "downloaded"} & set(found.parts)
    } - before
    assert {found.name for found in written} <= {"gradebook.db"}
    assert not Path("/tmp/abs.ipynb").exists()


def test_an_archive_that_holds_itself_comes_to_an_end(course, tmp_path):
    data = archive(**{"a.ipynb": NOTEBOOK})
    for _ in range(30):
        data = archive(**{"deeper.zip": data})
    collected = collect(course, ASSIGNMENT, downloaded(tmp_path, {"eve_1_2_deep.zip": data}))
    assert collected.students == ["eve_1"]
    assert collected.lines[0].file == "no notebook"
    assert submitted(course) == set()


def test_limits_are_a_learners_and_not_a_downloads(course, tmp_path):
    """Large members ended the collection for all, and 4,000 small ones took minutes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for number in range(30):
            target.writestr(f"{number}.ipynb", bytes(2**24), compresslevel=1)
    path = tmp_path / "submissions.zip"
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("eve_1_1_large.zip", stream.getvalue())
        for number in range(10_000):
            target.writestr(f"mal_2_{number}_{number}.ipynb", b"x")
        target.writestr(
            "tom_3_1_many.zip", archive(**{f"work/{number}.ipynb": b"x" for number in range(10_000)})
        )
        target.writestr(f"ada_4_1_{ASSIGNMENT}.ipynb", NOTEBOOK)
    began = time.process_time()
    collected = collect(course, ASSIGNMENT, path)
    assert time.process_time() - began < 10
    assert collected.students == ["ada_4", "eve_1", "mal_2", "tom_3"]
    assert f"ada_4/{ASSIGNMENT}/{ASSIGNMENT}.ipynb" in submitted(course)
    assert len(submitted(course)) == 4
    looks = {line.who: line.look for line in collected.lines}
    assert looks["eve_1"].endswith("and 27 more") and looks["mal_2"].endswith("and 9997 more")
    assert looks["ada_4"] == ""


def forged_table(count):
    """An archive of empty files whose end, as most programs look for it, says nothing of the table before it."""
    name = b"a.txt"
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, *[0] * 8, len(name), *[0] * 6) + name
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, len(entry) * count, 0x06054B50, 0)
    return entry * count + end


def test_what_an_archive_says_of_its_own_size_is_not_believed(course, tmp_path):
    files = {"eve_1_1_work.zip": forged_table(300_000), f"ada_2_2_{ASSIGNMENT}.ipynb": NOTEBOOK}
    began = time.process_time()
    looks = {line.who: line for line in collect(course, ASSIGNMENT, downloaded(tmp_path, files)).lines}
    assert time.process_time() - began < 5
    assert "too many files" in looks["eve_1"].look and looks["eve_1"].needs_you
    assert (looks["ada_2"].file, looks["ada_2"].look) == (f"{ASSIGNMENT}.ipynb", "")


def test_archives_without_number_cost_the_class_no_time(course, tmp_path):
    path = tmp_path / "submissions.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for number in range(60):
            target.writestr(f"eve_1_{number}_work{number}.zip", bytes(2**23))
        target.writestr(f"eve_1_99_{ASSIGNMENT}.ipynb", NOTEBOOK)
        target.writestr(f"ada_2_2_{ASSIGNMENT}.ipynb", NOTEBOOK)
    looks = {line.who: line for line in collect(course, ASSIGNMENT, path).lines}
    assert "60 archives, of which 20 were looked into" in looks["eve_1"].look and looks["eve_1"].needs_you
    assert looks["eve_1"].file == looks["ada_2"].file == f"{ASSIGNMENT}.ipynb"
    assert looks["ada_2"].look == ""


@pytest.mark.parametrize("data", [b"PK\x03\x04 and no more", bytes(100), archive(**{"a.txt": "x"})])
def test_an_archive_that_nobody_can_look_into_waits_for_a_person(course, tmp_path, data):
    files = {"eve_1_1_work.zip": data, "ada_2_2_a.ipynb": NOTEBOOK}
    collected = collect(course, ASSIGNMENT, downloaded(tmp_path, files))
    assert collected.students == ["ada_2", "eve_1"]
    line = next(line for line in collected.lines if line.who == "eve_1")
    assert line.needs_you and "work.zip" in line.look
    placeholder = course.folder("submitted_directory") / "eve_1" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    assert placeholder.is_file() == ("cannot be read" in line.look)


# --- the command --------------------------------------------------------------------------------------------


def test_what_was_there_is_replaced_only_by_force(course, tmp_path):
    collect(course, ASSIGNMENT, downloaded(tmp_path, {"ada.ipynb": b"first", "bo.ipynb": NOTEBOOK}))
    path = downloaded(tmp_path, {"ada.ipynb": b"second", "bo.ipynb": NOTEBOOK, "cy.ipynb": NOTEBOOK})
    with pytest.raises(CommandError, match="already, by ada;"):
        collect(course, ASSIGNMENT, path, new=True)
    folder = course.folder("submitted_directory")
    assert not (folder / "cy").exists()
    (folder / "ada" / ASSIGNMENT / "old.txt").touch()
    collect(course, ASSIGNMENT, path, force=True, new=True)
    assert (folder / "ada" / ASSIGNMENT / "ada.ipynb").read_bytes() == b"second"
    assert submitted(course) == {f"{who}/{ASSIGNMENT}/{who}.ipynb" for who in ("ada", "bo", "cy")}


def test_the_same_download_twice_changes_nothing(course, tmp_path):
    files = {"ada.ipynb": NOTEBOOK, "bo_1_2_essay.pdf": b"%PDF", "cy_2_3_work.zip": b"broken"}
    path = downloaded(tmp_path, files)
    collect(course, ASSIGNMENT, path, new=True)
    before = {path: path.stat().st_mtime_ns for path in course.folder("submitted_directory").rglob("*")}
    collected = collect(course, ASSIGNMENT, path, new=True)
    assert collected.students == ["ada", "bo_1", "cy_2"]
    assert {
        path: path.stat().st_mtime_ns for path in course.folder("submitted_directory").rglob("*")
    } == before


@pytest.mark.parametrize(
    ("assignment", "download", "says"),
    [
        ("no_such", "submissions.zip", "has not been released"),
        (ASSIGNMENT, "no_such.zip", "is not there"),
        (ASSIGNMENT, "empty", "nothing in"),
        (ASSIGNMENT, "broken.zip", "cannot be opened as an archive"),
    ],
)
def test_what_cannot_be_collected_is_a_sentence(course, tmp_path, assignment, download, says):
    downloaded(tmp_path, {"ada.ipynb": NOTEBOOK})
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(CommandError, match=says):
        collect(course, assignment, tmp_path / download)


def test_a_class_of_forty_is_six_lines(course, tmp_path, capsys):
    files = {f"learner{number}_{number}_{number}_{ASSIGNMENT}.ipynb": NOTEBOOK for number in range(38)}
    files |= {"eve_100_1_[bold]own.ipynb": NOTEBOOK, "notes.txt": b"x", "mal_101_1_essay.pdf": b"%PDF"}
    path = downloaded(tmp_path, files)
    words = ["collect", ASSIGNMENT, str(path), "--course", str(course.root)]
    assert main(words) == 1
    shown = [line for line in capsys.readouterr().out.splitlines() if line.strip(" ─╶╴")]
    assert len(shown) == 6, shown
    assert f"38 learners   {ASSIGNMENT}.ipynb" in " ".join(shown)
    assert "[bold]own.ipynb" in " ".join(shown)
    assert "notes.txt" in shown[-2] or "notes.txt" in shown[-3]
    assert shown[-1] == f"40 submissions of {ASSIGNMENT}"
    assert main([*words, "--verbose"]) == 1
    assert "learner37_37" in capsys.readouterr().out


def test_nbgraders_own_command_takes_the_same(course, tmp_path):
    from nbgrader.apps.zipcollectapp import ZipCollectApp
    from nbgrader.coursedir import CourseDirectory

    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-03-01 12:00:00 UTC")
    folder = course.root / "downloaded" / ASSIGNMENT / "archive"
    folder.mkdir(parents=True)
    files = {
        f"ada_LATE_1_10_{ASSIGNMENT}.ipynb": b"first",
        f"ada_LATE_1_11_{ASSIGNMENT}-1.ipynb": b"second",
        "eve_2_3_work.zip": archive(**{"x/1_2_3_4.ipynb": NOTEBOOK, "../../up.ipynb": NOTEBOOK}),
    }
    (folder / "submissions.zip").write_bytes(archive(**files))
    course.config.CourseDirectory.assignment_id = ASSIGNMENT
    app = ZipCollectApp(config=course.config)
    app.coursedir = CourseDirectory(config=course.config)
    app.init_plugins()
    app.extract_archive_files()
    app.process_extracted_files()
    assert submitted(course) == {
        f"ada_1/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        f"ada_1/{ASSIGNMENT}/timestamp.txt",
        f"eve_2/{ASSIGNMENT}/1_2_3_4.ipynb",
    }
    kept = course.folder("submitted_directory") / "ada_1" / ASSIGNMENT
    assert (kept / f"{ASSIGNMENT}.ipynb").read_bytes() == b"second"
    assert read_slip(kept).submitted == datetime(2026, 3, 1, 12, 0, 1)


def test_what_is_collected_is_graded_as_it_came(course, tmp_path, monkeypatch):
    """ada in time, bo late, eve with an archive that nobody can open; each gets what is hers."""
    from tests.small_run import PART, grade, look_up

    monkeypatch.setattr("grading.worker.execute", look_up)
    monkeypatch.setattr("grading.run.prove", lambda *_: None)
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    with course.gradebook() as gradebook:
        _add_assignment(gradebook)
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-03-01 12:00:00 UTC")
    notebook = json.loads(NOTEBOOK)
    notebook["cells"][0]["source"] = "RIGHT"
    right = json.dumps(notebook).encode("utf-8")
    files = {
        f"ada_1_1_{ASSIGNMENT}.ipynb": right,
        f"bo_LATE_2_2_{ASSIGNMENT}.ipynb": right,
        "eve_3_3_w.zip": b"PK",
    }
    assert collect(course, ASSIGNMENT, downloaded(tmp_path, files)).students == ["ada_1", "bo_2", "eve_3"]
    outcome = grade(course)
    assert [trouble for trouble in outcome.troubles if "eve_3" in trouble]
    with course.gradebook() as gradebook:
        found = {it.student.id: it for it in gradebook.notebook_submissions(ASSIGNMENT, ASSIGNMENT)}
        points = {who: (it.score, it.late_submission_penalty) for who, it in found.items()}
        assert points == {"ada_1": (PART, None), "bo_2": (PART, PART), "eve_3": (0, None)}
        assert [who for who, it in found.items() if it.needs_manual_grade] == ["eve_3"]
