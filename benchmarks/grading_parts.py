"""Where the time of a grading run goes: CPU seconds of what starts once, CPU milliseconds of each submission.

    python -P benchmarks/grading_parts.py COURSE

(-P, or the script beside this one would be `grading`.) Grades all that has been submitted in a course, one after the
other. CPU time, user and system, is what a busy machine changes least; divided by the cores it is what a quiet one
takes. `benchmarks/grading.py` calls this for a class of its own and puts the result under "parts".

Start-up happens side by side: `insidebert grade` (command, supervisor) and the process that its workers are
forked from (workers) import beside the template, which takes longest; then the solution is proven.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from grading.startup import lighten

lighten()

import grading.run  # noqa: E402 - after what keeps it light, as in a run
import grading.worker  # noqa: E402
from grading.conversation import Conversation  # noqa: E402
from grading.course import Course  # noqa: E402
from grading.readiness import isolation_for  # noqa: E402
from grading.sandbox import templates  # noqa: E402
from grading.sandbox.isolation import Isolation  # noqa: E402
from grading.sandbox.limits import Limits  # noqa: E402

EMPTY_KERNELS = 5
_LIGHT = "from grading.startup import lighten; lighten(); "
_IMPORTS = {
    "command": "import sys; from insidebert.cli import _parser; _parser(['grade'])",
    "supervisor": _LIGHT + "import grading.course, grading.readiness, grading.run",
    "workers": _LIGHT + "import grading.worker; from checks.judges import judge_of; "
    "from checks.questions import all_questions; [judge_of(question) for question in all_questions().values()]",
}


class Shares:
    """The CPU seconds of this process by part; what a part calls of another one is the other's."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._running = ["rest"]
        self._since = time.process_time()

    def _switch(self) -> None:
        now = time.process_time()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def count(self, owner: Any, name: str, part: str) -> None:
        """From now on what `owner.name` takes is that part's."""
        whole: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **more: Any) -> Any:
            self._switch()
            self._running.append(part)
            try:
                return whole(*args, **more)
            finally:
                self._switch()
                self._running.pop()

        setattr(owner, name, counted)


class Inline:
    """A worker in this process, where its CPU time can be told apart."""

    def submit(self, function: Callable[..., Any], *args: Any) -> Future:
        future: Future = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def renew(self) -> None:
        """There is nothing that died."""


def startup(proof: float) -> dict[str, float]:
    """CPU seconds of everything that happens once a run."""
    took = {name: _of_children(["-c", program]) for name, program in _IMPORTS.items()}
    took |= {"template": templates._own_template().about["cpu_seconds"], "proof": proof}
    return {name: round(seconds, 2) for name, seconds in took.items()}


def _of_children(words: list[str]) -> float:
    """The CPU seconds of a new Python."""
    before = os.times()
    subprocess.run([sys.executable, *words], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def kernels_closed() -> list[float]:
    """A list that gets the CPU seconds of every kernel from now on, its guard's and children's included."""
    closed: list[float] = []
    close = templates.Kernel.close

    def noted(kernel: templates.Kernel) -> None:
        close(kernel)
        closed.append(kernel.cpu_seconds)

    setattr(templates.Kernel, "close", noted)  # noqa: B010
    return closed


def of_an_empty_kernel(isolation: Isolation, closed: list[float]) -> float:
    """CPU seconds that a kernel takes to start and to end, when it runs nothing."""
    for _ in range(EMPTY_KERNELS):
        with Conversation.open(isolation, Limits(), {}):
            pass
    return sum(sorted(closed[-EMPTY_KERNELS:])[1:-1]) / (EMPTY_KERNELS - 2)


def parts(root: Path) -> dict[str, dict[str, float]]:
    """Grade what has been submitted in a course, in this process."""
    isolation = isolation_for("sandbox")
    closed = kernels_closed()
    empty = of_an_empty_kernel(isolation, closed)
    shares, proof = Shares(), time.process_time()
    for owner, name, part in (
        (grading.run.Submission, "load", "intake"),
        (grading.worker, "take_in", "intake"),
        (grading.worker, "execute", "conversation"),
        (grading.worker, "judge_and_keep", "judge"),
        (grading.worker, "_text", "rendering"),
        (grading.run.Writer, "write", "gradebook"),
        (grading.run.Run, "_store", "files"),
        (grading.run.Journal, "write", "files"),
    ):
        shares.count(owner, name, part)
    real_prove = grading.run.prove

    def prove(*args: Any) -> None:
        nonlocal proof
        proof, kernels = time.process_time(), len(closed)
        real_prove(*args)
        proof = time.process_time() - proof + sum(closed[kernels:])
        shares.seconds.clear()
        closed.clear()

    setattr(grading.run, "prove", prove)  # noqa: B010
    with grading.run.Run(Course.open(root), [Inline()], isolation) as run:
        graded = run.grade().graded
    each = {"kernel": empty, "cells": sum(closed) / graded - empty}
    each |= {part: seconds / graded for part, seconds in sorted(shares.seconds.items())}
    each["in all"] = sum(each.values())
    return {
        "startup_cpu_s": startup(proof),
        "submission_cpu_ms": {part: round(1000 * seconds, 1) for part, seconds in each.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("course", type=Path, help="with submissions that have not been graded")
    print(json.dumps(parts(parser.parse_args().course)))


if __name__ == "__main__":
    main()
