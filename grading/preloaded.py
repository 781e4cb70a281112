"""Imported once by the process that every local worker is forked from (multiprocessing's fork server).

It also starts the template that the workers' kernels are forked from: one for all of them.
"""

import signal

signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the command to handle

from grading.startup import importing, lighten  # noqa: E402 - after what may interrupt it

lighten()

from grading.sandbox.templates import sharing  # noqa: E402 - after what keeps it light

with sharing(), importing():
    import grading.worker  # noqa: F401 - what workers need
    from checks.judges import judge_of
    from checks.questions import all_questions

    for question in all_questions().values():
        judge_of(question)
