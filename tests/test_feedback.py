"""What learners and instructors see of a submission: points, findings, comments, and nothing of it that runs."""

from __future__ import annotations

import re
import shutil
import time
from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from checks.protocol import Finding, Verdict
from checks.render import as_html
from grading import evidence, feedback_page
from grading.feedback import write_feedback
from grading.feedback_page import FeedbackExporter
from grading.flags import flag, note
from grading.judging import graded_cells
from grading.sanitising import MAX_OUTPUTS, clean, markdown, sanitise
from grading.withholding import lost, withhold
from insidebert.cli import main
from tests.small_course import ASSIGNMENT, RIGHT, add_graded, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own

# Each would call steal() where it is shown as it came.
HOSTILE = [
    "<script>steal()</script>",
    "<SCRIPT\n>steal()</SCRIPT x>",
    "<img src=x onerror=steal()>",
    '<img src="x" OnError="steal()">',
    "<svg onload=steal()><script>steal()</script></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img src onerror=steal()>",
    '<a href="javascript:steal()">here</a>',
    '<a href=" java\tscript:steal()">here</a>',
    '<a href="&#106;avascript:steal()">here</a>',
    '<a href="data:text/html,<script>steal()</script>">here</a>',
    '<iframe srcdoc="<script>steal()</script>"></iframe>',
    '<object data="data:text/html;base64,PHNjcmlwdD5zdGVhbCgpPC9zY3JpcHQ+"></object>',
    "<details open ontoggle=steal()>x</details>",
    "<form action=http://elsewhere.test><button formaction=javascript:steal()>x</button></form>",
    "<style>@import url(http://elsewhere.test/steal.css)</style>",
    '<meta http-equiv="refresh" content="0;url=javascript:steal()">',
    '<base href="http://elsewhere.test/">',
    '<link rel="stylesheet" href="http://elsewhere.test/steal.css">',
    '<div style="background:url(http://elsewhere.test/steal)" onclick=steal()>x</div>',
    '<p class="modal" id="score" name="score">x</p>',
    "<!--><img src=x onerror=steal()>-->",
    '<noscript><p title="</noscript><img src=x onerror=steal()>">',
]
MARKDOWN = [
    "[here](javascript:steal())",
    "![x](javascript:steal())",
    '![x](x"onerror="steal())',
    "<javascript:steal()>",
    "`<script>steal()</script>`",
    "```html\n<script>steal()</script>\n```",
    "$<img src=x onerror=steal()>$",
]
RUNS = {
    "script",
    "style",
    "meta",
    "iframe",
    "object",
    "embed",
    "svg",
    "math",
    "link",
    "base",
    "form",
    "button",
    "input",
    "noscript",
}
NAMES = {"class", "id", "name", "style"}  # only the page itself may use them
SAFE_LINK = ("http://", "https://", "mailto:", "#", "data:image/png;", "data:image/jpeg;", "data:image/gif;")


