"""Where a command may write what it was asked for: over its own kind, and over nothing that cannot be made again."""

from __future__ import annotations

from pathlib import Path

from insidebert.errors import CommandError


def hold_own_kind(path: Path, suffix: str) -> None:
    """Make sure that a file to be written replaces nothing of another kind: a gradebook, a solution, a class list.

    Args:
        suffix: of the kind that is written, `.csv`; a name without any is taken for it. A folder is
            left to the command.

    Raises:
        CommandError: it would.
    """
    if path.exists() and not path.is_dir() and not (path.is_file() and path.suffix.lower() in ("", suffix)):
        raise CommandError(
            f"{path} is there already and is no {suffix} file; it would be lost. Name another file, or remove it first."
        )
