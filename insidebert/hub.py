"""`python -m insidebert.hub`: one person's server on a JupyterHub, started by the Hub as that person.

It prepares what `insidebert lab` prepares on one's own machine and then becomes `jupyterhub-singleuser`.
INSIDEBERT_COURSE names the folder this person works from: an instructor's has `solutions/`, a learner's has not.
docs/jupyterhub/ sets the Hub up. POSIX only, as the Hub is.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from insidebert import lab, workspace
from insidebert.errors import CommandError

COURSE = "INSIDEBERT_COURSE"
FOLDER = "inside-bert"  # a learner's workspace, in their home
_GROUP, _NOBODY = 0o007, 0o077  # who else may not touch what this person writes


def main(arguments: Sequence[str]) -> None:
    """Prepares this person's folder and becomes their server.

    Args:
        arguments: what the Hub tells the server, handed on.

    Raises:
        CommandError: the workspace cannot be made, or nobody said where the course is.
    """
    if not os.environ.get(COURSE):
        raise CommandError(f"{COURSE} names no folder; JupyterHub sets it, see docs/jupyterhub/.")
    course = Path(os.environ[COURSE])
    instructor = (course / "solutions").is_dir()
    os.umask(_GROUP if instructor else _NOBODY)
    root = course if instructor else Path.home() / FOLDER
    first_time = not root.exists()
    if not instructor:
        _fill(course, root)
    opened = lab.choose_notebook(root, None) if first_time and lab.lessons(root) else None
    environment = os.environ | {
        "JUPYTERHUB_ROOT_DIR": str(root),
        "JUPYTERHUB_DEFAULT_URL": f"/lab/tree/{opened}" if opened else "/lab",
        # What nbgrader is told in the course's folder holds for a learner's copy too.
        "JUPYTER_CONFIG_PATH": os.pathsep.join([str(_configure(root, instructor)), str(course)]),
        # Short: a socket's path has at most 107 bytes.
        "JUPYTER_RUNTIME_DIR": str(Path.home() / ".jupyter-run"),
        "PATH": lab.search_path(),
    }
    os.chdir(root)  # nbgrader takes the folder a server was started in for the course's
    words = [sys.executable, "-P", "-m", "jupyterhub.singleuser", *arguments]
    os.execve(sys.executable, words, environment)


def _fill(course: Path, root: Path) -> None:
    """Brings a learner's folder up to date, or says why not: who has no server cannot put it right."""
    try:
        workspace.fill(course, root)
    except CommandError as error:
        if not root.is_dir():
            raise
        print(f"insidebert: {error}", file=sys.stderr)


def _configure(root: Path, instructor: bool) -> Path:
    """Writes this server's configuration; returns its folder."""
    folder = platformdirs.user_data_path("insidebert", appauthor=False) / "hub"
    folder.mkdir(parents=True, exist_ok=True)
    lab.write_configuration(folder, root, "instructor" if instructor else "learner", None)
    # Whoever has an account can connect to a kernel's TCP ports and read along; a socket file has an owner.
    sockets = {"KernelManager": {"transport": "ipc"}}
    (folder / "jupyter_config.json").write_text(json.dumps(sockets), encoding="utf-8")
    return folder


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except CommandError as error:
        sys.exit(f"insidebert: {error}")
