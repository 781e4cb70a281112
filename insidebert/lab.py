"""`insidebert lab`: JupyterLab on a lesson, with nbgrader's extensions and an exchange that works.

Everything JupyterLab must be told goes into a configuration directory that lives as long as the server;
nothing in the person's own Jupyter configuration is changed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote

from insidebert import workspace
from insidebert.errors import CommandError

EXCHANGE = "INSIDEBERT_EXCHANGE"  # names the exchange directory where nothing else does
FIRST_PORT, PORTS = 8888, 100
# What an instructor needs and a learner must not stumble over: extensions of the server, of the page.
INSTRUCTOR_SERVER = ("nbgrader.server_extensions.formgrader", "nbgrader.server_extensions.course_list")
INSTRUCTOR_PAGE = tuple(
    f"@jupyter/nbgrader:{part}" for part in ("formgrader", "course-list", "create-assignment")
)


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert lab`."""
    parser = commands.add_parser(
        "lab",
        help="open JupyterLab on the first lesson",
        description="Opens JupyterLab on a lesson, with nbgrader's extensions working. Where solutions/ is, it opens a "
        f"copy in {workspace.COPY}/; a lesson named by its path (lessons/…) is opened itself, to be edited.",
    )
    parser.add_argument(
        "lesson", nargs="?", help="a lesson's number or name, or a notebook's path; else the first"
    )
    parser.add_argument(
        "--port", type=int, help=f"default: the first free one from {FIRST_PORT}; 0: any free one"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    parser.add_argument(
        "--role",
        choices=("learner", "instructor"),
        help="a learner sees no formgrader and no solutions; default: instructor where solutions/ is, else learner",
    )
    parser.add_argument(
        "--workspace",
        metavar="DIR",
        help="where a learner works on copies of the notebooks; default: the course's folder, "
        f"but ~/{workspace.DEFAULT} where that has solutions/",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serves until it is stopped; returns JupyterLab's exit status."""
    course = find_course()
    if course is None:
        raise CommandError(
            "there is no lessons/ with notebooks here or above; run this in the course's folder."
        )
    role = args.role or ("instructor" if (course / "solutions").is_dir() else "learner")
    root = _root(course, role, args.workspace)
    server = running_on(root) if args.port is None else None
    port = 0 if server else free_port(args.port)
    if root != course and not server:
        _tell(workspace.fill(course, root))
    notebook = choose_notebook(root, args.lesson)
    if role == "instructor":
        notebook = _working_copy(course, notebook, args.lesson)
    if server:
        return _point_to(server, notebook, open_browser=not args.no_browser)
    with tempfile.TemporaryDirectory(prefix="insidebert-lab-", ignore_cleanup_errors=True) as folder:
        write_configuration(Path(folder), root, role, _exchange(course, role))
        print(f"JupyterLab for {role}s opens {root / notebook}. Stop it with Ctrl-C, twice.", flush=True)
        if os.environ.get("JUPYTER_TOKEN"):  # Jupyter shows no address with a token that it has not made
            print(f"Its address is http://localhost:{port}/lab; it asks for your JUPYTER_TOKEN.", flush=True)
        return _serve(root, Path(folder), notebook, port, open_browser=not args.no_browser)


def _root(course: Path, role: str, wanted: str | None) -> Path:
    """The folder to serve: the course's; for a learner one without solutions."""
    solutions = (course / "solutions").is_dir()
    if role == "instructor":
        if not solutions:
            raise CommandError(f"an instructor works in the whole course; {course} has no solutions/.")
        if wanted:
            raise CommandError("--workspace is a learner's: add --role learner, or leave it out.")
        return course
    return workspace.locate(course, wanted) if solutions or wanted else course


def _working_copy(course: Path, notebook: str, wanted: str | None) -> str:
    """Where an instructor reads a lesson or tries an exercise: in a copy, so that the course stays as it is.

    A lesson that is named by its path is the lesson itself, to be edited; an exercise is generated and never is.
    """
    try:
        _tell(workspace.fill(course, course / workspace.COPY))
    except CommandError as error:
        print(f"There is no working copy, so this opens the course's own notebook: {error}")
        return notebook
    by_path = wanted is not None and Path(wanted).name != wanted
    copied = (course / workspace.COPY / notebook).is_file()
    itself = not copied or (by_path and not notebook.startswith("exercises/"))
    return notebook if itself else f"{workspace.COPY}/{notebook}"


def _exchange(course: Path, role: str) -> Path | None:
    """The exchange to name in the server's configuration.

    The course's own configuration is read last and wins; only the machine's must not be outdone. A learner's
    server reads another folder's, and nbgrader reads none where it fetches assignments to: it must be told.
    """
    if role == "learner":
        return configured_exchange(course) or make_exchange()
    return None if configured_exchange() else make_exchange()


def _tell(kept: list[str]) -> None:
    if kept:
        print(
            f"You wrote into {', '.join(kept)}, so your copy stays although the course has a newer version; "
            "rename yours and start again to get it."
        )


def find_course(start: Path | None = None) -> Path | None:
    """The course's folder: the nearest with lessons at or above `start`, else the one this package is in.

    Args:
        start: where to look from; the current directory when None.
    """
    start = (start or Path.cwd()).resolve()
    candidates = (start, *start.parents, Path(__file__).resolve().parents[1])
    return next((folder for folder in candidates if lessons(folder)), None)


def lessons(course: Path) -> list[Path]:
    """The notebooks of `course/lessons` whose names begin with two digits, in order."""
    return sorted((course / "lessons").glob("[0-9][0-9]_*.ipynb"))


def choose_notebook(course: Path, wanted: str | None) -> str:
    """The path, from the course's folder and with `/`, of the notebook a person named.

    Args:
        course: the course's folder.
        wanted: a lesson's number ("3") or name ("03_parameter_budget"), a notebook's path; None: the first.

    Raises:
        CommandError: no such notebook.
    """
    present = lessons(course)
    if not present:
        raise CommandError(f"there is no lesson in {course / 'lessons'}; stop its server and start again.")
    if wanted is None:
        return present[0].relative_to(course).as_posix()
    number = f"{int(wanted):02d}" if re.fullmatch(r"\d{1,2}", wanted) else None
    for path in present:
        if wanted in (path.stem, path.name) or number == path.name[:2]:
            return path.relative_to(course).as_posix()
    for folder in (Path.cwd(), course):
        path = (folder / wanted).resolve()
        if path.is_file() and path.is_relative_to(course):
            return path.relative_to(course).as_posix()
    names = ", ".join(path.stem for path in present)
    raise CommandError(f"no lesson or notebook is called {wanted!r}; the lessons are {names}.")


def running_on(course: Path) -> dict[str, Any] | None:
    """What is known of a Jupyter server of this person that already serves `course`."""
    from jupyter_server.serverapp import list_running_servers

    for server in list_running_servers():
        if Path(server["root_dir"]) == course and not _is_free(server["port"]):
            return server
    return None


def free_port(wanted: int | None = None) -> int:
    """A port of this machine that nobody listens on.

    Args:
        wanted: this one; 0 for any; None for the first free one from 8888.

    Raises:
        CommandError: the wanted port is taken, or none is free.
    """
    if wanted == 0:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])
    if wanted is not None and not 0 < wanted < 65536:
        raise CommandError(f"a port is a number from 0 to 65535, not {wanted}.")
    candidates = range(FIRST_PORT, FIRST_PORT + PORTS) if wanted is None else (wanted,)
    for port in candidates:
        if _is_free(port):
            return port
    if wanted is None:
        raise CommandError(
            f"all ports from {FIRST_PORT} to {FIRST_PORT + PORTS - 1} are taken; name one with --port."
        )
    raise CommandError(f"something already listens on port {wanted}; leave --port out to take a free one.")


