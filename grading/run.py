"""One run over a course: what there is to grade, who grades it, and what is written when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import category

from grading import evidence
from grading.collected import last_change
from grading.course import Course, time_zone
from grading.gradebook import Writer
from grading.intake import Slip, find_notebook, read_slip
from grading.journal import Journal, digest, write_whole
from grading.pool import Done, Task, Worker, WorkerDied, work
from grading.preprocessors import Probe
from grading.readiness import Assignment, Desk, prove
from grading.report import Report, Row
from grading.sandbox.isolation import Isolation
from grading.sandbox.limits import Limits
from grading.withholding import NotGradable, lost
from grading.worker import Terms, grade, ungraded
from insidebert.errors import CommandError

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Outcome:
    """What a run did. `troubles` are sentences about what needs a person, `notes` about what does not;
    `left` were not begun."""

    report: Report
    troubles: list[str]
    notes: list[str]
    graded: int
    kept: int
    left: int


@dataclass
class Submission:
    """One of those to be graded. `key` and `slip` say what was there when its bytes were read."""

    student: str
    assignment: Assignment
    course: Course
    key: str = ""
    slip: Slip = field(default_factory=lambda: Slip(None, {}, []))

    @property
    def folder(self) -> Path:
        return self.course.notebook("submitted_directory", self.assignment.name, self.student).parent

    def load(self) -> tuple[Any, ...]:
        """What a worker gets; see `worker.grade`."""
        data, flags = find_notebook(self.folder, self.assignment.name)
        changed = last_change(self.course.root, self.assignment.name, self.student, data)
        self.slip = read_slip(self.folder, time_zone(self.course.config), changed)
        flags = [*flags, *self.slip.flags]
        beside = repr((self.slip.files, flags)).encode("utf-8", "replace")
        self.key = digest(
            b"none" if data is None else b"some" + data, beside, self.assignment.digest.encode()
        )
        return data, tuple(flags), self.assignment.terms


class Run:
    """Grades; a context, because it holds the gradebook open."""

    def __init__(
        self,
        course: Course,
        workers: Sequence[Worker],
        isolation: Isolation,
        *,
        limits: Limits | None = None,
        force: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ):
        self._course, self._workers, self._force, self._stop = course, workers, force, stop
        self._limits, self._isolation = limits or Probe(config=course.config).limits(), isolation
        self._journal = Journal(course.root)
        self._writer = Writer(course)
        self._rows: list[Row] = []
        self._troubles: list[str] = []
        self._notes: list[str] = []
        self._warm: set[bool] = set()
        self._isolations: set[str] = set()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def grade(
        self,
        assignments: Sequence[str] = (),
        students: Sequence[str] | None = None,
        progress: Progress = lambda done, total, name: None,
    ) -> Outcome:
        """Grade what has been submitted and not been graded.

        Args:
            assignments: their names; all that somebody has submitted where none is given.
            students: only theirs.

        Raises:
            CommandError: it cannot begin, or cannot go on; what has been graded stays graded.
        """
        began = time.perf_counter()
        desk = Desk(
            self._course,
            self._writer,
            lambda versions: Terms(versions[0], self._limits, self._isolation, versions[1:]),
        )
        wanted = [desk.assignment(name) for name in assignments or self._submitted_assignments()]
        if not wanted:
            raise CommandError(f"nobody has submitted anything to {self._folder}.")
        waiting, kept = [], 0
        for assignment in wanted:
            for one, done_before in self._sorted_out(assignment, students):
                kept += done_before
                if not done_before:
                    waiting.append(one)
        prove(self._course, {one.assignment.name: one.assignment for one in waiting}.values(), self._workers)
        graded = 0
        tasks = (Task(one, one.load) for one in waiting)
        for done in work(grade, tasks, self._workers, self._stop):
            self._finish(done)
            graded += 1
            progress(graded, len(waiting), done.name.student)
        report = self._report(time.perf_counter() - began, graded)
        return Outcome(report, self._troubles, self._notes, graded, kept, len(waiting) - graded)

    def _report(self, seconds: float, graded: int) -> Report:
        self._rows.sort(
            key=lambda row: (row.assignment, row.student)
        )  # stable: the questions keep their order
        return Report(
            self._rows,
            seconds,
            workers=len(self._workers),
            isolation=", ".join(sorted(self._isolations)) or self._isolation.name,
            warm=self._warm == {True},
            graded=graded,
        )

    # --- what there is ------------------------------------------------------------------------------------

    @property
    def _folder(self) -> Path:
        return self._course.folder("submitted_directory")

    def _submitted_assignments(self) -> list[str]:
        known = set(self._course.assignments())
        return sorted({name for _, name, _ in self._course.handed_in() if name in known})

    def _sorted_out(
        self, assignment: Assignment, students: Sequence[str] | None
    ) -> Iterator[tuple[Submission, bool]]:
        """The submissions of an assignment, and of each whether it has been graded before."""
        scores = {} if self._force else self._writer.scores(assignment.name)
        waiting = self._writer.waiting(assignment.name)
        for one in self._submissions(assignment, students):
            kept = not self._force and self._is_kept(one, scores.get(one.student), one.student in waiting)
            yield one, kept

    def _submissions(self, assignment: Assignment, students: Sequence[str] | None) -> Iterator[Submission]:
        excluded = str(self._course.config.CourseDirectory.get("student_id_exclude", "")).split(",")
        found = {
            student: path
            for student, name, path in self._course.handed_in()
            if name == assignment.name and student not in excluded
        }
        for student in found if students is None else dict.fromkeys(students):
            if not _is_text(student):
                self._troubles.append(
                    f"the folder {student!a} has a name that is no line of text; rename it."
                )
            elif set("[]*?") & set(student):
                self._troubles.append(
                    f"{student!a} is a name that nbgrader takes for a pattern; rename the folder, without [ ] * ?."
                )
            elif student not in found:
                self._troubles.append(self._absent(student, assignment.name))
            elif not self._writer.creates_students and not self._writer.knows(student):
                self._troubles.append(
                    f"{student} is not in the gradebook and was not graded. Run `nbgrader db student add {student}`, "
                    "or set c.Autograde.create_student, and grade again."
                )
            else:
                yield Submission(student, assignment, self._course)

    def _absent(self, student: str, assignment: str) -> str:
        if self._writer.knows(student) or (self._folder / student).is_dir():
            return f"{student} has not submitted {assignment}."
        return f"there is no student {student!r}, neither in the gradebook nor in {self._folder}."

    # --- what had been done -------------------------------------------------------------------------------

    def _is_kept(self, one: Submission, scores: dict[str, float | None] | None, waiting: bool) -> bool:
        """Whether it was graded from the same bytes by the same questions, and the gradebook still says so.

        What could not be read is named until a person has given the points for which it is `waiting`.
        """
        record = self._journal.read(one.assignment.name, one.student)
        if record is None:
            return False
        one.load()
        if record["key"] != one.key or record.get("scores") != scores or not self._autograded(one).is_file():
            return False
        try:
            self._note(one, record, waiting)
        except (KeyError, TypeError):  # written by hand, or by another version
            return False
        return True

    def _autograded(self, one: Submission) -> Path:
        return self._course.notebook("autograded_directory", one.assignment.name, one.student)

    # --- what is written ----------------------------------------------------------------------------------

    def _finish(self, done: Done) -> None:
        """First the files, then the gradebook, then the journal: an end between two of them costs one more grading."""
        one: Submission = done.name
        if isinstance(done.error, CommandError):  # no sandbox: what holds for one holds for all
            raise done.error
        result = done.result or self._withheld(one, done.error)
        self._store(one, result)
        self._writer.write(
            one.student,
            one.assignment.name,
            result["scores"],
            untouched=frozenset(result["untouched"]),
            submitted=one.slip.submitted,
        )
        kept = ("rows", "scores", "waits", "flags", "warm", "isolation", "trouble")
        record = {name: result[name] for name in kept}
        if done.result:  # else the next run tries it again
            self._journal.write(one.assignment.name, one.student, {"key": one.key, **record})
        self._note(one, record)

    def _withheld(self, one: Submission, error: BaseException | None) -> dict[str, Any]:
        """What is written when grading failed, which is our fault: no points stand, old ones neither."""
        reason = "its worker died each time" if isinstance(error, WorkerDied) else _in_words(error)
        data, flags, terms = one.load()
        try:
            return ungraded(data, flags, terms, lost(reason))
        except Exception:  # the same failure, once more: without what was handed in
            return ungraded(None, flags, terms, lost(reason))

    def _store(self, one: Submission, result: dict[str, Any]) -> None:
        path = self._autograded(one)
        shared = bool(self._course.config.CourseDirectory.get("groupshared", False))
        mode = 0o664 if shared else 0o444  # as nbgrader leaves them
        write_whole(path, result["notebook"], mode)
        for name, text in one.slip.files.items():
            write_whole(path.with_name(name), text, mode)
        if result["kept"] is None:
            (path.parent / evidence.FILE).unlink(missing_ok=True)
        else:
            evidence.write(path.parent, result["kept"])

    def _note(self, one: Submission, record: dict[str, Any], waiting: bool = True) -> None:
        """Put it into the report, and say what it needs; `waiting`: it still does."""
        flags = [flag["id"] for flag in record["flags"]]
        rows = [Row(one.student, one.assignment.name, flags=flags, **row) for row in record["rows"]]
        isolation, warm, trouble, waits = (record[name] for name in ("isolation", "warm", "trouble", "waits"))
        self._rows += rows
        if isolation:  # else nothing ran
            self._isolations.add(isolation)
            self._warm.add(warm)
        if trouble:
            self._notes.append(f"{one.student}, {one.assignment.name}: {trouble}")
        if waits and waiting:
            self._troubles.append(
                f"{one.student}'s {one.assignment.name} has no points. {waits} "
                "In the formgrader it waits for a manual grade."
            )


def _in_words(error: BaseException | None) -> str:
    return str(error) if isinstance(error, NotGradable) else f"{type(error).__name__}: {error}"


def _is_text(name: str) -> bool:
    """Whether a folder's name can be written in one line: a file system takes any bytes, and nbgrader's feedback for
    a whole class ends at a name with a line's end in it."""
    return not any(category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name)
