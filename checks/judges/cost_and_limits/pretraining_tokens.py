"""Tokens that a run of pre-training reads: a product of three."""

from __future__ import annotations

from checks.judges.kinds import INT
from checks.judges.values import Mistake, ValueJudge

MISTAKES = (
    Mistake(
        "one_step_for_all",
        "These are the tokens of one step. Multiply by `steps`.",
        lambda batch, length: batch * length,
    ),
    Mistake(
        "counts_sequences",
        "These are sequences. Each has `length` tokens.",
        lambda batch, steps: batch * steps,
    ),
    Mistake(
        "batch_missing",
        "One sequence a step was counted. There are `batch` of them.",
        lambda length, steps: length * steps,
    ),
    Mistake(
        "counts_predictions",
        "Only the positions that are predicted were counted. The model reads all of them.",
        lambda batch, length, steps: int(0.15 * batch * length * steps),
        lambda batch, length, steps: round(0.15 * batch * length * steps),
        lambda batch, length, steps: batch * length * steps * 15 // 100,
    ),
    Mistake(
        "words_for_tokens",
        "Three words to four tokens: these are words. A position holds a token.",
        lambda batch, length, steps: batch * length * steps * 3 // 4,
    ),
    Mistake(
        "without_special_tokens",
        "`[CLS]` and `[SEP]` were left out. The model reads all `length` positions.",
        lambda batch, length, steps: batch * (length - 2) * steps,
        lambda batch, length, steps: batch * (length - 3) * steps,
    ),
    Mistake(
        "short_steps_assumed",
        "Nine tenths of the steps were taken at length 128. Here every step has `length` positions.",
        lambda batch, length, steps: batch * (128 * steps * 9 // 10 + length * steps // 10),
    ),
    Mistake(
        "sum_for_product",
        "The numbers were added. `batch` sequences of `length` tokens, `steps` times, is a product.",
        lambda batch, length, steps: batch + length + steps,
    ),
    Mistake(
        "hard_coded_run",
        "This is right for one run alone. Use the arguments.",
        lambda: 256 * 512 * 1_000_000,
        lambda batch, steps: batch * 512 * steps,
    ),
)

JUDGE = ValueJudge(INT, lambda batch, length, steps: batch * length * steps, MISTAKES)
