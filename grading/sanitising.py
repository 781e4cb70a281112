"""Makes a submission's notebook safe to look at: what it says stays, what it could do in a browser goes.

A learner's cells can hold markdown with HTML in it and outputs of any kind, scripts included. They are shown twice:
to the learner as feedback, and to the instructor in the formgrader, inside a session that may do anything. Nothing
of theirs gets a class, an id or a style, so that it cannot pass for a part of the page or move one about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import bleach
from bleach.css_sanitizer import CSSSanitizer
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from grading.judging import RECORD, is_verdict

MAX_CELLS = 300
MAX_OUTPUTS = 30  # in one cell
MAX_SOURCE = 30_000  # characters; parsers of markdown and HTML take more than linear time
MAX_TEXT = 20_000
MAX_IMAGE = 3_000_000
MAX_MARKUP = 200_000  # of all markdown and HTML of a notebook: half a minute at the very worst
MAX_CODE = 300_000  # of all code cells of a notebook, for the same reason
MAX_TOTAL = 10_000_000  # of all outputs of a notebook

_TAGS = frozenset((
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "ol", "p", "pre", "s", "samp",
    "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u",
    "ul",
))  # fmt: skip
# What the verdicts of `checks.render` are styled with.
_STYLES = frozenset((
    "background-color", "border-left", "border-radius", "color", "display", "flex", "font-family", "font-weight",
    "margin", "max-width", "overflow-wrap", "padding",
))  # fmt: skip
_ATTRIBUTES = {
    "abbr": ["title"], "img": ["alt", "title", "width", "height"], "td": ["colspan", "rowspan", "align"],
    "th": ["colspan", "rowspan", "align", "scope"], "details": ["open"], "ol": ["start"],
}  # fmt: skip
_LINK = re.compile(r"(https?://|mailto:|#)", re.I)
_PICTURE = re.compile(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=\s]+", re.I)
_UNSEEN = re.compile(r"<(script|style)\b.*?(</\1\s*>|\Z)", re.I | re.S)  # their text would be left over
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_KEPT_OF_NBGRADER = (
    "grade", "grade_id", "locked", "points", "solution", "task", "schema_version", "cell_type", "score", "comment",
    "waits",
)  # fmt: skip


def clean(markup: str, *, styled: bool = False) -> str:
    """HTML with nothing in it but text, tables, lists, links to the web and pictures that come along as data.

    Args:
        styled: keep the styles that a verdict needs; for what `checks.render` wrote, not for a learner's HTML.
    """
    return _cleaner(styled).clean(_UNSEEN.sub("", markup[:MAX_SOURCE]))


@cache
def _cleaner(styled: bool) -> bleach.Cleaner:
    def allowed(tag: str, name: str, value: str) -> bool:
        if name == "style":
            return styled
        if tag == "a" and name == "href":
            return bool(_LINK.match(value))
        if tag == "img" and name == "src":
            return bool(_PICTURE.fullmatch(value))
        return name in _ATTRIBUTES.get(tag, ())

    return bleach.Cleaner(
        tags=_TAGS,
        attributes=allowed,
        protocols=["http", "https", "mailto", "data"],
        strip=True,
        css_sanitizer=CSSSanitizer(allowed_css_properties=_STYLES, allowed_svg_properties=()),
    )


def markdown(source: str) -> str:
    """Markdown as HTML, cleaned after it was rendered: before, it would not be clear what is HTML in it."""
    renderer = IPythonRenderer(escape=False, exclude_anchor_links=True, attachments=_Pasted())
    return clean(MarkdownWithMath(renderer=renderer).render(source[:MAX_SOURCE]))


class _Pasted(dict[str, dict[str, str]]):
    """Stands in for every picture that was pasted into a text. Intake keeps none: the page shows their names.

    The renderer ends at the first picture that is not among its attachments.
    """

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, _: str) -> dict[str, str]:
        return {"image/png": ""}


class Sanitise(Preprocessor):
    """`sanitise` for `c.HTMLExporter.preprocessors`, which the formgrader's view of a submission goes through."""

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: Any) -> Any:
        return sanitise(nb), resources


