"""Every attack of `tests/hostile` in one class, graded by `insidebert grade`: what comes of each, and of the others."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import pytest

from grading.course import Course
from grading.flags import noted
from tests.hostile import ASSIGNMENT, ATTACKED, NEIGHBOUR
from tests.hostile.outcome import (
    ATTACKS,
    HONEST,
    Result,
    assert_nothing_left,
    assert_outcome,
    autograded,
    hand_in_everything,
    run,
    shown,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's"),
]


def grade(folder, *words):
    run(folder, "insidebert", "grade", "--no-progress", "--report", "report.json", *words, ASSIGNMENT)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report["summary"], {
        (row["student"], row["question"]): Result(row["state"], row["points"], row["findings"], row["flags"])
        for row in report["rows"]
    }


@pytest.fixture(scope="module")
def graded():
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as scratch:
        hand_in_everything(Path(scratch))
        summary, results = grade(Path(scratch))
        yield Path(scratch), summary, results


@pytest.mark.parametrize("name", ATTACKS)
def test_what_comes_of_it(graded, name):
    _, _, results = graded
    assert_outcome(ATTACKS[name], results[name, ATTACKED], results[name, NEIGHBOUR])


def test_the_run_graded_everybody_behind_walls(graded):
    _, summary, results = graded
    assert {student for student, _ in results} == set(ATTACKS)
    assert summary["submissions"] == len(ATTACKS)
    assert "bubblewrap" in summary["isolation"]


def test_nothing_is_left_and_nothing_has_leaked(graded):
    folder, _, _ = graded
    assert_nothing_left(folder)


@pytest.mark.parametrize("name", [name for name in ATTACKS if "read" in name or "connects" in name])
def test_who_looked_around_saw_nothing(graded, name):
    folder, _, _ = graded
    seen = re.findall(r"SEEN (.*)", shown(autograded(folder, name)))
    assert set(seen) <= {"[]"}


def test_the_gradebook_and_the_notebooks_say_what_the_report_says(graded):
    folder, _, results = graded
    with Course.open(folder).gradebook() as gradebook:
        scores = {
            (grade.notebook.student.id, grade.name): grade.auto_score
            for submission in gradebook.find_assignment(ASSIGNMENT).submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
        }
    assert scores == {
        key: None if "not_gradable" in result.findings else result.points for key, result in results.items()
    }
    for name in ATTACKS:
        assert [flag.id for flag in noted(autograded(folder, name))] == list(results[name, ATTACKED].flags)


def test_what_is_kept_is_bounded(graded):
    folder, _, _ = graded
    for path in folder.glob("autograded/**/*"):
        assert path.stat().st_size < 2_000_000, path


# The last one: it changes the class.
def test_a_broken_resubmission_keeps_no_older_grade(graded):
    folder, _, _ = graded
    submitted = folder / "submitted"
    first, last = (submitted / name / ASSIGNMENT / f"{ASSIGNMENT}.ipynb" for name in HONEST)
    first.unlink()
    last.write_text("no longer a notebook", encoding="utf-8")
    _, results = grade(folder, *(word for name in HONEST for word in ("--student", name)))
    expected = {"missing_notebook": "not_attempted", "unreadable_notebook": "crashed"}
    for name, (flag, state) in zip(HONEST, expected.items(), strict=True):
        for question in (ATTACKED, NEIGHBOUR):
            result = results[name, question]
            assert (result.state, result.points, list(result.flags)) == (state, 0, [flag])
    with Course.open(folder).gradebook() as gradebook:
        assert [gradebook.find_submission(ASSIGNMENT, name).score for name in HONEST] == [0, 0]
        waits = [gradebook.find_submission(ASSIGNMENT, name).needs_manual_grade for name in HONEST]
    assert waits == [False, True]
