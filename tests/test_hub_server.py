"""What one person's server on a Hub is started with; the whole Hub is in test_hub.py."""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from insidebert import hub
from insidebert.errors import CommandError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="JupyterHub does not run there")
SETUP = Path(__file__).parents[1] / "docs" / "jupyterhub" / "setup.py"
LESSON = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


class Started(Exception):
    """Stands for the server: this process would be it now."""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "course"
    (folder / "lessons").mkdir(parents=True)
    (folder / "lessons" / "00_start.ipynb").write_text(json.dumps(LESSON), encoding="utf-8")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv(hub.COURSE, str(folder))
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    yield folder
    os.umask(before)


def start(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of the server."""
    said: list[Any] = []

    def execve(_path: str, words: list[str], environment: dict[str, str]) -> None:
        said.extend((words, environment))
        raise Started

    monkeypatch.setattr(hub.os, "execve", execve)
    with pytest.raises(Started):
        hub.main(words)
    return said[0], said[1]


def settings(environment: dict[str, str], name: str) -> Any:
    folder = environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)[0]
    return json.loads(Path(folder, name).read_text(encoding="utf-8"))


def test_a_learner_works_on_copies_at_home(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, environment = start(monkeypatch, "--Some.option=1")
    home = Path.home() / hub.FOLDER
    assert words[-1] == "--Some.option=1"
    assert (home / "lessons" / "00_start.ipynb").is_file()
    assert environment["JUPYTERHUB_ROOT_DIR"] == str(home) == str(Path.cwd())
    assert environment["JUPYTERHUB_DEFAULT_URL"] == "/lab/tree/lessons/00_start.ipynb"
    switched = settings(environment, "jupyter_server_config.d/zz_insidebert.json")["ServerApp"]
    assert not any(switched["jpserver_extensions"].values())
    assert str(course) in environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert os.umask(0) == 0o077


def test_whoever_comes_back_finds_the_lab_as_they_left_it(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(monkeypatch)
    mine = Path.home() / hub.FOLDER / "lessons" / "mine.ipynb"
    mine.write_text("mine", encoding="utf-8")
    _, environment = start(monkeypatch)
    assert environment["JUPYTERHUB_DEFAULT_URL"] == "/lab"
    assert mine.read_text(encoding="utf-8") == "mine"


def test_whoever_put_something_in_the_way_gets_a_server_to_take_it_away_again(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path.home() / hub.FOLDER
    root.mkdir()
    (root / "lessons").write_text("a file", encoding="utf-8")
    _, environment = start(monkeypatch)
    assert environment["JUPYTERHUB_ROOT_DIR"] == str(root)
    assert "lessons" in capsys.readouterr().err


def test_where_the_folder_itself_cannot_be_it_says_so(course: Path) -> None:
    (Path.home() / hub.FOLDER).write_text("a file", encoding="utf-8")
    with pytest.raises(CommandError, match=hub.FOLDER):
        hub.main([])


def test_an_instructor_works_in_the_course_itself(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (course / "solutions").mkdir()
    _, environment = start(monkeypatch)
    assert environment["JUPYTERHUB_ROOT_DIR"] == str(course)
    switched = settings(environment, "jupyter_server_config.d/zz_insidebert.json")["ServerApp"]
    assert all(switched["jpserver_extensions"].values())
    assert not (Path.home() / hub.FOLDER).exists()
    assert os.umask(0) == 0o007


def test_kernels_talk_through_files_whose_paths_are_short(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, environment = start(monkeypatch)
    assert settings(environment, "jupyter_config.json") == {"KernelManager": {"transport": "ipc"}}
    longest = "/home/" + "x" * 32 + "/" + Path(environment["JUPYTER_RUNTIME_DIR"]).name
    assert len(f"{longest}/kernel-{'0' * 36}-ipc-5") <= 107


def test_it_says_what_it_was_not_told(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(hub.COURSE)
    with pytest.raises(CommandError, match=hub.COURSE):
        hub.main([])


@pytest.mark.parametrize("name", ["root", "daemon", "nobody", "Ada"])
def test_setup_takes_no_account_of_the_systems_and_none_that_the_hub_would_not_find(name: str) -> None:
    with pytest.raises(SystemExit, match=name):
        runpy.run_path(str(SETUP))["refuse_accounts_of_nobody"]([name])


def test_setup_closes_no_folder_that_is_not_the_persons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_person, home = runpy.run_path(str(SETUP))["add_person"], tmp_path / "shared"
    home.mkdir(mode=0o755)
    said: list[tuple[str, ...]] = []
    account = SimpleNamespace(pw_uid=os.getuid() + 1, pw_dir=str(home))
    monkeypatch.setattr("pwd.getpwnam", lambda _name: account)
    monkeypatch.setitem(add_person.__globals__, "run", lambda *words: said.append(words))
    with pytest.raises(SystemExit, match="shared"):
        add_person("ada", "learners")
    account.pw_uid = os.getuid()
    assert home.stat().st_mode & 0o777 == 0o755 and not said
    add_person("ada", "learners")
    assert home.stat().st_mode & 0o777 == 0o700 and said