class Active(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        if tag in RUNS:
            self.found.append(tag)
        for name, value in attributes:
            if name.startswith("on") or name in ("srcdoc", "formaction", "http-equiv"):
                self.found.append(f"{tag} {name}")
            if name in ("href", "src") and not (value or "").startswith(SAFE_LINK):
                self.found.append(f"{tag} {name}={value}")
            if name in NAMES:
                self.found.append(f"{tag} {name}")


def active(markup):
    parser = Active()
    parser.feed(markup)
    parser.close()
    return parser.found


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = make_course(tmp_path_factory.mktemp("feedback"))
    add_graded(course, "mallory", RIGHT, hostile)
    return course


def hostile(notebook):
    """Fills a notebook with everything above, as its learner may: own cells, the answers, outputs of any kind."""
    for markup in HOSTILE + MARKDOWN:
        notebook.cells.append(new_markdown_cell(markup))
    outputs = [new_output("display_data", data={"text/html": markup}) for markup in HOSTILE]
    outputs += [new_output("display_data", data={"text/markdown": markup}) for markup in MARKDOWN]
    outputs += [
        new_output("display_data", data={"application/javascript": "steal()"}),
        new_output("display_data", data={"image/svg+xml": "<svg><script>steal()</script></svg>"}),
        new_output("display_data", data={"image/png": '"><script>steal()</script>'}),
        new_output(
            "display_data",
            data={"text/html": "<script>steal()</script>"},
            metadata={"text/html": {"isolated": True}, "insidebert": {"state": "correct"}},
        ),
        new_output(
            "stream", name="stderr", text="<script>steal()</script>\x1b[31m<img src=x onerror=steal()>"
        ),
        new_output("error", ename="<script>", evalue="<script>steal()</script>", traceback=["<script>"]),
    ]
    for start in range(0, len(outputs), MAX_OUTPUTS):
        notebook.cells.append(new_code_cell("1", outputs=outputs[start : start + MAX_OUTPUTS]))
    notebook.cells.append(
        new_code_cell("'<script>steal()</script>'", metadata={"tags": ['"><script>steal()']})
    )
    forged = {"grade": False, "solution": False, "grade_id": '"><script>steal()</script>', "locked": False}
    notebook.cells[-1].metadata["nbgrader"] = forged
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": "</script><script>steal()"}
    notebook.metadata["language_info"] = {"name": "<script>", "pygments_lexer": "<script>"}


def page_of(course, student):
    return course.notebook("feedback_directory", ASSIGNMENT, student).with_suffix(".html")


def feedback(course, student):
    write_feedback(course, ASSIGNMENT, student)
    return page_of(course, student).read_text(encoding="utf-8")


@pytest.mark.parametrize("markup", HOSTILE)
def test_no_html_comes_through_that_does_something(markup):
    assert active(markup) or "<!--" in markup  # the test can fail
    assert active(clean(markup)) == []
    assert active(markdown(markup)) == []


@pytest.mark.parametrize("source", MARKDOWN)
def test_no_markdown_turns_into_something_active(source):
    assert active(markdown(source)) == []


def test_what_is_harmless_stays():
    text = "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> `a < b` & [a link](https://example.org/x?a=1)"
    shown = markdown(text)
    for part in ("<h1>", "<table>", "<blockquote>", "a &lt; b", 'href="https://example.org/x?a=1"'):
        assert part in shown
    picture = '<img src="data:image/png;base64,iVBORw0KGgo=" alt="a curve">'
    assert clean(picture) == picture
    assert "<details>" in clean("<details><summary>Hint</summary>x</details>")


def test_a_verdict_keeps_its_look():
    finding = Finding("a", "the <b> cause", "a case", "got", "expected")
    for state in ("correct", "partial", "incorrect", "not_attempted", "crashed"):
        page = as_html(Verdict("q", state, 0.5, (finding,), "a lesson"))
        declarations = re.findall(r"[a-z-]+:[^;\"]+", page)
        shown = clean(page, styled=True)
        assert [found for found in declarations if found not in shown] == []


def test_outputs_are_cut_and_counted():
    many = [new_output("stream", name="stdout", text="x" * 1_000_000) for _ in range(200)]
    notebook = sanitise(new_notebook(cells=[new_code_cell("1", outputs=many), new_code_cell("x" * 10**6)]))
    assert len(notebook.cells[0].outputs) == MAX_OUTPUTS + 1
    assert sum(len(output.text) for output in notebook.cells[0].outputs) < 2_000_000
    assert "170 further outputs" in notebook.cells[0].outputs[-1].text
    assert len(notebook.cells[1].source) < 100_000


def test_code_that_is_slow_to_colour_is_shown_soon():
    """Pygments takes 20 seconds for one such cell as it came."""
    cells = [new_code_cell("x = 1" + " \n" * 15_000 + "y = 2") for _ in range(200)]
    begin = time.process_time()
    page, _ = FeedbackExporter().from_notebook_node(new_notebook(cells=cells))
    assert time.process_time() - begin < 10
    assert len(page) < 2_000_000


@pytest.mark.parametrize(
    "output",
    [
        {},
        {"output_type": "stream", "text": ["a", 3]},
        {"output_type": "error", "traceback": "no list"},
        {"output_type": "display_data", "data": None, "metadata": None},
        {"output_type": "execute_result", "data": {"text/html": ["<b>"], "text/plain": 3}},
        {"output_type": "<script>", "name": "<script>"},
    ],
    ids=range(6),
)
def test_outputs_of_any_form_are_shown_or_left_out(output):
    notebook = new_notebook(cells=[new_code_cell("1")])
    notebook.cells[0].outputs = [nbformat.from_dict(output), "no output at all"]
    sanitise(notebook)
    nbformat.validate(notebook)


def test_the_page_says_points_state_and_cause(course):
    page = feedback(course, "bo")
    assert "12·H²" in page or "12·hidden²" in page or "expected" in page
    assert "✗ Not right yet" in page
    assert "<strong>3</strong> of 20 points" in page
    assert re.search(r'href="#factorised_table".*?✓ Correct.*?3 / 3', page, re.S)


def test_the_page_shows_neither_the_check_nor_what_it_drew(course):
    page = feedback(course, "bo")
    kept = evidence.read(course.notebook("autograded_directory", ASSIGNMENT, "bo").parent)
    assert str(kept["seed"]) not in page
    assert "insidebert.evidence" not in page
    for cell in graded_cells(nbformat.read(course.notebook("release_directory", ASSIGNMENT), as_version=4)):
        assert cell.source not in page
    assert not (page_of(course, "bo").parent / evidence.FILE).exists()


def test_a_grade_given_by_hand_a_comment_and_a_penalty_are_on_the_page(course):
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("layer_parameters", ASSIGNMENT, ASSIGNMENT, "bo")
        comment = gradebook.find_comment("layer_parameters_answer", ASSIGNMENT, ASSIGNMENT, "bo")
        notebook = gradebook.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, "bo")
        grade.manual_score, comment.manual_comment = 2.5, "**Nearly** <script>steal()</script>"
        notebook.late_submission_penalty = 1.0
        gradebook.db.commit()
    page = feedback(course, "bo")
    assert "points given by hand" in page
    assert "2.5 / 3" in page
    assert "the check alone came to 0." in page
    assert "<strong>Nearly</strong>" in page
    assert "steal()" not in page
    assert "<strong>4.5</strong> of 20 points (after 1 off for handing in late)" in page


