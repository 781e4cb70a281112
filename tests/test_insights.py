"""A class on one page: counts that add up, hardest first, causes and lessons, nobody named unless asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest

from checks.lessons import address
from checks.questions import all_questions
from grading.insights_page import render
from grading.insights_summary import read_rows, summarise
from insidebert.cli import main
from insidebert.errors import CommandError

SAID = {
    "counts_tied_decoder_twice": "A tied matrix is counted once.",
    "pooler_in_head": "The pooler stands in `head`.",
}


def row(student, question, points, state, *findings, flags=(), assignment="parameter_budget", max_points=3.0):
    return {
        "student": student, "assignment": assignment, "question": question, "points": points,
        "max_points": max_points, "state": state, "findings": list(findings),
        "causes": [SAID.get(finding, "") for finding in findings], "flags": list(flags), "seconds": 0.1,
    }  # fmt: skip


CLASS = [
    row("ada", "count_parameters", 3, "correct"),
    row("bo", "count_parameters", 0, "incorrect", "counts_tied_decoder_twice"),
    row("cy", "count_parameters", 0, "incorrect", "counts_tied_decoder_twice"),
    row("dee", "count_parameters", 0, "not_attempted", "not_attempted", flags=["missing_notebook"]),
    row("ada", "breakdown", 5, "correct", max_points=5),
    row("bo", "breakdown", 3.5, "partial", "pooler_in_head", max_points=5),
    row("cy", "breakdown", 5, "correct", max_points=5),
    row("dee", "breakdown", 0, "crashed", "timed_out", flags=["missing_notebook"], max_points=5),
    row("ada", "mask_tokens", 0, "incorrect", "unexpected_value", assignment="objectives"),
    row("bo", "mask_tokens", 0, "incorrect", "unexpected_value", assignment="objectives"),
    row("cy", "mask_tokens", 0, "incorrect", "always_mask", assignment="objectives"),
]


def report(folder, rows=CLASS, name="report.json"):
    path = folder / name
    path.write_text(json.dumps({"summary": {}, "rows": list(rows)}), encoding="utf-8")
    return path


def page(rows=CLASS, names=False, prefix="../"):
    return render(insights_of(rows), names=names, prefix=prefix)


def insights_of(rows):
    with TemporaryDirectory() as folder:
        return summarise(read_rows(report(Path(folder), rows)))


def test_questions_come_hardest_first_with_counts_that_add_up():
    found = insights_of(CLASS)
    assert [question.name for question in found.questions] == ["mask_tokens", "count_parameters", "breakdown"]
    assert [question.asked for question in found.questions] == [3, 4, 4]
    assert found.questions[1].share == pytest.approx(0.25)
    assert found.questions[2].states == {
        "correct": 2, "partial": 1, "incorrect": 0, "crashed": 1, "not_attempted": 0
    }  # fmt: skip
    assert [(it.id, it.count) for it in found.questions[0].mistakes] == [
        ("unexpected_value", 2),
        ("always_mask", 1),
    ]
    assert found.learners == 4
    assert found.flags == {"missing_notebook": 1}  # a learner, not a row


def test_monday_is_for_named_mistakes_that_more_than_one_made():
    found = insights_of(CLASS)
    assert [(it.question, it.id, it.count, it.of) for it in found.again] == [
        ("count_parameters", "counts_tied_decoder_twice", 2, 4)
    ]
    assert "counted once" in found.again[0].cause
    assert "No named mistake was made twice" in page([CLASS[0], CLASS[1]])


def test_a_row_that_comes_twice_counts_once_and_the_later_one(tmp_path):
    rows = read_rows(
        report(
            tmp_path, [row("ada", "breakdown", 0, "crashed", "raises"), row("ada", "breakdown", 3, "correct")]
        )
    )
    assert [found["state"] for found in rows] == ["correct"]


def test_nobody_is_named_unless_asked_for():
    students = [
        row(f"Zoë-{name} <x@y>", "breakdown", 0, "incorrect", "pooler_in_head") for name in ("one", "two")
    ]
    assert "Zoë" not in page(students)
    named = page(students, names=True)
    assert "Zoë-one &lt;x@y&gt;, Zoë-two &lt;x@y&gt;" in named


def test_causes_lessons_and_counts_are_on_the_page():
    shown = page()
    assert 'href="../lessons/03_parameter_budget.ipynb#1-Walk-through-the-model"' in shown
    assert "2 of 4" in shown
    assert "<code>head</code>" in shown  # what stands in backticks in a cause
    assert (
        shown.index('id="mask_tokens"') < shown.index('id="count_parameters"') < shown.index('id="breakdown"')
    )


def test_the_page_is_one_file_that_runs_and_fetches_nothing_and_reads_in_light_and_dark():
    shown = page()
    assert "<script" not in shown
    assert not re.search(r"(src|href)=\"(https?:)?//", shown)
    assert "prefers-color-scheme: dark" in shown
    assert "default-src 'none'" in shown


def test_each_picture_says_in_words_what_it_shows():
    shown = page()
    pictures = re.findall(r"<svg[^>]*>", shown)
    labels = [
        found[1] for picture in pictures if (found := re.search(r'role="img" aria-label="([^"]*)"', picture))
    ]
    assert all('aria-label="' in picture or 'aria-hidden="true"' in picture for picture in pictures)
    assert "breakdown: 2 correct, 1 partly right, 1 stopped or not checked." in labels
    assert any(label.startswith("Learners by share") for label in labels)
    for picture in re.findall(r"<svg.*?</svg>", shown, re.S):
        ElementTree.fromstring(picture)  # well-formed


def test_a_bar_is_as_wide_as_its_share():
    bar = re.search(r'<svg height="30"[^>]*breakdown.*?</svg>', page(), re.S)[0]
    widths = [float(width) for width in re.findall(r'<rect class="\w+" x="[\d.]+%" width="([\d.]+)%"', bar)]
    assert widths == [50.0, 25.0, 25.0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"rows": 3}',
        '{"rows": [{}]}',
        '{"rows": []}',
        '{"rows": [["a"]]}',
        "[" * 100_000,
        "\ud800",
    ],
    ids=range(9),
)
def test_what_is_no_report_is_one_sentence(tmp_path, text, capsys):
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(CommandError):
        read_rows(path)
    assert main(["insights", str(path)]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "change", [{"state": "perfect"}, {"points": "many"}, {"findings": 3}, {"max_points": None}]
)
def test_a_row_that_is_none_is_one_sentence(tmp_path, change):
    with pytest.raises(CommandError, match="is no report"):
        read_rows(report(tmp_path, [CLASS[0] | change]))


def test_questions_nobody_knows_any_more_are_counted_all_the_same():
    shown = page([row("ada", "abolished", 0, "incorrect", "some_mistake", assignment="gone")])
    assert "Some mistake." in shown
    assert "Read on" not in shown


def test_the_command_writes_beside_the_report_and_says_what_to_explain(tmp_path, capsys):
    path = report(tmp_path)
    assert main(["insights", str(path)]) == 0
    said = capsys.readouterr().out
    assert (tmp_path / "report.html").is_file()
    assert "2 of 4  count_parameters" in said
    assert main(["insights", str(path), "--to", str(path)]) == 2
    assert main(["insights", str(tmp_path / "none.json")]) == 2
    assert json.loads(path.read_text(encoding="utf-8"))["rows"]
    target = tmp_path / "new" / "class.html"
    assert (
        main(["insights", str(path), "--to", str(target), "--lessons", "https://hub.example.org/lab/tree"])
        == 0
    )
    assert 'href="https://hub.example.org/lab/tree/lessons/03' in target.read_text(encoding="utf-8")


def test_every_question_sends_its_learners_somewhere():
    found = insights_of(
        [row("ada", name, 0, "incorrect", assignment=it.assignment) for name, it in all_questions().items()]
    )
    assert [question.name for question in found.questions if not (question.lesson and question.section)] == []
    assert address("", "lessons/a b.ipynb", "2 Half & half") == "lessons/a%20b.ipynb#2-Half-%26-half"
