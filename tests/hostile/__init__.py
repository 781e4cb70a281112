"""What a submission may try: one function an attack, one learner a function, a course of two questions.

An attack gets a notebook with two right answers and does something to it, to the folder, or to the first answer; the
second question is its neighbour. Its decorator says what must come of it. `notebook.py`, `score.py` and `machine.py`
follow the three paragraphs of the list that the grader was designed against.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ASSIGNMENT, ATTACKED, NEIGHBOUR = "parameter_budget", "count_parameters", "layer_parameters"
CONFIGURATION = Path(__file__).parents[2] / "nbgrader_config.py"
SOLUTION = Path(__file__).parents[2] / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
SECRET = "a-secret-that-must-not-leave"

RIGHT = {
    ATTACKED: "def count_parameters(model):\n    return sum(p.numel() for p in model.parameters())\n",
    NEIGHBOUR: "def layer_parameters(hidden, intermediate):\n"
    "    return 4 * hidden**2 + 2 * hidden * intermediate + 9 * hidden + intermediate\n",
}
WRONG = "def count_parameters(model):\n    return 110_000_000\n"


@dataclass
class Work:
    """What a learner is about to hand in."""

    folder: Path
    notebook: dict[str, Any]
    handed_in: bool = True  # False: the attack has written its own files

    @property
    def cells(self) -> list[dict[str, Any]]:
        return self.notebook["cells"]

    def cell(self, grade_id: str) -> dict[str, Any]:
        return next(cell for cell in self.cells if _grade_id(cell) == grade_id)

    @property
    def answer(self) -> dict[str, Any]:
        return self.cell(f"{ATTACKED}_answer")

    @property
    def check(self) -> dict[str, Any]:
        return self.cell(ATTACKED)

    def marks(self, cell: dict[str, Any]) -> dict[str, Any]:
        return cell["metadata"]["nbgrader"]

    def insert(self, source: str, before: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
        """A cell of the learner's own, at the end or before another one."""
        own = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        own |= {"id": f"own-{len(self.cells)}"} | changes
        self.cells.insert(len(self.cells) if before is None else self.cells.index(before), own)
        return own

    def write(self, data: bytes | str, name: str = f"{ASSIGNMENT}.ipynb") -> None:
        """Hand in this file; what the notebook says is not written."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
        self.handed_in = False

    def beside(self, name: str, text: str) -> None:
        """Another file, beside the notebook."""
        handed_in = self.handed_in
        self.write(text, name)
        self.handed_in = handed_in

    def text(self) -> str:
        return json.dumps(self.notebook)


@dataclass(frozen=True)
class Attack:
    """What is tried, and what must come of it."""

    name: str
    hand_in: Callable[[Work], None]
    flags: frozenset[
        str
    ]  # must be among the flags; an attack that needs none is stopped without being noticed
    states: frozenset[str]  # of the attacked question, one of these
    neighbour: frozenset[str]
    findings: frozenset[str] = field(default_factory=frozenset)  # one of these, where there are any


def attack(
    flags: Collection[str] = (),
    states: str = "correct",
    neighbour: str = "correct",
    findings: Collection[str] = (),
) -> Callable[[Callable[[Work], None]], Attack]:
    """Makes an attack of a function; `states` and `neighbour` are names, separated by spaces, of which one must be."""

    def named(hand_in: Callable[[Work], None]) -> Attack:
        parts = (flags, states.split(), neighbour.split(), findings)
        return Attack(hand_in.__name__, hand_in, *map(frozenset, parts))

    return named


def answering(body: str, **expected: Any) -> Attack:
    """An attack that is nothing but another first answer; `attacks_in` gives it its name."""

    def hand_in(work: Work) -> None:
        work.answer["source"] = body

    return attack(**expected)(hand_in)


def attacks_in(module: Any) -> list[Attack]:
    """The attacks of a module, each called as the module calls it."""
    found = {name: value for name, value in vars(module).items() if isinstance(value, Attack)}
    return [replace(value, name=name) for name, value in found.items()]


def make_course(folder: Path) -> None:
    """A course of one assignment with two questions, with this repository's configuration."""
    source = json.loads(SOLUTION.read_text(encoding="utf-8"))
    kept = {
        "setup",
        *(name for question in (ATTACKED, NEIGHBOUR) for name in (question, f"{question}_answer")),
    }
    source["cells"] = [cell for cell in source["cells"] if not _grade_id(cell) or _grade_id(cell) in kept]
    target = folder / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    target.parent.mkdir(parents=True)
    target.write_text(
        json.dumps(source).replace("### BEGIN SOLUTION", f"### BEGIN SOLUTION\\n# {SECRET}"), "utf-8"
    )
    (folder / "nbgrader_config.py").write_text(CONFIGURATION.read_text(encoding="utf-8"), encoding="utf-8")


def hand_in(course: Path, attack: Attack) -> None:
    """Put a learner's work where nbgrader's collection puts it."""
    released = course / "exercises" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    notebook = json.loads(released.read_text(encoding="utf-8"))
    folder = course / "submitted" / attack.name / ASSIGNMENT
    folder.mkdir(parents=True)
    work = Work(folder, deepcopy(notebook))
    for question, source in RIGHT.items():
        work.cell(f"{question}_answer")["source"] = source
    attack.hand_in(work)
    if work.handed_in:
        work.write(work.text())


def _grade_id(cell: dict[str, Any]) -> str:
    marks = cell["metadata"].get("nbgrader")
    return marks.get("grade_id", "") if isinstance(marks, dict) else ""
