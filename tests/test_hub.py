"""Several people on one server: docs/jupyterhub as it stands, with real accounts, real passwords and a real Hub.

Two learners and an instructor go the way from release to feedback in their own servers; then one learner tries
what must not be possible, as the user that learner is.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
import websocket

from insidebert.lab import free_port
from tests.lab_page import wait_until
from tests.lab_server import PATIENCE, execute

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # the first test pays for the Hub and the whole way
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0,
        reason="makes accounts and a Hub that becomes their users: root on Linux alone can",
    ),
]

ROOT = Path(__file__).parents[1]
SETUP = ROOT / "docs" / "jupyterhub" / "setup.py"
GROUPS = ("inside-bert-instructors", "inside-bert-learners")
ASSIGNMENT = "parameter_budget"
RIGHT = "def count_parameters(model):\n    return sum(p.numel() for p in model.parameters())"
WRONG = "def count_parameters(model):\n    return len(model.state_dict())"
NOTEBOOK = f"exercises/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"


@dataclass
class Person:
    """Somebody with an account, and their browser's cookies."""

    name: str
    hub: str
    password: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    browser: requests.Session = field(default_factory=requests.Session)

    @property
    def url(self) -> str:
        return f"{self.hub}/user/{self.name}"

    def log_in(self, password: str | None = None) -> int:
        """Fills in the Hub's form; returns the status of the page that comes."""
        page = f"{self.hub}/hub/login"
        self.browser.get(page)
        words = {
            "username": self.name,
            "password": password or self.password,
            "_xsrf": self._marked("/hub/")["X-XSRFToken"],
        }
        return self.browser.post(page, data=words).status_code

    def start(self) -> None:
        """Has the Hub start this person's server, and returns while it starts."""
        self.browser.get(f"{self.hub}/hub/spawn")

    def arrive(self) -> None:
        """Waits for the server, as the Hub's page does, and goes there."""
        events = self.browser.get(
            f"{self.hub}/hub/api/users/{self.name}/server/progress", headers=self._marked("/hub/")
        )
        assert '"ready": true' in events.text, events.text
        answer = self.browser.get(f"{self.url}/lab")
        assert answer.ok and answer.url.startswith(f"{self.url}/lab"), answer.url

    def ask(self, path: str, data: Any = None, method: str | None = None) -> requests.Response:
        """What this person's server answers to their browser."""
        method = method or ("GET" if data is None else "POST")
        headers = self._marked(f"/user/{self.name}/")
        return self.browser.request(method, f"{self.url}/{path}", json=data, headers=headers)

    def nbgrader(self, action: str, assignment: str = ASSIGNMENT) -> list[dict[str, Any]]:
        """Presses a button of the Assignment List; returns what it lists afterwards."""
        answer = self.ask(f"assignments/{action}", {"course_id": "inside-bert", "assignment_id": assignment})
        found = answer.json()
        assert found["success"], found
        return found["value"]

    def write(self, code: str) -> None:
        """Puts an answer into the notebook and saves it."""
        notebook = self.ask(f"api/contents/{NOTEBOOK}").json()["content"]
        (cell,) = (cell for cell in notebook["cells"] if cell["source"].startswith("def count_parameters"))
        cell["source"] = code
        saved = self.ask(f"api/contents/{NOTEBOOK}", {"type": "notebook", "content": notebook}, "PUT")
        assert saved.ok, saved.text

    def token(self) -> str:
        """One that this person asks the Hub for, to use where a browser would send cookies."""
        page = f"{self.hub}/hub/api/users/{self.name}/tokens"
        return str(self.browser.post(page, json={}, headers=self._marked("/hub/")).json()["token"])

    def _marked(self, path: str) -> dict[str, str]:
        marks = [c.value for c in self.browser.cookies if c.name == "_xsrf" and c.path == path]
        return {"X-XSRFToken": str(marks[0])}


