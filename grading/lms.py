"""What an LMS lets its teachers download: whose each file is, and what of it counts.

Whose a file is stands in the part of its name that the LMS wrote, never in what a learner called it. `Sorting` is
behind `insidebert collect` and, by `grading.zip_collect`, behind `nbgrader zip_collect`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from grading.choosing import NOTEBOOK, Candidate, Choice, choose
from grading.downloads import ARCHIVE, MAX_ARCHIVE, Download, Item, Unreadable, unpacked
from grading.flags import printable
from grading.names import Roster, tidy
from insidebert.errors import CommandError

# "doejane_LATE_12345_67890_answer.ipynb": a name without `_`, the learner's number, the upload's number. What she
# typed into a box instead of a file has none of its own.
_CANVAS = re.compile(
    r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<number>\d+)_"
    r"(?:(?P<upload>\d{1,18})_(?P<file>.+)|(?P<typed>(?:text|link)\.html))"
)
_ANONYMOUS = re.compile(r"anon_.+")  # Canvas, where grading is anonymous
# "Jane Doe_12345_assignsubmission_file_/answer.ipynb", or the same without a folder. The number is another one in
# every assignment. A name that holds the mark twice could be anybody's.
_MARK = "_assignsubmission_"
_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)")
_PARTICIPANT = re.compile(r"(?:.*-)?Participant(?:[ _]\d+)?")  # Moodle, where grading is blind
_LONGEST_NAME = 90  # characters; it names a folder
_MAX_ARCHIVES = 20  # of one learner that are looked into: one that is broken costs time, too


@dataclass(frozen=True)
class Owner:
    """Whose a file is, as the LMS called them; `number` is empty where they were called by a name alone."""

    lms: str
    name: str
    number: str = ""

    @property
    def anonymous(self) -> bool:
        """Whether the LMS kept the name to itself."""
        return not self.name or (self.lms == "moodle" and bool(_PARTICIPANT.fullmatch(self.name)))

    @property
    def called(self) -> str:
        return printable(self.name) or "anon"

    @property
    def folder(self) -> str:
        """The id of a learner whom the gradebook does not know."""
        name = tidy(self.name)
        return f"{name}_{self.number}" if self.lms == "canvas" else name


@dataclass(frozen=True)
class Named:
    """A file by its owner, what the owner called it, the LMS's number of the upload, and whether it came late."""

    owner: Owner
    file: str
    upload: int = 0
    late: bool = False


@dataclass(frozen=True)
class Taking:
    """What came from one learner, by her id: whether it was late, and what of it counts."""

    student: str
    late: bool
    choice: Choice


@dataclass(frozen=True)
class Left:
    """A person or a file of which nothing is taken, and why."""

    called: str
    why: str


