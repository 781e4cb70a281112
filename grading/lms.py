"""What an LMS lets its teachers download, for nbgrader's zip_collect: an extractor and a collector.

nbgrader's own unpack whatever a learner packed, archives in archives without end, and copy what links point
to. These two take notebooks out of an archive, one by one and up to a limit, and nothing else; whose they are is
read from the part of the name that the LMS wrote, never from what a learner called a file. `nbgrader zip_collect`
uses them by `nbgrader_config.py`, `insidebert collect` says more.
"""

from __future__ import annotations

import io
import re
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from grading.flags import printable
from grading.intake import MAX_BYTES
from insidebert.errors import CommandError

MAX_TOTAL = 4 * 2**30  # bytes of a whole class
_MAX_TABLE = 2**20  # bytes of the table of contents of a learner's archive
_NAMESAKES = "\0"
_NOTEBOOK, _ARCHIVE = ".ipynb", ".zip"

# "doejane_LATE_12345_67890_answer.ipynb": a name without `_`, the learner's number, the file's number.
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<number>\d+)_\d+_(?P<file>.+)")
# "Jane Doe_12345_assignsubmission_file_/answer.ipynb", or the same without a folder. The number is another one in
# every assignment. A name that holds the mark twice could be anybody's.
_MARK = "_assignsubmission_"
_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)")
_LEARNER = re.compile(r"[^\W_][\w .@+'’-]{0,90}")  # what may name a folder of submitted/


@dataclass(frozen=True)
class Owner:
    """Whose a file is, as the LMS called them; `number` is empty where they were called by a name alone."""

    lms: str
    name: str
    number: str = ""
    late: bool = False

    @property
    def folder(self) -> str:
        return f"{self.name}_{self.number}" if self.lms == "canvas" else self.name


def owner_of(path: str, depth: int = 2) -> tuple[Owner, str] | None:
    """Whose the file at `path` in a download is and what they called it; None where that cannot be said.

    Args:
        depth: how many parts of the path an LMS may have written; what follows them is a learner's.
    """
    parts = path.split("/")
    if any(
        part in ("", ".", "..") or not part.isprintable() or "\\" in part or ":" in part for part in parts
    ):
        return None
    owner, file = _named(parts, depth)
    return (owner, file) if owner and _LEARNER.fullmatch(owner.folder) else None


def _named(parts: list[str], depth: int) -> tuple[Owner | None, str]:
    file = parts[-1]
    for part in parts[:depth]:
        if _MARK in part:
            found = _MOODLE.fullmatch(part)
            if found is None or part.count(_MARK) > 1:
                return None, file
            return Owner("moodle", found["name"], found["number"]), found["file"] if part == file else file
    if len(parts) <= depth and (found := _CANVAS.fullmatch(file)):
        return Owner("canvas", found["name"], found["number"], bool(found["late"])), found["file"]
    return Owner("", parts[0] if len(parts) > 1 else PurePosixPath(file).stem), file


class Extractor(ExtractorPlugin):
    """Takes the notebooks out of a download, each into a folder that is named for its owner.

    Attributes:
        owners: everybody something came from, by that folder's name.
        left: what was not taken, with the reason.
    """

    def __init__(self, **traits: Any):
        super().__init__(**traits)
        self.owners: dict[str, Owner] = {}
        self.left: list[str] = []
        self._total = 0

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Take them from a folder or an archive; a folder of one archive and nothing else is that archive.

        Raises:
            CommandError: they are larger together than any class's are.
        """
        # A folder beside others is somebody's, and what is in it is called as they like; one around all is nobody's.
        depth = 2 if len({name.split("/")[0] for name in _names(Path(archive_path))}) == 1 else 1
        for name, data in _download(Path(archive_path)):
            if found := owner_of(name, depth):
                self._sort(name, data, *found, Path(extracted_path))
            elif data is not None:
                self.left.append(f"{printable(name)}: nobody can say whose it is")
        for name in [name for name, owner in self.owners.items() if owner.name == _NAMESAKES]:
            del self.owners[name]
            shutil.rmtree(Path(extracted_path, name), ignore_errors=True)
            self.left.append(f"{printable(name)}: several people are called so")

    def _sort(self, name: str, data: bytes | None, owner: Owner, file: str, target: Path) -> None:
        if self.owners.setdefault(owner.folder, owner).number != owner.number:
            self.owners[owner.folder] = Owner(owner.lms, _NAMESAKES)
        folder, suffix = target / owner.folder, PurePosixPath(file).suffix.lower()
        if data is None:
            self.left.append(f"{printable(name)}: a link, broken, or too large")
        elif suffix == _NOTEBOOK:
            self._keep(folder, file, data)
        elif suffix == _ARCHIVE:
            for inner, packed in _members(io.BytesIO(data), limited=True):
                if packed is not None and inner.lower().endswith(_NOTEBOOK):
                    self._keep(folder, PurePosixPath(inner).name, packed)
        else:
            self.left.append(f"{printable(name)}: no notebook")

    def _keep(self, folder: Path, name: str, data: bytes) -> None:
        self._total += len(data)
        if self._total > MAX_TOTAL:
            raise CommandError(f"the download holds more than {MAX_TOTAL / 2**30:.0f} GiB of notebooks.")
        stem = re.sub(r"[^\w .()+-]", "_", PurePosixPath(name).stem)[:100]
        path = folder / f"{stem}{_NOTEBOOK}"
        folder.mkdir(parents=True, exist_ok=True)
        if not stem.startswith(".") and not path.exists():  # `._name` is what macOS adds
            path.write_bytes(data)


def _files(path: Path) -> tuple[list[Path], bool]:
    """The files of a download, and whether they are the one archive that it is."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return files, len(files) == 1 and files[0].suffix.lower() == _ARCHIVE


