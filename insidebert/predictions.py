"""Predict, run, compare: the learner commits an answer first, the result stands beside it later.

    predict("03.total", "How many parameters has bert-base-uncased?", unit="million")   # before
    reveal("03.total", count_parameters(model) / 1e6)                                    # after

A key is `lesson.name`. In a browser `predict` shows a small form; where nobody can answer it shows the
question as text. Nothing waits: a notebook runs from top to bottom with no prediction made. Answers are
kept in the learner's progress file (`insidebert.progress`), so that a prediction outlives the kernel it was
made in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any, TypeGuard

from insidebert import frontend
from insidebert.progress import Progress, load, now, record_exercise, update

__all__ = ["compare", "forget", "predict", "progress", "record_exercise", "reveal"]

Answer = float | str


def predict(key: str, question: str, *, unit: str = "", choices: Sequence[str] = ()) -> None:
    """Asks for a prediction: one of `choices` or, without them, a number in `unit`.

    The answer may change until the result has been revealed. A question that changed since loses its old
    answer. Raises ValueError for a key without a lesson, and for a single or repeated choice.
    """
    if "." not in key:
        raise ValueError(f"A prediction's key is 'lesson.name', such as '03.total'; got {key!r}.")
    if len(choices) == 1 or len(set(choices)) < len(choices):
        raise ValueError(f"Choices must be at least two and differ; got {list(choices)}.")
    data, notice = load()
    entry = _entry(data, key)
    asked = {"question": question, "unit": unit, "choices": list(choices)}
    if any(entry.get(name) != value for name, value in asked.items()):
        entry = asked

    def ask(data: Progress) -> None:
        data["predictions"][key] = entry

    if entry is asked:
        notice = update(ask) or notice
    plain = _question_as_text(entry)
    markup = _card("Predict", [_question_as_html(entry), escape(_said(entry))], notice)
    if frontend.interactive():
        from insidebert.figures.prediction import PredictionForm

        _display(PredictionForm.of(key, entry, notice, markup, plain))
    else:
        _display(_Shown(markup, plain))


def commit(key: str, answer: Answer) -> str:
    """Stores the answer to a question that `predict` has asked; returns a notice.

    After the result it is fixed.
    """

    def change(data: Progress) -> None:
        entry = _entry(data, key)
        if "result" not in entry:
            data["predictions"][key] = entry | {"answer": answer, "at": now()}

    return update(change)


def reveal(key: str, result: Answer) -> None:
    """Shows the result beside the prediction, and keeps it: from now on the prediction is fixed.

    `result` is a number in the question's unit or one of its choices; ValueError when it is neither.
    """
    entry = _entry(load()[0], key)
    choices = entry.get("choices") or []
    if choices and result not in choices:
        raise ValueError(f"The result of {key!r} must be one of {choices}; got {result!r}.")
    if not choices and not (_is_number(result) and math.isfinite(result)):
        raise ValueError(f"The result of {key!r} must be a finite number; got {result!r}.")

    def change(data: Progress) -> None:
        data["predictions"][key] = _entry(data, key) | {"result": result}

    notice = update(change)
    unit = entry.get("unit", "")
    answer = entry.get("answer")
    measured = f"Result: {_written(result, unit)}"
    if answer is None:
        lines = [measured, "You made no prediction here. Guess first next time: a wrong guess teaches most."]
    else:
        lines = [f"You said: {_written(answer, unit)}", measured, compare(answer, result)]
    plain = "\n".join(lines)
    first, *rest = (escape(line) for line in lines)
    markup = _card("Compare", [f"<strong>{first}</strong>", *rest], notice)
    _display(_Shown(markup, plain))


def compare(answer: Answer, result: Answer) -> str:
    """One sentence on how far a prediction is from the result."""
    if isinstance(answer, str) or isinstance(result, str):
        return "Right." if answer == result else "Not so. Find the reason before you read on."
    if math.isclose(answer, result, rel_tol=0.02):
        return "Right, within two per cent."
    if answer <= 0 or result <= 0:
        return f"Off by {_written(abs(answer - result))}."
    ratio = max(answer, result) / min(answer, result)
    direction = "much" if answer > result else "little"
    if ratio < 1.1:
        return f"Close: {100 * (answer / result - 1):+.0f} %."
    return f"{ratio:.1f} times too {direction}." if ratio < 100 else f"{ratio:,.0f} times too {direction}."


def progress() -> Progress:
    """What the learner has done: `{"predictions": {key: entry}, "exercises": {assignment: {question: …}}}`.

    An entry of `predictions` has `question`, `unit`, `choices` and, once they exist, `answer`, `at` and
    `result`.
    """
    return load()[0]


def forget(lesson: str) -> None:
    """Removes the predictions of one lesson ("03"), to work through it again."""

    def change(data: Progress) -> None:
        kept = {key: entry for key, entry in data["predictions"].items() if not key.startswith(f"{lesson}.")}
        data["predictions"] = kept

    update(change)


class _Shown:
    """Markup for a browser, text for everything else."""

    def __init__(self, markup: str, plain: str) -> None:
        self.bundle = {"text/html": markup, "text/plain": plain}

    def __repr__(self) -> str:
        return self.bundle["text/plain"]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self.bundle


def _display(thing: object) -> None:
    from IPython.display import display

    display(thing)


def _entry(data: Progress, key: str) -> dict[str, Any]:
    return data["predictions"].get(key, {})


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _written(value: Answer, unit: str = "") -> str:
    """A number as a person writes it: 109.48, 4,005,120, 0.0021."""
    if isinstance(value, str):
        return value
    if value == int(value) or abs(value) >= 10_000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:,.2f}" if abs(value) >= 1 else f"{value:.2g}"
    return f"{text} {unit}".strip()


def _question_as_text(entry: dict[str, Any]) -> str:
    options = [f"  ( ) {choice}" for choice in entry["choices"]] or [
        f"  your number: ____ {entry['unit']}".rstrip()
    ]
    said = [_said(entry)] if _said(entry) else []
    return "\n".join([f"Predict: {entry['question']}", *options, *said])


def _question_as_html(entry: dict[str, Any]) -> str:
    options = " · ".join(f"<em>{escape(choice)}</em>" for choice in entry["choices"])
    return f"<strong>{escape(entry['question'])}</strong>" + (f"<br>{options}" if options else "")


def _said(entry: dict[str, Any]) -> str:
    return f"You said: {_written(entry['answer'], entry['unit'])}" if "answer" in entry else ""


def _card(title: str, lines: Sequence[str], notice: str) -> str:
    """A box that needs no style sheet: exported pages and other front ends have none of ours."""
    frame = "border-left: 4px solid #0072B2; padding: .4em .9em; margin: .3em 0; line-height: 1.5"
    rows = [f"<small>{title.upper()}</small>", *lines, f"<em>{escape(notice)}</em>" if notice else ""]
    return f'<div style="{frame}">' + "<br>".join(row for row in rows if row) + "</div>"
