"""Where in the lessons a question sends its learners: a path and a heading, and the address of both."""

from __future__ import annotations

import re
from urllib.parse import quote


def place(lesson: str) -> tuple[str, str]:
    """A question's `lesson`, such as `lessons/02_what_goes_in.ipynb, “Segments”`, as path and heading.

    Both are empty where it names no notebook, the heading where it names none.
    """
    found = re.fullmatch(r"(\S+\.ipynb)(?:, “(.+)”)?", lesson)
    return (found[1], found[2] or "") if found else ("", "")


def address(prefix: str, path: str, heading: str) -> str:
    """Where a heading stands: JupyterLab makes an anchor of it by putting hyphens for its spaces.

    `prefix` leads to the course's folder and ends with a slash, where it is not empty.
    """
    anchor = f"#{quote(heading.replace(' ', '-'))}" if heading else ""
    return f"{prefix}{quote(path)}{anchor}"
