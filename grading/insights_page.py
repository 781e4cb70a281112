"""The page of `insidebert insights`: one file, no script, nothing fetched; light and dark, readable without colours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from checks.lessons import address
from grading.insights_summary import STATES, Insights, QuestionInsight

_TEMPLATES = Path(__file__).parent / "templates"
_LABELS = {
    "correct": ("✓", "correct"),
    "partial": ("◐", "partly right"),
    "incorrect": ("✗", "wrong"),
    "crashed": ("!", "stopped or not checked"),
    "not_attempted": ("○", "not attempted"),
}
_NARROW = 12  # per cent: a part of a bar that has no room for its count in a narrow window
_SLIM = 5  # and in any
_STEPS = 10  # columns of the histogram, ten per cent wide each


@dataclass(frozen=True)
class Segment:
    """One part of a bar: where it begins and how wide it is, in per cent, and what it stands for."""

    state: str
    x: float
    width: float
    count: int


def render(insights: Insights, *, names: bool, prefix: str) -> str:
    """The page.

    Args:
        names: say who made which mistake.
        prefix: what comes before `lessons/…` in the links; ends in a slash.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["sentence"] = _sentence
    assignments = sorted({question.assignment for question in insights.questions})
    lessons = {it.name: (it.lesson, it.section) for it in insights.questions}
    return environment.get_template("insights.html.j2").render(
        insights=insights,
        names=names,
        labels=_LABELS,
        assignments=assignments,
        several=len(assignments) > 1,
        bars={question.name: _bar(question) for question in insights.questions},
        columns=_histogram(insights.shares),
        narrow=_NARROW,
        slim=_SLIM,
        link=lambda question: address(prefix, *lessons[question]) if lessons[question][0] else "",
        where=lambda question: " ".join(
            filter(None, (lessons[question][0], "·", lessons[question][1]))
        ).rstrip(" ·"),
        css=Markup((_TEMPLATES / "page.css").read_text(encoding="utf-8")),
        per_cent=lambda share: f"{share:.0%}",
    )


def _sentence(text: str) -> Markup:
    """A cause as the judges write it, with what stands in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _bar(question: QuestionInsight) -> list[Segment]:
    segments, x = [], 0.0
    for state in STATES:
        count = question.states[state]
        if count:
            width = 100 * count / question.asked
            segments.append(Segment(state, round(x, 2), round(width, 2), count))
            x += width
    return segments


def _histogram(shares: tuple[float, ...]) -> list[dict[str, Any]]:
    """How many learners got how much: columns of equal width, the last one with those who got everything."""
    counts = [0] * _STEPS
    for share in shares:
        counts[min(_STEPS - 1, int(share * _STEPS))] += 1
    tallest = max(counts, default=0) or 1
    return [
        {
            "count": count,
            "height": round(100 * count / tallest, 1),
            "label": f"{100 * step // _STEPS} to {100 * (step + 1) // _STEPS} %",
        }
        for step, count in enumerate(counts)
    ]
