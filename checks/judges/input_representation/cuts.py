"""`wordpiece`: greedy cutting, and every other way to cut a word."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

Split = list[str] | None  # None: some part of the word has no match
Vocabulary = Collection[str]
Ends = Callable[[int, int], Sequence[int]]


def longest(start: int, length: int) -> Sequence[int]:
    return range(length, start, -1)


def shortest(start: int, length: int) -> Sequence[int]:
    return range(start + 1, length + 1)


def greedy(
    word: str,
    vocab: Vocabulary,
    ends: Ends = longest,
    first: Sequence[str] = ("",),
    inside: Sequence[str] = ("##",),
) -> Split:
    """Cut from left to right: the first of the `ends`, and of the marks in front, whose piece is known."""
    pieces, start = [], 0
    while start < len(word):
        forms = [
            (end, mark + word[start:end])
            for end in ends(start, len(word))
            for mark in (inside if start else first)
        ]
        found = next(((end, form) for end, form in forms if form in vocab), None)
        if found is None:
            return None
        start = found[0]
        pieces.append(found[1])
    return pieces


def wordpiece(
    word: str, vocab: Vocabulary, unk: str = "[UNK]", max_chars: int = 100, cut: Callable[..., Split] = greedy
) -> list[str]:
    pieces = None if len(word) > max_chars else cut(word, vocab)
    return [unk] if pieces is None else pieces


def cutting(cut: Callable[..., Split]) -> Callable[..., list[str]]:
    """The answer that cuts a word in another way, and is right otherwise."""
    return lambda word, vocab, unk="[UNK]", max_chars=100: wordpiece(word, vocab, unk, max_chars, cut)


def from_the_end(word: str, vocab: Vocabulary) -> Split:
    if not word:
        return []
    for start in range(len(word)):
        piece = ("##" if start else "") + word[start:]
        if piece in vocab:
            front = from_the_end(word[:start], vocab)
            return None if front is None else [*front, piece]
    return None


def all_splits(word: str, vocab: Vocabulary, start: int = 0) -> Iterator[list[str]]:
    """Every way to cut the word, those with the longest first pieces first."""
    if start == len(word):
        yield []
    for end in longest(start, len(word)):
        piece = ("##" if start else "") + word[start:end]
        if piece in vocab:
            yield from ([piece, *rest] for rest in all_splits(word, vocab, end))


def until_stuck(on_stuck: str) -> Callable[..., list[str]]:
    """What is in the list of an answer that meets a part without a match, and "keep"s what there is, marks the
    "rest" as unknown, or goes on behind the next "character"."""

    def answer(word: str, vocab: Vocabulary, unk: str = "[UNK]", max_chars: int = 100) -> list[str]:
        start = 0
        pieces: list[str] = []
        while start < len(word) <= max_chars:
            mark = "##" if start else ""
            end = next((e for e in longest(start, len(word)) if mark + word[start:e] in vocab), 0)
            if not end and on_stuck != "character":
                return pieces + ([unk] if on_stuck == "rest" else [])
            pieces.append(mark + word[start:end] if end else unk)
            start = end or start + 1
        return pieces if len(word) <= max_chars else [unk]

    return answer


def marked(pieces: Split) -> Split:
    return pieces and [*pieces[:1], *(f"##{piece}" for piece in pieces[1:])]


def anywhere(*marks: str, first: Sequence[str] = ("",)) -> Callable[..., list[str]]:
    return cutting(lambda word, vocab: greedy(word, vocab, first=first, inside=marks))


def limited(limit: Callable[[str, int], Any]) -> Callable[..., list[str]]:
    """`limit(word, max_chars)`: whether the word is too long."""
    return lambda word, vocab, unk="[UNK]", max_chars=100: (
        [unk] if limit(word, max_chars) else wordpiece(word, vocab, unk, len(word))
    )


def short_pieces(word: str, vocab: Vocabulary, unk: str = "[UNK]", max_chars: int = 100) -> list[str]:
    pieces = greedy(word, vocab, lambda start, length: range(min(length, start + max_chars), start, -1))
    return [unk] if pieces is None else pieces


def fixed_unk(too_long: bool = True, no_match: bool = True) -> Callable[..., list[str]]:
    def answer(word: str, vocab: Vocabulary, unk: str = "[UNK]", max_chars: int = 100) -> list[str]:
        fixed = too_long if len(word) > max_chars else no_match
        return wordpiece(word, vocab, "[UNK]" if fixed else unk, max_chars)

    return answer


def two_or_more(word: str, vocab: Vocabulary) -> Split:
    return greedy(word, vocab, lambda start, length: range(length, start + 1, -1))
