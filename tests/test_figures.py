"""Figures: the JavaScript computes what the library computes, and works with the keyboard; a picture stands in."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from insidebert import budget, configs, frontend
from insidebert.figures import budget_explorer as explorer
from insidebert.figures import style
from tests.figure_page import open_figure


def open_explorer(browser: Any, preset: str = "bert-base-uncased", width: int = 900) -> Any:
    widget = explorer.BudgetExplorer(preset)
    state = {name: getattr(widget, name) for name in ("presets", "colours", "reference", "shape")}
    return open_figure(browser, "budget_explorer", state, viewport={"width": width, "height": 800})


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """The budget explorer, as it opens on bert-base-uncased."""
    opened = open_explorer(browser)
    yield opened
    assert opened.problems == []
    opened.close()


@pytest.mark.browser
def test_the_javascript_formula_is_the_python_formula(page: Any) -> None:
    rng = random.Random(0)
    shapes = [budget.config_shape(configs.published(name)) for name in configs.NAMES]
    for _ in range(200):
        shapes.append(
            {
                "vocab": rng.randint(1, 250_000),
                "hidden": rng.randint(1, 4096),
                "intermediate": rng.randint(1, 16_384),
                "layers": rng.randint(0, 96),
                "factor": rng.choice([None, rng.randint(1, 2048)]),
                "share_layers": rng.random() < 0.5,
            }
        )
    computed = page.evaluate("shapes => shapes.map(window.figure.closedForm)", shapes)
    expected = [budget.closed_form(**shape) for shape in shapes]
    assert computed == expected
    assert [list(parts) for parts in computed] == [list(parts) for parts in expected]  # drawn in this order


@pytest.mark.browser
def test_presets_show_the_published_numbers(page: Any) -> None:
    headline, select = page.locator(".ib-headline"), page.get_by_label("start from")
    assert "109,482,240" in headline.inner_text() and "21.41 %" in headline.inner_text()
    for name in configs.NAMES:
        select.select_option(name)
        parts = budget.closed_form(**budget.config_shape(configs.published(name)))
        total = sum(parts.values())
        assert f"{total:,}" in headline.inner_text()
        assert f"{100 * parts['token table'] / total:.2f} %" in headline.inner_text()
        assert f"{total:,}" in page.locator(".ib-bar").first.get_attribute("aria-label")
        assert page.evaluate("window.saved.shape") == budget.config_shape(configs.published(name))


@pytest.mark.browser
def test_the_keyboard_is_enough(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("window.saved.shape.layers") == 11
    assert page.get_by_label("start from").input_value() == "your own shape"
    page.keyboard.press("Tab")  # the number beside the slider
    page.keyboard.type("3")  # focusing by Tab selects, so this replaces
    page.keyboard.press("Tab")
    assert page.evaluate("window.saved.shape.layers") == 3
    focusable = page.locator(".ib-budget input, .ib-budget select")
    marks = focusable.evaluate_all("nodes => nodes.map(node => node.dataset.lmSuppressShortcuts)")
    assert set(marks) == {"true"}  # JupyterLab leaves the keys of these to the browser


@pytest.mark.browser
def test_switches(page: Any) -> None:
    page.get_by_label("factorise").check()
    page.get_by_label("share one layer").check()
    shape = page.evaluate("window.saved.shape")
    assert (shape["factor"], shape["share_layers"]) == (128, True)
    total = sum(budget.closed_form(**shape).values())
    assert f"{total:,}" in page.locator(".ib-headline").inner_text()
    hidden = page.get_by_label("hidden size H", exact=True)
    hidden.fill("1024")
    assert page.evaluate("window.saved.shape.intermediate") == 4096
    page.get_by_label("I = 4 × H").uncheck()
    hidden.fill("512")
    assert page.evaluate("window.saved.shape.intermediate") == 4096


@pytest.mark.browser
def test_foolish_numbers_are_kept_in_range(page: Any) -> None:
    field = page.get_by_label("layers L, as a number")
    for typed, kept in {"-5": 1, "9999": 48, "": 1, "2.6": 3}.items():
        field.fill(typed)
        field.press("Enter")
        field.blur()
        assert page.evaluate("window.saved.shape.layers") == kept


@pytest.mark.browser
def test_the_kernel_can_set_the_shape(page: Any) -> None:
    page.evaluate(
        "shape => window.model.set('shape', shape)", budget.config_shape(configs.published("bert-tiny"))
    )
    assert "4,385,920" in page.locator(".ib-headline").inner_text()
    assert page.get_by_label("start from").input_value() == "bert-tiny"


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 600, 1200])
def test_nothing_sticks_out_of_a_narrow_window(browser: Any, width: int) -> None:
    opened = open_explorer(browser, "bert-large-uncased", width)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.close()


@pytest.mark.browser
def test_a_prediction_is_made_with_the_keyboard(browser: Any) -> None:
    entry = {"question": "What part?", "unit": "", "choices": ["2 %", "20 %", "50 %"]}
    state = {"entry": entry, "answer": None, "fixed": False, "notice": ""}
    opened = open_figure(browser, "prediction", state)
    opened.keyboard.press("Tab")
    opened.keyboard.press("ArrowDown")
    opened.keyboard.press("Enter")
    assert opened.evaluate("window.saved.answer") == "20 %"
    assert "20 %" in opened.locator("output").inner_text()
    opened.evaluate("window.model.set('fixed', true)")
    assert opened.locator("input").first.is_disabled()
    opened.close()


@pytest.mark.browser
def test_a_number_is_sent_as_a_number(browser: Any) -> None:
    entry = {"question": "How many <b>?", "unit": "million", "choices": []}
    state = {"entry": entry, "answer": None, "fixed": False, "notice": ""}
    opened = open_figure(browser, "prediction", state)
    opened.locator("button").click()  # nothing typed: the browser asks for a number, nothing is sent
    assert opened.evaluate("window.saved") is None
    opened.get_by_label("million").fill("109.5")
    opened.keyboard.press("Enter")
    assert opened.evaluate("window.saved.answer") == 109.5
    assert "How many <b>?" in opened.locator("legend").inner_text()
    opened.close()


def test_without_a_front_end_the_explorer_is_a_picture() -> None:
    picture = explorer.budget_explorer()
    assert isinstance(picture, style.Picture)
    bundle = picture._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    for text in (bundle["text/html"], bundle["text/plain"]):  # the alternative text carries the numbers
        assert "109,482,240" in text and "21.41 %" in text and "9.33 %" in text


def test_with_a_front_end_the_widget_carries_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    widget = explorer.budget_explorer("bert-tiny")
    assert isinstance(widget, explorer.BudgetExplorer)
    data, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/html"} <= set(data)
    assert widget.shape == budget.config_shape(configs.published("bert-tiny"))


@pytest.mark.parametrize("present", [True, False])
def test_an_unknown_preset_lists_the_names(present: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "interactive", lambda: present)
    with pytest.raises(ValueError, match="bert-base-uncased"):
        explorer.budget_explorer("bert-huge")


def test_every_part_has_a_colour_of_its_own() -> None:
    parts = budget.closed_form(1, 1, 1, 1)
    assert list(explorer.COLOURS) == list(parts)
    assert len(set(explorer.COLOURS.values())) == len(parts)


def test_outside_a_kernel_nobody_is_there() -> None:
    assert frontend.interactive() is False


def test_figures_are_whole() -> None:
    """JavaScript, and CSS that goes with the shared sheet, beside every module that is a figure."""
    for script in style.HERE.glob("*.js"):
        assert script.with_suffix(".css").exists() and script.with_suffix(".py").exists()
        assert Path(script).stat().st_size < 20_000
