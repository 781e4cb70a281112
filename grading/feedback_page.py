"""One page of HTML a notebook: points, findings and comments, and nothing that runs.

`FeedbackExporter` is nbgrader's exporter of this course's feedback (`c.GenerateFeedback.exporter_class`), so that the
formgrader's button, `nbgrader generate_feedback` and `insidebert feedback` write the same page.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template
from markupsafe import Markup, escape
from nbconvert.exporters import Exporter
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.utils import is_grade, is_solution, is_task
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from traitlets import default

from checks.protocol import Finding, Verdict
from checks.render import heading
from grading.judging import RECORD, is_verdict, points_for, recorded
from grading.sanitising import markdown, sanitise
from grading.withholding import unreadable, withheld

_TEMPLATES = Path(__file__).parent / "templates"
# The flags of `grading.flags` that a learner can do something about next time.
_PUT_RIGHT = {
    "missing_notebook", "renamed_notebook", "extra_files", "odd_encoding", "changed_source",
    "changed_type", "changed_metadata", "deleted_cell", "moved_cell", "duplicate_cell", "unknown_cell",
    "lost_metadata", "too_long_cell", "too_many_cells",
}  # fmt: skip
_STYLES = (("xcode", ""), ("github-dark", "@media (prefers-color-scheme: dark)"))


class FeedbackExporter(Exporter):
    """An autograded notebook as a page for its learner.

    Expects what nbgrader's `GetGrades` has left in the cells and in the resources: points, comments, the penalty.
    Everything that is not markup of ours is escaped by the template or has been through `sanitising`.
    """

    output_mimetype = "text/html"
    _names: dict[str, str] | None = None  # of the class, read once a run

    @default("file_extension")
    def _html(self) -> str:
        return ".html"

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kwargs: Any) -> Any:
        """The page and the resources; see nbconvert's `Exporter`."""
        notebook, resources = super().from_notebook_node(nb, resources, **kwargs)
        notebook = sanitise(notebook)
        grades = resources.get("nbgrader", {})
        why = withheld(notebook.metadata)
        blocks = [self._block(cell, withheld=bool(why)) for cell in notebook.cells]
        page = _template().render(
            title=grades.get("notebook", "Feedback"),
            learner=self._called(grades),
            score=_number(max(0.0, grades.get("score", 0.0))),
            max_score=_number(grades.get("max_score", 0.0)),
            why=why,
            unreadable=bool(unreadable(notebook)),
            waits=any(block.get("waits") for block in blocks),
            late_penalty=_number(grades.get("late_penalty") or 0.0, nothing=""),
            questions=[block for block in blocks if block["kind"] == "graded"],
            flags=_flags(notebook),
            blocks=blocks,
            css=Markup(_css()),
        )
        return page, resources

    def _block(self, cell: NotebookNode, *, withheld: bool) -> dict[str, Any]:
        """What the page shows of one cell; a sentence for one that cannot be shown: it costs nobody the page."""
        try:
            return _block(cell, withheld=withheld)
        except Exception as error:  # parsers of markdown and code, at whatever a learner wrote
            self.log.warning("A cell is left out of the feedback: %s: %s", type(error).__name__, error)
            cell.source, cell.outputs = "", []
            cell.metadata.get("nbgrader", {}).pop("comment", None)
            return _block(cell, withheld=withheld) | {"text": "This cell cannot be shown here."}

    def _called(self, grades: Mapping[str, Any]) -> str:
        """The learner's name, as the class list has it, and her id."""
        student = str(grades.get("student", ""))
        if self._names is None:
            with Gradebook(grades["db_url"]) if "db_url" in grades else nullcontext() as gradebook:
                students = gradebook.students if gradebook else []
                self._names = {
                    it.id: f"{it.first_name or ''} {it.last_name or ''}".strip() for it in students
                }
        name = self._names.get(student)
        return f"{name} ({student})" if name else student


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("feedback.html.j2")


