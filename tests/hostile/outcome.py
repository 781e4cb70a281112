"""The whole class handed in, and what must have come of each attack."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tests.hostile import (
    ASSIGNMENT,
    SECRET,
    Attack,
    Work,
    attack,
    attacks_in,
    hand_in,
    machine,
    make_course,
    notebook,
    score,
)

# A cell of an honest learner takes under a second; on a busy machine it may take more.
LIMITS = "\nc.Probe.timeout = 6\nc.Probe.memory_mb = 2048\n"
MARK = "insidebert-hostile-was-here"  # what `machine.leaves_files_everywhere` writes


@attack()
def aaron_is_honest(work: Work) -> None:
    pass


@attack()
def zoe_is_honest(work: Work) -> None:
    pass


HONEST = ("aaron_is_honest", "zoe_is_honest")  # the first and the last of the class
ATTACKS = {
    one.name: one
    for module in (notebook, score, machine, sys.modules[__name__])
    for one in attacks_in(module)
}


@dataclass(frozen=True)
class Result:
    """What came of one question."""

    state: str
    points: float
    findings: Collection[str]
    flags: Collection[str]


def hand_in_everything(folder: Path, attacks: Iterable[Attack] = ATTACKS.values()) -> None:
    """A course with one submission an attack, and nothing graded yet."""
    make_course(folder)
    with (folder / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(LIMITS)
    run(folder, "insidebert", "release")
    for one in attacks:
        hand_in(folder, one)


def run(folder: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the course's folder, as an instructor would, with a secret in the environment."""
    ran = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env=os.environ | {"TOKEN": SECRET},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=1500,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stdout[-3000:] + ran.stderr[-3000:]
    return ran


def autograded(folder: Path, student: str) -> NotebookNode:
    path = folder / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    return nbformat.read(path, as_version=4)


def assert_outcome(expected: Attack, attacked: Result, neighbour: Result) -> None:
    """The states and flags that the attack announces, and points that go with the states."""
    assert attacked.state in expected.states, attacked
    assert neighbour.state in expected.neighbour, neighbour
    assert expected.flags <= set(attacked.flags)
    assert not expected.findings or expected.findings & set(attacked.findings)
    for result in (attacked, neighbour):
        assert 0 <= result.points <= 3
        assert (result.points == 3) == (result.state == "correct")
    if expected.name in HONEST:
        assert not attacked.flags


def assert_nothing_left(folder: Path) -> None:
    """Nothing was written outside the sandbox, and no secret has left the place where it lay."""
    everywhere = ("/", "/tmp", "/var/tmp", "/dev/shm", "/etc", Path.home(), sys.prefix, folder, folder.parent)
    repository = Path(__file__).parents[2]
    for place in (*map(Path, everywhere), repository, repository / "checks", repository / "insidebert"):
        assert not (place / MARK).exists()
    assert not Path("/tmp", f"{ASSIGNMENT}-was-here").exists()
    for path in folder.rglob("*"):
        if (
            path.is_file()
            and not path.is_symlink()
            and path.relative_to(folder).parts[0] not in ("solutions", "submitted")
        ):
            assert SECRET.encode() not in path.read_bytes(), path


def shown(notebook: NotebookNode) -> str:
    """What the cells printed."""
    outputs: list[Any] = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(str(output.get("text", "")) for output in outputs)
