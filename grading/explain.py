"""`insidebert grade --explain STUDENT QUESTION`: what was asked, what came, and why it was judged so.

The inputs are drawn again from the seed that the grading run kept; what came is the evidence it kept. Judging it once
more must give the verdict that stands: where the checks have changed since, this says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import nbformat

from checks.encoding import Array, BadEvidence
from checks.evidence import evidence_from_json
from checks.judges import judge
from checks.judges.showing import show_value
from checks.protocol import Case, Finding, Outcome, Question, Verdict
from checks.questions import find
from checks.render import heading
from grading import evidence
from grading.flags import noted
from grading.judging import graded_cells, recorded
from insidebert.errors import CommandError

if TYPE_CHECKING:
    from rich.console import Console

    from grading.course import Course

_NEW_SEED = 1  # where no seed was kept: inputs of the same kind, not the same ones
_LINES = 40  # of an answer
_WIDTH = 400  # characters of one value, and of one line of an answer


@dataclass(frozen=True)
class Explanation:
    """One learner's answer to one question and all that decided about it.

    cases     the inputs; the run's own when `seed` is one, else drawn anew.
    outcomes  what came for each case; empty where nothing that can be read was kept.
    missing   why there are no outcomes.
    again     the verdict that judging gives today, where it is another one than `verdict`.
    """

    student: str
    question: Question
    answer: str
    verdict: Verdict
    points: float | None
    max_points: float
    by_hand: bool
    flags: tuple[str, ...]
    cases: tuple[Case, ...]
    seed: int | None = None
    outcomes: tuple[Outcome, ...] = ()
    missing: str = ""
    again: Verdict | None = None


def explain(course: Course, student: str, question: str, console: Console | None = None) -> int:
    """Show it in the terminal; returns the exit status, 0.

    Raises:
        CommandError: there is no such question, or this learner's has not been graded.
    """
    from rich.console import Console

    show(explanation(course, student, question), console or Console())
    return 0


def explanation(course: Course, student: str, name: str) -> Explanation:
    """Gather it from the autograded notebook, what lies beside it, and the gradebook; see `explain`."""
    try:
        question = find(name)
    except LookupError as error:
        raise CommandError(str(error)) from error
    path = course.notebook("autograded_directory", question.assignment, student)
    if not path.is_file():
        graded = sorted(
            it.parent.parent.name
            for it in course.folder("autograded_directory").glob(f"[!.]*/{question.assignment}/*.ipynb")
        )
        raise CommandError(
            f"{student}'s {question.assignment} has not been graded. Graded are: {', '.join(graded) or 'none'}."
        )
    notebook = nbformat.read(path, as_version=4)
    cells = {cell.metadata["nbgrader"]["grade_id"]: cell for cell in graded_cells(notebook)}
    record = recorded(cells[name]) if name in cells else None
    if record is None:
        raise CommandError(f"{path} holds no verdict on {name}. Grade it again with --force.")
    kept = evidence.read(path.parent)
    points, by_hand = _points(course, question, student)
    return Explanation(
        student,
        question,
        _answer(notebook, name),
        points=points,
        max_points=float(cells[name].metadata["nbgrader"]["points"]),
        by_hand=by_hand,
        flags=tuple(f"{flag.id}: {flag.text}" for flag in noted(notebook)),
        **_what_came(question, record, kept),
    )


def _what_came(
    question: Question, record: Mapping[str, Any], kept: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Verdict, cases and outcomes: from what the run kept where it is this run's, else what the notebook says."""
    known = Verdict(
        question.name,
        record["state"],
        record["score"],
        tuple(Finding(it, "") for it in record["findings"]),
        question.lesson,
        question.section,
    )
    part = kept["questions"].get(question.name) if kept else None
    if kept is None or part is None:
        cases = tuple(question.cases(_NEW_SEED))
        return {"verdict": known, "cases": cases, "missing": "the run kept nothing beside the notebook"}
    verdict, cases = evidence.verdict_from(part), tuple(question.cases(kept["seed"]))
    found: dict[str, Any] = {"verdict": verdict, "cases": cases, "seed": kept["seed"]}
    if part["evidence"] is None:
        return {**found, "missing": part["missing"]}
    try:
        read = evidence_from_json(part["evidence"], question=question.name, cases=len(cases))
    except BadEvidence as error:
        return {**found, "missing": str(error)}
    again = judge(question, list(cases), read)
    return {**found, "outcomes": read.outcomes, "again": None if again == verdict else again}