@dataclass(frozen=True)
class School:
    """A Hub with its people. `site` is what setup.py was told, `opened` the words before each command there."""

    site: Path
    opened: list[str]
    mary: Person
    ada: Person
    ben: Person
    tom: Person  # an instructor who comes later

    @property
    def course(self) -> Path:
        return self.site / "course"

    @property
    def exchange(self) -> Path:
        return self.site / "exchange" / "inside-bert"

    def run_as(self, person: Person, command: str) -> subprocess.CompletedProcess[str]:
        """What a shell of that person says, in a terminal of their server."""
        home = pwd.getpwnam(person.name).pw_dir
        environment = {
            "HOME": home,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
        }
        words = [
            "setpriv",
            "--reuid",
            person.name,
            "--regid",
            person.name,
            "--init-groups",
            "sh",
            "-c",
            command,
        ]
        return subprocess.run(
            [*self.opened, *words],
            env=environment,
            cwd="/",
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=400,
        )


@pytest.fixture(scope="module")
def school() -> Iterator[School]:
    """Accounts, folders and a running Hub; all gone afterwards."""
    with contextlib.ExitStack() as cleaning:
        site = Path(tempfile.mkdtemp(prefix="insidebert-hub-"))
        cleaning.callback(shutil.rmtree, site, ignore_errors=True)
        site.chmod(0o755)
        port, mark = free_port(0), secrets.token_hex(3)
        people = [
            Person(f"{name}-{mark}", f"http://127.0.0.1:{port}") for name in ("mary", "ada", "ben", "tom")
        ]
        opened = open_folders(Path(sys.prefix), Path(sys.base_prefix), ROOT, site)
        here = School(site, opened, *people)
        cleaning.enter_context(accounts(here))
        cleaning.enter_context(running_hub(here, port))
        for person in people[:3]:
            assert person.log_in() == 200
            person.start()
        for person in people[:3]:
            person.arrive()
        yield here


def open_folders(*needed: Path) -> list[str]:
    """The words that run a command where other users may go to these paths, although they lie in closed folders.

    A clone and a Python in root's home are a test's and not a school's: setup.py refuses them. Here the closed
    folder is hidden, for these processes alone, by an empty and open one in which only the needed paths are.
    """
    closed = {folder for path in needed for folder in path.parents if not folder.stat().st_mode & 0o001}
    topmost = sorted(folder for folder in closed if closed.isdisjoint(folder.parents))
    words = [word for folder in topmost for word in ("--perms", "0755", "--tmpfs", str(folder))]
    for path in needed:
        hidden = [folder for folder in reversed(path.parents) if not set(topmost).isdisjoint(folder.parents)]
        words += [word for folder in hidden for word in ("--perms", "0755", "--dir", str(folder))]
        words += ["--bind", str(path), str(path)]
    return ["bwrap", "--dev-bind", "/", "/", *words] if topmost else []


@contextlib.contextmanager
def accounts(school: School) -> Iterator[None]:
    """Runs setup.py and gives everybody a password; takes back whatever it made."""
    groups_before = {line.split(":")[0] for line in Path("/etc/group").read_text().splitlines()}
    try:
        names = ["--instructor", school.mary.name, "--learner", school.ada.name, "--learner", school.ben.name]
        words = [*school.opened, sys.executable, str(SETUP), "--site", str(school.site), *names]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        people = (school.mary, school.ada, school.ben)
        passwords = "".join(f"{person.name}:{person.password}\n" for person in people)
        subprocess.run(["chpasswd"], input=passwords, text=True, check=True)
        yield
    finally:
        for person in (school.mary, school.ada, school.ben, school.tom):
            with contextlib.suppress(KeyError):
                end_processes(pwd.getpwnam(person.name).pw_uid)
                subprocess.run(["userdel", "--force", "--remove", person.name], capture_output=True)
        for group in set(GROUPS) - groups_before:
            subprocess.run(["groupdel", group], capture_output=True)


def end_processes(user: int) -> None:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == user:
                os.kill(int(process.name), signal.SIGKILL)


