"""The judge of `wordpiece`: greedy cutting, and every other way to cut a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    judge_values,
)
from checks.protocol import Case, Outcome, Question, Verdict

Split = list[str] | None  # None: some part of the word has no match


def _options(case: Case) -> tuple[str, int]:
    options = case["options"]
    return options.get("unk", "[UNK]"), options.get("max_chars", 100)


def _pieces(case: Case, starts: Sequence[int], ends: Callable[[int, int], Sequence[int]]) -> Split:
    """Cut from left to right; `ends(start, length)` says in which order ends are tried."""
    word, vocab, pieces, start = case["word"], case["vocab"], [], 0
    while start < len(word):
        for end in ends(start, len(word)):
            piece = ("##" if start in starts else "") + word[start:end]
            if piece in vocab:
                pieces.append(piece)
                start = end
                break
        else:
            return None
    return pieces


def _longest(start: int, length: int) -> Sequence[int]:
    return range(length, start, -1)


def _shortest(start: int, length: int) -> Sequence[int]:
    return range(start + 1, length + 1)


def _greedy(case: Case, ends: Callable[[int, int], Sequence[int]] = _longest) -> Split:
    return _pieces(case, range(1, len(case["word"])), ends)


def _wordpiece(case: Case, split: Callable[[Case], Split] = _greedy, **fixed: Any) -> list[str]:
    unk, limit = _options(case)
    unk, limit = fixed.get("unk", unk), fixed.get("limit", limit)
    if len(case["word"]) > limit:
        return [unk]
    pieces = split(case)
    return [unk] if pieces is None else pieces


def _from_the_end(case: Case) -> Split:
    word, end = case["word"], len(case["word"])
    pieces: list[str] = []
    while end:
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if piece in case["vocab"]:
                pieces.insert(0, piece)
                end = start
                break
        else:
            return None
    return pieces


def _all_splits(case: Case, start: int = 0) -> list[list[str]]:
    """Every way to cut the word, those with the longest first pieces first. Only for short words."""
    word = case["word"]
    if start == len(word):
        return [[]]
    found = []
    for end in _longest(start, len(word)):
        piece = ("##" if start else "") + word[start:end]
        if piece in case["vocab"]:
            found += [[piece, *rest] for rest in _all_splits(case, end)]
    return found


def _backtracking(case: Case) -> Split:
    return next(iter(_all_splits(case)), None)


def _fewest(case: Case) -> Split:
    return min(_all_splits(case), key=len, default=None)


def _until_stuck(case: Case, on_stuck: str) -> list[str]:
    """What is left in the list when an answer reaches a part without a match: "keep" what there is, mark the
    "rest" as unknown, or go on behind the next "character"."""
    unk, limit = _options(case)
    word, start = case["word"], 0
    pieces: list[str] = []
    if len(word) > limit:
        return [unk]
    while start < len(word):
        prefix = "##" if start else ""
        end = next((e for e in _longest(start, len(word)) if prefix + word[start:e] in case["vocab"]), 0)
        if not end:
            if on_stuck != "character":
                return pieces + ([unk] if on_stuck == "rest" else [])
            pieces.append(unk)
            start += 1
            continue
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


def _anywhere(case: Case) -> Split:
    """Takes a piece with or without `##`, wherever it stands."""
    word, vocab, pieces, start = case["word"], case["vocab"], [], 0
    while start < len(word):
        forms = [form + word[start:end] for end in _longest(start, len(word)) for form in ("", "##")]
        found = next((form for form in forms if form in vocab), None)
        if found is None:
            return None
        pieces.append(found)
        start += len(found.removeprefix("##"))
    return pieces


def _plain(case: Case) -> Split:
    """Looks continuations up without `##`."""
    return _pieces(case, (), _longest)


def _lowered(case: Case) -> Case:
    return Case(case.label, {**case.data, "word": case["word"].lower()})


def _marked(pieces: Split) -> Split:
    return None if pieces is None else [*pieces[:1], *(f"##{piece}" for piece in pieces[1:])]


def _unmarked(pieces: Split) -> Split:
    return None if pieces is None else [piece.removeprefix("##") for piece in pieces]


def _characters(case: Case) -> Split:
    return _marked(list(case["word"]))


WORD_MISTAKES = (
    Mistake(
        "unk_hard_coded",
        'The unknown token is written into the answer. Return the argument `unk`, whose default is "[UNK]".',
        lambda case: _wordpiece(case, unk="[UNK]"),
    ),
    Mistake(
        "max_chars_hard_coded",
        "The limit of 100 characters is written into the answer. Compare with the argument `max_chars`.",
        lambda case: _wordpiece(case, limit=100),
    ),
    Mistake(
        "max_chars_off_by_one",
        "A word of exactly `max_chars` characters is still split; only a longer one is unknown.",
        lambda case: _wordpiece(case, limit=_options(case)[1] - 1),
    ),
    Mistake(
        "max_chars_ignored",
        "The word is longer than `max_chars` and was split all the same. Such a word is one `unk`.",
        lambda case: _wordpiece(case, limit=10**9),
    ),
    Mistake(
        "too_long_is_cut",
        "The word was cut to `max_chars` characters and then split. A word that is too long is one `unk`.",
        lambda case: _wordpiece(
            Case(case.label, {**case.data, "word": case["word"][: _options(case)[1]]}),
        ),
    ),
    Mistake(
        "lowers_the_word",
        "The word was changed to lower case. That is the tokenizer's step before this one; look up what came.",
        lambda case: _wordpiece(_lowered(case)),
    ),
    Mistake(
        "splits_into_characters",
        "The word falls into single characters. Look for the longest piece of the vocabulary that fits.",
        lambda case: _wordpiece(case, _characters),
    ),
    Mistake(
        "whole_words_only",
        "Only whole words are looked up. A word that is not in the vocabulary is cut into pieces that are.",
        lambda case: _wordpiece(case, lambda c: [c["word"]] if c["word"] in c["vocab"] else None),
    ),
    Mistake(
        "backtracks",
        "A shorter piece was tried when the longest led nowhere. WordPiece never goes back: the word is `unk`.",
        lambda case: _wordpiece(case, _backtracking) if len(case["word"]) < 20 else NotImplemented,
    ),
    Mistake(
        "fewest_pieces",
        "These are the fewest pieces there can be. WordPiece is greedy: it does not look ahead.",
        lambda case: _wordpiece(case, _fewest) if len(case["word"]) < 20 else NotImplemented,
    ),
    Mistake(
        "shortest_match_first",
        "The shortest piece was taken. Start with the longest end and shorten it until the piece is known.",
        lambda case: _wordpiece(case, lambda c: _greedy(c, _shortest)),
    ),
    Mistake(
        "cuts_from_the_end",
        "The word was cut from its end. Greedy means: the longest piece at the start, then go on behind it.",
        lambda case: _wordpiece(case, _from_the_end),
    ),
    Mistake(
        "unknown_rest_only",
        "Only the rest is marked unknown. When any part has no match the whole word is a single `unk`.",
        lambda case: _until_stuck(case, "rest"),
    ),
    Mistake(
        "unknown_by_character",
        "Single characters are marked unknown. When any part has no match the whole word is a single `unk`.",
        lambda case: _until_stuck(case, "character"),
    ),
    Mistake(
        "unmatched_part_dropped",
        "The part without a match is missing in silence. When any part has no match return `[unk]`.",
        lambda case: _until_stuck(case, "keep"),
    ),
    Mistake(
        "empty_for_unknown",
        "The list is empty. A word that cannot be split is one `unk`, so that its place in the text is kept.",
        lambda case: [] if _wordpiece(case) == [_options(case)[0]] else _wordpiece(case),
    ),
    Mistake(
        "prefix_missing_in_output",
        "The pieces are right and their `##` is gone. It is part of the piece, and tells it from a word's start.",
        lambda case: _wordpiece(case, lambda c: _unmarked(_greedy(c))),
    ),
    Mistake(
        "continuations_looked_up_plain",
        "Behind the first piece the vocabulary was asked without `##`. `ing` and `##ing` are two entries.",
        lambda case: _wordpiece(case, _plain),
    ),
    Mistake(
        "continuations_looked_up_plain",
        "Behind the first piece the vocabulary was asked without `##`. `ing` and `##ing` are two entries.",
        lambda case: _wordpiece(case, lambda c: _marked(_plain(c))),
    ),
    Mistake(
        "ignores_where_a_piece_stands",
        "A piece was taken in a place it is not for: with `##` only inside a word, without only at its start.",
        lambda case: _wordpiece(case, _anywhere),
    ),
)


def _shown(pieces: list[str]) -> str:
    return f"[{', '.join(map(repr, pieces[:8]))}{', …' if len(pieces) > 8 else ''}]"


def wordpiece(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_wordpiece,
        kind="a list of strings",
        is_kind=lambda value: isinstance(value, list) and all(isinstance(piece, str) for piece in value),
        same=lambda got, expected: bool(got == expected),
        mistakes=WORD_MISTAKES,
        show=_shown,
    )
