"""Tokens, predictions and bytes: three closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    close,
    equal,
    judge_values,
)
from checks.judges.cost_and_limits.numbers import is_real
from checks.protocol import Case, Outcome, Question, Verdict

# --- pretraining_tokens --------------------------------------------------------------------------------------


def _run_mistake(id: str, cause: str, wrong: Callable[[int, int, int], Any]) -> Mistake:
    return Mistake(id, cause, lambda case: wrong(case["batch"], case["length"], case["steps"]))


TOKENS_MISTAKES = (
    _run_mistake(
        "one_step_for_all",
        "These are the tokens of one step. Multiply by `steps`.",
        lambda batch, length, steps: batch * length,
    ),
    _run_mistake(
        "counts_sequences",
        "These are sequences. Each has `length` tokens.",
        lambda batch, length, steps: batch * steps,
    ),
    _run_mistake(
        "batch_missing",
        "One sequence a step was counted. There are `batch` of them.",
        lambda batch, length, steps: length * steps,
    ),
    _run_mistake(
        "counts_predictions",
        "Only the positions that are predicted were counted. The model reads all of them.",
        lambda batch, length, steps: int(0.15 * batch * length * steps),
    ),
    _run_mistake(
        "counts_predictions",
        "Only the positions that are predicted were counted. The model reads all of them.",
        lambda batch, length, steps: round(0.15 * batch * length * steps),
    ),
    _run_mistake(
        "words_for_tokens",
        "Three words to four tokens: these are words. A position holds a token.",
        lambda batch, length, steps: batch * length * steps * 3 // 4,
    ),
    _run_mistake(
        "without_special_tokens",
        "`[CLS]` and `[SEP]` were left out. The model reads all `length` positions.",
        lambda batch, length, steps: batch * (length - 2) * steps,
    ),
    _run_mistake(
        "without_special_tokens",
        "`[CLS]` and `[SEP]` were left out. The model reads all `length` positions.",
        lambda batch, length, steps: batch * (length - 3) * steps,
    ),
    _run_mistake(
        "short_steps_assumed",
        "Nine tenths of the steps were taken at length 128. Here every step has `length` positions.",
        lambda batch, length, steps: batch * (128 * steps * 9 // 10 + length * steps // 10),
    ),
    _run_mistake(
        "sum_for_product",
        "The numbers were added. `batch` sequences of `length` tokens, `steps` times, is a product.",
        lambda batch, length, steps: batch + length + steps,
    ),
    _run_mistake(
        "hard_coded_run",
        "This is right for one run alone. Use the arguments.",
        lambda batch, length, steps: 256 * 512 * 1_000_000,
    ),
)


def pretraining_tokens(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: case["batch"] * case["length"] * case["steps"],
        kind="an int, a number of tokens",
        is_kind=lambda value: type(value) is int,
        same=equal,
        mistakes=TOKENS_MISTAKES,
    )


# --- predicted_fraction --------------------------------------------------------------------------------------


def _budget(
    case: Case, rounding: Callable[[float], int] = round, least: int = 1, cap: float | None = None
) -> float:
    wanted = rounding(case["length"] * case.data.get("probability", 0.15))
    return min(max(least, wanted), case.data.get("cap", 20) if cap is None else cap)


def _fraction(case: Case) -> float:
    return _budget(case) / case["length"]


def _half_up(value: float) -> int:
    return math.floor(value + 0.5)


def _fraction_mistake(id: str, cause: str, wrong: Callable[[Case], float]) -> Mistake:
    def returns(case: Case) -> Any:
        value = wrong(case)
        return value if value != _fraction(case) else NotImplemented

    return Mistake(id, cause, returns)


def _with_default(case: Case, **values: Any) -> Case:
    return Case(case.label, {**case.data, **values})


FRACTION_MISTAKES = (
    _fraction_mistake(
        "no_cap",
        "Nothing is cut at `cap`. With 20 at most, 15 % is 3.9 % at length 512.",
        lambda case: _budget(case, cap=math.inf) / case["length"],
    ),
    _fraction_mistake(
        "not_rounded",
        "The budget is not rounded. It is a whole number of positions.",
        lambda case: _budget(case, lambda value: value) / case["length"],  # type: ignore[arg-type,return-value]
    ),
    _fraction_mistake(
        "probability_for_fraction",
        "This is `probability` itself: rounding, the minimum of 1 and the cap are missing.",
        lambda case: case.data.get("probability", 0.15),
    ),
    _fraction_mistake(
        "no_minimum",
        "A short row may hide nothing here. At least 1 is predicted.",
        lambda case: _budget(case, least=0) / case["length"],
    ),
    _fraction_mistake(
        "rounds_half_up",
        "Exactly a half goes to the even number in Python: `round(4.5)` is 4. You round it up.",
        lambda case: _budget(case, _half_up) / case["length"],
    ),
    _fraction_mistake(
        "without_special_tokens",
        "`length` counts special tokens, as Google's code does. Do not take them off.",
        lambda case: (
            min(
                max(1, round((case["length"] - 2) * case.data.get("probability", 0.15))),
                case.data.get("cap", 20),
            )
            / case["length"]
        ),
    ),
    _fraction_mistake(
        "cuts_off",
        "The budget is cut off to a whole number (`int`, `//`, `floor`). Round it.",
        lambda case: _budget(case, math.floor) / case["length"],
    ),
    _fraction_mistake(
        "rounds_up",
        "The budget is rounded up (`ceil`). Round to the nearest.",
        lambda case: _budget(case, math.ceil) / case["length"],
    ),
    _fraction_mistake(
        "ignores_cap",
        "The cap is 20 whatever `cap` says. Use the argument.",
        lambda case: _fraction(_with_default(case, cap=20)),
    ),
    _fraction_mistake(
        "ignores_probability",
        "The share is 15 % whatever `probability` says. Use the argument.",
        lambda case: _fraction(_with_default(case, probability=0.15)),
    ),
    _fraction_mistake(
        "ignores_cap_and_probability",
        "`probability` and `cap` are not used: 0.15 and 20 are only what they are if nothing is said.",
        lambda case: _fraction(_with_default(case, probability=0.15, cap=20)),
    ),
    _fraction_mistake(
        "returns_the_budget",
        "This is the number of predicted positions. Divide it by `length`.",
        _budget,
    ),
    _fraction_mistake(
        "percent_for_fraction",
        "This is a percentage. A fraction lies between 0 and 1.",
        lambda case: 100 * _fraction(case),
    ),
    _fraction_mistake(
        "minimum_and_maximum_exchanged",
        "`min` and `max` are exchanged: at least 1, at most `cap`.",
        lambda case: (
            max(min(1, round(case["length"] * case.data.get("probability", 0.15))), case.data.get("cap", 20))
            / case["length"]
        ),
    ),
    _fraction_mistake(
        "masked_only",
        "This counts what becomes `[MASK]`. All that is selected is predicted, also what stays or goes random.",
        lambda case: 0.8 * _fraction(case),
    ),
)


def predicted_fraction(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_fraction,
        kind="a number",
        is_kind=is_real,
        same=close(1e-9),
        mistakes=FRACTION_MISTAKES,
    )


# --- training_memory -----------------------------------------------------------------------------------------


def _memory_mistake(id: str, cause: str, wrong: Callable[[int], float]) -> Mistake:
    return Mistake(id, cause, lambda case: wrong(case["parameters"]))


MIXED = "10³ and 2¹⁰ are mixed. A GiB is 2³⁰ bytes, 1024 three times."
MEMORY_MISTAKES = (
    _memory_mistake(
        "gb_for_gib", "This is in GB, 10⁹ bytes. A GiB is 2³⁰ bytes, 7 % more.", lambda n: 16 * n / 10**9
    ),
    _memory_mistake("weights_only", "Only the weights are counted.", lambda n: 4 * n / 2**30),
    _memory_mistake(
        "no_moments",
        "Half of it is missing: Adam's two moments, or two of the four bytes that a number has in fp32.",
        lambda n: 8 * n / 2**30,
    ),
    _memory_mistake(
        "one_moment",
        "One copy is missing. There are four: weights, gradients and Adam's two moments.",
        lambda n: 12 * n / 2**30,
    ),
    _memory_mistake(
        "counts_numbers",
        "These are four numbers a parameter. In fp32 each has 4 bytes.",
        lambda n: 4 * n / 2**20,
    ),
    _memory_mistake(
        "double_precision", "Eight bytes a number is fp64. fp32 has four.", lambda n: 32 * n / 2**30
    ),
    _memory_mistake(
        "bits_for_bytes", "These are bits: 32 a number. A byte has eight.", lambda n: 4 * 32 * n / 2**30
    ),
    _memory_mistake("mib_for_gib", "This is in MiB. Divide by 2³⁰, not by 2²⁰.", lambda n: 16 * n / 2**20),
    _memory_mistake("mb_for_gib", "This is in MB. Divide by 2³⁰.", lambda n: 16 * n / 10**6),
    _memory_mistake("bytes_for_gib", "This is in bytes. Divide by 2³⁰.", lambda n: 16 * n),
    _memory_mistake(
        "mixed_units",
        MIXED,
        lambda n: 16 * n / (10**6 * 1024),
    ),
    _memory_mistake(
        "mixed_units",
        MIXED,
        lambda n: 16 * n / (10**3 * 2**20),
    ),
    *(
        _memory_mistake("rounded", "The value is rounded. Return it as it is; round when you print.", rounded)
        for rounded in (
            lambda n: round(16 * n / 2**30),
            lambda n: round(16 * n / 2**30, 1),
            lambda n: round(16 * n / 2**30, 2),
            lambda n: round(16 * n / 2**30, 3),
            lambda n: 16 * n // 2**30,
        )
    ),
)


def training_memory(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: 16 * case["parameters"] / 2**30,
        kind="a number, in GiB",
        is_kind=is_real,
        same=close(1e-9),
        mistakes=MEMORY_MISTAKES,
    )