@contextlib.contextmanager
def running_hub(school: School, port: int) -> Iterator[None]:
    """The Hub with the configuration that setup.py laid, on free ports."""
    configuration = school.site / "hub" / "test_config.py"
    configuration.write_text(
        f"load_subconfig({str(configuration.with_name('jupyterhub_config.py'))!r})\n"
        f"c.JupyterHub.bind_url = 'http://127.0.0.1:{port}'\n"
        f"c.JupyterHub.hub_bind_url = 'http://127.0.0.1:{free_port(0)}'\n"
        f"c.ConfigurableHTTPProxy.api_url = 'http://127.0.0.1:{free_port(0)}'\n"
        f"c.JupyterHub.pid_file = {str(configuration.with_name('hub.pid'))!r}\n",
        encoding="utf-8",
    )
    log = school.site / "hub" / "hub.log"
    words = [*school.opened, sys.executable, "-m", "jupyterhub", "-f", str(configuration)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    with log.open("wb") as output:
        hub = subprocess.Popen(words, cwd="/", env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:

        def answers() -> bool:
            assert hub.poll() is None, log.read_text(encoding="utf-8")
            with contextlib.suppress(requests.ConnectionError):
                return requests.get(f"http://127.0.0.1:{port}/hub/health").ok
            return False

        wait_until(answers)
        yield
    finally:
        with contextlib.suppress(
            FileNotFoundError, ProcessLookupError
        ):  # the Hub itself, which ends the servers
            os.kill(int(configuration.with_name("hub.pid").read_text()), signal.SIGTERM)
        hub.wait(60)


@dataclass
class Term:
    """What came of the way from release to feedback."""

    offered: dict[str, list[dict[str, Any]]] = field(
        default_factory=dict
    )  # in the Assignment List, by learner
    submitted: dict[str, Path] = field(default_factory=dict)  # where the exchange has it
    stolen: subprocess.CompletedProcess[str] | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    isolation: str = ""
    feedback: dict[str, str] = field(default_factory=dict)  # the pages that came back, by learner


@pytest.fixture(scope="module")
def term(school: School) -> Term:
    mary, ada, ben = school.mary, school.ada, school.ben
    happened = Term()
    for step in ("assign", "release"):
        press(mary, step)
    for learner, answer in ((ada, RIGHT), (ben, WRONG)):
        happened.offered[learner.name] = learner.nbgrader("fetch")
        learner.write(answer)
        learner.nbgrader("submit")
        happened.submitted[learner.name] = handed_in(school, learner)
    # Ben tries three things: in Ada's name, a name that ends nbgrader's collection, a link out of his submission.
    forged = school.exchange / "inbound" / f"{ada.name}+{ASSIGNMENT}+2099-01-01 00:00:00 UTC+x"
    his, notes = happened.submitted[ben.name], school.exchange / "inbound" / f"x+{ASSIGNMENT}+soon+x"
    secret = school.course / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    attempt = f"cp -r '{his}' '{forged}' && mkdir '{notes}' && ln -s '{secret}' '{his}/stolen.ipynb'"
    assert school.run_as(ben, attempt).returncode == 0
    press(mary, "collect")
    for command in (f"grade {ASSIGNMENT} --report run.json", f"feedback {ASSIGNMENT} --release"):
        done = school.run_as(mary, f"umask 007; cd '{school.course}' && insidebert {command}")
        assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((school.course / "run.json").read_text(encoding="utf-8"))
    happened.rows, happened.isolation = report["rows"], report["summary"]["isolation"]
    for learner in (ada, ben):
        learner.nbgrader("fetch_feedback")
        folder = f"exercises/{ASSIGNMENT}/feedback"
        (time_of_it,) = learner.ask(f"api/contents/{folder}").json()["content"]
        page = learner.ask(f"api/contents/{time_of_it['path']}/{ASSIGNMENT}.html?type=file&format=text")
        happened.feedback[learner.name] = page.json()["content"]
    return happened


def press(mary: Person, button: str) -> None:
    """One of the formgrader's buttons for the assignment."""
    answer = mary.ask(f"formgrader/api/assignment/{ASSIGNMENT}/{button}", {})
    assert answer.ok and answer.json()["success"], answer.text


def handed_in(school: School, learner: Person) -> Path:
    (folder,) = (school.exchange / "inbound").glob(f"{learner.name}+*")
    return folder


def points(term: Term, person: Person) -> dict[str, float]:
    return {row["question"]: row["points"] for row in term.rows if row["student"] == person.name}


def test_everybody_works_in_a_folder_and_a_process_of_their_own(school: School) -> None:
    for person in (school.ada, school.ben, school.mary):
        found = {entry["name"] for entry in person.ask("api/contents").json()["content"]}
        assert ("solutions" in found) == (person is school.mary)
        assert "lessons" in found
        notebook = person.ask("api/contents/lessons/00_start_here.ipynb?content=0")
        assert notebook.ok and notebook.json()["writable"]
        user = pwd.getpwnam(person.name).pw_uid
        servers = [path for path in Path("/proc").glob("[0-9]*") if is_server(path, user)]
        assert len(servers) == 1


def is_server(process: Path, user: int) -> bool:
    with contextlib.suppress(OSError):
        return (
            process.stat().st_uid == user and b"jupyterhub.singleuser" in (process / "cmdline").read_bytes()
        )
    return False


def test_a_kernel_is_its_users_and_talks_through_sockets_that_nobody_else_may_open(school: School) -> None:
    ada, account = school.ada, pwd.getpwnam(school.ada.name)
    kernel = ada.ask("api/kernels", {"name": "python3"}).json()["id"]
    address = f"ws{ada.url.removeprefix('http')}/api/kernels/{kernel}/channels"
    header = [f"Authorization: token {ada.token()}"]
    code = "import os; print(os.getuid(), os.getcwd())"
    with contextlib.closing(websocket.create_connection(address, header=header, timeout=PATIENCE)) as channel:
        said = list(execute(channel, code))
    shown = "".join(message["content"]["text"] for message in said if message["msg_type"] == "stream")
    assert shown.split() == [str(account.pw_uid), f"{account.pw_dir}/inside-bert"]
    connection = Path(account.pw_dir, ".jupyter-run", f"kernel-{kernel}.json")
    assert json.loads(connection.read_text(encoding="utf-8"))["transport"] == "ipc"
    assert list(connection.parent.glob(f"kernel-{kernel}-ipc-*"))
    assert school.run_as(school.ben, f"ls {connection.parent}").returncode != 0
    ada.ask(f"api/kernels/{kernel}", method="DELETE")


def test_only_an_instructor_has_the_formgrader(school: School) -> None:
    listed = school.mary.ask("formgrader/api/assignments")
    assert ASSIGNMENT in {assignment["name"] for assignment in listed.json()}
    assert school.ada.ask("formgrader").status_code == 404
    switched_off = re.search(r'"disabledExtensions": (\[.*?\]|\{.*?\})', school.ada.ask("lab").text)
    assert switched_off and "nbgrader:formgrader" in switched_off[1]


def test_nobody_comes_in_with_a_wrong_password_or_from_outside_the_groups(school: School) -> None:
    assert Person(school.ada.name, school.ada.hub).log_in("wrong") == 403
    outsider = Person(f"eve{school.ada.name[3:]}", school.ada.hub)
    subprocess.run(["useradd", outsider.name], check=True)
    try:
        subprocess.run(["chpasswd"], input=f"{outsider.name}:{outsider.password}", text=True, check=True)
        assert outsider.log_in() == 403
    finally:
        subprocess.run(["userdel", outsider.name], check=True)
    assert "signup" not in school.ada.browser.get(f"{school.ada.hub}/hub/login").text.lower()


def test_nobody_comes_to_anothers_server(school: School) -> None:
    for other in (school.ada, school.mary):
        answer = school.ben.browser.get(f"{other.url}/api/contents")
        assert answer.status_code in (403, 404)
        assert "lessons" not in answer.text


def test_learners_get_what_is_released_and_are_graded_for_their_own_answer(
    school: School, term: Term
) -> None:
    for learner in (school.ada, school.ben):
        (offered,) = [item for item in term.offered[learner.name] if item["status"] == "fetched"]
        assert offered["assignment_id"] == ASSIGNMENT
        assert offered["path"] == f"exercises/{ASSIGNMENT}"  # where the lessons' links lead
    assert points(term, school.ada)["count_parameters"] > 0  # although a newer one bore her name
    assert points(term, school.ben)["count_parameters"] == 0
    states = {row["state"] for row in term.rows if row["question"] == "count_parameters"}
    assert states == {"correct", "incorrect"}
    assert {row["student"] for row in term.rows} == {school.ada.name, school.ben.name}
    assert "bubblewrap" in term.isolation


def test_everybody_gets_their_own_feedback_back(school: School, term: Term) -> None:
    assert "model.parameters()" in term.feedback[school.ada.name]
    assert "state_dict" in term.feedback[school.ben.name]
    assert "state_dict" not in term.feedback[school.ada.name].split("count_parameters", 1)[1][:2000]


def test_a_link_in_a_submission_brings_nothing_out(school: School, term: Term) -> None:
    assert (term.submitted[school.ben.name] / "stolen.ipynb").is_symlink()
    collected = school.course / "submitted" / school.ben.name / ASSIGNMENT
    assert (collected / f"{ASSIGNMENT}.ipynb").is_file()
    assert not (collected / "stolen.ipynb").exists()


# What Ben types in a terminal, and Mary may. {ada} is Ada's submission as collected, {home} her home.
FORBIDDEN = {
    "the solutions": "cat {course}/solutions/parameter_budget/parameter_budget.ipynb",
    "the gradebook": "cat {course}/gradebook.db",
    "a collected submission": "cat {ada}/parameter_budget.ipynb",
    "what was handed in": "ls {exchange}/inbound",
    "the feedback of all": "ls {exchange}/feedback",
    "the evidence of grading": "ls {course}/autograded",
    "writing into the released exercise": "touch {exchange}/outbound/parameter_budget/parameter_budget.ipynb",
    "adding to it": "touch {exchange}/outbound/parameter_budget/more && rm {exchange}/outbound/parameter_budget/more",
    "releasing something": "mkdir {exchange}/outbound/x && rmdir {exchange}/outbound/x",
    "writing feedback": "touch {exchange}/feedback/x && rm {exchange}/feedback/x",
}
FORBIDDEN_TO_ALL = {
    "another's home": "ls {home}",
    "the Hub's database": "cat {site}/hub/jupyterhub.sqlite",
    "the Hub's secret": "cat {site}/hub/cookie_secret",
    "its configuration": "touch {site}/hub/jupyterhub_config.py",
    "moving the exchange away": "mv {exchange} {exchange}-away",
    "a course of one's own": "mkdir {site}/exchange/x",
    "taking away what another handed in": "mv '{handed}' '{handed}-away'",
    "what others copy": "touch {site}/learner/nbgrader_config.py",
}


@pytest.mark.parametrize("what", [*FORBIDDEN, *FORBIDDEN_TO_ALL])
def test_a_learner_may_not(school: School, term: Term, what: str) -> None:
    command = ({**FORBIDDEN, **FORBIDDEN_TO_ALL})[what].format(
        site=school.site,
        course=school.course,
        exchange=school.exchange,
        ada=school.course / "submitted" / school.ada.name / ASSIGNMENT,
        home=pwd.getpwnam(school.ada.name).pw_dir,
        handed=term.submitted[school.ada.name],
    )
    refused = school.run_as(school.ben, command)
    assert refused.returncode != 0
    assert "Permission denied" in refused.stderr or "Operation not permitted" in refused.stderr
    assert not refused.stdout
    allowed = school.run_as(school.mary, command)
    assert (allowed.returncode == 0) == (what in FORBIDDEN), allowed.stderr


def test_setting_up_again_keeps_what_people_wrote_and_adds_an_instructor(school: School, term: Term) -> None:
    mine = school.course / "solutions" / "mine.txt"
    mine.write_text("written by an instructor", encoding="utf-8")
    grades = (school.course / "gradebook.db").read_bytes()
    words = [
        *school.opened,
        sys.executable,
        str(SETUP),
        "--site",
        str(school.site),
        "--instructor",
        school.tom.name,
    ]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (school.course / "gradebook.db").read_bytes() == grades
    assert mine.read_text(encoding="utf-8") == "written by an instructor"
    assert pwd.getpwnam(school.tom.name)
    again = school.run_as(
        school.tom, f"umask 007; cd '{school.course}' && insidebert grade --force {ASSIGNMENT}"
    )
    assert again.returncode == 0, again.stdout + again.stderr


def test_setup_says_why_it_cannot(school: School, tmp_path: Path) -> None:
    setup = [sys.executable, str(SETUP), "--site"]
    refused = school.run_as(school.ada, " ".join([*setup, str(school.site)]))
    assert refused.returncode == 1 and "run it as root" in refused.stderr
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    refused = subprocess.run([*school.opened, *setup, str(closed)], capture_output=True, text=True)
    assert refused.returncode == 1 and "others may not pass" in refused.stderr
    assert not list(closed.iterdir())
