"""A download, read without trust: what is in it by name first, and of each learner one file, up to a limit.

Nothing is unpacked, no link is followed, and what an archive says of itself is not believed. The table of contents is
all that is read of the rest, so that a thousand files of one learner cost the others nothing.
"""

from __future__ import annotations

import io
import stat
import zipfile
from calendar import timegm
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.intake import MAX_BYTES
from insidebert.errors import CommandError

MAX_ARCHIVE = 64 * 2**20  # bytes of a learner's own archive, of all of them together
_MAX_FILES = 20_000  # in it; `zipfile` reads the whole table of contents into memory
_ENTRY = b"PK\x01\x02"  # begins each entry of that table
ARCHIVE = ".zip"


class Unreadable(Exception):
    """Says in a few words why a file cannot be read."""


@dataclass(frozen=True)
class Item:
    """One file of a download; `path` begins where an LMS writes names, `when` orders the files of one learner."""

    path: str
    when: float
    source: Path | zipfile.ZipInfo
    archive: zipfile.ZipFile | None = None

    def read(self, longest: int = MAX_BYTES) -> bytes:
        """Its bytes.

        Raises:
            Unreadable: it is no plain file, broken or longer than that.
        """
        try:
            data = self._read(longest + 1)
        except Unreadable:
            raise
        except zipfile.BadZipFile:
            raise Unreadable("damaged in the archive") from None
        except OSError as error:
            raise Unreadable(error.strerror or "cannot be read") from None
        except Exception:  # a password, a method: there are many ways for a member to be broken
            raise Unreadable("cannot be taken out of the archive") from None
        if len(data) > longest:
            raise Unreadable(f"larger than {longest // 2**20} MiB")
        return data

    def _read(self, size: int) -> bytes:
        if isinstance(self.source, Path):
            if not stat.S_ISREG(self.source.lstat().st_mode):
                raise Unreadable("a link, or no plain file")
            with self.source.open("rb") as file:
                return file.read(size)
        if stat.S_IFMT(self.source.external_attr >> 16) not in (0, stat.S_IFREG):
            raise Unreadable("a link, or no plain file")
        assert self.archive is not None
        with self.archive.open(self.source) as member:
            return member.read(size)


class Download:
    """What an LMS made for a teacher: an archive or a folder. A context, because it holds the archive open.

    Attributes:
        items: its files, but for those that are hidden.
    """

    def __init__(self, path: Path):
        """Look into it.

        Raises:
            CommandError: it is not there, or no archive.
        """
        if not path.exists():
            raise CommandError(f"{path} is not there; name what the LMS downloaded.")
        self.path = path
        self._open = ExitStack()
        if path.is_dir():
            self.items = list(_in_folder(path))
            return
        if path.suffix.lower() != ARCHIVE:
            self.items = [Item(path.name, path.stat().st_mtime, path)]
            return
        try:
            archive = self._open.enter_context(zipfile.ZipFile(path))
        except Exception as error:  # there are many ways to be none
            raise CommandError(
                f"{path} cannot be opened as an archive ({error}). Download it again."
            ) from None
        self.items = list(_in_archive(archive))

    def __enter__(self) -> Download:
        return self

    def __exit__(self, *_: Any) -> None:
        self._open.close()


def unpacked(item: Item, room: int = MAX_ARCHIVE) -> tuple[list[Item], int]:
    """The files in a learner's own archive, their paths behind its own, and how many bytes it took to look.

    Raises:
        Unreadable: it is none, or too large to be looked into.
    """
    data = item.read(room)
    if data.count(_ENTRY) > _MAX_FILES:  # counted: what the archive says of itself can be forged
        raise Unreadable("holds too many files")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception:
        raise Unreadable("no archive that can be opened") from None
    return [
        Item(f"{item.path}/{inner.path}", inner.when, inner.source, archive) for inner in _in_archive(archive)
    ], len(data)


def _in_folder(root: Path) -> Iterator[Item]:
    for path in sorted(root.rglob("*")):
        about = path.lstat()
        parts = path.relative_to(root).parts
        if not stat.S_ISDIR(about.st_mode) and not _hidden(parts):
            yield Item("/".join(parts), about.st_mtime, path)


def _in_archive(archive: zipfile.ZipFile) -> Iterator[Item]:
    for member in archive.infolist():
        if not member.is_dir() and not _hidden(tuple(member.filename.split("/"))):
            yield Item(member.filename, _seconds(member.date_time), member, archive)


def _seconds(date_time: tuple[int, ...]) -> float:
    """A member's time, which may be none that a calendar has."""
    try:
        return float(timegm((*date_time, 0, 0, 0)))
    except ValueError:
        return 0.0


def _hidden(parts: tuple[str, ...]) -> bool:
    """What programs leave behind: checkpoints, a repository, the shadows that macOS packs."""
    return any(part == "__MACOSX" or (part.startswith(".") and part not in (".", "..")) for part in parts)
