"""Judges of answers that return one value a case: the value that is right, and the wrong ones people give, as data.

A mistake is recognised by reproducing it: it says what an answer that makes it returns on each case, and has its
name only when that came on *every* case, the right ones too. The tests run the same function as a wrong answer.

Functions of a case take its data by name: `lambda model: …` for a case with `{"model": …}`. A name with a default
may be missing from the data, so that `lambda length, cap=20: …` serves cases with and without a `cap`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from checks.judges.kinds import Kind, identical, plain
from checks.judges.rounding import is_rounding
from checks.judges.twice import find_two_answers
from checks.protocol import Case, Finding, Outcome, Verdict

CHANGED = "The answer is right, but it changed its argument in place. Work on a copy."
IN_PLACE = "The answer changed its argument in place. Work on a copy: `clone()` a tensor, copy a list."


class Mistake:
    """A wrong answer people give.

    Args:
        id: stable; counted over a class.
        cause: what went wrong and what to do, one or two sentences, shown to the learner.
        ways: what an answer with this mistake returns, as a function of the case's data; several where people make
            it in several ways.
        part: the key it concerns, where the answer is a dict and the ways give that part alone.
    """

    def __init__(self, id: str, cause: str, *ways: Callable[..., Any], part: str = ""):
        self.id, self.cause, self.ways, self.part = id, cause, ways, part


@dataclass(frozen=True)
class RaisedMistake:
    """A wrong answer that raises: recognised by its exception on a case. `matches` sees (error, message)."""

    id: str
    cause: str
    matches: Callable[[str, str], bool]


@dataclass(frozen=True)
class ValueJudge:
    """Compares one value a case. All of them right: 1; else the score of `credit`, or 0, and the reason.

    kind      the form of a value, and when two agree.
    expected  the right value, as a function of the case's data.
    mistakes  tried in order; the first that predicts every value is named.
    rounded   the id of the finding for right values that were rounded; "" where rounding is no mistake.
    credit    for dicts: from the keys that are right on every case to a score; a part of the points for a part.
    otherwise (got, expected) of the first wrong case -> id and cause, where no mistake explains them; or None.
    """

    kind: Kind
    expected: Callable[..., Any]
    mistakes: Sequence[Mistake] = ()
    raised: Sequence[RaisedMistake] = ()
    rounded: str = ""
    credit: Callable[[frozenset[str]], float] = lambda right: 0.0
    otherwise: Callable[[Any, Any], tuple[str, str] | None] = lambda got, expected: None

    def __call__(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
        values = [plain(outcome.value) for outcome in outcomes]
        wanted = [by_name(self.expected, case.data) for case in cases]
        if finding := find_two_answers(self.kind, cases, values) or self._problem(cases, values, wanted):
            return incorrect(finding)
        wrong = [i for i, value in enumerate(values) if not self.kind.same(value, wanted[i])]
        changed = [case for case, outcome in zip(cases, outcomes, strict=True) if outcome.changed_input]
        if not wrong:
            in_place = [Finding("changes_its_input", CHANGED, case.label) for case in changed[:1]]
            return incorrect(*in_place) if changed else correct()
        right = self._right_parts(values, wanted)
        part = next((key for key in self.kind.keys if key not in right), "")
        other = (
            ("changes_its_input", IN_PLACE) if changed else self.otherwise(values[wrong[0]], wanted[wrong[0]])
        )
        not_known = ("unexpected_value", unforeseen(wrong, cases))
        name, cause = self._explain(part, cases, values, wanted) or other or not_known
        shown = self.kind.difference(values[wrong[0]], wanted[wrong[0]])
        finding = Finding(name, cause, cases[wrong[0]].label, *shown)
        score = 0.0 if changed else self.credit(right)
        return partly(score, finding) if score else incorrect(finding)

    def _problem(self, cases: Sequence[Case], values: Sequence[Any], wanted: Sequence[Any]) -> Finding | None:
        """The first value that cannot be compared; with the name of the mistake that gives just such values."""
        for case, value, right in zip(cases, values, wanted, strict=True):
            if problem := self.kind.find_problem(value, right):
                mistake = self._mistake("", cases, values)
                named = {"id": mistake.id, "cause": mistake.cause} if mistake else {}
                return replace(problem, case=case.label, **named)
        return None

    def _mistake(self, part: str, cases: Sequence[Case], values: Sequence[Any]) -> Mistake | None:
        """The first mistake that gives all these values, or that part of them."""
        for mistake in self.mistakes:
            for way in mistake.ways if mistake.part in ("", part) else ():
                predicted = (by_name(way, case.data) for case in cases)
                if all(map(self._gives, [mistake.part] * len(cases), values, predicted)):
                    return mistake
        return None

    def _explain(
        self, part: str, cases: Sequence[Case], values: Sequence[Any], wanted: Sequence[Any]
    ) -> tuple[str, str] | None:
        """The id and cause of the mistake that gives all these values, or of the first part that is wrong."""
        if mistake := self._mistake(part, cases, values):
            return mistake.id, mistake.cause
        if self.rounded and any(self._all_rounded(part, values, wanted, digits) for digits in range(9)):
            return self.rounded, "The value is rounded. Return it as it is; round where you print it."
        return None

    def _all_rounded(self, part: str, values: Sequence[Any], wanted: Sequence[Any], digits: int) -> bool:
        """Whether these are the right values cut to so many digits, or that part of them is."""
        return all(
            is_rounding(self._part(value, part), self._part(right, part), digits)
            for value, right in zip(values, wanted, strict=True)
        )

    def _gives(self, part: str, got: Any, predicted: Any) -> bool:
        """Whether a value is the one that a mistake predicts, in one part or as a whole."""
        if part:
            kind = next(kind for where, kind, _, _ in self.kind.parts(got, got) if where == part)
            return kind.accepts(predicted) and kind.same(self._part(got, part), predicted)
        if identical(got, predicted):  # whatever its form
            return True
        return self.kind.find_problem(got, predicted) is None and self.kind.same(got, predicted)

    def _part(self, value: Any, part: str) -> Any:
        return next((one for where, _, one, _ in self.kind.parts(value, value) if where == part), value)

    def _right_parts(self, values: Sequence[Any], wanted: Sequence[Any]) -> frozenset[str]:
        def is_right(key: str) -> bool:
            return all(
                kind.same(one, other)
                for value, right in zip(values, wanted, strict=True)
                for where, kind, one, other in self.kind.parts(value, right)
                if where == key
            )

        return frozenset(filter(is_right, self.kind.keys))


@dataclass(frozen=True)
class RuleJudge:
    """Compares by rules of its own: `rule(cases, outcomes)` sees outcomes that raised nothing and changed nothing."""

    rule: Callable[[Sequence[Case], Sequence[Outcome]], Verdict]
    raised: Sequence[RaisedMistake] = ()

    def __call__(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
        for case, outcome in zip(cases, outcomes, strict=True):
            if outcome.changed_input:
                return incorrect(Finding("changes_its_input", IN_PLACE, case.label))
        return self.rule(cases, outcomes)


def by_name(function: Callable[..., Any], data: Mapping[str, Any]) -> Any:
    """Call a function with those parts of a case's data that it has parameters for."""
    return function(**{name: data[name] for name in _parameters(function) if name in data})


@cache
def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


# --- verdicts without the question's name, which `checks.judges.judge` fills in ---------------------------------


def correct() -> Verdict:
    return Verdict("", "correct", 1.0)


def incorrect(*findings: Finding) -> Verdict:
    return Verdict("", "incorrect", 0.0, findings)


def partly(score: float, *findings: Finding) -> Verdict:
    return Verdict("", "partial", score, findings)


def crashed(finding: Finding) -> Verdict:
    return Verdict("", "crashed", 0.0, (finding,))


def unforeseen(wrong: Sequence[int], cases: Sequence[Case]) -> str:
    if right := len(cases) - len(wrong):
        return f"Right on {right} of {len(cases)} inputs; the smallest that fails is shown."
    return "The value is not the expected one on any input; the smallest is shown."
