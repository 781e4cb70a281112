"""Returning feedback through nbgrader's exchange, to those who submitted through it.

nbgrader ends the return of a whole class at the first page whose notebook came another way, from an LMS or by hand:
it has no `timestamp.txt` and no `submission_secret.txt`, from which the page in the exchange gets its name.
"""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

SLIPS = ("timestamp.txt", "submission_secret.txt")


class ReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's own, without the learners who cannot fetch anything there; they are named in a warning."""

    src_path: str

    def copy_files(self) -> None:
        course = self.coursedir
        excluded = set(filter(None, course.student_id_exclude.split(",")))
        without = self._without_slips() - excluded
        if without:
            self.log.warning(
                "Not returned, because their notebooks did not come through the exchange: %s. Their pages are in %s.",
                ", ".join(sorted(without)),
                course.feedback_directory,
            )
        course.student_id_exclude = ",".join(excluded | without)
        every = self.src_path
        try:
            for folder in sorted(glob.glob(every)):  # noqa: PTH207 - as nbgrader does
                self.src_path = folder
                self._return_one()
        finally:
            self.src_path, course.student_id_exclude = every, ",".join(excluded)

    def _return_one(self) -> None:
        """One learner's; what is wrong with it ends nobody else's."""
        try:
            super().copy_files()
        except (OSError, ValueError) as error:  # a page or a slip that cannot be read
            self.log.warning("%s is not returned: %s", self.src_path, error)

    def _without_slips(self) -> set[str]:
        """By their folders' names, which are the learners' ids."""
        root = Path(self.coursedir.format_path(self.coursedir.feedback_directory, ".", "."))
        folders = root.glob(f"*/{self.coursedir.assignment_id}")
        return {
            folder.parent.name for folder in folders if not all((folder / name).is_file() for name in SLIPS)
        }
