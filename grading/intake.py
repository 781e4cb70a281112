"""Intake: a folder of hostile bytes in, a canonical notebook and flags out. Nothing one learner hands in stops a batch.

Only what the notebook says in text is read (see `grading.reading`), and only from a plain file: no link is followed,
no device opened, no archive unpacked, nothing that is too large is read at all.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from grading.canonical import Notes, flags_of, rebuild
from grading.flags import Flag, flag, note
from grading.moments import moment_of, read_moment, write_moment
from grading.reading import Unreadable, read_cells

MAX_BYTES = 128 * 2**20  # of a notebook with its outputs, which are passed over
MAX_FILES = 1_000  # looked at in a folder

_EXCHANGE = {
    "timestamp.txt": 200,
    "submission_secret.txt": 1000,
}  # what nbgrader's exchange adds, and how long
_HARMLESS = {
    ".ipynb_checkpoints",
    "__pycache__",
    "feedback",
    ".DS_Store",
    "__MACOSX",
    "Thumbs.db",
    "desktop.ini",
}
_TOLERANCE = timedelta(minutes=2)


@dataclass(frozen=True)
class Taken:
    """A canonical notebook, and what was noted about the submission; the notebook's metadata says it as well."""

    notebook: NotebookNode
    flags: list[Flag]


@dataclass(frozen=True)
class Slip:
    """What the exchange left beside the notebook: when it was handed in (UTC, without a zone, as nbgrader keeps it)
    and the files to hand on, by name."""

    submitted: datetime | None
    files: dict[str, str]
    flags: list[Flag]


def take_in(
    data: bytes | None,
    released: NotebookNode,
    flags: Sequence[Flag] = (),
    earlier: Sequence[NotebookNode] = (),
) -> Taken:
    """The canonical notebook of a submission. Never raises, whatever the bytes.

    Args:
        data: the submitted file; None where there is none.
        released: the notebook as it was handed out (nbformat 4); it is not changed.
        flags: what `find_notebook` noted, to go in front of what is noted here.
        earlier: older releases. What was changed is said by comparison with the one that the learner had, which
            is the one that differs least.
    """
    noted = list(flags)
    cells: Sequence[Any] = released.cells
    if data is not None:
        try:
            cells, encoding = read_cells(data)
        except Unreadable as error:
            noted.append(flag("unreadable_notebook", [str(error)]))
        else:
            noted += [flag("odd_encoding", [encoding])] if encoding else []
    notebook, notes = rebuild(cells, released)
    if notes:
        notes = min([notes, *(rebuild(cells, older)[1] for older in earlier)], key=_length)
    noted += flags_of(notes)
    note(notebook, noted)
    return Taken(notebook, noted)


def _length(notes: Notes) -> int:
    return sum(map(len, notes.values()))


# --- the folder it lies in ---------------------------------------------------------------------------------


def find_notebook(folder: Path, assignment: str) -> tuple[bytes | None, list[Flag]]:
    """The bytes of the submitted notebook, None where it was not opened, and what was noted about the folder: that
    there is none (`missing_notebook`), or why it cannot be opened (`unreadable_notebook`).

    The notebook is called like the assignment; one of another name is taken where that one is missing, the last by
    name of several.
    """
    found = _survey(folder, assignment)
    flags = [flag("not_a_file", found.links)] if found.links else []
    flags += [flag("too_large", found.large)] if found.large else []
    beside = sorted({*found.folders, *found.files} - {found.chosen})
    flags += [flag("extra_files", beside)] if beside else []
    if found.chosen and (data := _read(folder / found.chosen, MAX_BYTES)) is not None:
        renamed = found.chosen != f"{assignment}.ipynb"
        return data, flags + ([flag("renamed_notebook", [found.chosen])] if renamed else [])
    return None, [*flags, _why_none(found)]


def _why_none(found: _Found) -> Flag:
    if any(map(_is_notebook, found.large)):
        return flag("unreadable_notebook", [f"it is larger than {MAX_BYTES // 2**20} MiB"])
    if found.chosen or found.closed or any(map(_is_notebook, found.links)):
        return flag("unreadable_notebook", ["it is a link or no plain file, or nobody may open it"])
    return flag("missing_notebook")


