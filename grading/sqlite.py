"""Gradebooks in SQLite: readers and a writer at once. Importing this is enough, for nbgrader's connections too."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

_BUSY_MS = 30_000  # how long one writer waits for another, such as the formgrader


@event.listens_for(Engine, "connect")
def _let_readers_and_a_writer_meet(connection: Any, _: Any) -> None:
    """A gradebook gets a write-ahead log, so that the formgrader reads while a run writes.

    Listens to every engine, because nbgrader makes its own where nobody can reach it; touches only what has
    nbgrader's tables.
    """
    if not isinstance(connection, sqlite3.Connection):
        return
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'submitted_notebook'").fetchone():
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
