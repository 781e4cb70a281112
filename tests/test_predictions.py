"""Predictions: committed before, compared after, kept through restarts, never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from insidebert import frontend, predictions, progress
from insidebert.predictions import forget, predict, record_exercise, reveal


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty progress file of its own for each test, and a kernel in which nothing was asked."""
    path = tmp_path / "not yet there" / "progress.json"
    monkeypatch.setenv(progress.VARIABLE, str(path))
    restart_kernel()
    return path


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would have appeared under the cells."""
    outputs: list[Any] = []
    monkeypatch.setattr(predictions, "_display", outputs.append)
    return outputs


def restart_kernel() -> None:
    predictions._asked.clear()
    predictions._forms.clear()


def test_a_number_is_compared_with_its_result(shown: list[Any]) -> None:
    predict("03.total", "How many?", unit="million")
    assert predictions.commit("03.total", 340.0) == ""
    reveal("03.total", 109.48)
    text = str(shown[-1])
    assert "340 million" in text and "109.48 million" in text and "3.1 times too much" in text


def test_a_choice_is_right_or_not(shown: list[Any]) -> None:
    for key, answer in {"03.a": "yes", "03.b": "no"}.items():
        predict(key, "Is it?", choices=["yes", "no"])
        predictions.commit(key, answer)
        reveal(key, "yes")
    right, wrong = str(shown[1]), str(shown[3])
    assert right != wrong and "Right" in right and "Right" not in wrong


@pytest.mark.parametrize(
    ("answer", "result", "words"),
    [
        (110, 109.48, "within two per cent"),
        (105, 100, "1.05 times the result"),
        (25, 100, "4.0 times too little"),
        (1e6, 1, "1,000,000 times too much"),
        (0, 3, "Off by 3"),
        (-1, 3, "Off by 4"),
    ],
)
def test_how_far_a_number_is_off(answer: float, result: float, words: str) -> None:
    assert words in predictions.compare(answer, result)


def test_without_a_prediction_nothing_blocks_and_nothing_is_written(shown: list[Any], file: Path) -> None:
    predict("03.total", "How many?", unit="million")
    reveal("03.total", 109.48)
    assert "How many?" in str(shown[0]) and "million" in str(shown[0])
    assert "109.48" in str(shown[1]) and "no prediction" in str(shown[1])
    assert not file.exists()


def test_a_prediction_outlives_its_kernel(shown: list[Any]) -> None:
    predict("03.total", "How many?", unit="million")
    predictions.commit("03.total", 110)
    restart_kernel()
    reveal("03.total", 109.48)  # without running the question again
    assert "110 million" in str(shown[-1])


def test_a_changed_question_forgets_its_answer(shown: list[Any]) -> None:
    predict("03.total", "How many?", unit="million")
    predictions.commit("03.total", 110)
    predict("03.total", "How many?", unit="thousand")
    reveal("03.total", 109_480)
    assert "no prediction" in str(shown[-1])


def test_an_answer_may_change_until_its_result_is_known(shown: list[Any]) -> None:
    predict("03.total", "How many?")
    predictions.commit("03.total", 1)
    predictions.commit("03.total", 2)
    reveal("03.total", 3)
    assert predictions.commit("03.total", 3) != ""
    entry = predictions.progress()["predictions"]["03.total"]
    assert (entry["answer"], entry["result"]) == (2, 3)
    predict("02.other", "Else?")
    predictions.commit("02.other", 5)
    forget("03")
    assert list(predictions.progress()["predictions"]) == ["02.other"]


@pytest.mark.parametrize("value", [np.int64(7), np.float32(7), 7])
def test_results_may_come_from_numpy(shown: list[Any], value: Any) -> None:
    predict("03.n", "How many?")
    predictions.commit("03.n", 7)
    reveal("03.n", value)
    assert predictions.progress()["predictions"]["03.n"]["result"] == 7


def test_mistakes_of_an_author_are_explained(shown: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"lesson\.name"):
        predict("total", "How many?")
    for choices in (["yes"], ["yes", "yes"]):
        with pytest.raises(ValueError, match="at least two"):
            predict("03.a", "Is it?", choices=choices)
    predict("03.a", "Is it?", choices=["yes", "no"])
    with pytest.raises(ValueError, match="one of"):
        reveal("03.a", "perhaps")
    predict("03.n", "How many?")
    for result in ("many", float("nan"), float("inf"), None):
        with pytest.raises(ValueError, match="finite number"):
            reveal("03.n", result)  # type: ignore[arg-type]


def test_markup_is_escaped(shown: list[Any]) -> None:
    predict("03.a", "Is <b> & bold?", choices=["<i>", "no"])
    predictions.commit("03.a", "<i>")
    reveal("03.a", "no")
    for output in shown:
        assert "<b>" not in output.bundle["text/html"] and "<i>" not in output.bundle["text/html"]
    assert "<b> & bold" in str(shown[0])


DAMAGED = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[]",
    b"null",
    b'{"version": 2, "predictions": {}, "exercises": {}}',
    b'{"version": 1, "predictions": {"03.n": 5}, "exercises": {}}',
    b'{"version": 1, "predictions": {"03.n": {"question": "How many?", "unit": "", "choices": [], "answer": []}}, '
    b'"exercises": {}}',
    *(
        b'{"version": 1, "predictions": {"03.n": {"question": "How many?", "unit": "", "choices": [], "answer": %s}}, '
        b'"exercises": {}}' % answer
        for answer in (b"NaN", b"1e400", b"1" + b"0" * 400, rb'"\ud800"')
    ),
    b'{"version": 1, "predictions": {}, "exercises": {"parameter_budget": {"count": null}}}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_kept_aside(shown: list[Any], file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    predict("03.n", "How many?")
    (kept,) = (path for path in file.parent.iterdir() if path != file)
    assert kept.read_bytes() == content
    assert kept.name in shown[0].bundle["text/html"]
    predictions.commit("03.n", 1)
    reveal("03.n", 2)
    assert predictions.progress()["predictions"]["03.n"]["answer"] == 1


def test_a_place_that_cannot_be_written_is_one_sentence(
    shown: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("", encoding="utf-8")
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "a file" / "progress.json"))
    predict("03.n", "How many?")
    assert "could not be saved" in predictions.commit("03.n", 1)
    reveal("03.n", 2)
    assert "Result: 2" in str(shown[-1])


@pytest.mark.parametrize(("method", "content"), [("read_bytes", b"{}"), ("replace", b"damaged")])
def test_what_can_be_neither_read_nor_moved_stays(
    shown: list[Any], file: Path, monkeypatch: pytest.MonkeyPatch, method: str, content: bytes
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    file.parent.mkdir()
    file.write_bytes(content)
    monkeypatch.setattr(Path, method, refuse)
    predict("03.n", "How many?")
    assert "Permission denied" in predictions.commit("03.n", 1)
    record_exercise("parameter_budget", "count_parameters", "correct")
    monkeypatch.undo()
    assert file.read_bytes() == content


def test_an_interrupted_write_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record_exercise("parameter_budget", "count_parameters", "incorrect")
    before = file.read_bytes()

    def stop(*args: Any, **kwargs: Any) -> None:
        args[1].write("half of i")
        raise KeyboardInterrupt

    monkeypatch.setattr(progress.json, "dump", stop)
    with pytest.raises(KeyboardInterrupt):
        record_exercise("parameter_budget", "count_parameters", "correct")
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_exercises_are_recorded(file: Path) -> None:
    record_exercise("parameter_budget", "count_parameters", "incorrect")
    record_exercise("parameter_budget", "count_parameters", "correct")
    record_exercise("parameter_budget", "breakdown", "partial")
    exercises = predictions.progress()["exercises"]["parameter_budget"]
    states = {question: entry["state"] for question, entry in exercises.items()}
    assert states == {"count_parameters": "correct", "breakdown": "partial"}
    assert json.loads(file.read_text(encoding="utf-8"))["version"] == 1


def test_recording_is_silent_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "damaged.json").write_bytes(b"{")
    for place in (
        tmp_path / "file" / "progress.json",
        tmp_path,
        tmp_path / "damaged.json",
        Path("~nobody/x"),
    ):
        monkeypatch.setenv(progress.VARIABLE, str(place))
        record_exercise("parameter_budget", "breakdown", "correct")
    assert capfd.readouterr() == ("", "")


def test_the_user_data_directory_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.VARIABLE)
    assert progress.path().name == "progress.json"
    assert "insidebert" in progress.path().parent.parts


def test_recording_needs_no_torch_and_no_widgets() -> None:
    code = (
        "import sys, insidebert.predictions; print(*{'torch', 'anywidget', 'matplotlib'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True
    )
    assert (run.stdout.strip(), run.stderr) == ("", "")


def test_a_form_stores_what_the_browser_sends(shown: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    predict("03.total", "How many?", unit="million")
    form = shown[0]
    form.answer = 110  # what anywidget does with the browser's message
    assert predictions.progress()["predictions"]["03.total"]["answer"] == 110
    data, _ = form._repr_mimebundle_()
    assert "How many?" in data["text/html"] and "application/vnd.jupyter.widget-view+json" in data
    reveal("03.total", 109.48)
    assert form.fixed
    predict("03.total", "How many?", unit="million")
    assert (shown[-1].answer, shown[-1].fixed) == (110, True)
