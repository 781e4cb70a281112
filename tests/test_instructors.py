"""The page for instructors says what is so: its commands exist, its limits are the sandbox's, its links work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from grading.sandbox.limits import Limits
from insidebert.cli import _parser

PAGE = (Path(__file__).parents[1] / "docs" / "instructors.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```.*?\n(.*?)^```", PAGE, re.M | re.S)
COMMANDS = sorted(
    {
        line.strip().split("  ")[0]
        for block in BLOCKS
        for line in block.splitlines()
        if line.strip().startswith("insidebert ")
    }
    | set(re.findall(r"`(insidebert [a-z]+ [^`…<]+)`", PAGE.replace("\n", " ")))
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one(command):
    words = shlex.split(command, comments=True)[1:]
    assert "run" in _parser(words).parse_args(words)


def test_there_are_commands_of_every_kind():
    assert {command.split()[1] for command in COMMANDS} >= {
        "collect", "doctor", "export", "feedback", "grade", "insights", "release",
    }  # fmt: skip


def test_the_limits_are_the_sandboxs():
    limits = Limits()
    for said in (
        f"{limits.cell_seconds:g} s a cell",
        f"{limits.total_seconds:g} s in all",
        f"at most {limits.memory_bytes / 2**30:g} GiB",
        f"{limits.processes} processes",
        f"files of {limits.file_bytes / 2**20:g} MiB",
        f"{limits.scratch_bytes / 2**20:g} MiB of scratch",
        f"{limits.output_bytes / 2**20:g} MiB of output",
    ):
        assert said in PAGE, said


def test_links_within_the_page_lead_somewhere():
    titles = re.findall(r"^#+ (.+)", PAGE, re.M)
    headings = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    wanted = re.findall(r"\]\(#([^)]+)\)", PAGE)
    assert len(wanted) >= 8
    assert [anchor for anchor in wanted if anchor not in headings] == []


def test_no_line_breaks_the_page():
    assert [line for line in PAGE.splitlines() if len(line) > 220] == []
    assert PAGE.count("```") % 2 == 0
