"""The mask and pair viewer, and the loss curves: the rules in the browser, the keyboard, and the pictures."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from insidebert import frontend
from insidebert.figures import loss_curves, objectives_viewer, style
from tests.figure_page import open_figure

# A generator in the page, so that shares are the same at every run.
RANDOM = """() => { let s = 7; return () => {
  s = (s + 0x6d2b79f5) | 0; let t = Math.imul(s ^ (s >>> 15), 1 | s);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; }; }"""


def open_viewer(browser: Any, tokenizer: Any, width: int = 900) -> Any:
    widget = objectives_viewer.ObjectivesViewer(tokenizer, objectives_viewer.STORIES)
    state = {name: getattr(widget, name) for name in ("documents", "vocabulary")}
    return open_figure(browser, "objectives_viewer", state, viewport={"width": width, "height": 800})


def shares(page: Any) -> list[float]:
    """The tally's last column, in per cent."""
    cells = page.locator("tbody td:last-child").all_inner_texts()
    return [float(text.removesuffix(" %")) for text in cells]


@pytest.mark.browser
def test_the_rules_in_the_browser_are_the_papers(browser: Any, tokenizer: Any) -> None:
    page = open_viewer(browser, tokenizer)
    drawn = page.evaluate(
        f"""() => {{
          const random = ({RANDOM})();
          const pieces = ["[CLS]", ...Array(98).fill("word"), "[SEP]"];
          const settings = {{ probability: 0.15, mix: [0.8, 0.1], vocabulary: ["other"] }};
          return Array.from({{ length: 400 }}, () => window.figure.mask(pieces, settings, random)).flat();
        }}"""
    )
    words = [piece for piece in drawn if piece["shown"] not in ("[CLS]", "[SEP]")]
    targets = [piece for piece in words if piece["fate"]]
    assert len(words) == 400 * 98  # special tokens are never selected
    assert all(piece["target"] == "word" for piece in targets)
    assert abs(len(targets) / len(words) - 0.15) < 0.01
    for fate, share, shown in (("mask", 0.8, "[MASK]"), ("random", 0.1, "other"), ("kept", 0.1, "word")):
        found = [piece for piece in targets if piece["fate"] == fate]
        assert abs(len(found) / len(targets) - share) < 0.02
        assert {piece["shown"] for piece in found} == {shown}
    pairs = page.evaluate(
        f"""documents => {{
          const random = ({RANDOM})();
          return Array.from({{ length: 2000 }}, () => window.figure.pair(documents, random));
        }}""",
        [[["a1"], ["a2"], ["a3"]], [["b1"], ["b2"]]],
    )
    assert abs(sum(pair["label"] for pair in pairs) / len(pairs) - 0.5) < 0.05
    for pair in pairs:
        (a,), (b,) = pair["a"], pair["b"]
        follows = a[0] == b[0] and int(b[1]) == int(a[1]) + 1
        assert follows if pair["label"] == 0 else a[0] != b[0]
    page.close()


@pytest.mark.browser
def test_drawing_with_the_keyboard(browser: Any, tokenizer: Any) -> None:
    page = open_viewer(browser, tokenizer)
    assert page.locator(".ib-place").first.inner_text().split()[0] == "[CLS]"
    before = page.locator(".ib-places").inner_text()
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the third button draws a hundred
    assert page.locator(".ib-places").inner_text() != before
    selected, masked, random, kept, neighbours = shares(page)
    assert 11 < selected < 19 and abs(masked + random + kept - 100) < 0.3
    assert 65 < masked < 92 and 0 < random < 22 and 0 < kept < 22 and 30 < neighbours < 70
    page.keyboard.press("Tab")
    page.keyboard.press("End")  # 60 %, and the tally starts over
    page.get_by_label("a selected piece is").select_option("always [MASK]")
    page.get_by_role("button", name="Draw 100 of both").click()
    selected, masked, *_ = shares(page)
    assert 52 < selected < 68 and masked == 100
    marks = page.locator("button, input, select").evaluate_all(
        "all => all.map(x => x.dataset.lmSuppressShortcuts)"
    )
    assert set(marks) == {"true"}
    assert page.problems == []
    page.close()


