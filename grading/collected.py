"""When a notebook was last changed before it was handed in, as nbgrader's exchange saw it.

The time of a file is evidence only where its owner handed it in: a copy of the course or an archive changes it, and
that is nobody's doing but the instructor's. So it is read once, when a submission is collected through the exchange,
and kept in the course beside the digest of the notebook.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from grading.journal import Journal, digest
from grading.moments import read_moment, write_moment

_KIND = "collected"


def keep_change(root: Path, assignment: str, student: str, data: bytes, changed: datetime) -> None:
    """Note in the course in `root` when this notebook was last changed."""
    record = {"key": digest(data), "changed": write_moment(changed)}
    Journal(root, _KIND).write(assignment, student, record)


def last_change(root: Path, assignment: str, student: str, data: bytes | None) -> datetime | None:
    """When this notebook was last changed, in UTC without a zone; None where it did not come through the exchange."""
    record = Journal(root, _KIND).read(assignment, student)
    if record is None or data is None or record["key"] != digest(data):
        return None
    return read_moment(str(record.get("changed", "")))
