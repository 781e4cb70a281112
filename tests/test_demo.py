"""The whole chain on a made-up class, and what a broken course says."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grading.demo import ASSIGNMENT, CLASS, WITHOUT_NOTEBOOK

ROOT = Path(__file__).parents[1]
STUDENTS = [*CLASS, WITHOUT_NOTEBOOK]


def insidebert(*words, cwd=ROOT, timeout=600):
    command = [sys.executable, "-m", "insidebert", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, encoding="utf-8")


@pytest.fixture(scope="module")
def class_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    ran = insidebert("demo", "--keep", folder / "course", "--report", folder / "report.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout, folder / "course", json.loads((folder / "report.json").read_text(encoding="utf-8"))


pytestmark = pytest.mark.timeout(700)


def by_learner(report):
    return {(row["student"], row["question"]): row for row in report["rows"]}


def test_every_learner_is_in_the_table_the_grades_and_the_report(class_of):
    shown, course, report = class_of
    with (course / "grades.csv").open(encoding="utf-8", newline="") as file:
        grades = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert sorted(grades) == sorted(STUDENTS)
    assert len(STUDENTS) >= 12
    for student in STUDENTS:
        assert student in shown
        total = sum(row["points"] for row in report["rows"] if row["student"] == student)
        assert total == pytest.approx(grades[student], abs=0.01)


def test_the_report_keeps_its_contract(class_of):
    _, _, report = class_of
    assert set(report) == {"summary", "rows"}
    assert set(report["summary"]) == {
        "submissions", "questions", "seconds", "per_minute", "workers", "isolation", "warm",
    }  # fmt: skip
    assert report["summary"]["submissions"] == len(STUDENTS)
    assert report["summary"]["questions"] == len(report["rows"]) == 6 * len(STUDENTS)
    keys = {
        "student",
        "assignment",
        "question",
        "points",
        "max_points",
        "state",
        "findings",
        "causes",
        "flags",
        "seconds",
    }
    for row in report["rows"]:
        assert set(row) == keys
        assert row["assignment"] == ASSIGNMENT
        assert 0 <= row["points"] <= row["max_points"]
        assert row["state"] in ("correct", "partial", "incorrect", "not_attempted", "crashed")
        assert (row["state"] == "correct") == (row["points"] == row["max_points"]) == (row["findings"] == [])


@pytest.mark.parametrize(
    ("student", "question", "state", "finding"),
    [
        ("chen", "count_parameters", "incorrect", "counts_tied_decoder_twice"),
        ("fatou", "token_table_share", "incorrect", "percent_for_share"),
        ("goran", "token_table_share", "crashed", "fixed_prefix"),
        ("hana", "breakdown", "partial", "pooler_in_head"),
        ("kofi", "breakdown", "not_attempted", "not_attempted"),
        ("lena", "count_parameters", "crashed", "earlier_cell_failed"),
        ("mo", "count_parameters", "incorrect", "wrong_type"),
        ("nina", "layer_parameters", "crashed", "timed_out"),
        ("pia", "token_table_share", "incorrect", "unexpected_value"),
        ("pia", "budget_report", "not_attempted", "not_attempted"),
    ],
)
def test_each_wrong_answer_is_named_and_costs_its_question_alone(class_of, student, question, state, finding):
    _, _, report = class_of
    row = by_learner(report)[student, question]
    assert (row["state"], row["findings"]) == (state, [finding])


def test_right_answers_keep_all_points_in_any_style_and_noise(class_of):
    rows = by_learner(class_of[2])
    for student in ("ada", "omar"):
        assert all(row["state"] == "correct" for (name, _), row in rows.items() if name == student)
    # one wrong answer leaves the other questions alone
    for student, question in (("nina", "factorised_table"), ("lena", "layer_parameters")):
        assert rows[student, question]["state"] == "correct"


def test_a_missing_notebook_is_graded_as_untouched_and_flagged(class_of):
    rows = [row for row in class_of[2]["rows"] if row["student"] == WITHOUT_NOTEBOOK]
    assert {row["state"] for row in rows} == {"not_attempted"}
    assert {tuple(row["flags"]) for row in rows} == {("missing_notebook",)}


def test_feedback_reached_the_exchange_and_says_what_was_wrong(class_of):
    _, course, _ = class_of
    released = list((course / "exchange" / "inside-bert" / "feedback").glob("*.html"))
    assert len(released) == len(STUDENTS)
    page = (course / "feedback" / "chen" / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text(encoding="utf-8")
    assert "A tied matrix is counted once" in page
    assert "insidebert.evidence" not in page


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "is no course"),
        ("c = get_config(\n", "SyntaxError"),
        ("import a_package_that_is_not_there\n", "ModuleNotFoundError"),
        ("c = get_config()\nc.CourseDirectory.source_directory = 'solutions'\n", "does not name"),
    ],
)
def test_a_broken_configuration_is_one_sentence_and_status_2(tmp_path, text, says):
    shutil.copytree(ROOT / "solutions" / ASSIGNMENT, tmp_path / "solutions" / ASSIGNMENT)
    if text is not None:
        (tmp_path / "nbgrader_config.py").write_text(text, encoding="utf-8")
    ran = insidebert("release", "--course", tmp_path)
    assert ran.returncode == 2
    assert says in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert "Traceback" not in ran.stderr


def test_a_demo_that_fails_leaves_nothing_in_the_way_of_the_next(tmp_path):
    shutil.copytree(ROOT / "solutions" / ASSIGNMENT, tmp_path / "solutions" / ASSIGNMENT)
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "01_first.ipynb").touch()
    (tmp_path / "nbgrader_config.py").write_text("c = get_config(\n", encoding="utf-8")
    for _ in range(2):
        ran = insidebert("demo", "--keep", "kept", cwd=tmp_path)
        assert ran.returncode == 2
        assert "SyntaxError" in ran.stderr
        assert not (tmp_path / "kept").exists()
