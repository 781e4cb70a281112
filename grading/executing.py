"""Runs a notebook's cells in a sandboxed kernel and writes down what they showed.

The other side of the conversation is a process that ran somebody else's code: it may say anything, at any length,
or nothing. Whatever it does becomes an output of a cell; this process's time and memory are bounded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.utils import is_grade, is_locked

from checks import SEED_VARIABLE
from grading.conversation import Conversation, Ended, Reply
from grading.sandbox.detecting import detect
from grading.sandbox.isolation import Isolation, KernelLost, SandboxUnavailable
from grading.sandbox.limits import Limits

__all__ = ["Execution", "Isolation", "Limits", "SandboxUnavailable", "execute"]

_ATTEMPTS = 2  # a kernel that is lost through no fault of the submission's is replaced once
_NEW_STARTS = 5  # how many cells may end their kernel before the rest is not run


@dataclass(frozen=True)
class Execution:
    """How a notebook was run.

    Attributes:
        seconds: from the request for a kernel to its end.
        warm: the kernel came from a template that had served before.
        isolation: its name, see `Isolation`.
        trouble: what went wrong with the run as a whole, one sentence; empty when nothing did.
        lost: kernels were lost through no fault of the submission's, so that this run says nothing about it.
    """

    seconds: float
    warm: bool
    isolation: str
    trouble: str = ""
    lost: bool = False


def execute(
    notebook: NotebookNode, seed: int, limits: Limits | None = None, isolation: Isolation | None = None
) -> Execution:
    """Run every code cell of `notebook`, in order and in place, with checks that only probe.

    An error ends its cell and not the notebook. A cell that ends the kernel or does not end itself is given an
    error; the cells before it are run once more in a new kernel, and those after it follow, so that one answer
    never costs another its points.

    Args:
        seed: handed to this kernel alone; the judge draws the same inputs from it.
        isolation: what `detect()` finds unless said; `isolation.NONE` runs with the rights of whoever grades.

    Raises:
        SandboxUnavailable: there is no sandbox on this machine. Nothing has run.
    """
    isolation = detect() if isolation is None else isolation
    if not isolation.name:
        raise SandboxUnavailable(
            f"submissions cannot be kept apart from this machine: {isolation.missing}. "
            "`--isolation none` grades without a sandbox, with your own rights."
        )
    begin = time.monotonic()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    run = _Run(notebook, seed, limits or Limits(), isolation)
    lost = False
    for attempt in range(_ATTEMPTS):
        try:
            run.all_cells()
            break
        except KernelLost as error:
            lost = attempt == _ATTEMPTS - 1
            if lost:
                run.give_up(f"The kernel was lost {_ATTEMPTS} times ({error}).")
    return Execution(round(time.monotonic() - begin, 3), run.warm, isolation.name, run.trouble, lost)


@dataclass
class _Run:
    """One submission on its way through one kernel, or several."""

    notebook: NotebookNode
    seed: int
    limits: Limits
    isolation: Isolation
    trouble: str = ""
    warm: bool = False
    began: float = 0.0  # when its first kernel answered
    waited: float = 0.0  # seconds that its cells could have run and others had the cores
    fatal: set[int] = field(default_factory=set)  # cells that are not to be run again
    done: set[int] = field(default_factory=set)  # cells whose outputs stand

    def all_cells(self) -> None:
        """Until every cell has its outputs; a new kernel for each cell that ended the last one."""
        while todo := [index for index, _ in self._code_cells() if index not in self.done]:
            if len(self.fatal) > _NEW_STARTS:
                return self.give_up(f"{len(self.fatal)} cells ended the kernel; the rest was not run.")
            with Conversation.open(self.isolation, self.limits, {SEED_VARIABLE: str(self.seed)}) as kernel:
                self.warm = kernel.warm
                self.began = self.began or time.monotonic()
                self._through(kernel, last=todo[-1])
        return None

    def _through(self, kernel: Conversation, last: int) -> None:
        """The cells up to `last`, until one ends the kernel."""
        for index, cell in self._code_cells():
            if index in self.fatal or index > last:
                continue
            seconds = min(self._seconds(cell), self._left())
            if seconds <= 0:
                return self.give_up(f"The notebook ran longer than {self.limits.total_seconds:g} s in all.")
            reply = kernel.run(cell.source, seconds, graded=is_grade(cell))
            self.waited += reply.waited
            self._write(index, cell, reply)
            if reply.ended:
                self.fatal.add(index)
                return None
        return None

    def _write(self, index: int, cell: NotebookNode, reply: Reply) -> None:
        """The outputs of a cell's first run stand; a later one only made its names again."""
        if index in self.done:
            return
        self.done.add(index)
        cell.outputs = reply.outputs
        cell.execution_count = len(self.done)
        cell.metadata["execution"] = reply.times
        if reply.ended:
            cell.outputs.append(_error(reply.ended))

    def give_up(self, trouble: str) -> None:
        """Say in every cell that has not run why it has not."""
        self.trouble = trouble
        kind = "NotebookTimeoutError" if "longer than" in trouble else "NotRun"
        for index, cell in self._code_cells():
            if index not in self.done:
                self.done.add(index)
                cell.outputs = [_error(Ended(kind, trouble))]

    def _code_cells(self) -> Iterator[tuple[int, NotebookNode]]:
        for index, cell in enumerate(self.notebook.cells):
            if cell.cell_type == "code" and cell.source.strip():
                yield index, cell

    def _left(self) -> float:
        """Seconds for all that is still to come; see `Limits.patience`."""
        passed = time.monotonic() - self.began
        return min(self.limits.total_seconds + self.waited, self.limits.longest_seconds) - passed

    def _seconds(self, cell: NotebookNode) -> float:
        """Our own set-up cell imports torch and may take its time on a busy machine; what follows may not."""
        ours = is_locked(cell) and not is_grade(cell)
        return self.limits.cell_seconds * (self.limits.setup_factor if ours else 1)


def _error(ended: Ended) -> NotebookNode:
    line = f"{ended.kind}: {ended.text}"
    return new_output("error", ename=ended.kind, evalue=ended.text, traceback=[line])
