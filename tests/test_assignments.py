"""Every assignment: released as written, solved by its solution, untouched without an error."""

from __future__ import annotations

import secrets
import shutil
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbgrader.validator import Validator
from traitlets.config import Config

from grading.course import Course
from grading.executing import execute
from grading.judging import graded_cells, judge_notebook, question_of, recorded
from grading.release import release
from grading.sandbox.detecting import detect
from grading.sandbox.isolation import NONE
from grading.sandbox.limits import Limits
from insidebert.errors import CommandError

ROOT = Path(__file__).parents[1]
ASSIGNMENTS = sorted(path.stem for path in (ROOT / "solutions").glob("*/*.ipynb"))


def read(kind, assignment):
    return nbformat.read(ROOT / kind / assignment / f"{assignment}.ipynb", as_version=4)


def copy_of_course(folder, assignment):
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    shutil.copytree(ROOT / "solutions" / assignment, folder / "solutions" / assignment)
    return Course.open(folder)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_exercise_is_what_its_source_generates(assignment, tmp_path):
    course = copy_of_course(tmp_path, assignment)
    release(course, assignment)
    committed = ROOT / "exercises" / assignment
    generated = course.folder("release_directory") / assignment
    assert sorted(p.name for p in committed.glob("*.*")) == sorted(p.name for p in generated.glob("*.*"))
    for path in generated.glob("*.*"):
        fresh = path.read_text(encoding="utf-8")
        assert (committed / path.name).read_text(encoding="utf-8") == fresh, "run `make release` and commit"


def graded_states(notebook):
    seed = secrets.randbits(48)
    execute(notebook, seed, Limits(cell_seconds=120), detect() if detect().name else NONE)
    judge_notebook(notebook, seed)
    return {
        question_of(cell).name: (
            cell.outputs[0].metadata["insidebert"]["state"],
            cell.outputs[0].data["text/plain"],
        )
        for cell in graded_cells(notebook)
    }


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_solution_earns_every_point(assignment):
    solution = read("solutions", assignment)
    points = {question_of(cell).name: cell.metadata.nbgrader.points for cell in graded_cells(solution)}
    wanted = {name: ("correct", repr(float(value))) for name, value in points.items()}
    assert graded_states(solution) == wanted
    assert 15 <= sum(points.values()) <= 25


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_an_untouched_exercise_runs_to_its_end_and_earns_nothing(assignment):
    """In a learner's kernel, where an error would stop Run All; and with no word on standard error."""
    notebook = read("exercises", assignment)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}})
    client.execute()
    for cell in graded_cells(notebook):
        assert [output.data["text/plain"] for output in cell.outputs] == ["0.0"]
        assert "Not attempted" in cell.outputs[0].data["text/html"]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_an_untouched_exercise_is_graded_not_attempted(assignment):
    assert set(graded_states(read("exercises", assignment)).values()) == {("not_attempted", "0.0")}


def answered(answers):
    notebook = read("exercises", "parameter_budget")
    solution = {cell.id: cell.source for cell in read("solutions", "parameter_budget").cells}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            name = cell.metadata.nbgrader.grade_id.removesuffix("_answer")
            cell.source = answers.get(name, solution[cell.id])
    return notebook


def validate(notebook, folder):
    """What nbgrader's Validate button does with it."""
    path = folder / "parameter_budget.ipynb"
    nbformat.write(notebook, path)
    config = Config()
    config.Execute.timeout = 120
    return Validator(config=config).validate(str(path))


def test_validate_passes_a_right_notebook(tmp_path):
    assert validate(answered({}), tmp_path) == {}


def test_validate_tells_what_is_wrong_and_what_is_missing(tmp_path):
    wrong = "def count_parameters(model):\n    return sum(t.numel() for t in model.state_dict().values())"
    blank = "def breakdown(model):\n    raise NotImplementedError()"
    failed = validate(answered({"count_parameters": wrong, "breakdown": blank}), tmp_path)["failed"]
    by_source = {cell["source"]: cell["raw_error"] for cell in failed}
    assert "A tied matrix is counted once" in by_source['check("count_parameters", count_parameters)']
    assert "Not attempted" in by_source['check("breakdown", breakdown)']


def test_the_answers_work_on_models_loaded_from_a_checkpoint(tmp_path):
    from transformers import BertConfig, BertForPreTraining, BertModel

    config = BertConfig(
        vocab_size=97, hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=50
    )
    BertForPreTraining(config).save_pretrained(tmp_path)
    names = {}
    for cell in read("solutions", "parameter_budget").cells:
        if cell.cell_type == "code" and not graded_cells(nbformat.v4.new_notebook(cells=[cell])):
            exec(compile(cell.source, cell.id, "exec"), names)  # our own source
    encoder = BertModel.from_pretrained(tmp_path)
    whole = BertForPreTraining.from_pretrained(tmp_path)
    report = names["budget_report"]({"encoder": encoder, "whole": whole})
    assert report["encoder"]["token_table"] == report["whole"]["token_table"] == 97 * 24
    assert names["breakdown"](whole)["encoder layers"] == 2 * names["layer_parameters"](24, 50)
    assert report["whole"]["total"] - report["encoder"]["total"] == names["breakdown"](whole)["head"]


def test_an_assignment_that_is_not_there_is_named(tmp_path):
    course = copy_of_course(tmp_path, "parameter_budget")
    with pytest.raises(CommandError, match="there are: parameter_budget"):
        release(course, "parameter_budgets")


def test_a_graded_cell_that_nobody_could_judge_is_refused_before_release(tmp_path):
    course = copy_of_course(tmp_path, "parameter_budget")
    path = course.notebook("source_directory", "parameter_budget")
    notebook = nbformat.read(path, as_version=4)
    graded_cells(notebook)[0].metadata.nbgrader.grade_id = "counting"
    nbformat.write(notebook, path)
    with pytest.raises(CommandError, match="no question 'counting'"):
        release(course, "parameter_budget")


def test_a_copied_and_a_deleted_cell_cost_nothing(tmp_path):
    course = copy_of_course(tmp_path, "parameter_budget")
    release(course, "parameter_budget")
    notebook = answered({})
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    for name in ("breakdown", "breakdown_answer"):  # both: the answer comes back as it was handed out
        notebook.cells.remove(cells[name])
    notebook.cells.remove(cells["factorised_table"])
    for name in ("layer_parameters_answer", "layer_parameters"):
        copied = deepcopy(cells[name])
        copied.id = f"{name.replace('_', '-')}-copy"
        notebook.cells.insert(notebook.cells.index(cells[name]) + 1, copied)
    path = course.notebook("submitted_directory", "parameter_budget", "sam")
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    assert course.api.autograde("parameter_budget", "sam")["success"]
    graded = nbformat.read(course.notebook("autograded_directory", "parameter_budget", "sam"), as_version=4)
    states = {question_of(cell).name: recorded(cell)["state"] for cell in graded_cells(graded)}
    # budget_report calls breakdown in this solution
    wanted = dict.fromkeys(states, "correct") | {"breakdown": "not_attempted", "budget_report": "crashed"}
    assert states == wanted
    assert len(states) == 6


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_exercise_says_what_is_taken_for_an_answer(assignment):
    title = read("exercises", assignment).cells[0].source
    assert "Write each answer yourself" in title
    for stand_in in ("NumPy's", "tensor without axes", "3 and not 3.0", "`True` is not 1"):
        assert stand_in in title
