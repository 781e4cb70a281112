"""The share of positions that are predicted: the budget of Google's code over the length."""

from __future__ import annotations

import math
from collections.abc import Callable

from checks.judges.kinds import NUMBER
from checks.judges.values import Mistake, ValueJudge


def fraction(length: int, probability: float = 0.15, cap: float = 20) -> float:
    return min(max(1, round(length * probability)), cap) / length


def _with(
    rounding: Callable[[float], float] = round, least: float = 1, most: float = math.inf, off: int = 0
) -> Callable[..., float]:
    """The fraction with another rounding, minimum or cap, or with `off` positions taken off the length."""

    def way(length: int, probability: float = 0.15, cap: float = 20) -> float:
        return min(max(least, rounding((length - off) * probability)), most or cap) / length

    return way


MISTAKES = (
    Mistake(
        "no_cap",
        "Nothing is cut at `cap`. With 20 at most, 15 % is 3.9 % at length 512.",
        _with(),
    ),
    Mistake(
        "not_rounded",
        "The budget is not rounded. It is a whole number of positions.",
        _with(lambda wanted: wanted, most=0),
    ),
    Mistake(
        "probability_for_fraction",
        "This is `probability` itself: rounding, the minimum of 1 and the cap are missing.",
        lambda probability=0.15: probability,
    ),
    Mistake(
        "no_minimum",
        "A short row may hide nothing here. At least 1 is predicted.",
        _with(least=0, most=0),
    ),
    Mistake(
        "rounds_half_up",
        "Exactly a half goes to the even number in Python: `round(4.5)` is 4. You round it up.",
        _with(lambda wanted: math.floor(wanted + 0.5), most=0),
    ),
    Mistake(
        "without_special_tokens",
        "`length` counts special tokens, as Google's code does. Do not take them off.",
        _with(off=2, most=0),
        _with(off=3, most=0),
        lambda length, probability=0.15, cap=20: fraction(max(1, length - 2), probability, cap),
    ),
    Mistake(
        "cuts_off",
        "The budget is cut off to a whole number (`int`, `//`, `floor`). Round it.",
        _with(math.floor, most=0),
    ),
    Mistake(
        "rounds_up",
        "The budget is rounded up (`ceil`). Round to the nearest.",
        _with(math.ceil, most=0),
    ),
    Mistake(
        "ignores_cap",
        "The cap is 20 whatever `cap` says. Use the argument.",
        lambda length, probability=0.15: fraction(length, probability),
    ),
    Mistake(
        "ignores_probability",
        "The share is 15 % whatever `probability` says. Use the argument.",
        lambda length, cap=20: fraction(length, cap=cap),
    ),
    Mistake(
        "ignores_cap_and_probability",
        "`probability` and `cap` are not used: 0.15 and 20 are only their defaults.",
        lambda length: fraction(length),
    ),
    Mistake(
        "returns_the_budget",
        "This is the number of predicted positions. Divide it by `length`.",
        lambda length, probability=0.15, cap=20: round(fraction(length, probability, cap) * length),
    ),
    Mistake(
        "percent_for_fraction",
        "This is a percentage. A fraction lies between 0 and 1.",
        lambda length, probability=0.15, cap=20: 100 * fraction(length, probability, cap),
    ),
    Mistake(
        "minimum_and_maximum_exchanged",
        "`min` and `max` are exchanged: at least 1, at most `cap`.",
        lambda length, probability=0.15, cap=20: max(min(1, round(length * probability)), cap) / length,
    ),
    Mistake(
        "cap_on_the_length",
        "The row was cut to `cap` before the share was taken. Take the share, then compare it with `cap`.",
        lambda length, probability=0.15, cap=20: max(1, round(min(length, cap) * probability)) / length,
    ),
    Mistake(
        "masked_only",
        "This counts what becomes `[MASK]`. All that is selected is predicted, also what stays or goes random.",
        lambda length, probability=0.15, cap=20: 0.8 * fraction(length, probability, cap),
    ),
)

JUDGE = ValueJudge(NUMBER, fraction, MISTAKES, rounded="rounded")
