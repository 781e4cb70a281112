"""Judges of `prediction_budget` and `span_length_distribution`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from checks.judges.comparing import (
    Mistake,
    close,
    describe_type,
    equal,
    incorrect,
    is_number,
    judge_values,
)
from checks.protocol import Case, Finding, Outcome, Question, Verdict

# --- prediction_budget ------------------------------------------------------------------------------------


def _asked(case: Case) -> tuple[int, float, int]:
    more = case["more"]
    return case["length"], more.get("probability", 0.15), more.get("cap", 20)


def _nearest_even(number: float) -> int:
    """Rounding of the half to the even neighbour, written out."""
    whole = math.floor(number)
    rest = Fraction(number) - whole
    if rest == Fraction(1, 2):
        return whole + whole % 2
    return whole + (rest > Fraction(1, 2))


def _budget(case: Case) -> int:
    n, p, cap = _asked(case)
    return min(max(1, _nearest_even(n * p)), cap)


def _budget_mistake(id: str, cause: str, wrong: Callable[[int, float, int], Any]) -> Mistake:
    return Mistake(id, cause, lambda case: wrong(*_asked(case)))


def _within(number: int, cap: int) -> int:
    return min(max(1, number), cap)


BUDGET_MISTAKES = (
    _budget_mistake(
        "specials_subtracted",
        "Special tokens were taken off the length. Here `length` counts them, as Google's code does.",
        lambda n, p, cap: _within(round((n - 2) * p), cap),
    ),
    _budget_mistake(
        "specials_subtracted",
        "Special tokens were taken off the length. Here `length` counts them, as Google's code does.",
        lambda n, p, cap: _within(round((n - 3) * p), cap),
    ),
    _budget_mistake(
        "rounds_the_half_up",
        "A half was rounded up. Python's `round` goes to the even neighbour: 4.5 gives 4, 7.5 gives 8.",
        lambda n, p, cap: _within(math.floor(n * p + 0.5), cap),
    ),
    _budget_mistake(
        "rounds_down",
        "The product was cut to its whole part. Round it: `round(length * probability)`.",
        lambda n, p, cap: _within(int(n * p), cap),
    ),
    _budget_mistake(
        "rounds_up",
        "The product was always rounded up. Round it: `round(length * probability)`.",
        lambda n, p, cap: _within(math.ceil(n * p), cap),
    ),
    _budget_mistake(
        "no_minimum",
        "A short row got a budget of 0 and would teach nothing. Hide at least one piece.",
        lambda n, p, cap: min(round(n * p), cap),
    ),
    _budget_mistake(
        "cap_ignored",
        "The budget is above `cap`. Google's code predicts at most that many pieces of a row.",
        lambda n, p, cap: max(1, round(n * p)),
    ),
    _budget_mistake(
        "cap_hard_coded",
        "The cap of 20 is written into the answer. Compare with the argument `cap`.",
        lambda n, p, cap: _within(round(n * p), 20),
    ),
    _budget_mistake(
        "cap_always_reached",
        "`cap` came out although the share is smaller. It is an upper limit: the smaller of the two counts.",
        lambda n, p, cap: max(round(n * p), cap),
    ),
    _budget_mistake(
        "probability_hard_coded",
        "15 % is written into the answer. Use the argument `probability`.",
        lambda n, p, cap: _within(round(n * 0.15), cap),
    ),
    _budget_mistake(
        "cap_on_the_length",
        "The row was cut to `cap` before the share was taken. Take the share, then compare it with `cap`.",
        lambda n, p, cap: max(1, round(min(n, cap) * p)),
    ),
)


def prediction_budget(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_budget,
        kind="an int",
        is_kind=lambda value: type(value) is int,
        same=equal,
        mistakes=BUDGET_MISTAKES,
    )


# --- span_length_distribution -----------------------------------------------------------------------------


def geometric(p: float, longest: int) -> list[float]:
    """P(length = 1 … longest): p·(1 − p)^(length − 1), cut off and divided by what is left."""
    return _normalised([p * (1 - p) ** k for k in range(longest)])


def _normalised(weights: list[float]) -> list[float]:
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def clipped(p: float, longest: int) -> list[float]:
    """Every length above the limit becomes the limit."""
    return [p * (1 - p) ** k for k in range(longest - 1)] + [(1 - p) ** (longest - 1)]


def _parameters(case: Case) -> tuple[float, int]:
    more = case["more"]
    return more.get("p", 0.2), more.get("max_length", 10)


def _distribution(case: Case) -> list[float]:
    return geometric(*_parameters(case))


def _span_mistake(id: str, cause: str, wrong: Callable[[float, int], Any]) -> Mistake:
    return Mistake(id, cause, lambda case: wrong(*_parameters(case)))


DISTRIBUTION_MISTAKES = (
    _span_mistake(
        "p_hard_coded",
        "0.2 is written into the answer. Use the argument `p`.",
        lambda p, longest: geometric(0.2, longest),
    ),
    _span_mistake(
        "max_length_hard_coded",
        "10 is written into the answer. Use the argument `max_length`.",
        lambda p, longest: geometric(p, 10),
    ),
    _span_mistake(
        "clipped",
        "The tail was put on the last length. SpanBERT cuts it off and renormalises: divide by what is left.",
        clipped,
    ),
    _span_mistake(
        "not_renormalised",
        "The shares do not sum to 1. Behind `max_length` something was cut off: divide by the sum of the rest.",
        lambda p, longest: [p * (1 - p) ** k for k in range(longest)],
    ),
    _span_mistake(
        "powers_not_normalised",
        "These are bare powers of 1 − p. Probabilities sum to 1: divide by the sum.",
        lambda p, longest: [(1 - p) ** k for k in range(longest)],
    ),
    _span_mistake(
        "off_by_one_power",
        "The powers start at 1 − p and the sum is not 1. Length 1 has the power 0.",
        lambda p, longest: [p * (1 - p) ** (k + 1) for k in range(longest)],
    ),
    _span_mistake(
        "starts_at_length_zero",
        "There is an entry too many: index 0 stands for length 1, and there are `max_length` lengths.",
        lambda p, longest: geometric(p, longest + 1),
    ),
    _span_mistake(
        "starts_at_length_zero",
        "Index 0 stands for length 1; a span of no word does not exist.",
        lambda p, longest: [0.0, *geometric(p, longest)],
    ),
    _span_mistake(
        "one_length_missing",
        "The last entry is missing: lengths go up to `max_length`, that one included.",
        lambda p, longest: geometric(p, longest - 1) if longest > 1 else [],
    ),
    _span_mistake(
        "p_exchanged",
        "p and 1 − p are exchanged. A span ends after each word with probability p.",
        lambda p, longest: geometric(1 - p, longest),
    ),
    _span_mistake(
        "uniform",
        "All lengths are equally likely. In a geometric distribution each is 1 − p times the one before.",
        lambda p, longest: [1 / longest] * longest,
    ),
    _span_mistake(
        "cumulative",
        "The shares were summed up. Give the probability of each single length.",
        lambda p, longest: [math.fsum(geometric(p, longest)[: k + 1]) for k in range(longest)],
    ),
    _span_mistake(
        "reversed",
        "The longest span comes first. Index 0 is length 1, the most likely one.",
        lambda p, longest: geometric(p, longest)[::-1],
    ),
    _span_mistake(
        "percent",
        "These are percentages. Probabilities sum to 1, not to 100.",
        lambda p, longest: [100 * share for share in geometric(p, longest)],
    ),
    _span_mistake(
        "exponential",
        "This is exp(−p·length). The geometric distribution falls by the factor 1 − p, not by e^(−p).",
        lambda p, longest: _normalised([math.exp(-p * k) for k in range(longest)]),
    ),
)


def _same_shares(got: Any, expected: list[float]) -> bool:
    return len(got) == len(expected) and all(
        close(1e-9, 1e-12)(a, b) for a, b in zip(got, expected, strict=True)
    )


def span_length_distribution(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    verdict = judge_values(
        question,
        cases,
        outcomes,
        expected=_distribution,
        kind="a list of floats",
        is_kind=lambda value: isinstance(value, list) and all(is_number(share) for share in value),
        same=_same_shares,
        mistakes=DISTRIBUTION_MISTAKES,
    )
    if verdict.findings and verdict.findings[0].id == "unexpected_value":
        for case, outcome in zip(cases, outcomes, strict=True):
            wanted = len(_distribution(case))
            if len(outcome.value) != wanted:
                cause = "There is one entry for each length from 1 to `max_length`."
                got = f"{len(outcome.value)} entries: {describe_type(outcome.value)}"
                return incorrect(
                    question, Finding("wrong_length", cause, case.label, got, f"{wanted} entries")
                )
    return verdict
