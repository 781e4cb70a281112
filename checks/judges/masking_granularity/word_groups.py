"""Which words people find in a row of tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checks.judges.containers import list_of
from checks.judges.kinds import INT, optional
from checks.judges.values import Mistake, ValueJudge

Groups = list[int | None]
SPECIAL = ("[CLS]", "[SEP]", "[PAD]")


def right(tokens: list[str]) -> Groups:
    groups: Groups = []
    number, inside = -1, False  # inside: the token before this one belongs to a word
    for token in tokens:
        if token in SPECIAL:
            groups.append(None)
            inside = False
            continue
        number += not (inside and token.startswith("##"))
        groups.append(number)
        inside = True
    return groups


def _read_as(rewrite: Callable[[str], str]) -> Callable[..., Groups]:
    """The groups when tokens are taken for others: a "[" for a special token, a "#" for a piece."""
    return lambda tokens: right([rewrite(token) for token in tokens])


def _glued(before_the_first: Any) -> Callable[..., list[Any]]:
    """A `##` piece joins the word before it, even across a special token; with none before: `before_the_first`."""

    def way(tokens: list[str]) -> list[Any]:
        groups: list[Any] = []
        number = -1
        for token in tokens:
            if token in SPECIAL:
                groups.append(None)
            elif token.startswith("##") and not (number < 0 and before_the_first == "new"):
                groups.append(number if number >= 0 else before_the_first)
            else:
                number += 1
                groups.append(number)
        return groups

    return way


def _per_segment(tokens: list[str]) -> Groups:
    first, seen, result = 0, -1, []
    for group in right(tokens):
        if group is None:
            first = seen + 1
        seen = seen if group is None else group
        result.append(None if group is None else group - first)
    return result


def _specials_counted(tokens: list[str], *, shown: bool) -> Groups:
    """Special tokens take a number as well; with `shown` it stands in the answer."""
    number, before, result = -1, None, []
    for group in right(tokens):
        number += group is None or group != before
        result.append(number if shown or group is not None else None)
        before = group
    return result


def _orphans(tokens: list[str]) -> Groups:
    """Pieces whose word began before the special token belong to no word, and the rest is counted on."""
    groups = right(tokens)
    lost = {
        group
        for place, group in enumerate(groups)
        if group is not None and tokens[place].startswith("##") and groups[place - 1] is None
    }
    kept = sorted({group for group in groups if group is not None} - lost)
    return [None if group is None or group in lost else kept.index(group) for group in groups]


def _by_text(tokens: list[str]) -> Groups:
    """Words of equal text have one number."""
    pairs = list(zip(tokens, right(tokens), strict=True))
    texts = {group: [token for token, of in pairs if of == group] for _, group in pairs if group is not None}
    numbers = {tuple(text): group for group, text in reversed(texts.items())}
    ranks = sorted(numbers.values())
    return [None if group is None else ranks.index(numbers[tuple(texts[group])]) for _, group in pairs]


def _equal_neighbours(tokens: list[str]) -> Groups:
    """A word that repeats the token before it takes its number."""
    number, result, groups = -1, [], right(tokens)
    for place, group in enumerate(groups):
        if group is not None and (place == 0 or group != groups[place - 1]):
            number += not (place and tokens[place] == tokens[place - 1])
        result.append(None if group is None else number)
    return result


def _each(change: Callable[[int | None, Groups], Any]) -> Callable[..., list[Any]]:
    """The right groups with each entry changed: `change(group, all of them)`."""
    return lambda tokens: [change(group, right(tokens)) for group in right(tokens)]


def _filled(value: int) -> Callable[..., list[Any]]:
    return _each(lambda group, groups: value if group is None else group)


def _pieces_numbered(tokens: list[str]) -> Groups:
    numbers = iter(range(len(tokens)))
    return [None if token in SPECIAL else next(numbers) for token in tokens]


MISTAKES = (
    Mistake(
        "glued_across_a_special",
        "A `##` piece behind a special token was joined to the word before it. No word goes across a special token: "
        "the piece starts one.",
        *map(_glued, ("new", -1, 0, None)),
    ),
    Mistake(
        "orphan_piece_is_no_word",
        "A `##` piece behind a special token got `None`. It is text and can be hidden: it starts a word.",
        _orphans,
    ),
    Mistake(
        "every_piece_a_word",
        "Each piece got a number of its own. A `##` piece continues its word and shares its number.",
        _pieces_numbered,
    ),
    Mistake(
        "restarts_in_each_segment",
        "Numbers start again behind a special token, so two words share one. Count through the whole row.",
        _per_segment,
    ),
    Mistake(
        "equal_texts_share_a_number",
        "Words of the same text got one number. Each occurrence is a word of its own: count, do not look texts up.",
        _by_text,
        _equal_neighbours,
    ),
    Mistake(
        "counts_from_one",
        "The first word has the number 1. Word numbers start at 0.",
        _each(lambda group, groups: None if group is None else group + 1),
    ),
    Mistake(
        "specials_take_a_number",
        "The count goes on at special tokens, so numbers are missing. Only words are counted.",
        lambda tokens: _specials_counted(tokens, shown=False),
    ),
    Mistake(
        "specials_are_words",
        "Special tokens are numbered like words. They belong to no word: `None`.",
        lambda tokens: _specials_counted(tokens, shown=True),
    ),
    Mistake(
        "number_for_special",
        "A special token belongs to no word: its entry is `None`, not a number.",
        *map(_filled, (-1, 0, -100)),
    ),
    Mistake(
        "padding_is_a_word",
        "`[PAD]` got a number. It is a special token like `[CLS]` and `[SEP]`.",
        _read_as(lambda token: "pad" if token == "[PAD]" else token),
    ),
    Mistake(
        "special_by_its_look",
        "Some text was taken for a special token because of its brackets. Special are exactly the tokens in `SPECIAL`; "
        "`[UNK]` and `[MASK]` stand for words.",
        _read_as(lambda token: "[PAD]" if token in ("[UNK]", "[MASK]") else token),
        _read_as(lambda token: "[PAD]" if token == "[UNK]" else token),
        _read_as(lambda token: "[PAD]" if token == "[MASK]" else token),
        _read_as(lambda token: "[PAD]" if token[0] == "[" and token[-1] == "]" else token),
    ),
    Mistake(
        "bracket_taken_for_special",
        "A bracket in the text was taken for a special token. Compare whole tokens with the special ones.",
        _read_as(lambda token: "[PAD]" if token[0] == "[" else token),
        _read_as(lambda token: "[PAD]" if token[0] in "[]" else token),
        _read_as(lambda token: "[PAD]" if token in ("[", "]") else token),
    ),
    Mistake(
        "single_hash_continues",
        "The token `#` was taken for a continuation. A continuation begins with two: `##`.",
        _read_as(lambda token: "##" if token == "#" else token),
    ),
    Mistake(
        "place_of_first_piece",
        "The numbers are places in the row. Number the words 0, 1, 2, … instead.",
        _each(lambda group, groups: None if group is None else groups.index(group)),
    ),
)

JUDGE = ValueJudge(list_of(optional(INT), "a list of ints and None"), right, MISTAKES)
