"""An answer must be the learner's own, the version last typed, and come to an end."""

from __future__ import annotations

import functools
import random
import time

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import insidebert.finetuning
import insidebert.packing
from checks.evidence import evidence_from_json
from checks.judges import judge
from checks.origins import cell_that_did_not_run
from checks.probing import run_probe
from checks.questions import find
from checks.time_limit import DoesNotEnd, within
from tests.answers.parameter_budget import layer_parameters
from tests.test_checks import RIGHT


def verdict_on(name, answer, **options):
    question = find(name)
    cases = question.cases(3)
    evidence = run_probe(question, answer, cases, quiet=True, **options)
    return judge(question, cases, evidence_from_json(evidence, question=name, cases=len(cases)))


# --- handed on ----------------------------------------------------------------------------------------------


def hands_on(ids_a, ids_b, *, cls_id, sep_id, max_length):
    return insidebert.packing.pack_pair(ids_a, ids_b, cls_id=cls_id, sep_id=sep_id, max_length=max_length)


def hands_on_after_looking(ids_a, ids_b, **options):
    if ids_b is None and options["max_length"] < 2:
        raise ValueError("no room")
    return hands_on(ids_a, ids_b, **options)


class Inherits(insidebert.finetuning.SequenceHead):
    pass


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("pack_pair", hands_on, "insidebert.packing.pack_pair"),
        ("pack_pair", hands_on_after_looking, "insidebert.packing.pack_pair"),
        ("pack_pair", insidebert.packing.pack_pair, "insidebert.packing.pack_pair"),
        ("pack_pair", functools.partial(insidebert.packing.pack_pair), "insidebert.packing.pack_pair"),
        ("SequenceHead", Inherits, "insidebert.finetuning.SequenceHead"),
    ],
)
def test_an_answer_that_hands_on_to_the_course_is_told_so(name, answer, said):
    verdict = verdict_on(name, answer)
    assert (verdict.state, verdict.score) == ("incorrect", 0.0)
    assert verdict.findings[0].id == "imported_answer"
    assert f"`{said}`" in verdict.findings[0].cause


@pytest.mark.parametrize("name", sorted({name for name, _ in RIGHT}))
def test_an_answer_of_ones_own_is_never_taken_for_an_import(name):
    answer = next(answer for question, answer in RIGHT if question == name)
    assert verdict_on(name, answer).state == "correct"


# --- the version last typed -----------------------------------------------------------------------------------

CELL = "def layer_parameters(hidden, intermediate):\n    return {}\n"


def ran(*cells):
    """A session in which the cells were run; its inputs, and what the name stands for afterwards."""
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    for cell in cells:
        shell.run_cell(cell, store_history=True)
    return shell.user_ns["layer_parameters"], list(shell.user_ns["In"])


def test_a_cell_that_does_not_parse_leaves_the_version_before_and_says_so():
    answer, cells = ran(CELL.format(1), CELL.format("4 * (hidden"))
    assert answer(2, 3) == 1
    assert "SyntaxError" in cell_that_did_not_run("layer_parameters", answer, cells)


@pytest.mark.parametrize(
    "cells",
    [
        [CELL.format(1)],
        [CELL.format(1), CELL.format(2)],
        [CELL.format("4 * (hidden"), CELL.format(2)],
        [CELL.format(1), "layer_parameters(1, 2)", "x = (", "def other():\n    return ("],
        ["import functools\n@functools.lru_cache\n" + CELL.format(1)],
        [CELL.format(1) + "layer_parameters(", CELL.format(1)],
        ["%%time\n" + CELL.format(1)],
        [CELL.format(1), CELL.format("("), "layer_parameters = lambda hidden, intermediate: 3"],
        [CELL.format(1), CELL.format("("), "if True:\n    def layer_parameters(): pass"],
        ["def other(): pass", CELL.format("("), "layer_parameters = other"],
    ],
    ids=[
        "once",
        "again",
        "mended",
        "elsewhere",
        "decorated",
        "mended by a cut",
        "timed",
        "mended by a lambda",
        "mended below a condition",
        "mended by another name",
    ],
)
def test_an_answer_that_is_the_last_version_is_judged(cells):
    answer, inputs = ran(*cells)
    assert cell_that_did_not_run("layer_parameters", answer, inputs) == ""


def test_an_answer_without_a_cell_is_judged():
    for answer in (layer_parameters, 3, print, functools.partial(print), type("Empty", (), {})):
        assert cell_that_did_not_run("layer_parameters", answer, [CELL.format(1), CELL.format("(")]) == ""


class Secretive:
    """Right, and whoever asks about it gets an exception."""

    def __getattr__(self, name):
        raise RuntimeError("nobody's business")

    def __call__(self, *args):
        return layer_parameters(*args)


class Agreeable(Secretive):
    """Right, and has every attribute, itself."""

    def __getattr__(self, name):
        return self


@pytest.mark.parametrize("answer", [Secretive(), Agreeable()], ids=["secretive", "agreeable"])
def test_an_object_that_hides_where_it_comes_from_is_judged_by_what_it_returns(answer):
    assert cell_that_did_not_run("layer_parameters", answer, [CELL.format(1), CELL.format("(")]) == ""
    assert verdict_on("layer_parameters", answer).state == "correct"


# --- an end -----------------------------------------------------------------------------------------------------


def endless(*_, **__):
    while True:
        pass


def endless_and_deaf(*_, **__):
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        try:
            while time.monotonic() < deadline:
                pass
        except BaseException:
            continue
    return 7


def endless_from_the_third(hidden, intermediate):
    return endless() if hidden > 700 else layer_parameters(hidden, intermediate)


def test_an_answer_that_never_ends_is_told_on_which_input():
    began = time.monotonic()
    verdict = verdict_on("layer_parameters", endless_from_the_third, seconds=0.3)
    assert (verdict.state, verdict.findings[0].id) == ("crashed", "does_not_end")
    assert "hidden=768" in verdict.findings[0].case
    assert time.monotonic() - began < 60  # one case waited for, not every one


def test_an_interrupt_of_ones_own_stops_the_check():
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verdict_on("layer_parameters", interrupted)


def test_a_call_that_swallows_interrupts_counts_as_endless_when_it_returns():
    with pytest.raises(DoesNotEnd):
        within(0.2, endless_and_deaf)
    assert within(5, lambda: 3) == 3  # nothing of it is left


def test_a_value_whose_picture_never_ends_counts_as_endless():
    class Picture:
        __repr__ = endless

    verdict = verdict_on("layer_parameters", lambda hidden, intermediate: Picture(), seconds=0.3)
    assert (verdict.state, verdict.findings[0].id) == ("crashed", "does_not_end")


def test_an_answer_is_judged_where_no_thread_can_be_started(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    assert verdict_on("layer_parameters", layer_parameters).state == "correct"


def test_draws_without_an_end_say_so():
    def draws_for_ever(groups, budget, rng):
        while True:
            rng.random()

    verdict = verdict_on("whole_word_selection", draws_for_ever)
    assert verdict.state == "crashed"
    assert verdict.findings[0].id == "does_not_end"
    assert random.random() >= 0  # the global generator is untouched by the one that counts
