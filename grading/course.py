"""A course: a folder with `nbgrader_config.py`, and nbgrader's own interface to it."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.apps.api import NbGraderAPI
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from traitlets import TraitError
from traitlets.config import Config, PyFileConfigLoader

from insidebert.errors import CommandError
from insidebert.lab import search_path

if TYPE_CHECKING:
    from grading.database import Book

CONFIG_FILE = "nbgrader_config.py"


@dataclass(frozen=True)
class Course:
    """An opened course. `config` is what nbgrader would read there, and may be added to before first use."""

    root: Path
    config: Config

    @classmethod
    def open(cls, root: Path) -> Course:
        """Read the course in `root`.

        Raises:
            CommandError: there is no configuration, it cannot be read, or it does not judge outside the kernel.
        """
        root = root.resolve()
        if pattern := set("[]*?") & set(str(root)):
            raise CommandError(
                f"nbgrader takes {' and '.join(sorted(pattern))} in a path for a pattern and finds nothing in {root}. "
                "Rename that folder and try again."
            )
        if not (root / CONFIG_FILE).is_file():
            raise CommandError(
                f"{root} is no course: it has no {CONFIG_FILE}. Run this in the course's folder."
            )
        try:
            config = PyFileConfigLoader(CONFIG_FILE, path=str(root)).load_config()
        except (Exception, SystemExit) as error:  # the file is a program: anything may be wrong with it
            raise CommandError(
                f"{root / CONFIG_FILE} cannot be read ({type(error).__name__}: {error}). Mend it and try again."
            ) from error
        config.CourseDirectory.root = str(root)
        course = cls(root, config)
        try:
            course._hold_to_contract()
            _ = course.directory
        except (TraitError, TypeError) as error:
            raise CommandError(
                f"{root / CONFIG_FILE} sets something to a value it cannot have: {error}"
            ) from error
        return course

    def _hold_to_contract(self) -> None:
        steps = [getattr(step, "__name__", str(step)) for step in self._autograde_steps()]
        if "Judge" not in steps or "Probe" not in steps or steps.index("Probe") > steps.index("Judge"):
            raise CommandError(
                f"{self.root / CONFIG_FILE} does not name grading.preprocessors.Probe and, after it, Judge in "
                "c.Autograde.autograde_preprocessors; without them a submission would grade itself. Add them."
            )
        exporter = self.config.Autograde.get("exporter_class")
        if getattr(exporter, "__name__", str(exporter)).rpartition(".")[2] != "Intake":
            raise CommandError(
                f"{self.root / CONFIG_FILE} does not set c.Autograde.exporter_class to grading.exporter.Intake; "
                "without it nbgrader would read submissions as they come. Add it."
            )
        if not self.folder("source_directory").is_dir():
            raise CommandError(
                f"{self.folder('source_directory')} is missing: the exercises' sources live there. "
                f"Restore it, or mend c.CourseDirectory.source_directory in {self.root / CONFIG_FILE}."
            )

    def _autograde_steps(self) -> list[Any]:
        return list(self.config.Autograde.get("autograde_preprocessors", []))

    @cached_property
    def directory(self) -> CourseDirectory:
        return CourseDirectory(config=self.config)

    @cached_property
    def api(self) -> NbGraderAPI:
        _find_programs()
        authenticator = Authenticator(config=self.config)
        return NbGraderAPI(coursedir=self.directory, authenticator=authenticator, config=self.config)

    def gradebook(self) -> Book:
        """The gradebook, opened; see `Book`."""
        from grading.database import Book

        _find_programs()
        return Book(str(self.directory.db_url), str(self.directory.course_id))

    def folder(self, kind: str) -> Path:
        """One of the course's folders by its trait's name, e.g. "submitted_directory"."""
        configured = self.config.CourseDirectory.get(kind) or kind.removesuffix("_directory")
        return self.root / str(configured)

    def notebook(self, kind: str, assignment: str, student: str | None = None) -> Path:
        """The notebook of an assignment: one an assignment, named like it."""
        parts = (student, assignment) if student else (assignment,)
        return self.folder(kind).joinpath(*parts, f"{assignment}.ipynb")

    def handed_in(self) -> list[tuple[str, str, Path]]:
        """Learner, assignment and folder of all that was handed in. Hidden folders are programs' own."""
        folders = sorted(self.folder("submitted_directory").glob("[!.]*/[!.]*"))
        return [(path.parent.name, path.name, path) for path in folders]

    def assignments(self) -> list[str]:
        """The assignments that have a source, by name."""
        return sorted(
            path.stem
            for path in self.folder("source_directory").glob("*/*.ipynb")
            if path.stem == path.parent.name
        )


def time_zone(config: Config) -> str | None:
    """The zone that a course's time stamps are written in, by its IANA name; None where none is set."""
    return str(config.Exchange.get("timezone") or "") or None


def _find_programs() -> None:
    """Lets nbgrader, in this process, find what lies beside this Python."""
    if str(Path(sys.executable).parent) not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = search_path()


def done(result: dict[str, Any], what: str) -> None:
    """Raise when a call to nbgrader's interface did not succeed.

    Raises:
        CommandError: names what was tried and nbgrader's last word on it.
    """
    if not result["success"]:
        raise CommandError(f"{what} failed: {last_word(result)}")


def last_word(result: dict[str, Any]) -> str:
    """The sentence in an nbgrader log that says what went wrong: its last error, else its last line."""
    lines = [line for line in (result.get("log") or "").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("[ERROR]") and "Traceback" not in line]
    exceptions = [line.strip() for line in lines if _names_an_exception(line.strip())]
    word = (exceptions or errors or lines or [result.get("error") or "nbgrader gave no reason"])[-1]
    return "the disk is full" if os.strerror(errno.ENOSPC) in word else word


def _names_an_exception(line: str) -> bool:
    name = line.split(":", 1)[0]
    return name.replace(".", "").isidentifier() and name.endswith(("Error", "Exception"))
