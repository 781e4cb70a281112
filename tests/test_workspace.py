"""A learner's workspace: filled, gone on with, brought up to date, and never written over."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from insidebert import cli, lab, workspace
from insidebert.errors import CommandError

LESSON, EXERCISE = "lessons/00_start_here.ipynb", "exercises/a/a.ipynb"


def write(path: Path, *sources: str, outputs: tuple[str, ...] = ()) -> None:
    """A notebook with these code cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [{"cell_type": "code", "source": source, "outputs": list(outputs)} for source in sources]
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    course = tmp_path / "course"
    write(course / LESSON, "1 + 1")
    write(course / EXERCISE, "raise NotImplementedError()")
    write(course / "solutions/a/a.ipynb", "return 42")
    write(course / "lessons/.ipynb_checkpoints/00_start_here-checkpoint.ipynb", "1")
    (course / "lessons" / "facts.toml").touch()
    return course


@pytest.fixture
def mine(course: Path, tmp_path: Path) -> Path:
    mine = tmp_path / "mine"
    assert workspace.fill(course, mine) == []
    return mine


def visible(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not path.relative_to(folder).as_posix().startswith(".")
    }


def test_it_has_lessons_exercises_and_nothing_else(course: Path, mine: Path) -> None:
    assert visible(mine) - {workspace.CONFIGURATION.name} == {LESSON, EXERCISE}
    assert (mine / LESSON).read_bytes() == (course / LESSON).read_bytes()


def test_what_was_written_and_added_stays(course: Path, mine: Path) -> None:
    write(mine / EXERCISE, "return 41")
    write(mine / "exercises/a/feedback/a.ipynb", "well done")
    write(mine / "notes.ipynb", "mine")
    before = {name: (mine / name).read_bytes() for name in visible(mine)}
    assert workspace.fill(course, mine) == []
    assert {name: (mine / name).read_bytes() for name in visible(mine)} == before


def test_a_new_version_replaces_what_nobody_wrote_into(course: Path, mine: Path) -> None:
    write(mine / LESSON, "1 + 1", "  \n", outputs=("2",))  # run, and Shift-Enter made an empty cell
    write(course / LESSON, "2 + 2")
    write(course / "lessons/01_new.ipynb", "new")
    assert workspace.fill(course, mine) == []
    assert (mine / LESSON).read_bytes() == (course / LESSON).read_bytes()
    assert (mine / "lessons/01_new.ipynb").exists()


def test_a_new_version_leaves_what_somebody_wrote_and_it_is_said_each_time(course: Path, mine: Path) -> None:
    write(mine / EXERCISE, "return 41")
    answered = (mine / EXERCISE).read_bytes()
    write(course / EXERCISE, "# clearer now", "raise NotImplementedError()")
    for _ in range(2):
        assert workspace.fill(course, mine) == [EXERCISE]
        assert (mine / EXERCISE).read_bytes() == answered
    (mine / EXERCISE).rename(mine / "exercises/a/old.ipynb")
    assert workspace.fill(course, mine) == []
    assert (mine / EXERCISE).read_bytes() == (course / EXERCISE).read_bytes()
    assert (mine / "exercises/a/old.ipynb").read_bytes() == answered


