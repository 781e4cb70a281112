"""Grades as files: nbgrader's own, Canvas's, Moodle's; whatever a learner calls herself."""

from __future__ import annotations

import csv
import io
import shutil

import pytest
from nbgrader.plugins import CsvExportPlugin

from grading.course import Course
from grading.export import export
from grading.export_formats import FORMATS, number, text
from insidebert.cli import main
from tests.small_course import ASSIGNMENT, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own

CHECK = "layer_parameters"


HOSTILE = [
    '=HYPERLINK("http://elsewhere.test","click")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1",
    "x;=1+1", "x,=1+1", 'x";=1+1', "＝1+1", "=cmd|' /C calc'!A0",
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """ada has 3, bo 2 by hand and 1 off for being late, cy handed in nothing."""
    course = make_course(tmp_path_factory.mktemp("export"), {})
    with course.gradebook() as gradebook:
        people = {
            "ada": {
                "first_name": "Ada",
                "last_name": "Lovelace",
                "email": "ada@example.org",
                "lms_user_id": "17",
            },
            "bo": {"first_name": "Bo", "last_name": "Ek"},
            "cy": {},
        }
        for student, person in people.items():
            gradebook.add_student(student, **person)
        for student in ("ada", "bo"):
            gradebook.add_submission(ASSIGNMENT, student)
            for notebook in gradebook.find_submission(ASSIGNMENT, student).notebooks:
                for grade in notebook.grades:
                    grade.auto_score, grade.needs_manual_grade = 3.0 * (grade.name == CHECK), False
        gradebook.find_grade(CHECK, ASSIGNMENT, ASSIGNMENT, "bo").manual_score = 2.0
        gradebook.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, "bo").late_submission_penalty = 1.0
        gradebook.db.commit()
    return course


@pytest.fixture
def course(made, tmp_path):
    """A copy of it that a test may change."""
    shutil.copytree(made.root, tmp_path / "course")
    return Course.open(tmp_path / "course")


def rows(course, format, **options):
    target, notes = export(course, format, **options)
    with target.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file)), notes


def rename(course, student, **person):
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student(student, **person)


def test_harmless_grades_are_the_same_bytes_as_nbgraders_own(course, tmp_path):
    target, _ = export(course, "nbgrader")
    with course.gradebook() as gradebook:
        CsvExportPlugin(to=str(tmp_path / "theirs.csv")).export(gradebook)
    assert target.read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def test_canvas_gets_what_its_importer_looks_for(course):
    found, _ = rows(course, "canvas")
    assert found == [
        ["Student", "ID", "SIS Login ID", "Section", ASSIGNMENT],
        ["    Points Possible", "", "", "", "20"],
        ["cy", "", "cy", "", "0"],
        ["Ek, Bo", "", "bo", "", "1"],
        ["Lovelace, Ada", "17", "ada", "", "3"],
    ]


def test_moodle_gets_a_column_to_know_each_learner_by(course):
    found, _ = rows(course, "moodle")
    assert found == [
        ["Username", "ID number", "First name", "Last name", "Email address", ASSIGNMENT],
        ["cy", "", "", "", "", "0"],
        ["bo", "", "Bo", "Ek", "", "1"],
        ["ada", "17", "Ada", "Lovelace", "ada@example.org", "3"],
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_handed_in_is_0_or_blank_as_asked(course, format):
    column = {"nbgrader": 9, "canvas": 4, "moodle": 5}[format]

    def points(student, **options):
        found, _ = rows(course, format, **options)
        return next(row for row in found if student in row)[column]

    assert float(points("cy")) == 0
    assert points("cy", blank=True) == ""
    assert float(points("ada", blank=True)) == 3


def test_no_name_becomes_a_formula_in_any_spreadsheet(course):
    with course.gradebook() as gradebook:
        for place, name in enumerate(HOSTILE):
            gradebook.add_student(
                f"learner{place}", first_name=name, last_name=name, email=name, lms_user_id=name
            )
    for format in FORMATS:
        target, _ = export(course, format)
        written = target.read_text(encoding="utf-8")
        for separator in ",;\t":  # what a spreadsheet may take for the separator
            cells = [cell for row in csv.reader(io.StringIO(written), delimiter=separator) for cell in row]
            assert [cell for cell in cells if cell.strip().startswith(tuple("=+-@＝"))] == []


@pytest.mark.parametrize("format", FORMATS)
def test_no_name_shifts_a_column_or_adds_a_row(course, format):
    rename(course, "cy", first_name='Cy, "the\nquoted"', last_name="O'Neil; Ünï\u2028x", email="a,b")
    found, _ = rows(course, format)
    assert len({len(row) for row in found}) == 1
    assert len(found) == {"nbgrader": 4, "canvas": 5, "moodle": 4}[format]
    assert any("O'Neil; Ünï x" in cell for row in found for cell in row)


def test_a_learner_called_points_possible_changes_no_points_in_canvas(course):
    rename(course, "cy", first_name="", last_name="Points Possible")
    found, _ = rows(course, "canvas")
    assert [row[0] for row in found if "Points Possible" in row[0]] == ["    Points Possible"]


def test_what_is_not_final_is_said(course):
    (course.root / "submitted" / "dot" / ASSIGNMENT).mkdir(parents=True)
    (course.root / "submitted" / "ada" / ASSIGNMENT).mkdir(parents=True)
    with course.gradebook() as gradebook:
        gradebook.find_grade("breakdown", ASSIGNMENT, ASSIGNMENT, "ada").needs_manual_grade = True
        gradebook.db.commit()
    _, notes = rows(course, "canvas")
    assert len(notes) == 2
    assert notes[0].endswith("not counted: dot")
    assert notes[1].endswith("by hand: ada")
    assert main(["export", "--course", str(course.root), "--format", "moodle"]) == 1


def test_the_command_writes_where_it_is_told_and_refuses_what_it_does_not_know(course, tmp_path, capsys):
    words = ["export", "--course", str(course.root)]
    assert main([*words, "--to", str(tmp_path / "new" / "grades.csv"), ASSIGNMENT]) == 0
    assert (tmp_path / "new" / "grades.csv").is_file()
    assert main([*words, "objectives"]) == 2
    assert main([*words, "--to", str(tmp_path)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert f"it has: {ASSIGNMENT}" in said[0]


def test_numbers_and_words():
    assert [number(value) for value in (0, 3.0, 18.57142, 20, 12345.678)] == [
        "0",
        "3",
        "18.57",
        "20",
        "12345.68",
    ]
    assert text(None) == ""
    assert text("Jean-Luc O'Neil (17)") == "Jean-Luc O'Neil (17)"
