"""What people count instead of the words with some pieces hidden and some in sight."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from checks.judges.kinds import INT
from checks.judges.values import Mistake, ValueJudge

Groups = list[int | None]


def _by_word(hidden: list[bool], groups: Groups) -> dict[int | None, list[bool]]:
    """The pieces of each word, hidden or not; those of no word under None."""
    words: dict[int | None, list[bool]] = {}
    for is_hidden, group in zip(hidden, groups, strict=True):
        words.setdefault(group, []).append(is_hidden)
    return words


def _count(
    test: Callable[[list[bool]], int | bool], without: tuple[int | None, ...] = (None,)
) -> Callable[..., int]:
    def way(hidden: list[bool], groups: Groups) -> int:
        return sum(test(word) for group, word in _by_word(hidden, groups).items() if group not in without)

    return way


def _is_open(word: list[bool]) -> bool:
    return any(word) and not all(word)


MISTAKES = (
    Mistake(
        "none_taken_for_a_word",
        "The special tokens were taken for one word, with the number `None`. Leave them out.",
        _count(_is_open, without=()),
    ),
    Mistake(
        "word_zero_left_out",
        "The word with the number 0 was left out: `if group` is false for 0. Ask `group is not None`.",
        _count(_is_open, without=(None, 0)),
    ),
    Mistake(
        "last_word_left_out",
        "The last word was left out. The numbers go from 0 to the largest, that one included.",
        lambda hidden, groups: _count(_is_open, (None, max((g for g in groups if g is not None), default=0)))(
            hidden, groups
        ),
    ),
    Mistake(
        "asks_the_first_piece",
        "You only asked whether the first piece is hidden. Any piece of the word may be the one that differs.",
        _count(lambda word: word[0] and not all(word)),
        _count(lambda word: any(word) and not word[0]),
    ),
    Mistake(
        "counts_touched_words",
        "Words that are hidden whole were counted too. A word is half-open when a piece of it is in sight.",
        _count(any),
        _count(lambda word: any(word) and len(word) > 1),
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
        _count(lambda word: not all(word) and len(word) > 1),
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

JUDGE = ValueJudge(INT, _count(_is_open), MISTAKES)