@dataclass(frozen=True)
class _Found:
    """What lies in a folder, by name and never opened: plain files, and the rest."""

    files: list[str]
    links: list[str]
    large: list[str]
    folders: list[str]
    chosen: str | None  # the file that is the notebook
    closed: bool = False  # the folder itself cannot be looked into


def _survey(folder: Path, assignment: str) -> _Found:
    found = _Found([], [], [], [], None)
    if folder.is_symlink():
        return replace(found, links=[folder.name], closed=True)
    if not folder.is_dir():
        return found
    expected = f"{assignment}.ipynb"
    try:
        with os.scandir(folder) as entries:
            names = {entry.name for entry in islice(entries, MAX_FILES)}
    except OSError:  # not ours to read
        return replace(found, links=[folder.name], closed=True)
    if os.path.lexists(folder / expected):
        names.add(expected)  # however many there are before it
    for name in sorted(names - _HARMLESS - set(_EXCHANGE)):
        if name.startswith("."):  # a repository, an editor's settings
            continue
        try:
            about = os.lstat(folder / name)
        except OSError:
            found.links.append(name)
            continue
        if stat.S_ISDIR(about.st_mode):
            found.folders.append(f"{name}/")
        elif not stat.S_ISREG(about.st_mode):
            found.links.append(name)
        elif about.st_size > MAX_BYTES:
            found.large.append(name)
        else:
            found.files.append(name)
    if expected in (*found.files, *found.links, *found.large):
        return replace(found, chosen=expected if expected in found.files else None)
    last = max(filter(_is_notebook, found.files), key=partial(_rank, assignment), default=None)
    return replace(found, chosen=last)


def _rank(assignment: str, name: str) -> tuple[bool, list[str | int]]:
    """Names that hold the assignment's come last, and `(10)` after `(9)`; the times of files say nothing for sure."""
    parts = re.split(r"(\d+)", name, flags=re.ASCII)
    return assignment in name, [int(part) if place % 2 else part for place, part in enumerate(parts)]


def _is_notebook(name: str) -> bool:
    return name.lower().endswith(".ipynb")


def _read(path: Path, longest: int) -> bytes | None:
    """The bytes of a plain file of at most `longest`; None for anything else, which is not read nor waited for."""
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, os.O_RDONLY | careful)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = file.read(longest + 1)
    except OSError:
        return None
    return data if len(data) <= longest else None


def read_slip(folder: Path, zone: str | None = None, changed: datetime | None = None) -> Slip:
    """What nbgrader's exchange left beside the notebook.

    A submission without a `timestamp.txt` has no time, as for nbgrader. One that cannot be read for sure gets the
    time at which the exchange saw the notebook change: nonsense must not be a way around a deadline, nor a zone's
    name cost a penalty.

    Args:
        zone: the course's time zone; see `read_moment`.
        changed: see `grading.collected.last_change`.
    """
    files = {}
    for name, longest in _EXCHANGE.items():
        data = None if folder.is_symlink() else _read(folder / name, longest)
        if data is not None:
            files[name] = data.decode("utf-8", "replace")
    if not os.path.lexists(folder / "timestamp.txt"):
        return Slip(None, files, [])
    submitted = read_moment(files.get("timestamp.txt", ""), zone)
    flags = []
    if submitted is None:
        files.pop("timestamp.txt", None)
        files |= {"timestamp.txt": write_moment(changed)} if changed else {}
        instead = (
            "when the notebook was last changed is taken instead" if changed else "nobody knows when it came"
        )
        flags.append(flag("bad_timestamp", [instead]))
        submitted = changed
    elif changed is not None and changed - submitted > _TOLERANCE:
        flags.append(
            flag("early_timestamp", [f"{submitted:%Y-%m-%d %H:%M} UTC, and {changed:%Y-%m-%d %H:%M} UTC"])
        )
    return Slip(submitted, files, flags)


def changed_at(folder: Path, assignment: str) -> datetime | None:
    """When the submitted notebook was last changed, by the time of its file: evidence only where it was handed in."""
    found = _survey(folder, assignment)
    if found.chosen is None:
        return None
    try:
        return moment_of(os.lstat(folder / found.chosen).st_mtime)
    except OSError:
        return None
