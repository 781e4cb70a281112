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
from functools import partial
from html import escape
from numbers import Real
from typing import TYPE_CHECKING, Any

from insidebert import frontend
from insidebert.progress import Progress, load, now, record_exercise, update

if TYPE_CHECKING:
    from insidebert.figures.prediction import PredictionForm

__all__ = ["compare", "forget", "predict", "progress", "record_exercise", "reveal"]

Answer = float | str
Entry = dict[str, Any]
_asked: dict[str, Entry] = {}  # the questions of this kernel; the file holds those that were answered
_forms: dict[str, PredictionForm] = {}  # those that are on the screen


def predict(key: str, question: str, *, unit: str = "", choices: Sequence[str] = ()) -> None:
    """Asks for a prediction: one of `choices` or, without them, a number in `unit`.

    The answer may change until the result has been revealed. A question that changed since loses its old
    answer. Raises ValueError for a key without a lesson, and for a single or repeated choice.
    """
    if "." not in key:
        raise ValueError(f"A prediction's key is 'lesson.name', such as '03.total'; got {key!r}.")
    if len(choices) == 1 or len(set(choices)) < len(choices):
        raise ValueError(f"Choices must be at least two and differ; got {list(choices)}.")
    _asked[key] = {"question": question, "unit": unit, "choices": list(choices)}
    data, notice = load()
    entry = _entry(data, key)
    plain = "\n".join(line for line in (f"Predict: {question}", _options(entry), _said(entry)) if line)
    lines = [
        f"<strong>{escape(question)}</strong>",
        f"<em>{escape(_options(entry))}</em>",
        escape(_said(entry)),
    ]
    markup = _card("Predict", lines, notice)
    shown = _Shown(markup, plain)
    if frontend.interactive():
        from insidebert.figures.prediction import PredictionForm

        _forms[key] = PredictionForm.of(entry, notice, partial(commit, key), shown.bundle)
        _display(_forms[key])
    else:
        _display(shown)


def commit(key: str, answer: Answer) -> str:
    """Stores the answer to a question that `predict` has asked, and returns a notice.

    Once its result has been revealed an answer stays as it was.
    """
    fixed = False

    def change(data: Progress) -> None:
        nonlocal fixed
        entry = _entry(data, key)
        fixed = "result" in entry
        if not fixed:
            data["predictions"][key] = entry | {"answer": answer, "at": now()}

    notice = update(change)
    lesson = key.split(".")[0]
    return f'The result is known already; forget("{lesson}") starts the lesson over.' if fixed else notice


def reveal(key: str, result: Answer) -> None:
    """Shows the result beside the prediction, and keeps both: from now on the prediction is fixed.

    `result` is a number in the question's unit or one of its choices; ValueError when it is neither.
    """
    data, notice = load()
    entry = _entry(data, key)
    choices = entry.get("choices")
    if choices and result not in choices:
        raise ValueError(f"The result of {key!r} must be one of {choices}; got {result!r}.")
    if not choices:
        if not isinstance(result, Real) or not math.isfinite(result):
            raise ValueError(f"The result of {key!r} must be a finite number; got {result!r}.")
        result = float(result)

    unit, answer = entry.get("unit", ""), entry.get("answer")
    lines = [f"Result: {_written(result, unit)}"]
    if answer is None:
        lines += ["You made no prediction here. Guess first next time: a wrong guess teaches most."]
    else:
        lines = [_said(entry), *lines, compare(answer, result)]
        notice = _keep_result(key, result)
        if key in _forms:
            _forms[key].fixed = True
    markup = _card("Compare", [f"<strong>{escape(lines[0])}</strong>", *map(escape, lines[1:])], notice)
    _display(_Shown(markup, "\n".join(lines), {"key": key, "result": result}))


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
        return f"Close: {answer / result:.2f} times the result."
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
    """Markup for a browser, text for everything else, what was measured for programs that read the notebook."""

    def __init__(self, markup: str, plain: str, measured: dict[str, Any] | None = None) -> None:
        self.bundle = {"text/html": markup, "text/plain": plain}
        self.metadata = {"insidebert": measured} if measured else {}

    def __repr__(self) -> str:
        return self.bundle["text/plain"]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        return self.bundle, self.metadata


def _display(thing: object) -> None:
    from IPython.display import display

    display(thing)


def _entry(data: Progress, key: str) -> Entry:
    """What is known of a question: as it is asked in this kernel, with the answer stored for these very words."""
    stored = data["predictions"].get(key, {})
    asked = _asked.get(key, {})
    return stored if all(stored.get(name) == value for name, value in asked.items()) else asked


def _keep_result(key: str, result: Answer) -> str:
    def change(data: Progress) -> None:
        data["predictions"][key] = _entry(data, key) | {"result": result}

    return update(change)


def _written(value: Answer, unit: str = "") -> str:
    """A number as a person writes it: 109.48, 4,005,120, 0.0021."""
    if isinstance(value, str):
        return value
    if value == int(value) or abs(value) >= 10_000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:,.2f}" if abs(value) >= 1 else f"{value:.2g}"
    return f"{text} {unit}".strip()


def _options(entry: Entry) -> str:
    """What can be answered, for readers who cannot."""
    if entry["choices"]:
        return " · ".join(entry["choices"])
    return f"a number ({entry['unit']})" if entry["unit"] else "a number"


def _said(entry: Entry) -> str:
    return f"You said: {_written(entry['answer'], entry.get('unit', ''))}" if "answer" in entry else ""


def _card(title: str, lines: Sequence[str], notice: str) -> str:
    """A box that needs no style sheet: exported pages and other front ends have none of ours."""
    frame = "border-left: 4px solid #0072B2; padding: .4em .9em; margin: .3em 0; line-height: 1.5"
    rows = [f"<small>{title.upper()}</small>", *lines, f"<em>{escape(notice)}</em>" if notice else ""]
    return f'<div style="{frame}">' + "<br>".join(row for row in rows if row) + "</div>"
