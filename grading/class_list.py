"""`insidebert roster`: a class list into the gradebook, as a spreadsheet or an LMS writes it."""

from __future__ import annotations

import argparse
import csv
import io
import unicodedata
from pathlib import Path

from insidebert.errors import CommandError

_COLUMNS = ("id", "first_name", "last_name", "email", "lms_user_id")
_LONGEST = 128  # characters that a column of the gradebook has room for


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert roster`."""
    parser = commands.add_parser(
        "roster",
        help="read a class list into the gradebook",
        description="Reads a class list: a CSV file whose first line names its columns, id and any of first_name, "
        "last_name, email, lms_user_id. Who is in the gradebook already is brought up to date; nobody is removed.",
    )
    parser.add_argument("file", type=Path, metavar="FILE.csv")
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from grading.course import Course

    people = read_class_list(args.file)
    with Course.open(args.course).gradebook() as gradebook:
        known = {student.id for student in gradebook.students}
        for person in people:
            gradebook.update_or_create_student(person["id"], **{k: v for k, v in person.items() if k != "id"})
    new = sum(person["id"] not in known for person in people)
    print(f"{len(people)} learners, {new} of them new in the gradebook")
    return 0


def read_class_list(path: Path) -> list[dict[str, str]]:
    """The learners of a class list, each with an id and the columns that are filled.

    UTF-8 with or without a byte order mark, or UTF-16, as spreadsheets save it; separated by commas, semicolons
    or tabs.

    Raises:
        CommandError: it is none; says which line is wrong and how.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CommandError(f"there is no class list {path}.") from None
    rows = list(csv.reader(io.StringIO(_decoded(path, data), newline=""), delimiter=_separator(path, data)))
    if not rows or "id" not in (columns := [name.strip().lower() for name in rows[0]]):
        raise CommandError(
            f"{path}: the first line has to name the columns: id, and any of {', '.join(_COLUMNS[1:])}."
        )
    people: dict[str, dict[str, str]] = {}
    for line, row in enumerate(rows[1:], 2):
        cells = [unicodedata.normalize("NFC", cell).strip() for cell in row]
        if not any(cells):
            continue
        person = {name: cell for name, cell in zip(columns, cells, strict=False) if cell and name in _COLUMNS}
        why = _wrong(person, row, columns, people)
        if why:
            raise CommandError(f"{path}, line {line}: {why}. Nobody was read in.")
        people[person["id"]] = person
    if not people:
        raise CommandError(f"{path} names nobody.")
    return list(people.values())


def _wrong(
    person: dict[str, str], row: list[str], columns: list[str], people: dict[str, dict[str, str]]
) -> str:
    """Why a line is nobody's; empty where it is somebody's."""
    if len(row) > len(columns):
        return f"{len(row)} cells, and the first line names {len(columns)} columns"
    if "id" not in person:
        return "nobody's id"
    if person["id"] in people:
        return f"{person['id']} is there twice"
    if not all(cell.isprintable() or "\u200c" in cell or "\u200d" in cell for cell in person.values()):
        return "a character that cannot be shown"
    if set("/\\[]*?") & set(person["id"]) or person["id"].startswith("."):
        return f"{person['id']!r} cannot name a folder"
    if long := [name for name, cell in person.items() if len(cell) > _LONGEST]:
        return f"{long[0]} is longer than {_LONGEST} characters"
    return ""


def _decoded(path: Path, data: bytes) -> str:
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not UTF-8. Save it as “CSV UTF-8” and try again.") from None


def _separator(path: Path, data: bytes) -> str:
    """What stands most often in the first line: a spreadsheet in Germany writes semicolons."""
    first = _decoded(path, data).partition("\n")[0]
    return max(",;\t", key=first.count)
