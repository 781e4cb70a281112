"""The question half of `checks`: inputs and probes. Nothing here knows an answer.

An assignment is a package with the path of its `LESSON` and the `NAMES` of its questions in their order; a question
is a module of that name with its `SIGNATURE`, the `SECTION` of the lesson that explains it, `inputs` and `probe`.
What several assignments share stands beside the packages.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from checks.protocol import Question


@cache
def all_questions() -> dict[str, Question]:
    """Every graded question by name, in the order of the assignments. The modules import torch only when used."""
    rooms = [info.name for info in pkgutil.iter_modules(__path__) if info.ispkg]
    found = [question for room in rooms for question in _questions_of(room)]
    return {question.name: question for question in found}


def _questions_of(assignment: str) -> list[Question]:
    room = importlib.import_module(f"{__name__}.{assignment}")
    modules = [(name, importlib.import_module(f"{room.__name__}.{name}")) for name in room.NAMES]
    return [
        Question(name, assignment, it.SIGNATURE, room.LESSON, it.SECTION, it.inputs, it.probe)
        for name, it in modules
    ]


def find(name: str) -> Question:
    """The question of that name.

    Raises:
        LookupError: there is no such question; the message lists the near ones.
    """
    import difflib

    questions = all_questions()
    if isinstance(name, str) and name in questions:
        return questions[name]
    near = difflib.get_close_matches(str(name), questions, n=3, cutoff=0.0)
    raise LookupError(f"There is no question {name!r}. Did you mean: {', '.join(near)}?")
