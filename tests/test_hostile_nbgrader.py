"""The attacks of `tests/hostile` through `nbgrader autograde` with this course's configuration.

One run, one submission after the other: no attack ends the batch. Those that cost much and meet nothing but the
sandbox, which is the same here, are left to `test_hostile.py`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import pytest
from nbgrader.utils import determine_grade

from grading.course import Course
from grading.flags import noted
from grading.judging import graded_cells, question_of, recorded
from tests.hostile import ASSIGNMENT, ATTACKED, NEIGHBOUR
from tests.hostile.outcome import (
    ATTACKS,
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


COSTLY = {
    "lists_without_end", "endless_output", "one_line_of_two_gigabytes", "many_figures", "a_fork_bomb", "a_full_disk",
    "evidence_without_end", "a_loop_deaf_to_signals", "a_loop_that_swallows_interrupts", "a_long_sleep", "a_daemon",
    "kills_everybody", "segmentation_fault", "a_huge_tensor", "expected_values_sought",
}  # fmt: skip
TRIED = {name: one for name, one in ATTACKS.items() if name not in COSTLY}


@pytest.fixture(scope="module")
def course():
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as scratch:
        hand_in_everything(Path(scratch), TRIED.values())
        ran = run(Path(scratch), "nbgrader", "autograde", ASSIGNMENT)
        assert ran.returncode == 1, ran.stderr[-3000:]
        for name, one in TRIED.items():  # who waits for a person is named, and nobody else
            assert (f"{name}'s {ASSIGNMENT} has no points" in ran.stderr) == ("not_gradable" in one.findings)
        yield Path(scratch)


@pytest.mark.parametrize("name", TRIED)
def test_what_comes_of_it(course, name):
    notebook = autograded(course, name)
    flags = [flag.id for flag in noted(notebook)]
    results = {}
    for cell in graded_cells(notebook):
        record = recorded(cell)
        points, _ = determine_grade(cell)
        results[question_of(cell).name] = Result(record["state"], points, record["findings"], flags)
    assert_outcome(TRIED[name], results[ATTACKED], results[NEIGHBOUR])


def test_the_gradebook_says_what_the_notebooks_say(course):
    with Course.open(course).gradebook() as gradebook:
        for name in TRIED:
            cells = graded_cells(autograded(course, name))
            points = {cell.metadata["nbgrader"]["grade_id"]: determine_grade(cell)[0] for cell in cells}
            (notebook,) = gradebook.find_submission(ASSIGNMENT, name).notebooks
            if "not_gradable" in TRIED[name].findings:
                points = dict.fromkeys(points)
                assert all(grade.needs_manual_grade for grade in notebook.grades), name
            assert {grade.name: grade.auto_score for grade in notebook.grades} == points, name


def test_nothing_is_left_and_nothing_has_leaked(course):
    assert_nothing_left(course)
    for name in TRIED:
        if "read" in name or "connects" in name:
            assert set(re.findall(r"SEEN (.*)", shown(autograded(course, name)))) <= {"[]"}
