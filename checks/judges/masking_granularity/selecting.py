"""What the judges of random selections share: the draws, what is true of every draw, the exact chances.

N draws · S pieces of a row · W words
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from checks.judges.comparing import crashed, describe_type, incorrect, not_attempted
from checks.judges.statistics import is_plausible, percent
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict
from checks.questions.masking_granularity import AGAIN


@dataclass(frozen=True)
class Draws:
    """All selections an answer made for one case."""

    case: Case
    hidden: np.ndarray  # (N,S) of 0 and 1
    again: np.ndarray  # the first of them, drawn once more from the same seed

    @property
    def budget(self) -> int:
        return int(self.case["budget"])

    @cached_property
    def groups(self) -> np.ndarray:
        """(S,) number of the word, −1 for special tokens."""
        return np.array([-1 if group is None else group for group in self.case["groups"]])

    @cached_property
    def sizes(self) -> np.ndarray:
        """(W,) pieces of each word."""
        return np.bincount(self.groups[self.groups >= 0])

    @cached_property
    def pieces(self) -> np.ndarray:
        """(N,W) hidden pieces of each word. The pieces of a word stand together: differences of running sums."""
        sums = np.pad(self.hidden.astype(np.int64).cumsum(1), ((0, 0), (1, 0)))
        first = np.searchsorted(self._places, np.arange(len(self.sizes)))
        start = self._text[first]
        return sums[:, start + self.sizes] - sums[:, start]

    @cached_property
    def _text(self) -> np.ndarray:
        return np.flatnonzero(self.groups >= 0)

    @cached_property
    def _places(self) -> np.ndarray:
        return self.groups[self._text]  # ascending: words are numbered from left to right

    @cached_property
    def total(self) -> np.ndarray:
        """(N,) hidden pieces."""
        return self.hidden.sum(1)

    @cached_property
    def sets(self) -> Counter[tuple[int, ...]]:
        """How often each set of words was hidden."""
        packed = Counter(map(bytes, np.packbits(self.pieces > 0, axis=1)))
        return Counter({self._words(key): count for key, count in packed.items()})

    def _words(self, packed: bytes) -> tuple[int, ...]:
        bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=len(self.sizes))
        return tuple(np.flatnonzero(bits).tolist())

    def leaves_room(self, budget: int) -> np.ndarray:
        """(N,) whether a word that is in sight would still fit."""
        left = budget - self.total
        smallest = np.where(self.pieces == 0, self.sizes, np.iinfo(np.int64).max).min(1)
        return smallest <= left

    def picture(self, draw: int) -> str:
        """A draw as a learner reads it: # hidden, - in sight, · special; a space between words."""
        marks: list[str] = []
        before = -1
        for group, hidden in zip(self.groups[:60].tolist(), self.hidden[draw, :60].tolist(), strict=True):
            if marks and group != before:
                marks.append(" ")
            marks.append("#" if hidden else "·" if group < 0 else "-")
            before = group
        return "".join(marks) + (" …" if len(self.groups) > 60 else "")


CHANGES = "`groups` is not what it was: the answer changed its argument. Work on a copy."

# --- what is true of every draw ---------------------------------------------------------------------------


def judge_draws(
    question: Question,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    *,
    leaves_room: str,
    chances: Callable[[Draws], Finding | None],
) -> Verdict:
    """Judge selections: form, rules of every draw, use of `rng`, then what `chances` says of each case.

    Args:
        leaves_room: the likely cause where a word that fits was left in sight.
    """
    early = not_attempted(question, outcomes) or crashed(question, cases, outcomes)
    if early:
        return early
    finding = _form(cases, outcomes)
    if finding:
        return incorrect(question, finding)
    draws = [
        Draws(case, outcome.value["draws"].data, outcome.value["again"].data)
        for case, outcome in zip(cases, outcomes, strict=True)
    ]
    finding = _rules(draws, leaves_room) or _generator(draws) or _reading_order(draws) or _constant(draws)
    finding = finding or next(filter(None, map(chances, draws)), None)
    if finding:
        return incorrect(question, finding)
    return Verdict(question.name, "correct", 1.0, lesson=question.lesson)


