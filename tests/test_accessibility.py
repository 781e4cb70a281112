"""What the course renders, for everybody: axe-core finds nothing, both themes, a narrow window, the keyboard alone.

Figures, verdicts, cards and the board take JupyterLab's colours: its two style sheets are put on their page, and
JupyterLab itself is asked once. Feedback and insights are pages of their own and follow the reader's system.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from jupyterlab.commands import get_app_dir
from playwright.sync_api import Page, expect

from checks.protocol import Finding, State, Verdict
from checks.render import as_html
from insidebert import predictions
from insidebert.board import board
from insidebert.figures import (
    budget_explorer,
    causal_map,
    cost_explorer,
    head_reader,
    input_packer,
    loss_curves,
    mask_playground,
    objectives_viewer,
    pieces,
    prediction,
    style,
)
from tests.figure_page import open_figure
from tests.lab_page import cell, choose, open_notebook
from tests.lab_server import LabServer, lab_server

pytestmark = pytest.mark.browser

THEMES = ("light", "dark")
WIDTHS = (900, 380)  # pixels: a window, and a narrow one
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
LEAST = 3.0  # contrast of what is no text, WCAG 2.1, 1.4.11; that of small text is 4.5, 1.4.3
OF_IPYWIDGETS = {"layout", "tabbable", "tooltip"}

# Each is called as `(…) => …` in the page. A colour may be written in any way: a canvas mixes and reads it.
COLOURS = """
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const paint = (colour, alpha = 1) => {
  Object.assign(canvas, { globalAlpha: alpha, fillStyle: colour });
  canvas.fillRect(0, 0, 1, 1);
};
const luminance = () => {
  const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const paper = (node) => {
  const around = [];
  for (let each = node; each; each = each.parentElement) around.unshift(getComputedStyle(each).backgroundColor);
  paint("white");
  around.forEach((colour) => paint(colour));
};
const contrast = (colour) => {
  const below = luminance();
  paint(colour);
  const [dark, light] = [below, luminance()].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};
"""
# axe takes a drawn text's `color`, not its `fill`: [what it says, its contrast] of those under 4.5.
PALE_TEXTS = f"""() => {{ {COLOURS}
  const under = (shape, text) => {{
    const [area, box] = [shape, text].map((node) => node.getBoundingClientRect());
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return area.left <= x && x <= area.right && area.top <= y && y <= area.bottom;
  }};
  return [...document.querySelectorAll("svg text")].map((text) => {{
    paper(text);
    for (const shape of text.ownerSVGElement.querySelectorAll("rect")) {{
      const look = getComputedStyle(shape);
      if (under(shape, text)) paint(look.fill, Number(look.opacity));
    }}
    return [text.textContent, contrast(getComputedStyle(text).fill)];
  }}).filter(([, ratio]) => ratio < 4.5);
}}"""
# Whoever asked for less motion has it: nothing moves by itself.
MOVING = """() => [...document.querySelectorAll("body *")].filter((node) => {
  const look = getComputedStyle(node);
  return look.animationName !== "none" || look.transitionDuration.split(",").some((time) => parseFloat(time));
}).map((node) => node.outerHTML.slice(0, 80))"""
# What the Tab key should stop at: of a group of radio buttons the chosen one, or the first.
STOPS = """() => {
  const all = [...document.querySelectorAll(".ib :is(button, input, select, textarea, [tabindex='0']):not(:disabled)")];
  const chosen = (radio) => all.filter((other) => other.name === radio.name);
  const stops = all.filter((node) => node.type !== "radio" ||
    node === (chosen(node).find((other) => other.checked) ?? chosen(node)[0]));
  stops.forEach((node, i) => { node.dataset.stop = i; });
  return stops.length;
}"""
FOCUS = f"""() => {{ {COLOURS}
  const node = document.activeElement, look = getComputedStyle(node);
  if (!node.dataset.stop) return null;
  paper(node.parentElement);
  return {{ stop: Number(node.dataset.stop), style: look.outlineStyle, width: parseFloat(look.outlineWidth),
    contrast: contrast(look.outlineColor) }};
}}"""
LOOKS = """() => [...document.querySelectorAll(".ib, .ib *")].map((node) => {
  const look = getComputedStyle(node);
  return node.tagName + " " + node.className + ": " + Array.from(look, (name) => `${name} ${look[name]}`).join("; ");
})"""
DRESS = """([theme, sheet]) => {
  const node = document.getElementById("theme") ?? document.head.appendChild(document.createElement("style"));
  node.id = "theme";
  node.textContent = `${sheet} body { color: var(--jp-content-font-color1); background: var(--jp-layout-color0); }
    a { color: var(--jp-content-link-color); }`;
  document.body.dataset.jpThemeLight = String(theme === "light");
}"""


def violations(page: Page, context: dict[str, Any] | None = None) -> list[str]:
    """What axe-core finds: rule, element, reason."""
    options = {"runOnly": TAGS, "resultTypes": ["violations"]}
    found = Axe().run(page, context, options).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:120]}: {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


def dress(page: Page, theme: str) -> None:
    """Puts one of JupyterLab's themes on the page."""
    sheet = Path(get_app_dir(), "themes", "@jupyterlab", f"theme-{theme}-extension", "index.css")
    page.evaluate(DRESS, [theme, sheet.read_text(encoding="utf-8")])


def check(page: Page, put_on: Callable[[Page, str], object]) -> None:
    """Nothing is wrong in either theme and at either width; `put_on` dresses the page in a theme."""
    for theme, width in zip(THEMES, WIDTHS, strict=True):
        put_on(page, theme)
        page.set_viewport_size({"width": width, "height": 800})
        assert violations(page) == [], f"{theme}, {width}"
        assert page.evaluate(PALE_TEXTS) == [], f"{theme}, {width}"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{theme}, {width}"


def figure_of(name: str, tokenizer: Any) -> Any:
    """A figure in a state that shows all it can show."""
    texts = ("This teddybear is so cute.", "It sleeps under a ☃ snowman.")
    if name == "budget_explorer":
        return budget_explorer.BudgetExplorer("albert-base-v2")
    if name == "causal_map":
        return causal_map.CausalMap()
    if name == "cost_explorer":
        return cost_explorer.CostExplorer("bert-base-uncased", 1024)
    if name == "head_reader":
        return head_reader.HeadReader(tokenizer, *texts, "token", 384)
    if name == "input_packer":
        return input_packer.InputPacker(tokenizer, *texts, 12)
    if name == "loss_curves":
        known = {"ln V: knows nothing": 8.7, "knows the frequencies": 6.2, "ln 2: tosses a coin": 0.69}
        rows = [[step, 8 - step / 10, 0.69] for step in range(20)]
        return loss_curves.LiveCurves(steps=30, references=known, rows=rows)
    if name == "mask_playground":
        silent = SimpleNamespace(config=SimpleNamespace(max_position_embeddings=512))
        return mask_playground.MaskPlayground(silent, tokenizer, mask_playground.SENTENCE, "word")
    if name == "objectives_viewer":
        return objectives_viewer.ObjectivesViewer(tokenizer, objectives_viewer.STORIES)
    entry = {"question": "What part is the token table?", "unit": "", "choices": ["2 %", "20 %", "50 %"]}
    return prediction.PredictionForm.of(entry | {"answer": "20 %"}, "A notice.", lambda _: "", {})


FIGURES = sorted(path.stem for path in style.HERE.glob("*.js") if path.stem != "pieces")
ON_PIECES = ("head_reader", "input_packer", "mask_playground")


def reader_of(name: str) -> Callable[[str], str]:
    return pieces.source if name in ON_PIECES else style.source


@pytest.fixture(scope="module", params=FIGURES)
def figure(browser: Any, tokenizer: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page with one figure on it."""
    name = request.param
    widget = figure_of(name, tokenizer)
    synced = [trait for trait in widget.trait_names(sync=True) if trait not in OF_IPYWIDGETS]
    state = {trait: getattr(widget, trait) for trait in synced if not trait.startswith("_")}
    page = open_figure(browser, name, state, reader_of(name), viewport={"width": 900, "height": 800})
    page.name = name
    if name == "mask_playground":  # the model that is not there has guessed
        page.wait_for_function("window.model.get('question').number > 0")
        page.evaluate(
            """() => { const { number, blanks } = window.model.get("question");
            window.model.set("answer", { number, guesses: blanks.map(() => [["arrays", 0.4], ["re", 0.2]]) }); }"""
        )
    yield page
    assert page.problems == []
    page.close()


def test_the_rules_are_on(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(
        "<!doctype html><p style='color: #aaa'>pale</p><input><svg><text fill='#bbb'>x</text></svg>"
    )
    found = {problem.partition(":")[0] for problem in violations(page)}
    assert {"color-contrast", "label", "html-has-lang", "document-title", "landmark-one-main"} <= found
    assert [text for text, _ in page.evaluate(PALE_TEXTS)] == ["x"]
    page.close()


def test_a_figure_is_for_everybody(figure: Any) -> None:
    check(figure, dress)
    assert figure.evaluate(MOVING) == []


def test_each_control_is_reached_by_the_tab_key_and_shows_it(figure: Any) -> None:
    stops = figure.evaluate(STOPS)
    assert stops or figure.name == "loss_curves"  # which has nothing to change
    for theme in THEMES:
        dress(figure, theme)
        figure.locator("h1").click()
        reached = []
        for _ in range(stops):
            figure.keyboard.press("Tab")
            reached.append(figure.evaluate(FOCUS))
        assert [focus and focus["stop"] for focus in reached] == list(range(stops))
        for focus in reached:
            assert focus["style"] == "solid" and focus["width"] >= 2 and focus["contrast"] >= LEAST, focus


def test_no_style_sheet_reaches_another_figure(figure: Any) -> None:
    """JupyterLab keeps the sheets of all open notebooks on one page, in the order in which they came."""
    figure.locator("h1").click()
    before = figure.evaluate(LOOKS)
    others = "".join(reader_of(name)(f"{name}.css") for name in FIGURES if name != figure.name)
    tag = figure.add_style_tag(content=others)
    after = figure.evaluate(LOOKS)
    tag.evaluate("node => node.remove()")
    changed = [
        [(old, new) for old, new in zip(one.split("; "), other.split("; "), strict=True) if old != new][:4]
        for one, other in zip(before, after, strict=True)
        if one != other
    ]
    assert changed == []


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "prediction"])
def test_a_picture_that_stands_in_says_what_it_shows(name: str, tokenizer: Any) -> None:
    bundle = figure_of(name, tokenizer).still()
    alternative = re.search(r'alt="([^"]*)"', bundle["text/html"])
    assert alternative and unescape(alternative[1]) == bundle["text/plain"]
    assert len(bundle["text/plain"]) > 50


def verdicts() -> list[str]:
    """One of each state; a value without a space in it, as an answer may return one."""
    wrong = Finding("x", "The tied decoder is counted once.", "tied, two layers", "9" * 250, "110,106,428")
    untouched = Finding("y", "The answer is still the template.")
    states: dict[State, tuple[Finding, ...]] = {
        "correct": (),
        "partial": (wrong,),
        "incorrect": (wrong,),
        "not_attempted": (untouched,),
        "crashed": (wrong,),
    }
    lesson = "lessons/03_parameter_budget.ipynb, “Where they are”"
    return [as_html(Verdict("count_parameters", *of, lesson), in_exercise=True) for of in _scored(states)]


def _scored(states: dict[State, tuple[Finding, ...]]) -> Iterator[tuple[State, float, tuple[Finding, ...]]]:
    for state, findings in states.items():
        yield state, {"correct": 1.0, "partial": 0.5}.get(state, 0.0), findings


def cards(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Questions and results as they stand where no widget can."""
    shown: list[Any] = []
    monkeypatch.setattr(predictions, "_display", shown.append)
    predictions.predict("09.total", "How many parameters?", unit="million")
    predictions.predict("09.part", "What part of them?", choices=["2 %", "20 %"])
    predictions.commit("09.total", 100.0)
    predictions.reveal("09.total", 109.48)
    predictions.reveal("09.part", "20 %")
    return [card.bundle["text/html"] for card in shown]


def test_verdicts_cards_and_the_board_are_for_everybody(
    browser: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repository: Path
) -> None:
    monkeypatch.setenv("INSIDEBERT_PROGRESS", str(tmp_path / "progress.json"))
    outputs = [*verdicts(), *cards(monkeypatch), board(repository).markup]
    page = browser.new_page()
    # As JupyterLab does: an output that is too wide scrolls, and the page does not.
    body = "".join(f'<div style="overflow: auto">{output}</div>' for output in outputs)
    page.set_content(
        f'<!doctype html><html lang="en"><title>Outputs</title><main><h1>Outputs</h1>{body}</main></html>'
    )
    check(page, dress)
    # The board may need to scroll; a verdict and a card do not.
    wide = "all => all.filter(x => x.scrollWidth > x.clientWidth).map(x => x.innerHTML.slice(0, 40))"
    assert [found[:6] for found in page.locator("main > div").evaluate_all(wide)] in ([], ["<table"])
    page.close()


def by_system(page: Page, theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]


def test_the_feedback_page_is_for_everybody(browser: Any, tmp_path: Path) -> None:
    from grading.feedback import write_feedback
    from tests.small_course import ASSIGNMENT, make_course

    course = make_course(tmp_path)
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("layer_parameters", ASSIGNMENT, ASSIGNMENT, "bo")
        comment = gradebook.find_comment("layer_parameters_answer", ASSIGNMENT, ASSIGNMENT, "bo")
        grade.manual_score, comment.manual_comment = 2.5, "Nearly:\n\n```\n" + "H " * 200 + "\n```"
        gradebook.db.commit()
    write_feedback(course, ASSIGNMENT, "bo")
    page = browser.new_page()
    page.goto(course.notebook("feedback_directory", ASSIGNMENT, "bo").with_suffix(".html").as_uri())
    assert page.get_by_role("note", name="Comment from your instructor").count() == 1
    check(page, by_system)
    page.close()


def test_the_insights_page_is_for_everybody(browser: Any) -> None:
    from tests.test_insights import CLASS
    from tests.test_insights import page as insights

    page = browser.new_page()
    page.set_content(insights(CLASS, names=True))
    check(page, by_system)
    smallest = "all => Math.min(...all.map(x => x.getBoundingClientRect().height))"
    assert (
        page.locator("svg text:visible").evaluate_all(smallest) > 12
    )  # in the narrow window that `check` left
    page.close()


LESSON = """from checks.protocol import Finding, Verdict
from checks.render import as_html
from IPython.display import HTML, display
from insidebert.board import board
from insidebert.figures.causal_map import causal_map
from insidebert.predictions import predict, reveal
predict("09.total", "How many parameters?", unit="million")
reveal("09.total", 109.48)
display(causal_map(), board())
found = Finding("x", "It is counted once.", "tied", "133,547,324", "110,106,428")
lesson = "lessons/03_parameter_budget.ipynb, “Where they are”"
display(HTML(as_html(Verdict("count_parameters", "incorrect", 0.0, (found,), lesson), in_exercise=True)))
print("finished")"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    with lab_server(tmp_path_factory.mktemp("accessibility"), "--role", "learner") as server:
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        notebook = new_notebook(cells=[new_code_cell(LESSON)], metadata=kernel)
        nbformat.write(notebook, server.root / "lessons" / "outputs.ipynb")
        yield server


@pytest.mark.slow
def test_outputs_inside_jupyterlab_are_for_everybody(page: Page, server: LabServer) -> None:
    open_notebook(page, server, "lessons/outputs.ipynb")
    choose(page, "Run", "Run All Cells")
    expect(cell(page, "as_html").locator(".jp-OutputArea").last).to_contain_text("finished")
    expect(page.locator(".ib-map")).to_be_visible()
    ours = {"include": [[".jp-OutputArea-output"]]}
    assert violations(page, ours) == []
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    for item in ("Theme", "JupyterLab Dark"):  # what opens a further menu has no role there
        page.locator(".lm-Menu-item", has_text=re.compile(f"^{item}$")).click()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    page.wait_for_function(
        "getComputedStyle(document.body).getPropertyValue('--jp-layout-color0').trim() === '#111'"
    )
    assert violations(page, ours) == []