def _names(path: Path) -> list[str]:
    """What the files of a download are called, without a look into them."""
    files, is_archive = _files(path)
    if not is_archive:
        return [file.relative_to(path).as_posix() for file in files]
    try:
        with zipfile.ZipFile(files[0]) as archive:
            return [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return []


def _download(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """The files of a download by their path in it; None for what is no plain file, or too large."""
    files, is_archive = _files(path)
    if is_archive:
        with files[0].open("rb") as file:
            yield from _members(file, limited=False)
        return
    for file_path in files:
        about = file_path.lstat()
        if not stat.S_ISDIR(about.st_mode):
            plain = stat.S_ISREG(about.st_mode) and about.st_size <= MAX_BYTES
            yield file_path.relative_to(path).as_posix(), file_path.read_bytes() if plain else None


def _members(file: BinaryIO, *, limited: bool) -> Iterator[tuple[str, bytes | None]]:
    """The files of an archive; none where it is no archive. Nothing that it says of itself is believed."""
    try:
        if limited and _table_of_contents(file) > _MAX_TABLE:
            return
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if not member.is_dir():
                    yield member.filename, _member(archive, member)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return


def _table_of_contents(file: BinaryIO) -> int:
    """The size of an archive's table of contents, all of which `zipfile` reads into memory."""
    data = file.read()
    end = data.rfind(b"PK\x05\x06")
    return int.from_bytes(data[end + 12 : end + 16], "little") if end >= 0 else 0


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        return None
    try:
        with archive.open(member) as file:
            data = file.read(MAX_BYTES + 1)
    except Exception:  # a password, a checksum, a method: there are many ways for a member to be broken
        return None
    return data if len(data) <= MAX_BYTES else None


class Collector(FileNameCollectorPlugin):
    """Says whose the notebooks are that `Extractor` has sorted, by the gradebook's own names where it knows them.

    Canvas's numbers are known as `lms_user_id`, Moodle's people by first and last name.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        path = Path(submitted_file)
        owner = self.parent.extractor_plugin_inst.owners.get(path.parent.name)
        if owner is None:
            return None
        return {"student_id": self.student(owner), "file_id": self._file(path)}

    def student(self, owner: Owner) -> str:
        return self._known.get(
            (owner.lms, owner.number if owner.lms == "canvas" else owner.name), owner.folder
        )

    @cached_property
    def _known(self) -> dict[tuple[str, str], str]:
        from nbgrader.api import Gradebook

        course = self.parent.coursedir
        known: dict[tuple[str, str], str] = {}
        with Gradebook(course.db_url, course.course_id) as gradebook:
            names = Counter(f"{student.first_name} {student.last_name}" for student in gradebook.students)
            for student in gradebook.students:
                full = f"{student.first_name} {student.last_name}"
                if student.lms_user_id:
                    known["canvas", student.lms_user_id] = student.id
                if names[full] == 1:
                    known["moodle", full] = student.id
        return known

    def _file(self, path: Path) -> str:
        """The name the notebook was handed out under, where its owner has only one and an LMS merely numbered it."""
        assignment = self.parent.coursedir.assignment_id
        numbered = re.fullmatch(rf"{re.escape(assignment)}[-_ ]?\(?\d*\)?", path.stem)
        alone = len(list(path.parent.iterdir())) == 1
        return f"{assignment}{_NOTEBOOK}" if numbered and alone else path.name
