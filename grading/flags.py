"""What is noted about a submission: flags for the instructor's eye.

A flag changes no grade, and a clean submission has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # commands name flags before anything of a notebook is wanted
    from nbformat import NotebookNode

METADATA = "insidebert"  # where a canonical notebook keeps its flags, so that they travel through nbgrader's own path

_SENTENCES = {
    "missing_notebook": "There is no notebook in the submission; it is graded as untouched.",
    "unreadable_notebook": "The notebook cannot be read: {}.",
    "renamed_notebook": "The notebook is called {}.",
    "not_a_file": "Links, pipes, devices and what cannot be read, none of them opened: {}.",
    "too_large": "Too large to be opened: {}.",
    "extra_files": "Files beside the notebook, which nothing reads: {}.",
    "odd_encoding": "The notebook is not plain UTF-8: {}.",
    "bad_timestamp": "timestamp.txt says no time that can be read for sure; {}.",
    "early_timestamp": "timestamp.txt is older than the notebook's last change: {}.",
    "changed_source": "Locked cells were changed; the released ones are graded: {}.",
    "changed_type": "Cells were turned into another type and back: {}.",
    "changed_metadata": "Points, ids, tags or other marks of released cells were changed, and changed back: {}.",
    "deleted_cell": "Released cells were missing and put back: {}.",
    "moved_cell": "Released cells stood in another order, and were put back: {}.",
    "duplicate_cell": "Cells were there more than once; the first counts: {}.",
    "unknown_cell": "Cells carry marks of nbgrader's that were never released, and lost them: {}.",
    "lost_metadata": "The marks of nbgrader's were gone; the cells were known by their ids: {}.",
    "too_long_cell": "Cells of over a million characters were left out: {}.",
    "too_many_cells": "Only the first of the learner's own cells were kept: {}.",
}

# Words that honest answers do not need. A hint and no proof: whoever hides them is not found, nor graded otherwise.
_HINTS = {
    "touches_check": (
        "replaces or inspects the check",
        r"def\s+check\b|^[ \t]*checks?\s*=[^=]|\bchecks\.|import\s+checks\b|from\s+checks\s+import\s+(?!check\s*$)"
        r"|sys\.modules|insidebert\.evidence|__eq__",
    ),
    "touches_results": (
        "writes results of its own",
        r"displayhook|publish_display_data|display_pub|raw\s*=\s*True|insidebert\.evidence",
    ),
    "touches_interpreter": (
        "changes or searches the interpreter",
        r"ast_transformers|input_transformers|showtraceback|set_custom_exc|excepthook|_getframe|\bf_back\b"
        r"|gc\.get_|inspect\.(?:stack|currentframe)|__builtins__|import\s+builtins|user_ns|\bIn\[|\bctypes\b"
        r"|^[ \t]*(?:math|torch|np|numpy|random|transformers)\.(?!backends\b)(?:\w+\.)*\w+[ \t]*=[^=]",
    ),
    "uses_the_course": (
        "calls on the course's own library",
        r"^[ \t]*(?:import|from)[ \t]+insidebert\b|import_module\(\s*['\"]insidebert|__import__\(\s*['\"]insidebert",
    ),
    "asks_whether_graded": ("asks whether it is being graded", r"INSIDEBERT_|NBGRADER_|JUPYTERHUB_"),
    "touches_machine": (
        "reaches for the machine",
        r"os\._exit|\bfork\s*\(|os\.kill|\bimport\s+signal\b|\bsocket\b|\bsubprocess\b|os\.system|\brmtree\b"
        r"|gradebook|/proc/|\.ssh\b|solutions/|autograded|environ\.|environ\)",
    ),
}
_PATTERNS = {name: re.compile(pattern, re.M) for name, (_, pattern) in _HINTS.items()}
_SENTENCES |= {name: f"The submission's own code {what}: {{}}." for name, (what, _) in _HINTS.items()}
_SHOWN = 5  # cells or files named in one sentence
_SEARCHED = 20_000  # characters of a cell: a bound on the time that a search takes


@dataclass(frozen=True)
class Flag:
    """One thing that was noted: a stable id, counted over a class, and a sentence."""

    id: str
    text: str


def flag(name: str, details: Sequence[str] = ()) -> Flag:
    """The flag with that id; `details` are names of cells or files, which may be anybody's."""
    shown = [printable(detail) for detail in details[:_SHOWN]]
    more = [f"{len(details) - _SHOWN} more"] if len(details) > _SHOWN else []
    return Flag(name, _SENTENCES[name].format(", ".join(shown + more)))


def hints(name: str, source: str) -> Iterator[tuple[str, str]]:
    """What looks like tampering in a cell of the learner's own: ids of flags, and the place and word for each."""
    for hint, pattern in _PATTERNS.items():
        if found := pattern.search(source, 0, _SEARCHED):
            yield hint, f"{name} ({found.group().strip()})"


def printable(text: str, longest: int = 60) -> str:
    """`text` on one line of characters that can be shown and stored anywhere."""
    return "".join(char if char.isprintable() else "?" for char in text[:longest]) + "…" * (
        len(text) > longest
    )


def note(notebook: NotebookNode, flags: Sequence[Flag]) -> None:
    """Keep the flags in the notebook's metadata."""
    notebook.metadata[METADATA] = {"flags": [{"id": flag.id, "text": flag.text} for flag in flags]}


def noted(notebook: NotebookNode) -> list[Flag]:
    """The flags that `note` kept in a notebook of ours."""
    kept = notebook.metadata.get(METADATA, {}).get("flags", [])
    return [Flag(str(entry["id"]), str(entry["text"])) for entry in kept]
