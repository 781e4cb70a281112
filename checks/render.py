"""A verdict as a person reads it: HTML for a notebook and for feedback, plain text for everything else.

At most five lines: the state, what came, what was expected, the likely cause, where to read on.
"""

from __future__ import annotations

import html
import re
import sys
from dataclasses import dataclass
from typing import Any

from checks.lessons import address
from checks.protocol import Finding, State, Verdict

_HEADINGS: dict[State, tuple[str, str]] = {
    # Okabe–Ito colours, darkened until white text on them has a contrast of at least 4.5; never colour alone.
    "correct": ("✓ Correct", "#00694d"),
    "partial": ("◐ Partly right", "#8a5a00"),
    "incorrect": ("✗ Not right yet", "#b03a00"),
    "not_attempted": ("○ Not attempted", "#555555"),
    "crashed": ("✗ The answer raised an exception", "#8f2d5c"),
}


# Where the answer was never called, or its result never came, there was nothing to raise.
_NOT_CHECKED = {
    "timed_out", "no_evidence", "evidence_twice", "bad_evidence", "earlier_cell_failed", "check_not_run",
    "cell_did_not_run", "does_not_end", "not_gradable",
}  # fmt: skip
_FROM_AN_EXERCISE = "../../"  # to the course's folder
_WIDTH = 300  # characters of one value; a verdict has five lines, whatever an answer returned


def heading(verdict: Verdict) -> str:
    if verdict.state == "crashed" and any(finding.id in _NOT_CHECKED for finding in verdict.findings):
        return "✗ Not checked"
    text = _HEADINGS[verdict.state][0]
    return f"{text} ({verdict.score:.0%})" if verdict.state == "partial" else text


def as_text(verdict: Verdict) -> str:
    """The verdict in plain text, a line each."""
    lines = [f"{verdict.question}: {heading(verdict)}"]
    for finding in verdict.findings[:1]:
        lines += [f"  {label}: {value}" for label, value in _rows(finding)]
    if verdict.state != "correct" and verdict.lesson:
        lines.append(f"  read on: {_where(verdict)}")
    return "\n".join(lines)


def as_html(verdict: Verdict, *, in_exercise: bool = False) -> str:
    """The verdict as a self-contained piece of HTML; everything that came from an answer is escaped.

    `in_exercise` makes a link of where to read on, which leads there from an exercise's folder and nowhere else.
    """
    title, colour = heading(verdict), _HEADINGS[verdict.state][1]
    rows = [
        (label, _with_code(html.escape(value)))
        for finding in verdict.findings[:1]
        for label, value in _rows(finding)
    ]
    if verdict.state != "correct" and verdict.lesson:
        rows.append(("read on", _lesson(verdict, linked=in_exercise)))
    body = "".join(
        f'<div style="display:flex;margin:.25em 0 0 0"><span style="flex:0 0 6.5em;'
        f'color:var(--jp-ui-font-color2,#555)">{label}</span><span>{value}</span></div>'
        for label, value in rows
    )
    return (
        f'<div role="status" style="border-left:4px solid {colour};padding:.5em .9em;max-width:56em;'
        f'overflow-wrap:anywhere;font-family:var(--jp-ui-font-family,sans-serif);color:var(--jp-ui-font-color1,#212121)">'
        f'<span style="background-color:{colour};color:#fff;padding:.1em .6em;margin:0 .3em 0 0;'
        f'border-radius:.8em;font-weight:600">'
        f"{html.escape(title)}</span> <code>{html.escape(verdict.question)}</code>{body}</div>"
    )


def _where(verdict: Verdict) -> str:
    return f"{verdict.lesson}, “{verdict.section}”" if verdict.section else verdict.lesson


def _lesson(verdict: Verdict, *, linked: bool) -> str:
    shown = html.escape(_where(verdict))
    if not linked or not verdict.section:
        return shown
    target = html.escape(address(_FROM_AN_EXERCISE, verdict.lesson, verdict.section))
    style = "color:var(--jp-content-link-color,#1565c0);text-decoration:underline"
    return f'<a href="{target}" style="{style}">{shown}</a>'


def _with_code(escaped: str) -> str:
    """What stands between back-ticks, as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def _rows(finding: Finding) -> list[tuple[str, str]]:
    where = f" ({finding.case})" if finding.case else ""
    rows = [("got", finding.got + where)] if finding.got else []
    if finding.expected:
        rows.append(("expected", finding.expected))
    cause = finding.cause if finding.got or not finding.case else finding.cause + where
    return [(label, _one_line(value)) for label, value in [*rows, ("cause", cause)]]


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


@dataclass(frozen=True)
class NotAttempted:
    """The result of checking an untouched answer.

    It is returned and not raised, so that "Run All" goes on to the questions that have an answer. Its plain text
    is `0.0`: nbgrader reads a cell's result as its points.
    """

    verdict: Verdict

    def __repr__(self) -> str:
        return "0.0"

    def _repr_html_(self) -> str:
        return as_html(self.verdict, in_exercise=True)


def in_notebook() -> bool:
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def display_html(markup: str, text: str) -> bool:
    """Show a verdict; False where there is no notebook to show it in and no text was given."""
    if in_notebook():
        from IPython.display import display

        display({"text/html": markup, "text/plain": text}, raw=True)
        return True
    if text:
        print(text)
    return False
