"""From the cells that came to the notebook that is graded.

Locked cells come from the release, in the release's order, always. An answer is the submission's first cell with the
answer's `grade_id`. Every other cell is the learner's own: it keeps its source and its place behind its neighbour,
and loses everything else. Nothing of a submitted cell but text ever reaches the result.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_locked

from grading.flags import Flag, flag, hints

MAX_SOURCE = 1_000_000  # characters of one cell
MAX_OWN_CELLS = 400


@dataclass
class _Read:
    """What was found: submitted cells by the index of the released one they are, the others by what they follow."""

    known: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    own: dict[int, list[Mapping[str, Any]]] = field(default_factory=dict)  # -1: before any known one
    notes: dict[str, list[str]] = field(default_factory=dict)

    def note(self, name: str, detail: str) -> None:
        self.notes.setdefault(name, []).append(detail)

    def search(self, name: str, source: str) -> None:
        for hint, detail in hints(name, source):
            self.note(hint, detail)


Notes = Mapping[str, Sequence[str]]  # by the ids of flags, the cells they are about


def flags_of(notes: Notes) -> list[Flag]:
    """A flag for each kind of thing that was noted."""
    return [flag(name, list(dict.fromkeys(details))) for name, details in notes.items()]


def rebuild(submitted: Sequence[Any], released: NotebookNode) -> tuple[NotebookNode, Notes]:
    """The canonical notebook and what was noted on the way.

    Args:
        submitted: the cells as parsed JSON; each may be anything.
        released: the notebook as it was handed out.
    """
    read = _sort(submitted, released.cells)
    notebook = NotebookNode({key: deepcopy(part) for key, part in released.items() if key != "cells"})
    notebook.cells = _own_cells(read, -1)
    for index, cell in enumerate(released.cells):
        if rebuilt := _rebuilt(read, cell, read.known.get(index)):
            notebook.cells.append(rebuilt)
        notebook.cells += _own_cells(read, index)
    for number, cell in enumerate(
        notebook.cells
    ):  # a cell's own id decides nothing, and may have been anything
        cell.id = f"cell-{number}"
    return notebook, read.notes


def _sort(submitted: Sequence[Any], released: Sequence[NotebookNode]) -> _Read:
    """Say of every submitted cell which released one it is, or after which it stands."""
    read, last, furthest, count = _Read(), -1, -1, 0
    by_name = {name: index for index, cell in enumerate(released) if (name := _name(cell))}
    by_id = {cell.get("id"): index for index, cell in enumerate(released)}
    for cell in submitted:
        if not isinstance(cell, Mapping):
            continue
        index = _recognise(read, cell, by_name, by_id, released)
        if index is not None and not _name(released[index]) and index < furthest:
            index = None  # an unmarked cell stays where its author moved it
        if index is not None:
            if index < furthest:
                read.note("moved_cell", _name(released[index]))
            read.known[index] = cell
            last, furthest = index, max(index, furthest)
        elif count < MAX_OWN_CELLS:
            read.own.setdefault(last, []).append(cell)
            count += 1
        else:
            read.notes["too_many_cells"] = [f"{MAX_OWN_CELLS} of {len(submitted)} in all"]
    return read


def _recognise(
    read: _Read,
    cell: Mapping[str, Any],
    by_name: Mapping[str, int],
    by_id: Mapping[Any, int],
    released: Sequence[NotebookNode],
) -> int | None:
    """The index of the released cell that this one is; None for one of the learner's own, copies included."""
    name = _name(cell)
    if name in by_name:
        index = by_name[name]
    elif _claims(cell):
        read.note("unknown_cell", name or "without an id")
        return None
    else:  # unmarked: a cell that is released so, or one that some other program took the marks from
        identity = cell.get("id")
        found = by_id.get(identity) if isinstance(identity, str) else None
        if found is None or found in read.known:
            return None
        if _name(released[found]):
            read.note("lost_metadata", _name(released[found]))
        return found
    if index in read.known:
        read.note("duplicate_cell", name)
        return None
    return index


