"""Answers to the assignment `cost_and_limits`: right ones in several styles, and wrong ones written by hand."""

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


def summary_by_hand(scores, majority_rate, tolerance=0.005):
    n = len(scores)
    mean = sum(scores) / n
    near = [s for s in scores if min(abs(s - majority_rate), abs(s + majority_rate - 1)) <= tolerance]
    spread = (sum((s - mean) ** 2 for s in scores) / (n - 1)) ** 0.5
    return {"mean": mean, "std": spread, "best": sorted(scores)[-1], "collapsed": len(near)}


RIGHT = {
    "encoder_flops": [encoder_flops, flops_by_matrix],
    "pretraining_tokens": [pretraining_tokens, tokens_by_prod],
    "predicted_fraction": [predicted_fraction, fraction_by_branches],
    "training_memory": [training_memory, memory_by_parts],
    "summarise_runs": [summarise_runs, summary_by_numpy, summary_by_hand],
}


# --- wrong answers ----------------------------------------------------------------------------------------


def three_projections(length, hidden, intermediate, layers):
    linear = layers * length * (6 * hidden**2 + 4 * hidden * intermediate)
    return linear, layers * 4 * length**2 * hidden


def sorting(scores, majority_rate, tolerance=0.005):
    scores.sort()
    return summarise_runs(scores, majority_rate, tolerance)


def summary_over_a_set(scores, majority_rate, tolerance=0.005):
    return summarise_runs(list(set(scores)), majority_rate, tolerance)


def spread_by_numpy(scores, majority_rate, tolerance=0.005):
    return summarise_runs(scores, majority_rate, tolerance) | {"std": np.std(scores)}


def spread_in_two_digits(scores, majority_rate, tolerance=0.005):
    result = summarise_runs(scores, majority_rate, tolerance)
    return result | {"std": round(result["std"], 2)}


def runs(**parts):
    """A summary that is right but for some parts."""
    return lambda *arguments: summarise_runs(*arguments) | parts


MUTANTS = {
    "encoder_flops": [
        ("three_projections", three_projections),
        ("wrong_type", lambda length, hidden, intermediate, layers: length * hidden),
        ("unexpected_value", lambda length, hidden, intermediate, layers: (length, layers)),
    ],
    "pretraining_tokens": [
        ("one_step_for_all", lambda batch, length, steps: batch * length),
        ("wrong_type", lambda batch, length, steps: float(batch * length * steps)),
        ("unexpected_value", lambda batch, length, steps: batch * length * (steps + 1)),
    ],
    "predicted_fraction": [
        ("no_cap", lambda length, probability=0.15, cap=20: max(1, round(length * probability)) / length),
        ("wrong_type", lambda length, *options: (predicted_fraction(length, *options), length)),
        ("unexpected_value", lambda length, probability=0.15, cap=20: 1 / length),
        ("rounded", lambda length, *options: round(predicted_fraction(length, *options), 3)),
    ],
    "training_memory": [
        ("gb_for_gib", lambda parameters: 16 * parameters / 1e9),
        ("rounded", lambda parameters: round(16 * parameters / 2**30, 2)),
        ("wrong_type", lambda parameters: f"{16 * parameters / 2**30:.2f} GiB"),
        ("unexpected_value", lambda parameters: 20 * parameters / 2**30),
    ],
    "summarise_runs": [
        ("population_std", spread_by_numpy),
        ("rounded", spread_in_two_digits),
        ("equal_scores_counted_once", summary_over_a_set),
        ("changes_its_input", sorting),
        ("extra_keys", runs(worst=0.0)),
        ("missing_keys", lambda *arguments: {"mean": summarise_runs(*arguments)["mean"]}),
        ("wrong_type", lambda *arguments: tuple(summarise_runs(*arguments).values())),
        ("wrong_type", runs(collapsed="none")),
        ("wrong_type", runs(collapsed=True)),
        ("unexpected_value", runs(std=0.01)),
    ],
}