def configured_exchange(course: Path | None = None) -> Path | None:
    """The exchange that this machine's nbgrader configuration names, or that of `course` where it is given."""
    from jupyter_core.application import JupyterApp

    class Reader(JupyterApp):
        """Reads what nbgrader reads, without the seconds that importing nbgrader takes."""

        config_file_name = "nbgrader_config"

    app = Reader(log_level="CRITICAL")
    app.load_config_file()
    # The course's is a program that imports the grader, which takes seconds: only where it has something to say.
    if course and _mentions_exchange(course / f"{Reader.config_file_name}.py"):
        super(JupyterApp, app).load_config_file(app.config_file_name, path=str(course))
    root = app.config.Exchange.get("root")
    return (course or Path.cwd()) / root if isinstance(root, str) else None


def _mentions_exchange(file: Path) -> bool:
    return file.is_file() and bool(
        re.search(rb"\bExchange\b|load_subconfig", file.read_bytes())  # bytes: its encoding is its own affair
    )


def exchange_directory() -> Path:
    """Where assignments go from instructor to learner and back when nobody has configured it.

    The directory named by INSIDEBERT_EXCHANGE, else nbgrader's own where it exists and can be written,
    else one of this person's own: enough to try the whole way on one machine.
    """
    import platformdirs

    if named := os.environ.get(EXCHANGE):
        return Path(named).expanduser()
    shared = Path("/usr/local/share/nbgrader/exchange")
    if shared.is_dir() and os.access(shared, os.W_OK | os.X_OK):
        return shared
    return platformdirs.user_data_path("insidebert", appauthor=False) / "exchange"


