"""Judges of `word_groups` and `half_open_words`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from checks.judges.comparing import Mistake, equal, judge_values
from checks.protocol import Case, Outcome, Question, Verdict

SPECIAL = ("[CLS]", "[SEP]", "[PAD]")

# --- word_groups ------------------------------------------------------------------------------------------


def _groups(case: Case) -> list[int | None]:
    groups: list[int | None] = []
    number, inside = -1, False  # inside: the token before this one belongs to a word
    for token in case["tokens"]:
        if token in SPECIAL:
            groups.append(None)
            inside = False
            continue
        if not (inside and token.startswith("##")):
            number += 1
        groups.append(number)
        inside = True
    return groups


def _with(change: Callable[[list[str], list[int | None]], list[Any]]) -> Callable[[Case], Any]:
    """The right groups, then `change(tokens, groups)`."""
    return lambda case: change(case["tokens"], _groups(case))


def _rewritten(rewrite: Callable[[str], str]) -> Callable[[Case], Any]:
    """What comes out when tokens are taken for others: a "[" for a special token, a "#" for a piece."""
    return lambda case: _groups(Case(case.label, {"tokens": [rewrite(token) for token in case["tokens"]]}))


def _glued(before_the_first: Any) -> Callable[[Case], Any]:
    """Every `##` piece takes the number of the word before it, even across a special token. A row may begin with
    one: its number is then `before_the_first`, or a new word where that is "new"."""

    def returns(case: Case) -> list[Any]:
        groups: list[Any] = []
        number = -1
        for token in case["tokens"]:
            if token in SPECIAL:
                groups.append(None)
            elif token.startswith("##") and not (number < 0 and before_the_first == "new"):
                groups.append(number if number >= 0 else before_the_first)
            else:
                number += 1
                groups.append(number)
        return groups

    return returns


def _per_segment(tokens: list[str], groups: list[int | None]) -> list[Any]:
    first, result = 0, []
    seen = -1
    for group in groups:
        if group is None:
            first = seen + 1
        else:
            seen = group
        result.append(None if group is None else group - first)
    return result


def _specials_counted(tokens: list[str], groups: list[int | None], shown: bool = False) -> list[Any]:
    """Special tokens take a number as well; with `shown` it stands in the answer."""
    number, result = -1, []
    previous: int | None = None
    for group in groups:
        if group is None or group != previous:
            number += 1
        result.append(None if group is None and not shown else number)
        previous = group
    return result


def _first_places(tokens: list[str], groups: list[int | None]) -> list[Any]:
    return [None if group is None else groups.index(group) for group in groups]


def _piece_numbers(tokens: list[str], groups: list[int | None]) -> list[Any]:
    numbers = iter(range(len(groups)))
    return [None if group is None else next(numbers) for group in groups]


def _orphans(tokens: list[str], groups: list[int | None]) -> list[Any]:
    """Pieces whose word began before the special token belong to no word, and the rest is counted on."""
    lost = {
        group
        for place, group in enumerate(groups)
        if group is not None and tokens[place].startswith("##") and groups[place - 1] is None
    }
    kept = sorted({group for group in groups if group is not None} - lost)
    return [None if group is None or group in lost else kept.index(group) for group in groups]


def _filled(value: int) -> Callable[[Case], Any]:
    return _with(lambda tokens, groups: [value if group is None else group for group in groups])


NUMBER_FOR_SPECIAL = "A special token belongs to no word: its entry is `None`, not a number."
GLUED = (
    "A `##` piece behind a special token was joined to the word before it. No word goes across a special token: "
    "the piece starts one."
)
GROUP_MISTAKES = (
    Mistake("glued_across_a_special", GLUED, _glued("new")),
    Mistake("glued_across_a_special", GLUED, _glued(-1)),
    Mistake("glued_across_a_special", GLUED, _glued(0)),
    Mistake("glued_across_a_special", GLUED, _glued(None)),
    Mistake(
        "orphan_piece_is_no_word",
        "A `##` piece behind a special token got `None`. It is text and can be hidden: it starts a word.",
        _with(_orphans),
    ),
    Mistake(
        "every_piece_a_word",
        "Each piece got a number of its own. A `##` piece continues its word and shares its number.",
        _with(_piece_numbers),
    ),
    Mistake(
        "restarts_in_each_segment",
        "Numbers start again behind a special token, so two words share one. Count through the whole row.",
        _with(_per_segment),
    ),
    Mistake(
        "counts_from_one",
        "The first word has the number 1. Word numbers start at 0.",
        _with(lambda tokens, groups: [None if group is None else group + 1 for group in groups]),
    ),
    Mistake(
        "specials_take_a_number",
        "The count goes on at special tokens, so numbers are missing. Only words are counted.",
        _with(_specials_counted),
    ),
    Mistake(
        "specials_are_words",
        "Special tokens are numbered like words. They belong to no word: `None`.",
        _with(lambda tokens, groups: _specials_counted(tokens, groups, shown=True)),
    ),
    Mistake("number_for_special", NUMBER_FOR_SPECIAL, _filled(-1)),
    Mistake("number_for_special", NUMBER_FOR_SPECIAL, _filled(0)),
    Mistake("number_for_special", NUMBER_FOR_SPECIAL, _filled(-100)),
    Mistake(
        "padding_is_a_word",
        "`[PAD]` got a number. It is a special token like `[CLS]` and `[SEP]`.",
        _rewritten(lambda token: "pad" if token == "[PAD]" else token),
    ),
    Mistake(
        "bracket_taken_for_special",
        "A bracket in the text was taken for a special token. Compare whole tokens with the special ones.",
        _rewritten(lambda token: "[PAD]" if token == "[" else token),
    ),
    Mistake(
        "bracket_taken_for_special",
        "A bracket in the text was taken for a special token. Compare whole tokens with the special ones.",
        _rewritten(lambda token: "[PAD]" if token in ("[", "]") else token),
    ),
    Mistake(
        "single_hash_continues",
        "The token `#` was taken for a continuation. A continuation begins with two: `##`.",
        _rewritten(lambda token: "##" if token == "#" else token),
    ),
    Mistake(
        "place_of_first_piece",
        "The numbers are places in the row. Number the words 0, 1, 2, … instead.",
        _with(_first_places),
    ),
)


def _is_groups(value: Any) -> bool:
    return isinstance(value, list) and all(part is None or type(part) is int for part in value)


def show_groups(groups: Any) -> str:
    """Groups as a learner writes them, cut after 24."""
    return f"[{', '.join(map(str, groups[:24]))}{', …' if len(groups) > 24 else ''}]"


def word_groups(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_groups,
        kind="a list of ints and None",
        is_kind=_is_groups,
        same=lambda got, expected: bool(got == expected),
        mistakes=GROUP_MISTAKES,
        show=show_groups,
    )


# --- half_open_words --------------------------------------------------------------------------------------


def _by_word(case: Case) -> list[list[bool]]:
    """The pieces of each word, hidden or not."""
    words: dict[int, list[bool]] = {}
    for hidden, group in zip(case["hidden"], case["groups"], strict=True):
        if group is not None:
            words.setdefault(group, []).append(hidden)
    return list(words.values())


def _count(test: Callable[[list[bool]], int | bool]) -> Callable[[Case], int]:
    return lambda case: sum(test(word) for word in _by_word(case))


def _is_open(word: list[bool]) -> bool:
    return any(word) and not all(word)


def _none_is_a_word(case: Case) -> int:
    specials = [h for h, group in zip(case["hidden"], case["groups"], strict=True) if group is None]
    return _count(_is_open)(case) + _is_open(specials)


HALF_OPEN_MISTAKES = (
    Mistake(
        "none_taken_for_a_word",
        "The special tokens were taken for one word, with the number `None`. Leave them out.",
        _none_is_a_word,
    ),
    Mistake(
        "asks_the_first_piece",
        "Only words whose first piece is hidden were counted. It does not matter which pieces are hidden.",
        _count(lambda word: word[0] and not all(word)),
    ),
    Mistake(
        "asks_the_first_piece",
        "Only words whose first piece is in sight were counted. It does not matter which pieces are hidden.",
        _count(lambda word: any(word) and not word[0]),
    ),
    Mistake(
        "counts_touched_words",
        "Words that are hidden whole were counted too. A word is half-open when a piece of it is in sight.",
        _count(any),
    ),
    Mistake(
        "counts_hidden_words",
        "These are the words that are hidden whole. Half-open are those with some pieces hidden and some not.",
        _count(all),
    ),
    Mistake(
        "counts_words_not_hidden_whole",
        "Words without any hidden piece were counted too. A half-open word has at least one.",
        _count(lambda word: not all(word)),
    ),
    Mistake(
        "counts_hidden_pieces",
        "These are the hidden pieces of half-open words. Count the words.",
        _count(lambda word: sum(word) if _is_open(word) else 0),
    ),
    Mistake(
        "counts_visible_pieces",
        "These are the pieces in sight of half-open words. Count the words.",
        _count(lambda word: len(word) - sum(word) if _is_open(word) else 0),
    ),
    Mistake(
        "counts_changes",
        "A word counts once, however often hidden and visible pieces take turns in it.",
        _count(lambda word: sum(a != b for a, b in pairwise(word))),
    ),
    Mistake(
        "compares_the_ends_only",
        "Only the first and the last piece of a word were compared. One in the middle may differ from both.",
        _count(lambda word: word[0] != word[-1]),
    ),
    Mistake(
        "counts_the_others",
        "These are the words that are not half-open: all hidden or all in sight.",
        _count(lambda word: not _is_open(word)),
    ),
)


def half_open_words(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_count(_is_open),
        kind="an int",
        is_kind=lambda value: type(value) is int,
        same=equal,
        mistakes=HALF_OPEN_MISTAKES,
    )
