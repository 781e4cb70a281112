"""The gradebook's database: what it is called, whether this nbgrader can use it, and what is wrong, in a sentence."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from nbgrader import dbutil
from nbgrader.api import Gradebook, InvalidEntry
from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from grading import sqlite  # noqa: F401 - sets up every connection
from grading.holders import holders_of
from insidebert.errors import CommandError


class Unusable(CommandError):
    """The gradebook cannot be read or written: its disk is full, its server stays away, it is somebody else's."""


class Book(Gradebook):
    """nbgrader's gradebook as a context that says in a sentence what its database could not do."""

    def __init__(self, db_url: str, course_id: str):
        """Open it, or make a new one.

        Raises:
            Unusable: it cannot be reached.
            CommandError: another version of nbgrader made it.
        """
        self._url = db_url
        try:
            hold_to_version(db_url)
            super().__init__(db_url, course_id)
        except SQLAlchemyError as error:
            raise Unusable(sentence(db_url, error)) from error

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        super().__exit__(kind, error, trace)
        cause = cause_of(error)
        if isinstance(cause, SQLAlchemyError):
            raise Unusable(sentence(self._url, cause)) from error


def cause_of(error: BaseException | None) -> BaseException | None:
    """The database's own error: nbgrader wraps some, and so do we."""
    if isinstance(error, Unusable):
        return error.__cause__
    return error.__context__ if isinstance(error, InvalidEntry) else error


def hold_to_version(url: str) -> None:
    """A gradebook of another nbgrader would fail in the middle of a run, or worse, not fail.

    Raises:
        CommandError: it is of another version; says how to convert it.
    """
    engine = engine_for(url)
    try:
        tables = inspect(engine).get_table_names()
        if not tables:
            return
        found = None
        if "alembic_version" in tables:
            with engine.connect() as connection:
                found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    finally:
        engine.dispose()
    if found != schema():
        raise CommandError(
            f"the gradebook ({name_of(url)}) was made by another version of nbgrader (schema {found or 'unknown'}, "
            f"this one needs {schema()}). Back it up, then run `nbgrader db upgrade`."
        )


def engine_for(url: str) -> Engine:
    """SQLAlchemy's engine for a database.

    Raises:
        CommandError: the package that speaks to such a database is not installed.
    """
    try:
        return create_engine(url)
    except ImportError as error:
        cure = "pip install 'insidebert[postgresql]'" if url.startswith("postgresql") else "Install it"
        raise CommandError(
            f"the gradebook ({name_of(url)}) needs the Python package {error.name}, which is not here. {cure} and "
            "run the same command again."
        ) from error


@cache
def schema() -> str | None:
    """The version of the tables that this nbgrader makes."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", dbutil.ALEMBIC_DIR)
    return ScriptDirectory.from_config(config).get_current_head()


def sentence(url: str, error: BaseException | None) -> str:
    """What is wrong with a gradebook and what to do, without the password in its address."""
    said = (str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__])[0]
    cure = "Put that right"
    if "disk is full" in said or "No space left" in said:
        said, cure = "the disk is full", "Make room"
    elif "is locked" in said:
        holders = holders_of(file) if (file := file_of(url)) else []
        said += f"; it is open in {', '.join(holders)}" if holders else "; another program is writing to it"
        cure = "Wait for that, or end it,"
    elif isinstance(error, (ArgumentError, NoSuchModuleError)):
        cure = "Mend c.CourseDirectory.db_url in nbgrader_config.py"
    return (
        f"the gradebook ({name_of(url)}) cannot be used: {said}. {cure} and run the same command again; "
        "what has been graded stays graded."
    )


def name_of(url: str) -> str:
    """Where a gradebook is, without the password in its address."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if "@" in rest else Path(rest).name or url


def file_of(url: str) -> Path | None:
    """The file of a gradebook in SQLite; None for another database."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None
    sqlite_file = parsed.get_backend_name() == "sqlite" and parsed.database
    return Path(sqlite_file) if sqlite_file else None