def _rebuilt(read: _Read, released: NotebookNode, cell: Mapping[str, Any] | None) -> NotebookNode | None:
    name, rebuilt = _name(released), deepcopy(released)
    if cell is None:
        if not name:
            return None  # the text of an exercise may be deleted
        read.note("deleted_cell", name)
        if not is_locked(released):
            rebuilt.source = _yielding(released.source)
        return rebuilt
    text = _text(read, cell, name or "a cell of text")
    if name:
        _compare(read, released, cell, text)
    if is_locked(released):
        return rebuilt
    if text is not None:
        rebuilt.source = text
        if rebuilt.cell_type == "code" and text != released.source:
            read.search(name or str(released.get("id")), text)
    return rebuilt


def _compare(read: _Read, released: NotebookNode, cell: Mapping[str, Any], text: str | None) -> None:
    name, metadata = _name(released), _metadata(cell)
    if cell.get("cell_type") != released.cell_type:
        read.note("changed_type", name)
    if is_locked(released) and _lines(text) != _lines(released.source):
        read.note("changed_source", name)
    marks = metadata.get("nbgrader")
    tagged = is_locked(released) and metadata.get("tags", []) != released.metadata.get("tags", [])
    if tagged or (marks is not None and not _same(marks, released.metadata["nbgrader"])):
        read.note("changed_metadata", name)


def _lines(source: str | None) -> list[str]:
    """The source without what editors change on their own: line endings, and white space at the end."""
    return (source or "").rstrip().splitlines()


def _same(marks: Any, released: Mapping[str, Any]) -> bool:
    """Flat comparison: what was released holds plain values only, and what came may be nested without end."""
    if not isinstance(marks, Mapping) or set(marks) != set(released):
        return False
    return all(
        not isinstance(marks[key], (Mapping, list)) and marks[key] == value for key, value in released.items()
    )


def _yielding(stub: str) -> str:
    """The blank answer, giving way to one that the learner wrote in a cell of their own."""
    try:
        nodes = ast.parse(stub).body
    except SyntaxError:  # a magic, or prose
        return stub
    names = [
        node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    if not names:
        return stub
    missing = " or ".join(f'"{name}" not in globals()' for name in names)
    return f"# This cell was not in the submission.\nif {missing}:\n" + indent(stub, "    ")


def _own_cells(read: _Read, index: int) -> list[NotebookNode]:
    """The learner's own cells behind the released cell `index`: their text and whether it is code."""
    cells = []
    for number, cell in enumerate(read.own.get(index, []), 1):
        name = f"own cell {number} after cell {index + 1}"
        text = _text(read, cell, name)
        if not text:
            continue
        if cell.get("cell_type") == "code":
            read.search(name, text)
            cells.append(new_code_cell(text))
        else:  # raw cells too: raw text would go into a page of feedback as it is
            cells.append(new_markdown_cell(text))
    return cells


def _text(read: _Read, cell: Mapping[str, Any], name: str) -> str | None:
    """A cell's source as text that can be written anywhere; None where it has none or far too much."""
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    if len(source) > MAX_SOURCE:
        read.note("too_long_cell", name)
        return None
    return source.encode("utf-8", "replace").decode("utf-8")


def _metadata(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = cell.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _marks(cell: Mapping[str, Any]) -> Any:
    return _metadata(cell).get("nbgrader")


def _claims(cell: Mapping[str, Any]) -> bool:
    """Whether the cell says that nbgrader made it; the front end leaves empty marks on others, too."""
    marks = _marks(cell)
    return isinstance(marks, Mapping) and any(
        marks.get(key) for key in ("grade_id", "grade", "solution", "locked", "task")
    )


def _name(cell: Mapping[str, Any]) -> str:
    """The cell's `grade_id`; empty where it has none."""
    marks = _marks(cell)
    name = marks.get("grade_id") if isinstance(marks, Mapping) else None
    return name if isinstance(name, str) else ""
