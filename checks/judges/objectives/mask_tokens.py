"""What is right about `mask_tokens`: rules that hold in every draw first, then what chance allows.

A right answer faces fewer than 40 comparisons (counted in tests/test_statistics_objectives.py), each wrong about it
with probability 1e-8 at most.

B batch · S sequence · R calls
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checks.encoding import Array
from checks.judges.objectives.mask_draws import Draws
from checks.judges.objectives.mask_fates import shape_of_corruption, shares_of_fates
from checks.judges.objectives.mask_random_ids import avoids_the_original, from_the_batch, odd_random_ids
from checks.judges.objectives.mask_rules import labels_rule, special_rule, vocabulary_rule
from checks.judges.objectives.mask_selection import (
    always_one,
    neighbours,
    other_default,
    shape_of_selection,
    share_selected,
    source_of_randomness,
)
from checks.judges.showing import describe_type
from checks.judges.values import RuleJudge, correct, incorrect
from checks.protocol import Case, Finding, Outcome, Verdict
from checks.questions.objectives.mask_tokens import draw_batch


def _judge(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
    for case, outcome in zip(cases, outcomes, strict=True):
        if not _has_draws(case, outcome.value):
            return incorrect(_form(case, outcome.value))
    finding = find_mistake(
        [
            Draws(case, *draw_batch(case), outcome.value["masked"].data, outcome.value["labels"].data)
            for case, outcome in zip(cases, outcomes, strict=True)
        ]
    )
    return incorrect(finding) if finding else correct()


def find_mistake(draws: Sequence[Draws]) -> Finding | None:
    """The first thing that is wrong, or None. Each draw's own rules come before what holds on average."""
    for rule in (labels_rule, special_rule, vocabulary_rule):
        for draw in draws:
            if finding := rule(draw):
                return finding
    small, few, published, tiny, short, default, explicit = draws
    large = [small, few, published]
    return (
        source_of_randomness(small, large)
        or shape_of_selection(small)
        or shape_of_corruption(small)
        or from_the_batch(few)
        or shares_of_fates(large, tiny)
        or share_selected(large)
        or neighbours(large)
        or always_one(short)
        or odd_random_ids(few)
        or avoids_the_original(tiny)
        or other_default(default, explicit)
    )


def _has_draws(case: Case, value: Any) -> bool:
    """Whether it is what the probe makes of pairs of ids."""
    shape = (sum(plan["each"] for plan in case["calls"]), case["B"], case["S"])
    return (
        isinstance(value, dict)
        and value.keys() == {"masked", "labels"}
        and all(
            isinstance(part, Array) and part.data.shape == shape and part.data.dtype.kind == "i"
            for part in value.values()
        )
    )


def _form(case: Case, value: Any) -> Finding:
    """What is not a pair of long tensors of the right shape: the pair, or which of the two."""
    wanted = f"a long tensor of shape ({case['B']}, {case['S']})"
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        got = describe_type(value)
        if isinstance(value, (tuple, list)):
            got = f"{len(value)} values: " + ", ".join(describe_type(part)[:60] for part in value[:3])
        cause = "Return two tensors, `masked_ids` and `labels`."
        return Finding("wrong_type", cause, case.label, got, f"a pair, each {wanted}")
    for name, part in zip(("masked_ids", "labels"), value, strict=True):
        is_tensor = isinstance(part, Array) and part.kind == "tensor" and part.dtype == "int64"
        if not (is_tensor and part.data.shape == (case["B"], case["S"])):
            cause = f"`{name}` must be {wanted}, like `input_ids`."
            return Finding("wrong_type", cause, case.label, f"{name}: {describe_type(part)}", wanted)
    return Finding("wrong_type", "Return a pair of tensors.", case.label, describe_type(value)[:120], wanted)


JUDGE = RuleJudge(_judge)
