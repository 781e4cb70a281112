"""What a person does in the browser: runs the lesson, moves a slider, answers a question, presses Validate.

`INSIDEBERT_PICTURES=1 pytest tests/test_browser.py` also takes the README's picture of the lesson.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from insidebert.budget import closed_form
from tests.lab_page import cell, choose, fill, open_notebook, run
from tests.lab_server import LabServer, lab_server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LESSON = "lessons/03_parameter_budget.ipynb"
EXERCISE = "exercises/parameter_budget/parameter_budget.ipynb"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "lesson.png"

WRONG = "def count_parameters(model):\n    return sum(v.numel() for v in model.state_dict().values())"
RIGHT = "def count_parameters(model):\n    return sum(p.numel() for p in model.parameters())"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    with lab_server(tmp_path_factory.mktemp("browser"), "--role", "learner") as server:
        yield server


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
