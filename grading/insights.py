"""`insidebert insights`: one page about a class, from a grading run's report: what to explain again on Monday.

Nobody is named on it unless that is asked for.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from grading.insights_summary import read_rows, summarise
from grading.targets import hold_own_kind
from insidebert.errors import CommandError


def command(commands: argparse._SubParsersAction) -> None:
    """Adds `insidebert insights`."""
    parser = commands.add_parser(
        "insights",
        help="one page about the class: what to explain again",
        description="Writes one self-contained HTML page from the report of `insidebert grade --report`: per question "
        "how it went and which misconceptions were found, hardest first.",
    )
    parser.add_argument("report", type=Path, help="the report of a grading run, JSON")
    parser.add_argument("--to", type=Path, metavar="FILE.html", help="default: beside the report")
    parser.add_argument("--names", action="store_true", help="say who made which mistake")
    parser.add_argument(
        "--lessons", metavar="URL", help="where the links to lessons/ lead; default: the course's folder"
    )
    parser.add_argument("--course", type=Path, default=Path(), help="the course's folder; default: this one")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    target = args.to or args.report.with_suffix(".html")
    if target.resolve() == args.report.resolve() or target.is_dir():
        raise CommandError(f"{target} cannot be the page; name another file with --to.")
    hold_own_kind(target, ".html")
    insights = summarise(read_rows(args.report))
    prefix = args.lessons or os.path.relpath(args.course.resolve(), target.resolve().parent)

    from grading.insights_page import render

    page = render(insights, names=args.names, prefix=prefix.rstrip("/") + "/")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    partial.write_text(page, encoding="utf-8")
    partial.replace(target)
    print(f"{target}: {insights.learners} learners, {len(insights.questions)} questions")
    for mistake in insights.again:
        print(f"  {mistake.count} of {mistake.of}  {mistake.question}: {mistake.cause}")
    return 0
