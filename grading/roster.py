"""Whom the gradebook knows, and until when each may hand in."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from nbgrader.api import Gradebook, MissingEntry

from grading.names import Person, Roster


def roster_of(gradebook: Gradebook) -> Roster:
    """The learners of a gradebook."""
    return Roster(
        Person(it.id, it.first_name or "", it.last_name or "", it.lms_user_id or "")
        for it in gradebook.students
    )


def after_due(gradebook: Gradebook, assignment: str, student: str) -> datetime | None:
    """A second after a learner's due date, her extension included; None where there is none.

    Canvas says who was late and not how late: so this is the least that a late policy can count.
    """
    try:
        due = gradebook.find_assignment(assignment).duedate
    except MissingEntry:
        return None
    if due is None:  # nbgrader's own sum fails then on an extension
        return None
    with suppress(MissingEntry):  # she has handed in nothing before
        due = gradebook.find_submission(assignment, student).duedate
    return due + timedelta(seconds=1)
