"""The cost explorer: the browser's formulas are the library's; keyboard, narrow windows, a picture."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from typing import Any

import pytest

from insidebert import configs, cost, frontend
from insidebert.figures import cost_explorer as explorer
from insidebert.figures import style
from tests.figure_page import open_figure

STATE = ("presets", "preset", "length", "shortest", "longest", "positions")


def open_explorer(browser: Any, preset: str = "bert-base-uncased", width: int = 900) -> Any:
    widget = explorer.CostExplorer(preset, 512)
    state = {name: getattr(widget, name) for name in STATE}
    return open_figure(browser, "cost_explorer", state, viewport={"width": width, "height": 800})


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    opened = open_explorer(browser)
    yield opened
    assert opened.problems == []
    opened.close()


@pytest.mark.browser
def test_the_javascript_formulas_are_the_python_formulas(page: Any) -> None:
    rng = random.Random(0)
    for _ in range(50):
        length = rng.randint(1, 32_768)
        shape = {"hidden": rng.randint(1, 2048), "intermediate": rng.randint(1, 8192)}
        shape |= {"layers": rng.randint(1, 48), "heads": rng.randint(1, 32)}
        computed = page.evaluate(
            "([S, shape]) => [window.figure.encoderFlops(S, shape), window.figure.equalLength(shape), "
            "window.figure.scoreBytes(S, shape)]",
            [length, shape],
        )
        flops = cost.encoder_flops(length, shape["hidden"], shape["intermediate"], shape["layers"])
        assert tuple(computed[0]) == flops
        assert computed[1] == cost.equal_length(shape["hidden"], shape["intermediate"])
        assert computed[2] == explorer.score_bytes(length, shape["heads"], shape["layers"])


def test_scores_take_the_bytes_of_their_matrices() -> None:
    assert explorer.score_bytes(512, heads=12, layers=12) == 12 * 12 * 512 * 512 * 4


def test_every_published_shape_is_there_once() -> None:
    shapes = explorer.shapes()
    assert {"bert-base-uncased", "bert-large-uncased", "bert-tiny"} <= set(shapes) <= set(configs.NAMES)
    assert len({tuple(shape.values()) for shape in shapes.values()}) == len(shapes)


@pytest.mark.browser
def test_a_shape_and_a_length_give_the_share_of_attention(page: Any) -> None:
    headline = page.locator(".ib-headline")
    for name, length in (
        ("bert-base-uncased", 4608),
        ("bert-large-uncased", 512),
        ("bert-base-uncased", 512),
    ):
        page.get_by_label("shape").select_option(name)
        field = page.get_by_label("tokens, as a number")
        field.fill(str(length))
        field.blur()
        config = configs.published(name)
        linear, attention = cost.encoder_flops(
            length, config.hidden_size, config.intermediate_size, config.num_hidden_layers
        )
        assert f"{100 * attention / (linear + attention):.1f} %" in headline.inner_text()
        assert page.evaluate("[window.saved.preset, window.saved.length]") == [name, length]


@pytest.mark.browser
def test_the_keyboard_is_enough(page: Any) -> None:
    page.get_by_label("tokens S", exact=True).focus()
    page.keyboard.press("End")
    assert page.evaluate("window.saved.length") == 32_768
    assert "cannot read" in page.locator(".ib-note").inner_text()
    page.keyboard.press("Home")
    assert page.evaluate("window.saved.length") == 64
    assert page.locator(".ib-note").inner_text() == ""
    controls = page.locator(".ib-cost input, .ib-cost select")
    assert set(controls.evaluate_all("nodes => nodes.map(n => n.dataset.lmSuppressShortcuts)")) == {"true"}


@pytest.mark.browser
def test_foolish_lengths_are_kept_in_range(page: Any) -> None:
    field = page.get_by_label("tokens, as a number")
    for typed, kept in {"-5": 64, "99999999": 32_768, "": 64, "100.4": 100}.items():
        field.fill(typed)
        field.blur()
        assert page.evaluate("window.model.get('length')") == kept


@pytest.mark.browser
def test_nothing_sticks_out_of_a_narrow_window(browser: Any) -> None:
    for width in (360, 1200):
        opened = open_explorer(browser, "bert-large-uncased", width)
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.close()


def test_without_a_front_end_the_explorer_is_a_picture() -> None:
    shown = explorer.cost_explorer()
    assert isinstance(shown, style.Picture)
    assert base64.b64decode(shown.bundle["image/png"]).startswith(b"\x89PNG")
    assert "equal at 4,608 tokens" in shown.bundle["text/plain"]


def test_with_a_front_end_the_widget_carries_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    widget = explorer.cost_explorer("bert-tiny", 128)
    assert isinstance(widget, explorer.CostExplorer)
    data, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/html"} <= set(data)


@pytest.mark.parametrize("arguments", [("bert-huge",), ("bert-tiny", 63), ("bert-tiny", 40_000)])
def test_a_wrong_shape_or_length_is_named(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=str(arguments[-1])):
        explorer.cost_explorer(*arguments)
