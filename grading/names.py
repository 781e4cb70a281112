"""Whom a name in a download means, by the learners whom the gradebook knows.

The same person is `Jörg` in two encodings, `O'Neill` and `ONeill`, `Lovelace, Ada` and `Ada Lovelace (Gast)`. A name
that fits two people fits nobody: no work is ever given to somebody by a guess.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_APOSTROPHES = dict.fromkeys(map(ord, "'’‘ʼʹ`´"))
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*")


def fold(name: str) -> str:
    """A name to compare by: no case, no diacritics, no apostrophes, one space between words.

    Marks that are letters of their script, as in Devanagari or Thai, stay.
    """
    text = unicodedata.normalize("NFKD", name).casefold().translate(_APOSTROPHES).translate(_PLAIN)
    kept = [char for char in unicodedata.normalize("NFKD", text) if not "\u0300" <= char <= "\u036f"]
    spaced = [char if char.isalnum() or unicodedata.category(char)[0] == "M" else " " for char in kept]
    return " ".join("".join(spaced).split())


def tidy(name: str) -> str:
    """A name as people write it: composed letters, nothing in brackets, the surname behind (`Lovelace, Ada`)."""
    name = _BRACKETS.sub(" ", unicodedata.normalize("NFC", name))
    last, comma, first = name.partition(",")
    return " ".join((f"{first} {last}" if comma and "," not in first else name).split())


@dataclass(frozen=True)
class Person:
    """A learner of the gradebook; `number` is the one that Canvas knows her by."""

    id: str
    first: str = ""
    last: str = ""
    number: str = ""

    @property
    def full(self) -> str:
        return unicodedata.normalize("NFC", f"{self.first} {self.last}").strip()


class Roster:
    """The learners of a gradebook, to be found by name or number.

    Attributes:
        ids: theirs.
        closed: whether it is a class list, so that a name it does not have is a mistake and not a new learner. It is,
            as soon as it holds anybody but those whom Canvas named and `collect` itself put there.
    """

    def __init__(self, people: Iterable[Person]):
        people = list(people)
        self.ids = {person.id for person in people}
        self.closed = any(person.full or not person.number for person in people)
        self._numbers: dict[str, set[str]] = {}
        self._numbered = {person.id for person in people if person.number}
        self._ids: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        self._in_order: dict[str, str] = {}
        for person in people:
            if person.number:
                self._numbers.setdefault(person.number, set()).add(person.id)
            for key in {_exact(person.id), fold(person.id)}:
                self._ids.setdefault(key, set()).add(person.id)
            if person.full:
                words = fold(person.full).split()
                self._in_order[person.id] = " ".join(words)
                for key in {_exact(person.full), _any_order(words), "".join(words), _surname_first(person)}:
                    self._names.setdefault(key, set()).add(person.id)

    def find(self, name: str, *, number: str = "", grouped: bool = False) -> tuple[str | None, str]:
        """Whom a name means: the learner's id, or None and why.

        Args:
            number: Canvas's; it counts before the name.
            grouped: a group may stand in front of the name, as in Moodle's `Group A-Ada Lovelace`.
        """
        numbered = self._numbers.get(number, set()) if number else set()
        found = numbered or (set() if number else self._by_id(name)) or self._by_name(tidy(name))
        if grouped:
            parts = tidy(name).split("-")
            tails = ["-".join(parts[place:]) for place in range(1, len(parts))]
            for tail in tails:
                found = found or (self._by_name(tail) if len(tail.split()) > 1 else set())
        if number and not numbered:  # another number is another person, whatever she is called
            found = found - self._numbered
        if len(found) == 1:
            return next(iter(found)), ""
        return None, f"could be {' or '.join(sorted(found))}" if found else "not in the gradebook"

    def _by_id(self, name: str) -> set[str]:
        return self._ids.get(_exact(name)) or self._ids.get(fold(name)) or set()

    def _by_name(self, name: str) -> set[str]:
        words = fold(name).split()
        alike = self._names.get(_any_order(words)) or self._names.get("".join(words)) or set()
        exact = self._names.get(_exact(name)) or set()
        # Nothing says which of two names comes first: Li Wang may be Wang Li.
        turned = {one for one in alike if self._in_order[one] != " ".join(words)}
        return exact if len(exact) == 1 and not turned - exact else alike


def _exact(name: str) -> str:
    return "=" + unicodedata.normalize("NFC", name)


def _any_order(words: list[str]) -> str:
    return " ".join(sorted(words))


def _surname_first(person: Person) -> str:
    """As Canvas writes a name into a file's: `lovelaceada`."""
    return fold(f"{person.last} {person.first}").replace(" ", "")
