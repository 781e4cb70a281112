"""What must hold before anybody is graded: the assignment is released, known, and its own solution passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat

import checks
from checks.questions import find
from grading.course import Course
from grading.gradebook import Writer
from grading.journal import Journal, digest, digest_of_files
from grading.judging import graded_cells
from grading.pool import Done, Task, Worker, work
from grading.releases import Releases
from grading.sandbox.detecting import detect
from grading.sandbox.isolation import NONE, Isolation
from grading.worker import Terms, grade
from insidebert.errors import CommandError

_TRIES = 2  # a statistical check misses once in many thousand draws; twice in a row is no accident


def isolation_for(choice: str) -> Isolation:
    """The walls this machine can put up, or none where that was asked for.

    Raises:
        CommandError: it can put up none, and nobody asked to do without.
    """
    if choice == "none":
        return NONE
    found = detect()
    if not found.name:
        raise CommandError(
            f"there is no sandbox here: {found.missing}. "
            "To grade submissions that you trust without one: --isolation none."
        )
    return found


@dataclass(frozen=True)
class Assignment:
    """What all submissions of an assignment have in common. `digest` stands for everything that decides a grade."""

    name: str
    terms: Terms
    digest: str

    @cached_property
    def points(self) -> dict[str, float]:
        """By question."""
        notebook = nbformat.reads(self.terms.released.decode("utf-8"), as_version=4)
        marks = [cell.metadata["nbgrader"] for cell in graded_cells(notebook)]
        return {str(mark["grade_id"]): float(mark["points"]) for mark in marks}


class Desk:
    """Hands out the assignments of a course, each checked once."""

    def __init__(self, course: Course, writer: Writer, terms: Callable[[tuple[bytes, ...]], Terms]):
        self._course, self._writer, self._terms = course, writer, terms

    def assignment(self, name: str) -> Assignment:
        """Raises: CommandError: it cannot be graded as it stands; says what to do first."""
        if not self._course.notebook("source_directory", name).is_file():
            known = ", ".join(self._course.assignments()) or "none"
            raise CommandError(f"there is no assignment {name!r}; there are: {known}.")
        points = self._writer.released(name)
        versions = self._versions(name) if points is not None else ()
        if not versions:
            raise CommandError(f"{name} has not been released. Run `insidebert release {name}` first.")
        found = Assignment(name, self._terms(versions), digest(versions[0], self._questions, self._lock))
        if found.points != points:
            raise CommandError(
                f"what was released of {name} and the gradebook differ about its questions or their points. "
                f"Run `insidebert release {name}` and grade again."
            )
        for question in found.points:
            try:
                find(question)
            except LookupError as error:
                raise CommandError(f"{name}: {error} Nobody could judge it.") from error
        return found

    def _versions(self, name: str) -> tuple[bytes, ...]:
        releases = Releases(self._course.root, name)
        releases.take_up(self._course.notebook("release_directory", name))
        return releases.versions()

    @cached_property
    def _questions(self) -> bytes:
        folder = Path(checks.__file__).parent
        return digest_of_files(folder, folder.glob("**/*.py")).encode()

    @cached_property
    def _lock(self) -> bytes:
        path = self._course.root / "requirements.lock"
        return path.read_bytes() if path.is_file() else b""


def prove(course: Course, assignments: Iterable[Assignment], workers: Sequence[Worker]) -> None:
    """Grade the solutions first: a check that its own solution fails would fail everybody. Each is proven once.

    Raises:
        CommandError: one does not earn all its points.
    """
    proven = Journal(course.root, "proven")
    keys, tasks = {}, []
    for assignment in assignments:
        source = course.notebook("source_directory", assignment.name).read_bytes()
        keys[assignment.name] = digest(source, assignment.digest.encode())
        if (proven.read(assignment.name, "solution") or {}).get("key") != keys[assignment.name]:
            tasks.append(Task(assignment.name, _arguments(source, assignment.terms)))
    failed: dict[str, str] = {}
    for _ in range(_TRIES):
        failed = {}
        for done in work(grade, tasks, workers):
            if missed := _missed(done):
                failed[done.name] = missed
            else:
                proven.write(done.name, "solution", {"key": keys[done.name]})
        tasks = [task for task in tasks if task.name in failed]
    if failed:
        raise CommandError(
            f"{' '.join(failed.values())} Nothing was graded. "
            f"Mend it in {course.folder('source_directory')}, or mend the check."
        )


def _missed(done: Done) -> str:
    """What the solution failed at; empty when it earned all its points."""
    if isinstance(done.error, CommandError):
        raise done.error
    if done.result is None:
        raise CommandError(
            f"the solution of {done.name} could not be graded ({type(done.error).__name__}: {done.error})."
        )
    rows = [row for row in done.result["rows"] if row["state"] != "correct"]
    asked = ", ".join(f"{row['question']} ({', '.join(row['findings'])})" for row in rows)
    return f"the solution of {done.name} fails its own check: {asked}." if rows else ""


def _arguments(source: bytes, terms: Terms) -> Callable[[], tuple[Any, ...]]:
    return lambda: (source, (), terms)
