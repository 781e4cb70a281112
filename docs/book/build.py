"""Builds the book: the executed lessons as a static site in build/book/html, for those who only read.

python docs/book/build.py             executes every lesson (minutes) and builds
python docs/book/build.py --run 03    executes only lessons whose file name begins so
python docs/book/build.py --run none  executes nothing
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm
from traitlets.config import Config

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
MARK = ".book"  # the file that says of a folder that it is ours to replace
NOTEBOOK_LINK = re.compile(r"""(href=["'][^"':]*)\.ipynb""")  # in an output; Sphinx sees to those in the text


def gather(source: Path) -> list[Path]:
    """The book's pages in one folder, laid out as in the course, so that links between notebooks hold.

    Returns the lessons among them.
    """
    if source.exists() and not (source / MARK).is_file():
        raise SystemExit(f"{source} was not made by this build and would be replaced; give another --out.")
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    (source / MARK).touch()
    shutil.copy(HERE / "index.md", source)
    for notebook in [*ROOT.glob("lessons/*.ipynb"), *ROOT.glob("exercises/*/*.ipynb")]:
        target = source / notebook.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(notebook, target)
    return sorted(source.glob("lessons/*.ipynb"))


def execute(lesson: Path) -> None:
    """Runs a lesson where nobody can answer: figures become pictures, predictions plain questions."""
    notebook = nbformat.read(lesson, as_version=4)
    with tempfile.TemporaryDirectory(prefix="book-") as folder:
        sockets = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        # The book belongs to no learner: it reads no progress and leaves none.
        env = os.environ | {"INSIDEBERT_PROGRESS": f"{folder}/progress.json"}
        client = NotebookClient(notebook, kernel_name="python3", timeout=600, config=sockets)
        client.execute(cwd=str(ROOT / "lessons"), env=env)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if "text/html" in output.get("data", {}):
            output.data["text/html"] = NOTEBOOK_LINK.sub(r"\1.html", output.data["text/html"])
    nbformat.write(notebook, lesson)


def main() -> int:
    """Returns Sphinx' exit status; a warning, such as a link that leads nowhere, is an error."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "book", help="where to build (build/book)"
    )
    parser.add_argument(
        "--run", metavar="NN", nargs="+", help="execute only the lessons whose names begin so"
    )
    options = parser.parse_args()
    out = options.out.resolve()
    wanted = [] if options.run == ["none"] else options.run or [""]
    lost = [start for start in wanted if not any(ROOT.glob(f"lessons/{glob.escape(start)}*.ipynb"))]
    if lost:
        parser.error(f"no lesson's file name begins with {', '.join(map(repr, lost))}")
    lessons = [path for path in gather(out / "source") if path.name.startswith(tuple(wanted))]
    for lesson in tqdm(lessons, desc="lessons", file=sys.stdout):
        execute(lesson)

    from sphinx.cmd.build import build_main

    status = build_main(["-W", "--keep-going", "-q", "-c", str(HERE), str(out / "source"), str(out / "html")])
    if status == 0:
        print(f"The book: {out / 'html' / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
