"""The mutation score: which changes are made, what counts as killed, and that every excuse names a change there is."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from checks.protocol import Case
from checks.questions import all_questions, find


@pytest.fixture
def mutations(repository, monkeypatch):
    monkeypatch.syspath_prepend(repository / "benchmarks")
    return importlib.import_module("mutations")


@pytest.fixture
def tokens(mutations):
    return next(mutations.solutions(["pretraining_tokens"]))


ROW = '''
def first(row: list[int], limit: int = 3) -> list[int]:
    """Of a row."""
    found = list(row)
    for number in row:
        if number < limit and number not in found[1:]:
            raise ValueError(f"{number} below 3")
    return found
'''


def test_a_mutant_is_told_by_the_lines_that_differ(mutations):
    found = {(mutant.before, mutant.after) for mutant in mutations.mutants_of(ROW)}
    signature = "def first(row: list[int], limit: int=3) -> list[int]:"
    condition = "if number < limit and number not in found[1:]:"
    assert {
        (signature, signature.replace("3", "4")),
        ("found = list(row)", "found = row"),
        ("found = list(row)", ""),
        (condition, condition.replace("<", "<=")),
        (condition, condition.replace("and", "or")),
        (condition, condition.replace("limit", "3")),
        (condition, condition.replace("[1:]", "[2:]")),
        ("raise ValueError(f'{number} below 3')", "pass"),
        ("raise ValueError(f'{number} below 3')", "raise ValueError(f'{number} below 3'); return found"),
        ("return found", ""),
    } <= found


def test_what_only_people_read_is_left_alone(mutations):
    for mutant in mutations.mutants_of(ROW):
        assert "Of a row." in mutant.source
        assert "below 3" in mutant.source or "ValueError" not in mutant.source
        assert "row: list[int]" in mutant.source


def test_each_mutant_comes_once_and_is_no_copy(mutations, tokens):
    sources = [mutant.source for mutant in tokens.mutants]
    assert len(sources) == len(set(sources)) >= 10
    assert mutations.mutants_of(tokens.source) == tokens.mutants
    keys = [(mutant.before, mutant.after, mutant.number) for mutant in mutations.mutants_of(ROW + ROW)]
    assert len(keys) == len(set(keys))


def test_a_check_with_weak_inputs_lets_mutants_through(mutations, tokens):
    ones = {"batch": 1, "length": 1, "steps": 7}
    weak = replace(find("pretraining_tokens"), inputs=lambda _: [Case("ones", ones)])
    key = ("pretraining_tokens", "return batch * length * steps", "return batch * steps", 1)
    gone = ("pretraining_tokens", "return batch + length", "return batch", 1)
    reasons = {key: "an excuse", gone: "an excuse of old"}
    results, stale = mutations.score([replace(tokens, question=weak)], reasons, range(2), 1)
    result = results["pretraining_tokens"]
    survivors = {mutant.after for mutant in result.survivors}
    assert {"return length * steps", "return length * length * steps"} <= survivors
    assert "return batch * steps" not in survivors
    assert "return batch * length" not in survivors  # 1, not 7
    assert result.equivalent == 1
    assert result.killed + result.equivalent + len(result.survivors) == result.mutants
    assert result.score == result.killed / (result.mutants - 1) < 1
    assert stale == [gone]


def test_a_mutant_that_is_noticed_on_some_seeds_only_is_flaky(mutations, tokens):
    def inputs(rng):
        steps = rng.choice([2, 3])
        return [Case("two or three", {"batch": 2, "length": 1, "steps": steps})]

    weak = replace(tokens, question=replace(find("pretraining_tokens"), inputs=inputs))
    twice = "return batch * length * batch"  # right where there are two steps
    key = ("pretraining_tokens", "return batch * length * steps", twice, 1)
    for reasons in ({}, {key: "no excuse"}):
        results, stale = mutations.score([weak], reasons, range(20), 1)
        assert twice in {mutant.after for mutant in results["pretraining_tokens"].flaky}
        assert not stale


def test_what_never_ends_or_dies_is_killed_and_spoils_nothing(mutations, tokens, monkeypatch):
    monkeypatch.setattr(mutations, "PATIENCE", 5.0)
    define = "def pretraining_tokens(batch, length, steps):\n    "
    uninterrupted = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n    while True: pass"
    dies = "import os; os._exit(0)"
    sources = [tokens.source, define + uninterrupted, define + dies, "this is no answer", tokens.source]
    states = dict(mutations.run([(tokens, source) for source in sources], range(1), 1))
    assert states[0] == states[4] == ["correct"]
    assert states[1] == ["endless"]
    assert states[2] == ["died"]
    assert "SyntaxError" in states[3][0]


def test_a_solution_that_its_own_check_refuses_is_said(mutations, tokens):
    wrong = replace(tokens, source=tokens.source.replace("*", "+"), mutants=[])
    with pytest.raises(RuntimeError, match=r"pretraining_tokens finds its own solution \['incorrect'\]"):
        mutations.score([wrong], {}, range(1), 1)


def test_every_reason_names_a_mutant_there_is(mutations):
    answers = {answer.question.name: answer for answer in mutations.solutions(list(all_questions()))}
    assert set(answers) == set(all_questions())
    for question, before, after, number in mutations.load_equivalent():
        keys = [(mutant.before, mutant.after, mutant.number) for mutant in answers[question].mutants]
        assert (before, after, number) in keys, (question, before, after)


def test_a_reason_has_to_be_given(mutations, tmp_path):
    path = tmp_path / "mutations.toml"
    path.write_text(
        '[[equivalent]]\nquestion = "a"\nbefore = "b"\nafter = "c"\nreason = " "\n', encoding="utf-8"
    )
    with pytest.raises(ValueError, match="a reason"):
        mutations.load_equivalent(path)


def test_on_the_command_line(repository, tmp_path):
    path = tmp_path / "score.json"
    command = [
        sys.executable,
        str(repository / "benchmarks" / "mutations.py"),
        "--questions",
        "pretraining_tokens",
    ]
    process = subprocess.run(
        [*command, "--seeds", "2", "--workers", "1", "--show", "--json", str(path)],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert process.returncode == 0, process.stderr
    result = json.loads(path.read_text(encoding="utf-8"))["pretraining_tokens"]
    assert result["mutants"] == result["killed"] >= 10
    assert (result["equivalent"], result["survivors"], result["flaky"], result["score"]) == (0, [], [], 1.0)
    assert process.stdout.splitlines()[-1].split()[-1] == "100.0%"
