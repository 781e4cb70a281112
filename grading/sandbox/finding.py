"""The line that `insidebert doctor` prints about the sandbox."""

from __future__ import annotations

from dataclasses import replace

from grading.sandbox.detecting import examine
from insidebert.doctor import Finding


def finding() -> Finding:
    """Which isolation this machine gives to submissions; nothing but grading needs any."""
    found = examine()
    if found.name:
        from grading.sandbox import bubblewrap  # there is no such thing but on Linux

        found = replace(found, name=f"{found.name}, by {bubblewrap.described()}")
    if not found.name:
        return Finding("sandbox", "warning", f"submissions cannot be graded: {found.why}", _only(found.cure))
    if found.why:
        return Finding("sandbox", "warning", f"{found.name}, but {found.why}", _only(found.cure))
    return Finding("sandbox", "ok", f"{found.name}, kernels start warm")


def _only(cure: str) -> str:
    return f"Only grading needs it: {cure}"
