"""Every lesson runs from a clean kernel, within its limits, and has what a lesson has."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

from insidebert import lesson
from insidebert.corpus import load_corpus

ROOT = Path(__file__).parents[1]
LESSONS = sorted((ROOT / "lessons").glob("*.ipynb"))
FACTS = tomllib.loads((ROOT / "lessons" / "facts.toml").read_text(encoding="utf-8"))
FOLDERS = ("lessons", "solutions", "exercises")
NOTEBOOKS = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)
SECONDS = {"05": 300, "06": 300}  # on two cores; the other lessons have three minutes
GIBIBYTES = 2
# Asked of the kernel after the lesson's last cell: its peak memory, in KiB on Linux and in bytes on macOS.
PEAK = """import resource, sys
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1))"""


READABLE = re.compile(r"(?![0-9a-f]{8}$)[a-z][a-z0-9_-]{1,40}")  # not what an editor makes up


def name(path: Path) -> str:
    return path.stem


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A place with a short name: the path of a Unix socket may have about a hundred characters."""
    folder = tempfile.mkdtemp(prefix="ib", dir="/tmp" if Path("/tmp").is_dir() else None)
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)


def run(notebook: NotebookNode, folder: Path, seconds: float) -> int:
    """Executes the notebook in a kernel of its own over Unix sockets; returns the kernel's peak memory in KiB."""
    notebook.cells.append(nbformat.v4.new_code_cell(PEAK))
    sockets = Config({"KernelManager": {"transport": "ipc", "ip": str(folder / "k")}})
    client = NotebookClient(notebook, kernel_name="python3", timeout=int(seconds), config=sockets)
    client.execute(cwd=str(ROOT / "lessons"), env=os.environ | {"CUDA_VISIBLE_DEVICES": ""})
    return int(notebook.cells.pop().outputs[0].text)


@pytest.fixture(scope="module")
def corpus() -> None:
    """The corpus in its cache: it is read once a machine, and no lesson's minutes count that."""
    load_corpus(progress=False)


@pytest.mark.slow
@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("path", LESSONS, ids=name)
@pytest.mark.timeout(900)
def test_a_lesson_runs_within_its_limits(path: Path, short_folder: Path) -> None:
    limit = SECONDS.get(path.stem[:2], 180)
    notebook = nbformat.read(path, as_version=4)
    start = time.perf_counter()
    peak = run(notebook, short_folder, seconds=limit)  # an error in a cell is an error here
    seconds = time.perf_counter() - start
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    spoken = [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    assert not spoken
    assert seconds < limit
    assert peak < GIBIBYTES * 2**20
    # Nobody watches this run: no widget, and everything that is displayed can be read as text.
    displayed = [
        output.data for output in outputs if output.output_type in ("display_data", "execute_result")
    ]
    assert all("text/plain" in data and not any("widget" in mime for mime in data) for data in displayed)
    assert "widgets" not in notebook.metadata
    hold_to_bands(path.stem, measured(outputs))


def measured(outputs: list[NotebookNode]) -> dict[str, float | str]:
    """What the lesson revealed in this run: results by the keys of their predictions."""
    records = [output.get("metadata", {}).get("insidebert", {}) for output in outputs]
    return {record["key"]: record["result"] for record in records if "key" in record}


def hold_to_bands(stem: str, results: dict[str, float | str]) -> None:
    """The prose quotes measured results as bands; `lessons/facts.toml` says which."""
    for number, fact in FACTS.get(stem, {}).items():
        if isinstance(fact, dict) and "at_least" in fact:
            assert float(results[fact["at_least"]]) >= written(number), f"{stem}: {number} {fact}"
        if isinstance(fact, dict) and "at_most" in fact:
            assert float(results[fact["at_most"]]) <= written(number), f"{stem}: {number} {fact}"


def written(number: str) -> float:
    return float(number.replace(",", ""))


def test_a_band_that_is_missed_is_found() -> None:
    facts = {"lesson": {"0.60": {"at_least": "05.f1"}, "1,000": {"at_most": "05.n"}}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FACTS, "lesson", facts["lesson"])
        hold_to_bands("lesson", {"05.f1": 0.6, "05.n": 1000})
        for missed in ({"05.f1": 0.59, "05.n": 1000}, {"05.f1": 0.6, "05.n": 1001}):
            with pytest.raises(AssertionError, match="lesson"):
                hold_to_bands("lesson", missed)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: "/".join(path.parts[-3:]))
