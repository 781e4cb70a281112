"""The guard of a kernel: nothing hides from it, and nothing outlives it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from grading.conversation import Conversation
from grading.sandbox.detecting import detect
from grading.sandbox.isolation import KernelLost
from grading.sandbox.limits import Limits
from tests.small_notebooks import run

if sys.platform == "linux":
    from grading.sandbox import templates
    from grading.sandbox.inside import guard, usage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="guards watch Linux's namespaces"),
]

MiB = 2**20

# How a process holds 300 MiB and looks as if it held none.
HIDING = {
    "a name that is no text": r"libc.prctl(15, b'\xff\xfe) R 1 \n', 0, 0, 0); hold()",
    "unreadable": "libc.prctl(4, 0, 0, 0, 0); hold()",
    "its first thread ends": "threading.Thread(target=hold).start(); libc.syscall(60 if x86 else 93, 0)",
    "out of the session": "os.setsid(); hold()",
    "its parent ends": "os.fork() and os._exit(0); hold()",
}


@pytest.mark.parametrize("hide", HIDING.values(), ids=HIDING)
def test_no_process_hides_its_memory(hide: str) -> None:
    outputs, execution = run(
        f"""
        import ctypes, os, threading, time
        libc, x86 = ctypes.CDLL(None), os.uname().machine == "x86_64"
        def hold():
            mine = bytearray(b"x") * (300 * 2**20)
            time.sleep(60)
        for _ in range(4):
            if os.fork() == 0:
                {hide}
                os._exit(0)
        time.sleep(60)
        """,
        "print('still here')",
        memory_bytes=900 * MiB,
    )
    assert "DeadKernelError" in outputs[0]
    assert "memory" in outputs[0]
    assert outputs[1] == "still here\n"
    assert not execution.trouble


def test_a_kernels_own_name_may_be_anything() -> None:
    outputs, execution = run(
        r"import ctypes, time; ctypes.CDLL(None).prctl(15, b'\xff) \n', 0, 0, 0); time.sleep(1); print('on')"
    )
    assert outputs == ["on\n"]
    assert not execution.trouble


def test_what_a_process_uses_is_read_whatever_it_calls_itself() -> None:
    program = r"""
        import ctypes
        ctypes.CDLL(None).prctl(15, b'\xff) R 1\n( ', 0, 0, 0)
        mine = bytearray(b'x') * (50 * 2**20)
        print(flush=True); input()
    """
    with subprocess.Popen(
        [sys.executable, "-c", dedent(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        mine = usage.descendants(os.getpid(), usage.processes())
        (found,) = [process for process in mine if process.pid == child.pid]
        assert found.parent == os.getpid() and found.threads == 1
        assert 50 * MiB < usage.memory([found], enough=0) < 90 * MiB
        assert 50 * MiB < usage.memory([found], enough=2**40) < 90 * MiB
        child.kill()
    assert usage.memory([found], enough=0) == 0  # what has ended uses nothing


def test_nothing_outlives_a_guard_that_is_killed() -> None:
    """The submission has told Linux not to end it with its guard, and the template goes on."""
    name = f"outlives-{os.getpid()}-{time.monotonic_ns()}"
    template = templates._own_template()
    kernel = template.kernel(Limits(), {})
    talk = Conversation(kernel, Limits(), warm=True)
    talk._greet()
    reply = talk.run(
        dedent(f"""
            import ctypes, subprocess, sys
            ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
            words = [sys.executable, '-c', 'import time; time.sleep(500)', {name!r}]
            _ = subprocess.Popen(words, start_new_session=True)
        """),
        60,
    )
    assert reply.outputs == [] and named(name)
    os.kill(usage.processes()[kernel.pid()].parent, signal.SIGKILL)
    with pytest.raises(KernelLost):
        kernel.why_ended(20)
    assert named(name)
    talk._context.destroy(linger=0)
    kernel.close()
    assert not named(name)
    assert template.alive


def named(name: str) -> list[int]:
    """The processes whose command line holds this word."""
    found = []
    for pid in usage.processes():
        with contextlib.suppress(OSError):
            if name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def test_a_guard_that_fails_takes_its_kernel_along(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "whatever comes")

    monkeypatch.setattr(guard, "_become_kernel", lambda *_: time.sleep(500))
    monkeypatch.setattr(usage, "processes", fail)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if (child := os.fork()) == 0:
        ours.close()
        try:
            guard.guard({"limits": {"processes": 1, "memory_bytes": 1}}, theirs, [], nested=False)
        finally:
            os._exit(3)
    theirs.close()
    message, (kernel,), _, _ = socket.recv_fds(ours, 1000, 1)
    assert json.loads(message) == {"started": True}
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    assert select.select([kernel], [], [], 0)[0], "the kernel goes on without a guard"
    assert ours.recv(1000) == b"", "it says nothing, so that the kernel counts as lost"
    os.close(kernel)
    ours.close()


def test_guards_and_kernels_lead_sessions_of_their_own() -> None:
    with templates.kernel(detect(), Limits(), {}) as (kernel, _):
        assert not kernel.why_ended(2)
        everything = {process.pid: process for process in usage.processes().values()}
        watcher = everything[kernel.pid()].parent
        sessions = {
            os.getsid(pid) for pid in (os.getpid(), everything[watcher].parent, watcher, kernel.pid())
        }
        groups = {os.getpgid(pid) for pid in (os.getpid(), everything[watcher].parent, watcher, kernel.pid())}
        assert len(sessions) == len(groups) == 4
