"""Kernels forked from a template: quick, new every time, and replaced when something kills them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from grading.sandbox.detecting import detect
from grading.sandbox.isolation import SandboxUnavailable
from tests.small_notebooks import run

if sys.platform == "linux":  # elsewhere Python lacks what these are written with, fcntl and prctl among it
    import resource

    from grading.sandbox import templates

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked into Linux's namespaces"),
]

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def kernels_start_warm() -> None:
    """On Linux they must: were they skipped where they do not, a sandbox that broke would pass unseen."""
    assert detect().warm, detect().missing


@pytest.fixture
def warm() -> templates.Template:
    """This process's template, started before a test needs it."""
    return templates._own_template()


@pytest.fixture
def mortal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Templates for killing, which import nothing: only their kernels' first cells are slower."""
    templates.close_template()
    monkeypatch.setitem(templates.Template.__init__.__kwdefaults__, "preload", False)
    yield
    templates.close_template()


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[templates.Kernel]]:
    """The kernels that have ended, in order; they know what they have used."""
    kernels: list[templates.Kernel] = []
    close = templates.Kernel.close

    def noted(kernel: templates.Kernel) -> None:
        close(kernel)
        kernels.append(kernel)

    monkeypatch.setattr(templates.Kernel, "close", noted)
    yield kernels


def first_process(template: templates.Template) -> int:
    """The sandbox's first, which bubblewrap starts; the template's own is its child."""
    return _child_of(template.process.pid)


def own_process(template: templates.Template) -> int:
    return _child_of(first_process(template))


def _child_of(parent: int) -> int:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return next(int(pid) for pid, above in map(str.split, listed.splitlines()) if int(above) == parent)


def test_a_template_has_one_thread_when_it_forks(warm: templates.Template) -> None:
    assert warm.about["threads"] == 1


def test_a_warm_start_costs_a_fraction_of_the_imports(
    warm: templates.Template, ended: list[templates.Kernel]
) -> None:
    run("1")
    before = resource.getrusage(resource.RUSAGE_SELF)
    _, execution = run("1")
    after = resource.getrusage(resource.RUSAGE_SELF)
    supervising = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert execution.warm
    assert ended[-1].cpu_seconds > 0
    # Measured: 0.25 of 7 seconds.
    assert ended[-1].cpu_seconds + supervising < 0.15 * warm.about["cpu_seconds"]


@pytest.mark.usefixtures("warm")
def test_nothing_a_submission_leaves_behind_reaches_the_next() -> None:
    outputs, _ = run(
        """
        import builtins, os, signal, socket, subprocess, sys, tempfile, torch, checks
        torch.left_behind = builtins.left_behind = checks.left_behind = os.environ["LEFT"] = "here"
        for place in (tempfile.gettempdir(), "/scratch", "/scratch/home", "/dev/shm"):
            open(f"{place}/left_behind", "w").write("here")
        os.makedirs(".ipython/profile_default/startup", exist_ok=True)
        open(".ipython/profile_default/startup/00.py", "w").write("left_behind = 1")
        listening = socket.create_server(("127.0.0.1", 4711))
        hidden = socket.socket(socket.AF_UNIX); hidden.bind("\\0left_behind"); hidden.listen()
        if os.fork() == 0:
            os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN)
            import time; time.sleep(300)
        print("done")
        """
    )
    assert outputs == ["done\n"]
    outputs, execution = run(
        """
        import builtins, os, torch, checks
        print([hasattr(module, "left_behind") for module in (torch, builtins, checks)], "LEFT" in os.environ)
        """,
        """
        import tempfile
        places = (tempfile.gettempdir(), "/scratch", "/scratch/home", "/dev/shm")
        print([place for place in places if os.path.exists(place + "/left_behind")])
        """,
        "import socket; socket.create_connection(('127.0.0.1', 4711), timeout=5)",
        "socket.socket(socket.AF_UNIX).connect('\\0left_behind')",
        "print([pid for pid in os.listdir('/proc') if pid.isdigit()])",
        "left_behind",
    )
    assert execution.warm
    assert outputs[0] == "[False, False, False] False\n"
    assert outputs[1] == "[]\n"
    assert outputs[2].startswith("ConnectionRefusedError")
    assert outputs[3].startswith("ConnectionRefusedError")
    assert outputs[4] == "['1']\n"
    assert outputs[5].startswith("NameError")


def test_two_kernels_draw_different_random_numbers() -> None:
    source = (
        "import random, secrets, numpy; print(random.random(), numpy.random.random(), secrets.token_hex())"
    )
    (first,), _ = run(source)
    (second,), _ = run(source)
    assert not set(first.split()) & set(second.split())


def test_a_seed_is_known_to_its_own_kernel_alone(warm: templates.Template) -> None:
    (first,), _ = run("import os; print(os.environ['INSIDEBERT_SEED'])", seed=111_222_333)
    (second,), _ = run(
        "import os; print(os.environ['INSIDEBERT_SEED'], '111222333' in str(os.environ))", seed=2
    )
    assert (first, second) == ("111222333\n", "2 False\n")
    template = Path("/proc", str(own_process(warm)))
    for name in ("environ", "cmdline"):
        assert b"111222333" not in (template / name).read_bytes()