def test_a_hostile_notebook_gives_a_page_on_which_nothing_runs(course):
    page = feedback(course, "mallory")
    found = active(page[page.index("<body>") :])
    assert [what for what in found if what.split()[-1] not in NAMES] == []
    assert "modal" not in page
    assert "default-src 'none'" in page


def test_the_formgraders_button_writes_the_same_page(course):
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.auth import Authenticator
    from nbgrader.server_extensions.formgrader import handlers

    ours = feedback(course, "ada")
    page_of(course, "ada").unlink()
    config = course.config.copy()
    config.HTMLExporter.template_name = "formgrade"  # what the formgrader's process has besides
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    api = NbGraderAPI(course.directory, Authenticator(config=config), config=config)
    assert api.generate_feedback(ASSIGNMENT)["success"]
    assert page_of(course, "ada").read_text(encoding="utf-8") == ours


@pytest.mark.filterwarnings("ignore:No lexer found")  # the notebook's own idea of its language
def test_the_formgrader_shows_a_hostile_notebook_without_what_runs(course):
    """The view an instructor grades in: nbgrader's own template and exporter, with our configuration."""
    from nbgrader.server_extensions.formgrader import handlers

    config = course.config.copy()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    resources = dict.fromkeys(
        ("assignment_id", "notebook_id", "submission_id", "student", "notebook_path"), "x"
    )
    resources |= {"index": 0, "total": 1, "base_url": "", "first_name": "", "last_name": ""}
    path = course.notebook("autograded_directory", ASSIGNMENT, "mallory")
    page, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    shown = page[page.index('id="notebook"') :]
    assert "count_parameters" in shown
    steals = re.findall(r"<[^>]*steal[^>]*>|<script[^>]*>[^<]*steal", shown)
    assert steals == []


