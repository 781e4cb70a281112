"""A class in figures, from a grading run's report: how each question went, who made which mistake."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from insidebert.errors import CommandError

STATES = ("correct", "partial", "incorrect", "crashed", "not_attempted")
# What says nothing about what somebody understood.
UNTELLING = {
    "not_attempted", "unexpected_value", "wrong_type", "raises", "timed_out", "no_evidence", "evidence_twice",
    "bad_evidence", "earlier_cell_failed", "check_not_run", "not_gradable", "does_not_end",
}  # fmt: skip
# Where the sentence only says how many inputs of one learner failed.
_GENERAL = {"unexpected_value": "Wrong, in no way that has a name yet."}
_AGAIN = 5  # how many things a lesson can explain again


@dataclass(frozen=True)
class Mistake:
    """One finding of a question: how many learners of those asked, who, and the sentence they were told."""

    question: str
    id: str
    cause: str
    students: tuple[str, ...]
    of: int

    @property
    def count(self) -> int:
        return len(self.students)


@dataclass(frozen=True)
class QuestionInsight:
    """How one question went. `share` is the mean share of its points, from 0 to 1."""

    name: str
    assignment: str
    lesson: str
    section: str
    share: float
    states: dict[str, int]
    mistakes: tuple[Mistake, ...]

    @property
    def asked(self) -> int:
        return sum(self.states.values())


@dataclass(frozen=True)
class Insights:
    """A class: the questions, hardest first, what to explain again, flags by name, and each learner's share."""

    learners: int
    questions: tuple[QuestionInsight, ...]
    again: tuple[Mistake, ...]
    flags: dict[str, int] = field(default_factory=dict)
    shares: tuple[float, ...] = ()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a report, one a learner and question: where there are two, the later one.

    Raises:
        CommandError: there is no report, or it is none of `insidebert grade`'s.
    """
    if not path.is_file():
        raise CommandError(f"there is no report {path}. `insidebert grade … --report FILE` writes one.")
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        found = {(row["student"], row["assignment"], row["question"]): _checked(row) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CommandError(
            f"{path} is no report of `insidebert grade` ({type(error).__name__}: {error})."
        ) from error
    if not found:
        raise CommandError(f"{path} has no rows: nothing was graded in that run.")
    return list(found.values())


def _checked(row: dict[str, Any]) -> dict[str, Any]:
    """The row, with every field of its type, so that nothing fails later."""
    if row["state"] not in STATES:
        raise ValueError(f"{str(row['state'])[:40]!r} is no state")
    points, max_points = float(row["points"]), float(row["max_points"])
    names = {key: [str(name) for name in row.get(key, ())] for key in ("findings", "causes", "flags")}
    texts = {key: str(row[key]) for key in ("student", "assignment", "question", "state")}
    return {**texts, **names, "share": min(1.0, max(0.0, points / max_points if max_points else 0.0))}


def summarise(rows: Sequence[dict[str, Any]]) -> Insights:
    """A report's rows as what an instructor wants to know."""
    by_question: dict[tuple[str, str], list[dict[str, Any]]] = {}
    by_student: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_question.setdefault((row["assignment"], row["question"]), []).append(row)
        by_student.setdefault(row["student"], []).append(row)
    questions = [_question(*key, own) for key, own in by_question.items()]
    questions.sort(key=lambda question: (question.share, question.name))
    telling = [found for it in questions for found in it.mistakes if found.id not in UNTELLING]
    telling.sort(key=lambda mistake: -mistake.count)
    shared = [
        mistake for mistake in telling if mistake.count > 1
    ]  # one learner's mistake is for her feedback
    flags = Counter(
        flag for own in by_student.values() for flag in {flag for row in own for flag in row["flags"]}
    )
    shares = tuple(sorted(sum(row["share"] for row in own) / len(own) for own in by_student.values()))
    return Insights(
        len(by_student), tuple(questions), tuple(shared[:_AGAIN]), dict(flags.most_common()), shares
    )


def _question(assignment: str, name: str, rows: list[dict[str, Any]]) -> QuestionInsight:
    states = Counter(row["state"] for row in rows)
    who: dict[str, list[str]] = {}
    causes: dict[str, str] = dict(_GENERAL)
    for row in rows:
        said = [*row["causes"], *[""] * len(row["findings"])]  # an older report says none
        for finding, cause in dict(zip(row["findings"], said, strict=False)).items():
            who.setdefault(finding, []).append(row["student"])
            causes.setdefault(finding, cause or f"{finding.replace('_', ' ').capitalize()}.")
    mistakes = [
        Mistake(name, finding, causes[finding], tuple(sorted(students)), len(rows))
        for finding, students in who.items()
        if finding != "not_attempted"  # its state says so
    ]
    mistakes.sort(key=lambda mistake: (-mistake.count, mistake.id in UNTELLING, mistake.id))
    share = sum(row["share"] for row in rows) / len(rows)
    counts = {state: states[state] for state in STATES}
    return QuestionInsight(name, assignment, *_lesson(name), share, counts, tuple(mistakes))


def _lesson(question: str) -> tuple[str, str]:
    """The lesson's path in the course and the section a question sends its learners to; empty where unknown."""
    from checks.questions import find

    try:
        found = find(question)
        return found.lesson, found.section
    except LookupError:  # a report of another course, or of an older version of this one
        return "", ""
