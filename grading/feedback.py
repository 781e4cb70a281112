"""`insidebert feedback`: what each learner gets back, through nbgrader's own converter and exchange."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from insidebert.errors import CommandError
from insidebert.lab import configured_exchange, make_exchange

if TYPE_CHECKING:
    from grading.course import Course


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert feedback`."""
    parser = commands.add_parser(
        "feedback",
        help="write what each learner gets back",
        description="Writes feedback/<learner>/<assignment>/<assignment>.html for everything that has been graded. "
        "Exit status 1: some could not be written.",
    )
    parser.add_argument("assignment", nargs="*", help="default: every assignment that has been graded")
    parser.add_argument("--student", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--release", action="store_true", help="and return it through nbgrader's exchange")
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from grading.course import Course, done

    course = Course.open(args.course)
    course.gradebook().close()  # what is wrong with it is said here, and not in nbgrader's log
    if args.release and "root" not in course.config.Exchange:
        # As `insidebert lab` does, whose formgrader and Assignment List look there.
        course.config.Exchange.root = str(configured_exchange() or make_exchange())
    troubles = []
    for assignment, students in _wanted(course, args.assignment, args.student):
        written = 0
        for student in students:
            pages, failed = write_feedback(course, assignment, student)
            written += pages
            troubles += [f"{name}'s {assignment}: {why}" for name, why in failed.items()]
        folder = course.folder("feedback_directory").relative_to(course.root)
        print(f"{assignment}: feedback for {written} learner{'' if written == 1 else 's'} in {folder}/")
        if args.release:
            for student in students:
                done(course.api.release_feedback(assignment, student), "Returning feedback")
    for trouble in troubles:
        print(f"no feedback for {trouble}")
    return int(bool(troubles))


def _wanted(
    course: Course, assignments: Sequence[str], students: Sequence[str] | None
) -> list[tuple[str, list[str | None]]]:
    """Each assignment with the learners to write pages for; [None] is everybody.

    Raises:
        CommandError: one of the learners has been graded in none of them.
    """
    wanted = list(assignments) or _graded_assignments(course)
    if not students:
        return [(assignment, [None]) for assignment in wanted]
    graded = {assignment: _graded_students(course, assignment) for assignment in wanted}
    for student in students:
        if not any(student in names for names in graded.values()):
            names = sorted({name for names in graded.values() for name in names})
            raise CommandError(
                f"nothing of {student}'s {', '.join(wanted)} has been graded. Graded are: {', '.join(names) or 'none'}."
            )
    own = {
        assignment: [name for name in dict.fromkeys(students) if name in names]
        for assignment, names in graded.items()
    }
    return [(assignment, [*names]) for assignment, names in own.items() if names]


def write_feedback(course: Course, assignment: str, student: str | None = None) -> tuple[int, dict[str, str]]:
    """Write the pages of an assignment through nbgrader.

    Returns:
        how many were written, and for each learner whose page could not be, why.

    Raises:
        CommandError: nothing of that assignment, or of that learner's, has been graded.
    """
    from grading.course import done

    graded = _graded_students(course, assignment)
    if student is not None and student not in graded:
        raise CommandError(
            f"nothing of {student}'s {assignment} has been graded. Graded are: {', '.join(graded) or 'none'}."
        )
    if not graded:
        raise CommandError(f"nothing of {assignment} has been graded. Run `insidebert grade` first.")
    _remove_outdated(course, assignment, graded)
    result = course.api.generate_feedback(assignment, student)
    failed = _failed(result.get("log") or "")
    if not result["success"] and not failed:
        done(result, "Writing feedback")
    failed |= _with_other_points(course, assignment, [student] if student else graded)
    return (1 if student else len(graded)) - len(failed), failed


def _remove_outdated(course: Course, assignment: str, graded: Sequence[str]) -> None:
    """A page on a submission that has no verdict any more must not be returned as if it had one."""
    for page in course.folder("feedback_directory").glob(f"*/{assignment}/*.html"):
        if page.parent.parent.name not in graded:
            page.unlink()


def _with_other_points(course: Course, assignment: str, students: Sequence[str]) -> dict[str, str]:
    """Remove the pages of those who were graded before the points changed, on which they would have 20 of 18."""
    from grading.points import outdated

    with course.gradebook() as gradebook:
        found = [name for name in outdated(course.directory, gradebook, assignment) if name in students]
    for name in found:
        course.notebook("feedback_directory", assignment, name).with_suffix(".html").unlink(missing_ok=True)
    why = f"the points have changed since it was graded; run `insidebert grade {assignment}` first"
    return dict.fromkeys(found, why)


def _failed(log: str) -> dict[str, str]:
    """The learners whose page nbgrader could not write, and the last line of each one's trace, from its log."""
    traces = log.split("There was an error processing assignment: ")[1:]
    failed = {}
    for trace in traces:
        lines = trace.splitlines()
        end = next((n for n, line in enumerate(lines) if n > 1 and re.match(r"\[[A-Z]+\]", line)), len(lines))
        own = [line.strip() for line in lines[:end] if line.strip()]
        failed[Path(own[0]).parent.name] = own[-1]
    return failed


def _graded_assignments(course: Course) -> list[str]:
    folder = course.folder("autograded_directory")
    graded = sorted({path.parent.name for path in folder.glob("[!.]*/*/*.ipynb")})
    if not graded:
        raise CommandError(f"nothing in {folder} has been graded. Run `insidebert grade` first.")
    return graded


def _graded_students(course: Course, assignment: str) -> list[str]:
    folder = course.folder("autograded_directory")
    return sorted(
        path.parent.parent.name for path in folder.glob("[!.]*/*/*.ipynb") if path.parent.name == assignment
    )
