"""The selections an answer made, as the judges of random selections look at them.

N draws · S pieces of a row · W words
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from checks.protocol import Case

NO_WORD = np.iinfo(np.int64).max  # pieces of a word that is not there: it fits nowhere


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
        return self.hidden.sum(1, dtype=np.int64)

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
        smallest = np.where(self.pieces == 0, self.sizes, NO_WORD).min(1, initial=NO_WORD)
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
