"""Judging a cell outside the kernel: what the submission printed decides nothing, and doubt is 0 with a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import determine_grade

from checks.evidence import EVIDENCE_MIME, evidence_from_json, evidence_to_json
from checks.judges import judge
from checks.probing import run_probe
from checks.questions import find
from grading.judging import judge_notebook, points_for, recorded, verdict_on, write_verdict

SEED = 11
NAME = "layer_parameters"


def right(hidden, intermediate):
    return 4 * hidden**2 + 2 * hidden * intermediate + 9 * hidden + intermediate


def evidence(answer=right, question=NAME, seed=SEED):
    asked = find(question)
    left = run_probe(asked, answer, asked.cases(seed), quiet=True)
    return new_output("display_data", data={EVIDENCE_MIME: left})


def cell(*outputs, question=NAME, points=3):
    metadata = {"grade": True, "solution": False, "locked": True, "grade_id": question, "points": points}
    return new_code_cell(
        f'check("{question}", {question})', metadata={"nbgrader": metadata}, outputs=[*outputs]
    )


def error(name, message=""):
    return new_output("error", ename=name, evalue=message, traceback=[])


def judged(*outputs, before=()):
    test = cell(*outputs)
    return verdict_on(test, find(NAME), SEED, [*before, test])


def test_evidence_of_a_right_answer_is_correct():
    assert judged(evidence()).state == "correct"


@pytest.mark.parametrize(
    ("outputs", "finding"),
    [
        ([], "no_evidence"),
        ([evidence(), evidence()], "evidence_twice"),
        ([evidence(lambda v, h, e: (1, 1.0), "factorised_table")], "bad_evidence"),
        ([new_output("display_data", data={EVIDENCE_MIME: "rubbish"})], "bad_evidence"),
        ([evidence(seed=SEED + 1)], None),  # answers to other inputs: wrong, whatever the name of it
        ([error("NameError", "name 'layer_parameters' is not defined")], "check_not_run"),
        ([error("CellTimeoutError")], "timed_out"),
        ([error("KeyboardInterrupt")], "timed_out"),
        ([new_output("execute_result", data={"text/plain": "3.0"}, execution_count=1)], "no_evidence"),
        ([new_output("stream", name="stdout", text=EVIDENCE_MIME)], "no_evidence"),
    ],
)
def test_doubt_is_zero_with_a_reason(outputs, finding):
    verdict = judged(*outputs)
    assert verdict.score == 0
    assert verdict.state in ("crashed", "incorrect")
    assert verdict.findings
    if finding:
        assert verdict.findings[0].id == finding


def test_a_missing_name_is_traced_to_the_cell_that_failed():
    broken = new_code_cell("def f(:", outputs=[error("SyntaxError", "invalid syntax")])
    verdict = judged(error("NameError", "name 'layer_parameters' is not defined"), before=[broken])
    assert verdict.findings[0].id == "earlier_cell_failed"
    assert "SyntaxError" in verdict.findings[0].got


def test_what_the_cell_showed_besides_is_thrown_away():
    forged = new_output("execute_result", data={"text/plain": "3.0"}, execution_count=1)
    shouted = new_output("stream", name="stderr", text="a warning")
    test = cell(forged, shouted, evidence(lambda hidden, intermediate: 12 * hidden**2))
    write_verdict(test, verdict_on(test, find(NAME), SEED))
    assert len(test.outputs) == 1
    assert determine_grade(test) == (0.0, 3.0)
    assert recorded(test)["findings"] == ["twelve_h_squared"]


def test_a_noisy_right_answer_keeps_its_points():
    test = cell(new_output("stream", name="stderr", text="a warning"), evidence())
    write_verdict(test, verdict_on(test, find(NAME), SEED))
    assert determine_grade(test) == (3.0, 3.0)


def test_partial_credit_is_a_number_nbgrader_reads():
    def pooler_in_head(model):
        from tests.answers.parameter_budget import breakdown

        parts = breakdown(model)
        parts["head"] += parts["pooler"]
        return parts | {"pooler": 0}

    test = cell(evidence(pooler_in_head, "breakdown"), question="breakdown", points=5)
    verdict = verdict_on(test, find("breakdown"), SEED)
    write_verdict(test, verdict)
    assert verdict.state == "partial"
    assert determine_grade(test) == (points_for(verdict, 5), 5.0)
    assert 0 < determine_grade(test)[0] < 5


def test_a_graded_cell_that_asks_nothing_known_is_never_judged():
    from nbformat.v4 import new_notebook

    with pytest.raises(LookupError, match="no question"):
        judge_notebook(new_notebook(cells=[cell(question="own_test")]), SEED)


def test_a_verdict_escapes_what_an_answer_said():
    def hostile(hidden, intermediate):
        raise ValueError("<script>alert(1)</script>")

    test = cell(evidence(hostile))
    write_verdict(test, verdict_on(test, find(NAME), SEED))
    shown = test.outputs[0].data["text/html"]
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "display_data", "data": None, "metadata": {}},
        {"output_type": "display_data", "data": [EVIDENCE_MIME], "metadata": {}},
        {"output_type": "display_data", "data": EVIDENCE_MIME, "metadata": {}},
        {"output_type": "error"},
        {"output_type": "error", "ename": 7, "evalue": None, "traceback": 3},
        {"data": {EVIDENCE_MIME: {"question": NAME, "outcomes": []}}},
        "not an output",
    ],
    ids=range(7),
)
def test_outputs_of_any_form_are_zero_and_not_an_exception(output):
    test = cell()
    test.outputs = [output]
    assert verdict_on(test, find(NAME), SEED, [test]).score == 0


def test_deep_and_half_written_text_in_evidence_is_no_exception():
    deep = 1
    for _ in range(450):
        deep = [deep]
    for value in (deep, "\ud800", {"$": "dict", "of": [["\ud800", 1]]}):
        outcomes = [{"value": value, "changed_input": False}] * len(find(NAME).cases(SEED))
        output = new_output("display_data", data={EVIDENCE_MIME: evidence_to_json(NAME, outcomes)})
        test = cell(output)
        verdict = verdict_on(test, find(NAME), SEED, [test])
        assert verdict.score == 0
        write_verdict(test, verdict)
        test.outputs[0].data["text/html"].encode("utf-8")


@pytest.mark.parametrize(
    "forge",
    [
        lambda draws: draws[:1],
        lambda draws: draws[:0],
        lambda draws: np.where(draws, np.nan, 0.0),
        lambda draws: draws.astype(float),
        lambda draws: draws * 2,
        lambda draws: draws[..., None],
    ],
    ids=["one", "none", "nan", "floats", "twos", "axes"],
)
@pytest.mark.parametrize("name", ["whole_word_selection", "span_selection"])
def test_draws_that_no_probe_would_leave_are_no_selections(name, forge):
    """Fewer draws than were asked for leave chance unjudged; NaN compares as neither over a budget nor under it."""
    from tests.answers import masking_granularity as answers

    asked = find(name)
    answer = {one.__name__: one for one in (answers.whole_word_selection, answers.span_selection)}[name]
    cases = asked.cases(SEED)
    payload = run_probe(asked, answer, cases, quiet=True)
    honest = evidence_from_json(payload, question=name, cases=len(cases))
    assert judge(asked, cases, honest).state == "correct"
    forged = []
    for outcome in honest.outcomes:
        value = {part: replace(array, data=forge(array.data)) for part, array in outcome.value.items()}
        forged.append(replace(outcome, value=value))
    verdict = judge(asked, cases, replace(honest, outcomes=tuple(forged)))
    assert (verdict.score, verdict.findings[0].id) == (0, "wrong_type")
