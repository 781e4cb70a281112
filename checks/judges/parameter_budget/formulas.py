"""Judges of `layer_parameters` and `factorised_table`: closed forms that forget something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    close,
    equal,
    is_number,
    judge_values,
)
from checks.judges.parameter_budget.closed_forms import (
    layer,
)
from checks.protocol import Case, Outcome, Question, Verdict


def _layer_mistake(id: str, cause: str, wrong: Callable[[int, int], int]) -> Mistake:
    def returns(case: Case) -> Any:
        H, I = case["H"], case["I"]
        value = wrong(H, I)
        return value if value != layer(H, I) else NotImplemented

    return Mistake(id, cause, returns)


LAYER_MISTAKES = (
    _layer_mistake(
        "matrices_only",
        "The matrices are right, biases and LayerNorms are missing (9H + I numbers).",
        lambda H, I: 4 * H * H + 2 * H * I,
    ),
    _layer_mistake(
        "no_biases",
        "The biases are missing: four of the projections (H each), two of the feed-forward part (I and H).",
        lambda H, I: layer(H, I) - 5 * H - I,
    ),
    _layer_mistake(
        "no_layer_norms",
        "4H numbers are missing: the two LayerNorms (2H each), or else the biases of the four projections (H each).",
        lambda H, I: layer(H, I) - 4 * H,
    ),
    _layer_mistake(
        "half_the_layer_norms",
        "2H numbers are missing: there are two LayerNorms, and each has a weight and a bias of H numbers.",
        lambda H, I: layer(H, I) - 2 * H,
    ),
    _layer_mistake(
        "three_projections",
        "Attention has four H×H projections: query, key, value and the output.",
        lambda H, I: layer(H, I) - H * H - H,
    ),
    _layer_mistake(
        "assumes_four_times_hidden",
        "12H² + 13H holds only when the intermediate size is 4H. Use the argument `intermediate`.",
        lambda H, I: 12 * H * H + 13 * H,
    ),
    _layer_mistake(
        "twelve_h_squared",
        "12H² is the rule of thumb: it leaves out biases and LayerNorms and assumes intermediate = 4H.",
        lambda H, I: 12 * H * H,
    ),
    _layer_mistake(
        "one_feed_forward_matrix",
        "The feed-forward part has two matrices, H×I up and I×H down.",
        lambda H, I: layer(H, I) - H * I - H,
    ),
    _layer_mistake(
        "no_feed_forward_biases",
        "The two biases of the feed-forward part are missing: I numbers on the way up, H on the way down.",
        lambda H, I: layer(H, I) - I - H,
    ),
    _layer_mistake(
        "no_query_key_value_biases",
        "3H numbers are missing: query, key and value have a bias of H numbers each.",
        lambda H, I: layer(H, I) - 3 * H,
    ),
    _layer_mistake(
        "arguments_swapped",
        "`hidden` and `intermediate` are exchanged.",
        lambda H, I: layer(I, H),
    ),
    _layer_mistake(
        "attention_only",
        "This is attention alone. The feed-forward part and the LayerNorms belong to the layer too.",
        lambda H, I: 4 * H * H + 4 * H,
    ),
    _layer_mistake(
        "feed_forward_only",
        "This is the feed-forward part alone. Attention and the LayerNorms belong to the layer too.",
        lambda H, I: 2 * H * I + I + H,
    ),
)


def layer_parameters(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: layer(case["H"], case["I"]),
        kind="an int",
        is_kind=lambda value: type(value) is int,
        same=equal,
        mistakes=LAYER_MISTAKES,
    )


def _factorised(case: Case) -> tuple[int, float]:
    V, H, E = case["V"], case["H"], case["E"]
    count = V * E + E * H
    return count, V * H / count


def _same_pair(got: Any, expected: Any) -> bool:
    count, ratio = expected
    same_count = equal(got[0], count) if type(count) is int else close()(got[0], count)
    return same_count and close()(got[1], ratio)


def _factor_mistake(id: str, cause: str, wrong: Callable[[int, int, int], tuple[Any, Any]]) -> Mistake:
    return Mistake(id, cause, lambda case: wrong(case["V"], case["H"], case["E"]))


def _with_count(count: int, V: int, H: int) -> tuple[int, float]:
    return count, V * H / count


FACTOR_MISTAKES = (
    _factor_mistake(
        "ratio_inverted",
        "The ratio is upside down: `times_smaller` is the old table over the new one, above 1 when it pays.",
        lambda V, H, E: (E * (V + H), E * (V + H) / (V * H)),
    ),
    _factor_mistake(
        "second_matrix_missing",
        "The E×H matrix that lifts the factor to the hidden size is missing.",
        lambda V, H, E: _with_count(V * E, V, H),
    ),
    _factor_mistake(
        "counts_bias",
        "Two matrices, no bias: this is H too many.",
        lambda V, H, E: _with_count(E * (V + H) + H, V, H),
    ),
    _factor_mistake(
        "counts_both_biases",
        "Two matrices, no bias: this is E + H too many.",
        lambda V, H, E: _with_count(E * (V + H) + H + E, V, H),
    ),
    _factor_mistake(
        "saving_for_ratio",
        "The second value is the share that is saved. `times_smaller` is the old count over the new.",
        lambda V, H, E: (E * (V + H), 1 - E * (V + H) / (V * H)),
    ),
    _factor_mistake(
        "difference_for_ratio",
        "The second value is the difference. `times_smaller` is a ratio, the old count over the new.",
        lambda V, H, E: (E * (V + H), V * H - E * (V + H)),
    ),
    _factor_mistake(
        "hidden_over_factor",
        "H/E leaves out the second matrix. Divide the old count by the new.",
        lambda V, H, E: (E * (V + H), H / E),
    ),
    _factor_mistake(
        "integer_division",
        "`//` cuts the ratio to a whole number. Divide with `/`.",
        lambda V, H, E: (E * (V + H), V * H // (E * (V + H))),
    ),
    _factor_mistake(
        "product_of_three",
        "V·E·H is a product of all three sizes. Two matrices are summed: V·E + E·H.",
        lambda V, H, E: _with_count(V * E * H, V, H),
    ),
    _factor_mistake(
        "pair_swapped",
        "The two values are exchanged: the number of parameters comes first.",
        lambda V, H, E: (V * H / (E * (V + H)), E * (V + H)),
    ),
)


def _count_as_float(case: Case) -> tuple[float, float]:
    count, ratio = _factorised(case)
    return float(count), ratio


def _ratio_rounded(digits: int) -> Mistake:
    return Mistake(
        "ratio_rounded",
        "The ratio is rounded. Return it as it is and round where you print it.",
        lambda case: (_factorised(case)[0], round(_factorised(case)[1], digits)),
    )


NEARLY_RIGHT = (
    Mistake(
        "count_is_float", "The number of parameters is a whole number: an int, not a float.", _count_as_float
    ),
    *(_ratio_rounded(digits) for digits in range(1, 9)),
)


def factorised_table(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_factorised,
        kind="a pair (parameters, times_smaller)",
        is_kind=lambda value: (
            isinstance(value, (tuple, list)) and len(value) == 2 and all(is_number(part) for part in value)
        ),
        same=_same_pair,
        mistakes=(*FACTOR_MISTAKES, *NEARLY_RIGHT),
    )
