"""`insidebert demo`: a class of learners from release to grades, in a course that is gone afterwards.

The class is made up; everything it goes through is real: nbgrader's release, exchange and collection, our grading, and
nbgrader's feedback and export, with this course's own configuration.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from grading.report import claim, table
from insidebert.errors import CommandError

if TYPE_CHECKING:
    from grading.course import Course
    from grading.run import Outcome

ASSIGNMENT = "parameter_budget"

_NOISY_COUNT = """import sys, warnings

def count_parameters(model: nn.Module) -> int:
    warnings.warn("counting may take a while")
    print("counting", file=sys.stderr)
    for parameter in model.parameters():
        print(parameter.shape)
    return sum(parameter.numel() for parameter in model.parameters())
"""
_HEAD_WITH_POOLER = """def breakdown(model: nn.Module) -> dict[str, int]:
    parts = dict.fromkeys(["token table", "position table", "segment table", "embedding norm",
                           "encoder layers", "pooler", "head"], 0)
    keys = {"word_emb": "token table", "position_emb": "position table", "token_type": "segment table",
            "embeddings.LayerNorm": "embedding norm", "encoder.layer": "encoder layers"}
    for name, weight in model.named_parameters():
        parts[next((part for key, part in keys.items() if key in name), "head")] += weight.numel()
    return parts
"""


def _function(signature: str, body: str) -> str:
    return f"def {signature}:\n    {body}\n"


_COUNT, _SHARE = "count_parameters(model)", "token_table_share(model)"
_TABLE = "model.get_parameter({}).numel() / sum(p.numel() for p in model.parameters())"

# What each learner hands in instead of the right answer, by question. `None` is a notebook left as it came.
CLASS: dict[str, dict[str, str] | None] = {
    "ada": {},
    "chen": {
        "count_parameters": _function(_COUNT, "return sum(t.numel() for t in model.state_dict().values())")
    },
    "fatou": {
        "token_table_share": _function(
            _SHARE,
            "table = sum(p.numel() for n, p in model.named_parameters() if n.endswith('word_embeddings.weight'))\n"
            "    return 100 * table / count_parameters(model)",
        )
    },
    "goran": {
        "token_table_share": _function(
            _SHARE, f"return {_TABLE.format(repr('bert.embeddings.word_embeddings.weight'))}"
        )
    },
    "hana": {"breakdown": _HEAD_WITH_POOLER},
    "kofi": None,
    "lena": {"count_parameters": "def count_parameters(model) -> int\n    return 110_000_000\n"},
    "mo": {"count_parameters": _function(_COUNT, "return f'{110e6:.0f} parameters'")},
    "nina": {"layer_parameters": _function("layer_parameters(hidden, intermediate)", "while True: pass")},
    "omar": {"count_parameters": _NOISY_COUNT},
    "pia": {
        "token_table_share": _function(_SHARE, "return float('nan')"),
        "budget_report": _function("budget_report(models)", "pass"),
    },
}
WITHOUT_NOTEBOOK = "rosa"  # hands in a folder without a notebook
LONGEST_CELL = 12.0  # seconds; somebody hands in an endless loop, and a check takes under 3


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert demo`."""
    parser = commands.add_parser(
        "demo",
        help="a made-up class, from release to grades",
        description="Releases an exercise to a made-up class in a temporary course, collects, autogrades, "
        "returns feedback, exports the grades and shows the class.",
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report of the run as JSON")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the course there and leave it")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="save the table as a picture")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from insidebert.lab import find_course

    home = find_course()
    if home is None or not (home / "solutions" / ASSIGNMENT).is_dir():
        raise CommandError(f"the demo needs solutions/{ASSIGNMENT}; run it in the course's folder.")
    if args.keep and args.keep.exists() and (not args.keep.is_dir() or any(args.keep.iterdir())):
        raise CommandError(f"{args.keep} is not an empty folder; name one that is not there yet.")
    for target in filter(None, (args.report, args.picture)):
        claim(target)
    with _folder(args.keep) as folder:
        demo(home, folder, report=args.report, picture=args.picture, kept=bool(args.keep))
    return 0


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Where to make the course. What is to be kept is gone as well when it was not made to the end."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="insidebert-demo-", ignore_cleanup_errors=True) as scratch:
            yield Path(scratch)
        return
    try:
        yield keep
    except BaseException:
        shutil.rmtree(keep, ignore_errors=True)
        raise


