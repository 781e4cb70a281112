"""Grading a class: `insidebert grade`, two at once and in its sandbox, against `nbgrader autograde` as installed.

    python benchmarks/grading.py --submissions 30 --json grading.json
    python benchmarks/grading.py --submissions 500 --baseline 5 --assignment parameter_budget
    python benchmarks/grading.py --submissions 1000 --memory

Both grade the same honest submissions: the right answers, some questions left open. nbgrader runs in a course with
its default preprocessors, where a notebook's cells run and judge in a kernel of their own; ours with everything it
has: intake, sandbox, judging outside. Both start from nothing, and their time is that of the whole command.
"all" spreads the submissions over the six assignments, which nbgrader grades one after the other. nbgrader takes
as long for each submission as for the last: `--baseline N` gives it only N of them.

`seconds` are of the clock, so that only a quiet machine compares them: `first_s` of them until the first submission
has its grade, start-up and the proof of the solution included, and `each_s` for every further one. `parts` says where
the time goes, in CPU time, which a busy machine changes least (see grading_parts.py; of at most 20 submissions).
`peak_mb` is the most memory that the command and all it starts had together (each shared page counted once).
`--memory` instead follows the supervisor's own memory over the run: it writes the figure of every tenth of the class.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
from nbformat import NotebookNode

from insidebert.lab import search_path

ROOT = Path(__file__).parents[1]
PARTS_OF = 20  # submissions
ENVIRONMENT = os.environ | {"PATH": search_path()}
AS_INSTALLED = """c = get_config()
c.CourseDirectory.course_id = "inside-bert"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.ExecutePreprocessor.timeout = 240
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\\nraise NotImplementedError()"}
"""


# --- the class ---------------------------------------------------------------------------------------------


def submissions(assignment: str, count: int) -> list[NotebookNode]:
    """Honest ones: each has the right answers, and all but every third leave one question open."""
    released, solution = (
        nbformat.read(ROOT / kind / assignment / f"{assignment}.ipynb", as_version=4)
        for kind in ("exercises", "solutions")
    )
    answers = {_name(cell): cell.source for cell in solution.cells if _is_answer(cell)}
    open_questions = list(answers)
    made = []
    for number in range(count):
        notebook = deepcopy(released)
        left = open_questions[number % len(open_questions)] if number % 3 else None
        for cell in notebook.cells:
            if _is_answer(cell) and _name(cell) != left:
                cell.source = answers[_name(cell)]
        made.append(notebook)
    return made


def _is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def _name(cell: NotebookNode) -> str:
    return str(cell.metadata["nbgrader"]["grade_id"])


def make_course(folder: Path, spread: dict[str, int], config: str | None = None) -> Path:
    """A course with its assignments released and so many submissions of each."""
    folder.mkdir(parents=True)
    if config is None:
        shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    else:
        (folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
    for assignment, count in spread.items():
        shutil.copytree(ROOT / "solutions" / assignment, folder / "solutions" / assignment)
        command = [sys.executable, "-m", "nbgrader", "generate_assignment", assignment]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, env=ENVIRONMENT)
        for number, notebook in enumerate(submissions(assignment, count)):
            target = folder / "submitted" / f"learner{number:04}" / assignment / f"{assignment}.ipynb"
            target.parent.mkdir(parents=True)
            nbformat.write(notebook, target)
    return folder


def scores(folder: Path) -> dict[tuple[str, str, str], float | None]:
    """By learner, assignment and question, from the gradebook."""
    query = """SELECT s.student_id, a.name, c.name, g.auto_score FROM grade g
        JOIN submitted_notebook n ON n.id = g.notebook_id JOIN submitted_assignment s ON s.id = n.assignment_id
        JOIN assignment a ON a.id = s.assignment_id JOIN base_cell c ON c.id = g.cell_id"""
    with sqlite3.connect(folder / "gradebook.db") as book:
        return {(student, name, cell): score for student, name, cell, score in book.execute(query)}


# --- watching a command ------------------------------------------------------------------------------------


@dataclass
class Measured:
    """What a command took, with all its descendants."""

    seconds: float = 0.0
    peak_mb: float = 0.0
    began: float = 0.0  # by the clock that files are dated with

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.seconds + other.seconds, max(self.peak_mb, other.peak_mb))

    def to_json(self, submissions: int) -> dict[str, float]:
        return {
            "per_minute": round(60 * submissions / self.seconds, 2),
            "seconds": round(self.seconds, 2),
            "peak_mb": round(self.peak_mb),
            "submissions": submissions,
        }


def watch(command: list[str], folder: Path, trace: list[float] | None = None) -> Measured:
    """Run a command to its end. `trace` collects the command's own memory in MB, once a second."""
    began, measured = time.perf_counter(), Measured(began=time.time())
    with tempfile.TemporaryFile() as said:
        process = psutil.Popen(command, cwd=folder, stdout=said, stderr=said, env=ENVIRONMENT)
        while process.poll() is None:
            _look(process, measured, trace)
            with contextlib.suppress(psutil.TimeoutExpired):
                process.wait(1)
        measured.seconds = time.perf_counter() - began
        said.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{said.read().decode('utf-8', 'replace')[-3000:]}")
    return measured


