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
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from copy import deepcopy
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from grading import nbgrader_times  # noqa: F401 - sets nbgrader right
from grading.collected import last_change
from grading.course import Course, time_zone
from grading.gradebook import Writer
from grading.intake import find_notebook, read_slip, take_in
from grading.preprocessors import Probe
from grading.releases import Releases
from grading.sandbox.detecting import detect
from grading.sandbox.isolation import SandboxUnavailable
from grading.withholding import NotGradable, lost, withhold
from insidebert.errors import CommandError


class Intake(NotebookExporter):
    """Exports notebooks as they are, from what intake made of the submissions."""

    def __init__(self, **traits: Any):
        super().__init__(**traits)
        if isinstance(self.parent, Autograde):
            stage = tempfile.mkdtemp(prefix="insidebert-intake-")
            weakref.finalize(
                self, shutil.rmtree, stage, ignore_errors=True
            )  # with the run that this is made for
            self._waiting: list[str] = []
            self._redirect(self.parent, Path(stage))

    def _redirect(self, converter: Autograde, stage: Path) -> None:
        """Take in every submission of the run, and give the run a course whose submissions lie in `stage`.

        The course is a copy: the formgrader keeps its own from one click to the next.
        """
        course = converter.coursedir
        submissions = _submissions(course)
        if obstacle := _obstacle(converter, {assignment for _, assignment, _ in submissions}):
            converter.log.error(obstacle)
            raise NbGraderException(obstacle)
        staged = _Staged(config=course.config, **course.trait_values(config=True))
        staged.submitted_directory = str(stage)
        converter.assignments = {}
        versions = {assignment: _versions(course, assignment) for _, assignment, _ in submissions}
        for student, assignment, folder in submissions:
            target = stage / student / assignment
            notebook = _take_in(course, folder, versions[assignment], target, self.log)
            converter.assignments[str(notebook.parent)] = [str(notebook)]
        converter.coursedir = staged
        converter.convert_notebooks = partial(self._name_who_waits, converter.convert_notebooks)

    def _name_who_waits(self, convert_notebooks: Callable[[], None]) -> None:
        """Takes the place of the run's own method: it ends with an error, and so with status 1, when somebody waits."""
        try:
            convert_notebooks()
        finally:
            for sentence in self._waiting:
                self.log.error(sentence)
        if self._waiting:
            raise NbGraderException("\n".join(self._waiting))

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kwargs: Any) -> Any:
        """The graded notebook and the resources; see nbconvert's `Exporter`."""
        try:
            return super().from_notebook_node(nb, resources, **kwargs)
        except (SandboxUnavailable, SQLAlchemyError):  # what holds for one holds for all
            raise
        except Exception as error:
            if not isinstance(self.parent, Autograde):
                raise
            why = str(error) if isinstance(error, NotGradable) else lost(f"{type(error).__name__}: {error}")
            names = resources["nbgrader"]
            _leave_to_a_person(self.parent.coursedir, names["student"], names["assignment"])
            self._waiting.append(
                f"{names['student']}'s {names['assignment']} has no points and waits for a manual grade. {why}"
            )
        withhold(nb, why)
        self._preprocessors = []  # which would give it points
        return super().from_notebook_node(nb, resources, **kwargs)


def _leave_to_a_person(directory: CourseDirectory, student: str, assignment: str) -> None:
    """Writes that the submission has no points and waits for a manual grade, in place of what was there before."""
    config = deepcopy(directory.config)
    for name in ("root", "db_url", "course_id"):
        config.CourseDirectory[name] = getattr(directory, name)
    with closing(Writer(Course(Path(directory.root), config))) as writer:
        writer.write(student, assignment, {})


class _Staged(CourseDirectory):
    """Reads the time of a submission as intake does; nbgrader takes a zone that it does not know for UTC."""

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        folder = Path(dest_path)
        return read_slip(folder, time_zone(self.config)).submitted


def _obstacle(converter: Autograde, assignments: Iterable[str]) -> str:
    """Why nothing here can be graded; empty when it can. nbgrader would find out with a stack trace a submission."""
    walled = Probe in converter.autograde_preprocessors and Probe(parent=converter).isolation != "none"
    if walled and not (found := detect()).name:
        detect.cache_clear()  # the formgrader's next click looks again
        return f"There is no sandbox here: {found.missing}. Nothing was graded."
    course = converter.coursedir
    with Gradebook(course.db_url, course.course_id) as gradebook:
        known = {assignment.name for assignment in gradebook.assignments if assignment.notebooks}
    for assignment in assignments:
        try:
            released = assignment in known and _versions(course, assignment)
        except CommandError as error:
            return str(error)
        if not released:
            return (
                f"{assignment} has not been released. Press Generate in the formgrader's list of assignments, "
                f"or run `insidebert release {assignment}`; then autograde again."
            )
    return ""


def _versions(course: CourseDirectory, assignment: str) -> list[NotebookNode]:
    """What was released of an assignment, the latest first; see `Releases.versions`."""
    releases = Releases(Path(course.root), assignment)
    folder = course.format_path(course.release_directory, ".", assignment)
    releases.take_up(Path(folder, f"{assignment}.ipynb"))
    return [nbformat.reads(text.decode("utf-8"), as_version=4) for text in releases.versions()]


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
    course: CourseDirectory, folder: Path, versions: Sequence[NotebookNode], target: Path, log: Any
) -> Path:
    student, assignment = target.parts[-2:]
    data, flags = find_notebook(folder, assignment)
    changed = last_change(Path(course.root), assignment, student, data)
    slip = read_slip(folder, time_zone(course.config), changed)
    taken = take_in(data, versions[0], flags + slip.flags, versions[1:])
    for flag in taken.flags:
        log.warning("%s, %s: %s", student, assignment, flag.text)
    target.mkdir(parents=True)
    for name, text in slip.files.items():
        (target / name).write_text(text, encoding="utf-8")
    notebook = target / f"{assignment}.ipynb"
    nbformat.write(taken.notebook, notebook)
    return notebook
