"""The steps that `nbgrader_config.py` adds to nbgrader's, and those it puts in place of nbgrader's own execution.

`Restore` puts back what a submission lacks. `Probe` runs it with a seed that only this run knows. `Judge` reads the
evidence when the kernel is gone. Between them nothing a submission does can decide about its points.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked

from checks import SEED_VARIABLE
from grading import evidence

_SEED = "insidebert_seed"


class Restore(NbGraderPreprocessor):
    """Puts back the locked cells that a submission lacks, and forgets what is left of copied ones.

    nbgrader's `DeduplicateIds` leaves a copy with empty metadata, and its `add_missing_cells` then fails on it:
    whoever splits or copies a cell would get nothing for the whole notebook. Runs right after `DeduplicateIds`.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Any:
        for cell in nb.cells:
            if "nbgrader" in cell.metadata and not _grade_id(cell):
                del cell.metadata["nbgrader"]
        restore_locked(nb, self._released(resources["nbgrader"]))
        return nb, resources

    def _released(self, names: dict[str, str]) -> NotebookNode:
        course = CourseDirectory(config=self.config)
        folder = course.format_path(course.release_directory, ".", names["assignment"])
        return nbformat.read(Path(folder) / f"{names['notebook']}.ipynb", as_version=4)


def restore_locked(submitted: NotebookNode, released: NotebookNode) -> None:
    """Insert each locked cell of `released` that `submitted` lacks, behind the cell it follows there."""
    present = {_grade_id(cell): cell for cell in submitted.cells if _grade_id(cell)}
    position = 0
    for cell in released.cells:
        name = _grade_id(cell)
        if name in present:
            position = submitted.cells.index(present[name]) + 1
        elif name and is_locked(cell):
            submitted.cells.insert(position, deepcopy(cell))
            position += 1


def _grade_id(cell: NotebookNode) -> str | None:
    name: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return name


class Probe(Execute):
    """nbgrader's `Execute` in a kernel whose checks only probe; the seed travels on to `Judge`."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict, km: Any = None) -> Any:
        seed = secrets.randbits(48)
        with _variable(SEED_VARIABLE, str(seed)), tempfile.TemporaryDirectory(prefix="kernel-") as sockets:
            self._sockets = sockets
            nb, resources = super().preprocess(nb, resources, km)
        resources[_SEED] = seed
        return nb, resources

    def _get_timeout(self, cell: NotebookNode | None) -> int | None:
        """Our own set-up cell imports torch and may take its time on a busy machine; what follows may not."""
        seconds: int | None = super()._get_timeout(cell)
        ours = cell is not None and is_locked(cell) and not is_grade(cell)
        return seconds * 4 if ours and seconds else seconds

    def create_kernel_manager(self) -> Any:
        manager = super().create_kernel_manager()
        if sys.platform != "win32":
            # Kernels on TCP race for ports when several start at once, and anyone on the machine can connect.
            manager.transport = "ipc"
            manager.ip = str(Path(self._sockets) / "kernel")  # absolute: the kernel starts in another folder
        return manager


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """An environment variable that the kernel inherits and that is gone whatever happens to it."""
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


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
