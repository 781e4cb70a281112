"""`insidebert collect`: a download of Canvas or Moodle, or notebooks named for their learners, into `submitted/`."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from insidebert.errors import CommandError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook
    from rich.table import Table

    from grading.course import Course
    from grading.lms import Sorting, Taking
    from grading.names import Roster

_FEW = 3  # learners that one line names
_NOT_TAKEN = "not taken"


@dataclass(frozen=True)
class Line:
    """Who, which file was taken, and what to look at; `needs_you` where something is not as it should be.

    `late` is when what an LMS calls late counts as handed in.
    """

    who: str
    file: str
    look: str = ""
    needs_you: bool = False
    late: datetime | None = None


@dataclass(frozen=True)
class Collected:
    """What was taken, by learner, a line about each and about all that was left, and sentences for all."""

    students: list[str]
    lines: list[Line]
    notes: list[str]

    @property
    def needs_you(self) -> bool:
        return any(line.needs_you for line in self.lines)


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert collect`."""
    parser = commands.add_parser(
        "collect",
        help="take what an LMS downloaded into submitted/",
        description="Takes a download of Canvas or Moodle, or notebooks named for their learners, into submitted/: "
        "one notebook a learner. Exit status 1: something in it needs your attention, and is named.",
    )
    parser.add_argument("assignment")
    parser.add_argument("download", type=Path, help="the archive that the LMS made, or a folder")
    parser.add_argument("--force", action="store_true", help="replace what had been submitted before")
    parser.add_argument(
        "--new", action="store_true", help="take learners, too, whom the gradebook's class list does not have"
    )
    parser.add_argument("--verbose", action="store_true", help="a line for each learner")
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from rich.console import Console

    from grading.course import Course

    collected = collect(
        Course.open(args.course), args.assignment, args.download, force=args.force, new=args.new
    )
    console = Console()
    console.print(table(collected.lines if args.verbose else _together(collected.lines)))
    for note in collected.notes:
        console.print(note, markup=False, highlight=False)
    count = len(collected.students)
    print(f"{count} {'submission' if count == 1 else 'submissions'} of {args.assignment}")
    return int(collected.needs_you)


def collect(
    course: Course, assignment: str, download: Path, *, force: bool = False, new: bool = False
) -> Collected:
    """Take a download into `submitted/`.

    Args:
        force: replace what lies there from an earlier download.
        new: take learners, too, whom the gradebook's class list does not have.

    Raises:
        CommandError: there is nothing to take, it is the course's own, or it would replace what is there; nothing has
            been taken then.
    """
    from grading.downloads import Download
    from grading.lms import Sorting
    from grading.roster import roster_of

    if not course.notebook("release_directory", assignment).is_file():
        raise CommandError(
            f"{assignment} has not been released. Run `insidebert release {assignment}` first."
        )
    own = [
        course.folder(f"{step}_directory")
        for step in ("submitted", "autograded", "feedback", "release", "source")
    ]
    if any(download.resolve().is_relative_to(folder.resolve()) for folder in own):
        raise CommandError(
            f"{download} is a folder of the course's own, and no download. Name what you got from your LMS."
        )
    with course.gradebook() as gradebook, Download(download) as opened:
        roster = roster_of(gradebook)
        sorting = Sorting(opened, roster, assignment, new=new)
        if not sorting.owners and not sorting.left:
            raise CommandError(
                f"nothing in {download} is named as Canvas, Moodle or a learner's name would be."
            )
        standing = _standing(course, sorting, assignment, force)
        lines = []
        for student in sorted(sorting.owners):
            is_new = roster.closed and student not in roster.ids
            lines.append(
                Line(student, standing[student])
                if student in standing
                else _put(course, gradebook, sorting.take(student), assignment, is_new)
            )
        gradebook.db.rollback()  # what was read is of before the files: a writer must not begin from it
        _introduce(gradebook, sorting, roster)
    lines += [Line(left.called, _NOT_TAKEN, left.why, needs_you=True) for left in sorting.left]
    return Collected(sorted(sorting.owners), lines, list(_notes(lines, assignment)))


def _standing(course: Course, sorting: Sorting, assignment: str, force: bool) -> dict[str, str]:
    """By learner the file in `submitted/` that is the very one in the download, and stays.

    Raises:
        CommandError: another lies there, and was not to be replaced.
    """
    from grading.downloads import Unreadable

    standing, other = {}, []
    for student in sorting.owners:
        folder = _folder(course, assignment, student)
        if force or not folder.exists():
            continue
        taking = sorting.take(student)
        choice = taking.choice
        try:
            same = _holds(folder, choice.name, choice.read())
        except Unreadable:
            same = _holds(folder, choice.name, b"")
        if same and taking.late and not (folder / "timestamp.txt").exists():
            continue  # there may be a due date by now
        if same:
            standing[student] = f"{choice.file}, as before"
        else:
            other.append(student)
    if other:
        names = ", ".join(other[:5]) + (f" and {len(other) - 5} more" if len(other) > 5 else "")
        raise CommandError(
            f"there are other submissions of {assignment} already, by {names}; --force replaces them with "
            "those of the download. Nothing was taken."
        )
    return standing


