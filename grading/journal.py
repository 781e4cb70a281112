"""What has been graded: one small file a submission, so that a run that was cut off goes on where it stopped.

A record counts only while everything it was made from is the same and the gradebook still says what it says.
It is written after the gradebook, whole or not at all: whatever is lost with a killed run is graded again, and
grading again writes the same points into the same places.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = ".insidebert"  # in the course's folder; hidden, because nothing in it is for people
_LONGEST_NAME = 200  # bytes; a file system takes 255, and a suffix has to fit as well


def digest(*parts: bytes) -> str:
    """One hash over several pieces; the lengths keep two ways to cut the same bytes apart."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def digest_of_files(root: Path, paths: Iterable[Path]) -> str:
    """One hash over files' names and contents, in whatever order they were found."""
    return digest(
        *(
            part
            for path in sorted(paths)
            for part in (path.relative_to(root).as_posix().encode("utf-8"), path.read_bytes())
        )
    )


@dataclass(frozen=True)
class Journal:
    """The records of one course, of one kind."""

    root: Path
    kind: str = "graded"

    def path(self, assignment: str, student: str) -> Path:
        name = student
        if len(os.fsencode(name)) > _LONGEST_NAME:
            name = hashlib.sha256(os.fsencode(name)).hexdigest()
        return self.root / FOLDER / self.kind / assignment / f"{name}.json"

    def read(self, assignment: str, student: str) -> dict[str, Any] | None:
        """The record of a submission; None where there is none, or half of one after a power cut."""
        try:
            record = json.loads(self.path(assignment, student).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError, RecursionError):
            return None
        return record if isinstance(record, dict) and "key" in record else None

    def write(self, assignment: str, student: str, record: dict[str, Any]) -> None:
        write_whole(self.path(assignment, student), json.dumps(record, ensure_ascii=False))


def write_whole(path: Path, text: str, mode: int | None = None) -> None:
    """Write a file that a reader sees as it was or as it will be, never half of it; a full disk leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        if mode is not None:
            partial.chmod(mode)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
