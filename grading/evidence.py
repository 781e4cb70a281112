"""What a run keeps beside the autograded notebook, so that `insidebert grade --explain` can show it again.

The seed the inputs were drawn from, what each check left, and the verdict on it. No learner sees the file: it lies in
nbgrader's autograded folder, and `nbgrader_config.py` names it in `c.CourseDirectory.ignore`, so that it is neither
taken from a submission nor copied to the feedback. Autograding anew removes it with the folder.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from checks.protocol import Finding, Verdict
from grading.judging import evidence_in, graded_cells, judge_notebook
from insidebert.errors import CommandError

FILE = "evidence.json"
MAX_EVIDENCE = 500_000  # characters of one check's evidence; who leaves more is told so instead


def judge_and_keep(notebook: NotebookNode, seed: int) -> tuple[list[Verdict], dict[str, Any]]:
    """Judge an executed notebook in place (see `judging.judge_notebook`) and say what it was judged by.

    Returns:
        the verdicts in order, and what `write` stores: plain JSON data.
    """
    left = [_kept(evidence_in(cell)) for cell in graded_cells(notebook)]  # judging clears the outputs
    verdicts = judge_notebook(notebook, seed)
    questions = {
        verdict.question: {"verdict": asdict(verdict), **evidence}
        for verdict, evidence in zip(verdicts, left, strict=True)
    }
    return verdicts, {"seed": seed, "questions": questions}


def _kept(pieces: list[Any]) -> dict[str, Any]:
    """One check's evidence, or why it is not kept. It may be of any form: a submission can write its own."""
    if len(pieces) != 1:
        return {"evidence": None, "missing": f"the check left {len(pieces) or 'no'} results"}
    try:
        size = len(json.dumps(pieces[0], allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        return {"evidence": None, "missing": "what the check left is not JSON"}
    if size > MAX_EVIDENCE:
        return {
            "evidence": None,
            "missing": f"what the check left is too large to keep ({size:,} characters)",
        }
    return {"evidence": pieces[0], "missing": ""}


def write(folder: Path, kept: dict[str, Any]) -> Path:
    """Store what `judge_and_keep` returned in the autograded folder of a submission, readable to its owner alone.

    Whatever stands there under that name, a link included, is replaced and never written through.
    """
    handle, partial = tempfile.mkstemp(dir=folder, prefix=".evidence-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(json.dumps(kept))  # `json.dump` would do without its quick encoder
        Path(partial).replace(folder / FILE)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    return folder / FILE


def read(folder: Path) -> dict[str, Any] | None:
    """What `write` stored there; None where nothing was.

    Raises:
        CommandError: the file is damaged.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        kept = json.loads(path.read_text(encoding="ascii"))
        return {"seed": int(kept["seed"]), "questions": dict(kept["questions"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CommandError(
            f"{path} is damaged ({type(error).__name__}). Grade the submission again with --force."
        ) from error


def verdict_from(kept: dict[str, Any]) -> Verdict:
    """The verdict in one question's part of what was kept."""
    stored = kept["verdict"]
    return Verdict(**stored | {"findings": tuple(Finding(**found) for found in stored["findings"])})
