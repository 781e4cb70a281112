"""The learner's board: of every lesson, which predictions were committed and which exercises passed.

What there is to do is read from the notebooks of the course, what was done from the learner's one progress file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from insidebert.lab import find_course, lessons
from insidebert.progress import Progress, load, path

PREDICT = re.compile(r"\bpredict\(\s*[\"'](\d\d\.[^\"']+)[\"']")
CHECK = re.compile(r"^check\(\s*[\"'](\w+)[\"']", re.MULTILINE)
MINUTES = re.compile(r"\*\*Minutes:\*\* (\d+)")
EXERCISE = re.compile(r"\]\(\.\./exercises/(\w+)/")


@dataclass(frozen=True)
class Row:
    """One lesson: what it asks and what of that is done. `assignment` is "" for a lesson without exercise."""

    lesson: str  # the file's name without its ending
    title: str
    minutes: str
    predicted: int
    predictions: int
    assignment: str
    passed: int
    exercises: int


def rows(course: Path | None = None, done: Progress | None = None) -> list[Row]:
    """The lessons of the course in order, as far as they are `done`; none where no course is found."""
    course, done = course or find_course(), done or load()[0]
    return [_row(course, lesson, done) for lesson in lessons(course)] if course else []


class Board:
    """The rows as a table for a browser and as text for everything else, with the file they come from."""

    def __init__(self, found: list[Row], notice: str = "") -> None:
        where = f"Kept in {path()}, on this machine and nowhere else."
        self.text = "\n".join([*map(_line, found), *([notice] if notice else []), where])
        body = "".join(map(_cells, found))
        heads = "".join(f'<th scope="col" style="text-align: left">{name}</th>' for name in HEADS)
        last = f"<p>{escape(notice)}</p><p><small>{escape(where)}</small></p>"
        self.markup = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{last}"

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self.markup, "text/plain": self.text}


def board(course: Path | None = None) -> Board:
    """Where the learner stands. Run it again after a lesson: it reads the file anew."""
    done, notice = load()
    return Board(rows(course, done), notice)


HEADS = ("lesson", "minutes", "predictions committed", "exercise", "questions passed")


def _row(course: Path, lesson: Path, done: Progress) -> Row:
    markdown, code = _sources(lesson)
    asked = set(PREDICT.findall(code))
    heading = next((line for line in markdown.splitlines() if line.startswith("# ")), f"# {lesson.stem}")
    minutes, link = MINUTES.search(markdown), EXERCISE.search(markdown)
    assignment = link[1] if link else ""
    questions = _questions(course, assignment)
    states = done["exercises"].get(assignment, {})
    return Row(
        lesson=lesson.stem,
        title=heading[2:].strip(),
        minutes=minutes[1] if minutes else "",
        predicted=sum("answer" in done["predictions"].get(key, {}) for key in asked),
        predictions=len(asked),
        assignment=assignment,
        passed=sum(states.get(question, {}).get("state") == "correct" for question in questions),
        exercises=len(questions),
    )


def _questions(course: Path, assignment: str) -> set[str]:
    notebook = course / "exercises" / assignment / f"{assignment}.ipynb"
    return set(CHECK.findall(_sources(notebook)[1])) if assignment and notebook.is_file() else set()


def _sources(notebook: Path) -> tuple[str, str]:
    """All markdown and all code of a notebook. A file that cannot be read as one has none."""
    try:
        cells = list(_cells_of(json.loads(notebook.read_bytes())))
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
    markdown = [text for kind, text in cells if kind == "markdown"]
    return "\n".join(markdown), "\n".join(text for kind, text in cells if kind == "code")


def _cells_of(notebook: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for cell in notebook["cells"]:
        yield cell["cell_type"], "".join(cell["source"])


def _line(row: Row) -> str:
    exercise = f"{row.assignment} {row.passed} of {row.exercises}" if row.assignment else "no exercise"
    return f"{row.title}: {row.predicted} of {row.predictions} predictions; {exercise}"


def _cells(row: Row) -> str:
    exercise = f"../exercises/{row.assignment}/{row.assignment}.ipynb"
    cells = (
        f'<a href="{row.lesson}.ipynb">{escape(row.title)}</a>',
        row.minutes,
        _meter(row.predicted, row.predictions, "predictions committed"),
        f'<a href="{exercise}">{escape(row.assignment.replace("_", " "))}</a>' if row.assignment else "",
        _meter(row.passed, row.exercises, "questions passed") if row.assignment else "",
    )
    return "<tr>" + "".join(f'<td style="text-align: left">{cell}</td>' for cell in cells) + "</tr>"


def _meter(done: int, there: int, name: str) -> str:
    if not there:
        return ""
    bar = f'<progress style="width: 5em" value="{done}" max="{there}" aria-label="{name}"></progress>'
    return f'<span style="white-space: nowrap">{bar} {done} of {there}</span>'