def owner_of(path: str) -> Named | None:
    """Whose the file at `path` in a download is; None where that cannot be said."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or not _is_name(part) for part in parts):
        return None
    first, rest = parts[0], "/".join(parts[1:])
    if _MARK in first:
        found = _MOODLE.fullmatch(first)
        if found is None or first.count(_MARK) > 1:
            return None
        named = Named(Owner("moodle", found["name"], found["number"]), rest or found["file"] or first)
    elif not rest and _ANONYMOUS.fullmatch(first):
        return Named(Owner("canvas", ""), first)
    elif not rest and (found := _CANVAS.fullmatch(first)):
        owner, file = Owner("canvas", found["name"], found["number"]), found["file"] or found["typed"]
        named = Named(owner, file, int(found["upload"] or 0), bool(found["late"]))
    else:
        named = Named(Owner("", first if rest else PurePosixPath(first).stem), rest or first)
    return named if _is_id(named.owner.folder) else None


def _is_name(part: str) -> bool:
    """Whether a part of a path is one on every system, and in one line."""
    plain = part.replace("\u200c", "").replace("\u200d", "")  # which join letters in Persian and Indic names
    return plain.isprintable() and "\\" not in part and ":" not in part


def _is_id(name: str) -> bool:
    """Whether a learner may be called so, and a folder of submitted/."""
    kinds = (char.isalnum() or char in "_ .@+'’-\u200c\u200d" or _is_mark(char) for char in name)
    return 0 < len(name) <= _LONGEST_NAME and name[0].isalnum() and all(kinds)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


# --- a whole download --------------------------------------------------------------------------------------


class Sorting:
    """A download by learner.

    Attributes:
        owners: by id in the gradebook, as whom the LMS knows each learner that something came from.
        left: who or what was left, and why.
    """

    def __init__(self, download: Download, roster: Roster, assignment: str, *, new: bool = False):
        """Say what came from whom.

        Args:
            new: take learners, too, whom the class list does not have.

        Raises:
            CommandError: all lies in one folder or archive, and nobody can say whether it is one learner's.
        """
        _hold_to_one(download, roster)
        self._assignment = assignment
        self._files: dict[Owner, list[tuple[Named, Item]]] = {}
        self.left: list[Left] = []
        for item in download.items:
            named = owner_of(item.path)
            if named is None:
                self.left.append(Left(printable(item.path), "nobody can say whose it is"))
            elif not named.owner.lms and "/" not in item.path and not _is_work(item.path):
                self.left.append(Left(printable(item.path), "no notebook, and nobody's"))
            else:
                self._files.setdefault(_composed(named.owner), []).append((named, item))
        self.owners, unknown = _whose(self._files, roster, new)
        self.left = unknown + self.left

    def take(self, student: str) -> Taking:
        """What came from one learner, her archives looked into as far as there is room for one."""
        owner = self.owners[student]
        notebooks, others, faults, room, archives = [], [], [], MAX_ARCHIVE, 0
        for named, item in self._files[owner]:
            suffix = PurePosixPath(named.file).suffix.lower()
            if suffix == NOTEBOOK:
                notebooks.append(Candidate(named.file, item, named.upload))
            elif suffix == ARCHIVE:
                archives += 1
                if archives > _MAX_ARCHIVES:
                    others.append(named.file)
                    continue
                try:
                    inside, used = unpacked(item, room)
                except Unreadable as error:
                    faults.append(f"{printable(named.file)}: {error}")
                    continue
                room -= used
                packed = [one for one in inside if one.path.lower().endswith(NOTEBOOK)]
                behind = len(item.path) - len(named.file)
                notebooks += [Candidate(one.path[behind:], one, named.upload) for one in packed]
                others += [] if packed else [named.file]
            else:
                others.append(named.file)
        if archives > _MAX_ARCHIVES:
            faults.append(f"{archives} archives, of which {_MAX_ARCHIVES} were looked into")
        late = any(named.late for named, _ in self._files[owner])
        return Taking(student, late, choose(notebooks, others, faults, self._assignment))


def _hold_to_one(download: Download, roster: Roster) -> None:
    """One folder, or one archive in a folder, with nothing beside it: its name is a learner's, or nobody's.

    What is in a learner's folder counts for her alone, however she called it. But where it seems to hold a class, a
    person has to say which of the two it is.
    """
    tops = {item.path.split("/")[0] for item in download.items}
    if len(tops) != 1 or not download.items:
        return
    top, first = tops.pop(), download.items[0]
    named, inside = owner_of(first.path), [item.path.partition("/")[2] for item in download.items]
    if named is None or named.owner.lms or roster.find(named.owner.name)[0]:
        return
    if len(download.items) == 1 and first.path.lower().endswith(ARCHIVE) and "/" not in first.path:
        try:
            inside = [item.path.partition("/")[2] for item in unpacked(first)[0]]
        except Unreadable:
            return
    people = {found.owner for path in inside if path and (found := owner_of(path)) and found.owner.lms}
    if len(people) > 1:
        what = printable(top)
        raise CommandError(
            f"all of {download.path} lies in {what!r}, and {len(people)} people are named in there. If it is a "
            f"folder around all, name {what!r} itself to `insidebert collect` (unpack what is around it first); "
            "if it is one learner's, add her to the gradebook and try again. Nothing was taken."
        )


def _composed(owner: Owner) -> Owner:
    """The same for all files of a person, whatever the encoding of her name."""
    return Owner(owner.lms, unicodedata.normalize("NFC", owner.name), owner.number)


def _is_work(path: str) -> bool:
    return path.lower().endswith((NOTEBOOK, ARCHIVE))


def _whose(owners: Iterable[Owner], roster: Roster, new: bool) -> tuple[dict[str, Owner], list[Left]]:
    """The learners' ids, and who is nobody or could be several; two who come out as one learner are neither."""
    found: dict[str, list[tuple[str, Owner]]] = {}
    left = []
    for owner in owners:
        number = owner.number if owner.lms == "canvas" else ""
        student, why = roster.find(owner.name, number=number, grouped=owner.lms == "moodle")
        if owner.anonymous:
            left.append(Left(owner.called, "anonymous: let the LMS show names, and download again"))
        elif student is None and (why.startswith("could be") or (roster.closed and not new)):
            left.append(Left(owner.called, why))
        else:  # ids that differ only in case share a folder on some systems
            name = student or owner.folder
            found.setdefault(name.casefold(), []).append((name, owner))
    taken = {}
    for claims in found.values():
        if len(claims) == 1:
            student, owner = claims[0]
            taken[student] = owner
        else:
            left += [Left(owner.called, "several people are called so") for _, owner in claims]
    return taken, left
