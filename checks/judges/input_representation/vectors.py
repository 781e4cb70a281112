"""The judge of `embed`: three lookups in float64 NumPy.

B batch · S sequence · H hidden · P rows of the position table
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checks.judges.comparing import (
    Mistake,
    RaisedMistake,
    incorrect,
    judge_values,
    judge_with_refusals,
)
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict
from checks.questions.input_representation import tables


def _lookups(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three looked-up arrays, (B,S,H) each."""
    table = tables(case)
    ids, types = np.array(case["input_ids"]), np.array(case["token_type_ids"])
    position = np.broadcast_to(table["position"][: ids.shape[1]], (*ids.shape, case["H"]))
    return table["word"][ids], position, table["segment"][types]


def _normalised(case: Case, x: np.ndarray, *, axis: Any = -1, **changed: Any) -> np.ndarray:
    table = tables(case)
    mean = x.mean(axis, keepdims=True)
    variance = x.var(axis, keepdims=True, ddof=changed.get("ddof", 0))
    eps = changed.get("eps", case["eps"])
    plain = (x - mean) / (np.sqrt(variance) + eps if changed.get("eps_outside") else np.sqrt(variance + eps))
    return plain if changed.get("plain") else plain * table["weight"] + table["bias"]


def _sum(case: Case) -> np.ndarray:
    word, position, segment = _lookups(case)
    return word + position + segment


def _embedded(case: Case) -> np.ndarray:
    return _normalised(case, _sum(case))


def _with_positions(positions: Callable[[Case], Any]) -> Callable[[Case], Any]:
    """The embedding with other positions, an integer array that broadcasts to (B,S)."""

    def returns(case: Case) -> Any:
        word, _, segment = _lookups(case)
        rows = np.asarray(positions(case))
        if rows.max() >= case["P"]:
            return NotImplemented
        return _normalised(case, word + tables(case)["position"][rows] + segment)

    return returns


def _restarting(case: Case) -> np.ndarray:
    types = np.array(case["token_type_ids"])
    first = (types == 0).sum(1, keepdims=True)
    count = np.arange(types.shape[1])
    return np.where(count < first, count, count - first)


def _sinusoids(case: Case) -> np.ndarray:
    S, H = len(case["input_ids"][0]), case["H"]
    angle = np.arange(S)[:, None] / 10_000 ** (np.arange(0, H, 2) / H)
    table = np.zeros((S, H))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table


def _without(part: int) -> Callable[[Case], Any]:
    return lambda case: _normalised(case, _sum(case) - _lookups(case)[part])


