"""A record of the journal that is not one is as good as none: its submission is graded again."""

from __future__ import annotations

import pytest

from grading.journal import Journal


@pytest.mark.parametrize("text", ["", "{}", '{"scores": {}}', "[1]", '{"key": "1"', "[" * 100_000])
def test_a_damaged_record_is_none(tmp_path, text):
    journal = Journal(tmp_path)
    journal.write("budget", "ada", {"key": "1"})
    assert journal.read("budget", "ada") == {"key": "1"}
    journal.path("budget", "ada").write_text(text, encoding="utf-8")
    assert journal.read("budget", "ada") is None
