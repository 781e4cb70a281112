"""One submission gets about one core, and nobody's limits run while others have it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from grading.conversation import Conversation, Reply, _Allowance
from grading.sandbox.limits import Limits
from tests.small_notebooks import PATIENT

if sys.platform == "linux":
    from grading.sandbox import templates
    from grading.sandbox.inside import usage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="cores are shared by Linux's means"),
]


@contextmanager
def open_kernel(limits: Limits) -> Iterator[tuple[templates.Kernel, Conversation]]:
    kernel = templates._own_template().kernel(limits, {})
    talk = Conversation(kernel, limits, warm=True)
    try:
        talk._greet()
        yield kernel, talk
    finally:
        talk._context.destroy(linger=0)
        kernel.close()


def run(talk: Conversation, source: str, seconds: float = 60) -> Reply:
    return talk.run(dedent(source), seconds)


def started_by(kernel: templates.Kernel) -> list[int]:
    return [process.pid for process in usage.descendants(kernel.pid(), usage.processes())]


def cores_and_nice(pids: list[int]) -> set[tuple[int, int]]:
    found = set()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            found.add((len(os.sched_getaffinity(pid)), os.getpriority(os.PRIO_PROCESS, pid)))
    return found


MANY = """
    import os, time
    for _ in range(40):
        if os.fork() == 0:
            os.setsid()
            while True: pass
"""


def test_forty_busy_processes_weigh_as_much_as_one_on_one_core() -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores: on a machine of one, being held to one core is not to be seen")
    with open_kernel(Limits(**PATIENT)) as (kernel, talk):
        run(talk, "x = 1")
        assert all(cores > 1 and nice == os.nice(0) for cores, nice in cores_and_nice(started_by(kernel)))
        run(talk, MANY)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not held(cores_and_nice(started_by(kernel))):
            time.sleep(0.2)
        assert len(started_by(kernel)) == 41
        assert held(cores_and_nice(started_by(kernel)))
        undone = run(talk, "os.nice(-5)"), run(talk, "os.sched_setaffinity(0, range(os.cpu_count()))")
        assert [reply.outputs[0].ename for reply in undone] == ["PermissionError", "PermissionError"]


def held(found: set[tuple[int, int]]) -> bool:
    return all(cores == 1 and nice >= 15 for cores, nice in found)


def test_who_uses_one_core_is_left_alone() -> None:
    with open_kernel(Limits(**PATIENT)) as (kernel, talk):
        run(talk, "import time; end = time.monotonic() + 4\nwhile time.monotonic() < end: pass")
        assert cores_and_nice([kernel.pid()]) == {(len(os.sched_getaffinity(0)), os.nice(0))}


@contextmanager
def crowded(core: int) -> Iterator[None]:
    """Three processes that never rest, on one core."""
    program = f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    busy = [subprocess.Popen([sys.executable, "-S", "-c", program]) for _ in range(3)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


BURN = "import time; begin = time.process_time()\nwhile time.process_time() < begin + 2: pass\nprint('done')"


@pytest.mark.parametrize(("patience", "shown"), [(100, "done\n"), (1, "CellTimeoutError")])
def test_time_in_which_others_have_the_core_is_not_counted(patience: float, shown: str) -> None:
    """Two seconds of work, a limit of three, and a core that others want too."""
    core = max(os.sched_getaffinity(0))
    with open_kernel(Limits(**PATIENT | {"patience": patience})) as (kernel, talk), crowded(core):
        for thread in Path(f"/proc/{kernel.pid()}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {core})
        reply = run(talk, BURN, seconds=3)
    last = reply.outputs[-1]
    assert shown in (last.get("text"), last.get("ename"))
    assert reply.waited > 1


def test_a_sleeping_cell_is_held_to_the_clock() -> None:
    with open_kernel(Limits(**PATIENT | {"patience": 100})) as (_, talk):
        begin = time.monotonic()
        reply = run(talk, "import time; time.sleep(60)", seconds=2)
    assert reply.outputs[-1].ename == "CellTimeoutError"
    assert time.monotonic() - begin < 40


def test_patience_has_an_end() -> None:
    class Starved:
        waits = 0.0

        def waited(self) -> float:
            return self.waits

    process = Starved()
    allowance = _Allowance(process, 10, Limits(patience=3))
    begin = allowance.deadline() - 10
    process.waits = 5
    assert allowance.deadline() == pytest.approx(begin + 15)
    process.waits = 500
    assert allowance.deadline() == pytest.approx(begin + 30)
    assert Limits(total_seconds=20, patience=3).longest_seconds == 60
