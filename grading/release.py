"""`insidebert release`: exercises/ from solutions/, through nbgrader's own converter; and the learners' bundle."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from insidebert.errors import CommandError

if TYPE_CHECKING:
    from grading.course import Course


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert release`."""
    parser = commands.add_parser(
        "release",
        help="generate the learners' exercises from the solutions",
        description="Generates exercises/ from solutions/ and notes the questions in the gradebook.",
    )
    parser.add_argument("assignment", nargs="*", help="default: every assignment in solutions/")
    parser.add_argument(
        "--bundle", type=Path, metavar="FILE.zip", help="write what a learner receives, and no more"
    )
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from grading.course import Course

    course = Course.open(args.course)
    if args.bundle:
        from grading.bundle import write_bundle

        names = write_bundle(course.root, args.bundle)
        print(f"{args.bundle}: {len(names)} files, {args.bundle.stat().st_size / 1e6:.1f} MB")
        return 0
    assignments = args.assignment or course.assignments()
    if not assignments:
        raise CommandError(f"there is no assignment in {course.folder('source_directory')} to release.")
    course.gradebook().close()  # what is wrong with it is said here, and not in nbgrader's log
    for assignment in assignments:
        release(course, assignment)
        print(course.notebook("release_directory", assignment).relative_to(course.root))
    return 0


def release(course: Course, assignment: str) -> None:
    """Generate one assignment.

    Raises:
        CommandError: it has no source, asks something `checks` does not know, or nbgrader refuses it.
    """
    import nbformat

    from grading.course import done
    from grading.judging import graded_cells, question_of
    from grading.releases import Releases

    source = course.notebook("source_directory", assignment)
    if not source.is_file():
        known = ", ".join(course.assignments()) or "none"
        raise CommandError(
            f"there is no assignment {assignment!r} in {source.parent.parent}; there are: {known}."
        )
    try:
        notebook = nbformat.read(source, as_version=4)
    except Exception as error:  # not JSON, not UTF-8, not a notebook: each library has its own
        raise CommandError(f"{source} is not a notebook ({type(error).__name__}). Restore it.") from error
    for cell in graded_cells(notebook):
        try:
            question_of(cell)
        except LookupError as error:
            raise CommandError(
                f"{source.name}: {error} A graded cell's grade_id is its question's name."
            ) from error
    done(course.api.generate_assignment(assignment), f"Generating {assignment}")
    # By a configuration that does not keep it, too; a newline at its end may be the system's.
    Releases(course.root, assignment).keep(
        course.notebook("release_directory", assignment).read_text(encoding="utf-8")
    )
