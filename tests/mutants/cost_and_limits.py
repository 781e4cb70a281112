"""Answers to the assignment `cost_and_limits`: right ones in two styles, and wrong ones people give."""

from __future__ import annotations

import math
import statistics

import numpy as np

# --- right answers ----------------------------------------------------------------------------------------


def encoder_flops(length, hidden, intermediate, layers):
    linear = layers * length * (8 * hidden**2 + 4 * hidden * intermediate)
    return linear, layers * 4 * length**2 * hidden


def flops_by_matrix(length, hidden, intermediate, layers):
    def product(rows, inner, columns):
        return 2.0 * rows * inner * columns

    projections = [(hidden, hidden)] * 4 + [(hidden, intermediate), (intermediate, hidden)]
    linear = sum(product(length, n, m) for _ in range(layers) for n, m in projections)
    attention = product(length, hidden, length) + product(length, length, hidden)
    return [linear, layers * attention]


def pretraining_tokens(batch, length, steps):
    return batch * length * steps


def tokens_by_prod(batch, length, steps):
    return math.prod([batch, length, steps])


def predicted_fraction(length, probability=0.15, cap=20):
    return min(cap, max(1, round(length * probability))) / length


def fraction_by_branches(length, probability=0.15, cap=20):
    budget = round(probability * length)
    if budget < 1:
        budget = 1
    elif budget > cap:
        budget = cap
    return float(np.float64(budget) / length)


def training_memory(parameters):
    return parameters * 16 / 2**30


def memory_by_parts(parameters):
    weights = gradients = first_moment = second_moment = 4 * parameters
    return (weights + gradients + first_moment + second_moment) / 1024 / 1024 / 1024


def summarise_runs(scores, majority_rate, tolerance=0.005):
    collapsed = [
        abs(score - majority_rate) <= tolerance or abs(score - (1 - majority_rate)) <= tolerance
        for score in scores
    ]
    return {
        "mean": statistics.fmean(scores),
        "std": statistics.stdev(scores),
        "best": max(scores),
        "collapsed": sum(collapsed),
    }


def summary_by_numpy(scores, majority_rate, tolerance=0.005):
    scores = np.asarray(scores)
    rates = np.array([majority_rate, 1 - majority_rate])
    near = np.abs(scores[:, None] - rates) <= tolerance
    return {
        "collapsed": near.any(1).sum(),
        "best": scores.max(),
        "std": scores.std(ddof=1),
        "mean": scores.mean(),
    }


RIGHT = {
    "encoder_flops": [encoder_flops, flops_by_matrix],
    "pretraining_tokens": [pretraining_tokens, tokens_by_prod],
    "predicted_fraction": [predicted_fraction, fraction_by_branches],
    "training_memory": [training_memory, memory_by_parts],
    "summarise_runs": [summarise_runs, summary_by_numpy],
}


# --- wrong answers ----------------------------------------------------------------------------------------


def flops(*, linear=None, attention=None, pair=None):
    """FLOPs that are right but for one part: linear(S, H, I, L), attention(S, H, L), pair(linear, attention)."""

    def answer(length, hidden, intermediate, layers):
        one, two = encoder_flops(length, hidden, intermediate, layers)
        if linear:
            one = linear(length, hidden, intermediate, layers)
        if attention:
            two = attention(length, hidden, layers)
        return pair(one, two) if pair else (one, two)

    return answer


def one_layer(length, hidden, intermediate, layers):
    return encoder_flops(length, hidden, intermediate, 1)


def projections_in_attention(length, hidden, intermediate, layers):
    linear, attention = encoder_flops(length, hidden, intermediate, layers)
    projections = layers * 8 * length * hidden**2
    return linear - projections, attention + projections


