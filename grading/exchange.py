"""Collecting from nbgrader's exchange, where anybody can make a folder of any name with anything in it.

nbgrader warns where the name of a submission is not that of its owner, and collects it; it takes the newest, so
that a forged one hides the learner's own. It copies what links point to, with the instructor's rights: a solution,
the gradebook, somebody else's answer. A name without a time ends the whole collection.
"""

from __future__ import annotations

import os
import shutil
import stat
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from grading.intake import MAX_BYTES, MAX_FILES

MAX_TOTAL = 4 * MAX_BYTES  # of one submission
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Collect(ExchangeCollect):
    """nbgrader's own, but only what belongs to the learner whose name it bears, and only plain files of theirs.

    With `c.ExchangeCollect.check_owner = False`, where learners are no users of this machine, any owner will do.
    """

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"] is not None]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """What nbgrader reads from a folder's name; nobody's, where the name or the owner is wrong."""
        name, about = Path(path).name, os.lstat(path)
        nobody = {"username": None, "filename": name, "timestamp": datetime.min}
        try:
            record: dict[str, Any] = super()._path_to_record(path)
        except Exception:  # nbgrader's own or dateutil's, which raises half a dozen kinds
            self.log.warning("%s is left where it is: its name says no time.", path)
            return nobody
        if not stat.S_ISDIR(about.st_mode):
            self.log.warning("%s is left where it is: it is no folder.", path)
            return nobody
        if self.check_owner and (owner := _user(about.st_uid)) != record["username"]:
            self.log.warning(
                "%s is left where it is: it is not %s's but %s's.", path, record["username"], owner
            )
            return nobody
        return record

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copies the plain files of the submission's owner, with their times; follows no link."""
        left = MAX_TOTAL
        Path(dest).mkdir()
        folder = os.open(src, _FOLDER)
        try:
            owner = os.fstat(folder).st_uid
            if self.check_owner and _user(owner) != Path(src).name.rsplit("+", 3)[0]:
                self.fail(f"{src} has changed its owner while it was collected; collect again.")
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in islice(entries, MAX_FILES))
            for name in names:
                size = _copy(folder, name, Path(dest, name), owner, left)
                if size is None:
                    self.log.warning(
                        "%s of %s is left out: no plain file of its owner's, or too large.", name, src
                    )
                left -= size or 0
        finally:
            os.close(folder)


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
        with target.open("xb") as copy:
            shutil.copyfileobj(file, copy)
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))
    return about.st_size


def _user(number: int) -> str:
    import pwd  # not on Windows, where there is no exchange

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
