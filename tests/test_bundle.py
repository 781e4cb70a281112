"""What a learner receives opens, and works, where nothing else of this project is."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from grading.bundle import write_bundle
from insidebert.errors import CommandError

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """The unpacked bundle and a Python that has the pinned packages and, of this project, the bundle alone."""
    folder = tmp_path_factory.mktemp("learner")
    write_bundle(ROOT, folder / "course.zip")
    with zipfile.ZipFile(folder / "course.zip") as archive:
        archive.extractall(folder)
    venv.create(folder / "env", with_pip=True)
    scripts = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / "python"
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
    ).stdout.strip()
    # A folder named in a .pth file is searched, but its own .pth files (an editable install of this
    # repository) are not read.
    (Path(site) / "pinned.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    # The setuptools that venv brings may be older than the project needs; the pinned one is behind it.
    run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools"], folder)
    installed = subprocess.run(
        [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "-e",
            folder / "inside-bert",
        ],
        capture_output=True,
        text=True,
    )
    assert installed.returncode == 0, installed.stderr
    return folder / "inside-bert", scripts


def run(words, cwd):
    return subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=240)


def test_it_holds_what_a_learner_needs_and_nothing_that_gives_answers_away(bundle):
    folder, _ = bundle
    top = {path.name for path in folder.iterdir() if not path.name.endswith(".egg-info")}
    assert top == {
        "lessons", "exercises", "checks", "insidebert", "environment.yml", "requirements.lock", "LICENSE",
        "pyproject.toml", "README.md", "Makefile", "nbgrader_config.py",
    }  # fmt: skip
    for path in folder.rglob("*.ipynb"):
        assert "BEGIN SOLUTION" not in path.read_text(encoding="utf-8")
    released = {path.stem for path in (ROOT / "exercises").glob("*/*.ipynb")}
    assert {path.stem for path in folder.glob("exercises/*/*.ipynb")} == released
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    assert "insidebert.commands" not in project["project"].get("entry-points", {})


@pytest.mark.timeout(300)
def test_an_exercise_in_it_validates_and_says_what_is_open(bundle):
    folder, scripts = bundle
    where = Path("exercises", "parameter_budget", "parameter_budget.ipynb")
    modules = "import checks, insidebert, importlib.util as u; print(checks.__file__, u.find_spec('grading'))"
    shown = run([scripts / "python", "-c", modules], folder).stdout
    assert str(folder) in shown
    assert shown.strip().endswith("None")
    ran = run([scripts / "python", "-m", "nbgrader", "validate", where], folder)
    assert "Not attempted" in ran.stdout, ran.stdout + ran.stderr
    assert ran.stdout.count("Not attempted") == 6


def test_a_learner_has_the_learners_commands_alone(bundle):
    folder, scripts = bundle
    shown = run([scripts / "python", "-m", "insidebert", "--help"], folder).stdout
    assert "lab" in shown
    assert "demo" not in shown
    assert "release" not in shown


def test_the_same_course_gives_the_same_bytes(tmp_path):
    for name in ("one.zip", "two.zip"):
        write_bundle(ROOT, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_course_without_exercises_is_not_bundled(tmp_path):
    with pytest.raises(CommandError):
        write_bundle(tmp_path, tmp_path / "empty.zip")
    assert not (tmp_path / "empty.zip").exists()
