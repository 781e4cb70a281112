"""`insidebert collect`: a download of Canvas or Moodle, or notebooks named for their learners, into `submitted/`."""

from __future__ import annotations

import argparse
import shutil
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

from insidebert.errors import CommandError

if TYPE_CHECKING:
    from nbgrader.apps.zipcollectapp import ZipCollectApp

    from grading.course import Course
    from grading.lms import Owner


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert collect`."""
    parser = commands.add_parser(
        "collect",
        help="take what an LMS downloaded into submitted/",
        description="Takes a download of Canvas or Moodle, or notebooks named for their learners, into submitted/. "
        "Exit status 1: something in it could not be taken.",
    )
    parser.add_argument("assignment")
    parser.add_argument("download", type=Path, help="the archive that the LMS made, or a folder")
    parser.add_argument("--force", action="store_true", help="replace what had been submitted before")
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from grading.course import Course

    collected, notes = collect(Course.open(args.course), args.assignment, args.download, force=args.force)
    print(f"{len(collected)} {'submission' if len(collected) == 1 else 'submissions'} of {args.assignment}")
    for note in notes:
        print(note)
    return int(bool(notes))


def collect(
    course: Course, assignment: str, download: Path, *, force: bool = False
) -> tuple[list[str], list[str]]:
    """Take a download into `submitted/`.

    Returns:
        the learners something came from, and sentences about what was not taken.

    Raises:
        CommandError: there is nothing to take, or it would replace what is there.
    """
    if not course.notebook("release_directory", assignment).is_file():
        raise CommandError(
            f"{assignment} has not been released. Run `insidebert release {assignment}` first."
        )
    if not download.exists():
        raise CommandError(f"{download} is not there; name what the LMS downloaded.")
    app = _zip_collect(course, assignment, force=force)
    extracted = Path(app._format_collect_path(app.extracted_directory))
    shutil.rmtree(extracted, ignore_errors=True)
    extracted.mkdir(parents=True)
    app.extractor_plugin_inst.extract(str(download), str(extracted))
    owners, left = app.extractor_plugin_inst.owners, app.extractor_plugin_inst.left
    if not owners:
        raise CommandError(f"nothing in {download} is named as Canvas, Moodle or a learner's name would be.")
    course.gradebook().close()  # so that there is one to look names up in
    students = {app.collector_plugin_inst.student(owner): owner for owner in owners.values()}
    folders = {
        student: course.notebook("submitted_directory", assignment, student).parent for student in students
    }
    if not force and (there := [student for student, folder in folders.items() if folder.exists()]):
        names = ", ".join(there[:5]) + (f" and {len(there) - 5} more" if len(there) > 5 else "")
        raise CommandError(
            f"there are submissions of {assignment} already, by {names}; --force replaces them."
        )
    app.process_extracted_files()
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)  # whoever sent no notebook is to be graded as such
    _introduce(course, students)
    late = [f"{student} was late, says Canvas" for student, owner in students.items() if owner.late]
    return sorted(students), left + late


def _zip_collect(course: Course, assignment: str, *, force: bool) -> ZipCollectApp:
    """nbgrader's zip_collect of this course, ready to run."""
    from nbgrader.apps.zipcollectapp import ZipCollectApp
    from nbgrader.coursedir import CourseDirectory

    from grading.lms import Collector, Extractor

    config = deepcopy(course.config)
    config.CourseDirectory.assignment_id = assignment
    config.ZipCollectApp.update(extractor_plugin=Extractor, collector_plugin=Collector, force=force)
    app = ZipCollectApp(config=config)
    app.coursedir = CourseDirectory(config=config)
    app.init_plugins()
    return app


def _introduce(course: Course, students: dict[str, Owner]) -> None:
    """Note Canvas's numbers in the gradebook: its grade import knows people by them."""
    with course.gradebook() as gradebook:
        for student, owner in students.items():
            if owner.lms == "canvas":
                gradebook.update_or_create_student(student, lms_user_id=owner.number)
