"""Many at once: workers that die or hang, a cluster, PostgreSQL, and the real command cut off and resumed."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

import grading.run
from grading import worker
from grading.gradebook import Writer
from grading.pool import ATTEMPTS, Task, WorkerDied, cluster_workers, local_workers, work
from grading.sandbox.isolation import NONE
from insidebert.errors import CommandError
from tests import small_run
from tests.postgres import Server
from tests.small_course import ASSIGNMENT, ROOT
from tests.small_run import PART, Inline, copy_of, grade, hand_in, look_up, totals

empty_course = small_run.empty_course


# --- what workers are given; in a module, because it travels ------------------------------------------------


def double(number, folder=None):
    return {"number": 2 * number, "pid": os.getpid()}


def die_until(number, folder, times):
    """Dies `times` times, then answers; the folder remembers across processes."""
    tries = Path(folder, f"{number}-{os.getpid()}-{time.monotonic_ns()}")
    tries.touch()
    if len(list(Path(folder).glob(f"{number}-*"))) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"number": 2 * number}


def hang(seconds):
    with worker._ending_if_it_hangs(0.5):
        time.sleep(seconds)
    return {"number": 0}


def slowly(number, folder):
    Path(folder, f"{number}-{os.getpid()}").touch()
    time.sleep(0.3)
    return {"number": 2 * number}


def tasks(*arguments):
    return [Task(index, functools.partial(tuple, given)) for index, given in enumerate(arguments)]


def results(done):
    return {one.name: one.result["number"] for one in done if one.error is None}


# --- the pool ----------------------------------------------------------------------------------------------


def test_every_task_is_done_once_in_processes_of_their_own():
    with local_workers(2) as workers:
        done = list(work(double, tasks(*[(number,) for number in range(20)]), workers))
    assert results(done) == {number: 2 * number for number in range(20)}
    assert len(done) == 20
    pids = {one.result["pid"] for one in done}
    assert os.getpid() not in pids
    assert len(pids) <= 2


def test_a_dead_worker_costs_an_attempt_and_nobody_elses_task(tmp_path):
    given = [(number, str(tmp_path), 0) for number in range(6)]
    given[2] = (2, str(tmp_path), ATTEMPTS - 1)
    given[4] = (4, str(tmp_path), 1000)
    with local_workers(2) as workers:
        done = list(work(die_until, tasks(*given), workers))
    assert results(done) == {number: 2 * number for number in range(6) if number != 4}
    (lost,) = [one for one in done if one.error is not None]
    assert lost.name == 4
    assert isinstance(lost.error, WorkerDied)
    assert len(list(tmp_path.glob("4-*"))) == ATTEMPTS
    assert all(len(list(tmp_path.glob(f"{number}-*"))) == 1 for number in (0, 1, 3, 5))


def test_a_worker_that_hangs_ends_itself():
    with local_workers(1) as workers:
        done = list(work(hang, tasks((60,), (0,)), workers))
    assert isinstance(done[-1].error or done[0].error, WorkerDied)
    assert results(done) == {1: 0}


def test_no_more_is_loaded_than_each_worker_has_in_hand_and_has_just_done():
    loaded, finished = [], []

    def load(number):
        loaded.append(number)
        assert len(loaded) - len(finished) <= 4
        return (number,)

    given = [Task(number, functools.partial(load, number)) for number in range(50)]
    for one in work(double, given, [Inline(), Inline()]):
        finished.append(one)
    assert len(finished) == 50


def test_no_worker_waits_while_what_another_did_is_written_down():
    loaded = []
    given = [
        Task(number, functools.partial(lambda number: loaded.append(number) or (number,), number))
        for number in range(5)
    ]
    done = work(double, given, [Inline()])
    assert next(done).name == 0
    assert loaded == [0, 1]


def test_workers_end_with_a_killed_parent():
    program = (
        "from grading.pool import local_workers, work, Task\nfrom tests.test_scale import hang\nimport time\n"
        "with local_workers(2) as workers:\n"
        "    futures = [worker.submit(time.sleep, 300) for worker in workers]\n"
        "    print('ready', flush=True)\n    time.sleep(300)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        assert parent.stdout.readline() == "ready\n"
        family = psutil.Process(parent.pid)
        _until(lambda: len(family.children(recursive=True)) >= 4)  # tracker, fork server, two workers
        time.sleep(1)
        children = family.children(recursive=True)
    finally:
        parent.kill()
        parent.wait()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []


def _until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


# --- a cluster ---------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two worker processes; gives its address and the workers."""
    address = tmp_path / "scheduler.json"
    words = ["--scheduler-file", str(address)]
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    member = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
    member += ["--no-dashboard", "--local-directory", str(tmp_path)]
    quiet = {"cwd": ROOT, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen([*scheduler, *words], **quiet)]
    try:
        _until(address.is_file)
        processes += [subprocess.Popen([*member, *words], **quiet) for _ in range(2)]
        where = json.loads(address.read_text(encoding="utf-8"))["address"]
        _until(lambda: _members(where) == 2)
        yield where, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _members(where):
    try:
        with cluster_workers(where) as workers:
            return len(workers)
    except CommandError:
        return 0


