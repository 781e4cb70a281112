"""Where a rounded share with a floor and a cap goes wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from checks.judges.kinds import INT
from checks.judges.values import Mistake, ValueJudge


def _nearest_even(number: float) -> int:
    """Rounding of the half to the even neighbour, written out."""
    whole = math.floor(number)
    rest = Fraction(number) - whole
    if rest == Fraction(1, 2):
        return whole + whole % 2
    return whole + (rest > Fraction(1, 2))


def _rounded(rule: Callable[[float], int], less: int = 0, low: int = 1) -> Callable[..., int]:
    """A budget whose share of `length - less` is made whole by `rule`, and is `low` at least."""
    return lambda length, probability=0.15, cap=20: min(max(low, rule((length - less) * probability)), cap)


MISTAKES = (
    Mistake(
        "specials_subtracted",
        "Special tokens were taken off the length. Here `length` counts them, as Google's code does.",
        *(_rounded(round, less=specials) for specials in (2, 3, 1)),
    ),
    Mistake(
        "rounds_the_half_up",
        "A half was rounded up. Python's `round` goes to the even neighbour: 4.5 gives 4, 7.5 gives 8.",
        _rounded(lambda share: math.floor(share + 0.5)),
    ),
    Mistake(
        "rounds_down",
        "The product was cut to its whole part. Round it: `round(length * probability)`.",
        _rounded(int),
    ),
    Mistake(
        "rounds_up",
        "The product was always rounded up. Round it: `round(length * probability)`.",
        _rounded(math.ceil),
    ),
    Mistake(
        "no_minimum",
        "A short row got a budget of 0 and would teach nothing. Hide at least one piece.",
        _rounded(round, low=0),
    ),
    Mistake(
        "cap_ignored",
        "The budget is above `cap`. Google's code predicts at most that many pieces of a row.",
        lambda length, probability=0.15: max(1, round(length * probability)),
    ),
    Mistake(
        "cap_hard_coded",
        "The cap of 20 is written into the answer. Compare with the argument `cap`.",
        lambda length, probability=0.15: _rounded(round)(length, probability),
    ),
    Mistake(
        "cap_always_reached",
        "`cap` came out although the share is smaller. It is an upper limit: the smaller of the two counts.",
        lambda length, probability=0.15, cap=20: max(round(length * probability), cap),
    ),
    Mistake(
        "probability_hard_coded",
        "15 % is written into the answer. Use the argument `probability`.",
        lambda length, cap=20: _rounded(round)(length, cap=cap),
    ),
    Mistake(
        "arguments_ignored",
        "15 % and 20 are written into the answer. Use the arguments `probability` and `cap`.",
        lambda length: _rounded(round)(length),
    ),
    Mistake(
        "cap_on_the_length",
        "The row was cut to `cap` before the share was taken. Take the share, then compare it with `cap`.",
        lambda length, probability=0.15, cap=20: max(1, round(min(length, cap) * probability)),
    ),
)

JUDGE = ValueJudge(INT, _rounded(_nearest_even), MISTAKES)