def _look(process: psutil.Process, measured: Measured, trace: list[float] | None) -> None:
    memory = 0.0
    for one in (process, *process.children(recursive=True)):
        try:
            memory += _own_share(one.pid) / 2**20
        except OSError:  # it has just ended
            continue
    measured.peak_mb = max(measured.peak_mb, memory)
    if trace is not None:
        trace.append(process.memory_info().rss / 2**20)


def _own_share(pid: int) -> int:
    """Bytes, each page divided among those who share it. The sum that Linux keeps: adding up the list costs more
    than what is measured."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(1024 * int(row.split()[1]) for row in rows if row.startswith("Pss:"))


def pace(course: Path, began: float) -> dict[str, float]:
    """Seconds until the first submission had its grade, and for each further one, by the journal of the run."""
    graded = sorted(path.stat().st_mtime for path in course.glob(".insidebert/graded/*/*.json"))
    each = (graded[-1] - graded[0]) / (len(graded) - 1) if len(graded) > 1 else 0.0
    return {"first_s": round(graded[0] - began, 2), "each_s": round(each, 3)}


def where(spread: dict[str, int], scratch: Path) -> dict[str, object]:
    """The parts of a run over some of the class."""
    some = {
        name: max(1, count * PARTS_OF // max(PARTS_OF, sum(spread.values())))
        for name, count in spread.items()
    }
    program = [sys.executable, "-P", str(Path(__file__).with_name("grading_parts.py"))]
    said = subprocess.run(
        [*program, str(make_course(scratch, some))], check=True, capture_output=True, text=True
    )
    found: dict[str, object] = json.loads(said.stdout)
    return found


# --- the comparison ----------------------------------------------------------------------------------------


def compare(spread: dict[str, int], baseline: int | None, workers: int) -> dict[str, object]:
    """Grade the same class both ways."""
    fewer = {name: min(count, baseline or count) for name, count in spread.items()}
    with tempfile.TemporaryDirectory(prefix="grading-") as scratch:
        ours, theirs = Path(scratch, "ours"), Path(scratch, "nbgrader")
        make_course(ours, spread)
        grade = [sys.executable, "-m", "insidebert", "grade", "--workers", str(workers), "--no-progress"]
        our_measure = watch(grade, ours)
        our_pace = pace(ours, our_measure.began)
        our_parts = where(spread, Path(scratch, "parts"))
        make_course(theirs, fewer, AS_INSTALLED)
        their_measure = Measured()
        for name in fewer:
            their_measure += watch([sys.executable, "-m", "nbgrader", "autograde", name], theirs)
        ours_by_cell, theirs_by_cell = scores(ours), scores(theirs)
    result = our_measure.to_json(sum(spread.values()))
    reference = their_measure.to_json(sum(fewer.values()))
    equal = all(ours_by_cell.get(key) == score for key, score in theirs_by_cell.items())
    return {
        "ours": result | our_pace,
        "parts": our_parts,
        "nbgrader": reference,
        "ratio": round(result["per_minute"] / reference["per_minute"], 2),
        "scores_equal": equal and len(theirs_by_cell) > 0,
    }


def memory(assignment: str, count: int, workers: int) -> dict[str, object]:
    """The supervisor's memory at every tenth of a run over `count` submissions, in MB."""
    with tempfile.TemporaryDirectory(prefix="grading-") as scratch:
        course = make_course(Path(scratch, "course"), {assignment: count})
        trace: list[float] = []
        command = [sys.executable, "-m", "insidebert", "grade", "--workers", str(workers), "--no-progress"]
        measured = watch(command, course, trace)
    tenths = [round(trace[min(len(trace) * part // 10, len(trace) - 1)], 1) for part in range(1, 11)]
    return {"ours": measured.to_json(count), "supervisor_mb": tenths}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=30)
    parser.add_argument("--baseline", type=int, help="of each assignment, nbgrader gets only so many")
    parser.add_argument(
        "--assignment", help="only this one; otherwise parameter_budget, then all six together"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", action="store_true", help="follow the supervisor's memory instead")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    every = sorted(path.stem for path in (ROOT / "solutions").glob("*/*.ipynb"))
    if args.memory:
        name = args.assignment or "parameter_budget"
        result: dict[str, object] = {name: memory(name, args.submissions, args.workers)}
    else:
        single = args.assignment or "parameter_budget"
        spreads = {single: {single: args.submissions}}
        if not args.assignment:
            share = [
                args.submissions // len(every) + (n < args.submissions % len(every))
                for n in range(len(every))
            ]
            spreads["all"] = {name: count for name, count in zip(every, share, strict=True) if count}
        result = {name: compare(spread, args.baseline, args.workers) for name, spread in spreads.items()}
    text = json.dumps(result, indent=1)
    print(text)
    if args.json:
        args.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