EMBED_MISTAKES = (
    Mistake(
        "layer_norm_missing",
        "The sum is right and not normalised. Put it through `layer_norm` before you return it.",
        _sum,
    ),
    Mistake(
        "layer_norm_without_weights",
        "The norm's own weight and bias were left out. Call the module `layer_norm`, it applies them.",
        lambda case: _normalised(case, _sum(case), plain=True),
    ),
    Mistake(
        "own_eps",
        "The norm was computed with another eps. Call the module `layer_norm`, or use its `eps`.",
        lambda case: _normalised(case, _sum(case), eps=1e-12),
    ),
    Mistake(
        "own_eps",
        "The norm was computed with another eps. Call the module `layer_norm`, or use its `eps`.",
        lambda case: _normalised(case, _sum(case), eps=1e-5),
    ),
    Mistake(
        "eps_outside_the_root",
        "eps was added to the standard deviation. LayerNorm adds it to the variance, under the root.",
        lambda case: _normalised(case, _sum(case), eps_outside=True),
    ),
    Mistake(
        "sample_variance",
        "The variance was divided by H − 1. LayerNorm divides by H (`unbiased=False`).",
        lambda case: _normalised(case, _sum(case), ddof=1),
    ),
    Mistake(
        "normalises_over_positions",
        "The norm went over the positions. Each position is normalised by itself, over its H numbers.",
        lambda case: _normalised(case, _sum(case), axis=1),
    ),
    Mistake(
        "normalises_each_lookup",
        "Each lookup was normalised before the sum. Sum first, then normalise once.",
        lambda case: sum(_normalised(case, part) for part in _lookups(case)),
    ),
    Mistake(
        "norm_before_segment",
        "Something was added after the norm. Sum all three, then normalise.",
        lambda case: _normalised(case, _lookups(case)[0] + _lookups(case)[1]) + _lookups(case)[2],
    ),
    Mistake("word_missing", "The word lookup is missing from the sum.", _without(0)),
    Mistake(
        "position_missing",
        "The position lookup is missing: without it a row is a bag of words.",
        _without(1),
    ),
    Mistake("segment_missing", "The segment lookup is missing from the sum.", _without(2)),
    Mistake(
        "segment_always_zero",
        "Every position got the vector of segment 0. Look `token_type_ids` up.",
        lambda case: _normalised(case, _lookups(case)[0] + _lookups(case)[1] + tables(case)["segment"][0]),
    ),
    Mistake(
        "positions_reversed",
        "Positions were counted from the end. The first position is row 0 of the table.",
        _with_positions(lambda case: np.arange(len(case["input_ids"][0]))[::-1]),
    ),
    Mistake(
        "positions_restart_in_segment",
        "Positions start again in the second segment. They run through the whole row.",
        _with_positions(_restarting),
    ),
    Mistake(
        "one_position_for_all",
        "Every position got row 0 of the position table. Position s is row s.",
        _with_positions(lambda case: 0),
    ),
    Mistake(
        "position_of_the_row",
        "The position was counted along the batch. It is the place inside the row: `torch.arange(S)`.",
        _with_positions(lambda case: np.arange(len(case["input_ids"]))[:, None]),
    ),
    Mistake(
        "sinusoids_for_positions",
        "These are the sinusoids of the first Transformer. BERT learns a position table: look `position` up.",
        lambda case: _normalised(case, _lookups(case)[0] + _sinusoids(case) + _lookups(case)[2]),
    ),
    Mistake(
        "scaled_by_root_of_hidden",
        "The word vectors were multiplied by √H, as in the first Transformer. BERT adds them as they are.",
        lambda case: _normalised(
            case, _lookups(case)[0] * case["H"] ** 0.5 + _lookups(case)[1] + _lookups(case)[2]
        ),
    ),
    Mistake(
        "multiplied_for_summed",
        "The lookups were multiplied. They are summed.",
        lambda case: _normalised(case, np.prod(_lookups(case), axis=0)),
    ),
    Mistake(
        "mean_for_sum",
        "The lookups were averaged. They are summed; under the norm the difference is small, not zero.",
        lambda case: _normalised(case, _sum(case) / 3),
    ),
)

REFUSES_FITTING = RaisedMistake(
    "refuses_a_row_that_fits",
    "This row has a vector for each position. Refuse a row only when it is longer than the position table.",
    lambda error, message: error == "ValueError" and "unpack" not in message,
)

BEYOND = RaisedMistake(
    "looks_up_beyond_a_table",
    "A number was looked up in a table that has no such row. Do positions start at 0? Does each table get its ids?",
    lambda error, message: error == "IndexError" and "out of range" in message,
)


def _same_vectors(got: Any, expected: np.ndarray) -> bool:
    # float64 inside, 1e-6: float32 intermediates pass, another eps (1e-5 for 1e-3) does not.
    return (
        isinstance(got, Array)
        and got.data.shape == expected.shape
        and np.allclose(got.data.astype(np.float64), expected, rtol=1e-6, atol=1e-6)
    )


def _show_vectors(value: Any) -> str:
    data = value.data if isinstance(value, Array) else np.asarray(value)
    first = ", ".join(f"{number:.4f}" for number in data[0, 0, :4].tolist())
    return f"[0, 0] begins {first}; shape {tuple(data.shape)}"


def _shape(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Finding | None:
    for case, outcome in zip(cases, outcomes, strict=True):
        value = outcome.value
        if not isinstance(value, Array) or value.kind != "tensor":
            continue
        B, S, H = len(case["input_ids"]), len(case["input_ids"][0]), case["H"]
        if value.data.shape == (B, S, H):
            continue
        got, expected = f"shape {tuple(value.data.shape)}", f"shape {(B, S, H)}"
        if value.data.shape == (B, S, 3 * H):
            cause = "The lookups were put side by side. They have the same H numbers and are added."
            return Finding("concatenated", cause, case.label, got, expected)
        return Finding("wrong_shape", "The shape is not (B,S,H).", case.label, got, expected)
    return None


def _judge_vectors(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    wrong_shape = _shape(cases, outcomes)
    if wrong_shape:
        return incorrect(question, wrong_shape)
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_embedded,
        kind="a (B,S,H) tensor of floats",
        is_kind=lambda value: (
            isinstance(value, Array) and value.kind == "tensor" and value.dtype in ("float32", "float64")
        ),
        same=_same_vectors,
        mistakes=EMBED_MISTAKES,
        raised=(REFUSES_FITTING, BEYOND),
        show=_show_vectors,
    )


def embed(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_with_refusals(question, cases, outcomes, _judge_vectors)
