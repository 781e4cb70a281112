"""nbgrader's configuration of this course; `nbgrader …` and the formgrader read it from the course's folder.

Exercises are written in solutions/ and released to exercises/. Grading runs a submission and judges it in two
steps: the kernel only answers, `grading.preprocessors.Judge` decides afterwards, outside of it.
"""

from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    IgnorePattern,
    LimitOutput,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)

from grading import evidence
from grading.preprocessors import Judge, Probe, Restore

c = get_config()  # noqa: F821 - nbgrader defines it while it reads this file

c.CourseDirectory.course_id = "inside-bert"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
# What a grading run keeps for the instructor is neither taken from a submission nor copied to the feedback.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", evidence.FILE]

c.Autograde.sanitize_preprocessors = [
    ClearOutput,
    DeduplicateIds,
    Restore,  # a deleted check comes back: what it says must not depend on whether the learner kept it
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    Probe,
    Judge,
    IgnorePattern,
    LimitOutput,
    SaveAutoGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]
c.Execute.timeout = 60  # seconds a cell; a check takes under 3
c.Execute.iopub_timeout = 60  # a busy machine is slow to say that a cell has ended
c.Execute.startup_timeout = 180
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
