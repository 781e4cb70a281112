"""A PostgreSQL server of the tests' own: in a folder of theirs, on a Unix socket, gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


class Server:
    """Runs as an unprivileged user even where the tests are root, which PostgreSQL refuses to be."""

    def __init__(self) -> None:
        found = [shutil.which("pg_ctl"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")))]
        programs = [path for path in found if path]
        if not programs:
            raise FileNotFoundError("pg_ctl is not here; tests/system_packages.sh installs PostgreSQL.")
        self._programs = Path(programs[-1]).resolve().parent
        self._folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's name has to be short
        self._prefix: list[str] = []
        if os.geteuid() == 0:
            self._prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(self._folder, "postgres", "postgres")
        self._do("initdb", "-D", self._data, "-U", "grader", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def url(self, database: str) -> str:
        """Of a new database."""
        self._do("createdb", "-h", str(self._folder), "-U", "grader", database)
        return f"postgresql+psycopg://grader@/{database}?host={self._folder}"

    def start(self) -> None:
        options = f"-k {self._folder} -c listen_addresses='' -c fsync=off"
        self._do("pg_ctl", "-D", self._data, "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """As in an accident: no client is asked."""
        self._do("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def _do(self, program: str, *words: str) -> None:
        command = [*self._prefix, str(self._programs / program), *words]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, timeout=240)
