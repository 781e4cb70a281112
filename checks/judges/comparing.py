"""The common shape of a judge: an expected value for each case, and mistakes that predict what they would give.

A misconception is not recognised by its symptom but by reproducing it: it says what an answer that makes this
mistake returns on each case. Where that is what came, and not what was expected, the mistake has a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict

Compare = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Mistake:
    """A wrong answer people give.

    id       stable; counted over a class.
    cause    what went wrong and what to do, one or two sentences, shown to the learner.
    returns  case -> what an answer with this mistake returns; `NotImplemented` where it cannot be told.
    """

    id: str
    cause: str
    returns: Callable[[Case], Any]


@dataclass(frozen=True)
class RaisedMistake:
    """A wrong answer that raises: recognised by its exception on a case. `matches` sees (error, message)."""

    id: str
    cause: str
    matches: Callable[[str, str], bool]


def close(relative: float = 1e-9, absolute: float = 0.0) -> Compare:
    """Equality of numbers within a tolerance. A bool, a string or a tensor is no number."""

    def same(got: Any, expected: Any) -> bool:
        if not is_number(got):
            return False
        return abs(got - expected) <= max(relative * abs(expected), absolute)  # nan compares false

    return same


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def equal(got: Any, expected: Any) -> bool:
    """Equality that keeps apart what Python's does not: True and 1, 3 and 3.0 are different answers."""
    return type(got) is type(expected) and bool(got == expected)


def judge_values(
    question: Question,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    *,
    expected: Callable[[Case], Any],
    kind: str,
    is_kind: Callable[[Any], bool],
    same: Compare,
    mistakes: Sequence[Mistake] = (),
    raised: Sequence[RaisedMistake] = (),
    show: Callable[[Any], str] = lambda value: show_value(value),
) -> Verdict:
    """Judge an answer that returns one value a case. All cases right: 1; anything else: 0 and the reason.

    Args:
        kind, is_kind: what a value must be, in words and as a test ("an int").
        same: (got, expected) -> whether they agree.
        mistakes: tried in order; the first that explains every wrong case is named.
    """
    early = not_attempted(question, outcomes) or crashed(question, cases, outcomes, raised)
    if early:
        return early
    for case, outcome in zip(cases, outcomes, strict=True):
        if not is_kind(outcome.value):
            return incorrect(
                question,
                Finding(
                    "wrong_type",
                    f"The answer must be {kind}.",
                    case.label,
                    describe_type(outcome.value),
                    kind,
                ),
            )
    wanted = [expected(case) for case in cases]
    wrong = [
        index
        for index, outcome in enumerate(outcomes)
        if outcome.changed_input or not same(outcome.value, wanted[index])
    ]
    if not wrong:
        return Verdict(question.name, "correct", 1.0, lesson=question.lesson)
    first = wrong[0]
    details = (cases[first].label, show(outcomes[first].value), show(wanted[first]))
    if outcomes[first].changed_input and same(outcomes[first].value, wanted[first]):
        return incorrect(question, Finding("changes_its_input", CHANGED, cases[first].label))
    for mistake in mistakes:
        if all(explains(mistake, cases[index], outcomes[index].value, same) for index in wrong):
            return incorrect(question, Finding(mistake.id, mistake.cause, *details))
    return incorrect(question, Finding("unexpected_value", unforeseen(len(wrong), len(cases)), *details))


CHANGED = "The answer is right, but it changed its argument in place. Work on a copy."
IN_PLACE = "The answer changed its argument in place. Work on a copy: `clone()` a tensor, copy a list."


def explains(mistake: Mistake, case: Case, got: Any, same: Compare) -> bool:
    predicted = mistake.returns(case)
    return predicted is not NotImplemented and same(got, predicted)


def unforeseen(wrong: int, total: int) -> str:
    if wrong == total:
        return "The value is not the expected one on any input; the smallest is shown."
    return f"Right on {total - wrong} of {total} inputs; the smallest that fails is shown."


def judge_with_refusals(
    question: Question,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    judge: Callable[[Question, list[Case], list[Outcome]], Verdict],
) -> Verdict:
    """Judge a question where some inputs must be refused with `ValueError`.

    A case that must be refused says why in its data, under "refused". The others go to `judge`; only where it
    finds nothing wrong are the refusals looked at.
    """
    pairs = list(zip(cases, outcomes, strict=True))
    asked = [(case, outcome) for case, outcome in pairs if "refused" not in case.data]
    verdict = judge(question, [case for case, _ in asked], [outcome for _, outcome in asked])
    if verdict.state != "correct":
        return verdict
    for case, outcome in pairs:
        if "refused" not in case.data:
            continue
        if outcome.raised is None:
            got = describe_type(outcome.value)
            finding = Finding("accepts_impossible_input", case["refused"], case.label, got, "ValueError")
            return incorrect(question, finding)
        if outcome.raised.error != "ValueError":
            cause = f"{case['refused']} Raise `ValueError` yourself, before anything else fails."
            got = f"{outcome.raised.error}: {outcome.raised.message}"
            return incorrect(
                question, Finding("raises_another_error", cause, case.label, got[:300], "ValueError")
            )
    return verdict


def not_attempted(question: Question, outcomes: Sequence[Outcome]) -> Verdict | None:
    if not all(outcome.is_blank for outcome in outcomes):
        return None
    text = "Nothing to judge yet: the answer raises NotImplementedError, or returns None or `...`."
    return Verdict(question.name, "not_attempted", 0.0, (Finding("not_attempted", text),), question.lesson)


def crashed(
    question: Question,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    raised: Sequence[RaisedMistake] = (),
) -> Verdict | None:
    """The verdict on an answer that raised on some case, or None. The smallest such case is shown."""
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.raised is None:
            continue
        error, message, line = outcome.raised.error, outcome.raised.message, outcome.raised.line
        got = f"{error}: {message}" + (f" ({line})" if line else "")
        for mistake in raised:
            if mistake.matches(error, message):
                return Verdict(
                    question.name,
                    "crashed",
                    0.0,
                    (Finding(mistake.id, mistake.cause, case.label, got),),
                    question.lesson,
                )
        finding = Finding("raises", "The answer raised an exception before it returned.", case.label, got)
        return Verdict(question.name, "crashed", 0.0, (finding,), question.lesson)
    return None


def incorrect(question: Question, *findings: Finding) -> Verdict:
    return Verdict(question.name, "incorrect", 0.0, findings, question.lesson)


def show_value(value: Any) -> str:
    """A short picture of a value for a learner: thousands separated, long things cut."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!s}: {show_value(part)}" for key, part in list(value.items())[:8]) + "}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(show_value(part) for part in value[:8]) + (", …" if len(value) > 8 else "")
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return str(value)[:120]


def describe_type(value: Any) -> str:
    """What came, in kind: "float 0.21", "tensor of shape (2,) and dtype int64"."""
    if value is None:
        return "None"
    if isinstance(value, Array):
        return str(value)
    if hasattr(value, "type") and not is_number(value):
        return str(value)
    return f"{type(value).__name__} {show_value(value)}"
