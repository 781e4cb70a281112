"""What a grading run leaves behind: one row a learner and question, as JSON for programs and a table for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grading.targets import hold_own_kind
from insidebert.errors import CommandError

if TYPE_CHECKING:
    from rich.table import Table

_MARKS = {"correct": "✓", "partial": "◐", "incorrect": "✗", "not_attempted": "○", "crashed": "!"}
_STYLES = {
    "correct": "green",
    "partial": "yellow",
    "incorrect": "red",
    "not_attempted": "dim",
    "crashed": "magenta",
}


@dataclass(frozen=True)
class Row:
    """How one learner did on one question. `findings` and `flags` are ids, `causes` the sentence of each finding;
    `seconds` is the check's own time."""

    student: str
    assignment: str
    question: str
    points: float
    max_points: float
    state: str
    findings: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Report:
    """The rows of a run and how it was made. `graded` counts the submissions of this run alone: all, unless said."""

    rows: list[Row]
    seconds: float
    workers: int = 1
    isolation: str = "none"
    warm: bool = False
    graded: int | None = None

    def to_json(self) -> dict[str, object]:
        submissions = len({(row.student, row.assignment) for row in self.rows})
        graded = submissions if self.graded is None else self.graded
        return {
            "summary": {
                "submissions": submissions,
                "questions": len(self.rows),
                "seconds": round(self.seconds, 2),
                "per_minute": round(60 * graded / self.seconds, 2) if self.seconds else 0.0,
                "workers": self.workers,
                "isolation": self.isolation,
                "warm": self.warm,
            },
            "rows": [asdict(row) for row in self.rows],
        }

    def write(self, path: Path) -> None:
        """Write the JSON; a reader sees the old file or the new one, never half of it."""
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False)
        partial = path.with_name(path.name + ".part")
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(path)


def claim(path: Path) -> None:
    """Make sure that a file can be written, and leave what is in it: rather before a class is graded than after.

    Raises:
        CommandError: its folder is not there; a folder that somebody mistyped is not made.
    """
    if not path.parent.is_dir():
        raise CommandError(
            f"{path} cannot be written: there is no folder {path.parent}. Make it, or name another file."
        )
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name the file to write, such as {path / 'run.json'}.")
    hold_own_kind(path, ".json")
    path.open("a").close()


def table(rows: Sequence[Row]) -> Table:
    """Learners by questions: points with a mark for the state, the total, and what was found.

    Narrow enough for a terminal of 80 columns: the questions are numbered and named above.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    questions = list(dict.fromkeys(row.question for row in rows))
    numbered = [f"{number} {question}" for number, question in enumerate(questions, 1)]
    legend = "\n".join("  ".join(numbered[start : start + 3]) for start in range(0, len(numbered), 3))
    states = "  ".join(f"{mark} {state.replace('_', ' ')}" for state, mark in _MARKS.items())
    result = Table(title=f"{legend}\n{states}", title_style="", box=box.SIMPLE_HEAD)
    result.add_column("learner", overflow="fold")  # a long name takes no other column's place
    for number, _ in enumerate(questions, 1):
        result.add_column(str(number), justify="right", no_wrap=True)
    result.add_column("points", justify="right", style="bold", no_wrap=True)
    result.add_column("what was found")
    for student in dict.fromkeys(row.student for row in rows):
        own = {row.question: row for row in rows if row.student == student}
        cells = [_cell(own.get(question)) for question in questions]
        total = sum(row.points for row in own.values())
        noted = dict.fromkeys(name for row in own.values() for name in (*row.flags, *row.findings))
        noted.pop("not_attempted", None)  # its mark says so
        result.add_row(
            escape(student), *cells, f"{total:g}", escape(", ".join(name.replace("_", " ") for name in noted))
        )
    return result


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    style = _STYLES[row.state]
    return f"[{style}]{row.points:g} {_MARKS[row.state]}[/{style}]"
