"""How long a check takes: each question with its solution, and each assignment from a cold start.

    python benchmarks/check_times.py [--json FILE]

Limits: a question under 3 s, an assignment with imports under 15 s, on two cores. Seconds are CPU seconds of this
process, so that a busy machine does not count.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import time
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
QUESTION_LIMIT, ASSIGNMENT_LIMIT = 3.0, 15.0


def measure(assignment: str) -> dict[str, float]:
    """CPU seconds of each check of an assignment's solution in this process, and of everything as "total"."""
    notebook = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    names: dict[str, object] = {}
    seconds = {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        began = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell.source, cell.id, "exec"), names)  # our own source
        if cell.metadata.get("nbgrader", {}).get("grade"):
            seconds[cell.metadata.nbgrader.grade_id] = round(time.process_time() - began, 3)
    return seconds | {"total": round(time.process_time(), 3)}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--assignment", help="measure this one alone, in this process, and print JSON")
    args = parser.parse_args()
    if args.assignment:
        print(json.dumps(measure(args.assignment)))
        return 0

    results = {}
    print(f"{'assignment':<24} {'question':<26} {'CPU s':>7}")
    for path in sorted((ROOT / "solutions").glob("*/*.ipynb")):
        own = [sys.executable, __file__, "--assignment", path.stem]
        seconds = json.loads(subprocess.run(own, check=True, capture_output=True, text=True).stdout)
        results[path.stem] = seconds
        for question, value in seconds.items():
            limit = ASSIGNMENT_LIMIT if question == "total" else QUESTION_LIMIT
            print(
                f"{path.stem:<24} {question:<26} {value:>7.2f}{'  over its limit' if value > limit else ''}"
            )
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
