"""Imported once by the process that every local worker is forked from (multiprocessing's fork server)."""

from grading.startup import lighten

lighten()

import grading.worker  # noqa: E402, F401 - what workers need, after what keeps it light
from checks.judges import judge_of  # noqa: E402
from checks.questions import all_questions  # noqa: E402

for question in all_questions().values():
    judge_of(question)
