"""What must be true of every draw, whatever chance says; the same for whole words and for spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checks.encoding import Array
from checks.judges.masking_granularity.draws import Draws
from checks.judges.showing import describe_type
from checks.judges.values import RuleJudge, correct, incorrect
from checks.protocol import Case, Finding, Outcome, Verdict
from checks.questions.masking_granularity.selections import AGAIN


def selection_judge(
    leaves_room: str,
    chances: Callable[[Draws], Finding | None],
    defaults: Callable[[Sequence[Draws]], Finding | None] = lambda draws: None,
) -> RuleJudge:
    """Judges form, rules of every draw, use of `rng`, then what `chances` says of each case and `defaults` of all.

    Args:
        leaves_room: the likely cause where a word that fits was left in sight.
    """

    def rule(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdict:
        for case, outcome in zip(cases, outcomes, strict=True):
            if not _are_draws(outcome.value, case):
                return incorrect(_form(case, outcome.value))
        draws = [
            Draws(case, outcome.value["draws"].data, outcome.value["again"].data)
            for case, outcome in zip(cases, outcomes, strict=True)
        ]
        finding = _rules(draws, leaves_room) or _generator(draws) or _reading_order(draws) or _constant(draws)
        finding = finding or next(filter(None, map(chances, draws)), None) or defaults(draws)
        return incorrect(finding) if finding else correct()

    return RuleJudge(rule)


def _form(case: Case, value: Any) -> Finding:
    S = len(case["groups"])
    got = value.get("not a selection") if isinstance(value, dict) else value
    kind = f"a list of {S} bools, one for each piece of the row"
    text = describe_type(got)[:120]
    if isinstance(got, (list, tuple)):
        text += f" ({len(got)} entries)"
        odd = next((part for part in got if type(part) is not bool), None)
        if len(got) == S and odd is not None:
            text += f", {describe_type(odd)[:60]} among them"
    return Finding("wrong_type", f"The answer must be {kind}.", case.label, text, kind)


def _are_draws(value: Any, case: Case) -> bool:
    """Whether it is what the probe makes of selections: as many as were asked for, of 0 and 1."""
    S, N = len(case["groups"]), case["draws"]
    wanted = {"draws": (N, S), "again": (min(AGAIN, N), S)}
    return (
        isinstance(value, dict)
        and value.keys() == wanted.keys()
        and all(isinstance(part, Array) and part.data.dtype == np.uint8 for part in value.values())
        and all(value[name].data.shape == shape for name, shape in wanted.items())
        and all((part.data <= 1).all() for part in value.values())
    )


def _rules(draws: Sequence[Draws], leaves_room: str) -> Finding | None:
    """The first rule that some draw breaks, on the smallest case where it does."""
    rules: list[tuple[str, str, str, Callable[[Draws], Any]]] = [
        (
            "hides_special_tokens",
            "A special token was hidden. Where `groups` is None nothing may be.",
            "no special token hidden",
            lambda d: d.hidden[:, d.groups < 0].any(1),
        ),
        (
            "cuts_a_word",
            "A word is half-open. Hide all of its pieces or none, also at the end of the budget.",
            "whole words",
            lambda d: ((d.pieces > 0) & (d.pieces < d.sizes)).any(1),
        ),
        (
            "budget_counts_words",
            "`budget` words were hidden. The budget counts pieces.",
            "at most the budget in pieces",
            lambda d: _counts_words(draws) & (d.total > d.budget),
        ),
        (
            "over_budget",
            "More pieces are hidden than the budget allows. Look whether it fits before you hide it.",
            "at most the budget in pieces",
            lambda d: d.total > d.budget,
        ),
        (
            "budget_never_reached",
            "The budget is never used up: one piece less is hidden each time. A word may fill it exactly (`<=`).",
            "until no remaining word fits",
            lambda d: _one_less(draws) & d.leaves_room(d.budget),
        ),
        ("leaves_room", leaves_room, "until no remaining word fits", lambda d: d.leaves_room(d.budget)),
    ]
    for id, cause, expected, breaks in rules:
        for case in draws:
            broken = np.flatnonzero(breaks(case))
            if len(broken) and all(map(_inverted, draws)):
                cause = "The selection is upside down: True means hidden, and these words stay in sight."
                return _broken("inverted", cause, case, int(broken[0]), expected)
            if len(broken):
                return _broken(id, cause, case, int(broken[0]), expected)
    return None


def _broken(id: str, cause: str, draws: Draws, draw: int, expected: str) -> Finding:
    got = f"{draws.picture(draw)}  ({int(draws.total[draw])} pieces hidden)"
    return Finding(id, cause, draws.case.label, got, expected)


def _inverted(draws: Draws) -> bool:
    """Whether the words that are not hidden are a right selection in every draw."""
    other = Draws(draws.case, (1 - draws.hidden) * (draws.groups >= 0), draws.again)
    whole = (other.pieces == 0) | (other.pieces == other.sizes)
    right = whole.all(1) & (other.total <= other.budget) & ~other.leaves_room(other.budget)
    return bool(right.all())


def _counts_words(draws: Sequence[Draws]) -> bool:
    return all(((d.pieces > 0).sum(1) == min(d.budget, len(d.sizes))).all() for d in draws)


def _one_less(draws: Sequence[Draws]) -> bool:
    """Whether every draw is what a budget smaller by one would give."""
    return all(((d.total < max(d.budget, 1)) & ~d.leaves_room(d.budget - 1)).all() for d in draws)


def _generator(draws: Sequence[Draws]) -> Finding | None:
    for case in draws:
        if not np.array_equal(case.again, case.hidden[: len(case.again)]):
            cause = "Twice the same seed gave two results: chance came from elsewhere. Draw from `rng` alone."
            return Finding("ignores_rng", cause, case.case.label, "other draws", "the same draws again")
    return None


def _reading_order(draws: Sequence[Draws]) -> Finding | None:
    for backwards, end in ((False, "front"), (True, "end")):
        if all(
            (case.pieces > 0).tolist() == [_in_order(case, backwards)] * len(case.hidden) for case in draws
        ):
            cause = f"Words are taken from the {end} of the row, always the same. Take them in random order."
            case = next(case for case in draws if case.case["statistics"])
            return _every_time("in_reading_order", cause, case)
    return None


def _in_order(draws: Draws, backwards: bool) -> list[bool]:
    sizes, left = draws.sizes.tolist(), draws.budget
    taken = [False] * len(sizes)
    for word in reversed(range(len(sizes))) if backwards else range(len(sizes)):
        if sizes[word] <= left:
            taken[word] = True
            left -= sizes[word]
    return taken


def _constant(draws: Sequence[Draws]) -> Finding | None:
    for case in draws:
        if case.case["statistics"] and (case.hidden == case.hidden[0]).all():
            cause = "Every draw is the same: `rng` is not used, or made anew in each call. Draw from the one given."
            return _every_time("same_every_time", cause, case)
    return None


def _every_time(id: str, cause: str, draws: Draws) -> Finding:
    got = f"{draws.picture(0)} in all {len(draws.hidden)} draws"
    return Finding(id, cause, draws.case.label, got, "a new choice with each call")
