"""`insidebert lab` serves JupyterLab: its API, the lesson in its own kernel, nbgrader's extensions, roles."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbgrader
import pytest

from insidebert.lab import lessons
from tests.lab_server import TOKEN, LabServer, copy_course, lab_server

INSTRUCTORS = {
    "@jupyter/nbgrader:formgrader",
    "@jupyter/nbgrader:course-list",
    "@jupyter/nbgrader:create-assignment",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    with lab_server(tmp_path_factory.mktemp("lab")) as server:
        yield server


def page(server: LabServer) -> dict[str, Any]:
    """What JupyterLab's page is told."""
    text = server.ask("/lab")
    found = re.search(
        r'<script id="jupyter-config-data" type="application/json">(.*?)</script>', text, re.DOTALL
    )
    assert found, "this is not JupyterLab's page"
    return json.loads(found.group(1))


def test_it_answers(server: LabServer) -> None:
    assert server.ask("/api/status")["kernels"] >= 0
    assert page(server)["appName"] == "JupyterLab"


def test_it_says_where_it_answers_and_no_more(server: LabServer) -> None:
    said = (server.course.parent / "lab.log").read_text(encoding="utf-8").splitlines()
    port = server.url.rpartition(":")[2]
    assert said[1] == f"Its address is http://localhost:{port}/lab; it asks for your JUPYTER_TOKEN."
    assert not [line for line in said if line.startswith("[W")]


def test_it_serves_the_first_lesson(server: LabServer) -> None:
    first = lessons(server.course)[0].name
    assert server.ask(f"/api/contents/lessons/{first}?type=notebook")["content"]["cells"]
    assert server.status("/api/contents/lessons/99_no_such_lesson.ipynb") == 404


def test_the_address_leads_to_the_first_lesson(server: LabServer) -> None:
    # `/` is where the browser is sent; following it must end on the lesson.
    request = urllib.request.Request(f"{server.url}/", headers={"Authorization": f"token {TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        first = lessons(server.course)[0].name
        assert answer.url.split("?")[0].endswith(f"/lab/tree/working-copy/lessons/{first}")


def test_what_an_instructor_tries_is_written_into_a_copy(server: LabServer) -> None:
    """As JupyterLab saves it; the exercise that learners get, and that submissions are restored from, stays."""
    name = "exercises/parameter_budget/parameter_budget.ipynb"
    before = (server.course / name).read_bytes()
    found = server.ask(f"/api/contents/working-copy/{name}?type=notebook")
    found["content"]["cells"][0]["source"] = "tried"
    server.ask(f"/api/contents/working-copy/{name}", {"type": "notebook", "content": found["content"]}, "PUT")
    assert "tried" in (server.course / "working-copy" / name).read_text(encoding="utf-8")
    assert (server.course / name).read_bytes() == before


def test_the_first_lesson_runs_in_its_kernel(server: LabServer) -> None:
    messages = server.run(f"lessons/{lessons(server.course)[0].name}")
    errors = [message["content"] for message in messages if message["msg_type"] == "error"]
    assert not errors, "\n".join(errors[0]["traceback"])
    assert any(message["msg_type"] in ("display_data", "execute_result", "stream") for message in messages)


def test_nbgraders_server_extensions_answer(server: LabServer) -> None:
    assert server.ask("/formgrader/api/status") == {"status": True}
    assert server.ask(f"/nbgrader_version?version={nbgrader.__version__}")["success"]
    courses = server.ask("/courses")  # asks the exchange, which therefore exists and can be read
    assert courses["success"], courses["value"]
    formgraders = server.ask("/formgraders")
    assert formgraders["success"], formgraders["value"]


def test_the_exchange_is_the_course_s_own(server: LabServer) -> None:
    exchange = server.course.parent / "exchange"
    assert exchange.is_dir()
    released = exchange / "someone-elses-course" / "outbound" / "week1"
    released.mkdir(parents=True)
    listed = server.ask("/assignments?course_id=someone-elses-course")
    assert listed["success"], listed["value"]
    assert [found["assignment_id"] for found in listed["value"]] == ["week1"]


def test_the_formgraders_button_generates_an_assignment(server: LabServer) -> None:
    done = server.ask("/formgrader/api/assignment/parameter_budget/assign", {}, method="POST")
    assert done["success"], done
    generated = server.course / "exercises" / "parameter_budget" / "parameter_budget.ipynb"
    assert generated.read_text(encoding="utf-8") == (
        Path(__file__).parents[1] / generated.relative_to(server.course)
    ).read_text(encoding="utf-8")


def test_the_page_has_nbgrader_and_widgets_and_asks_for_no_news(server: LabServer) -> None:
    told = page(server)
    names = {extension["name"] for extension in told["federated_extensions"]}
    assert {"@jupyter/nbgrader", "anywidget", "@jupyter-widgets/jupyterlab-manager"} <= names
    assert not INSTRUCTORS & set(told["disabledExtensions"])
    settings = server.ask("/lab/api/settings/@jupyterlab/apputils-extension:notification")
    assert settings["schema"]["properties"]["fetchNews"]["default"] == "false"


def test_a_second_one_points_to_the_first(server: LabServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(server.course.parent / "runtime"))
    command = [sys.executable, "-m", "insidebert", "lab", "--no-browser"]
    done = subprocess.run(
        command, cwd=server.course, capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert done.returncode == 0
    assert server.url.rpartition(":")[2] in done.stdout, "the port of the one that runs"
    assert lessons(server.course)[0].name in done.stdout


def test_a_learner_sees_no_formgrader_and_no_solutions_and_the_server_ends_with_its_command(
    tmp_path: Path,
) -> None:
    course = copy_course(tmp_path)
    shared = tmp_path / "shared"
    (shared / "inside-bert" / "outbound" / "parameter_budget").mkdir(parents=True)
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"c.Exchange.root = {str(shared)!r}\n")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "random.py").write_text(
        "raise SystemExit", encoding="utf-8"
    )  # no module of ours
    with lab_server(tmp_path, "--role", "learner", course=course) as server:
        assert set(page(server)["disabledExtensions"]) >= INSTRUCTORS
        assert server.status("/formgrader/api/status") == 404
        for path in ("/api/contents/solutions", "/api/contents/..", "/files/../course/nbgrader_config.py"):
            assert server.status(path) in (403, 404), path
        shown = {entry["name"] for entry in server.ask("/api/contents/")["content"]}
        assert shown == {"lessons", "exercises", "nbgrader_config.py", "random.py"}
        assert server.ask("/api/contents/lessons/00_start_here.ipynb?type=notebook")["content"]["cells"]
        # The exchange that the course's configuration names, and what is handed in is what the lessons lead to.
        (listed,) = server.ask("/assignments?course_id=inside-bert")["value"]
        assert (listed["status"], listed["path"]) == ("fetched", "exercises/parameter_budget")
    with pytest.raises(urllib.error.URLError):
        server.ask("/api/status")