def _answer(notebook: Any, name: str) -> str:
    """The source of the learner's answer: the solution cells since the check before this one."""
    sources: list[str] = []
    for cell in notebook.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if nbgrader.get("grade_id") == name:
            return "\n\n".join(sources)
        if nbgrader.get("grade"):
            sources = []
        elif nbgrader.get("solution"):
            sources.append(cell.source)
    return ""


def _points(course: Course, question: Question, student: str) -> tuple[float | None, bool]:
    """The gradebook's points, which a person may have changed; None where it knows nothing of it."""
    from nbgrader.api import MissingEntry

    with course.gradebook() as gradebook:
        try:
            grade = gradebook.find_grade(question.name, question.assignment, question.assignment, student)
        except MissingEntry:
            return None, False
        return float(grade.score), grade.manual_score is not None


# --- on the terminal --------------------------------------------------------------------------------------


def show(found: Explanation, console: Console) -> None:
    """Print an explanation. What came from a submission is printed as text: no markup, no control characters."""
    from rich.panel import Panel
    from rich.syntax import Syntax
    from rich.text import Text

    verdict = found.verdict
    console.print(Text(f"{found.student} · {found.question.name}", style="bold"))
    console.print(Text(f"{found.question.signature}   ({found.question.assignment})", style="dim"))
    console.print(Text(f"{heading(verdict)}, {_points_line(found)}"))
    if found.flags:
        console.print(Text("flags: " + "; ".join(map(_plain, found.flags))))
    lines = found.answer.splitlines() or ["(no answer cell)"]
    source = "\n".join(_plain(_cut(line)) for line in lines[:_LINES]) + ("\n…" if len(lines) > _LINES else "")
    console.print(
        Panel(Syntax(source, "python", word_wrap=True, background_color="default"), title="the answer")
    )
    console.print(_asked(found))
    for finding in verdict.findings:
        _show_finding(finding, console, "why")
    if found.again is not None:
        console.print(Text("The checks have changed since: judged today it would be", style="bold yellow"))
        console.print(Text(f"{heading(found.again)}, score {found.again.score:g}"))
        for finding in found.again.findings:
            _show_finding(finding, console, "today")
    if verdict.state != "correct":
        console.print(Text(f"read on: {found.question.lesson}, “{found.question.section}”", style="dim"))


def _points_line(found: Explanation) -> str:
    alone = f"score {found.verdict.score:g}"
    if found.points is None:
        return f"{alone}; not in the gradebook"
    given = " given by hand" if found.by_hand else ""
    return f"{alone}; {found.points:g} of {found.max_points:g} points{given}"


def _asked(found: Explanation) -> Any:
    """The table of cases: label, inputs, what came."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = "as drawn in that run" if found.seed is not None else "drawn anew: the run kept no seed"
    table = Table(title=f"what was asked ({drawn})", box=box.SIMPLE, title_justify="left", show_lines=True)
    table.add_column("input")
    if found.outcomes:
        table.add_column("what came")
    else:
        table.caption = f"what came is not shown: {found.missing}"
    for index, case in enumerate(found.cases):
        data = "\n".join(f"{key} = {_value(value)}" for key, value in case.data.items())
        row = [Text.assemble((_plain(case.label), "bold"), "\n", _plain(data))]
        if found.outcomes:
            row.append(Text(_plain(_came(found.outcomes[index]))))
        table.add_row(*row)
    return table


def _came(outcome: Outcome) -> str:
    if outcome.raised is not None:
        where = f"\n{outcome.raised.line}" if outcome.raised.line else ""
        return f"raised {outcome.raised.error}: {outcome.raised.message[:_WIDTH]}{where}"
    changed = "\nand changed its argument" if outcome.changed_input else ""
    return _value(outcome.value) + changed


def _value(value: Any) -> str:
    shown = show_value(value)
    if isinstance(value, Mapping):  # all of it: what decides may stand last
        shown = "{" + ", ".join(f"{key}: {_value(part)}" for key, part in value.items()) + "}"
    elif isinstance(value, Array):  # its first numbers say more than its shape alone
        first = value.data.reshape(-1)[:8].tolist()
        shown += ": " + ", ".join(map(show_value, first)) + (", …" if value.data.size > len(first) else "")
    return _cut(shown)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _show_finding(finding: Finding, console: Console, title: str) -> None:
    from rich.text import Text

    rows = [
        ("finding", finding.id),
        ("case", finding.case),
        ("got", finding.got),
        ("expected", finding.expected),
    ]
    rows.append(("cause", finding.cause))
    console.print(Text(title, style="bold"))
    for label, value in rows:
        if value:
            console.print(Text.assemble((f"  {label:<9}", "dim"), _plain(value)))


def _plain(text: str) -> str:
    """Without what a terminal would act on."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)
