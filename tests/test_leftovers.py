"""What a course leaves behind is learners' data: never committed by accident, never deleted in silence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grading.export_formats import FORMATS
from insidebert.cli import main
from tests.small_course import ASSIGNMENT, ROOT, make_course

pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own
    pytest.mark.skipif(sys.platform == "win32", reason="make needs a shell, which Windows has none of"),
]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in a repository, after all that `docs/instructors.md` does in it."""
    from tests.small_run import grade, hand_in

    root = tmp_path_factory.mktemp("leftovers") / "course"
    root.mkdir()
    for name in (".gitignore", "Makefile"):
        shutil.copyfile(ROOT / name, root / name)
    for folder in ("lessons", "insidebert"):
        (root / folder).mkdir()
        (root / folder / "kept.txt").write_text("the course's own", encoding="utf-8")
    course = make_course(root)
    git(root, "init", "--quiet")
    git(
        root,
        "add",
        "solutions",
        "exercises",
        "lessons",
        "insidebert",
        "nbgrader_config.py",
        "Makefile",
        ".gitignore",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grading.run.prove", lambda *_: None)
        patch.chdir(root)
        (root / "students.csv").write_text("id\nada\nbo\ncy\n", encoding="utf-8")
        (root / "submissions.zip").write_bytes(b"PK\x05\x06" + bytes(18))
        (root / "course.zip").write_bytes(b"a bundle")
        hand_in(course, "ada", "RIGHT")
        patch.setattr("grading.worker.execute", _look_up)
        grade(course).report.write(root / "run.json")
        assert main(["roster", "students.csv"]) == 0
        (root / "downloaded" / ASSIGNMENT / "archive").mkdir(parents=True)
        shutil.copyfile("submissions.zip", root / "downloaded" / ASSIGNMENT / "archive" / "submissions.zip")
        assert main(["feedback"]) == 0
        assert main(["insights", "run.json"]) == 0
        for name in FORMATS:
            main(["export", "--format", name])
        (root / ".nbgrader.log").touch()
        (root / "gradebook.db.2026-03-01").touch()  # as `nbgrader db upgrade` makes it
    return root


def _look_up(*args: object) -> object:
    from tests.small_run import look_up

    return look_up(*args)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout


def files(root: Path) -> set[str]:
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_nothing_of_it_is_offered_for_a_commit(used: Path) -> None:
    assert {
        "run.json",
        "run.html",
        "grades-moodle.csv",
        f"feedback/ada/{ASSIGNMENT}/{ASSIGNMENT}.html",
    } <= files(used)
    added = git(used, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert [line for line in added if line.startswith("??")] == []


def test_cleaning_leaves_learners_data_and_says_so(used: Path, tmp_path: Path) -> None:
    root = tmp_path / "course"
    shutil.copytree(used, root)
    for built in (".venv", "build", ".pytest_cache"):
        (root / built).mkdir()
        (root / built / "x").touch()
    before = files(root)
    said = make(root)
    assert files(root) == {
        name for name in before if not name.startswith((".venv/", "build/", ".pytest_cache/"))
    }
    for name in ("submitted", "gradebook.db", "run.json", "grades.csv", "students.csv", "submissions.zip"):
        assert name in said
    assert "make clean DATA=yes" in said


def test_learners_data_goes_when_that_is_asked_for_and_the_course_stays(used: Path, tmp_path: Path) -> None:
    root = tmp_path / "a course"
    shutil.copytree(used, root)
    tracked = set(git(root, "ls-files").splitlines())
    assert "Deleting learners' data: " in make(root, "DATA=yes")
    assert files(root) == tracked
    assert "data" not in make(root)


def make(root: Path, *words: str) -> str:
    command = ["make", "--no-print-directory", "clean", *words]  # it may be a make that runs the tests
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return ran.stdout
