"""Several runs in four numbers, against Python's own statistics."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from checks.judges.containers import record
from checks.judges.kinds import number
from checks.judges.values import Mistake, ValueJudge

Scores = Sequence[float]
PARTS = ("mean", "std", "best", "collapsed")


def summary(scores: Scores, majority_rate: float, tolerance: float = 0.005) -> dict[str, Any]:
    return {
        "mean": statistics.fmean(scores),
        "std": statistics.stdev(scores),
        "best": max(scores),
        "collapsed": near(scores, tolerance, majority_rate, 1 - majority_rate),
    }


def near(scores: Scores, tolerance: float, *rates: float) -> int:
    """How many scores lie within `tolerance` of one of the rates."""
    return sum(any(abs(score - rate) <= tolerance for rate in rates) for score in scores)


def _survivors(scores: Scores, majority_rate: float, tolerance: float = 0.005) -> dict[str, Any]:
    """The summary with the collapsed runs left out, where two or more are left."""
    whole = summary(scores, majority_rate, tolerance)
    left = [score for score in scores if not near([score], tolerance, majority_rate, 1 - majority_rate)]
    kept = {"mean": statistics.fmean(left)} if left else {"mean": 0.0}
    return (
        whole
        | kept
        | {"std": statistics.stdev(left) if len(left) > 1 else 0.0, "best": max(left, default=0.0)}
    )


MISTAKES = (
    Mistake(
        "collapsed_runs_left_out",
        "The collapsed runs are left out of mean and spread. They are results too; without them the rest flatters.",
        _survivors,
        lambda scores, majority_rate, tolerance=0.005: (
            _survivors(scores, majority_rate, tolerance) | {"best": max(scores)}
        ),
    ),
    Mistake(
        "percent_for_scores",
        "Mean, spread and best are percentages. Leave the scores in their unit.",
        lambda scores, majority_rate, tolerance=0.005: {
            part: value if part == "collapsed" else 100 * value
            for part, value in summary(scores, majority_rate, tolerance).items()
        },
    ),
    Mistake(
        "best_run_for_all",
        "The best run stands for all of them: `mean` is its score and the spread is 0. Report every run.",
        lambda scores, majority_rate, tolerance=0.005: (
            summary(scores, majority_rate, tolerance) | {"mean": max(scores), "std": 0.0}
        ),
    ),
    Mistake(
        "equal_scores_counted_once",
        "Runs with equal scores were counted once. Keep a list: in a set they become one.",
        lambda scores, majority_rate, tolerance=0.005: {
            **summary(scores, majority_rate, tolerance),
            "mean": statistics.fmean(set(scores)),
            "std": statistics.stdev(set(scores)),
        },
        lambda scores, majority_rate, tolerance=0.005: summary(sorted(set(scores)), majority_rate, tolerance),
    ),
    Mistake(
        "median_for_mean",
        "This is the median. A collapsed run must pull the mean down.",
        lambda scores: statistics.median(scores),
        part="mean",
    ),
    Mistake(
        "population_std",
        "The standard deviation divides by n. That of a sample divides by n − 1.",
        lambda scores: statistics.pstdev(scores),
        part="std",
    ),
    Mistake(
        "variance_for_std",
        "This is the variance. Take the root.",
        lambda scores: statistics.variance(scores),
        lambda scores: statistics.pvariance(scores),
        part="std",
    ),
    Mistake(
        "standard_error_for_std",
        "This is the standard error of the mean. The spread of the runs is not divided by √n.",
        lambda scores: statistics.stdev(scores) / math.sqrt(len(scores)),
        part="std",
    ),
    Mistake(
        "range_for_std",
        "This is the distance between the best and the worst run.",
        lambda scores: max(scores) - min(scores),
        part="std",
    ),
    Mistake("worst_for_best", "`best` is the lowest score.", lambda scores: min(scores), part="best"),
    Mistake("last_for_best", "`best` is the score of the last run.", lambda scores: scores[-1], part="best"),
    Mistake(
        "index_for_best",
        "`best` is the number of the best run. Its score is asked for.",
        lambda scores: scores.index(max(scores)),
        part="best",
    ),
    Mistake(
        "minority_missed",
        "A run that always says the rarer class scores 1 − majority_rate. It has collapsed too.",
        lambda scores, majority_rate, tolerance=0.005: near(scores, tolerance, majority_rate),
        part="collapsed",
    ),
    Mistake(
        "majority_missed",
        "A run that always says the commoner class scores `majority_rate`. It has collapsed too.",
        lambda scores, majority_rate, tolerance=0.005: near(scores, tolerance, 1 - majority_rate),
        part="collapsed",
    ),
    Mistake(
        "counted_twice",
        "With classes of equal size both rates are the same, and a collapsed run was counted for each.",
        lambda scores, majority_rate, tolerance=0.005: (
            near(scores, tolerance, majority_rate) + near(scores, tolerance, 1 - majority_rate)
        ),
        part="collapsed",
    ),
    Mistake(
        "ignores_tolerance",
        "The tolerance is 0.005 whatever `tolerance` says. Use the argument.",
        lambda scores, majority_rate: near(scores, 0.005, majority_rate, 1 - majority_rate),
        part="collapsed",
    ),
    Mistake(
        "chance_for_majority",
        "Runs near ½ are counted. What always saying one class scores is its share, not ½.",
        lambda scores, tolerance=0.005: near(scores, tolerance, 0.5),
        part="collapsed",
    ),
    Mistake(
        "exact_comparison",
        "Scores are compared exactly. A collapsed run lies within `tolerance` of the rate.",
        lambda scores, majority_rate: near(scores, 1e-12, majority_rate, 1 - majority_rate),
        part="collapsed",
    ),
    Mistake(
        "edge_left_out",
        "A run that is exactly `tolerance` away from a rate is within it. Compare with `<=`.",
        lambda scores, majority_rate, tolerance=0.005: sum(
            any(abs(score - rate) < tolerance for rate in (majority_rate, 1 - majority_rate))
            for score in scores
        ),
        part="collapsed",
    ),
    Mistake(
        "everything_low_collapsed",
        "Every run up to the majority's rate is counted. A run that is bad in another way has not collapsed.",
        lambda scores, majority_rate, tolerance=0.005: sum(it <= majority_rate + tolerance for it in scores),
        lambda scores, majority_rate: sum(score <= majority_rate for score in scores),
        part="collapsed",
    ),
    Mistake(
        "counts_survivors",
        "`collapsed` is the number of runs that learned. Count the others.",
        lambda scores, majority_rate, tolerance=0.005: (
            len(scores) - near(scores, tolerance, majority_rate, 1 - majority_rate)
        ),
        part="collapsed",
    ),
    Mistake(
        "share_for_count",
        "`collapsed` is a share. The number of runs is asked for.",
        lambda scores, majority_rate, tolerance=0.005: (
            near(scores, tolerance, majority_rate, 1 - majority_rate) / len(scores)
        ),
        part="collapsed",
    ),
)

# One right number of four may be luck (`best` is a call of max); it earns nothing.
JUDGE = ValueJudge(
    record(
        {"mean": number(1e-9, 1e-12), "std": number(1e-9, 1e-12), "best": number(), "collapsed": number(0.0)}
    ),
    summary,
    MISTAKES,
    rounded="rounded",
    credit=lambda right: len(right) / len(PARTS) if len(right) >= 2 else 0.0,
)
