"""Collecting from nbgrader's exchange, where anybody can make a folder of any name with anything in it.

nbgrader warns where the name of a submission is not that of its owner, and collects it; it takes the newest, so
that a forged one hides the learner's own. It copies what links point to, with the instructor's rights: a solution,
the gradebook, somebody else's answer. And it ends the collection of a whole class at the first name without a time,
folder that is closed or gone, or `timestamp.txt` of an earlier submission that says nothing.
"""

from __future__ import annotations

import os
import stat
import tempfile
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from grading.collected import keep_change
from grading.course import time_zone
from grading.intake import MAX_BYTES, MAX_FILES, changed_at, find_notebook, read_slip
from grading.moments import read_moment
from grading.returning import SLIPS

MAX_TOTAL = 2 * MAX_BYTES  # of one submission
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_LEFT = "%r is left where it is: %s."  # `%r`: a name may hold what a terminal obeys


class Collect(ExchangeCollect):
    """nbgrader's own, but only what belongs to the learner whose name it bears, and only plain files of theirs.

    With `c.ExchangeCollect.check_owner = False`, where learners are no users of this machine, any owner will do.
    """

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """What nbgrader reads from a folder's name; nobody's, where the name or the owner is wrong."""
        nobody = {"username": None, "filename": Path(path).name, "timestamp": datetime.min}
        user, _, rest = Path(path).name.rpartition(f"+{self.coursedir.assignment_id}+")
        handed_in = self._moment(rest)
        if not user or handed_in is None:
            self.log.warning(_LEFT, path, "its name says no time that can be read for sure")
            return nobody
        try:
            about = os.lstat(path)
        except OSError as error:
            self.log.warning(_LEFT, path, error.strerror)
            return nobody
        if not stat.S_ISDIR(about.st_mode):
            self.log.warning(_LEFT, path, "it is no folder")
            return nobody
        if self.check_owner and (owner := _user(about.st_uid)) != user:
            self.log.warning(_LEFT, path, f"it is not {user!r}'s but {owner}'s")
            return nobody
        return {"username": user, "filename": Path(path).name, "timestamp": handed_in}

    def _moment(self, stamp: str) -> datetime | None:
        """When a folder says it was handed in: `2026-03-01 10:00:00 CET+` and random letters, older ones without."""
        zone = time_zone(self.config)
        return read_moment(stamp, zone) or read_moment(stamp.rpartition("+")[0], zone)

    def copy_files(self) -> None:
        """What nbgrader does, one by one: what is wrong with one submission costs nobody else theirs."""
        if not self.src_records:
            self.log.warning("Nobody has handed in %s through the exchange.", self.coursedir.assignment_id)
        for record in self.src_records:
            student, assignment = record["username"], self.coursedir.assignment_id
            target = Path(self.coursedir.format_path(self.coursedir.submitted_directory, student, assignment))
            if target.is_dir() and not self._replaces(record["timestamp"], target):
                self.log.info("No newer submission to collect: %s %s", student, assignment)
                continue
            self.log.info("Collecting submission: %s %s", student, assignment)
            self._collect(record, target)

    def _replaces(self, handed_in: datetime, target: Path) -> bool:
        """Whether what was handed in then takes the place of what has been collected."""
        slip = read_slip(target, time_zone(self.config))
        before = None if any(flag.id == "bad_timestamp" for flag in slip.flags) else slip.submitted
        newer = before is None or handed_in > before
        return (self.update and newer) or (self.before_duedate and handed_in != before)

    def _collect(self, record: dict[str, Any], target: Path) -> None:
        """Copies a submission beside the one before, which stays until then."""
        source = Path(self.inbound_path, record["filename"])
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=target.parent, prefix=".", ignore_cleanup_errors=True
        ) as scratch:
            fresh = Path(scratch, target.name)
            try:
                folder = os.open(source, _FOLDER)
            except OSError as error:  # closed to us, or gone
                self.log.warning(_LEFT, str(source), error.strerror)
                return
            try:
                if self.check_owner and _user(os.fstat(folder).st_uid) != record["username"]:
                    self.log.warning(_LEFT, str(source), "it has changed its owner")
                    return
                fresh.mkdir()
                for name in self._copy_all(folder, fresh):
                    why = "no plain file of its owner's, or too large"
                    self.log.warning("%r of %r is left out: %s.", name, str(source), why)
            finally:
                os.close(folder)
            if self.coursedir.groupshared:  # whatever the umask of whoever collects
                _share(target.parent, fresh, *fresh.iterdir())
            self._keep_change(record["username"], fresh)
            if target.is_dir():
                target.rename(Path(scratch, "before"))
            fresh.rename(target)

    def _keep_change(self, student: str, folder: Path) -> None:
        """Notes when the notebook was last changed; see `grading.collected`."""
        assignment = self.coursedir.assignment_id
        data, _ = find_notebook(folder, assignment)
        changed = changed_at(folder, assignment)
        if data is None or changed is None:
            return
        try:
            keep_change(Path(self.coursedir.root), assignment, student, data, changed)
        except (
            OSError
        ) as error:  # another instructor's folder: a time less to compare with, and no submission less
            self.log.warning("When %r changed the notebook cannot be noted: %s.", student, error)

    def _copy_all(self, folder: int, target: Path) -> list[str]:
        """Copies the plain files of an open folder's owner, with their times; returns the names of the others."""
        owner, left, out = os.fstat(folder).st_uid, MAX_TOTAL, []
        first = [name for name in (f"{self.coursedir.assignment_id}.ipynb", *SLIPS) if _is_in(folder, name)]
        with os.scandir(folder) as entries:
            rest = {entry.name for entry in islice(entries, MAX_FILES)} - set(first)
        for name in (*first, *sorted(rest)):  # however much lies before them
            size = _copy(folder, name, target / name, owner, left)
            left -= size or 0
            out += [name] if size is None else []
        return out


def _is_in(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _copy(folder: int, name: str, target: Path, owner: int, longest: int) -> int | None:
    """Copies one file of an open folder; returns its size, None where it is not one to be taken."""
    try:
        source = os.open(name, _FILE, dir_fd=folder)
    except OSError:  # a link, or not ours to read
        return None
    with os.fdopen(source, "rb") as file:
        about = os.fstat(source)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != owner or about.st_size > longest:
            return None
        target.write_bytes(file.read(about.st_size))  # no more, however it grows meanwhile
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))
    return about.st_size


def _share(*paths: Path) -> None:
    """Lets the group write them, as nbgrader does."""
    for path in paths:
        about = path.stat()
        if about.st_uid == os.getuid():
            path.chmod(stat.S_IMODE(about.st_mode) | (0o2770 if stat.S_ISDIR(about.st_mode) else 0o660))


def _user(number: int) -> str:
    import pwd  # not on Windows, where there is no exchange

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
