"""What is shown of WordPiece is what the tokenizer does."""

from __future__ import annotations

import pytest

from insidebert.sources import load_tokenizer
from insidebert.wordpiece import attempts


def test_the_pieces_taken_are_the_tokenizer_s() -> None:
    tokenizer = load_tokenizer(offline=True)
    vocabulary = tokenizer.get_vocab()
    for word in [
        "unbelievably",
        "teddy",
        "multidimensional",
        "embeddings",
        "x",
        "zzyzx",
        "antidisestablishment",
    ]:
        taken = [piece for piece, found in attempts(word, vocabulary) if found]
        assert taken == tokenizer.tokenize(word)


@pytest.mark.parametrize(
    ("word", "asked"),
    [
        ("", []),
        ("ab", [("ab", True)]),
        ("abc", [("abc", False), ("ab", True), ("##c", True)]),
        ("abd", [("abd", False), ("ab", True), ("##d", False)]),
        ("da", [("da", False), ("d", False)]),
    ],
)
def test_candidates_come_longest_first_and_end_where_nothing_fits(
    word: str, asked: list[tuple[str, bool]]
) -> None:
    assert attempts(word, {"a", "ab", "##c", "##bc"}) == asked
