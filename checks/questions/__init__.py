"""The question half of `checks`: inputs and probes, one module an assignment. Nothing here knows an answer."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from checks.protocol import Question


@cache
def all_questions() -> dict[str, Question]:
    """Every graded question by name, in the order of the assignments. The modules import torch only when used."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return {question.name: question for module in modules for question in getattr(module, "QUESTIONS", ())}


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