def make_exchange() -> Path:
    """`exchange_directory()`, made if need be.

    Raises:
        CommandError: it cannot be made or written.
    """
    folder = exchange_directory()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(
            f"the exchange {folder} cannot be made ({error}); set {EXCHANGE} to a directory."
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(
            f"the exchange {folder} cannot be written; set {EXCHANGE} to a directory that can."
        )
    return folder


def write_configuration(folder: Path, root: Path, role: str, exchange: Path | None) -> None:
    """Writes what this server must know into `folder`, a directory for JUPYTER_CONFIG_PATH.

    Args:
        folder: an empty directory.
        root: the folder that the server serves.
        role: "learner" switches the instructor's extensions off, and has the Assignment List fetch to, and
            submit from, the exercises that the lessons lead to.
        exchange: the exchange directory; None leaves nbgrader's configuration as it is.
    """
    learner = role == "learner"
    files: dict[str, dict[str, Any]] = {
        "jupyter_server_config.d/zz_insidebert.json": {
            "ServerApp": {"jpserver_extensions": dict.fromkeys(INSTRUCTOR_SERVER, not learner)}
        },
        "labconfig/page_config.json": {"disabledExtensions": dict.fromkeys(INSTRUCTOR_PAGE, learner)},
        # No question about news, no request to a server, on the first start.
        "labconfig/default_setting_overrides.json": {
            "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
        },
    }
    nbgrader = {"root": str(exchange)} if exchange else {}
    if learner and (root / "exercises").is_dir():
        nbgrader["assignment_dir"] = str(root / "exercises")
    if nbgrader:
        files["nbgrader_config.json"] = {"Exchange": nbgrader}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=2), encoding="utf-8")


def search_path() -> str:
    """PATH for whatever runs nbgrader, which calls `alembic`, a program beside this Python, by its name."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def _serve(course: Path, configuration: Path, notebook: str, port: int, *, open_browser: bool) -> int:
    """Runs JupyterLab as a child, so that it is the same on every system, and waits for it."""
    paths = [str(configuration), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    words = [
        # -P: a person's file, such as random.py, is no module of the server's.
        *(sys.executable, "-P", "-m", "jupyterlab", f"--ServerApp.port={port}"),
        f"--ServerApp.root_dir={course}",
        f"--LabApp.default_url=/lab/tree/{quote(notebook)}",
        f"--ServerApp.open_browser={open_browser}",
        "--Application.log_level=ERROR",  # warnings are for those who run servers for others; it says the address still
        "--allow-root",  # often a container's only user; the server answers this machine alone, with a token
    ]
    environment = os.environ | {
        "JUPYTER_CONFIG_PATH": os.pathsep.join(paths),
        "PATH": search_path(),
    }
    with subprocess.Popen(words, cwd=course, env=environment) as server, _passing_on_sigterm(server):
        while True:
            # Ctrl-C reaches the child as well, which asks whether it is meant.
            with contextlib.suppress(KeyboardInterrupt):
                status = server.wait()
                return status if status >= 0 else 128 - status  # ended by a signal, as a shell counts it


@contextlib.contextmanager
def _passing_on_sigterm(server: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ends the child when this process is asked to end, so that no server outlives its command."""

    def end(_number: int, _frame: FrameType | None) -> None:
        server.terminate()

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _point_to(server: dict[str, Any], notebook: str, *, open_browser: bool) -> int:
    address = f"{server['url']}lab/tree/{quote(notebook)}"
    if token := server.get("token"):
        address += f"?token={token}"
    print(f"JupyterLab already serves {server['root_dir']}; its address is {address}")
    if open_browser:
        webbrowser.open(address)
    return 0


def _is_free(port: int) -> bool:
    """True when nobody answers on `port` of this machine."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) != 0
