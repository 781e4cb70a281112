"""How many operations a forward pass takes: the linear layers, and attention's two products.

S positions · H hidden · I intermediate · L layers
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checks.judges.containers import tuple_of
from checks.judges.kinds import number
from checks.judges.values import Mistake, ValueJudge


def flops(S: int, H: int, I: int, L: int) -> tuple[int, int]:
    """Four H×H and two H×I projections of S vectors; S×S scores and their weighted sum, both of S·S·H products."""
    return 2 * L * S * (4 * H * H + 2 * H * I), 2 * L * (2 * S * S * H)


def linear(S: int, H: int, I: int, L: int) -> int:
    return flops(S, H, I, L)[0]


def attention(S: int, H: int, I: int, L: int) -> int:
    return flops(S, H, I, L)[1]


def _pair(change: Callable[[int, int], Any]) -> Callable[..., Any]:
    return lambda S, H, I, L: change(*flops(S, H, I, L))


MISTAKES = (
    Mistake(
        "multiply_adds_counted_once",
        "Both are half of what they should be: a multiply-add is two operations.",
        _pair(lambda one, two: (one // 2, two // 2)),
    ),
    Mistake(
        "one_layer_for_all",
        "This is a single layer. Multiply by `layers`.",
        lambda S, H, I: flops(S, H, I, 1),
    ),
    Mistake(
        "forward_and_backward",
        "This is three times the forward pass, as in training. The forward pass alone is asked for.",
        _pair(lambda one, two: (3 * one, 3 * two)),
    ),
    Mistake(
        "pair_swapped",
        "The two values are exchanged: linear comes first.",
        _pair(lambda one, two: (two, one)),
    ),
    Mistake(
        "projections_in_attention",
        "The four projections are counted with attention. They are linear layers.",
        lambda S, H, I, L: (4 * L * S * H * I, attention(S, H, I, L) + 8 * L * S * H * H),
    ),
    Mistake(
        "linear_multiply_adds_counted_once",
        "`linear` is half of what it should be: a multiply-add is two operations there too.",
        lambda S, H, I, L: linear(S, H, I, L) // 2,
        part="linear",
    ),
    Mistake(
        "three_projections",
        "Attention has four H×H projections: query, key, value and the output.",
        lambda S, H, I, L: 2 * L * S * (3 * H * H + 2 * H * I),
        part="linear",
    ),
    Mistake(
        "one_projection",
        "Attention has four H×H projections, not one: query, key, value and the output.",
        lambda S, H, I, L: 2 * L * S * (H * H + 2 * H * I),
        part="linear",
    ),
    Mistake(
        "one_feed_forward_matrix",
        "The feed-forward part has two projections, H to I and I back to H.",
        lambda S, H, I, L: 2 * L * S * (4 * H * H + H * I),
        part="linear",
    ),
    Mistake(
        "feed_forward_missing",
        "The two feed-forward projections are missing in `linear`.",
        lambda S, H, L: 8 * L * S * H * H,
        part="linear",
    ),
    Mistake(
        "attention_projections_missing",
        "The four H×H projections are missing in `linear`: they belong there, not to attention.",
        lambda S, H, I, L: 4 * L * S * H * I,
        part="linear",
    ),
    Mistake(
        "assumes_four_times_hidden",
        "24·S·H² holds only when the intermediate size is 4H. Use the argument `intermediate`.",
        lambda S, H, L: 24 * L * S * H * H,
        part="linear",
    ),
    Mistake(
        "counts_biases",
        "The additions of the biases are in `linear`. Nothing counts but the matrix products.",
        lambda S, H, I, L: linear(S, H, I, L) + L * S * (5 * H + I),
        part="linear",
    ),
    Mistake(
        "linear_without_length",
        "`linear` is that of one position. Each of the `length` positions is projected.",
        lambda H, I, L: linear(1, H, I, L),
        part="linear",
    ),
    Mistake(
        "total_for_linear",
        "The first value is the sum of both. `linear` leaves out the scores and the weighted sum.",
        _pair(lambda one, two: one + two),
        part="linear",
    ),
    Mistake(
        "attention_counted_once",
        "Half of attention is missing: there are two products, the scores and the weighted sum of the values, and "
        "a multiply-add is two operations in each.",
        lambda S, H, L: 2 * L * S * S * H,
        part="attention",
    ),
    Mistake(
        "attention_multiply_adds_counted_once",
        "Attention is a quarter of what it should be: two products, and a multiply-add is two operations.",
        lambda S, H, L: L * S * S * H,
        part="attention",
    ),
    Mistake(
        "attention_without_hidden",
        "Every score is a product of H numbers, whatever the number of heads.",
        lambda S, L: 4 * L * S * S,
        part="attention",
    ),
    Mistake(
        "attention_linear_in_length",
        "Every position attends to every position: attention grows with the square of the length.",
        lambda S, H, L: 4 * L * S * H,
        part="attention",
    ),
    Mistake(
        "hidden_squared_in_attention",
        "The square stands at the wrong letter: S·S scores of H products each.",
        lambda S, H, L: 4 * L * S * H * H,
        part="attention",
    ),
    Mistake(
        "causal_attention",
        "Half of the scores is what a left-to-right model computes. BERT attends both ways.",
        lambda S, H, L: 2 * L * S * (S + 1) * H,
        part="attention",
    ),
    Mistake(
        "counts_softmax",
        "The softmax is in `attention`. Nothing counts but the matrix products.",
        lambda S, H, I, L: attention(S, H, I, L) + L * S * S,
        part="attention",
    ),
)

JUDGE = ValueJudge(
    tuple_of(
        number(0.0), number(0.0), words="a pair of numbers (linear, attention)", names=("linear", "attention")
    ),
    flops,
    MISTAKES,
    credit=lambda right: 0.5 if right else 0.0,
)
