"""WordPiece step by step: what greedy matching looks up before it settles for a piece (Wu et al. 2016, sec. 4.1).

The tokenizers of `insidebert.sources` do the work; this shows it.
"""

from __future__ import annotations

from collections.abc import Collection


def attempts(word: str, vocabulary: Collection[str]) -> list[tuple[str, bool]]:
    """Every candidate piece in the order in which it is looked up, and whether the vocabulary has it.

    The first True after a run of False is the piece taken. The list ends with the word, or with a run of False
    where nothing fits; then the word is unknown. An empty word asks nothing.
    """
    asked: list[tuple[str, bool]] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            asked.append((piece, piece in vocabulary))
            if asked[-1][1]:
                break
        if not asked[-1][1]:
            break
        start = end
    return asked
