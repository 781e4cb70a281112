"""`nbgrader zip_collect` by the rules of `insidebert collect`: an extractor and a collector for its configuration.

nbgrader's own unpack whatever a learner packed, archives in archives without end, and copy what links point to.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from grading.downloads import ARCHIVE, Download, Unreadable
from grading.lms import Sorting
from grading.moments import write_moment
from grading.roster import after_due, roster_of
from insidebert.errors import CommandError


class Extractor(ExtractorPlugin):
    """Takes one notebook of each learner out of a download, into a folder of her id.

    Attributes:
        late: when to take what Canvas calls late for handed in, by learner.
    """

    def __init__(self, **traits: Any):
        super().__init__(**traits)
        self.late: dict[str, datetime] = {}

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Take them from a folder; one archive in it and nothing else is the download."""
        from nbgrader.api import Gradebook

        course = self.parent.coursedir
        with (
            Gradebook(course.db_url, course.course_id) as gradebook,
            Download(_download(Path(archive_path))) as download,
        ):
            try:
                sorting = Sorting(download, roster_of(gradebook), course.assignment_id)
            except CommandError as error:
                self.parent.fail(str(error))
            for one in sorting.left:
                self.log.warning("Not taken: %s (%s)", one.called, one.why)
            for taking in map(sorting.take, sorting.owners):
                if taking.late and (moment := after_due(gradebook, course.assignment_id, taking.student)):
                    self.late[taking.student] = moment
                try:
                    data = taking.choice.read()
                except Unreadable as error:
                    self.log.warning("%s: %s", taking.student, error)
                    data = b""  # for a person to look at, which `insidebert grade` says
                if data is not None:
                    path = Path(extracted_path, taking.student, taking.choice.name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)


class Collector(FileNameCollectorPlugin):
    """Says whose the notebooks are that `Extractor` has sorted."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        path = Path(submitted_file)
        student = path.parent.name
        late = self.parent.extractor_plugin_inst.late.get(student)
        found = {"student_id": student, "file_id": path.name}
        return found | ({"timestamp": write_moment(late)} if late else {})


def _download(folder: Path) -> Path:
    files = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return files[0] if len(files) == 1 and files[0].suffix.lower() == ARCHIVE else folder
