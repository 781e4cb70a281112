"""How an answer's evidence travels: what a probe leaves in its cell, and how the judging half reads it.

Evidence is JSON. Whoever reads it holds it to the question that was asked and to the limits of `encoding`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from checks.encoding import (
    MAX_DEPTH,
    MAX_EVIDENCE_BYTES,
    MAX_ITEMS,
    BadEvidence,
    clean_text,
    decode,
    encode,
    read_int,
)
from checks.protocol import Evidence, Outcome, Raised

EVIDENCE_MIME = "application/vnd.insidebert.evidence+json"


def evidence_to_json(question: str, outcomes: list[Any], handed_on: str = "") -> dict[str, Any]:
    """Pack encoded outcomes as the JSON object a probe leaves in its cell."""
    packed = {"question": question, "outcomes": outcomes}
    return packed | {"handed_on": clean_text(handed_on)[:200]} if handed_on else packed


def evidence_from_json(payload: Any, *, question: str, cases: int) -> Evidence:
    """Read what a cell left, holding it to the question that was asked.

    Args:
        payload: the JSON data found in the cell's output, or its text.
        question: the only question this evidence may be for.
        cases: how many outcomes there must be.

    Raises:
        BadEvidence: too large, malformed, for another question, or with another number of outcomes.
    """
    try:
        text = payload if isinstance(payload, str) else json.dumps(payload, allow_nan=False)
        if len(text) > MAX_EVIDENCE_BYTES:
            raise BadEvidence(
                f"The evidence is {len(text):,} characters; {MAX_EVIDENCE_BYTES:,} is the limit."
            )
        data = json.loads(text, parse_int=read_int, parse_constant=_refuse_constant)
        if data["question"] != question:
            raise BadEvidence(f"The evidence is for {str(data['question'])[:60]!r}, not for {question!r}.")
        _hold_to_limits(data)
        if len(data["outcomes"]) != cases:
            raise BadEvidence(f"{len(data['outcomes'])} outcomes for {cases} inputs.")
        outcomes = tuple(_outcome_from_json(item) for item in data["outcomes"])
        return Evidence(question, outcomes, clean_text(str(data.get("handed_on", "")))[:200])
    except BadEvidence:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadEvidence(f"The evidence cannot be read ({type(error).__name__}).") from error


def outcome_to_json(
    value: Any, *, raised: Raised | None = None, changed_input: bool = False
) -> dict[str, Any]:
    """One outcome as JSON data."""
    if raised is not None:
        return {"raised": [raised.error[:100], raised.message[:1000], raised.line[:300]]}
    return {"value": encode(value), "changed_input": changed_input}


def _outcome_from_json(item: Mapping[str, Any]) -> Outcome:
    if "raised" in item:
        error, message, line = (clean_text(str(part)) for part in item["raised"])
        return Outcome(raised=Raised(error[:100], message[:1000], line[:300]))
    return Outcome(value=decode(item["value"]), changed_input=item["changed_input"] is True)


def _hold_to_limits(data: Any) -> None:
    """Raise `BadEvidence` for what is deeper or has more parts than `encode` writes (a tag adds two levels)."""
    waiting, parts = [(data, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        parts += len(inside)
        if depth > 3 * MAX_DEPTH + 4 or parts > 4 * MAX_ITEMS:
            raise BadEvidence("The evidence is nested too deeply or has too many parts.")
        waiting += [(part, depth + 1) for part in inside]


def _refuse_constant(name: str) -> Any:
    raise BadEvidence(f"{name} is not JSON.")
