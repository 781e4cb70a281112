"""One submission, from its bytes to a result in JSON: what a worker does, in a process of its own or on a cluster.

A worker supervises. It rebuilds the notebook, runs it in the sandbox, judges what came back, and returns; it reads no
course and writes no grade, so that losing one loses an attempt and nothing else. What it imports it imports once.
"""

from __future__ import annotations

import faulthandler
import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from multiprocessing import parent_process
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import LimitOutput
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution

from checks.protocol import Verdict
from grading.evidence import judge_and_keep
from grading.executing import execute
from grading.flags import Flag
from grading.intake import Taken, take_in
from grading.judging import graded_cells
from grading.sandbox.isolation import Isolation
from grading.sandbox.limits import Limits
from grading.withholding import NotGradable, unreadable, withhold

_GRACE = 120.0  # seconds for everything around the kernel; a worker that takes longer hangs, and ends itself


@dataclass(frozen=True)
class Terms:
    """What every submission of an assignment is graded by: plain data, so that it travels.

    `earlier` are older releases, the latest first; a learner may have had one of them.
    """

    released: bytes
    limits: Limits
    isolation: Isolation
    earlier: tuple[bytes, ...] = ()


def prepare() -> None:
    """The first thing a local worker does: leave Ctrl-C to the parent, and see to it never to outlive it."""
    # A handler and not SIG_IGN, which the kernels would inherit: theirs must be possible to interrupt.
    signal.signal(signal.SIGINT, lambda *_: None)
    if parent := parent_process():
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def grade(data: bytes | None, found: tuple[Flag, ...], terms: Terms) -> dict[str, Any]:
    """Grade one submission.

    Args:
        data: the notebook as it was handed in, or None when there was none.
        found: what was noted while it was looked for.

    Returns:
        JSON data: `notebook` (its text, judged), `rows` (one a question, see `report.Row`), `scores` by cell, None
        where a person has to give them, `waits` (why; empty where nobody has to), `untouched` answer cells, `flags`,
        `kept` (see `grading.evidence`; None where nothing ran), `warm`, `isolation`, `trouble`, `seconds`.

    Raises:
        SandboxUnavailable: nothing can be run here.
        Exception: a judge failed, or kernels were lost. Then `ungraded` says what is to be written.
    """
    began = time.perf_counter()
    seed = secrets.randbits(48)  # drawn here and now: nobody could have prepared for it
    with _ending_if_it_hangs(terms.limits.longest_seconds + _GRACE):
        taken = _taken(data, found, terms)
        notebook = taken.notebook
        if why := unreadable(notebook):
            return _withheld(taken, why)
        execution = execute(notebook, seed, terms.limits, terms.isolation)
        if execution.lost:
            raise NotGradable(execution.trouble)
        verdicts, kept = judge_and_keep(notebook, seed)
        notebook, _ = LimitOutput().preprocess(notebook, {})
    return {
        **_common(taken, notebook, verdicts),
        "scores": {_name(cell): determine_grade(cell)[0] for cell in notebook.cells if is_grade(cell)},
        "waits": "",
        "untouched": [_name(cell) for cell in notebook.cells if is_solution(cell) and _is_untouched(cell)],
        "kept": kept,
        "warm": execution.warm,
        "isolation": execution.isolation,
        "trouble": execution.trouble,
        "seconds": round(time.perf_counter() - began, 3),
    }


def ungraded(data: bytes | None, found: tuple[Flag, ...], terms: Terms, why: str) -> dict[str, Any]:
    """What `grade` would have returned, for a submission that it failed at: no points, and a person to give them.

    Args:
        why: a sentence for the learner and the instructor.
    """
    return _withheld(_taken(data, found, terms), why)


def _taken(data: bytes | None, found: tuple[Flag, ...], terms: Terms) -> Taken:
    return take_in(data, _parsed(terms.released), found, [_parsed(text) for text in terms.earlier])


def _withheld(taken: Taken, why: str) -> dict[str, Any]:
    """No points, and what `grade` says of a run where nothing ran."""
    verdicts = withhold(taken.notebook, why)
    return {
        **_common(taken, taken.notebook, verdicts),
        "scores": {_name(cell): None for cell in taken.notebook.cells if is_grade(cell)},
        "waits": why,
        "untouched": [],
        "kept": None,
        "warm": None,
        "isolation": "",
        "trouble": "",
        "seconds": 0.0,
    }


def _common(taken: Taken, notebook: NotebookNode, verdicts: list[Verdict]) -> dict[str, Any]:
    return {
        "notebook": _text(notebook),
        "rows": [_row(cell, verdict) for cell, verdict in zip(graded_cells(notebook), verdicts, strict=True)],
        "flags": [{"id": flag.id, "text": flag.text} for flag in taken.flags],
    }


@contextmanager
def _ending_if_it_hangs(seconds: float) -> Iterator[None]:
    """Ends this process when it hangs, even inside a library: a thread of C does it, which needs no Python."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - it has to stay open
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


@lru_cache(maxsize=16)
def _parsed(released: bytes) -> NotebookNode:
    """Held to nbgrader's form once for all its submissions: their metadata are the release's."""
    notebook = nbformat.reads(released.decode("utf-8"), as_version=4)
    MetadataValidator().validate_nb(notebook)
    return notebook


def _text(notebook: NotebookNode) -> str:
    """As it will be stored; a kernel may send half a character, which no file takes."""
    return nbformat.writes(notebook).encode("utf-8", "replace").decode("utf-8") + "\n"


def _name(cell: NotebookNode) -> str:
    return str(cell.metadata["nbgrader"]["grade_id"])


def _is_untouched(cell: NotebookNode) -> bool:
    return bool(cell.metadata["nbgrader"].get("checksum") == compute_checksum(cell))


def _row(cell: NotebookNode, verdict: Verdict) -> dict[str, Any]:
    points, max_points = determine_grade(cell)
    return {
        "question": verdict.question,
        "points": points,
        "max_points": max_points,
        "state": verdict.state,
        "findings": [finding.id for finding in verdict.findings],
        "causes": [finding.cause for finding in verdict.findings],
        "seconds": _seconds(cell),
    }


def _seconds(cell: NotebookNode) -> float:
    """The check's own time, by the kernel's clock."""
    try:
        times = cell.metadata["execution"]
        begin, end = times["iopub.status.busy"], times["iopub.status.idle"]
        return round((datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds(), 3)
    except (KeyError, ValueError, TypeError):  # a cell that was interrupted has no end
        return 0.0