FLOPS = [
    ("multiply_adds_counted_once", flops(pair=lambda one, two: (one // 2, two // 2))),
    ("linear_multiply_adds_counted_once", flops(pair=lambda one, two: (one // 2, two))),
    ("three_projections", flops(linear=lambda S, H, i, L: 2 * L * S * (3 * H * H + 2 * H * i))),
    ("one_projection", flops(linear=lambda S, H, i, L: 2 * L * S * (H * H + 2 * H * i))),
    ("one_feed_forward_matrix", flops(linear=lambda S, H, i, L: 2 * L * S * (4 * H * H + H * i))),
    ("feed_forward_missing", flops(linear=lambda S, H, i, L: 8 * L * S * H * H)),
    ("attention_projections_missing", flops(linear=lambda S, H, i, L: 4 * L * S * H * i)),
    ("assumes_four_times_hidden", flops(linear=lambda S, H, i, L: 24 * L * S * H * H)),
    (
        "counts_biases",
        flops(linear=lambda S, H, i, L: L * S * (8 * H * H + 4 * H * i + 4 * H + i + H)),
    ),
    ("linear_without_length", flops(linear=lambda S, H, i, L: L * (8 * H * H + 4 * H * i))),
    ("projections_in_attention", projections_in_attention),
    ("attention_counted_once", flops(attention=lambda S, H, L: 2 * L * S * S * H)),
    ("attention_multiply_adds_counted_once", flops(attention=lambda S, H, L: L * S * S * H)),
    ("attention_without_hidden", flops(attention=lambda S, H, L: 4 * L * S * S)),
    ("attention_linear_in_length", flops(attention=lambda S, H, L: 4 * L * S * H)),
    ("hidden_squared_in_attention", flops(attention=lambda S, H, L: 4 * L * S * H * H)),
    ("causal_attention", flops(attention=lambda S, H, L: 4 * L * H * (S * (S + 1) // 2))),
    ("counts_softmax", flops(attention=lambda S, H, L: L * (4 * S * S * H + S * S))),
    ("one_layer_for_all", one_layer),
    ("forward_and_backward", flops(pair=lambda one, two: (3 * one, 3 * two))),
    ("pair_swapped", flops(pair=lambda one, two: (two, one))),
    ("total_for_linear", flops(pair=lambda one, two: (one + two, two))),
    ("wrong_type", flops(pair=lambda one, two: one + two)),
    ("unexpected_value", flops(pair=lambda one, two: (one + 1, two))),
]

TOKENS = [
    ("one_step_for_all", lambda batch, length, steps: batch * length),
    ("counts_sequences", lambda batch, length, steps: batch * steps),
    ("batch_missing", lambda batch, length, steps: length * steps),
    ("counts_predictions", lambda batch, length, steps: int(batch * length * steps * 0.15)),
    ("counts_predictions", lambda batch, length, steps: round(0.15 * batch * length * steps)),
    ("words_for_tokens", lambda batch, length, steps: int(0.75 * batch * length * steps)),
    ("without_special_tokens", lambda batch, length, steps: batch * (length - 2) * steps),
    ("without_special_tokens", lambda batch, length, steps: batch * (length - 3) * steps),
    (
        "short_steps_assumed",
        lambda batch, length, steps: batch * (128 * steps * 9 // 10 + length * steps // 10),
    ),
    ("sum_for_product", lambda batch, length, steps: batch + length + steps),
    ("hard_coded_run", lambda batch, length, steps: 131_072_000_000),
    ("wrong_type", lambda batch, length, steps: float(batch * length * steps)),
    ("unexpected_value", lambda batch, length, steps: batch * length * (steps + 1)),
]


def fraction(round=round, least=1, most=None, share=None, taken=0):
    def answer(length, probability=0.15, cap=20):
        wanted = round((length - taken) * (share or probability))
        return min(most or cap, max(least, wanted)) / length

    return answer


FRACTIONS = [
    ("no_cap", fraction(most=math.inf)),
    ("no_cap", lambda length, probability=0.15, cap=20: max(1, round(length * probability)) / length),
    ("probability_for_fraction", lambda length, probability=0.15, cap=20: probability),
    ("no_minimum", fraction(least=0)),
    ("rounds_half_up", fraction(round=lambda x: int(x + 0.5))),
    ("cuts_off", fraction(round=int)),
    ("rounds_up", fraction(round=math.ceil)),
    ("not_rounded", fraction(round=float)),
    ("ignores_cap", fraction(most=20)),
    ("ignores_probability", fraction(share=0.15)),
    ("ignores_cap_and_probability", fraction(most=20, share=0.15)),
    ("returns_the_budget", lambda length, *options: round(length * predicted_fraction(length, *options))),
    ("percent_for_fraction", lambda length, *options: 100 * predicted_fraction(length, *options)),
    ("without_special_tokens", fraction(taken=2)),
    (
        "minimum_and_maximum_exchanged",
        lambda length, probability=0.15, cap=20: max(cap, min(1, round(length * probability))) / length,
    ),
    ("masked_only", lambda length, *options: 0.8 * predicted_fraction(length, *options)),
    ("wrong_type", lambda length, *options: (predicted_fraction(length, *options), length)),
    ("unexpected_value", lambda length, probability=0.15, cap=20: 1 / length),
]

MEMORY = [
    ("gb_for_gib", lambda parameters: 16 * parameters / 1e9),
    ("weights_only", lambda parameters: 4 * parameters / 2**30),
    ("no_moments", lambda parameters: 8 * parameters / 2**30),
    ("one_moment", lambda parameters: 12 * parameters / 2**30),
    ("counts_numbers", lambda parameters: 4 * parameters / 2**20),
    ("no_moments", lambda parameters: 4 * 2 * parameters / 2**30),
    ("double_precision", lambda parameters: 8 * 4 * parameters / 2**30),
    ("bits_for_bytes", lambda parameters: 32 * 4 * parameters / 2**30),
    ("mib_for_gib", lambda parameters: 16 * parameters / 2**20),
    ("mb_for_gib", lambda parameters: 16 * parameters / 1e6),
    ("bytes_for_gib", lambda parameters: 16 * parameters),
    ("mixed_units", lambda parameters: 16 * parameters / 1000 / 1000 / 1024),
    ("mixed_units", lambda parameters: 16 * parameters / 1000 / 1024 / 1024),
    ("rounded", lambda parameters: round(16 * parameters / 2**30, 2)),
    ("rounded", lambda parameters: 16 * parameters // 2**30),
    ("wrong_type", lambda parameters: f"{16 * parameters / 2**30:.2f} GiB"),
    ("unexpected_value", lambda parameters: 20 * parameters / 2**30),
]


def runs(rates=None, *, whole=None, tolerance=None, **parts):
    """A summary that is right but for some parts: part(scores, majority_rate), rates(majority_rate)."""

    def answer(scores, majority_rate, tolerance=0.005):
        result = summarise_runs(scores, majority_rate, fixed if fixed is not None else tolerance)
        for part, value in parts.items():
            result[part] = value(scores, majority_rate)
        if rates:
            result["collapsed"] = sum(
                abs(score - rate) <= tolerance for score in scores for rate in rates(majority_rate)
            )
        return whole(result, scores, majority_rate, tolerance) if whole else result

    fixed = tolerance
    return answer


def survivors(scores, majority_rate, tolerance):
    return [s for s in scores if min(abs(s - majority_rate), abs(s - 1 + majority_rate)) > tolerance]


def leave_out_collapsed(result, scores, majority_rate, tolerance):
    kept = survivors(scores, majority_rate, tolerance)
    return result | {"mean": statistics.fmean(kept), "std": statistics.stdev(kept), "best": max(kept)}


def in_percent(result, *_):
    return {key: value if key == "collapsed" else 100 * value for key, value in result.items()}


def rounded(result, *_):
    return {key: round(value, 3) for key, value in result.items()}


def sorting(scores, majority_rate, tolerance=0.005):
    scores.sort()
    return summarise_runs(scores, majority_rate, tolerance)


RUNS = [
    ("population_std", runs(std=lambda scores, rate: np.std(scores))),
    ("variance_for_std", runs(std=lambda scores, rate: statistics.variance(scores))),
    ("variance_for_std", runs(std=lambda scores, rate: np.var(scores))),
    ("standard_error_for_std", runs(std=lambda scores, rate: statistics.stdev(scores) / len(scores) ** 0.5)),
    ("range_for_std", runs(std=lambda scores, rate: max(scores) - min(scores))),
    ("median_for_mean", runs(mean=lambda scores, rate: statistics.median(scores))),
    ("worst_for_best", runs(best=lambda scores, rate: min(scores))),
    ("last_for_best", runs(best=lambda scores, rate: scores[-1])),
    ("index_for_best", runs(best=lambda scores, rate: int(np.argmax(scores)))),
    ("minority_missed", runs(lambda rate: [rate])),
    ("counted_twice", runs(lambda rate: [rate, 1 - rate])),
    ("ignores_tolerance", runs(tolerance=0.005)),
    ("exact_comparison", runs(tolerance=0.0)),
    ("everything_low_collapsed", runs(collapsed=lambda scores, rate: sum(s <= rate for s in scores))),
    ("chance_for_majority", runs(lambda rate: [0.5])),
    (
        "share_for_count",
        runs(whole=lambda result, scores, *_: result | {"collapsed": result["collapsed"] / len(scores)}),
    ),
    ("yes_for_count", runs(whole=lambda result, *_: result | {"collapsed": result["collapsed"] > 0})),
    (
        "counts_survivors",
        runs(whole=lambda result, *case: result | {"collapsed": len(survivors(*case))}),
    ),
    ("collapsed_runs_left_out", runs(whole=leave_out_collapsed)),
    ("percent_for_scores", runs(whole=in_percent)),
    ("best_run_for_all", runs(mean=lambda scores, rate: max(scores), std=lambda scores, rate: 0.0)),
    ("rounded", runs(whole=rounded)),
    ("changes_its_input", sorting),
    ("wrong_keys", runs(whole=lambda result, *_: result | {"worst": 0.0})),
    ("wrong_keys", runs(whole=lambda result, *_: {"mean": result["mean"], "std": result["std"]})),
    ("wrong_type", runs(whole=lambda result, *_: tuple(result.values()))),
    ("wrong_type", runs(collapsed=lambda scores, rate: "none")),
    ("unexpected_value", runs(std=lambda scores, rate: 0.01)),
]


MUTANTS = {
    "encoder_flops": FLOPS,
    "pretraining_tokens": TOKENS,
    "predicted_fraction": FRACTIONS,
    "training_memory": MEMORY,
    "summarise_runs": RUNS,
}