@pytest.mark.parametrize("damage", ["", "[1]", "{", "[" * 100_000, None])
def test_without_a_record_what_differs_is_the_learners(course: Path, mine: Path, damage: str | None) -> None:
    write(mine / LESSON, "3 + 3")
    record = mine / workspace.RECORD
    record.unlink()
    if damage is not None:
        record.write_text(damage, encoding="utf-8")
    assert workspace.fill(course, mine) == [LESSON]
    assert "3 + 3" in (mine / LESSON).read_text(encoding="utf-8")
    write(course / EXERCISE, "again")  # what was the same is known again
    workspace.fill(course, mine)
    assert "again" in (mine / EXERCISE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[]", b'{"cells": [3]}', b'{"cells": null}', b"[" * 100_000]
)
def test_a_spoiled_notebook_is_left_to_its_owner(course: Path, mine: Path, content: bytes) -> None:
    (mine / LESSON).write_bytes(content)
    write(course / LESSON, "2 + 2")
    assert workspace.fill(course, mine) == [LESSON]
    assert (mine / LESSON).read_bytes() == content


def test_two_labs_that_start_at_once_fill_it_together(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, real, told = tmp_path / "mine", Path.replace, []

    def replace(path: Path, target: Path) -> Path:  # here the other process does all of it
        monkeypatch.setattr(Path, "replace", real)
        with monkeypatch.context() as other:
            other.setattr(os, "getpid", lambda: 0)
            told.append(workspace.fill(course, mine))
        return real(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    assert workspace.fill(course, mine) == [] and told == [[]]
    assert (mine / LESSON).read_bytes() == (course / LESSON).read_bytes()


def test_ended_while_it_writes_down_what_it_laid_it_knows_what_it_knew(
    course: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(course / LESSON, "2 + 2")
    real = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if target == mine / workspace.RECORD:
            raise KeyboardInterrupt
        return real(path, target)

    with monkeypatch.context() as ending:
        ending.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            workspace.fill(course, mine)
    write(course / EXERCISE, "again")
    assert workspace.fill(course, mine) == []
    assert "again" in (mine / EXERCISE).read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody make links without a right of its own")
def test_links_are_followed_by_nobody_but_their_owner(course: Path, mine: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.ipynb"
    write(elsewhere, "precious")
    (mine / LESSON).unlink()
    (mine / LESSON).symlink_to(elsewhere)
    (mine / EXERCISE).unlink()
    (mine / EXERCISE).symlink_to(tmp_path / "nowhere.ipynb")
    write(course / LESSON, "2 + 2")
    write(course / EXERCISE, "2 + 2")
    assert workspace.fill(course, mine) == [LESSON, EXERCISE]
    assert "precious" in elsewhere.read_text(encoding="utf-8")
    assert not (tmp_path / "nowhere.ipynb").exists()


def test_where_solutions_would_be_seen_there_is_no_workspace(course: Path) -> None:
    write(course.parent / "other" / "solutions" / "a.ipynb", "return 42")
    for folder in (course, course / "lessons", course.parent, course.parent / "other"):
        with pytest.raises(CommandError, match="--workspace"):
            workspace.locate(course, str(folder))


def test_what_is_no_path_is_refused_in_a_sentence(course: Path) -> None:
    with pytest.raises(CommandError, match="leads nowhere"):
        workspace.locate(course, "a\0b")


def test_by_default_it_lies_in_the_persons_home(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert workspace.locate(course) == (tmp_path / "home" / workspace.DEFAULT).resolve()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--role", "learner", "--workspace", "."], "solutions"),
        (["--workspace", "../mine"], "--role learner"),
        (["--role", "instructor", "--workspace", "../mine"], "--role learner"),
        (["--role", "learner", "--workspace", "../file"], "--workspace"),
    ],
)
def test_lab_says_what_is_wrong_in_a_line(
    course: Path,
    words: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (course.parent / "file").touch()
    monkeypatch.chdir(course)
    assert cli.main(["lab", "--no-browser", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_a_bundle_has_no_instructor(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "solutions").rename(course.parent / "kept at home")
    monkeypatch.chdir(course)
    assert cli.main(["lab", "--no-browser", "--role", "instructor"]) == 2
    assert "solutions/" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wanted", "opens"),
    [
        (None, f"working-copy/{LESSON}"),
        ("0", f"working-copy/{LESSON}"),
        ("00_start_here", f"working-copy/{LESSON}"),
        (LESSON, LESSON),  # to be edited
        (EXERCISE, f"working-copy/{EXERCISE}"),  # which is generated
    ],
)
def test_whoever_has_the_solutions_opens_a_copy(course, monkeypatch, wanted, opens):
    monkeypatch.chdir(course)
    assert lab._working_copy(course, lab.choose_notebook(course, wanted), wanted) == opens
    (course / opens).write_text("tried", encoding="utf-8")
    assert lab._working_copy(course, lab.choose_notebook(course, wanted), wanted) == opens
    assert (course / opens).read_text(encoding="utf-8") == "tried"


def test_a_course_that_cannot_be_written_into_is_opened_itself(course, capsys):
    (course / "working-copy").write_text("in the way", encoding="utf-8")
    assert lab._working_copy(course, LESSON, None) == LESSON
    assert "There is no working copy" in capsys.readouterr().out
