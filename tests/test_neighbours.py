"""Who works beside an attack has the grade of who works alone: classes in which kernels run at the same time."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hostile import ASSIGNMENT, ATTACKED, NEIGHBOUR, Attack, machine
from tests.hostile.outcome import Result, aaron_is_honest, assert_outcome, hand_in_everything, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's"),
]

TOGETHER = ("signals_to_groups", "processes_with_odd_names", "sixty_busy_processes", "endless_output")


def class_of(name: str) -> list[Attack]:
    """Two who try the same, and honest learners who are graded meanwhile: in the order of names, two at a time."""
    tried = getattr(machine, name)
    return [
        replace(tried, name="a_first_try"),
        *(replace(aaron_is_honest, name=f"b_honest_{number}") for number in range(3)),
        replace(tried, name="c_second_try"),
        *(replace(aaron_is_honest, name=f"d_honest_{number}") for number in range(2)),
    ]


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="neighbours-", ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


@pytest.mark.parametrize("name", TOGETHER)
def test_a_neighbour_keeps_every_point(folder: Path, name: str) -> None:
    learners = class_of(name)
    hand_in_everything(folder, learners)
    words = ("--no-progress", "--workers", "2", "--report", "report.json", ASSIGNMENT)
    run(folder, "insidebert", "grade", *words)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    results = {
        (row["student"], row["question"]): Result(row["state"], row["points"], row["findings"], row["flags"])
        for row in report["rows"]
    }
    assert len(results) == 2 * len(learners)
    for learner in learners:
        assert_outcome(learner, results[learner.name, ATTACKED], results[learner.name, NEIGHBOUR])
    honest = [result for (student, _), result in results.items() if "honest" in student]
    assert [(one.state, one.points, list(one.flags)) for one in honest] == [("correct", 3, [])] * len(honest)
