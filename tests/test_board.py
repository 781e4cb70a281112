"""The board shows what the course asks and what the one progress file says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from insidebert import predictions
from insidebert.board import board, rows
from insidebert.progress import VARIABLE, record_exercise

LESSON = {
    "markdown": "# 03 Counting\n\n**Minutes:** 40.",
    "code": 'predict("03.a", "How many?")\npredict(\n    "03.b",\n    "Which?", choices=["x", "y"])\nreveal("03.a", 1)',
    "exercise": "[Count](../exercises/counting/counting.ipynb)",
}
EXERCISE = {"one": 'check("one", one)', "text": "# check what check() does", "two": 'check("two", two)'}


def write(path: Path, cells: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    kinds = {name: "markdown" if name in ("markdown", "exercise") else "code" for name in cells}
    made = [{"cell_type": kinds[name], "source": text.splitlines(True)} for name, text in cells.items()]
    path.write_text(json.dumps({"cells": made}), encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine" / "progress.json"))
    write(tmp_path / "lessons" / "00_start.ipynb", {"markdown": "# 00 Start <here>"})
    write(tmp_path / "lessons" / "03_counting.ipynb", LESSON)
    write(tmp_path / "exercises" / "counting" / "counting.ipynb", EXERCISE)
    return tmp_path


def test_a_new_learner_has_everything_to_do(course: Path) -> None:
    start, counting = rows(course)
    assert (start.title, start.predictions, start.assignment, start.minutes) == ("00 Start <here>", 0, "", "")
    assert (counting.title, counting.minutes, counting.assignment) == ("03 Counting", "40", "counting")
    assert (counting.predicted, counting.predictions, counting.passed, counting.exercises) == (0, 2, 0, 2)


def test_what_was_done_counts_once_and_only_where_it_is_right(course: Path) -> None:
    predictions.predict("03.a", "How many?")
    predictions.commit("03.a", 7)
    predictions.commit("03.a", 8)
    predictions.predict("03.gone", "A question of an older edition?")
    predictions.commit("03.gone", 8)
    predictions.predict("03.b", "Which?", choices=["x", "y"])  # asked, not answered
    record_exercise("counting", "one", "correct")
    record_exercise("counting", "two", "partial")
    record_exercise("counting", "older", "correct")
    record_exercise("another", "two", "correct")
    counting = rows(course)[1]
    assert (counting.predicted, counting.predictions, counting.passed, counting.exercises) == (1, 2, 1, 2)
    bundle = board(course)._repr_mimebundle_()
    assert "1 of 2 predictions; counting 1 of 2" in bundle["text/plain"]
    assert 'value="1" max="2"' in bundle["text/html"]
    predictions.forget("03")
    assert rows(course)[1].predicted == 0


def test_links_lead_from_the_lessons_folder_and_titles_are_text(course: Path) -> None:
    markup = board(course).markup
    assert 'href="03_counting.ipynb"' in markup
    assert 'href="../exercises/counting/counting.ipynb"' in markup
    assert "00 Start &lt;here&gt;" in markup


def test_a_damaged_file_is_said_and_nothing_breaks(course: Path) -> None:
    file = course / "mine" / "progress.json"
    file.parent.mkdir()
    file.write_text("{", encoding="utf-8")
    (course / "lessons" / "04_broken.ipynb").write_text("not a notebook", encoding="utf-8")
    (course / "exercises" / "counting" / "counting.ipynb").unlink()
    shown = board(course)
    assert "was damaged" in shown.text and "04_broken" in shown.text
    assert "counting 0 of 0" in shown.text


def test_the_courses_own_board_has_every_lesson_and_every_question() -> None:
    from checks.questions import all_questions

    found = rows(Path(__file__).parents[1])
    assert [row.lesson[:2] for row in found] == sorted(row.lesson[:2] for row in found)
    for row in found:
        if row.assignment:
            asked = [q for q in all_questions().values() if q.assignment == row.assignment]
            assert row.exercises == len(asked) > 0
            assert row.predictions >= 6 and row.minutes
