"""The causal map: causes come first, boxes open with mouse and keyboard, every lesson it names is a lesson."""

from __future__ import annotations

import base64
import itertools
from pathlib import Path
from typing import Any

import pytest

from insidebert import frontend
from insidebert.figures import causal_map, style
from insidebert.figures.causal_map import BOXES, ROWS
from tests.figure_page import open_figure


def open_map(browser: Any, width: int = 900) -> Any:
    widget = causal_map.CausalMap()
    state = {"rows": widget.rows, "meaning": widget.meaning}
    return open_figure(browser, "causal_map", state, viewport={"width": width, "height": 700})


def test_every_cause_is_a_box_that_comes_before() -> None:
    assert len(BOXES) == sum(map(len, ROWS.values()))  # no id twice
    order = list(BOXES)
    for box in BOXES.values():
        assert all(cause in BOXES and order.index(cause) < order.index(box.id) for cause in box.causes)
    # In a chain each box follows from the one on its left, as the arrow between them says.
    for boxes in ROWS.values():
        if boxes[0].kind != "price":
            assert all(left.id in right.causes for left, right in itertools.pairwise(boxes))


def test_only_needs_begin_and_every_price_has_a_decision_behind_it() -> None:
    assert {box.kind for box in BOXES.values() if not box.causes} == {"need"}
    assert {box.kind for box in BOXES.values()} == set(causal_map.COLOURS) == set(causal_map.MEANING)

    def behind(box: causal_map.Box) -> set[str]:
        return {box.kind}.union(*(behind(BOXES[cause]) for cause in box.causes))

    assert all("decision" in behind(box) for box in BOXES.values() if box.kind == "price")


def test_the_lessons_it_names_exist() -> None:
    there = {path.stem[:2] for path in (Path(__file__).parents[1] / "lessons").glob("[0-9][0-9]_*.ipynb")}
    named = {box.lesson for box in BOXES.values()}
    assert named == {"01", "02", "03", "04", "05", "06"} and named <= there


@pytest.mark.browser
def test_a_box_opens_and_marks_what_is_before_and_after(browser: Any) -> None:
    page = open_map(browser)
    page.get_by_role("button", name=BOXES["hide"].title, exact=True).first.click()
    assert BOXES["hide"].text in page.locator(".ib-detail").inner_text()
    marked = {
        mark: set(page.locator(f"button.ib-{mark}").all_inner_texts()) for mark in ("before", "after", "far")
    }
    assert marked["before"] == {BOXES[i].title for i in ("left", "both", "visible")}
    assert {BOXES[i].title for i in ("never", "mix", "signal", "compute")} <= marked["after"]
    assert BOXES["pairs"].title in marked["far"]
    assert page.locator("button[aria-pressed=true]").all_inner_texts() == [BOXES["hide"].title]
    assert page.problems == []
    page.close()


@pytest.mark.browser
def test_the_keyboard_walks_along_a_chain(browser: Any) -> None:
    page = open_map(browser)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the second box
    assert page.locator("button[aria-pressed=true]").inner_text() == BOXES["both"].title
    page.locator(".ib-step", has_text=BOXES["visible"].title).focus()
    page.keyboard.press("Enter")
    assert BOXES["visible"].text in page.locator(".ib-detail").inner_text()
    assert page.evaluate("document.activeElement.textContent") == BOXES["visible"].title
    marks = page.locator("button").evaluate_all("all => all.map(x => x.dataset.lmSuppressShortcuts)")
    assert set(marks) == {"true"}
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_sticks_out_of_a_narrow_window(browser: Any, width: int) -> None:
    page = open_map(browser, width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


def test_a_picture_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = causal_map.causal_map()
    assert isinstance(shown, style.Picture)
    assert base64.b64decode(shown.bundle["image/png"]).startswith(b"\x89PNG")
    assert all(box.title in shown.bundle["text/plain"] for box in BOXES.values())
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    data, _ = causal_map.causal_map()._repr_mimebundle_()  # type: ignore[misc]
    assert {"application/vnd.jupyter.widget-view+json", "image/png"} <= set(data)
