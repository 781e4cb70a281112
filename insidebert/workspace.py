"""A workspace: the notebooks of a course in a folder of their own.

A learner's is away from the course, which may hold solutions. An instructor's is a folder in it: what they try there is
neither released nor committed.

`fill` copies lessons and exercises there, and does so again each time the lab starts. What a person wrote
stays: a notebook is replaced by the course's newer version only where nobody has written into it. Running
is not writing, so outputs do not count; a notebook that was removed or renamed is there again next time.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from insidebert.errors import CommandError

DEFAULT = "inside-bert-learner"  # in the person's home
COPY = "working-copy"  # in the course: where whoever has the solutions tries its lessons and exercises
RECORD = Path(".insidebert", "workspace.json")  # what was laid here: {name: fingerprint}
PATTERNS = ("lessons/*.ipynb", "exercises/*/*")
CONFIGURATION = Path(__file__).parent / "learner" / "nbgrader_config.py"


def locate(course: Path, wanted: str | None = None) -> Path:
    """The folder a learner's lab serves, which need not exist yet.

    Args:
        course: the course's folder.
        wanted: the folder a person named; None: one in their home.

    Raises:
        CommandError: solutions could be seen from there.
    """
    try:
        workspace = (Path(wanted).expanduser() if wanted else Path.home() / DEFAULT).resolve()
    except (RuntimeError, ValueError) as error:  # nobody's home, a link to itself, no path at all
        raise CommandError(
            f"{wanted or '~'} leads nowhere ({error}); name a folder with --workspace."
        ) from error
    if workspace.is_relative_to(course) or course.is_relative_to(workspace):
        raise CommandError(
            f"the workspace {workspace} and the course {course} lie in one another, so that a learner would "
            "see the solutions; name a folder outside of it with --workspace."
        )
    if (workspace / "solutions").exists():
        raise CommandError(f"{workspace} has solutions/, it is no learner's; name another with --workspace.")
    return workspace


def fill(course: Path, workspace: Path) -> list[str]:
    """Brings the workspace up to date with the course.

    Returns:
        the names, from the workspace and with `/`, of what has a newer version in the course and stayed as
        it is because a person wrote into it. It is told each time until it is renamed or removed.

    Raises:
        CommandError: the workspace cannot be written.
    """
    try:
        return _fill(course, workspace)
    except OSError as error:
        raise CommandError(
            f"the workspace {workspace} cannot be written ({error}); name another with --workspace."
        ) from error


def _fill(course: Path, workspace: Path) -> list[str]:
    for folder in ("lessons", "exercises"):
        (workspace / folder).mkdir(parents=True, exist_ok=True)
    laid, kept = _read(workspace / RECORD), []
    for name, source in _sources(course).items():
        target, new = workspace / name, fingerprint(source)
        present = target.exists() or target.is_symlink()
        if present and (now := fingerprint(target)) not in (new, laid.get(name)):
            if laid.get(name) != new:
                kept.append(name)
            continue
        if not present or now != new:
            _replace(target, source.read_bytes())
        laid[name] = new
    _replace(workspace / RECORD, json.dumps(laid, indent=1).encode())
    return kept


def fingerprint(path: Path) -> str:
    """A hash of what people write: a notebook's cells with something in them, else the bytes; "" for no file."""
    if not path.is_file():
        return ""
    content = path.read_bytes()
    try:
        cells = json.loads(content)["cells"] if path.suffix == ".ipynb" else None
        written = [(cell["cell_type"], "".join(cell["source"])) for cell in cells or ()]
        content = json.dumps([cell for cell in written if cell[1].strip()]).encode() if cells else content
    except (ValueError, KeyError, TypeError, RecursionError):  # no notebook, whatever its name
        pass
    return hashlib.sha256(content).hexdigest()


def _sources(course: Path) -> dict[str, Path]:
    """What a learner gets, by its name in the workspace."""
    notebooks = {
        path.relative_to(course).as_posix(): path
        for pattern in PATTERNS
        for path in sorted(course.glob(pattern))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(course).parts)
    }
    return notebooks | {CONFIGURATION.name: CONFIGURATION}


def _replace(target: Path, content: bytes) -> None:
    """In one step, so that nobody finds half a file, however many start a lab at once and however they end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    partial.write_bytes(content)
    partial.replace(target)


def _read(record: Path) -> dict[str, Any]:
    """What was laid. Without a record that can be read nothing is known, and what differs is a person's."""
    try:
        laid = json.loads(record.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return laid if isinstance(laid, dict) else {}
