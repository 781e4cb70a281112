"""`insidebert move-gradebook`: the gradebook as it is, grades and LMS ids included, into another database."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from insidebert.errors import CommandError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

_ROWS = 1_000  # copied at once


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert move-gradebook`."""
    parser = commands.add_parser(
        "move-gradebook",
        help="move the gradebook to PostgreSQL",
        description="Copies the gradebook, all grades and LMS ids included, into an empty database: all of it or, if "
        "anything goes wrong, nothing. The old one stays as it is.",
    )
    parser.add_argument(
        "to", metavar="URL", help="such as postgresql+psycopg://grader@db.example.org/inside_bert"
    )
    parser.add_argument(
        "--from", dest="source", metavar="URL", help="default: what nbgrader_config.py names, or gradebook.db"
    )
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from grading.course import Course
    from grading.database import name_of
    from grading.grade import the_only_grader

    course = Course.open(args.course)
    source = args.source or str(course.directory.db_url)
    if source == args.to:  # the configuration names the new one already
        source = f"sqlite:///{course.root / 'gradebook.db'}"
    with the_only_grader(course.root):
        rows = move(source, args.to)
    counted = ", ".join(f"{rows[table]} {what}" for table, what in _TOLD.items())
    print(f"{name_of(source)} → {name_of(args.to)}: {counted}. Each row was compared.")
    if str(course.directory.db_url) != args.to:
        print("Now set c.CourseDirectory.db_url in nbgrader_config.py, and put the old gradebook away.")
    return 0


_TOLD = {"student": "learners", "submitted_assignment": "submissions", "grade": "grades"}  # by table


def move(source_url: str, target_url: str) -> dict[str, int]:
    """Copy a gradebook into an empty database, in one transaction, and compare what arrived.

    Returns:
        how many rows each table has.

    Raises:
        CommandError: there is no gradebook, the other database is not empty, or it will not have a row.
        Unusable: one of the two cannot be reached.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from grading.database import Unusable, file_of, hold_to_version, sentence

    file = file_of(source_url)
    if file is not None and not file.is_file():
        raise CommandError(f"there is no gradebook {file} to move; name it with --from.")
    url = source_url
    try:
        hold_to_version(source_url)
        with _engine(source_url) as source, source.connect() as old:
            url = target_url
            with _engine(target_url) as target, target.begin() as new:
                _hold_to_empty(new, target_url)
                return _copy(old, new)
    except SQLAlchemyError as error:
        raise Unusable(f"{sentence(url, error)} Nothing was moved.") from error


@contextmanager
def _engine(url: str) -> Iterator[Engine]:
    from grading.database import engine_for

    engine = engine_for(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _hold_to_empty(new: Connection, url: str) -> None:
    """What has tables may have a course in it, but neither learners nor assignments."""
    from sqlalchemy import inspect, text

    from grading.database import name_of

    tables = set(inspect(new).get_table_names())
    for table in ("student", "assignment"):
        if table in tables and new.execute(text(f"SELECT count(*) FROM {table}")).scalar():
            raise CommandError(
                f"{name_of(url)} is a gradebook with a class of its own. Name an empty database. Nothing was moved."
            )
    if tables - {"alembic_version", "course"} and "course" not in tables:
        raise CommandError(
            f"{name_of(url)} holds somebody else's tables. Name an empty database. Nothing was moved."
        )


def _copy(old: Connection, new: Connection) -> dict[str, int]:
    from nbgrader.api import Base
    from sqlalchemy import delete, insert, select, text

    from grading.database import schema

    Base.metadata.create_all(new)
    rows = {}
    for table in Base.metadata.sorted_tables:
        new.execute(delete(table))
        for part in old.execute(select(table)).mappings().partitions(_ROWS):
            new.execute(insert(table), [dict(row) for row in part])
        rows[table.name] = _compare(old, new, table)
    new.execute(text("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL)"))
    new.execute(text("DELETE FROM alembic_version"))
    new.execute(text("INSERT INTO alembic_version (version_num) VALUES (:version)"), {"version": schema()})
    return rows


def _compare(old: Connection, new: Connection, table: Any) -> int:
    """How many rows both have, in which nothing differs."""
    from sqlalchemy import select

    before, after = ({tuple(row) for row in connection.execute(select(table))} for connection in (old, new))
    if before != after:
        raise CommandError(
            f"{len(before - after)} rows of the table {table.name} did not arrive as they were. Nothing was moved."
        )
    return len(after)
