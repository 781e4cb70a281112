"""What nbgrader needs to know on a learner's machine: the course's name, and patience while torch is imported."""

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - nbgrader defines it while it reads this

c.CourseDirectory.course_id = "inside-bert"
c.Execute.timeout = 60  # seconds a cell; a check takes under 3
c.Execute.iopub_timeout = 60  # a busy machine is slow to say that a cell has ended
c.Execute.startup_timeout = 180
c.Execute.kernel_name = "python3"  # whatever a notebook from another machine asks for, which is not here
