"""How many operations a forward pass takes: the linear layers, and attention's two products.

S positions · H hidden · I intermediate · L layers
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    judge_values,
)
from checks.judges.cost_and_limits.numbers import is_real
from checks.protocol import Case, Outcome, Question, Verdict

Shape = tuple[int, int, int, int]  # S, H, I, L


def _shape(case: Case) -> Shape:
    return case["S"], case["H"], case["I"], case["L"]


def flops(S: int, H: int, I: int, L: int) -> tuple[int, int]:  # noqa: E741
    """Four H×H and two H×I projections of S vectors; S×S scores and their weighted sum, both of S·S·H products."""
    return 2 * L * S * (4 * H * H + 2 * H * I), 2 * L * (2 * S * S * H)


def _flops_mistake(id: str, cause: str, wrong: Callable[[int, int, int, int], tuple[Any, Any]]) -> Mistake:
    """`wrong` gives both numbers; what an answer with this mistake returns, where that is not the right pair."""

    def returns(case: Case) -> Any:
        value = wrong(*_shape(case))
        return value if value != flops(*_shape(case)) else NotImplemented

    return Mistake(id, cause, returns)


def _linear_mistake(id: str, cause: str, wrong: Callable[[int, int, int, int], float]) -> Mistake:
    return _flops_mistake(id, cause, lambda *shape: (wrong(*shape), flops(*shape)[1]))


def _attention_mistake(id: str, cause: str, wrong: Callable[[int, int, int, int], float]) -> Mistake:
    return _flops_mistake(id, cause, lambda *shape: (flops(*shape)[0], wrong(*shape)))


FLOPS_MISTAKES = (
    _flops_mistake(
        "multiply_adds_counted_once",
        "Both are half of what they should be: a multiply-add is two operations.",
        lambda *x: (flops(*x)[0] // 2, flops(*x)[1] // 2),
    ),
    _linear_mistake(
        "linear_multiply_adds_counted_once",
        "`linear` is half of what it should be: a multiply-add is two operations there too.",
        lambda *x: flops(*x)[0] // 2,
    ),
    _linear_mistake(
        "three_projections",
        "Attention has four H×H projections: query, key, value and the output.",
        lambda S, H, I, L: 2 * L * S * (3 * H * H + 2 * H * I),  # noqa: E741
    ),
    _linear_mistake(
        "one_projection",
        "Attention has four H×H projections, not one: query, key, value and the output.",
        lambda S, H, I, L: 2 * L * S * (H * H + 2 * H * I),  # noqa: E741
    ),
    _linear_mistake(
        "one_feed_forward_matrix",
        "The feed-forward part has two projections, H to I and I back to H.",
        lambda S, H, I, L: 2 * L * S * (4 * H * H + H * I),  # noqa: E741
    ),
    _linear_mistake(
        "feed_forward_missing",
        "The two feed-forward projections are missing in `linear`.",
        lambda S, H, I, L: 2 * L * S * 4 * H * H,  # noqa: E741
    ),
    _linear_mistake(
        "attention_projections_missing",
        "The four H×H projections are missing in `linear`: they belong there, not to attention.",
        lambda S, H, I, L: 2 * L * S * 2 * H * I,  # noqa: E741
    ),
    _linear_mistake(
        "assumes_four_times_hidden",
        "24·S·H² holds only when the intermediate size is 4H. Use the argument `intermediate`.",
        lambda S, H, I, L: 24 * L * S * H * H,  # noqa: E741
    ),
    _linear_mistake(
        "counts_biases",
        "The additions of the biases are in `linear`. Nothing counts but the matrix products.",
        lambda S, H, I, L: flops(S, H, I, L)[0] + L * S * (5 * H + I),  # noqa: E741
    ),
    _linear_mistake(
        "linear_without_length",
        "`linear` is that of one position. Each of the `length` positions is projected.",
        lambda S, H, I, L: flops(S, H, I, L)[0] // S,  # noqa: E741
    ),
    _flops_mistake(
        "projections_in_attention",
        "The four projections are counted with attention. They are linear layers.",
        lambda S, H, I, L: (2 * L * S * 2 * H * I, flops(S, H, I, L)[1] + 2 * L * S * 4 * H * H),  # noqa: E741
    ),
    _attention_mistake(
        "attention_counted_once",
        "Attention has two products: the scores, and the weighted sum of the values.",
        lambda *x: flops(*x)[1] // 2,
    ),
    _attention_mistake(
        "attention_multiply_adds_counted_once",
        "Attention is a quarter of what it should be: two products, and a multiply-add is two operations.",
        lambda *x: flops(*x)[1] // 4,
    ),
    _attention_mistake(
        "attention_without_hidden",
        "Every score is a product of H numbers, whatever the number of heads.",
        lambda S, H, I, L: 4 * L * S * S,  # noqa: E741
    ),
    _attention_mistake(
        "attention_linear_in_length",
        "Every position attends to every position: attention grows with the square of the length.",
        lambda S, H, I, L: 4 * L * S * H,  # noqa: E741
    ),
    _attention_mistake(
        "hidden_squared_in_attention",
        "The square stands at the wrong letter: S·S scores of H products each.",
        lambda S, H, I, L: 4 * L * S * H * H,  # noqa: E741
    ),
    _attention_mistake(
        "causal_attention",
        "Half of the scores is what a left-to-right model computes. BERT attends both ways.",
        lambda S, H, I, L: 2 * L * S * (S + 1) * H,  # noqa: E741
    ),
    _attention_mistake(
        "counts_softmax",
        "The softmax is in `attention`. Nothing counts but the matrix products.",
        lambda S, H, I, L: flops(S, H, I, L)[1] + L * S * S,  # noqa: E741
    ),
    _flops_mistake(
        "one_layer_for_all",
        "This is a single layer. Multiply by `layers`.",
        lambda S, H, I, L: (flops(S, H, I, L)[0] // L, flops(S, H, I, L)[1] // L),  # noqa: E741
    ),
    _flops_mistake(
        "forward_and_backward",
        "This is three times the forward pass, as in training. The forward pass alone is asked for.",
        lambda *x: (3 * flops(*x)[0], 3 * flops(*x)[1]),
    ),
    _flops_mistake(
        "pair_swapped",
        "The two values are exchanged: linear comes first.",
        lambda *x: (flops(*x)[1], flops(*x)[0]),
    ),
    _flops_mistake(
        "total_for_linear",
        "The first value is the sum of both. `linear` leaves out the scores and the weighted sum.",
        lambda *x: (sum(flops(*x)), flops(*x)[1]),
    ),
)


def _same_pair(got: Any, expected: Any) -> bool:
    """Exact: the counts are whole numbers. A float of the same value is one a few digits could be lost from."""
    return all(is_real(one) and one == other for one, other in zip(got, expected, strict=True))


def encoder_flops(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    verdict = judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: flops(*_shape(case)),
        kind="a pair of numbers (linear, attention)",
        is_kind=lambda value: (
            isinstance(value, (tuple, list)) and len(value) == 2 and all(is_real(part) for part in value)
        ),
        same=_same_pair,
        mistakes=FLOPS_MISTAKES,
    )
    if verdict.state != "incorrect" or verdict.findings[0].id == "wrong_type":
        return verdict
    right = [
        all(
            outcome.value[part] == flops(*_shape(case))[part]
            for case, outcome in zip(cases, outcomes, strict=True)
        )
        for part in range(2)
    ]
    if not any(right):
        return verdict
    return Verdict(question.name, "partial", 0.5, verdict.findings, question.lesson)
