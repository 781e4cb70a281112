"""ALBERT's two matrices in place of one table: their numbers, and how many times smaller they are."""

from __future__ import annotations

from checks.judges.containers import tuple_of
from checks.judges.kinds import INT, NUMBER
from checks.judges.values import Mistake, ValueJudge


def factorised(V: int, H: int, E: int) -> tuple[int, float]:
    return _with(V * E + E * H, V, H)


def _with(count: int, V: int, H: int) -> tuple[int, float]:
    return count, V * H / count


MISTAKES = (
    Mistake(
        "ratio_inverted",
        "The ratio is upside down: `times_smaller` is the old table over the new one, above 1 when it pays.",
        lambda V, H, E: (E * (V + H), E * (V + H) / (V * H)),
    ),
    Mistake(
        "second_matrix_missing",
        "The E×H matrix that lifts the factor to the hidden size is missing.",
        lambda V, H, E: _with(V * E, V, H),
    ),
    Mistake(
        "counts_bias",
        "Two matrices, no bias: this is H too many.",
        lambda V, H, E: _with(E * (V + H) + H, V, H),
    ),
    Mistake(
        "counts_both_biases",
        "Two matrices, no bias: this is E + H too many.",
        lambda V, H, E: _with(E * (V + H) + H + E, V, H),
    ),
    Mistake(
        "saving_for_ratio",
        "The second value is the share that is saved. `times_smaller` is the old count over the new.",
        lambda V, H, E: (E * (V + H), 1 - E * (V + H) / (V * H)),
    ),
    Mistake(
        "difference_for_ratio",
        "The second value is the difference. `times_smaller` is a ratio, the old count over the new.",
        lambda V, H, E: (E * (V + H), V * H - E * (V + H)),
    ),
    Mistake(
        "hidden_over_factor",
        "H/E leaves out the second matrix. Divide the old count by the new.",
        lambda V, H, E: (E * (V + H), H / E),
    ),
    Mistake(
        "integer_division",
        "`//` cuts the ratio to a whole number. Divide with `/`.",
        lambda V, H, E: (E * (V + H), V * H // (E * (V + H))),
    ),
    Mistake(
        "product_of_three",
        "V·E·H is a product of all three sizes. Two matrices are summed: V·E + E·H.",
        lambda V, H, E: _with(V * E * H, V, H),
    ),
    Mistake(
        "count_is_float",
        "The number of parameters is a whole number: an int, not a float.",
        lambda V, H, E: (float(E * (V + H)), V * H / (E * (V + H))),
    ),
    Mistake(
        "pair_swapped",
        "The two values are exchanged: the number of parameters comes first.",
        lambda V, H, E: (V * H / (E * (V + H)), E * (V + H)),
    ),
)

JUDGE = ValueJudge(
    tuple_of(INT, NUMBER, words="a pair (parameters, times_smaller), an int and a number"),
    factorised,
    MISTAKES,
    rounded="ratio_rounded",
)
