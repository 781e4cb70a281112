"""Of all that one learner sent, the notebook that counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from grading.downloads import Item, Unreadable
from grading.flags import printable

NOTEBOOK = ".ipynb"
_SHOWN = 2  # files named in one line


@dataclass(frozen=True)
class Candidate:
    """A notebook as its learner called it, folders and archive in front; `upload` is Canvas's number of the file."""

    file: str
    item: Item
    upload: int = 0


@dataclass(frozen=True)
class Choice:
    """The notebook that counts, if there is one, the name to keep it under, and what lay beside it.

    `faults` says of files that could not be looked into why; where nothing else came, they stand for a notebook that
    cannot be read.
    """

    taken: Candidate | None
    name: str
    left: tuple[str, ...]
    faults: tuple[str, ...]

    def read(self) -> bytes | None:
        """The notebook's bytes; None where the learner sent none.

        Raises:
            Unreadable: there is something, and nobody can read it.
        """
        if self.taken is not None:
            return self.taken.item.read()
        if self.faults:
            raise Unreadable("; ".join(self.faults))
        return None

    @property
    def file(self) -> str:
        return printable(self.taken.file) if self.taken else "no notebook"

    @property
    def beside(self) -> str:
        """A line about what was left; empty where nothing was."""
        names = [printable(name) for name in self.left[:_SHOWN]]
        more = f" and {len(self.left) - _SHOWN} more" if len(self.left) > _SHOWN else ""
        return f"left: {', '.join(names)}{more}" if names else ""


def choose(
    notebooks: Sequence[Candidate], others: Sequence[str], faults: Sequence[str], assignment: str
) -> Choice:
    """The notebook that counts.

    One that is called like the assignment comes before others, the upper before one in a folder or an archive, the
    newest by Canvas's own number (`-2`, then the upload's) before older ones, and the most recent of the rest.

    Args:
        others: files that are no notebooks.
        faults: files that could not be looked into, with the reason.
    """
    ranked = sorted(notebooks, key=lambda one: _rank(one, assignment), reverse=True)
    taken = ranked[0] if ranked else None
    left = (*(one.file for one in ranked[1:]), *others)
    name = f"{assignment}{NOTEBOOK}"
    if taken is not None and _copy_number(taken.file, assignment) is None:
        stem = re.sub(r"[^\w .()+-]", "_", PurePosixPath(taken.file).stem)[:100]
        name = f"{stem}{NOTEBOOK}"
    return Choice(taken, name, left, tuple(faults))


def _rank(one: Candidate, assignment: str) -> tuple[bool, int, int, int, float, str]:
    number = _copy_number(one.file, assignment)
    # A browser numbers what it saves again, `name (1)`: no sign of the newer one. Canvas numbers what it gets.
    newest = (number or 0) if one.upload else -(number or 0)
    return number is not None, -one.file.count("/"), newest, one.upload, one.item.when, one.file


def _copy_number(file: str, assignment: str) -> int | None:
    """The number that an LMS or a browser gave a notebook of that name, 0 where none; None for another name."""
    stem = PurePosixPath(file).stem
    found = re.fullmatch(rf"{re.escape(assignment)}(?:[-_ ]?\(?(\d{{1,9}})\)?)?", stem, re.IGNORECASE)
    return int(found[1] or 0) if found else None
