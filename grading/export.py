"""`insidebert export`: the gradebook's grades as a file for a spreadsheet, Canvas or Moodle."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grading.targets import hold_own_kind
from insidebert.errors import CommandError

if TYPE_CHECKING:
    from grading.course import Course
    from grading.export_formats import Grades

_FORMATS = ("nbgrader", "canvas", "moodle")


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert export`."""
    parser = commands.add_parser(
        "export",
        help="grades as a file for a spreadsheet, Canvas or Moodle",
        description="Writes the grades in the gradebook, manual grades and late penalties included. Exit status 1: "
        "written, but some grades are not final.",
    )
    parser.add_argument("assignment", nargs="*", help="default: every assignment in the gradebook")
    parser.add_argument(
        "--format", choices=_FORMATS, default="nbgrader", help="default: nbgrader's own columns"
    )
    parser.add_argument("--to", type=Path, metavar="FILE", help="default: grades.csv, grades-canvas.csv, …")
    parser.add_argument("--blank", action="store_true", help="nothing, not 0, where nothing was handed in")
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from grading.course import Course

    course = Course.open(args.course)
    target, notes = export(course, args.format, args.to, args.assignment, blank=args.blank)
    print(target)
    for note in notes:
        print(note)
    return int(bool(notes))


def export(
    course: Course,
    format: str,
    to: Path | None = None,
    assignments: Sequence[str] = (),
    *,
    blank: bool = False,
) -> tuple[Path, list[str]]:
    """Write the grades.

    Returns:
        the file, and a sentence for each reason why some grades in it are not final.

    Raises:
        CommandError: the gradebook has no such assignment, or no learner, or points that are out of date.
    """
    from grading.export_formats import FORMATS, Grades

    plugin = FORMATS[format](config=course.config)
    target = to or course.root / plugin.default_name
    if target.is_dir():
        raise CommandError(f"{target} is a folder; name the file to write, such as {target / 'grades.csv'}.")
    hold_own_kind(target, ".csv")
    with course.gradebook() as gradebook:
        grades = Grades(gradebook, assignments)
        known = [it.name for it in gradebook.assignments]
        unknown = [name for name in assignments if name not in known]
        if unknown or not known:
            raise CommandError(
                f"the gradebook has no assignment {', '.join(unknown) or 'at all'}; it has: "
                f"{', '.join(known) or 'none'}. `insidebert release` notes them, `insidebert grade` grades them."
            )
        if not grades.students:
            raise CommandError("the gradebook has no learner yet. Run `insidebert grade` first.")
        target.parent.mkdir(parents=True, exist_ok=True)
        plugin.to, plugin.assignment, plugin.blank_missing = str(target), list(assignments), blank
        plugin.export(gradebook)
        return target, list(_not_final(course, grades))


def _not_final(course: Course, grades: Grades) -> Iterator[str]:
    from grading.points import names

    graded = {(grade.assignment, grade.student) for grade in grades if grade.handed_in}
    for assignment in grades.assignments:
        waiting = sorted(
            student
            for student, name, path in course.handed_in()
            if name == assignment.name and path.is_dir() and (name, student) not in graded
        )
        if waiting:
            yield f"{assignment.name}: handed in, not graded and not counted: {names(waiting)}"
        manual = sorted(
            it.student for it in grades if it.assignment == assignment.name and it.needs_manual_grade
        )
        if manual:
            yield f"{assignment.name}: waits for points given by hand: {names(manual)}"
