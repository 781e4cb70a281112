"""A notebook that nobody could judge: it gets no points rather than wrong ones, and waits for a person.

It comes to that when what was handed in cannot be read, and when a kernel or a judge was lost through no fault of the
submission's. The notebook stays where nbgrader's formgrader shows it, with a place for points given by hand.
"""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode

from checks.protocol import Finding, Verdict
from grading.flags import METADATA, noted
from grading.judging import graded_cells, question_of, write_verdict

FINDING = "not_gradable"
_KEY = "waits"  # where the notebook's metadata say why


class NotGradable(Exception):
    """Says in a sentence why a submission cannot be judged."""


def withhold(notebook: NotebookNode, why: str) -> list[Verdict]:
    """Write into every graded cell, in place of a verdict on the answer, that nobody has judged it, and why.

    The outputs of all cells are dropped: they say nothing for sure. Returns what was written, in order.
    """
    notebook.metadata.setdefault(METADATA, NotebookNode())[_KEY] = why
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    verdicts = []
    for cell in graded_cells(notebook):
        verdicts.append(Verdict(question_of(cell).name, "crashed", 0.0, (Finding(FINDING, why),)))
        write_verdict(cell, verdicts[-1])
    return verdicts


def withheld(metadata: Any) -> str:
    """Why a notebook with these metadata waits for a person; empty where it was judged."""
    ours = metadata.get(METADATA)
    return str(ours.get(_KEY) or "") if isinstance(ours, dict) else ""


def unreadable(notebook: NotebookNode) -> str:
    """Why there is nothing to run in a notebook that intake has rebuilt; empty where there is."""
    found = [flag.text for flag in noted(notebook) if flag.id == "unreadable_notebook"]
    return found[0] if found else ""


def lost(reason: str) -> str:
    """The sentence for a run that ended through no fault of the submission's."""
    return f"The notebook could not be graded, through no fault of its own ({reason})."
