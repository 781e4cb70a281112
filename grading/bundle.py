"""What a learner receives: the course without solutions, without the answers to test checks with, without grading."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grading.releases import hold_untouched
from grading.targets import hold_own_kind
from insidebert.errors import CommandError
from insidebert.workspace import CONFIGURATION

# (folder, patterns): everything else stays at home.
_CONTENT = (
    ("lessons", ("*.ipynb",)),
    ("exercises", ("*/*",)),
    ("checks", ("**/*.py",)),
    ("insidebert", ("**/*.py", "figures/*.js", "figures/*.css", "data/**/*", "checkpoints/**/*")),
)
_FILES = ("environment.yml", "requirements.lock", "LICENSE")
_LEARNER = Path(__file__).parent / "learner"
_COMMANDS = re.compile(
    r'(?:^#[^\n]*\n)*^\[project\.entry-points\."insidebert\.commands"\]\n(?:^[^\[\n][^\n]*\n)*', re.M
)
_EPOCH = (2026, 1, 1, 0, 0, 0)  # the same content gives the same bytes


def write_bundle(course: Path, target: Path) -> list[str]:
    """Write the zip and return the names in it.

    Raises:
        CommandError: the course has no released exercises, somebody has written into one, or it lacks a file a
            learner needs.
    """
    hold_own_kind(target, ".zip")
    entries = dict(_entries(course))
    if not any(name.startswith("exercises/") for name in entries):
        raise CommandError(f"{course} has no released exercise to bundle. Run `insidebert release` first.")
    for exercise in sorted((course / "exercises").glob("*/*.ipynb")):
        hold_untouched(exercise)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        raise CommandError(f"{target} is a folder; name the file to write, such as {target / 'course.zip'}.")
    partial = target.with_name(target.name + ".part")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name in sorted(entries):
            bundle.writestr(
                zipfile.ZipInfo(f"inside-bert/{name}", _EPOCH), entries[name], zipfile.ZIP_DEFLATED
            )
    partial.replace(target)
    return sorted(entries)


def _entries(course: Path) -> Iterator[tuple[str, bytes]]:
    for folder, patterns in _CONTENT:
        for pattern in patterns:
            for path in (course / folder).glob(pattern):
                if path.is_file() and not any(
                    part.startswith((".", "__pycache__")) for part in path.parts[-3:]
                ):
                    yield path.relative_to(course).as_posix(), path.read_bytes()
    for name in _FILES:
        yield name, _read(course / name)
    yield "pyproject.toml", _without_grading(_read(course / "pyproject.toml").decode("utf-8")).encode("utf-8")
    for path in (CONFIGURATION, *_LEARNER.iterdir()):
        yield path.name, path.read_bytes()


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise CommandError(f"{path} is missing; a learner needs it. Restore it and bundle again.")
    return path.read_bytes()


def _without_grading(project: str) -> str:
    """The project's description without the commands and the package that stay at home."""
    text, removed = _COMMANDS.subn("", project)
    if removed != 1:
        raise CommandError(
            "pyproject.toml has no section of insidebert.commands; the bundle would promise them."
        )
    return text.replace(', "grading*"', "")
