"""`insidebert grade`: many submissions at once, in a sandbox, into nbgrader's gradebook, and on again after any end.

This process reads the course and is the only one that writes: gradebook, autograded notebooks, journal. Workers get
bytes and return JSON.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grading.report import claim, table
from insidebert.errors import CommandError

if TYPE_CHECKING:
    from grading.pool import Worker
    from grading.run import Outcome

INTERRUPTED = 130


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert grade`."""
    parser = commands.add_parser(
        "grade",
        help="autograde what was submitted",
        description="Grades what lies in submitted/ and has not been graded yet: in a sandbox, several at once. "
        "Run it again after an interruption and it goes on. Exit status: 0 all graded, 1 some need attention, "
        "2 nothing could be done.",
    )
    parser.add_argument("assignment", nargs="*", help="default: every assignment somebody has submitted")
    parser.add_argument("--student", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument(
        "--workers", type=_count, metavar="N", help="submissions at once; default: one a core"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="grade on the Dask cluster at this address")
    parser.add_argument(
        "--isolation",
        choices=("sandbox", "none"),
        default="sandbox",
        help="none: run submissions with your own rights, as plain nbgrader does. For submissions you trust",
    )
    parser.add_argument("--force", action="store_true", help="grade again what has been graded")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report of the run as JSON")
    parser.add_argument("--no-progress", action="store_true", help="show no progress bar")
    parser.add_argument(
        "--explain",
        nargs=2,
        metavar=("STUDENT", "QUESTION"),
        help="grade nothing; show what was asked, what came, and why it was judged so",
    )
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of workers; give 1 or more")
    return int(text)


def run(args: argparse.Namespace) -> int:
    from grading.startup import importing, lighten

    lighten()
    if args.explain:
        from grading.course import Course
        from grading.explain import explain

        return explain(Course.open(args.course), *args.explain)
    if args.report:
        claim(args.report)
    with workers_for(args.workers, args.scheduler) as workers:
        with importing():  # nbgrader with it: while the workers import theirs
            from grading.course import Course
            from grading.readiness import isolation_for
            from grading.run import Run

        course = Course.open(args.course)
        with the_only_grader(course.root), stopped_by_signals() as stop:
            job = Run(course, workers, isolation_for(args.isolation), force=args.force, stop=stop)
            with job, shown(not args.no_progress) as progress:
                outcome = job.grade(args.assignment, args.student, progress)
    return _tell(outcome, args.report)


def workers_for(count: int | None, scheduler: str | None) -> AbstractContextManager[Sequence[Worker]]:
    """Local processes, as many as cores unless told otherwise, or those of a cluster."""
    from grading.pool import cluster_workers, local_workers

    if scheduler:
        return cluster_workers(scheduler)
    return local_workers(count)


@contextmanager
def the_only_grader(root: Path) -> Iterator[None]:
    """Two graders in one course would both be the one writer.

    Raises:
        CommandError: there is another one.
    """
    from filelock import FileLock, Timeout

    from grading.holders import holders_of
    from grading.journal import FOLDER

    path = root / FOLDER / "grading.lock"
    path.parent.mkdir(exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        who = "".join(f", {holder}" for holder in holders_of(path))
        raise CommandError(
            f"another `insidebert grade` is at work in {root}{who}. Wait for it, or stop it, and try again."
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def stopped_by_signals() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and a polite kill end the run after the submissions that are under way; a second Ctrl-C at once."""
    asked: list[int] = []

    def note(number: int, _: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        print("\nFinishing what has been begun; once more to stop at once.", file=sys.stderr)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def shown(visible: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A bar with an estimate, on standard error: call it with how many are done, of how many, and the last one."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    if not visible or not console.is_terminal:
        yield lambda done, total, name: None
        return
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("starting the workers …", total=None)
        yield lambda done, total, name: progress.update(bar, completed=done, total=total, description=name)


def _tell(outcome: Outcome, report: Path | None) -> int:
    """Show what came of it; returns the exit status."""
    from rich.console import Console

    console = Console()
    for assignment in dict.fromkeys(row.assignment for row in outcome.report.rows):
        console.print(f"[bold]{assignment}[/bold]")
        console.print(table([row for row in outcome.report.rows if row.assignment == assignment]))
    for sentence in (*outcome.notes, *outcome.troubles):
        console.print(sentence, markup=False, highlight=False)
    summary: Any = outcome.report.to_json()["summary"]
    console.print(
        f"{outcome.graded} submissions graded, {outcome.kept} had been; {summary['per_minute']:g} a minute, "
        f"{summary['workers']} at once, isolation: {summary['isolation']}",
        highlight=False,
    )
    if report:
        outcome.report.write(report)
        console.print(f"Report: {report}", markup=False, highlight=False)
    if outcome.left:
        print(f"Stopped; {outcome.left} are left. The same command goes on with them.", file=sys.stderr)
        return INTERRUPTED
    return 1 if outcome.troubles else 0
