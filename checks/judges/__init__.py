"""The judging half of `checks`: what is right, and which wrong answers people give. Never beside a submission."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache

from checks.protocol import Case, Evidence, Outcome, Question, Verdict

Judge = Callable[[Question, list[Case], tuple[Outcome, ...]], Verdict]


@cache
def judge_of(question: Question) -> Judge:
    """The judge of a question: `judges/<assignment>.py` lists them by name in `JUDGES`."""
    judge: Judge = importlib.import_module(f"{__name__}.{question.assignment}").JUDGES[question.name]
    return judge


def judge(question: Question, cases: list[Case], evidence: Evidence) -> Verdict:
    """Judge evidence on the cases that were asked.

    A judge that fails is our fault and never a learner's zero: it raises, and the caller says so.
    """
    return judge_of(question)(question, cases, evidence.outcomes)
