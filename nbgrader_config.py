"""nbgrader's configuration of this course; `nbgrader …` and the formgrader read it from the course's folder.

Exercises are written in solutions/ and released to exercises/. Grading rebuilds a submission, runs it and judges it:
the kernel only answers, `grading.preprocessors.Judge` decides afterwards, outside of it.
"""

import warnings

from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    IgnorePattern,
    LimitOutput,
    SaveAutoGrades,
)
from sqlalchemy.exc import SAWarning

from grading import evidence
from grading.exchange import Collect
from grading.export_formats import NbgraderCsv
from grading.exporter import Intake
from grading.feedback_page import FeedbackExporter
from grading.preprocessors import Judge, Points, Probe
from grading.releases import ReleaseAssignment, Released
from grading.returning import ReleaseFeedback
from grading.sanitising import Sanitise, markdown
from grading.zip_collect import Collector, Extractor

c = get_config()  # noqa: F821 - nbgrader defines it while it reads this file

c.CourseDirectory.course_id = "inside-bert"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
# What a grading run keeps for the instructor is neither taken from a submission nor copied to the feedback.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", evidence.FILE]

c.ExchangeFactory.release_assignment = ReleaseAssignment  # nothing that an instructor wrote into it
c.ExchangeFactory.collect = Collect  # only what is a learner's own, and no links
c.ExchangeFactory.release_feedback = ReleaseFeedback  # to those who submitted through it
c.ZipCollectApp.extractor_plugin = Extractor
c.ZipCollectApp.collector_plugin = Collector
c.GenerateAssignment.exporter_class = Released  # keeps what is released, to restore submissions from
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
c.Execute.kernel_name = "python3"  # whatever a notebook from another machine asks for, which is not here
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}

c.FormgradeExtension.debug = False  # no listing of all this above the assignments
c.ExportApp.plugin_class = NbgraderCsv  # nbgrader's own columns, quoted

# What a submission holds is shown to its learner and to the instructor: nothing in it may run in a browser.
c.GenerateFeedback.exporter_class = FeedbackExporter
c.GenerateFeedback.preprocessors = [Points]
c.HTMLExporter.preprocessors = [Sanitise]
c.HTMLExporter.filters = {"markdown2html": markdown}

# nbgrader's gradebook relies on an order of SQLAlchemy's that newer releases warn about at each use.
warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.")
