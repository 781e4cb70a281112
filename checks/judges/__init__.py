"""The judging half of `checks`: what is right, and which wrong answers people give. Never beside a submission.

A judge stands in `judges/<assignment>/<question>.py` as `JUDGE`: from cases and outcomes to a verdict. What all
questions have in common is done here, before and after it: an answer that is not there, is the course's own, raises,
does not end, or takes what must be refused.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol

from checks.judges.showing import describe_type
from checks.judges.values import RaisedMistake, crashed, incorrect
from checks.protocol import Case, Evidence, Finding, Outcome, Question, Verdict
from checks.time_limit import DOES_NOT_END


class Judge(Protocol):
    """What a question's module holds as `JUDGE`. `raised` names exceptions by the mistake behind them."""

    @property
    def raised(self) -> Sequence[RaisedMistake]: ...

    def __call__(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict: ...


@cache
def judge_of(question: Question) -> Judge:
    """The judge of a question."""
    judge: Judge = importlib.import_module(f"{__name__}.{question.assignment}.{question.name}").JUDGE
    return judge


def judge(question: Question, cases: list[Case], evidence: Evidence) -> Verdict:
    """Judge evidence on the cases that were asked.

    A case that must be refused with `ValueError` says why in its data, under "refused"; those are looked at only
    where nothing else is wrong. A judge that fails is our fault and never a learner's zero: it raises, and the
    caller says so.
    """
    verdict = _judge(judge_of(question), cases, evidence)
    return replace(verdict, question=question.name, lesson=question.lesson, section=question.section)


def _judge(judge: Judge, cases: Sequence[Case], evidence: Evidence) -> Verdict:
    if evidence.handed_on:
        return incorrect(Finding("imported_answer", IMPORTED.format(evidence.handed_on)))
    if all(outcome.is_blank for outcome in evidence.outcomes):
        return Verdict("", "not_attempted", 0.0, (Finding("not_attempted", NOT_ATTEMPTED),))
    pairs = list(zip(cases, evidence.outcomes, strict=True))
    asked = [pair for pair in pairs if "refused" not in pair[0].data]
    for case, outcome in asked:
        if outcome.raised:
            return crashed(_what_was_raised(case, outcome, judge.raised))
    verdict = judge([case for case, _ in asked], [outcome for _, outcome in asked])
    if verdict.state == "correct":
        for case, outcome in pairs:
            if "refused" in case.data and (finding := _not_refused(case, outcome)):
                return incorrect(finding)
    return verdict


IMPORTED = "This hands the work on to `{}`. Write it yourself: that is what the question asks for."
NOT_ATTEMPTED = "Nothing to judge yet: the answer raises NotImplementedError, or returns None or `...`."


def _what_was_raised(case: Case, outcome: Outcome, mistakes: Sequence[RaisedMistake]) -> Finding:
    assert outcome.raised is not None
    error, message, line = outcome.raised.error, outcome.raised.message, outcome.raised.line
    if error == DOES_NOT_END:
        cause = f"The answer {message}. Is there a loop whose condition never becomes false?"
        return Finding("does_not_end", cause, case.label, line or "no result")
    got = f"{error}: {message}" + (f" ({line})" if line else "")
    for mistake in mistakes:
        if mistake.matches(error, message):
            return Finding(mistake.id, mistake.cause, case.label, got)
    return Finding("raises", "The answer raised an exception before it returned.", case.label, got)


def _not_refused(case: Case, outcome: Outcome) -> Finding | None:
    if outcome.raised is None:
        got = describe_type(outcome.value)
        return Finding("accepts_impossible_input", case["refused"], case.label, got, "ValueError")
    if outcome.raised.error == DOES_NOT_END:
        found = _what_was_raised(case, outcome, ())
        return replace(
            found, cause=f"{case['refused']} The answer {outcome.raised.message}: refuse it first."
        )
    if outcome.raised.error != "ValueError":
        cause = f"{case['refused']} Raise `ValueError` yourself, before anything else fails."
        got = f"{outcome.raised.error}: {outcome.raised.message}"
        return Finding("raises_another_error", cause, case.label, got[:300], "ValueError")
    return None
