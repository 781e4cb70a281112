"""Notebooks of a few lines for the sandbox's tests, and what they showed."""

from __future__ import annotations

from textwrap import dedent

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from grading.executing import Execution, execute
from grading.sandbox.isolation import Isolation
from grading.sandbox.limits import Limits

# A busy machine may make anything slow; what must stop has smaller limits of its own.
PATIENT = {"cell_seconds": 60, "total_seconds": 280, "start_seconds": 120}


def notebook_of(*sources: str) -> NotebookNode:
    return new_notebook(cells=[new_code_cell(dedent(source).strip()) for source in sources])


def run(
    *sources: str, isolation: Isolation | None = None, seed: int = 7, **limits: float
) -> tuple[list[str], Execution]:
    """What each cell showed, and how the run went."""
    notebook = notebook_of(*sources)
    execution = execute(notebook, seed, Limits(**{**PATIENT, **limits}), isolation)  # type: ignore[arg-type]
    return [shown(cell) for cell in notebook.cells], execution


def shown(cell: NotebookNode) -> str:
    """All of a cell's outputs as one text; an error as its name and message."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts.append(output.text if output.output_type == "stream" else output.data.get("text/plain", ""))
    return "".join(parts)
