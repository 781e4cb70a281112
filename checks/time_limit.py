"""A time limit for one call of an answer, on every system and without a signal of the system's own.

A thread watches; when the time is over it interrupts the main thread as Ctrl-C would. What an answer does with that
is its own affair, so it is interrupted again each second until it ends. Time inside one long call of a C function
cannot be interrupted: where submissions are graded the kernel is ended from outside.
"""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable
from typing import Any

SECONDS = 15.0  # of the call's own computing; a right answer takes some milliseconds
PATIENCE = 4  # times as long by the clock, for a machine that others share
DOES_NOT_END = "DoesNotEnd"


class DoesNotEnd(Exception):
    """An answer was still at work when its time was over, or drew random numbers without an end."""


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """What `call()` returns.

    Where no thread can be started there is no limit: the answer is judged by what it returns.

    Raises:
        DoesNotEnd: it did not return within that many seconds of computing, or four times as long by the clock.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()  # only the main thread can be interrupted
    watch, where = _Watch(seconds), None
    try:
        try:
            value = call()
        finally:
            watch.stop()
    except KeyboardInterrupt as interrupt:
        if not watch.fired:
            raise
        where = interrupt.__traceback__
    if watch.fired:  # whatever came of it: an answer may have swallowed the interrupt
        raise DoesNotEnd(f"did not end within {seconds:g} seconds").with_traceback(where)
    return value


class _Watch:
    def __init__(self, seconds: float):
        self.fired = False
        self._seconds, self._began, self._used = seconds, time.monotonic(), time.process_time()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._watches = True
        try:
            self._thread.start()
        except (RuntimeError, MemoryError):  # an answer before this one has used up what there is
            self._watches = False

    def stop(self) -> None:
        self._stopped.set()
        if self._watches:
            self._thread.join()

    def _run(self) -> None:
        waiting = self._seconds
        while not self._stopped.wait(waiting):
            waiting = min(1.0, self._seconds)
            clock, used = time.monotonic() - self._began, time.process_time() - self._used
            if used >= 0.8 * self._seconds or clock >= PATIENCE * self._seconds:
                self.fired = True
                _thread.interrupt_main()
