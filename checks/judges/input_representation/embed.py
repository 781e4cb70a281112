"""`embed`: what is left out of the sum or misplaced in it, and other norms."""

from __future__ import annotations

import numpy as np

from checks.judges.input_representation.vectors import (
    lookups,
    norm,
    normalised,
    placed,
    restarting,
    sinusoids,
    summed,
    total,
)
from checks.judges.tensors import tensor
from checks.judges.values import Mistake, RaisedMistake, ValueJudge
from checks.questions.input_representation.embed import tables

TINY = 1e-12
MISTAKES = (
    Mistake(
        "layer_norm_missing",
        "The sum is right and not normalised. Put it through `layer_norm` before you return it.",
        lambda batch: total(batch),
    ),
    Mistake(
        "layer_norm_without_weights",
        "The norm's own weight and bias were left out. Call the module `layer_norm`, it applies them.",
        *(norm(plain=True, eps=eps) for eps in (None, 1e-5, TINY)),
        *(norm(plain=True, eps=eps, ddof=1, outside=True) for eps in (None, 1e-5, TINY)),
    ),
    Mistake(
        "own_eps",
        "The norm was computed with another eps. Call the module `layer_norm`, or use its `eps`.",
        norm(eps=TINY),
        norm(eps=1e-5),
    ),
    Mistake(
        "eps_outside_the_root",
        "eps was added to the standard deviation. LayerNorm adds it to the variance, under the root.",
        norm(outside=True),
    ),
    Mistake(
        "sample_variance",
        "The variance was divided by H − 1. LayerNorm divides by H (`unbiased=False`).",
        *(norm(ddof=1, outside=outside, eps=eps) for outside in (False, True) for eps in (None, 1e-5, TINY)),
    ),
    Mistake(
        "normalises_over_positions",
        "The norm went over the positions. Each position is normalised by itself, over its H numbers.",
        norm(axis=1),
    ),
    Mistake(
        "normalises_each_lookup",
        "Each lookup was normalised before the sum. Sum first, then normalise once.",
        lambda batch: sum(normalised(batch, part) for part in lookups(batch)),
    ),
    Mistake(
        "norm_before_segment",
        "Something was added after the norm. Sum all three, then normalise.",
        lambda batch: normalised(batch, total(batch) - lookups(batch)[2]) + lookups(batch)[2],
    ),
    Mistake(
        "normalises_twice",
        "The norm was applied twice. Once, behind the sum, is enough.",
        lambda batch: normalised(batch, normalised(batch, total(batch))),
    ),
    Mistake("word_missing", "The word lookup is missing from the sum.", summed(lambda w, p, s: p + s)),
    Mistake(
        "position_missing",
        "The position lookup is missing: without it a row is a bag of words.",
        summed(lambda w, p, s: w + s),
    ),
    Mistake("segment_missing", "The segment lookup is missing from the sum.", summed(lambda w, p, s: w + p)),
    Mistake(
        "segment_always_zero",
        "Every position got the vector of segment 0. Look `token_type_ids` up.",
        lambda batch: normalised(batch, total(batch) - lookups(batch)[2] + tables(batch)["segment"][0]),
    ),
    Mistake(
        "positions_from_one",
        "Positions were counted from 1. The first position is row 0 of the table: `torch.arange(S)`.",
        placed(lambda ids, types, P: np.arange(1, ids.shape[1] + 1) % P),
        placed(lambda ids, types, P: np.arange(1, ids.shape[1] + 1).clip(max=P - 1)),
    ),
    Mistake(
        "positions_reversed",
        "Positions were counted from the end. The first position is row 0 of the table.",
        placed(lambda ids, types, P: np.arange(ids.shape[1])[::-1]),
    ),
    Mistake(
        "positions_restart_in_segment",
        "Positions start again in the second segment. They run through the whole row.",
        placed(restarting),
    ),
    Mistake(
        "one_position_for_all",
        "Every position got row 0 of the position table. Position s is row s.",
        placed(lambda ids, types, P: 0),
    ),
    Mistake(
        "position_of_the_row",
        "The position was counted along the batch. It is the place inside the row: `torch.arange(S)`.",
        placed(lambda ids, types, P: np.arange(len(ids))[:, None] % P),
    ),
    Mistake(
        "ids_for_positions",
        "The position table was asked for the ids of the words. Position s is row s: `torch.arange(S)`.",
        placed(lambda ids, types, P: ids % P),
    ),
    Mistake(
        "sinusoids_for_positions",
        "These are the sinusoids of the first Transformer. BERT learns a position table: look `position` up.",
        summed(sinusoids),
    ),
    Mistake(
        "scaled_by_root_of_hidden",
        "The word vectors were multiplied by √H, as in the first Transformer. BERT adds them as they are.",
        summed(lambda w, p, s: w * w.shape[-1] ** 0.5 + p + s),
    ),
    Mistake(
        "multiplied_for_summed",
        "The lookups were multiplied. They are summed.",
        summed(lambda w, p, s: w * p * s),
    ),
    Mistake(
        "mean_for_sum",
        "The lookups were averaged. They are summed; under the norm the difference is small, not zero.",
        summed(lambda w, p, s: (w + p + s) / 3),
    ),
    Mistake(
        "concatenated",
        "The lookups were put side by side. They have the same H numbers and are added.",
        lambda batch: np.concatenate(lookups(batch), -1),
    ),
)

RAISED = (
    RaisedMistake(
        "refuses_a_row_that_fits",
        "This row has a vector for each position. Refuse a row only when it is longer than the position table.",
        lambda error, message: error == "ValueError" and "unpack" not in message,
    ),
    RaisedMistake(
        "looks_up_beyond_a_table",
        "A number was looked up in a table that has no such row. Do positions start at 0? Does each table get its ids?",
        lambda error, message: error == "IndexError" and "out of range" in message,
    ),
)

# float64 inside, 1e-6: float32 intermediates pass, another eps (1e-5 for 1e-3) does not.
JUDGE = ValueJudge(
    tensor("float", relative=1e-6, absolute=1e-6),
    lambda batch: normalised(batch, total(batch)),
    MISTAKES,
    RAISED,
)
