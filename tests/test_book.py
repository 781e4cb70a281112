"""The book: every lesson and exercise becomes a page, and no link or picture of the site leads nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest

ROOT = Path(__file__).parents[1]


class Page(HTMLParser):
    """The links, anchors and pictures of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.pictures: list[dict[str, str | None]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        if tag == "a" and (link := found.get("href")):
            self.links.append(link)
        if tag == "img":
            self.pictures.append(found)


def build(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "docs/book/build.py", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"TQDM_DISABLE": "1"}
    )


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """The whole book with two lessons executed; `tests/test_lessons.py` executes them all."""
    out = tmp_path_factory.mktemp("book")
    built = build("--run", "00", "03", "--out", str(out))
    assert built.returncode == 0, built.stderr
    return {path: Page(path) for path in (out / "html").rglob("*.html") if "_static" not in path.parts}


def test_a_folder_of_somebody_else_stays(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "thesis.tex").touch()
    built = build("--run", "none", "--out", str(tmp_path))
    assert built.returncode and "--out" in built.stderr and "Traceback" not in built.stderr
    assert [path.name for path in (tmp_path / "source").iterdir()] == ["thesis.tex"]


def test_a_lesson_that_does_not_exist_is_named(tmp_path: Path) -> None:
    built = build("--run", "03", "3", "--out", str(tmp_path))
    assert built.returncode and "'3'" in built.stderr and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_every_notebook_is_a_page(book: dict[Path, Page]) -> None:
    pages = {path.stem for path in book}
    assert {path.stem for path in ROOT.glob("lessons/*.ipynb")} <= pages
    assert {path.stem for path in ROOT.glob("exercises/*/*.ipynb")} <= pages


@pytest.mark.slow
def test_every_link_inside_the_book_leads_somewhere(book: dict[Path, Page]) -> None:
    lost = []
    for page in book.values():
        for link in page.links:
            target, anchor = urldefrag(unquote(link))
            if urlparse(link).scheme:  # another site
                continue
            there = (page.path.parent / target).resolve() if target else page.path
            if not there.exists() or (anchor and there in book and anchor not in book[there].anchors):
                lost.append(f"{page.path.name}: {link}")
    assert not lost


@pytest.mark.slow
def test_an_executed_lesson_shows_its_results_and_pictures(book: dict[Path, Page]) -> None:
    page = next(page for page in book.values() if page.path.name == "03_parameter_budget.html")
    text = page.path.read_text(encoding="utf-8")
    assert "Result: 109.48 million" in text
    drawn = [picture for picture in page.pictures if (picture["src"] or "").startswith("data:image/png")]
    assert drawn and all(picture["alt"] for picture in page.pictures)