@pytest.mark.browser
def test_nothing_runs_in_a_real_browser(course, tmp_path):
    from playwright.sync_api import sync_playwright

    feedback(course, "mallory")
    page = page_of(course, "mallory").read_text(encoding="utf-8")
    without_policy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    (tmp_path / "page.html").write_text(without_policy, encoding="utf-8")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "chromium is not on PATH; `make test` installs it, or names what to install"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab, asked, stolen = browser.new_page(), [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.expose_function("steal", lambda: stolen.append(True))
        tab.goto((tmp_path / "page.html").as_uri())
        tab.wait_for_load_state("networkidle")
        for link in tab.locator("main a[href]").all():
            assert (link.get_attribute("href") or "").startswith(("#", "http", "mailto"))
        browser.close()
    assert stolen == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_the_command_says_what_is_missing(course, capsys):
    root = str(course.root)
    assert main(["feedback", "--course", root, "objectives"]) == 2
    assert main(["feedback", "--course", root, "--student", "nobody", ASSIGNMENT]) == 2
    said = capsys.readouterr().err
    assert "nothing of objectives has been graded" in said
    assert "ada, bo, mallory" in said
    assert "Traceback" not in said


def test_one_page_that_cannot_be_written_costs_no_other_and_none_is_outdated(course):
    ghost = course.notebook("autograded_directory", ASSIGNMENT, "ghost")
    ghost.parent.mkdir(parents=True)
    try:
        ghost.write_text("{}", encoding="utf-8")
        page_of(course, "ada").unlink(missing_ok=True)
        page_of(course, "gone").parent.mkdir(parents=True)
        page_of(course, "gone").write_text("an old verdict", encoding="utf-8")
        written, failed = write_feedback(course, ASSIGNMENT)
        assert (written, list(failed)) == (3, ["ghost"])
        assert "traceback" not in failed["ghost"].lower()
        assert "could not be converted" in failed["ghost"]
        assert page_of(course, "ada").exists()
        assert not page_of(course, "gone").exists()  # nothing of theirs is graded any more
    finally:
        shutil.rmtree(ghost.parent.parent)


def test_a_picture_pasted_into_a_text_costs_nobody_the_page(course):
    source = "before ![image.png](attachment:image.png) <img src='attachment:x.png' alt='x'> after"
    add_graded(course, "pia", RIGHT, lambda notebook: notebook.cells.append(new_markdown_cell(source)))
    try:
        page = feedback(course, "pia")
        assert re.search(r'before <img alt="image.png"> <img alt="x"> after', page)
        assert "<strong>6</strong> of 20 points" in page
    finally:
        shutil.rmtree(course.notebook("autograded_directory", ASSIGNMENT, "pia").parents[1])


def test_a_cell_that_cannot_be_shown_costs_nobody_the_page(course, monkeypatch):
    shown = feedback_page.markdown

    def fails(source):
        if "12·" in source or "##" in source:
            raise RecursionError("at this cell")
        return shown(source)

    monkeypatch.setattr(feedback_page, "markdown", fails)
    page = feedback(course, "ada")
    assert "This cell cannot be shown here." in page
    assert "<strong>6</strong> of 20 points" in page


@pytest.mark.parametrize("unreadable", [True, False])
def test_what_was_not_graded_is_said_to_wait_and_not_to_be_wrong(course, unreadable):
    why = "The notebook cannot be read: it is empty." if unreadable else lost("a kernel was lost")

    def change(notebook):
        note(notebook, [flag("unreadable_notebook", ["it is empty"])] if unreadable else [])

    folder = add_graded(course, "una", {}, change)
    try:
        path = folder / f"{ASSIGNMENT}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        withhold(notebook, why)
        nbformat.write(notebook, path)
        with course.gradebook() as gradebook:
            for grade in gradebook.find_submission(ASSIGNMENT, "una").notebooks[0].grades:
                grade.auto_score, grade.needs_manual_grade = None, True
            gradebook.db.commit()
        page = feedback(course, "una")
        assert "<strong>Not graded yet</strong>" in page
        assert why in page
        assert ("hand in a copy that does" in page) == unreadable
        assert "of 20 points" not in page
        assert page.count("not graded yet") == 7  # the title and six questions
        assert "Not attempted" not in page
        with course.gradebook() as gradebook:
            for grade in gradebook.find_submission(ASSIGNMENT, "una").notebooks[0].grades:
                grade.manual_score, grade.needs_manual_grade = 2.0, False
            gradebook.db.commit()
        page = feedback(course, "una")
        assert "<strong>12</strong> of 20 points" in page
        assert "graded by your instructor" in page
        assert "ot graded yet" not in page
    finally:
        shutil.rmtree(folder.parent)
