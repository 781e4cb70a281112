"""What `mask_tokens` gave in all calls of a case.

B batch · S sequence · V vocabulary · R calls
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from checks.protocol import Case, Finding
from checks.questions.objectives.mask_tokens import IGNORED


@dataclass(frozen=True)
class Draws:
    """What the calls of one case gave."""

    case: Case
    ids: np.ndarray  # (B,S)
    special: np.ndarray  # (B,S) bool
    masked: np.ndarray  # (R,B,S)
    labels: np.ndarray  # (R,B,S)

    @property
    def p(self) -> float:
        return float(self.case.data.get("probability", 0.15))

    @cached_property
    def selected(self) -> np.ndarray:
        return self.labels != IGNORED  # (R,B,S)

    @cached_property
    def fates(self) -> np.ndarray:
        """(R,B,S): 0 `[MASK]`, 1 another id, 2 as it was; −1 where not selected."""
        fate = np.where(self.masked == self.ids, 2, np.where(self.masked == self.case["mask"], 0, 1))
        return np.where(self.selected, fate, -1)

    def counts(self) -> tuple[int, int, int]:
        """How many selected positions became `[MASK]`, another id, or stayed."""
        mask, other, stayed = (int((self.fates == fate).sum()) for fate in range(3))
        return mask, other, stayed

    def at(self, where: np.ndarray) -> str:
        """The first place of `where` (R,B,S) in words, with what stands there."""
        call, row, column = (int(index) for index in np.argwhere(where)[0])
        return (
            f"row {row}, position {column}: id {self.ids[row, column]} became "
            f"{self.masked[call, row, column]}, label {self.labels[call, row, column]}"
        )

    def finding(self, id: str, cause: str, got: str, expected: str = "") -> Finding:
        return Finding(id, cause, self.case.label, got, expected)