def _folder(course: Course, assignment: str, student: str) -> Path:
    return course.notebook("submitted_directory", assignment, student).parent


def _holds(folder: Path, name: str, data: bytes | None) -> bool:
    path = folder / name
    if data is None:
        return not any(folder.glob("*.ipynb"))
    return path.is_file() and not path.is_symlink() and path.read_bytes() == data


def _put(course: Course, gradebook: Gradebook, taking: Taking, assignment: str, is_new: bool) -> Line:
    """Put what a learner sent into `submitted/`, in place of what lies there.

    Who sent no notebook has an empty folder, and is graded as such. Where nobody can read what she sent, an empty
    file stands for it: it has no points and waits for a person.
    """
    from grading.downloads import Unreadable
    from grading.moments import write_moment
    from grading.roster import after_due

    look = ["new in the gradebook"] if is_new else []
    try:
        data = taking.choice.read()
        look += taking.choice.faults
        needs_you = data is None or bool(taking.choice.faults)
    except Unreadable as error:
        look.append(f"cannot be read: {error}")
        data, needs_you = b"", True
    files = {} if data is None else {taking.choice.name: data}
    late = after_due(gradebook, assignment, taking.student) if taking.late else None
    if late:
        look.append(f"late: counts as handed in {late:%Y-%m-%d %H:%M:%S} UTC")
        files["timestamp.txt"] = write_moment(late).encode("utf-8")
    elif taking.late:
        look.append("late, and costs nothing: no due date in the gradebook")
        needs_you = True
    _replace(_folder(course, assignment, taking.student), files, late)
    look += filter(None, [taking.choice.beside])
    return Line(taking.student, taking.choice.file, "; ".join(look), needs_you, late)


def _replace(folder: Path, files: dict[str, bytes], moment: datetime | None) -> None:
    """Write a folder beside the one before, which stays until then."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".", ignore_cleanup_errors=True) as scratch:
        fresh = Path(scratch, "fresh")
        fresh.mkdir()
        for name, data in files.items():
            (fresh / name).write_bytes(data)
            if moment:
                seconds = moment.replace(tzinfo=UTC).timestamp()
                os.utime(fresh / name, (seconds, seconds))
        if folder.exists():
            folder.rename(Path(scratch, "before"))
        fresh.rename(folder)


def _introduce(gradebook: Gradebook, sorting: Sorting, roster: Roster) -> None:
    """Note Canvas's numbers in the gradebook: its grade import knows people by them, and so does the next download.

    Whoever is new to a class list is put on it, so that the next download knows her.
    """
    for student, owner in sorting.owners.items():
        if owner.lms == "canvas":
            gradebook.update_or_create_student(student, lms_user_id=owner.number)
        elif roster.closed and student not in roster.ids:
            gradebook.add_student(student)


def _notes(lines: Sequence[Line], assignment: str) -> Iterable[str]:
    if any(line.late for line in lines):
        yield (
            "Late, says Canvas, and not how late: a second after the due date is the least that a policy can count. "
            f"Write the true time into submitted/<learner>/{assignment}/timestamp.txt where hours matter."
        )
    if any(line.look == "not in the gradebook" for line in lines):
        yield (
            "Who is not in the gradebook: mend her name there (`insidebert roster FILE.csv`) and run the same "
            "command again, or take all as they are called with --new."
        )


def _together(lines: Sequence[Line]) -> list[Line]:
    """One line for all who are alike; whoever was not taken stays named."""
    groups: dict[tuple[str, str, bool], list[str]] = {}
    for line in lines:
        groups.setdefault((line.file, line.look, line.needs_you), []).append(line.who)
    together = []
    for (file, look, needs_you), who in sorted(groups.items(), key=lambda group: -len(group[1])):
        named = len(who) <= _FEW or file == _NOT_TAKEN
        together.append(Line(", ".join(who) if named else f"{len(who)} learners", file, look, needs_you))
    return sorted(together, key=lambda line: (line.needs_you, bool(line.look)))


def table(lines: Sequence[Line]) -> Table:
    """Who, which file, what to look at."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD)
    for title in ("who", "file", "to look at"):
        result.add_column(title, overflow="fold")
    for line in lines:
        style = "yellow" if line.needs_you else ""
        result.add_row(escape(line.who), escape(line.file), escape(line.look), style=style)
    return result