@pytest.mark.browser
def test_new_masks_keep_the_pair(browser: Any, tokenizer: Any) -> None:
    page = open_viewer(browser, tokenizer)

    def original() -> list[str]:
        """What stood there before masking: the target where there is one."""
        pieces = page.locator(".ib-place").evaluate_all(
            "all => all.map(x => [x.children[0].textContent, x.children[1].textContent])"
        )
        return [shown if target == "–" else target for shown, target in pieces]

    before = original()
    for _ in range(5):
        page.get_by_role("button", name="Draw new masks").click()
        assert original() == before
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_sticks_out_of_a_narrow_window(browser: Any, tokenizer: Any, width: int) -> None:
    rows = [(step, 9.0, 0.7) for step in range(20)]
    curves = {"steps": 20, "references": {"the entropy of the frequencies": 6.5}, "rows": rows}
    for page in (
        open_viewer(browser, tokenizer, width),
        open_figure(browser, "loss_curves", curves, viewport={"width": width, "height": 600}),
    ):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.close()


@pytest.mark.browser
def test_curves_follow_the_run(browser: Any) -> None:
    state = {"steps": 10, "references": {"ln 2": 0.69}, "rows": []}
    page = open_figure(browser, "loss_curves", state)
    assert page.locator("polyline").count() == 0
    page.evaluate("window.model.set('rows', [[0, 9, 0.7], [1, 8, 0.6], [2, 7.5, 0.5]])")
    assert page.locator("polyline").count() == 3
    said = page.locator("output").inner_text()
    assert "step 3 of 10" in said and "7.50 + NSP 0.50 = 8.00" in said
    assert said in page.locator("svg").get_attribute("aria-label")
    heights = page.evaluate("window.figure.apart([100, 101, 20], 14)")
    assert heights == [100, 114, 20]
    assert page.problems == []
    page.close()


def test_without_a_front_end_the_viewer_is_a_picture(tokenizer: Any) -> None:
    picture = objectives_viewer.objectives_viewer(tokenizer)
    assert isinstance(picture, style.Picture)
    assert base64.b64decode(picture.bundle["image/png"]).startswith(b"\x89PNG")
    assert "[MASK]" in picture.bundle["text/plain"] and "draw 4" in picture.bundle["text/plain"]


def test_with_a_front_end_the_viewer_carries_the_picture(
    monkeypatch: pytest.MonkeyPatch, tokenizer: Any
) -> None:
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    widget = objectives_viewer.objectives_viewer(tokenizer)
    assert isinstance(widget, objectives_viewer.ObjectivesViewer)
    data, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/html"} <= set(data)
    assert widget.documents[0][0][:3] == ["this", "teddy", "bear"]


def test_the_viewer_needs_strangers(tokenizer: Any) -> None:
    for documents in ([["one", "two"]], [["one", "two"], ["three"]]):
        with pytest.raises(ValueError, match="two documents"):
            objectives_viewer.objectives_viewer(tokenizer, documents)


def test_a_run_nobody_watches_ends_in_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(loss_curves, "_display", lambda thing, **_: shown.append(thing))
    with loss_curves.loss_curves(1000, {"ln 2": 0.69}) as curves:
        for step in range(1000):
            curves.add(step, 9 - step / 500, 0.7)
        assert shown == []
    assert isinstance(shown[0], style.Picture)
    assert "1000 steps" in repr(shown[0]) and "MLM from 9.00 to 7.0" in repr(shown[0])


def test_a_run_that_is_watched_sends_rows_and_keeps_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    class Handle:
        def update(self, thing: Any) -> None:
            shown.append(thing)

    shown: list[Any] = []
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    monkeypatch.setattr(loss_curves, "_display", lambda thing, **_: shown.append(thing) or Handle())
    with loss_curves.loss_curves(3) as curves:
        (live,) = shown
        assert "image/png" not in live._repr_mimebundle_()[0]
        curves.add(0, 9.0, 0.7)
        assert len(live.rows) == 1  # the first step is sent at once
        curves.add(1, 8.0, 0.7)
    assert len(live.rows) == 2 and shown == [live, live]
    data, _ = live._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png"} <= set(data)


def test_a_run_that_failed_shows_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(loss_curves, "_display", lambda thing, **_: shown.append(thing))
    with pytest.raises(ZeroDivisionError), loss_curves.loss_curves(3) as curves:
        curves.add(0, 9.0, 0.7)
        raise ZeroDivisionError
    assert len(shown) == 1
    with pytest.raises(ValueError, match="no step"):
        loss_curves.picture([])
