"""Where in the lessons a question sends its learners: the address of a heading."""

from __future__ import annotations

from urllib.parse import quote


def address(prefix: str, path: str, heading: str) -> str:
    """Where a heading stands: JupyterLab makes an anchor of it by putting hyphens for its spaces.

    `prefix` leads to the course's folder and ends with a slash, where it is not empty.
    """
    anchor = f"#{quote(heading.replace(' ', '-'))}" if heading else ""
    return f"{prefix}{quote(path)}{anchor}"
