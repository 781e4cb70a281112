"""What a run keeps, and how it is shown again: the inputs, what came, and why it was judged so."""

from __future__ import annotations

import dataclasses
import io
import json
import stat
import time

import pytest
from nbformat.v4 import new_output
from rich.console import Console

from checks.evidence import EVIDENCE_MIME
from checks.questions import find
from grading import evidence
from grading.explain import explain, explanation
from grading.judging import graded_cells
from insidebert.errors import CommandError
from tests.small_course import ASSIGNMENT, RIGHT, SEED, add_graded, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own

NAME = "layer_parameters"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("explain"))


def folder(course, student):
    return course.notebook("autograded_directory", ASSIGNMENT, student).parent


def shown(course, student, question=NAME):
    out = io.StringIO()
    assert explain(course, student, question, Console(file=out, width=120)) == 0
    return out.getvalue()


def test_the_inputs_are_those_of_that_run_and_judging_again_agrees(course):
    found = explanation(course, "bo", NAME)
    assert found.seed == SEED
    assert list(found.cases) == find(NAME).cases(SEED)
    assert [outcome.value for outcome in found.outcomes] == [12 * case["H"] ** 2 for case in found.cases]
    assert [finding.id for finding in found.verdict.findings] == ["twelve_h_squared"]
    assert found.again is None
    assert (found.points, found.max_points, found.by_hand) == (0.0, 3.0, False)


def test_the_terminal_shows_input_value_and_cause(course):
    text = shown(course, "bo")
    case = find(NAME).cases(SEED)[0]
    for part in (
        case.label,
        f"H = {case['H']:,}",
        f"{12 * case['H'] ** 2:,}",
        "twelve_h_squared",
        "✗ Not right yet",
    ):
        assert part in text
    assert explanation(course, "bo", NAME).verdict.findings[0].cause[:30] in text
    assert "✓ Correct" in shown(course, "ada")
    assert "def layer_parameters" in shown(course, "ada")


def test_points_given_by_hand_are_told_from_the_checks_own(course):
    add_graded(course, "cy", RIGHT)
    with course.gradebook() as gradebook:
        gradebook.find_grade(NAME, ASSIGNMENT, ASSIGNMENT, "cy").manual_score = 1.5
        gradebook.db.commit()
    assert explanation(course, "cy", NAME).by_hand
    assert "1.5 of 3 points given by hand" in shown(course, "cy")


def test_without_evidence_the_reason_stands_and_inputs_are_shown(course):
    found = explanation(course, "ada", "breakdown")
    assert found.outcomes == ()
    assert found.cases
    assert [finding.id for finding in found.verdict.findings] == ["no_evidence"]
    assert "the check left no results" in shown(course, "ada", "breakdown")


def test_a_notebook_graded_without_a_record_is_explained_with_new_inputs(course):
    add_graded(course, "old", {NAME: lambda hidden, intermediate: 12 * hidden**2})
    (folder(course, "old") / evidence.FILE).unlink()
    found = explanation(course, "old", NAME)
    assert found.seed is None
    assert [finding.id for finding in found.verdict.findings] == ["twelve_h_squared"]
    assert "drawn anew" in shown(course, "old")


def test_a_verdict_that_today_would_be_another_is_said(course):
    add_graded(course, "dee", RIGHT)
    kept = evidence.read(folder(course, "dee"))
    kept["questions"][NAME]["verdict"] |= {"state": "incorrect", "score": 0.0}
    evidence.write(folder(course, "dee"), kept)
    found = explanation(course, "dee", NAME)
    assert (found.verdict.state, found.again.state) == ("incorrect", "correct")
    assert "judged today" in shown(course, "dee")


def test_an_answer_of_endless_lines_is_shown_soon(course):
    """Pygments takes a minute to colour them whole."""

    def endless(notebook):
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == f"{NAME}_answer":
                cell.source = "\n".join(["x = " + "." * 300_000] * 5)

    add_graded(course, "lena", RIGHT, endless)
    begin = time.process_time()
    assert "." * 50 in shown(course, "lena")
    assert time.process_time() - begin < 10


def test_what_came_from_a_submission_moves_no_cursor_and_makes_no_markup(course):
    def hostile(hidden, intermediate):
        raise ValueError("\x1b[2J\x1b]0;title\x07[bold red]x[/bold red]\x9b2J")

    def change(notebook):
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == f"{NAME}_answer":
                cell.source = "\x1b[2J # [red]"

    add_graded(course, "mallory", {NAME: hostile}, change)
    text = shown(course, "mallory")
    assert not {"\x1b", "\x07", "\x9b"} & set(text)
    assert "[bold red]x[/bold red]" in text


@pytest.mark.parametrize(
    "pieces",
    [
        ["rubbish"],
        [{"question": NAME, "outcomes": []}],
        [{"question": NAME, "outcomes": "x" * (evidence.MAX_EVIDENCE + 1)}],
        [{"question": NAME}, {"question": NAME}],
    ],
    ids=["text", "too few", "too large", "two"],
)
def test_forged_evidence_is_kept_within_bounds_and_explained(course, pieces, request):
    def forge(notebook):
        cell = next(cell for cell in graded_cells(notebook) if cell.metadata.nbgrader.grade_id == NAME)
        cell.outputs = [new_output("display_data", data={EVIDENCE_MIME: piece}) for piece in pieces]

    student = request.node.callspec.id.replace(" ", "_")
    where = add_graded(course, student, {}, forge)
    assert (where / evidence.FILE).stat().st_size < 2 * evidence.MAX_EVIDENCE
    found = explanation(course, student, NAME)
    assert found.outcomes == ()
    assert found.missing
    assert found.verdict.score == 0
    assert "not shown" in shown(course, student)


def test_the_record_is_private_plain_json_and_never_written_through_a_link(course, tmp_path):
    where = add_graded(course, "eve", RIGHT)
    assert stat.S_IMODE((where / evidence.FILE).stat().st_mode) & 0o077 == 0
    kept = json.loads((where / evidence.FILE).read_text(encoding="utf-8"))
    assert set(kept) == {"seed", "questions"}
    (tmp_path / "theirs").write_text("untouched", encoding="utf-8")
    (where / evidence.FILE).unlink()
    (where / evidence.FILE).symlink_to(tmp_path / "theirs")
    evidence.write(where, kept)
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == "untouched"
    assert evidence.read(where) == kept
    assert [path.name for path in where.iterdir() if path.name.startswith(".evidence")] == []


def test_a_verdict_survives_being_kept(course):
    for name, part in evidence.read(folder(course, "bo"))["questions"].items():
        verdict = evidence.verdict_from(part)
        assert verdict.question == name
        assert json.loads(json.dumps(dataclasses.asdict(verdict))) == part["verdict"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"seed": "x", "questions": {}}', "\x00"])
def test_a_damaged_record_is_one_sentence(course, tmp_path, text):
    (tmp_path / evidence.FILE).write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match="damaged"):
        evidence.read(tmp_path)
    assert evidence.read(tmp_path / "elsewhere") is None


def test_an_unknown_learner_or_question_is_named(course):
    with pytest.raises(CommandError, match="Graded are: ada, bo"):
        explanation(course, "nobody", NAME)
    with pytest.raises(CommandError, match="layer_parameters"):
        explanation(course, "ada", "layer_parameter")
    with pytest.raises(CommandError, match="has not been graded"):
        explanation(course, "ada", "mask_tokens")


def test_nbgrader_takes_no_such_file_from_a_submission(course):
    assert evidence.FILE in course.directory.ignore
