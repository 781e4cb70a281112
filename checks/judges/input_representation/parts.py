"""What the judges of rows and batches share: a dict of three parts, and credit for two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from checks.protocol import Case, Finding, Outcome, Verdict

PARTS = ("input_ids", "token_type_ids", "attention_mask")


def find_wrong_keys(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Finding | None:
    """A dict with other keys than the three is said before any number in it is looked at."""
    for case, outcome in zip(cases, outcomes, strict=True):
        if isinstance(outcome.value, dict) and set(outcome.value) != set(PARTS):
            got = ", ".join(map(str, outcome.value)) or "an empty dict"
            cause = "The dict must have exactly three keys."
            return Finding("wrong_keys", cause, case.label, got[:300], ", ".join(PARTS))
    return None


def with_parts(
    verdict: Verdict,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    expected: Callable[[Case], Any],
    same: Callable[[Any, Any], bool],
    show: Callable[[Any], str],
) -> Verdict:
    """Show the first part that differs instead of the whole dict, and give two thirds where the ids are right
    and one of the other two parts is as well."""
    if not verdict.findings or verdict.findings[0].got == "" or verdict.state != "incorrect":
        return verdict
    values = [outcome.value for outcome in outcomes]
    if not all(isinstance(value, dict) and set(value) == set(PARTS) for value in values):
        return verdict
    pairs = list(zip(values, [expected(case) for case in cases], strict=True))
    right = {part for part in PARTS if all(same(got[part], wanted[part]) for got, wanted in pairs)}
    first = next(
        (
            index
            for index, (got, wanted) in enumerate(pairs)
            if not all(same(got[p], wanted[p]) for p in PARTS)
        ),
        None,
    )
    if first is None:
        return verdict
    got, wanted = pairs[first]
    part = next(part for part in PARTS if not same(got[part], wanted[part]))
    finding = replace(
        verdict.findings[0],
        case=cases[first].label,
        got=f"{part}: {show(got[part])}",
        expected=f"{part}: {show(wanted[part])}",
    )
    changed = any(outcome.changed_input for outcome in outcomes)
    if "input_ids" in right and len(right) == 2 and not changed:
        return replace(verdict, state="partial", score=2 / 3, findings=(finding,))
    return replace(verdict, findings=(finding,))
