"""`best_span`: every pair of positions is looked at, and the first of the best is the answer. S positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checks.judges.comparing import Mistake, RaisedMistake, judge_values, judge_with_refusals
from checks.protocol import Case, Outcome, Question, Verdict

DEFAULT_LENGTH = 30
Pair = tuple[int, int]


def _limit(case: Case) -> int:
    return int(case.data.get("max_length", DEFAULT_LENGTH))


def _search(
    case: Case,
    *,
    longest: int | None = None,
    shortest: int = 1,
    inside: str = "both",
    score: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.add,
    tie: Callable[[Pair], Any] = lambda pair: pair,
) -> Any:
    """The best pair under changed rules; NotImplemented where they leave none.

    longest, shortest: how many tokens an answer may have; 0 or less reaches back before its start.
    inside: which ends must lie in the context: "both", "start", "end" or "none".
    tie: the pair with the smallest value is the first.
    """
    start, end = np.array(case["start"])[:, None], np.array(case["end"])[None, :]
    context, S = np.array(case["context"]), len(case["context"])
    tokens = np.arange(S)[None, :] - np.arange(S)[:, None] + 1
    allowed = (tokens >= shortest) & (tokens <= (_limit(case) if longest is None else longest))
    if inside in ("both", "start"):
        allowed &= context[:, None]
    if inside in ("both", "end"):
        allowed &= context[None, :]
    if not allowed.any():
        return NotImplemented
    scores = np.where(allowed, score(start, end), -np.inf)
    best = [(int(i), int(j)) for i, j in np.argwhere(scores == scores.max())]
    return min(best, key=tie)


def _apart(case: Case, *, inside: bool = True) -> Any:
    """The best start and the best end, each for itself."""
    context = np.array(case["context"]) | (not inside)
    if not context.any():
        return NotImplemented
    i, j = (int(np.where(context, case[name], -np.inf).argmax()) for name in ("start", "end"))
    return i, j


def _one_end_first(case: Case, first: str) -> Any:
    """The best start (or end) in the context, then the best partner for it."""
    context, S, limit = np.array(case["context"]), len(case["context"]), _limit(case)
    if not context.any():
        return NotImplemented
    anchor = int(np.where(context, case[first], -np.inf).argmax())
    positions = np.arange(S)
    tokens = (positions - anchor if first == "start" else anchor - positions) + 1
    allowed = context & (tokens >= 1) & (tokens <= limit)
    other = int(np.where(allowed, case["end" if first == "start" else "start"], -np.inf).argmax())
    return (anchor, other) if first == "start" else (other, anchor)


def _apart_then_swapped(case: Case) -> Any:
    pair = _apart(case)
    return NotImplemented if pair is NotImplemented else tuple(sorted(pair))


def _changed(change: Callable[[Case, int, int], Any]) -> Callable[[Case], Any]:
    def returns(case: Case) -> Any:
        pair = _search(case)
        return NotImplemented if pair is NotImplemented else change(case, *pair)

    return returns


def _from_zero(case: Case) -> Any:
    """A best score that begins at 0 is never beaten by answers below it."""
    pair = _search(case)
    if pair is NotImplemented or case["start"][pair[0]] + case["end"][pair[1]] > 0:
        return pair
    return 0, 0


EVERYWHERE = 10**6
TIE = "Of several answers with the same score the first one counts: the smallest i, then the smallest j."
MISTAKES = (
    Mistake(
        "end_exclusive",
        "The end lies one behind the answer. Both i and j are inclusive.",
        _changed(lambda c, i, j: (i, j + 1)),
    ),
    Mistake(
        "relative_to_context",
        "The positions are counted from the start of the context. They are positions of the whole row.",
        _changed(lambda case, i, j: (i - case["context"].index(True), j - case["context"].index(True))),
    ),
    Mistake(
        "start_and_length",
        "The second number is the length. It is the answer's last position.",
        _changed(lambda c, i, j: (i, j - i + 1)),
    ),
    Mistake(
        "end_first",
        "The end comes first. The pair is (i, j), start then end.",
        _changed(lambda c, i, j: (j, i)),
    ),
    Mistake(
        "best_score_begins_at_0",
        "All scores are below 0, and none was taken. Let the best score begin at −∞.",
        _from_zero,
    ),
    Mistake(
        "only_start_in_context",
        "The end lies outside the context. Both ends must be inside.",
        lambda case: _search(case, inside="start"),
    ),
    Mistake(
        "only_end_in_context",
        "The start lies outside the context. Both ends must be inside.",
        lambda case: _search(case, inside="end"),
    ),
    Mistake(
        "context_ignored",
        "The answer lies outside the context: question and padding score too. Both ends must be inside.",
        lambda case: _search(case, inside="none"),
    ),
    Mistake(
        "max_length_off_by_one",
        "An answer from i to j has j − i + 1 tokens. Yours may be one longer than `max_length`.",
        lambda case: _search(case, longest=_limit(case) + 1),
    ),
    Mistake(
        "max_length_off_by_one",
        "An answer from i to j has j − i + 1 tokens. One of exactly `max_length` tokens is allowed.",
        lambda case: _search(case, longest=_limit(case) - 1),
    ),
    Mistake(
        "max_length_hard_coded",
        "A limit of 30 tokens is written into the answer. Compare with `max_length`.",
        lambda case: _search(case, longest=DEFAULT_LENGTH),
    ),
    Mistake(
        "max_length_ignored",
        "The answer is longer than `max_length` tokens, counting both ends.",
        lambda case: _search(case, longest=EVERYWHERE),
    ),
    Mistake(
        "start_after_end",
        "The answer ends before it starts. Only pairs with i ≤ j are answers.",
        lambda case: _search(case, shortest=-EVERYWHERE),
    ),
    Mistake(
        "start_after_end",
        "The answer ends before it starts. Only pairs with i ≤ j are answers.",
        lambda case: _search(case, shortest=2 - _limit(case)),
    ),
    Mistake(
        "taken_apart",
        "The best start and the best end were taken apart. Only pairs with i ≤ j within `max_length` compete.",
        _apart,
    ),
    Mistake(
        "taken_apart",
        "The best start and the best end of the whole row were taken apart. Compare pairs that are allowed.",
        lambda case: _apart(case, inside=False),
    ),
    Mistake(
        "start_and_end_exchanged",
        "The best start and the best end were exchanged where they cross. Such a pair was never scored: compare pairs.",
        _apart_then_swapped,
    ),
    Mistake(
        "best_start_first",
        "The best start was fixed before the ends were looked at. Another start may have the better sum.",
        lambda case: _one_end_first(case, "start"),
    ),
    Mistake(
        "best_end_first",
        "The best end was fixed before the starts were looked at. Another end may have the better sum.",
        lambda case: _one_end_first(case, "end"),
    ),
    Mistake(
        "single_tokens_refused",
        "An answer of one token, i = j, is an answer.",
        lambda case: _search(case, shortest=2),
    ),
    Mistake("last_on_a_tie", TIE, lambda case: _search(case, tie=lambda pair: (-pair[0], -pair[1]))),
    Mistake("shortest_on_a_tie", TIE, lambda case: _search(case, tie=lambda pair: (pair[1] - pair[0], pair))),
    Mistake("longest_on_a_tie", TIE, lambda case: _search(case, tie=lambda pair: (pair[0] - pair[1], pair))),
    Mistake(
        "product_for_sum",
        "The two scores were multiplied, and two bad ones make a good one. Logits are added.",
        lambda case: _search(case, score=np.multiply),
    ),
    Mistake(
        "start_score_only",
        "Only the start's score was compared. The score of a pair is start[i] + end[j].",
        lambda case: _search(case, score=lambda start, end: start + 0 * end),
    ),
    Mistake(
        "scores_exchanged",
        "The start was read from `end` and the end from `start`.",
        lambda case: _search(case, score=lambda start, end: end.T + start.T),
    ),
)

CRASHES = (
    RaisedMistake(
        "refuses_a_possible_answer",
        "Here is an answer, and it was refused. Scores may all be below 0; only a context without positions has none.",
        lambda error, message: error == "ValueError" and "unpack" not in message,
    ),
    RaisedMistake(
        "other_default_length",
        "`max_length` needs a default: with it left out it must be 30.",
        lambda error, message: error == "TypeError" and "missing" in message and "max_length" in message,
    ),
)


def _judge_pairs(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_search,
        kind="a pair of ints (i, j)",
        is_kind=lambda value: (
            isinstance(value, (tuple, list)) and len(value) == 2 and all(type(part) is int for part in value)
        ),
        same=lambda got, expected: tuple(got) == tuple(expected),
        mistakes=MISTAKES,
        raised=CRASHES,
    )


def best_span(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_with_refusals(question, cases, outcomes, _judge_pairs)
