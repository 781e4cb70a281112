"""nbgrader's configuration of this course; `nbgrader …` and the formgrader read it from the course's folder.

Exercises are written in solutions/ and released to exercises/. Grading rebuilds a submission, runs it and judges it:
the kernel only answers, `grading.preprocessors.Judge` decides afterwards, outside of it.
"""

from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    IgnorePattern,
    LimitOutput,
    SaveAutoGrades,
)

from grading import evidence
from grading.export_formats import NbgraderCsv
from grading.exporter import Intake
from grading.feedback_page import FeedbackExporter
from grading.lms import Collector, Extractor
from grading.preprocessors import Judge, Probe
from grading.sanitising import Sanitise, markdown

c = get_config()  # noqa: F821 - nbgrader defines it while it reads this file

c.CourseDirectory.course_id = "inside-bert"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
# What a grading run keeps for the instructor is neither taken from a submission nor copied to the feedback.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", evidence.FILE]

c.ZipCollectApp.extractor_plugin = Extractor
c.ZipCollectApp.collector_plugin = Collector
c.Autograde.exporter_class = Intake  # reads submissions as hostile bytes and rebuilds them from the release
c.Autograde.sanitize_preprocessors = []  # which leaves nothing to put right
c.Autograde.autograde_preprocessors = [
    Probe,
    Judge,
    IgnorePattern,
    LimitOutput,
    SaveAutoGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]
c.Probe.timeout = 60  # seconds a cell; a check takes under 3
c.Execute.timeout = 60  # the same where a learner presses Validate
c.Execute.iopub_timeout = 60  # a busy machine is slow to say that a cell has ended
c.Execute.startup_timeout = 180
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}

c.ExportApp.plugin_class = NbgraderCsv  # nbgrader's own columns, quoted

# What a submission holds is shown to its learner and to the instructor: nothing in it may run in a browser.
c.GenerateFeedback.exporter_class = FeedbackExporter
c.HTMLExporter.preprocessors = [Sanitise]
c.HTMLExporter.filters = {"markdown2html": markdown}