@pytest.mark.slow
def test_a_cluster_loses_a_worker_in_the_middle_and_no_task(cluster, tmp_path):
    where, processes = cluster
    marks = tmp_path / "marks"
    marks.mkdir()

    def in_the_middle():
        """Four tasks are begun, and one of them by the worker that is to be killed."""
        begun = [path.name for path in marks.iterdir()]
        return len(begun) >= 4 and any(name.endswith(f"-{processes[1].pid}") for name in begun)

    killer = threading.Thread(target=lambda: (_until(in_the_middle), processes[1].kill()))
    with cluster_workers(where) as workers:
        assert len(workers) == 2
        killer.start()
        done = list(work(slowly, tasks(*[(number, str(marks)) for number in range(16)]), workers))
    killer.join()
    assert results(done) == {number: 2 * number for number in range(16)}
    assert len(done) == 16
    pids = {path.name.split("-")[1] for path in marks.iterdir()}
    assert pids == {str(process.pid) for process in processes[1:]}  # both had worked


@pytest.mark.slow
def test_a_submission_is_graded_on_the_cluster_as_it_is_here(cluster, empty_course, tmp_path, monkeypatch):
    monkeypatch.setattr(grading.run, "prove", lambda *_: None)
    course = copy_of(empty_course, tmp_path / "course")
    solve(course, "ada")
    with cluster_workers(cluster[0]) as workers, grading.run.Run(course, workers, NONE) as run:
        outcome = run.grade([ASSIGNMENT])
    assert outcome.troubles == []
    assert {row.state for row in outcome.report.rows} == {"correct"}
    assert totals(course) == {"ada": 20}


def test_an_address_where_nobody_answers_is_a_sentence():
    with pytest.raises(CommandError, match="no Dask scheduler answers"), cluster_workers("tcp://127.0.0.1:9"):
        pass


# --- PostgreSQL --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server():
    started = Server()
    yield started
    started.close()


@pytest.fixture
def hosted(server, empty_course, tmp_path, monkeypatch, request):
    """A course whose gradebook is on the server."""
    from tests.small_course import _add_assignment

    monkeypatch.setattr(worker, "execute", look_up)
    monkeypatch.setattr(grading.run, "prove", lambda *_: None)
    course = copy_of(empty_course, tmp_path / "course")
    (course.root / "gradebook.db").unlink()
    course.config.CourseDirectory.db_url = server.url(f"book{abs(hash(request.node.name)) % 10**9}")
    course.__dict__.pop("directory", None)
    _ = course.api  # puts alembic on the PATH
    with course.gradebook() as gradebook:
        _add_assignment(gradebook)
    return course