def demo(home: Path, folder: Path, *, report: Path | None, picture: Path | None, kept: bool) -> None:
    """Run the whole way in `folder`, with the sources and the configuration of the course in `home`."""
    from rich.console import Console

    from grading.course import done
    from grading.release import release

    console = Console(record=picture is not None, width=None if picture is None else 100)
    course = _make_course(home, folder)
    with console.status("Releasing the exercise …"):
        release(course, ASSIGNMENT)
        done(course.api.release_assignment(ASSIGNMENT), "Releasing to the exchange")
    students = [*CLASS, WITHOUT_NOTEBOOK]
    answers = _right_answers(course)
    for student in _watch(console, students, "Learners fetch, answer, submit"):
        _take_part(course, student, answers)
    with console.status("Collecting …"):
        done(course.api.collect(ASSIGNMENT), "Collecting")

    outcome = _grade(console, course)
    rows = outcome.report.rows

    with console.status("Writing feedback, exporting grades …"):
        done(course.api.generate_feedback(ASSIGNMENT), "Writing feedback")
        done(course.api.release_feedback(ASSIGNMENT), "Returning feedback")
        _export(course)
    console.print(table(rows))
    for sentence in (*outcome.notes, *outcome.troubles):
        console.print(sentence, markup=False, highlight=False)
    summary: Any = outcome.report.to_json()["summary"]
    console.print(
        f"{summary['submissions']} submissions, {summary['per_minute']} a minute, isolation: {summary['isolation']}"
        + (f"; the course is in {folder}" if kept else "")
    )
    if report:
        outcome.report.write(report)
        console.print(f"Report: {report}")
    if picture:
        console.save_svg(str(picture), title="insidebert demo")


def _grade(console: Any, course: Course) -> Outcome:
    """As `insidebert grade` does; without a sandbox where none is possible, because this class is of our making."""
    from rich.progress import Progress

    from grading.pool import local_workers
    from grading.run import Run
    from grading.sandbox.detecting import detect
    from grading.sandbox.isolation import NONE
    from grading.sandbox.limits import Limits

    isolation = detect()
    limits = Limits(cell_seconds=LONGEST_CELL)
    with (
        local_workers() as workers,
        Run(course, workers, isolation if isolation.name else NONE, limits=limits) as run,
        Progress(console=console, transient=True) as progress,
    ):
        bar = progress.add_task(f"{'Autograding':<32}", total=None)
        return run.grade(
            [ASSIGNMENT], progress=lambda done, total, _: progress.update(bar, completed=done, total=total)
        )


def _make_course(home: Path, folder: Path) -> Course:
    from grading.course import CONFIG_FILE, Course

    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(home / "solutions" / ASSIGNMENT, folder / "solutions" / ASSIGNMENT)
    shutil.copyfile(home / CONFIG_FILE, folder / CONFIG_FILE)
    course = Course.open(folder)
    config = course.config
    exchange = folder / "exchange"
    exchange.mkdir()
    config.Exchange.root = str(exchange)
    config.Exchange.cache = str(folder / "cache")
    config.ExchangeCollect.check_owner = False  # one person plays the whole class
    config.Application.log_level = "ERROR"
    return course


def _watch(console: Any, steps: Any, what: str, total: int | None = None) -> Iterator[Any]:
    from rich.progress import track

    return iter(track(steps, f"{what:<32}", total=total, console=console, transient=True))


def _right_answers(course: Course) -> dict[str, str]:
    """The answer cells of the source by grade_id, without the markers around the solution."""
    import nbformat

    source = nbformat.read(course.notebook("source_directory", ASSIGNMENT), as_version=4)
    return {
        cell.metadata["nbgrader"]["grade_id"]: "\n".join(
            line for line in cell.source.splitlines() if "### BEGIN" not in line and "### END" not in line
        )
        for cell in source.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def _take_part(course: Course, student: str, answers: dict[str, str]) -> None:
    """What a learner's JupyterLab does: fetch through the exchange, edit, submit through the exchange."""
    import nbformat

    desk = course.root / "desks" / student
    desk.mkdir(parents=True)
    _exchange(course, "FetchAssignment", student, desk)
    path = desk / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    own = CLASS.get(student, {})
    if student == WITHOUT_NOTEBOOK:
        path.unlink()
    elif own is not None:
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if name in answers:
                cell.source = own.get(name.removesuffix("_answer"), answers[name])
        nbformat.write(notebook, path)
    _exchange(course, "Submit", student, desk)


def _exchange(course: Course, action: str, student: str, desk: Path) -> None:
    """One of nbgrader's exchange actions as that learner, as the Assignment List runs it."""
    from copy import deepcopy

    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange import ExchangeFactory

    config = deepcopy(course.config)
    config.CourseDirectory.root = str(desk)
    config.CourseDirectory.assignment_id = ASSIGNMENT
    config.Exchange.assignment_dir = str(desk)
    with _as_user(student):
        getattr(ExchangeFactory(config=config), action)(
            coursedir=CourseDirectory(config=config),
            authenticator=Authenticator(config=config),
            config=config,
        ).start()


@contextmanager
def _as_user(name: str) -> Iterator[None]:
    """Be that user for nbgrader, as in a JupyterHub container, where everybody is `jovyan` to the system."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch("nbgrader.utils.get_osusername", return_value="jovyan"))
        stack.enter_context(mock.patch.dict(os.environ, {"JUPYTERHUB_USER": name}))
        yield


def _export(course: Course) -> None:
    from nbgrader.plugins import CsvExportPlugin

    with course.gradebook() as gradebook:
        CsvExportPlugin(to=str(course.root / "grades.csv")).export(gradebook)
