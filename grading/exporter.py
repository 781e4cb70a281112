"""How `nbgrader autograde` and the formgrader's button get their submissions: from intake, and from nowhere else.

nbgrader lets a course name the exporter that reads its notebooks (`c.Autograde.exporter_class`). It makes one at the
start of every run, after it has listed the submissions and before it has opened any. That is where this one takes
them all in, into a folder of its own, and lets the run go on there. nbgrader itself would follow a link, wait for a
pipe, stop the whole batch for a `schema_version` it does not know, and pass over a folder without a notebook.
"""

from __future__ import annotations

import glob
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from grading.intake import find_notebook, read_slip, take_in


class Intake(NotebookExporter):
    """Exports notebooks as they are, from what intake made of the submissions."""

    def __init__(self, **traits: Any):
        super().__init__(**traits)
        if isinstance(self.parent, Autograde):
            stage = tempfile.mkdtemp(prefix="insidebert-intake-")
            weakref.finalize(
                self, shutil.rmtree, stage, ignore_errors=True
            )  # with the run that this is made for
            self._redirect(self.parent, Path(stage))

    def _redirect(self, converter: Autograde, stage: Path) -> None:
        """Take in every submission of the run, and give the run a course whose submissions lie in `stage`.

        The course is a copy: the formgrader keeps its own from one click to the next.
        """
        course = converter.coursedir
        staged = CourseDirectory(config=course.config, **course.trait_values(config=True))
        staged.submitted_directory = str(stage)
        converter.assignments = {}
        for student, assignment, folder in _submissions(course):
            notebook = _take_in(course, student, assignment, folder, stage, self.log)
            converter.assignments[str(notebook.parent)] = [str(notebook)]
        converter.coursedir = staged


def _submissions(course: CourseDirectory) -> list[tuple[str, str, Path]]:
    """The folders that nbgrader would look at, those without a notebook included."""
    wanted = (course.student_id, course.assignment_id)
    pattern = re.compile(
        course.format_path(course.submitted_directory, "(?P<student>.*)", "(?P<assignment>.*)", escape=True)
    )
    folders = glob.glob(course.format_path(course.submitted_directory, *wanted))  # noqa: PTH207 - as nbgrader does
    matches = map(pattern.fullmatch, sorted(folders))
    return [(match["student"], match["assignment"], Path(match.group())) for match in matches if match]


def _take_in(
    course: CourseDirectory, student: str, assignment: str, folder: Path, stage: Path, log: Any
) -> Path:
    data, flags = find_notebook(folder, assignment)
    slip = read_slip(folder, assignment)
    taken = take_in(data, _released(course, assignment, log), flags + slip.flags)
    for flag in taken.flags:
        log.warning("%s, %s: %s", student, assignment, flag.text)
    target = stage / student / assignment
    target.mkdir(parents=True)
    for name, text in slip.files.items():
        (target / name).write_text(text, encoding="utf-8")
    notebook = target / f"{assignment}.ipynb"
    nbformat.write(taken.notebook, notebook)
    return notebook


def _released(course: CourseDirectory, assignment: str, log: Any) -> NotebookNode:
    path = Path(course.format_path(course.release_directory, ".", assignment), f"{assignment}.ipynb")
    if not path.is_file():
        sentence = (
            f"{path} is missing: {assignment} has not been released. Run: insidebert release {assignment}"
        )
        log.error(sentence)
        raise NbGraderException(sentence)
    return nbformat.read(path, as_version=4)
