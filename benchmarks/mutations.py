"""How many small changes of a right answer its check notices: the mutation score of every question.

    python benchmarks/mutations.py [--assignment A | --questions Q …] [--seeds N] [--show] [--json FILE]

Each solution is changed by the usual operators, one change at a time (`mutants.py`), and every mutant goes
through its check as a learner's answer would. It is killed when it is rejected on every seed, flaky when on some only.
A survivor is a hole in the inputs of its question, or no mistake at all: then `mutations.toml` says why, and it does
not count. The score is `killed / (mutants - equivalent)`.

Each mutant runs in a process of its own, forked, so that none spoils the next; POSIX only.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import time
import tomllib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import nbformat
from mutants import Mutant, mutants_of

from checks.encoding import BadEvidence
from checks.evidence import evidence_from_json
from checks.judges import judge
from checks.probing import run_probe
from checks.protocol import Question
from checks.questions import all_questions

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_suffix(".toml")
CASE_SECONDS = 3.0  # a right answer takes some milliseconds
PATIENCE = 60.0  # seconds by the clock for all cases of one seed: for what no time limit in the process ends
MEMORY = 6 * 2**30

Key = tuple[str, str, str, int]  # question, line before, line after, which of several such lines


@dataclass
class Answer:
    """A question with its solution: the cell that defines it, and the names that the cells before it leave."""

    question: Question
    source: str
    names: dict[str, Any]
    mutants: list[Mutant] = field(default_factory=list)


@dataclass
class Result:
    """What became of the mutants of one question."""

    mutants: int = 0
    killed: int = 0
    equivalent: int = 0
    flaky: list[Mutant] = field(default_factory=list)
    survivors: list[Mutant] = field(default_factory=list)

    @property
    def score(self) -> float:
        return self.killed / max(1, self.mutants - self.equivalent)


# --- answers and their mutants ----------------------------------------------------------------------------


def solutions(names: list[str]) -> Iterator[Answer]:
    """The solutions of these questions. Cells that check are left out, those that only define things are run."""
    questions = all_questions()
    wanted = {questions[name].assignment for name in names}
    for path in sorted((ROOT / "solutions").glob("*/*.ipynb")):
        if path.stem in wanted:
            left: dict[str, Any] = {"__name__": "__main__"}
            for cell in nbformat.read(path, as_version=4).cells:
                about = cell.metadata.get("nbgrader", {})
                if cell.cell_type != "code" or about.get("grade"):
                    continue
                name = about.get("grade_id", "").removesuffix("_answer")
                if about.get("solution") and name in names:
                    yield Answer(questions[name], cell.source, dict(left), mutants_of(cell.source))
                exec(compile(cell.source, cell.id, "exec"), left)  # our own source


def load_equivalent(path: Path = EQUIVALENT) -> dict[Key, str]:
    """The mutants that are no mistakes, and why.

    Raises:
        ValueError: an entry lacks a field or its reason, or stands there twice.
    """
    reasons: dict[Key, str] = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", []):
        if not {"question", "before", "after", "reason"} <= entry.keys() or not entry["reason"].strip():
            raise ValueError(f"{path.name}: an entry needs question, before, after and a reason: {entry}")
        key = (entry["question"], entry["before"], entry["after"], entry.get("number", 1))
        if key in reasons:
            raise ValueError(f"{path.name}: {key} stands there twice.")
        reasons[key] = entry["reason"]
    return reasons


# --- running them -----------------------------------------------------------------------------------------


def states_of(answer: Answer, source: str, seeds: range) -> list[str]:
    """The state of the verdict on each seed; "broken" where the judge itself failed, which has said why."""
    names = dict(answer.names)
    try:
        exec(compile(source, "answer", "exec"), names)
    except Exception as error:
        return [f"does not define an answer: {error!r}"] * len(seeds)
    states: list[str] = []
    for seed in seeds:
        cases = answer.question.cases(seed)
        given = names[answer.question.name]
        evidence = run_probe(answer.question, given, cases, quiet=True, seconds=CASE_SECONDS)
        try:
            read = evidence_from_json(evidence, question=answer.question.name, cases=len(cases))
            states.append(judge(answer.question, cases, read).state)
        except BadEvidence:
            states.append("unreadable")
        except Exception:
            traceback.print_exc()
            states.append("broken")
    return states


def run(jobs: list[tuple[Answer, str]], seeds: range, workers: int) -> Iterator[tuple[int, list[str]]]:
    """The states of each job by its number, each in a forked process; "endless" where it had to be ended."""
    fork = multiprocessing.get_context("fork")
    waiting = iter(enumerate(jobs))
    running: dict[Any, tuple[int, Any, float]] = {}  # by the pipe to the child
    while True:
        while len(running) < workers and (job := next(waiting, None)):
            number, (answer, source) = job
            ours, theirs = fork.Pipe(duplex=False)
            process = fork.Process(target=_child, args=(theirs, answer, source, seeds))
            process.start()
            theirs.close()
            running[ours] = number, process, time.monotonic() + PATIENCE * len(seeds)
        if not running:
            return
        ready = wait(list(running), timeout=1)
        for pipe, (number, process, deadline) in list(running.items()):
            if pipe in ready or time.monotonic() > deadline:
                yield number, _received(pipe) if pipe in ready else ["endless"] * len(seeds)
                process.kill()
                process.join()
                pipe.close()
                del running[pipe]


def _received(pipe: Any) -> list[str]:
    try:
        states: list[str] = pipe.recv()
    except EOFError:
        return ["died"]
    return states


def _child(pipe: Any, answer: Answer, source: str, seeds: range) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    pipe.send(states_of(answer, source, seeds))


def score(
    answers: list[Answer], reasons: dict[Key, str], seeds: range, workers: int
) -> tuple[dict[str, Result], list[Key]]:
    """The result of each question, and the reasons that name a mutant which is not there or does not survive.

    A mutant on which its judge fails is not killed.

    Raises:
        RuntimeError: a solution is refused by its own check.
    """
    for number, states in run([(answer, answer.source) for answer in answers], seeds, workers):
        if set(states) != {"correct"}:
            raise RuntimeError(
                f"The check of {answers[number].question.name} finds its own solution {states}."
            )
    jobs = [(answer, mutant) for answer in answers for mutant in answer.mutants]
    all_states: dict[int, list[str]] = {}
    for number, states in run([(answer, mutant.source) for answer, mutant in jobs], seeds, workers):
        all_states[number] = states
        if sys.stderr.isatty():
            print(f"\r{len(all_states)} of {len(jobs)} mutants", end="", file=sys.stderr)
    results = {answer.question.name: Result() for answer in answers}
    stale = {key for key in reasons if key[0] in results}
    for number, (answer, mutant) in enumerate(jobs):
        result = results[answer.question.name]
        accepted = sum(state in ("correct", "broken") for state in all_states[number])
        key = (answer.question.name, mutant.before, mutant.after, mutant.number)
        result.mutants += 1
        if accepted == 0:
            result.killed += 1
            continue
        stale.discard(key)
        if accepted < len(seeds):  # whatever the reason says: a right answer is right on every seed
            result.flaky.append(mutant)
        elif key in reasons:
            result.equivalent += 1
        else:
            result.survivors.append(mutant)
    return results, sorted(stale)


# --- telling ----------------------------------------------------------------------------------------------


def table(results: dict[str, Result]) -> str:
    """One line a question and one for all."""
    total = Result()
    lines = [
        f"{'question':<26} {'mutants':>8} {'killed':>7} {'equivalent':>11} {'flaky':>6} {'survive':>8} {'score':>7}"
    ]
    for name, result in results.items():
        total.mutants += result.mutants
        total.killed += result.killed
        total.equivalent += result.equivalent
        total.flaky += result.flaky
        total.survivors += result.survivors
        lines.append(_line(name, result))
    return "\n".join([*lines, _line("all", total)])


def _line(name: str, it: Result) -> str:
    counts = f"{it.mutants:>8} {it.killed:>7} {it.equivalent:>11} {len(it.flaky):>6} {len(it.survivors):>8}"
    return f"{name:<26} {counts} {it.score:>7.1%}"


def show(results: dict[str, Result]) -> str:
    """Every survivor as the lines that differ."""
    shown = []
    for name, result in results.items():
        for mutant in result.survivors + result.flaky:
            flaky = ", on some seeds" if mutant in result.flaky else ""
            number = f" (number {mutant.number})" if mutant.number > 1 else ""
            shown.append(f"\n{name}{number}{flaky}\n- {mutant.before}\n+ {mutant.after}")
    return "\n".join(shown)


def as_json(results: dict[str, Result]) -> dict[str, Any]:
    def told(mutants: list[Mutant]) -> list[dict[str, Any]]:
        return [{"before": it.before, "after": it.after, "number": it.number} for it in mutants]

    return {
        name: {
            "mutants": it.mutants,
            "killed": it.killed,
            "equivalent": it.equivalent,
            "flaky": told(it.flaky),
            "survivors": told(it.survivors),
            "score": round(it.score, 4),
        }
        for name, it in results.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--questions", nargs="+", choices=list(all_questions()), metavar="QUESTION")
    which.add_argument("--assignment", choices=sorted({it.assignment for it in all_questions().values()}))
    parser.add_argument(
        "--seeds", type=int, default=3, metavar="N", help="seeds each mutant is checked on (3)"
    )
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes at once"
    )
    parser.add_argument("--show", action="store_true", help="print every survivor, before and after")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    args = parser.parse_args()

    import torch

    torch.set_num_threads(1)
    names = args.questions or [
        name for name, it in all_questions().items() if args.assignment in (None, it.assignment)
    ]
    answers = list(solutions(names))
    results, stale = score(answers, load_equivalent(), range(1, args.seeds + 1), args.workers)
    print(table(results))
    if args.show and (shown := show(results)):
        print(shown)
    for key in stale:
        print(f"stale in {EQUIVALENT.name}: no such survivor: {key}")
    if args.json:
        args.json.write_text(json.dumps(as_json(results), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
