"""The sentence behind a finding's id, for those who have only the id: a report names findings and no more.

A finding is written down in a judge as `Finding("id", "cause", …)`, `Mistake("id", "cause", …)`, or as such a pair in a
table of them. It is read from there, so that no second list of sentences has to be kept in step with the judges. What
a judge puts into a sentence as it judges, a count or a name, stands as "…".
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from pathlib import Path

_ID = re.compile(r"[a-z][a-z0-9_]+\*?[a-z0-9_]*")
# Where the sentence is made of the inputs, or would only say how many of them failed.
_GENERAL = {
    "unexpected_value": "Wrong, in no way that has a name yet.",
    "wrong_type": "The answer is of another kind than was asked for.",
    "accepts_impossible_input": "An input that must be refused with `ValueError` was accepted.",
}
_UNSAID = ("The answer must be ….",)
_ANYWHERE = ("checks.judges.comparing", "checks.judges.statistics", "grading.judging")


def cause_of(assignment: str, question: str, finding: str) -> str:
    """What a learner with that finding was told; the id in words where no judge of the assignment says it."""
    own, *others = _modules(assignment, question)
    for causes in (_causes_in(own), _GENERAL, *map(_causes_in, others)):
        for known, sentence in causes.items():
            if fnmatchcase(finding, known) and sentence not in _UNSAID:
                return sentence
    return finding.replace("_", " ").capitalize() + "."


@cache
def _modules(assignment: str, question: str) -> tuple[str, ...]:
    """Where to look: the question's own judge, what all judges share, the assignment's other judges."""
    package = f"checks.judges.{assignment}"
    try:
        spec = importlib.util.find_spec(package)
        own = getattr(importlib.import_module(package).JUDGES[question], "__module__", package)
    except (
        ImportError,
        LookupError,
        AttributeError,
        ValueError,
    ):  # a report of another course, or an older one
        return (package, *_ANYWHERE)
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    others = sorted(f"{package}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__")
    return tuple(dict.fromkeys((own, *_ANYWHERE, *others)))


@cache
def _causes_in(module: str) -> Mapping[str, str]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return {}
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    names = _Names(tree)
    causes: dict[str, str] = {}
    for finding, cause in _pairs(tree):
        sentence = names.sentence(cause)
        if " " in sentence:
            causes.setdefault(finding, sentence)
    return causes


def _pairs(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Neighbours in a call, a tuple or a dict of which the first is an id, or a pattern of ids with `*` in it."""
    for node in ast.walk(tree):
        rows: list[list[ast.expr]] = []
        if isinstance(node, ast.Call):
            rows = [node.args]
        elif isinstance(node, ast.Tuple):
            rows = [node.elts]
        elif isinstance(node, ast.Dict):
            rows = [
                [key, value] for key, value in zip(node.keys, node.values, strict=True) if key is not None
            ]
        for row in rows:
            for first, second in pairwise(row):
                finding = _text(first, unknown="*")
                if _ID.fullmatch(finding):
                    yield finding, second


def _text(node: ast.expr, unknown: str) -> str:
    """A string as it is written, with `unknown` where an f-string puts something in; "" for what is no string."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part, unknown) if isinstance(part, ast.Constant) else unknown for part in node.values
        )
    return ""


class _Names:
    """What a module's names stand for where they are used: the assignment last before."""

    def __init__(self, tree: ast.AST):
        self._assigned: dict[str, list[tuple[int, ast.expr]]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._assigned.setdefault(node.targets[0].id, []).append((node.lineno, node.value))

    def sentence(self, node: ast.expr, depth: int = 0) -> str:
        """The text an expression gives; "" where it is none that can be read off."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else ""
        if isinstance(node, ast.JoinedStr):
            return "".join(
                self.sentence(part) if isinstance(part, ast.Constant) else "…" for part in node.values
            )
        if isinstance(node, ast.BinOp):
            return self.sentence(node.left, depth) + self.sentence(node.right, depth)
        if isinstance(node, ast.IfExp):
            return self.sentence(node.body, depth)
        if isinstance(node, ast.Name) and depth < 3:
            assigned = self._assigned.get(node.id, [])
            before = [pair for pair in assigned if pair[0] <= node.lineno]
            chosen = max(before, default=None, key=lambda pair: pair[0]) or next(iter(assigned), None)
            return self.sentence(chosen[1], depth + 1) if chosen else ""
        return _text(node, unknown="…")
