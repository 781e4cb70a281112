"""A course with a gradebook and graded notebooks, made up in a second: no kernel runs, no model is built.

Two questions of `parameter_budget` are closed forms. Their evidence is made here as their checks would leave it; the
other four stay without, as if the notebook had stopped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_output

from checks.evidence import EVIDENCE_MIME
from checks.probing import run_probe
from checks.questions import find
from grading import evidence
from grading.course import Course
from grading.judging import graded_cells

ROOT = Path(__file__).parents[1]
ASSIGNMENT = "parameter_budget"
SEED = 20_26
Answers = Mapping[str, Callable[..., Any]]


def layer_parameters(hidden, intermediate):
    return 4 * hidden**2 + 2 * hidden * intermediate + 9 * hidden + intermediate


def twelve_h_squared(hidden, intermediate):
    return 12 * hidden**2


def factorised_table(vocab, hidden, factor):
    parameters = vocab * factor + factor * hidden
    return parameters, vocab * hidden / parameters


RIGHT: Answers = {"layer_parameters": layer_parameters, "factorised_table": factorised_table}


def make_course(folder: Path, answers: Mapping[str, Answers] | None = None) -> Course:
    """A course in which each learner of `answers` (by default ada and bo) has been graded on her answers."""
    shutil.copytree(ROOT / "solutions" / ASSIGNMENT, folder / "solutions" / ASSIGNMENT)
    shutil.copytree(ROOT / "exercises" / ASSIGNMENT, folder / "exercises" / ASSIGNMENT)
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    course = Course.open(folder)
    course.config.Application.log_level = "ERROR"
    if answers is None:
        answers = {"ada": RIGHT, "bo": {**RIGHT, "layer_parameters": twelve_h_squared}}
    with course.gradebook() as gradebook:
        _add_assignment(gradebook)
    for student, own in answers.items():
        add_graded(course, student, own)
    return course


def released() -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "exercises" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)


def add_graded(
    course: Course,
    student: str,
    answers: Answers,
    change: Callable[[nbformat.NotebookNode], None] = lambda notebook: None,
    **person: str,
) -> Path:
    """Grade a learner; `change` sees the executed notebook before it is judged. Returns the autograded folder."""
    notebook = released()
    for cell in graded_cells(notebook):
        name = cell.metadata.nbgrader.grade_id
        if name in answers:
            question = find(name)
            data = {EVIDENCE_MIME: run_probe(question, answers[name], question.cases(SEED), quiet=True)}
            cell.outputs = [new_output("display_data", data=data)]
    change(notebook)
    _, kept = evidence.judge_and_keep(notebook, SEED)
    folder = course.notebook("autograded_directory", ASSIGNMENT, student).parent
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{ASSIGNMENT}.ipynb")
    evidence.write(folder, kept)
    (folder / "timestamp.txt").write_text("2026-03-02 10:00:00.000000 UTC", encoding="utf-8")
    (folder / "submission_secret.txt").write_text("secret", encoding="utf-8")
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student(student, **person)
        gradebook.update_or_create_submission(ASSIGNMENT, student)
        for cell in graded_cells(notebook):
            where = (cell.metadata.nbgrader.grade_id, ASSIGNMENT, ASSIGNMENT, student)
            grade = gradebook.find_grade(*where)
            grade.auto_score, grade.needs_manual_grade = float(cell.outputs[0].data["text/plain"]), False
        gradebook.db.commit()
    return folder


def _add_assignment(gradebook: Any) -> None:
    gradebook.add_assignment(ASSIGNMENT)
    gradebook.add_notebook(ASSIGNMENT, ASSIGNMENT)
    for cell in released().cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if nbgrader.get("grade"):
            gradebook.add_grade_cell(
                nbgrader["grade_id"], ASSIGNMENT, ASSIGNMENT, max_score=nbgrader["points"], cell_type="code"
            )
        if nbgrader.get("solution"):
            gradebook.add_solution_cell(nbgrader["grade_id"], ASSIGNMENT, ASSIGNMENT)
