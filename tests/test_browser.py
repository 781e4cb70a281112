"""What a person does in the browser: runs the lesson, moves a slider, answers a question, presses Validate.

`INSIDEBERT_PICTURES=1 pytest tests/test_browser.py` also takes the README's picture of the lesson.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Playwright, expect, sync_playwright

from insidebert.budget import closed_form
from tests.lab_server import PATIENCE, TOKEN, LabServer, lab_server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LESSON = "lessons/03_parameter_budget.ipynb"
EXERCISE = "exercises/parameter_budget/parameter_budget.ipynb"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "lesson.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MAC_BROWSER = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

WRONG = "def count_parameters(model):\n    return sum(v.numel() for v in model.state_dict().values())"
RIGHT = "def count_parameters(model):\n    return sum(p.numel() for p in model.parameters())"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    with lab_server(tmp_path_factory.mktemp("browser"), "--role", "learner") as server:
        yield server


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture
def page(playwright: Playwright) -> Iterator[Page]:
    """An empty tab of a browser that has never been used."""
    program = next(filter(None, map(shutil.which, BROWSERS)), MAC_BROWSER)
    quiet = ["--no-sandbox", "--disable-background-networking", "--disable-gpu"]
    expect.set_options(timeout=PATIENCE * 1000)
    browser = playwright.chromium.launch(executable_path=program, args=quiet)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(PATIENCE * 1000)
    yield page
    browser.close()


def open_notebook(page: Page, server: LabServer, path: str) -> None:
    """Opens a notebook and waits until its kernel is connected and idle: what is run before that is lost."""
    page.goto(f"{server.url}/lab/tree/{path}?token={TOKEN}")
    page.locator(".jp-Notebook").wait_for()

    def ready() -> bool:
        kernels = [session["kernel"] for session in server.ask("/api/sessions") if session["path"] == path]
        return any(kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels)

    wait_until(ready)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the kernel did not get ready"
        time.sleep(0.1)


def choose(page: Page, menu: str, item: str) -> None:
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def cell(page: Page, text: str) -> Locator:
    return page.locator(".jp-CodeCell", has_text=text).first


def fill(page: Page, at: Locator, code: str) -> None:
    at.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)


def run(page: Page, at: Locator) -> None:
    at.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")


def test_the_budget_explorer_answers_to_the_keyboard(page: Page, server: LabServer) -> None:
    open_notebook(page, server, LESSON)
    choose(page, "Run", "Run All Cells")
    headline = page.locator(".ib-headline")
    base = {"vocab": 30_522, "hidden": 768, "intermediate": 3072}
    expect(headline).to_contain_text(f"{sum(closed_form(layers=12, **base).values()):,} parameters")
    if os.environ.get("INSIDEBERT_PICTURES"):
        take_picture(page)
    slider = page.get_by_label("layers L", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(headline).to_contain_text(f"{sum(closed_form(layers=13, **base).values()):,} parameters")
    page.keyboard.press("Home")
    expect(headline).to_contain_text(f"{sum(closed_form(layers=1, **base).values()):,} parameters")
    assert not page.locator('.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]').count()


def take_picture(page: Page) -> None:
    """The explorer below its heading, without side bars."""
    page.keyboard.press("ControlOrMeta+b")
    page.get_by_role("heading", name="The budget explorer").first.scroll_into_view_if_needed()
    page.locator(".ib-headline").scroll_into_view_if_needed()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURE)


def test_a_wrong_answer_is_explained_and_a_right_one_validates(page: Page, server: LabServer) -> None:
    open_notebook(page, server, EXERCISE)
    answer, check = cell(page, "def count_parameters"), cell(page, 'check("count_parameters"')
    verdict = check.get_by_role("status")

    fill(page, answer, WRONG)
    choose(page, "Run", "Run All Above Selected Cell")
    run(page, answer)
    run(page, check)
    # The models are drawn anew each time, with tied decoders and without: either fault is this answer's own.
    expect(verdict).to_contain_text("Not right yet")
    expect(verdict).to_contain_text("expected")
    expect(verdict).to_contain_text("cause")

    fill(page, answer, RIGHT)
    run(page, answer)
    run(page, check)
    expect(verdict).to_contain_text("Correct")

    page.get_by_role("button", name="Validate").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Validation Results")
    expect(dialog).to_contain_text('check("token_table_share"')  # not answered yet
    expect(dialog).not_to_contain_text('check("count_parameters"')  # answered
