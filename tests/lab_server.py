"""A JupyterLab started as `make lab` starts it, for the tests that ask its API or drive a browser."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import websocket

ROOT = Path(__file__).parents[1]
TOKEN = "a-token-for-tests"
PATIENCE = 120  # seconds until a server counts as dead; a busy machine needs some


@dataclass(frozen=True)
class LabServer:
    """Where it answers, the course, and the folder it serves: the course's, or a learner's workspace."""

    url: str
    course: Path
    root: Path

    def ask(self, path: str, data: Any = None, method: str | None = None) -> Any:
        """The body of an answer: parsed where it is JSON, else text.

        Raises:
            urllib.error.HTTPError: the server refused.
        """
        body = None if data is None else json.dumps(data).encode()
        headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read().decode()
        return json.loads(text) if text.startswith(("{", "[")) else text  # nbgrader calls its JSON text/html

    def status(self, path: str) -> int:
        """The HTTP status of an answer."""
        try:
            self.ask(path)
        except urllib.error.HTTPError as refused:
            refused.close()
            return refused.code
        return 200

    def run(self, notebook: str) -> list[dict[str, Any]]:
        """Runs a notebook's cells in a kernel of this server; returns the messages with output and errors."""
        cells = self.ask(f"/api/contents/{notebook}?type=notebook")["content"]["cells"]
        words = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        session = self.ask("/api/sessions", words)
        address = (
            f"ws{self.url.removeprefix('http')}/api/kernels/{session['kernel']['id']}/channels?token={TOKEN}"
        )
        messages: list[dict[str, Any]] = []
        try:
            with contextlib.closing(websocket.create_connection(address, timeout=PATIENCE)) as channel:
                for cell in cells:
                    if cell["cell_type"] == "code" and not any(
                        said["msg_type"] == "error" for said in messages
                    ):
                        messages += execute(channel, cell["source"])
        finally:
            self.ask(f"/api/sessions/{session['id']}", method="DELETE")
        return messages


def execute(channel: websocket.WebSocket, code: str) -> Iterator[dict[str, Any]]:
    """What the kernel says while it runs one cell, until it is idle again."""
    identity = uuid.uuid4().hex
    header = {
        "msg_id": identity,
        "msg_type": "execute_request",
        "username": "",
        "session": "",
        "version": "5.3",
    }
    content = {
        "code": code,
        "silent": False,
        "store_history": True,
        "allow_stdin": False,
        "stop_on_error": True,
    }
    empty: dict[str, Any] = {}
    channel.send(
        json.dumps(
            {
                "header": header,
                "parent_header": empty,
                "metadata": empty,
                "content": content,
                "channel": "shell",
            }
        )
    )
    while True:
        said = json.loads(channel.recv())
        if said["parent_header"].get("msg_id") != identity:
            continue
        if said["msg_type"] == "status" and said["content"]["execution_state"] == "idle":
            return
        if said["channel"] == "iopub":
            yield said


def copy_course(folder: Path) -> Path:
    """A copy of what a person works in, so that a saved notebook does not change the repository."""
    course = folder / "course"
    for name in ("lessons", "exercises", "solutions"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, course / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    if (ROOT / "nbgrader_config.py").is_file():
        shutil.copy(ROOT / "nbgrader_config.py", course)
    return course


@contextlib.contextmanager
def lab_server(folder: Path, *words: str, course: Path | None = None) -> Iterator[LabServer]:
    """`insidebert lab --no-browser …` on a copy of the course; stopped afterwards.

    Args:
        folder: a directory for the course, the exchange, a learner's workspace and the server's own files.
        words: further words of the command.
        course: the course where it has been made already.
    """
    from insidebert.lab import free_port

    course = course or copy_course(folder)
    root = course
    if "learner" in words:
        root = folder / "workspace"
        words += ("--workspace", str(root))
    port = free_port(0)
    environment = os.environ | {
        "JUPYTER_TOKEN": TOKEN,
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "INSIDEBERT_EXCHANGE": str(folder / "exchange"),
        "INSIDEBERT_PROGRESS": str(folder / "progress.json"),
    }
    command = [sys.executable, "-m", "insidebert", "lab", "--no-browser", "--port", str(port), *words]
    log = folder / "lab.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=course, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        server = LabServer(f"http://127.0.0.1:{port}", course, root)
        _wait_until_it_answers(server, process, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_answers(server: LabServer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            server.ask("/api/status")
            return
        time.sleep(0.1)
    raise RuntimeError(
        f"JupyterLab did not start (exit status {process.poll()}): {log.read_text(encoding='utf-8')}"
    )