def sanitise(notebook: NotebookNode) -> NotebookNode:
    """Make a notebook safe to show, in place, whatever its cells and outputs hold; cut what is too long."""
    left = len(notebook.cells) - MAX_CELLS
    notebook.cells = notebook.cells[:MAX_CELLS]
    if left > 0:
        notebook.cells.append(new_markdown_cell(f"*{left:,} further cells are not shown.*"))
    budget, markup, code = _Budget(MAX_TOTAL), _Budget(MAX_MARKUP), _Budget(MAX_CODE)
    for cell in notebook.cells:
        _sanitise_cell(cell, budget, markup, code)
    kept = {key: notebook.metadata[key] for key in (RECORD,) if key in notebook.metadata}
    notebook.metadata = NotebookNode(kept | {"language_info": NotebookNode(name="python")})
    return notebook


class _Budget:
    """How many characters of outputs may still be shown."""

    def __init__(self, characters: int):
        self.left = characters

    def take(self, text: str, limit: int) -> str | None:
        """The text, or None where it is longer than `limit` or than what is left."""
        if len(text) > min(limit, self.left):
            return None
        self.left -= len(text)
        return text

    def cut(self, text: str, limit: int = MAX_SOURCE) -> str:
        limit = min(limit, self.left)
        self.left -= min(len(text), limit)
        return text if len(text) <= limit else f"{text[:limit]}\n… {len(text) - limit:,} characters not shown"


def _sanitise_cell(cell: NotebookNode, budget: _Budget, markup: _Budget, code: _Budget) -> None:
    ours = is_verdict(cell)  # before the metadata goes
    nbgrader = cell.metadata.get("nbgrader")
    cell.metadata = NotebookNode()
    if isinstance(nbgrader, Mapping) and _NAME.fullmatch(str(nbgrader.get("grade_id", ""))):
        cell.metadata.nbgrader = NotebookNode({k: nbgrader[k] for k in _KEPT_OF_NBGRADER if k in nbgrader})
    cell.pop("attachments", None)
    if cell.cell_type != "code":
        cell.source = markup.cut(cell.source, MAX_SOURCE)
        return
    # Pygments looks from every line of blanks to the end of all of them: 20 seconds for a cell of such lines.
    cell.source = code.cut("\n".join(line.rstrip() for line in cell.source.split("\n")))
    if not isinstance(cell.get("execution_count"), int):
        cell.execution_count = None
    outputs = [output for output in cell.outputs if isinstance(output, Mapping)]
    shown = [_output(output, budget, markup, ours) for output in outputs[:MAX_OUTPUTS]]
    if len(outputs) > MAX_OUTPUTS:
        note = f"{len(outputs) - MAX_OUTPUTS:,} further outputs are not shown.\n"
        shown.append(new_output("stream", name="stdout", text=note))
    cell.outputs = [output for output in shown if output.output_type != "display_data" or output.data]


def _output(output: Mapping[str, Any], budget: _Budget, markup: _Budget, ours: bool) -> NotebookNode:
    kind = output.get("output_type")
    if kind == "error":
        trace = output.get("traceback")
        text = "\n".join(map(str, trace)) if isinstance(trace, list) else ""
        name, value = str(output.get("ename", ""))[:200], budget.cut(str(output.get("evalue", "")), 2_000)
        return new_output(
            "error", ename=name, evalue=value, traceback=[budget.cut(text or f"{name}: {value}")]
        )
    if kind in ("display_data", "execute_result"):
        data = output.get("data")
        shown = _data(data if isinstance(data, Mapping) else {}, budget, markup, ours)
        metadata = {RECORD: output["metadata"][RECORD]} if ours else {}
        return new_output("display_data", data=shown, metadata=metadata)
    name = "stderr" if output.get("name") == "stderr" else "stdout"
    return new_output("stream", name=name, text=budget.cut(str(output.get("text", ""))))


def _data(data: Mapping[str, Any], budget: _Budget, markup: _Budget, ours: bool) -> dict[str, str]:
    """The forms of one output that a page can show without running anything."""
    shown = {}
    for kind in ("text/html", "text/markdown"):
        if isinstance(value := data.get(kind), str) and markup.take(value, MAX_SOURCE) is not None:
            shown[kind] = clean(value, styled=ours) if kind == "text/html" else value
    for kind in ("text/latex", "text/plain"):
        if isinstance(value := data.get(kind), str):
            shown[kind] = budget.cut(value, MAX_TEXT)
    for kind in ("image/png", "image/jpeg"):
        value = data.get(kind)
        if isinstance(value, str) and _BASE64.fullmatch(value) and budget.take(value, MAX_IMAGE) is not None:
            shown[kind] = "".join(value.split())
    return shown