@cache
def _css() -> str:
    colours = []
    for style, when in _STYLES:
        rules = HtmlFormatter(style=style).get_style_defs("pre.code")
        # The background is the page's own.
        rules = "\n".join(line for line in rules.splitlines() if line.startswith("pre.code ."))
        colours.append(f"{when} {{\n{rules}\n}}" if when else rules)
    return (_TEMPLATES / "page.css").read_text(encoding="utf-8") + "\n".join(colours)


def _block(cell: NotebookNode, *, withheld: bool) -> dict[str, Any]:
    """What the page shows of one cell. A graded check shows its verdict and points, not its code."""
    nbgrader = cell.metadata.get("nbgrader", {})
    block: dict[str, Any] = {"kind": "cell", "outputs": [], "id": "", "comment": ""}
    if nbgrader.get("comment"):
        block["comment"] = _prose(str(nbgrader["comment"]))
    graded = is_grade(cell) or is_task(cell)
    if graded:
        block |= {"kind": "graded", "id": nbgrader["grade_id"], "state": "", **_points(cell, nbgrader)}
    if cell.cell_type == "markdown":
        block["text"] = _prose(cell.source)
    elif cell.cell_type == "code":
        if cell.source.strip() and not (graded and not is_solution(cell)):
            block["code"] = Markup(
                highlight(cell.source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
            )
        block["outputs"] = [shown for output in cell.outputs if (shown := _shown(output))]
    return block | _by_a_person(nbgrader) if graded and withheld else block


def _points(cell: NotebookNode, nbgrader: Mapping[str, Any]) -> dict[str, Any]:
    """Points as the gradebook has them, how the check went, and what it came to where a person decided otherwise."""
    points = float(nbgrader.get("points") or 0.0)
    score = float(nbgrader.get("score") or 0.0)
    shown = {"score": _number(score), "points": _number(points)}
    if cell.cell_type != "code" or not is_verdict(cell):
        return shown
    record = recorded(cell) or {}
    findings = tuple(Finding(name, "") for name in record["findings"])
    verdict = Verdict(record["question"], record["state"], record["score"], findings)
    alone = points_for(verdict, points)
    by_hand = _number(alone) if abs(alone - score) > 0.01 else ""
    return shown | {"state": heading(verdict), "by_hand": by_hand}


def _by_a_person(nbgrader: Mapping[str, Any]) -> dict[str, Any]:
    """What is shown of a cell that no check has judged; the page's head says why."""
    if nbgrader.get("waits", True):
        return {"waits": True, "state": "not graded yet", "score": "–", "by_hand": "", "outputs": []}
    return {"state": "graded by your instructor", "by_hand": "", "outputs": []}


def _shown(output: NotebookNode) -> Markup | None:
    """One output as markup; `sanitising.sanitise` has been over it."""
    if output.output_type == "stream":
        return _pre(output.text)
    if output.output_type == "error":
        return _pre("\n".join(output.traceback))
    data = output.data
    if "text/html" in data:
        return Markup(data["text/html"])
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            label = escape(data.get("text/plain", "")[:200] or "a picture your code made")
            return Markup(f'<img alt="{label}" src="data:{kind};base64,{data[kind]}">')
    if "text/markdown" in data:
        return _prose(data["text/markdown"])
    return _pre(data.get("text/plain") or data.get("text/latex") or "")


def _prose(source: str) -> Markup:
    """Markdown as markup; what is too wide in it can be scrolled with the keyboard."""
    return Markup(markdown(source).replace("<pre>", '<pre tabindex="0">'))


def _pre(text: str) -> Markup | None:
    text = strip_ansi(text).rstrip()
    return Markup("<pre tabindex='0'>{}</pre>").format(text) if text else None


def _flags(notebook: NotebookNode) -> list[str]:
    """The sentences of what intake changed; what it suspects is for the instructor alone."""
    noted = notebook.metadata.get(RECORD)
    flags = noted.get("flags", []) if isinstance(noted, Mapping) else []
    return [str(flag["text"]) for flag in flags if isinstance(flag, Mapping) and flag.get("id") in _PUT_RIGHT]


def _number(value: float, nothing: str = "0") -> str:
    return f"{round(float(value), 2):g}" if value else nothing
