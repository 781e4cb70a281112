"""Judge of `count_parameters`: what people count besides, and what they leave out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    equal,
    judge_values,
)
from checks.judges.parameter_budget.closed_forms import (
    biases_and_norms,
    head,
    model_of,
    parts,
    shared_bias,
    tensors,
    tied_twice,
    total,
    trainable,
)
from checks.protocol import Case, Outcome, Question, Verdict
from checks.questions.parameter_budget import ModelSpec


def _where_it_differs(wrong: Callable[[ModelSpec], int], right: Callable[[ModelSpec], int] = total) -> Any:
    """A mistake's value on a case; NotImplemented where it happens to give the right answer."""

    def returns(case: Case) -> Any:
        value = wrong(model_of(case))
        return value if value != right(model_of(case)) else NotImplemented

    return returns


TIED_TWICE = (
    "The MLM decoder shares its matrix with the token table (V×H numbers). A tied matrix is counted once."
)
COUNT_MISTAKES = (
    Mistake("counts_tied_decoder_twice", TIED_TWICE, _where_it_differs(lambda m: total(m) + tied_twice(m))),
    Mistake(
        "counts_tied_decoder_twice",
        TIED_TWICE,
        _where_it_differs(lambda m: total(m) + tied_twice(m) + shared_bias(m)),
    ),
    Mistake(
        "counts_position_ids_buffer",
        "You counted the `position_ids` buffer, one number a position. A buffer is not learned, so it is no parameter.",
        _where_it_differs(lambda m: total(m) + m["P"]),
    ),
    Mistake(
        "counts_buffers",
        "You counted the buffers (`position_ids`, `token_type_ids`), one number a position. Buffers are not learned.",
        _where_it_differs(lambda m: total(m) + 2 * m["P"]),
    ),
    Mistake(
        "counts_buffers_and_tied_twice",
        "You counted buffers, which are not learned, and the tied decoder a second time.",
        _where_it_differs(lambda m: total(m) + 2 * m["P"] + tied_twice(m)),
    ),
    Mistake(
        "counts_trainable_only",
        "You left out the frozen layers (`requires_grad=False`). Frozen numbers are parameters all the same.",
        _where_it_differs(trainable),
    ),
    Mistake(
        "misses_pooler",
        "The pooler's H×H matrix and its bias are missing.",
        _where_it_differs(lambda m: total(m) - parts(m)["pooler"]),
    ),
    Mistake(
        "misses_biases_and_norms",
        "Only the matrices are counted. Biases and LayerNorm weights are learned too.",
        _where_it_differs(lambda m: total(m) - biases_and_norms(m)),
    ),
    Mistake(
        "counts_tensors",
        "You counted the parameter tensors. Count the numbers in them: `numel()`.",
        _where_it_differs(tensors),
    ),
    Mistake(
        "counts_encoder_only",
        "You counted the encoder's layers without the embeddings and what stands on top.",
        _where_it_differs(lambda m: parts(m)["encoder layers"]),
    ),
    Mistake(
        "misses_head",
        "What stands on the encoder is missing: count `model`, not the encoder inside it.",
        _where_it_differs(lambda m: total(m) - head(m)),
    ),
    Mistake(
        "counts_bytes",
        "This is the number of bytes in fp32, four times the number of parameters.",
        _where_it_differs(lambda m: 4 * total(m)),
    ),
    Mistake(
        "counts_optimizer_slots",
        "You counted Adam's two moments with each parameter. They belong to the optimizer, not to the model.",
        _where_it_differs(lambda m: 3 * total(m)),
    ),
)


def count_parameters(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: total(model_of(case)),
        kind="an int, the number of parameters",
        is_kind=lambda value: type(value) is int,
        same=equal,
        mistakes=COUNT_MISTAKES,
    )
