"""The steps that `nbgrader_config.py` adds to nbgrader's, and those it puts in place of nbgrader's own.

What they get `grading.exporter.Intake` has rebuilt. `Probe` runs it with a seed that only this run knows. `Judge`
reads the evidence when the kernel is gone. Between them nothing a submission does can decide about its points.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from traitlets import Enum, Integer

from grading import evidence, sqlite  # noqa: F401 - sqlite: for every connection of nbgrader's
from grading.executing import execute
from grading.sandbox.isolation import NONE
from grading.sandbox.limits import Limits
from grading.withholding import NotGradable, lost, unreadable

_SEED = "insidebert_seed"


class Probe(NbGraderPreprocessor):
    """Takes the place of nbgrader's `Execute`: a sandboxed kernel whose checks only probe.

    The seed travels on to `Judge`. Where there is no sandbox it raises `SandboxUnavailable`, and `NotGradable` where
    there is nothing to run or the run says nothing: `grading.exporter.Intake` sees to that.
    """

    timeout = Integer(60, help="Seconds a cell may take.").tag(config=True)
    total_timeout = Integer(300, help="Seconds a notebook may take.").tag(config=True)
    memory_mb = Integer(4096, help="Megabytes of memory a notebook may use.").tag(config=True)
    isolation = Enum(
        ("sandbox", "none"), "sandbox", help="'none' runs submissions with the rights of whoever grades."
    ).tag(config=True)

    def limits(self) -> Limits:
        """As the course's configuration sets them."""
        return Limits(
            cell_seconds=self.timeout, total_seconds=self.total_timeout, memory_bytes=self.memory_mb * 2**20
        )

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Any:
        if why := unreadable(nb):
            raise NotGradable(why)
        seed = secrets.randbits(48)
        ran = execute(nb, seed, self.limits(), NONE if self.isolation == "none" else None)
        if ran.lost:
            raise NotGradable(lost(ran.trouble))
        if ran.trouble:
            self.log.warning(ran.trouble)
        resources[_SEED] = seed
        return nb, resources


class Judge(NbGraderPreprocessor):
    """Writes the verdict over the outputs of every graded cell, and beside the notebook what it was judged by."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Any:
        if _SEED not in resources:
            raise RuntimeError(
                "Judge found no seed: nbgrader_config.py must list grading.preprocessors.Probe before Judge."
            )
        _, kept = evidence.judge_and_keep(nb, resources.pop(_SEED))
        names, course = resources["nbgrader"], CourseDirectory(config=self.config)
        folder = course.format_path(course.autograded_directory, names["student"], names["assignment"])
        evidence.write(Path(folder), kept)
        return nb, resources


class Points(GetGrades):
    """Takes the place of nbgrader's `GetGrades` before feedback: notes besides which cells wait for a person."""

    def _get_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        super()._get_score(cell, resources)
        names = (cell.metadata.nbgrader["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
        cell.metadata.nbgrader["waits"] = bool(self.gradebook.find_grade(*names).needs_manual_grade)
