"""`summarise_runs`, against Python's own statistics."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    IN_PLACE,
    close,
    crashed,
    describe_type,
    incorrect,
    not_attempted,
    show_value,
)
from checks.judges.cost_and_limits.numbers import is_real
from checks.protocol import Case, Finding, Outcome, Question, State, Verdict

PARTS = ("mean", "std", "best", "collapsed")


def summary(case: Case) -> dict[str, float]:
    scores = case["scores"]
    return {
        "mean": statistics.fmean(scores),
        "std": statistics.stdev(scores),
        "best": max(scores),
        "collapsed": len(_collapsed(case)),
    }


def _collapsed(
    case: Case, rates: Callable[[float], tuple[float, ...]] = lambda rate: (rate, 1 - rate)
) -> list[float]:
    tolerance = case.data.get("tolerance", 0.005)
    return [
        score
        for score in case["scores"]
        if any(abs(score - rate) <= tolerance for rate in rates(case["majority_rate"]))
    ]


def _survivors(case: Case) -> list[float]:
    return [score for score in case["scores"] if score not in _collapsed(case)]


def _each_rate(case: Case) -> int:
    rate = case["majority_rate"]
    return len(_collapsed(case, lambda _: (rate,))) + len(_collapsed(case, lambda _: (1 - rate,)))


# (part, finding, cause, what that part is with this mistake)
RUN_MISTAKES: tuple[tuple[str, str, str, Callable[[Case], Any]], ...] = (
    (
        "std",
        "population_std",
        "The standard deviation divides by n. That of a sample divides by n − 1.",
        lambda case: statistics.pstdev(case["scores"]),
    ),
    (
        "std",
        "variance_for_std",
        "This is the variance. Take the root.",
        lambda case: statistics.variance(case["scores"]),
    ),
    (
        "std",
        "variance_for_std",
        "This is the variance. Take the root.",
        lambda case: statistics.pvariance(case["scores"]),
    ),
    (
        "std",
        "standard_error_for_std",
        "This is the standard error of the mean. The spread of the runs is not divided by √n.",
        lambda case: statistics.stdev(case["scores"]) / math.sqrt(len(case["scores"])),
    ),
    (
        "std",
        "range_for_std",
        "This is the distance between the best and the worst run.",
        lambda case: max(case["scores"]) - min(case["scores"]),
    ),
    (
        "mean",
        "median_for_mean",
        "This is the median. A collapsed run must pull the mean down.",
        lambda case: statistics.median(case["scores"]),
    ),
    (
        "best",
        "worst_for_best",
        "`best` is the lowest score.",
        lambda case: min(case["scores"]),
    ),
    (
        "best",
        "last_for_best",
        "`best` is the score of the last run.",
        lambda case: case["scores"][-1],
    ),
    (
        "best",
        "index_for_best",
        "`best` is the number of the best run. Its score is asked for.",
        lambda case: case["scores"].index(max(case["scores"])),
    ),
    (
        "collapsed",
        "minority_missed",
        "A run that always says the rarer class scores 1 − majority_rate. It has collapsed too.",
        lambda case: len(_collapsed(case, lambda rate: (rate,))),
    ),
    (
        "collapsed",
        "counted_twice",
        "With classes of equal size both rates are the same, and a collapsed run was counted for each.",
        _each_rate,
    ),
    (
        "collapsed",
        "ignores_tolerance",
        "The tolerance is 0.005 whatever `tolerance` says. Use the argument.",
        lambda case: len(_collapsed(Case(case.label, {**case.data, "tolerance": 0.005}))),
    ),
    (
        "collapsed",
        "chance_for_majority",
        "Runs near ½ are counted. What always saying one class scores is its share, not ½.",
        lambda case: len(_collapsed(case, lambda rate: (0.5,))),
    ),
    (
        "collapsed",
        "exact_comparison",
        "Scores are compared exactly. A collapsed run lies within `tolerance` of the rate.",
        lambda case: len(_collapsed(Case(case.label, {**case.data, "tolerance": 1e-12}))),
    ),
    (
        "collapsed",
        "everything_low_collapsed",
        "Every run up to the majority's rate is counted. A run that is bad in another way has not collapsed.",
        lambda case: sum(
            score <= case["majority_rate"] + case.data.get("tolerance", 0.005) for score in case["scores"]
        ),
    ),
    (
        "collapsed",
        "everything_low_collapsed",
        "Every run up to the majority's rate is counted. A run that is bad in another way has not collapsed.",
        lambda case: sum(score <= case["majority_rate"] for score in case["scores"]),
    ),
    (
        "collapsed",
        "share_for_count",
        "`collapsed` is a share. The number of runs is asked for.",
        lambda case: len(_collapsed(case)) / len(case["scores"]),
    ),
    (
        "collapsed",
        "yes_for_count",
        "`collapsed` says whether any run collapsed. Their number is asked for.",
        lambda case: bool(_collapsed(case)),
    ),
    (
        "collapsed",
        "counts_survivors",
        "`collapsed` is the number of runs that learned. Count the others.",
        lambda case: len(_survivors(case)),
    ),
)
# Mistakes that change several parts at once: (finding, cause, the whole summary).
WHOLE_MISTAKES: tuple[tuple[str, str, Callable[[Case], dict[str, Any]]], ...] = (
    (
        "collapsed_runs_left_out",
        "The collapsed runs are left out of mean and spread. They are results too; without them the rest flatters.",
        lambda case: (
            summary(Case(case.label, {**case.data, "scores": _survivors(case)}))
            | {"collapsed": len(_collapsed(case))}
        ),
    ),
    (
        "percent_for_scores",
        "Mean, spread and best are percentages. Leave the scores in their unit.",
        lambda case: {k: v if k == "collapsed" else 100 * v for k, v in summary(case).items()},
    ),
    (
        "best_run_for_all",
        "The best run stands for all of them: `mean` is its score and the spread is 0. Report every run.",
        lambda case: summary(case) | {"mean": max(case["scores"]), "std": 0.0},
    ),
    (
        "rounded",
        "The values are rounded. Return them as they are; round when you print.",
        lambda case: {k: round(v, 2) for k, v in summary(case).items()},
    ),
    (
        "rounded",
        "The values are rounded. Return them as they are; round when you print.",
        lambda case: {k: round(v, 3) for k, v in summary(case).items()},
    ),
    (
        "rounded",
        "The values are rounded. Return them as they are; round when you print.",
        lambda case: {k: round(v, 4) for k, v in summary(case).items()},
    ),
)


def summarise_runs(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    """Four parts, a quarter each: a part is right when it is right on every input."""
    early = not_attempted(question, outcomes) or crashed(question, cases, outcomes)
    if early:
        return early
    for case, outcome in zip(cases, outcomes, strict=True):
        finding = _runs_form(case, outcome)
        if finding:
            return incorrect(question, finding)
    pairs = [(case, outcome.value) for case, outcome in zip(cases, outcomes, strict=True)]
    wrong = [
        part for part in PARTS if not all(_same(value[part], summary(case)[part]) for case, value in pairs)
    ]
    if not wrong:
        return Verdict(question.name, "correct", 1.0, lesson=question.lesson)
    # One right number of four may be luck (`best` is a call of max); it earns nothing.
    score = 1 - len(wrong) / len(PARTS) if len(wrong) <= 2 else 0.0
    state: State = "partial" if score else "incorrect"
    return Verdict(question.name, state, score, (_runs_finding(pairs, wrong),), question.lesson)


def _runs_form(case: Case, outcome: Outcome) -> Finding | None:
    value, wanted = outcome.value, "a dict with the keys " + ", ".join(PARTS)
    if outcome.changed_input:
        return Finding("changes_its_input", IN_PLACE, case.label)
    if not isinstance(value, dict):
        return Finding("wrong_type", "The answer must be a dict.", case.label, describe_type(value), wanted)
    if set(value) != set(PARTS):
        got = ", ".join(map(str, value))[:120] or "an empty dict"
        return Finding("wrong_keys", "The dict has exactly four keys.", case.label, got, wanted)
    for part in PARTS:
        if not (is_real(value[part]) or (part == "collapsed" and isinstance(value[part], bool))):
            got = f"{part}: {describe_type(value[part])}"
            return Finding("wrong_type", f"`{part}` must be a number.", case.label, got, "a number")
    return None


def _same(got: Any, expected: Any) -> bool:
    """Counts are compared exactly, and True is no count of 1."""
    if isinstance(expected, (int, bool)):
        return isinstance(got, bool) == isinstance(expected, bool) and bool(got == expected)
    return close(1e-9, 1e-12)(got, expected)


def _runs_finding(pairs: list[tuple[Case, dict[str, Any]]], wrong: list[str]) -> Finding:
    def fails(part: str) -> list[tuple[Case, dict[str, Any]]]:
        return [(case, value) for case, value in pairs if not _same(value[part], summary(case)[part])]

    part = wrong[0]
    case, value = fails(part)[0]
    details = (case.label, f"{part}: {show_value(value[part])}", f"{part}: {show_value(summary(case)[part])}")
    for id, cause, whole in WHOLE_MISTAKES:
        if all(_same(value[p], whole(case)[p]) for case, value in pairs for p in PARTS):
            return Finding(id, cause, *details)
    for name, id, cause, returns in RUN_MISTAKES:
        if name == part and all(_same(value[part], returns(case)) for case, value in fails(part)):
            return Finding(id, cause, *details)
    cause = f"`{part}` is not the expected value" + (
        f", nor is {', '.join(wrong[1:])}." if wrong[1:] else "."
    )
    return Finding("unexpected_value", cause, *details)
