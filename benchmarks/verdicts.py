"""Does a verdict depend on the draw? Every known answer through its check, under many seeds.

    python -m benchmarks.verdicts --seeds 40 --assignment input_representation
    python -m benchmarks.verdicts --seeds 40 --answers my_answers.py

An answer's verdict is its state and the names of its findings. Without FILE the answers are those of the tests; a
FILE is a module with `RIGHT` and `WRONG`, lists of (question, what it is, answer), and the verdict of each is
printed. Exit status 1 where a verdict changes with the seed, a wrong answer passes or a right one does not.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from checks.evidence import evidence_from_json
from checks.judges import judge
from checks.probing import run_probe
from checks.questions import all_questions, find

GENERIC = {"unexpected_value", "wrong_type", "wrong_shape", "raises"}


class Answer(NamedTuple):
    question: str
    note: str
    function: Any
    is_right: bool


def verdict_of(answer: Answer, seed: int) -> str:
    question = find(answer.question)
    cases = question.cases(seed)
    evidence = run_probe(question, answer.function, cases, quiet=True)
    verdict = judge(question, cases, evidence_from_json(evidence, question=question.name, cases=len(cases)))
    return " ".join([verdict.state, *(finding.id for finding in verdict.findings)])


def known_answers(assignment: str) -> Iterator[Answer]:
    """Those of `tests/answers`."""
    module = importlib.import_module(f"tests.answers.{assignment}")
    for question, styles in module.RIGHT.items():
        for function in styles:
            yield Answer(question, getattr(function, "__name__", ""), function, True)
    for question, mutants in module.MUTANTS.items():
        for finding, function in mutants:
            yield Answer(question, finding, function, False)


def answers_in(path: Path) -> Iterator[Answer]:
    """Those of a file."""
    module = runpy.run_path(str(path))
    for name in ("RIGHT", "WRONG"):
        for question, note, function in module[name]:
            yield Answer(question, note, function, name == "RIGHT")


def verdicts(sources: Callable[[], list[Answer]], seeds: int) -> list[tuple[Answer, Counter[str]]]:
    """How often each answer got which verdict. Answers are loaded anew for each seed: some keep what they saw."""
    found = [(answer, Counter[str]()) for answer in sources()]
    for seed in range(seeds):
        for answer, (_, counts) in zip(sources(), found, strict=True):
            counts[verdict_of(answer, seed)] += 1
    return found


def is_as_it_should_be(answer: Answer, counts: Counter[str]) -> bool:
    return len(counts) == 1 and (next(iter(counts)) == "correct") == answer.is_right


def has_a_name(counts: Counter[str]) -> bool:
    return not GENERIC & set(" ".join(counts).split())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--assignment", action="append", help="of which to take the answers; default: all")
    parser.add_argument("--answers", type=Path, nargs="+", help="files with RIGHT and WRONG", metavar="FILE")
    parser.add_argument("--question", help="only this one")
    options = parser.parse_args()
    assignments = options.assignment or sorted({it.assignment for it in all_questions().values()})

    def sources() -> list[Answer]:
        files = (answer for path in options.answers or () for answer in answers_in(path))
        known = (answer for name in assignments for answer in known_answers(name))
        answers = files if options.answers else known
        return [answer for answer in answers if options.question in (None, answer.question)]

    found = verdicts(sources, options.seeds)
    for answer, counts in found:
        good = is_as_it_should_be(answer, counts)
        if options.answers or not good:
            shown = "; ".join(f"{count}x {verdict}" for verdict, count in counts.most_common())
            print(f"{'    ' if good else 'LOOK'} {answer.question:20} {answer.note[:70]:70} {shown}")
    wrong = [counts for answer, counts in found if not answer.is_right]
    named = sum(map(has_a_name, wrong))
    print(
        f"{len(found)} answers, {options.seeds} seeds: {len(wrong)} wrong, {named} with a name of their own"
    )
    return 0 if all(is_as_it_should_be(*pair) for pair in found) else 1


if __name__ == "__main__":
    sys.exit(main())
