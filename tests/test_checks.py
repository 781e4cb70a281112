"""Every question: right answers pass in any style, every known wrong answer is rejected with its own finding."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

import tests.answers
from checks.evidence import evidence_from_json
from checks.judges import judge, judge_of
from checks.judges.values import ValueJudge, by_name
from checks.probing import run_probe
from checks.questions import all_questions, find

ANSWERS = [
    importlib.import_module(f"tests.answers.{info.name}")
    for info in pkgutil.iter_modules(tests.answers.__path__)
]
SEEDS = (1, 2)  # benchmarks/verdicts.py asks 40
RIGHT = [(name, style) for module in ANSWERS for name, styles in module.RIGHT.items() for style in styles]
MUTANTS = [
    (name, *mutant) for module in ANSWERS for name, found in module.MUTANTS.items() for mutant in found
]
GENERIC = {"wrong_type", "unexpected_value", "does_not_sum", "wrong_part"}


def named_mistakes():
    """From each question to the findings it has a name for."""
    named = {name: {finding for asked, finding, _ in MUTANTS if asked == name} for name in all_questions()}
    for name, question in all_questions().items():
        named[name] |= {it.id for it in getattr(judge_of(question), "mistakes", ())}
    return {name: found - GENERIC for name, found in named.items()}


NAMED = named_mistakes()


def verdict_on(question, answer, seed):
    question = find(question) if isinstance(question, str) else question
    cases = question.cases(seed)
    evidence = run_probe(question, answer, cases, quiet=True)
    return judge(question, cases, evidence_from_json(evidence, question=question.name, cases=len(cases)))


def name_of(value):
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(("name", "answer"), RIGHT, ids=name_of)
def test_right_answers_are_correct_and_draw_no_finding(name, answer):
    for seed in SEEDS:
        verdict = verdict_on(name, answer, seed)
        assert (verdict.state, verdict.score, verdict.findings) == ("correct", 1.0, ()), verdict


@pytest.mark.parametrize(("name", "finding", "answer"), MUTANTS, ids=name_of)
def test_mutants_are_rejected_with_their_own_finding(name, finding, answer):
    for seed in SEEDS:
        verdict = verdict_on(name, answer, seed)
        assert verdict.state in ("incorrect", "partial", "crashed")
        assert verdict.score < 1.0
        assert [found.id for found in verdict.findings] == [finding], verdict


def mistakes_as_data():
    """Every way of every mistake that a judge of values knows."""
    for name, question in all_questions().items():
        judge = judge_of(question)
        for mistake in judge.mistakes if isinstance(judge, ValueJudge) else ():
            for number, way in enumerate(mistake.ways):
                yield pytest.param(name, mistake, way, id=f"{name}-{mistake.id}-{number}")


@pytest.mark.parametrize(("name", "mistake", "way"), list(mistakes_as_data()))
def test_a_mistake_run_as_an_answer_gets_its_own_name(name, mistake, way):
    """Through inputs, probe and judge. What must be refused is refused; a mistake of one part is right elsewhere."""
    question, judge = find(name), judge_of(find(name))

    def answered(case):
        value = by_name(way, case.data)
        if mistake.part:
            value = judge.kind.with_part(by_name(judge.expected, case.data), mistake.part, value)
        return judge.kind.answer(value)

    def probe(values, case):
        if "refused" in case.data:
            raise ValueError("refused")
        return question.probe(lambda *_, **__: values[case.label], case)

    for seed in SEEDS:
        values = {case.label: answered(case) for case in question.cases(seed) if "refused" not in case.data}
        verdict = verdict_on(replace(question, probe=probe), values, seed)
        assert verdict.score < 1.0
        assert [found.id for found in verdict.findings] == [mistake.id], verdict


@pytest.mark.parametrize("name", all_questions())
def test_each_question_has_two_styles_and_four_named_mistakes(name):
    assert len([style for question, style in RIGHT if question == name]) >= 2, "two styles that are right"
    assert len(NAMED[name]) >= 4, f"four wrong answers with a name of their own, not only {NAMED[name]}"
    assert any(question == name for question, _, _ in MUTANTS), "a wrong answer written by hand"


def test_the_checks_know_far_more_than_a_hundred_mistakes_by_name():
    assert sum(map(len, NAMED.values())) >= 300


ROOT = Path(__file__).parents[1]


def lesson_of(question):
    return ROOT / question.lesson


# An exercise may stand before its lesson; once the lesson is there, what a verdict points to must be in it.
@pytest.mark.parametrize("name", [q.name for q in all_questions().values() if lesson_of(q).exists()])
def test_where_to_read_on_is_a_section_of_the_lesson(name):
    question = find(name)
    headings = [
        line.lstrip("# ").strip()
        for cell in nbformat.read(lesson_of(question), as_version=4).cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("#")
    ]
    assert question.section in headings


def blank_none(*_, **__):
    return None


def blank_ellipsis(*_, **__):
    return ...


def blank_error(*_, **__):
    raise NotImplementedError()


@pytest.mark.parametrize("name", all_questions())
@pytest.mark.parametrize("answer", [blank_none, blank_ellipsis, blank_error])
def test_an_untouched_answer_is_not_attempted(name, answer):
    verdict = verdict_on(name, answer, 5)
    assert (verdict.state, verdict.score) == ("not_attempted", 0.0)


def exits(*_, **__):
    raise SystemExit(3)


def divides(*_, **__):
    return 1 / 0


@pytest.mark.parametrize("name", all_questions())
@pytest.mark.parametrize(("answer", "error"), [(exits, "SystemExit"), (divides, "ZeroDivisionError")])
def test_an_answer_that_raises_is_crashed_and_shows_its_own_line(name, answer, error):
    verdict = verdict_on(name, answer, 5)
    assert verdict.state == "crashed"
    assert error in verdict.findings[0].got
    assert "test_checks" not in verdict.findings[0].got  # the line, not a stack
    if error == "ZeroDivisionError":
        assert "return 1 / 0" in verdict.findings[0].got


@pytest.mark.parametrize("name", all_questions())
def test_inputs_depend_on_the_seed_alone(name):
    question = find(name)
    assert question.cases(7) == question.cases(7)
    assert question.cases(7) != question.cases(8)


def test_an_unknown_question_names_its_neighbours():
    with pytest.raises(LookupError, match="count_parameters"):
        find("count_parameter")
