"""A local worker by itself; what a run does with many stands in test_scale.py."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from grading.pool import Task, local_workers, work

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork server on Windows")


def test_a_worker_that_died_while_it_had_nothing_to_do_is_replaced():
    with local_workers(1) as workers:
        process = workers[0].submit(os.getpid).result()
        os.kill(process, signal.SIGKILL)
        time.sleep(1)  # until the pool has noticed, and would refuse
        tasks = (Task(name, lambda: (0,)) for name in "ab")
        assert [done.name for done in work(os.getpgid, tasks, workers) if done.error is None] == ["a", "b"]
