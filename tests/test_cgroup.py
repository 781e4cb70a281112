"""The cgroup of a kernel, with files in place of Linux's: what is made of a delegated one, and when none is.

What Linux then does with these numbers is not tested: few machines that run tests have a cgroup to give away.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grading.sandbox import cgroup
from grading.sandbox.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cgroups are Linux's")


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a cgroup which systemd has delegated, with two processes in it."""
    own = tmp_path / "mounted" / "user.slice" / "run-1.scope"
    own.mkdir(parents=True)
    own.joinpath("cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    own.joinpath("cgroup.subtree_control").write_text("")
    own.joinpath("cgroup.procs").write_text("101\n102\n")
    tmp_path.joinpath("cgroup").write_text("9:name=systemd:/\n0::/user.slice/run-1.scope\n")
    monkeypatch.setattr(cgroup, "_MOUNTED", tmp_path / "mounted")
    monkeypatch.setattr(cgroup, "_OURS", tmp_path / "cgroup")
    monkeypatch.setattr(
        os, "getxattr", lambda path, name: {(own, "user.delegate"): b"1"}.get((path, name), b"")
    )
    cgroup.delegated.cache_clear()
    yield own
    cgroup.delegated.cache_clear()


def test_a_delegated_cgroup_is_made_ready(given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, str, str]] = []
    monkeypatch.setattr(
        cgroup, "_write", lambda folder, name, value: written.append((folder.name, name, value))
    )
    assert cgroup.delegated() == given
    moved = [("insidebert-supervisors", "cgroup.procs", pid) for pid in ("101", "102")]
    enabled = [("run-1.scope", "cgroup.subtree_control", name) for name in ("+cpu", "+memory", "+pids")]
    assert written == moved + enabled, "first no process is left in it, then it is divided"


def test_a_worker_that_was_moved_finds_the_same(given: Path, tmp_path: Path) -> None:
    tmp_path.joinpath("cgroup").write_text("0::/user.slice/run-1.scope/insidebert-supervisors\n")
    assert cgroup.delegated() == given


@pytest.mark.parametrize("lacking", ["mark", "controller", "version", "permission"])
def test_nothing_is_touched_where_none_was_given(
    given: Path, lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacking == "mark":
        monkeypatch.setattr(os, "getxattr", lambda *_: b"")
    elif lacking == "controller":
        given.joinpath("cgroup.controllers").write_text("memory pids\n")
    elif lacking == "version":
        tmp_path.joinpath("cgroup").write_text("4:memory:/somewhere\n")
    else:
        monkeypatch.setattr(Path, "mkdir", refuse)
    assert cgroup.delegated() is None
    assert not given.joinpath("insidebert-supervisors").exists()
    assert given.joinpath("cgroup.subtree_control").read_text() == ""


def refuse(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_kernel_gets_the_limits_of_its_submission(given: Path) -> None:
    group = cgroup.KernelGroup(given, Limits(memory_bytes=2**30, processes=20))
    group.take(4711)
    files = ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max", "cgroup.procs")
    held = [group.folder.joinpath(name).read_text() for name in files]
    assert held == [str(2**30), "0", "1", "20", "100000 100000", "4711"]
    assert not group.ran_out_of_memory()
    group.folder.joinpath("memory.events").write_text("low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\n")
    assert group.ran_out_of_memory()


def test_two_kernels_have_two(given: Path) -> None:
    first, second = (cgroup.KernelGroup(given, Limits()) for _ in range(2))
    assert first.folder != second.folder
