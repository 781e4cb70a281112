"""Runs a question's probe on an answer and writes down what happened: the untrusted half of a check.

This is all of `checks` that works where a submission is graded. It knows inputs, never what is right.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checks.encoding import encode
from checks.evidence import evidence_to_json, outcome_to_json
from checks.origins import watching
from checks.protocol import Case, Question, Raised
from checks.time_limit import DOES_NOT_END, SECONDS, within

_PACKAGE = Path(__file__).parent


class ChangedInput(Exception):
    """Raised by a probe that saw the answer change one of its arguments. Carries the value returned."""

    def __init__(self, value: Any):
        super().__init__("the answer changed its arguments")
        self.value = value


def run_probe(
    question: Question, answer: Any, cases: list[Case], *, quiet: bool, seconds: float = SECONDS
) -> dict[str, Any]:
    """Call `answer` on every case; the evidence, with one JSON outcome a case (see `protocol.outcome_to_json`).

    Args:
        quiet: swallow what the answer prints (autograding). Otherwise it goes to standard output, warnings and
            progress bars included: a grader that reads standard error would take them for failures.
        seconds: that each case has. After one that does not end the others are not tried: they count like it.

    An exception inside the answer is an outcome, not an error here. `KeyboardInterrupt` passes, so that a time
    limit or a learner's own interrupt stops the check.
    """
    _import_first(question, cases[0])
    outcomes: list[dict[str, Any]] = []
    with _quiet() if quiet else contextlib.redirect_stderr(sys.stdout):
        with watching(answer, _is_learners) as handed_on:  # the smallest case says it: watching takes time
            outcomes.append(_outcome(question, answer, cases[0], seconds))
        for case in cases[1:]:
            if outcomes[-1].get("raised", [""])[0] == DOES_NOT_END:
                outcomes += [outcomes[-1]] * (len(cases) - len(outcomes))
                break
            outcomes.append(_outcome(question, answer, case, seconds))
    return evidence_to_json(question.name, outcomes, *handed_on[:1])


def _import_first(question: Question, case: Case) -> None:
    """Let the probe import what it needs by asking nobody: those seconds are not the answer's."""
    if not {"torch", "transformers"} <= sys.modules.keys():
        with contextlib.suppress(Exception):
            question.probe(lambda *_, **__: None, case)


def _outcome(question: Question, answer: Any, case: Case, seconds: float) -> dict[str, Any]:
    try:
        return within(seconds, lambda: _asked(question, answer, case))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # no end, or a strange object that cannot be written down
        return outcome_to_json(None, raised=describe(error))


def _asked(question: Question, answer: Any, case: Case) -> dict[str, Any]:
    """Calls the answer and writes down what came, both within the time: a `__repr__` may have no end either."""
    try:
        return outcome_to_json(question.probe(answer, case))
    except ChangedInput as changed:
        return outcome_to_json(changed.value, changed_input=True)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an answer may well raise SystemExit
        return outcome_to_json(None, raised=describe(error))


def describe(error: BaseException) -> Raised:
    """The exception's name and message with the line of the learner's own code it came through."""
    name, message = type(error).__name__, _message(error)
    own = [frame.name for frame in traceback.extract_tb(error.__traceback__) if _is_learners(frame.filename)]
    if isinstance(error, NotImplementedError) and len(own) > 1:
        # Not this answer is missing but one that it calls.
        name, message = f"{name} in {own[-1]}", f"`{own[-1]}` has no answer yet"
    return Raised(name, message, _answer_line(error))


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # somebody else's __str__
        return ""


def _answer_line(error: BaseException) -> str:
    """The innermost line written by the learner: not ours, not an installed package's."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_learners(frame.filename):
            line = frame.line or linecache.getline(frame.filename, frame.lineno or 0).strip()
            return f"line {frame.lineno}: {line}" if line else f"line {frame.lineno}"
    return ""


def _is_learners(filename: str) -> bool:
    path = Path(filename)
    installed = "site-packages" in path.parts or _PACKAGE in path.parents
    return not installed and Path(io.__file__).parent not in path.parents and "<frozen" not in str(path)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(_Sink()), contextlib.redirect_stderr(_Sink()):
        yield


class _Sink(io.TextIOBase):
    """Takes any amount of text and keeps none of it."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)


def call(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Call an answer and hold it to the promise that functions never change their arguments.

    Compares tensors, lists, dicts and plain values before and after; what evidence cannot carry (a model, a
    generator) is not looked at.

    Raises:
        ChangedInput: an argument is not what it was; carries the value returned.
    """
    before = encode([*args, kwargs])
    value = answer(*args, **kwargs)
    if encode([*args, kwargs]) != before:
        raise ChangedInput(value)
    return value
