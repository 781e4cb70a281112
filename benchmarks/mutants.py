"""Small changes of a Python function, one at a time: what a slip of the hand makes of a right answer.

The source is parsed, one node is changed, and it is written back (`ast.unparse`: no comments, one layout), so that a
change is told by the lines before and after it and not by their numbers.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from mutation_operators import OPERATORS, Change, places, replaced


@dataclass(frozen=True)
class Mutant:
    """A changed answer: its whole source, and the lines that differ (without their indentation).

    Where lines occur several times in an answer, `number` counts the mutants that read the same.
    """

    source: str
    before: str
    after: str
    number: int = 1


def mutants_of(source: str) -> list[Mutant]:
    """Every small change of the definitions in `source`, each once, in the order of the text."""
    tree = ast.parse(source)
    original = ast.unparse(tree)
    found: dict[str, Mutant] = {}
    alike: Counter[tuple[str, str]] = Counter()
    for place, node in places(tree, ()):
        for change in _changes(node):
            text = ast.unparse(ast.fix_missing_locations(replaced(tree, place, change)))
            if text != original and text not in found and _compiles(text):
                lines = _difference(original, text)
                alike[lines] += 1
                found[text] = Mutant(text, *lines, alike[lines])
    return list(found.values())


def _changes(node: ast.AST) -> Iterator[Change]:
    for kind, operators in OPERATORS.items():
        if isinstance(node, kind):
            for operator in operators:
                yield from operator(node)


def _compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _difference(original: str, text: str) -> tuple[str, str]:
    """The lines that differ; of lines that were added, the one before them too."""
    before, after = original.splitlines(), text.splitlines()
    front = _alike(before, after)
    behind = _alike(before[front:][::-1], after[front:][::-1])
    if front + behind == len(before):
        front -= 1
    return _on_one_line(before[front : len(before) - behind]), _on_one_line(
        after[front : len(after) - behind]
    )


def _on_one_line(lines: list[str]) -> str:
    return "; ".join(line.strip() for line in lines)


def _alike(lines: list[str], others: list[str]) -> int:
    """How many lines are equal, counted from the front."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, others, strict=False)))