def test_a_kernel_can_neither_see_nor_signal_its_template(warm: templates.Template) -> None:
    outputs, _ = run(
        """
        import os, signal
        for pid in range(-1, 400):
            if pid not in (0, -1) and not os.path.exists(f"/proc/self/task/{pid}"):
                try:
                    os.kill(pid, signal.SIGKILL); print("killed", pid)
                except ProcessLookupError:
                    pass
        """,
        "os.kill(-1, signal.SIGKILL)",
        "print(os.getppid())",
    )
    assert outputs[0] == ""
    assert outputs[2] == "0\n"
    assert warm.alive
    assert templates._own_template() is warm


@pytest.mark.usefixtures("mortal")
def test_a_killed_template_is_replaced() -> None:
    killed = templates._own_template()
    os.kill(own_process(killed), signal.SIGKILL)
    killed.process.wait(20)
    outputs, execution = run("print('on')")
    assert outputs == ["on\n"]
    assert not execution.trouble
    assert templates._own_template() is not killed


@pytest.mark.usefixtures("mortal")
def test_a_submission_whose_sandbox_is_killed_is_run_again() -> None:
    def strike() -> None:
        time.sleep(3)
        os.kill(first_process(killed), signal.SIGKILL)

    killed = templates._own_template()
    striking = threading.Thread(target=strike)
    striking.start()
    outputs, execution = run("x = 20", "import time; time.sleep(6)", "print(x + 1)")
    striking.join()
    assert outputs == ["", "", "21\n"]
    assert not execution.trouble
    assert templates._own_template() is not killed


@pytest.mark.usefixtures("mortal")
def test_sandboxes_that_are_killed_every_time_are_a_trouble_and_no_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send = templates.Template.kernel

    def deadly(template: templates.Template, *args: Any, **more: Any) -> templates.Kernel:
        kernel = send(template, *args, **more)
        os.kill(first_process(template), signal.SIGKILL)
        return kernel

    monkeypatch.setattr(templates.Template, "kernel", deadly)
    outputs, execution = run("print('on')", "2")
    assert execution.trouble and execution.lost
    assert all(output.startswith("NotRun") for output in outputs)


def test_two_threads_share_a_template_and_nothing_else(warm: templates.Template) -> None:
    shown: dict[int, list[str]] = {}

    def one(number: int) -> None:
        source = (
            f"import time; open('file', 'a').write('{number}'); time.sleep(2); print(open('file').read())"
        )
        shown[number], _ = run(source)

    threads = [threading.Thread(target=one, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shown == {1: ["1\n"], 2: ["2\n"]}
    assert templates._own_template() is warm


def test_a_forked_process_leaves_its_parents_template_alone(warm: templates.Template) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if templates._own is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    _, execution = run("1")
    assert templates._own_template() is warm
    assert execution.warm


def test_forked_processes_use_a_shared_template_and_outlive_it(mortal: None) -> None:
    with templates.sharing():
        pass
    shared = templates._own_template()

    def forked() -> bool:
        """Whether a forked process gets two answers and its kernels from the shared template."""
        child = os.fork()
        if child == 0:
            try:
                same = all(run("6 * 7")[0] == ["42"] for _ in range(2)) and templates._own is shared
                templates.close_template()
                os._exit(0 if same else 1)
            finally:
                os._exit(2)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    assert forked() and forked()
    assert shared.alive and run("1")[0] == ["1"]  # closing it there did not end it here
    os.kill(own_process(shared), signal.SIGKILL)
    shared.process.wait(20)
    child = os.fork()
    if child == 0:
        try:
            answer, _ = run("6 * 7")
            own = templates._own
            templates.close_template()
            os._exit(0 if answer == ["42"] and own is not shared else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_template_ends_with_its_process_however_that_ends() -> None:
    program = dedent("""
        import os, signal
        from grading.sandbox.templates import Template
        template = Template(nested=True, preload=False).ready()
        print(template.process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    sandbox = Path("/proc", done.stdout.strip())
    deadline = time.monotonic() + 20
    while (
        (sandbox / "cmdline").exists() and (sandbox / "cmdline").read_bytes() and time.monotonic() < deadline
    ):
        time.sleep(0.1)
    assert not (sandbox / "cmdline").exists() or not (sandbox / "cmdline").read_bytes()


def test_a_template_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grading.sandbox.bubblewrap._START", "raise SystemExit('no torch here')")
    with pytest.raises(SandboxUnavailable, match="no torch here"):
        templates.Template(nested=True).ready()


def test_many_submissions_take_no_more_memory_than_a_few() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(8):
        run("print('x' * 100_000)")
    before = resident(), descriptors()
    for _ in range(32):
        run("print('x' * 100_000)")
    assert resident() - before[0] < 3 * 2**20
    assert descriptors() <= before[1]
