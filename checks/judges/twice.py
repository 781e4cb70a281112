"""Whether an answer gives the same for the same: nothing kept between two calls, nothing drawn by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checks.judges.kinds import Kind
from checks.protocol import Case, Finding

CAUSE = (
    "The same input gave two different answers. Is something kept between calls (a list as a default value, "
    "a global), or drawn at random?"
)


def find_two_answers(kind: Kind, cases: Sequence[Case], values: Sequence[Any]) -> Finding | None:
    """What to say of an answer that was asked the same twice (`Case.again`) and answered in two ways."""
    for later, case in enumerate(cases):
        first = next(i for i, earlier in enumerate(cases) if earlier.data == case.data)
        before, now = values[first], values[later]
        if first == later or kind.find_problem(before, before):
            continue
        if problem := kind.find_problem(now, before):
            return Finding("two_answers", CAUSE, case.label, problem.got, f"{problem.expected}, as before")
        if not kind.same(now, before):
            got, expected = kind.difference(now, before)
            return Finding("two_answers", CAUSE, case.label, got, f"{expected}, as before")
    return None
