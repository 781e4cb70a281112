"""The command `insidebert`: its own commands, other packages' commands, and what a mistake looks like."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
import types
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from insidebert import cli, doctor, lab
from insidebert.doctor import Finding
from insidebert.errors import CommandError


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "insidebert", *words]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env=os.environ | environment, check=False, timeout=120
    )


def test_help_names_the_commands_at_once() -> None:
    started = time.perf_counter()
    done = run("--help")
    seconds = time.perf_counter() - started
    assert done.returncode == 0
    for name in ("lab", "doctor", "pretrain"):
        assert name in done.stdout
    assert seconds < 5, "help must not import torch (this much leaves room for a busy machine)"


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom insidebert.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('HEAVY', *{'torch', 'transformers', 'nbgrader', 'jupyter_server'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY"


def test_no_command_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "doctor" in capsys.readouterr().out


def test_a_wrong_word_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["laboratory"])
    assert stopped.value.code == 2
    assert "laboratory" in capsys.readouterr().err


# --- plug-ins


def hello(commands: object) -> None:
    """A plug-in as another package would write it."""
    parser = commands.add_parser("hello", help="greet")  # type: ignore[attr-defined]
    parser.add_argument("--status", type=int, default=0)
    parser.set_defaults(run=lambda args: args.status)


def stubborn(commands: object) -> None:
    """A plug-in whose command finds something a person can put right."""

    def refuse(_args: object) -> int:
        raise CommandError("the course has no assignments; make one in solutions/.")

    commands.add_parser("stubborn").set_defaults(run=refuse)  # type: ignore[attr-defined]


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    found: list[EntryPoint] = []
    monkeypatch.setattr(cli, "entry_points", lambda group: found if group == cli.PLUGINS else [])
    return lambda name, value: found.append(EntryPoint(name, value, cli.PLUGINS))


def test_a_package_adds_a_command(
    plug_in: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    plug_in("hello", f"{__name__}:hello")
    assert cli.main(["hello", "--status", "3"]) == 3
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "greet" in capsys.readouterr().out


def test_without_the_group_there_are_simply_fewer(
    plug_in: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--help"])
    assert stopped.value.code == 0
    printed = capsys.readouterr()
    assert "demo" not in printed.out
    assert printed.err == ""


def test_a_broken_plug_in_is_a_sentence_and_costs_only_itself(
    plug_in: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    plug_in("broken", f"{__name__}:no_such_function")
    plug_in("hello", f"{__name__}:hello")
    assert cli.main(["broken"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "broken" in line
    assert "no_such_function" in line
    assert cli.main(["hello"]) == 0


@pytest.mark.parametrize("words", [["grade"], ["--help"]])
def test_no_command_waits_for_libraries_that_it_may_not_need(words: list[str]) -> None:
    program = (
        "import sys; from insidebert.cli import _parser; _parser(sys.argv[1:])\n"
        "print(sorted({'torch', 'transformers', 'nbgrader', 'nbformat', 'numpy', 'pandas'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_learners_bundle_lacks_a_command_without_a_word(
    plug_in: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    plug_in("demo", "no_such_package.demo:command")
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    printed = capsys.readouterr()
    assert "demo" not in printed.out
    assert printed.err == ""
    assert cli.main(["demo"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no_such_package" in line


def test_a_persons_mistake_is_a_sentence_and_status_2(
    plug_in: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    plug_in("stubborn", f"{__name__}:stubborn")
    assert cli.main(["stubborn"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "make one in solutions/" in line


@pytest.mark.skipif(importlib.util.find_spec("grading") is None, reason="a learner's bundle has no grading/")
def test_the_commands_that_grading_adds_are_there() -> None:
    done = run("--help")
    assert "demo" in done.stdout
    assert done.stderr == ""


def test_pretrain_gets_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    module = types.ModuleType("insidebert.pretrain")
    module.main = lambda argv: given.append(argv) or 5  # type: ignore[attr-defined,func-returns-value]
    monkeypatch.setitem(sys.modules, "insidebert.pretrain", module)
    assert cli.main(["pretrain", "--steps", "7", "--help"]) == 5
    assert given == [["--steps", "7", "--help"]]


# --- lab: what can be wrong before a server starts


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lessons").mkdir()
    for name in ("03_parameter_budget", "00_start_here", "01_two_objectives"):
        (tmp_path / "lessons" / f"{name}.ipynb").touch()
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "x.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("wanted", "notebook"),
    [
        (None, "lessons/00_start_here.ipynb"),
        ("3", "lessons/03_parameter_budget.ipynb"),
        ("03", "lessons/03_parameter_budget.ipynb"),
        ("01_two_objectives", "lessons/01_two_objectives.ipynb"),
        ("exercises/x.ipynb", "exercises/x.ipynb"),
    ],
)
def test_a_lesson_has_several_names(course: Path, wanted: str | None, notebook: str) -> None:
    assert lab.choose_notebook(course, wanted) == notebook


def test_a_workspace_without_lessons_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no lesson in"):
        lab.choose_notebook(tmp_path, None)


def test_the_course_is_found_from_a_folder_inside_it(course: Path) -> None:
    assert lab.find_course(course / "exercises") == course


@pytest.mark.parametrize(
    ("words", "told"),
    [(["9"], "03_parameter_budget"), (["--port", "70000"], "70000"), (["../x.ipynb"], "x.ipynb")],
)
def test_lab_says_what_is_wrong(
    course: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["lab", "--no-browser", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_lab_says_that_the_port_is_taken(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert cli.main(["lab", "--no-browser", "--port", str(port)]) == 2
    assert str(port) in capsys.readouterr().err


def test_without_a_wish_a_taken_port_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(lab, "FIRST_PORT", port)
        assert port < lab.free_port() < port + lab.PORTS


def test_a_server_of_the_course_is_not_that_of_a_learners_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, workspace = tmp_path / "course", tmp_path / "workspace"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        known = {"root_dir": str(course), "port": listening.getsockname()[1]}
        monkeypatch.setattr("jupyter_server.serverapp.list_running_servers", lambda: iter([known]))
        assert lab.running_on(course) == known
        assert lab.running_on(workspace) is None
    assert lab.running_on(course) is None, "it ended and left its record behind"


def test_the_exchange_is_made_where_a_person_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(lab.EXCHANGE, str(tmp_path / "a" / "b"))
    assert lab.make_exchange() == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    monkeypatch.setenv(lab.EXCHANGE, str(tmp_path / "file"))
    with pytest.raises(CommandError, match=lab.EXCHANGE):
        lab.make_exchange()


def test_an_exchange_that_is_configured_is_left_alone(course: Path) -> None:
    assert lab.configured_exchange(course) is None
    (course / "nbgrader_config.py").write_text(
        "c = get_config()\nc.Exchange.root = '/srv/ours'\n", encoding="utf-8"
    )
    assert lab.configured_exchange(course) == Path("/srv/ours")


# --- doctor


def test_doctor_finds_this_environment_sound() -> None:
    done = run("doctor")
    assert done.returncode == 0, done.stdout
    assert "✗" not in done.stdout
    assert "HF_HUB_OFFLINE" in done.stdout
    assert done.stderr == ""


def test_doctor_in_a_terminal_without_utf8() -> None:
    done = run("doctor", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_doctor_looks_at_everything_the_course_needs() -> None:
    findings = doctor.collect()
    assert [finding.topic for finding in findings] == [
        *("Python", "packages", "device", "Hugging Face Hub", "encoder", "checkpoint"),
        *("nbgrader", "exchange", "sandbox"),
    ]
    assert all(finding.cure for finding in findings if finding.state != "ok")


def test_a_learner_does_not_miss_what_only_an_instructor_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.write_configuration(tmp_path, tmp_path, "learner", None)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "find_course", lambda: tmp_path)
    assert doctor._extensions().state == "ok"
    (tmp_path / "solutions").mkdir()
    finding = doctor._extensions()
    assert finding.state == "missing" and "formgrader" in finding.text


def test_doctor_tells_absent_from_different(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "requirements.lock"
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "00_a.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    lock.write_text("# a comment\ntqdm==0.1\npywinpty==1.0; sys_platform == 'nowhere'\n", encoding="utf-8")
    different = doctor._packages()
    assert different.state == "warning"
    assert "tqdm" in different.text
    assert "pywinpty" not in different.text
    lock.write_text("never-was-installed==1.0\n", encoding="utf-8")
    assert doctor._packages().state == "warning"  # nothing here needs it
    monkeypatch.setattr(doctor, "_needed_packages", lambda: {"never-was-installed"})
    needed = doctor._packages()
    assert needed.state == "missing"
    assert "never-was-installed" in needed.text


def test_doctor_without_a_lock_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_course", lambda: None)
    finding = doctor._packages()
    assert finding.state == "ok"
    assert "requirements.lock" in finding.text


def test_what_torch_needs_is_needed_and_what_tests_need_is_not() -> None:
    needed = doctor._needed_packages()
    assert {"torch", "sympy", "nbgrader", "jupyterlab"} <= needed
    assert not {"pytest", "ruff", "distributed"} & needed


def test_something_missing_is_status_1_with_its_cure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def _sound() -> Finding:
        return Finding("soup", "ok", "hot")

    def _spoon() -> Finding:
        raise RuntimeError("bent")

    monkeypatch.setattr(doctor, "CHECKS", (_sound, _spoon))
    assert cli.main(["doctor"]) == 1
    soup, spoon, cure = capsys.readouterr().out.splitlines()
    assert "soup" in soup
    assert "bent" in spoon
    assert cure.strip()


def test_no_bubblewrap_is_no_hindrance_to_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.setattr("grading.sandbox.bubblewrap.installed", lambda: None)
    finding = doctor._sandbox()
    assert finding.state == "warning"
    assert "bubblewrap" in finding.cure


def test_elsewhere_the_grader_says_it_is_for_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.sys, "platform", "darwin")
    assert "Linux" in doctor._sandbox().text


def test_a_hub_that_does_not_answer_is_only_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # the discard port: nobody listens
    started = time.perf_counter()
    finding = doctor._hub()
    assert finding.state == "warning"
    assert time.perf_counter() - started < doctor.HUB_SECONDS + 2
