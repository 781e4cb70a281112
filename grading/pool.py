"""Many submissions at once: a pool of local processes, or a Dask cluster, behind one interface.

A local worker is a pool of one process. When it dies it is clear which submission it had, nobody else's attempt is
lost with it, and a fresh one takes its place. Dask keeps count of its own workers and repeats by itself what they lose.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from insidebert.errors import CommandError

ATTEMPTS = 3
PRELOADED = "grading.preloaded"
_TICK = 0.2  # seconds between two looks at whether to stop


@dataclass(frozen=True)
class Task:
    """What is to be done for one submission; `load` gives the arguments when its turn comes, not earlier."""

    name: Any
    load: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Done:
    """What became of a task: the worker's result, or the exception it ended in."""

    name: Any
    result: dict[str, Any] | None
    error: BaseException | None = None


class WorkerDied(Exception):
    """The process that worked on a submission ended, as often as it was tried."""


class Worker(Protocol):
    """Does one thing at a time."""

    def submit(self, function: Callable[..., Any], *args: Any) -> Future: ...
    def renew(self) -> None: ...


class LocalWorker:
    """One process of its own, started when there is work for it and again after it died.

    It is forked from a server that has imported `PRELOADED` and done nothing else: not from this process, which has
    threads and a database open, and not started anew, which would cost each worker its imports.
    """

    def __init__(self) -> None:
        self._pool: Executor | None = None

    def submit(self, function: Callable[..., Any], *args: Any) -> Future:
        if self._pool is None:
            context = multiprocessing.get_context("forkserver")
            self._pool = ProcessPoolExecutor(1, context, _prepare)
        try:
            return self._pool.submit(function, *args)
        except BrokenExecutor:  # it died while it had nothing to do
            self.renew()
            return self.submit(function, *args)

    def renew(self) -> None:
        self.close()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _prepare() -> None:
    from grading.worker import prepare  # here, so that this module is quick to import

    prepare()


class ClusterWorker:
    """One thread of a Dask cluster; which one, Dask decides."""

    def __init__(self, executor: Executor):
        self._executor = executor

    def submit(self, function: Callable[..., Any], *args: Any) -> Future:
        return self._executor.submit(function, *args)

    def renew(self) -> None:
        """Nothing: Dask has noticed."""


@contextmanager
def local_workers(count: int | None = None) -> Iterator[Sequence[Worker]]:
    """So many processes, one a core unless said. What they are forked from begins to import at once."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    workers = [LocalWorker() for _ in range(count or cores or 1)]
    from multiprocessing import forkserver  # Windows has none

    forkserver.set_forkserver_preload([PRELOADED])
    forkserver.ensure_running()
    try:
        yield workers
    finally:
        for worker in workers:
            worker.close()
        for child in multiprocessing.active_children():
            child.kill()  # what it may still be at is of no use to anybody; its sandbox ends with it


@contextmanager
def cluster_workers(scheduler: str) -> Iterator[Sequence[Worker]]:
    """As many as the cluster has threads.

    Raises:
        CommandError: Dask is not installed, nobody answers at that address, or the cluster has no workers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise CommandError("--scheduler needs Dask: pip install 'insidebert[cluster]'.") from error
    try:
        client = Client(scheduler, timeout=20, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise CommandError(
            f"no Dask scheduler answers at {scheduler} ({type(error).__name__}). Start one, or leave --scheduler out."
        ) from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise CommandError(f"the Dask cluster at {scheduler} has no workers. Start some and try again.")
        # Each call draws a seed of its own, so that two calls with equal arguments are two calls: not pure.
        executor = client.get_executor(pure=False)
        yield [ClusterWorker(executor) for _ in range(threads)]


def work(
    function: Callable[..., dict[str, Any]],
    tasks: Iterable[Task],
    workers: Sequence[Worker],
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Done]:
    """Do the tasks; yields each as it is done, in any order.

    As many are worked on as there are workers while the results of as many wait to be taken, so that nobody waits
    for what is done with them, and memory does not grow with the class. Once `stop()` is
    true nothing new is begun, and what has been begun is finished.

    Raises:
        CommandError: the cluster's scheduler is gone.
    """
    waiting, again = iter(tasks), deque[tuple[Task, int]]()
    idle = deque(workers)
    busy: dict[Future, tuple[Task, int, Worker]] = {}
    ended: list[Done] = []
    while True:
        while idle and not stop():
            following = again.popleft() if again else next(((task, 1) for task in waiting), None)
            if following is None:
                break
            task, attempt = following
            worker = idle.popleft()
            busy[worker.submit(function, *task.load())] = (task, attempt, worker)
        yield from ended  # only now: nobody waits for work while what has been done is written down
        if not busy:
            return
        ended = []
        finished, _ = wait(busy, timeout=_TICK, return_when=FIRST_COMPLETED)
        for future in finished:
            task, attempt, worker = busy.pop(future)
            idle.append(worker)
            outcome = _outcome(task, future)
            if not isinstance(outcome.error, WorkerDied):
                ended.append(outcome)
                continue
            worker.renew()
            if attempt < ATTEMPTS:
                again.append((task, attempt + 1))
            elif not stop():  # Ctrl-C may end a worker too, and that is nobody's fault
                ended.append(outcome)


def _outcome(task: Task, future: Future) -> Done:
    try:
        return Done(task.name, future.result())
    except CancelledError as error:
        raise CommandError(
            "the cluster's scheduler is gone. Start it and run the same command again; "
            "what has been graded stays graded."
        ) from error
    except Exception as error:
        died = isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"
        return Done(task.name, None, WorkerDied() if died else error)