def test_a_stored_notebook_is_clean(path: Path) -> None:
    """No outputs, no run numbers, fixed and readable cell ids; one kernel for all."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert not [each for each in ids if not READABLE.fullmatch(each)]
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert "widgets" not in notebook["metadata"]
    nbformat.validate(nbformat.read(path, as_version=4))


def test_the_opening_line_says_what_to_expect(capsys: pytest.CaptureFixture[str]) -> None:
    lesson.opening("laptop", model="bert-tiny", data="none", seconds={"laptop": 20, "gpu": 300})
    lesson.opening("gpu", model="bert-base-uncased", data="SST-2", seconds={"laptop": 20, "gpu": 300})
    laptop, gpu = capsys.readouterr().out.splitlines()
    assert all(word in laptop for word in ("laptop", "CPU", "bert-tiny", "none", "20 s"))
    assert all(word in gpu for word in ("gpu", "bert-base-uncased", "SST-2", "5 min"))


def test_a_scale_is_laptop_or_gpu() -> None:
    assert lesson.device_for(lesson.detect_scale()).type in ("cpu", "cuda")
    assert lesson.device_for("laptop").type == "cpu"
    with pytest.raises(ValueError, match="laptop"):
        lesson.device_for("large")  # type: ignore[arg-type]


TEACHING = [
    path for path in LESSONS if not path.stem.startswith("00")
]  # 00 is a map, not a lesson in this form


@pytest.mark.parametrize("path", TEACHING, ids=name)
def test_a_lesson_has_its_parts(path: Path) -> None:
    cells = {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}
    assert {"goals", "setup", "summary", "exercise", "references"} <= set(cells)
    goals, summary = cells["goals"].source, cells["summary"].source
    assert 3 <= len(re.findall(r"^- \*\w+\*", goals, re.MULTILINE)) <= 5  # verbs
    assert re.search(r"\*\*Minutes:\*\* \d+", goals) and "**Needs:**" in goals
    assert len(re.findall(r"^\d\. ", summary, re.MULTILINE)) == 5
    assert "detect_scale()" in cells["setup"].source and "opening(" in cells["setup"].source
    assert re.search(r"arXiv", cells["references"].source)


@pytest.mark.parametrize("path", TEACHING, ids=name)
def test_the_exercise_that_follows_exists(path: Path) -> None:
    cells = {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}
    links = re.findall(r"\]\((\.\./exercises/[^)]+)\)", cells["exercise"].source)
    assert links
    assert all((path.parent / link).exists() for link in links)


@pytest.mark.parametrize("path", TEACHING, ids=name)
def test_pitfalls_name_symptom_cause_and_cure(path: Path) -> None:
    boxes = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.id.startswith("pitfall")]
    assert len(boxes) >= 3
    for box in boxes:
        assert all(line.startswith(">") for line in box.splitlines())
        assert re.findall(r"\*(\w+):\*", box) == ["Symptom", "Cause", "Cure"]


@pytest.mark.parametrize("path", TEACHING, ids=name)
def test_predict_run_explain(path: Path) -> None:
    """At least six units: a question, later its result, and prose before the next question."""
    steps: list[tuple[str, str]] = []
    for cell in nbformat.read(path, as_version=4).cells:
        steps += calls(cell.source) if cell.cell_type == "code" else [("explain", "")]
    asked = [key for step, key in steps if step == "predict"]
    assert len(asked) >= 6 and len(set(asked)) == len(asked)
    assert all(key.startswith(f"{path.stem[:2]}.") for key in asked)
    for key in asked:
        start = steps.index(("predict", key))
        end = next((i for i, step in enumerate(steps) if i > start and step[0] == "predict"), len(steps))
        between = steps[start:end]
        assert ("reveal", key) in between, f"{key}: no result before the next question"
        assert ("explain", "") in between[between.index(("reveal", key)) :], f"{key}: no explanation"


def calls(source: str) -> list[tuple[str, str]]:
    """The calls of predict and reveal in a cell, in order, with their keys."""
    tree = ast.parse(re.sub(r"^%.*$", "", source, flags=re.MULTILINE))
    found = [
        (node.lineno, node.func.id, node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("predict", "reveal")
        and isinstance(node.args[0], ast.Constant)
    ]
    return [(function, key) for _, function, key in sorted(found)]