def _form(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Finding | None:
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.changed_input:
            return Finding("changes_its_input", CHANGES, case.label)
        S = len(case["groups"])
        value = outcome.value
        if _are_draws(value, case):
            continue
        got = value.get("not a selection") if isinstance(value, dict) else value
        kind = f"a list of {S} bools, one for each piece of the row"
        text = f"{describe_type(got)[:120]}" + (f" ({len(got)} entries)" if isinstance(got, list) else "")
        return Finding("wrong_type", f"The answer must be {kind}.", case.label, text, kind)
    return None


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
    return all(((d.total < d.budget) & ~d.leaves_room(d.budget - 1)).all() for d in draws)


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
            case = next(case for case in draws if case.case.data.get("statistics"))
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
        if case.case.data.get("statistics") and (case.hidden == case.hidden[0]).all():
            cause = "Every draw is the same: `rng` is not used, or made anew in each call. Draw from the one given."
            return _every_time("same_every_time", cause, case)
    return None


def _every_time(id: str, cause: str, draws: Draws) -> Finding:
    got = f"{draws.picture(0)} in all {len(draws.hidden)} draws"
    return Finding(id, cause, draws.case.label, got, "a new choice with each call")


# --- exact chances ----------------------------------------------------------------------------------------

Weights = Callable[[Sequence[int], Sequence[int]], Sequence[float]]
Chances = Mapping[tuple[int, ...], float]


def uniform(words: Sequence[int], sizes: Sequence[int]) -> Sequence[float]:
    return [1.0] * len(words)


def by_pieces(words: Sequence[int], sizes: Sequence[int]) -> Sequence[float]:
    return [float(sizes[word]) for word in words]


def longest(words: Sequence[int], sizes: Sequence[int]) -> Sequence[float]:
    most = max(sizes[word] for word in words)
    return [float(sizes[word] == most) for word in words]


def shortest(words: Sequence[int], sizes: Sequence[int]) -> Sequence[float]:
    least = min(sizes[word] for word in words)
    return [float(sizes[word] == least) for word in words]


def final_sets(sizes: Sequence[int], budget: int, weights: Weights = uniform) -> Chances:
    """The probability of each final set when words are taken one by one until none that is left fits.

    A word that does not fit now never will, so that shuffling the words and passing over what does not fit is the
    same as drawing each next word among those that fit.
    """
    open_sets: dict[tuple[int, ...], float] = {(): 1.0}
    final: dict[tuple[int, ...], float] = {}
    while open_sets:
        following: dict[tuple[int, ...], float] = {}
        for chosen, chance in open_sets.items():
            left = budget - sum(sizes[word] for word in chosen)
            words = [word for word in range(len(sizes)) if word not in chosen and sizes[word] <= left]
            if not words:
                final[chosen] = chance
                continue
            weight = weights(words, sizes)
            for word, share in zip(words, weight, strict=True):
                if share:
                    larger = tuple(sorted((*chosen, word)))
                    following[larger] = following.get(larger, 0.0) + chance * share / sum(weight)
        open_sets = following
    return final


def neighbours(words: Sequence[int]) -> bool:
    return any(word + 1 in words for word in words)


def shares(chances: Mapping[tuple[int, ...], float]) -> dict[Any, float]:
    """The share of every event a selection is held to: this very set, this word hidden, so many
    words hidden, two neighbours hidden."""
    result: dict[Any, float] = {}
    for words, share in chances.items():
        more = ["neighbours"] if neighbours(words) else []
        for event in (words, *words, f"{len(words)} words", *more):
            result[event] = result.get(event, 0.0) + share
    return result


def follow(draws: Draws, chances: Chances) -> bool:
    """Whether the draws may have come from these chances: every event as often as chance allows (`statistics`).

    At most 31 events a case, so that a right answer is refused with probability 31 · 1e-8 at most.
    """
    counts, expected = shares(draws.sets), shares(chances)
    return all(
        is_plausible(round(counts.get(event, 0)), len(draws.hidden), min(1.0, expected.get(event, 0.0)))
        for event in {*counts, *expected}
    )


def unlikely_word(draws: Draws, chances: Chances, cause: str) -> Finding:
    """The generic finding: the word whose share is furthest from the expected one."""
    W, N = len(draws.sizes), len(draws.hidden)
    expected = np.zeros(W)
    for words, chance in chances.items():
        expected[list(words)] += chance
    got = (draws.pieces > 0).mean(0)
    word = int(np.abs(got - expected).argmax())
    return Finding(
        "words_not_equally_likely",
        cause,
        draws.case.label,
        f"word {word} ({draws.sizes[word]} pieces) hidden in {percent(round(got[word] * N), N)} of {N} draws",
        f"about {100 * expected[word]:.1f} %",
    )