def test_grades_are_written_to_postgresql_and_resumed_from_it(hosted):
    for student in ("ada", "bo"):
        hand_in(hosted, student, "RIGHT", "2026-03-01 09:00:00 UTC")
    assert grade(hosted).graded == 2
    assert totals(hosted) == {"ada": PART, "bo": PART}
    assert grade(hosted).kept == 2
    assert not (hosted.root / "gradebook.db").exists()


def test_a_server_that_restarts_in_the_middle_of_a_run_costs_a_pause(hosted, server, monkeypatch):
    students = [f"learner{number}" for number in range(6)]
    for student in students:
        hand_in(hosted, student, "RIGHT")
    real, calls = Writer._write, []

    def write(self, *args):
        calls.append(args)
        if len(calls) == 3:
            server.stop()
            threading.Timer(1.0, server.start).start()
        return real(self, *args)

    monkeypatch.setattr(Writer, "_write", write)
    outcome = grade(hosted)
    assert outcome.graded == len(students)
    assert len(calls) > len(students)
    assert totals(hosted) == dict.fromkeys(students, PART)


def test_a_server_that_is_not_there_is_a_sentence_without_the_password(empty_course, tmp_path):
    course = copy_of(empty_course, tmp_path / "course")
    course.config.CourseDirectory.db_url = "postgresql+psycopg://grader:secret@127.0.0.1:9/book"
    course.__dict__.pop("directory", None)
    with pytest.raises(CommandError, match="cannot be used") as refused:
        Writer(course)
    assert "secret" not in str(refused.value)


# --- the real command --------------------------------------------------------------------------------------


def solve(course, student):
    """Hand in the solution."""
    path = course.notebook("submitted_directory", ASSIGNMENT, student)
    path.parent.mkdir(parents=True)
    shutil.copyfile(course.notebook("source_directory", ASSIGNMENT), path)


def command(course, *words):
    """In a process group of its own, as a terminal starts it."""
    words = [sys.executable, "-m", "insidebert", "grade", "--course", str(course.root), *words]
    return subprocess.Popen(
        words,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )


def test_ctrl_c_while_the_workers_still_import_is_no_traceback(empty_course, tmp_path):
    course = copy_of(empty_course, tmp_path / "course")
    started = command(course)
    children = psutil.Process(started.pid).children
    _until(lambda: any("forkserver" in " ".join(child.cmdline()) for child in children()))
    time.sleep(1)  # into its imports, which take several
    os.killpg(started.pid, signal.SIGINT)  # a terminal tells all of them
    said, _ = started.communicate(timeout=120)
    # Interrupted inside an `exec`, as a dataclass is made by, CPython ends by the signal itself: a shell's 130 too.
    assert started.returncode in (130, -signal.SIGINT), said
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_command_killed_and_interrupted_goes_on_until_all_have_their_points(empty_course, tmp_path):
    course = copy_of(empty_course, tmp_path / "course")
    students = [f"learner{number}" for number in range(5)]
    for student in students:
        solve(course, student)
    records = course.root / ".insidebert" / "graded" / ASSIGNMENT

    def graded(count):
        return len(list(records.glob("*.json"))) >= count

    killed = command(course, "--workers", "1")
    _until(lambda: graded(1) or killed.poll() is not None, 300)
    killed.kill()
    killed.wait()
    assert all(total in (0, 20) for total in totals(course).values())

    interrupted = command(course, "--workers", "1")
    _until(lambda: graded(2) or interrupted.poll() is not None, 300)
    interrupted.send_signal(signal.SIGINT)
    said, _ = interrupted.communicate(timeout=300)
    assert interrupted.returncode == 130, said
    assert "are left" in said
    assert "Traceback" not in said

    report = tmp_path / "report.json"
    finished = command(course, "--report", str(report))
    said, _ = finished.communicate(timeout=400)
    assert finished.returncode == 0, said
    assert totals(course) == dict.fromkeys(students, 20)
    summary = json.loads(report.read_text(encoding="utf-8"))["summary"]
    assert (summary["submissions"], summary["questions"]) == (5, 30)
    assert summary["isolation"].startswith("bubblewrap")
