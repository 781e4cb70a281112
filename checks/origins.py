"""Where an answer comes from: whether it does the work itself, and whether it is the version last typed.

An answer that only calls the course's own function of that job is no answer, though its values are right. It is
noticed while the smallest case is asked: what is called from the learner's own code, and into which module.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import itertools
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

_OURS = ("insidebert.", "checks.judges.")
_LONG_ENOUGH = 20_000  # calls from the learner's code that are looked at


@contextmanager
def watching(answer: Any, is_learners: Callable[[str], bool]) -> Iterator[list[str]]:
    """Names the course's own functions that an answer is, or calls, while the block runs.

    Args:
        is_learners: from a file's name, whether its code is the learner's.

    The list is filled during the block: "insidebert.masking.mask_tokens".
    """
    called = [name for name in _names_of(answer) if name.startswith(_OURS)]
    seen, own = itertools.count(), functools.cache(is_learners)

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not frame.f_back or not own(frame.f_back.f_code.co_filename):
            return
        name = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}"
        if name.startswith(_OURS):
            called.append(name)
        if called or next(seen) > _LONG_ENOUGH:
            sys.setprofile(before)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield called
    finally:
        sys.setprofile(before)


def _names_of(answer: Any) -> list[str]:
    """The dotted name of a function, of a class and those it inherits from, or of what a `partial` calls."""
    try:
        answer = getattr(answer, "func", answer)
        named = inspect.getmro(answer) if inspect.isclass(answer) else (inspect.unwrap(answer),)
        return [f"{getattr(it, '__module__', '')}.{getattr(it, '__qualname__', '')}" for it in named]
    except Exception:  # an object whose attributes raise, or have no end
        return []


def cell_that_did_not_run(name: str, answer: Any, cells: list[str]) -> str:
    """Why the last cell that was to define an answer did not; "" where the answer is the version last typed.

    Args:
        name: the answer's, as the cells define it.
        cells: what was run in this session, oldest first (IPython's `In`).

    An answer that a cell failed to define leaves the one before in place, and its verdict would be about that.
    """
    defining = [cell.strip() for cell in cells if _defines(cell, name)]
    code = _code_of(answer)
    source = "".join(linecache.getlines(code.co_filename)).strip() if code else ""
    # Only of a version that such a cell has left is it sure: `name = lambda …` defines one, too.
    if source not in defining or source == defining[-1]:
        return ""
    last = defining[-1]
    with contextlib.suppress(ValueError):  # a null byte, which no cell runs with
        try:
            ast.parse(last)
        except SyntaxError as error:
            return f"{type(error).__name__}: {error.msg}, line {error.lineno}"
    return ""


def _defines(cell: str, name: str) -> bool:
    return re.search(rf"^(def|class)\s+{re.escape(name)}\b", cell, re.MULTILINE) is not None


def _code_of(answer: Any) -> CodeType | None:
    try:
        if inspect.isclass(answer):
            methods = (inspect.unwrap(part) for part in vars(answer).values() if inspect.isfunction(part))
            return next((method.__code__ for method in methods), None)
        code = getattr(inspect.unwrap(answer), "__code__", None)
    except Exception:  # an object whose attributes raise, or have no end
        return None
    return code if isinstance(code, CodeType) else None
