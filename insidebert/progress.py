"""The learner's progress: one JSON file on the learner's machine, and nowhere else.

`{"version": 1, "predictions": {key: {…}}, "exercises": {assignment: {question: {"state", "at"}}}}`

The file is read anew before each change and replaced in one step, so that a kernel that dies leaves the old
file or the new one. What cannot be understood is set aside under another name, never overwritten. Functions
return a notice, "" or one sentence for the learner, where the file could not be used.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs

VARIABLE = "INSIDEBERT_PROGRESS"
Progress = dict[str, Any]


def path() -> Path:
    """Where the file is: the environment variable INSIDEBERT_PROGRESS, or the user's data directory."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return platformdirs.user_data_path("insidebert", appauthor=False) / "progress.json"


def now() -> str:
    """The time that goes into the file: UTC, ISO 8601, seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def load() -> tuple[Progress, str]:
    """What is known about the learner, and a notice."""
    file = path()
    try:
        data = json.loads(file.read_bytes())
        # What is no text or no number fails here, not when it is shown or written.
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except FileNotFoundError:
        return _empty(), ""
    except OSError as error:
        return _empty(), f"Your progress in {file} cannot be read ({error.strerror}); check its permissions."
    except (ValueError, RecursionError):  # not JSON, not UTF-8, NaN, half a character
        return _empty(), _set_aside(file)
    return (data, "") if _well_formed(data) else (_empty(), _set_aside(file))


def update(change: Callable[[Progress], None]) -> str:
    """Reads the file, lets `change` alter its content in place, and writes it. Returns a notice.

    A file that can be neither read nor set aside stays as it is.
    """
    data, notice = load()
    if notice and os.path.lexists(path()):
        return notice
    change(data)
    try:
        _write(path(), data)
    except OSError as error:
        notice = (
            f"Your progress could not be saved in {path()} ({error.strerror}); the lesson goes on without."
        )
    return notice


def record_exercise(assignment: str, question: str, state: str) -> None:
    """Notes how the learner's answer to a question stands. Silent, and never in the way of the exercise."""

    def change(data: Progress) -> None:
        data["exercises"].setdefault(assignment, {})[question] = {"state": state, "at": now()}

    with suppress(OSError, ValueError, TypeError, RuntimeError):
        update(change)


def _empty() -> Progress:
    return {"version": 1, "predictions": {}, "exercises": {}}


def _well_formed(data: object) -> bool:
    return (
        isinstance(data, dict)
        and data.get("version") == 1
        and _holds(data.get("predictions"), {"question": str, "unit": str, "choices": list})
        and all(_is_answer(entry.get("answer", "")) for entry in data["predictions"].values())
        and isinstance(data.get("exercises"), dict)
        and all(_holds(questions, {"state": str}) for questions in data["exercises"].values())
    )


def _is_answer(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, (int, float)) and abs(value) <= sys.float_info.max)


def _holds(entries: object, types: dict[str, type]) -> bool:
    return isinstance(entries, dict) and all(
        isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in types.items())
        for entry in entries.values()
    )


def _set_aside(file: Path) -> str:
    kept = file.with_name(f"{file.stem}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}{file.suffix}")
    try:
        file.replace(kept)
    except OSError as error:
        return f"Your progress in {file} is damaged and cannot be moved away ({error.strerror}); remove it."
    return f"Your progress file was damaged; it is kept as {kept.name} beside a new one in {kept.parent}."


def _write(file: Path, data: Progress) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".new")
    written = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(data, stream, ensure_ascii=False, indent=1)
        written.replace(file)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
