"""Distributions people give for the geometric one that is cut off and renormalised."""

from __future__ import annotations

import math
from collections.abc import Sequence

from checks.judges.containers import list_of
from checks.judges.kinds import number
from checks.judges.values import Mistake, ValueJudge


def normalised(weights: Sequence[float]) -> list[float]:
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _powers(p: float, max_length: int, first: int = 0) -> list[float]:
    return [(1 - p) ** (first + k) for k in range(max_length)]


def geometric(p: float = 0.2, max_length: int = 10) -> list[float]:
    """P(length = 1 … max_length): p·(1 − p)^(length − 1), cut off and divided by what is left."""
    return normalised(_powers(p, max_length))


def geometric_default() -> list[float]:
    return geometric()


def clipped(p: float = 0.2, max_length: int = 10) -> list[float]:
    """Every length above the limit becomes the limit."""
    return [p * power for power in _powers(p, max_length - 1)] + [(1 - p) ** (max_length - 1)]


def exchanged(p: float = 0.2, max_length: int = 10) -> list[float]:
    return geometric(1 - p, max_length)


MISTAKES = (
    Mistake(
        "p_hard_coded",
        "0.2 is written into the answer. Use the argument `p`.",
        lambda max_length=10: geometric(max_length=max_length),
    ),
    Mistake(
        "max_length_hard_coded",
        "10 is written into the answer. Use the argument `max_length`.",
        lambda p=0.2: geometric(p),
    ),
    Mistake(
        "arguments_ignored",
        "0.2 and 10 are written into the answer. Use `p` and `max_length`.",
        geometric_default,
    ),
    Mistake(
        "clipped",
        "The tail was put on the last length. SpanBERT cuts it off and renormalises: divide by what is left.",
        clipped,
    ),
    Mistake(
        "not_renormalised",
        "The shares do not sum to 1. Behind `max_length` something was cut off: divide by the sum of the rest.",
        lambda p=0.2, max_length=10: [p * power for power in _powers(p, max_length)],
    ),
    Mistake(
        "powers_not_normalised",
        "These are bare powers of 1 − p. Probabilities sum to 1: divide by the sum.",
        lambda p=0.2, max_length=10: _powers(p, max_length),
    ),
    Mistake(
        "off_by_one_power",
        "The powers start at 1 − p and the sum is not 1. Length 1 has the power 0.",
        lambda p=0.2, max_length=10: [p * power for power in _powers(p, max_length, first=1)],
    ),
    Mistake(
        "starts_at_length_zero",
        "There is an entry too many: index 0 stands for length 1, and there are `max_length` lengths.",
        lambda p=0.2, max_length=10: geometric(p, max_length + 1),
        lambda p=0.2, max_length=10: [0.0, *geometric(p, max_length)],
    ),
    Mistake(
        "one_length_missing",
        "The last entry is missing: lengths go up to `max_length`, that one included.",
        lambda p=0.2, max_length=10: geometric(p, max_length - 1),
        lambda p=0.2, max_length=10: geometric(p, max(1, max_length - 1)),
        lambda p=0.2, max_length=10: geometric(p, max_length)[:-1],
        lambda p=0.2, max_length=10: [p * power for power in _powers(p, max_length - 1)],
    ),
    Mistake(
        "p_exchanged", "p and 1 − p are exchanged. A span ends after each word with probability p.", exchanged
    ),
    Mistake(
        "uniform",
        "All lengths are equally likely. In a geometric distribution each is 1 − p times the one before.",
        lambda max_length=10: [1 / max_length] * max_length,
    ),
    Mistake(
        "cumulative",
        "The shares were summed up. Give the probability of each single length.",
        lambda p=0.2, max_length=10: [
            math.fsum(geometric(p, max_length)[: k + 1]) for k in range(max_length)
        ],
    ),
    Mistake(
        "reversed",
        "The longest span comes first. Index 0 is length 1, the most likely one.",
        lambda p=0.2, max_length=10: geometric(p, max_length)[::-1],
    ),
    Mistake(
        "percent",
        "These are percentages. Probabilities sum to 1, not to 100.",
        lambda p=0.2, max_length=10: [100 * share for share in geometric(p, max_length)],
    ),
    Mistake(
        "exponential",
        "This is exp(−p·length). The geometric distribution falls by the factor 1 − p, not by e^(−p).",
        lambda p=0.2, max_length=10: normalised([math.exp(-p * k) for k in range(max_length)]),
    ),
)

JUDGE = ValueJudge(
    list_of(number(1e-9, 1e-12), "a list of floats"), geometric, MISTAKES, rounded="shares_rounded"
)
