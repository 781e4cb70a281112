"""The steps that `nbgrader_config.py` adds to nbgrader's, and those it puts in place of nbgrader's own execution.

What they get `grading.exporter.Intake` has rebuilt. `Probe` runs it with a seed that only this run knows. `Judge`
reads the evidence when the kernel is gone. Between them nothing a submission does can decide about its points.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked

from checks import SEED_VARIABLE
from grading import evidence

_SEED = "insidebert_seed"


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
