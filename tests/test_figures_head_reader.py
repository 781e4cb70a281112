"""The head reader: the browser marks what the library says each head reads; a picture stands in."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from transformers import BertForMaskedLM, BertForQuestionAnswering, BertForTokenClassification

from insidebert import frontend
from insidebert.budget import breakdown, skeleton
from insidebert.figures import head_reader as reader
from insidebert.figures import pieces, style
from tests.figure_page import open_figure

STATE = ("vocabulary", "heads", "text_a", "text_b", "head", "labels", "hidden", "limit")
ROWS = [
    "[CLS] this teddy ##bear is so cute . [SEP]",
    "[CLS] who sleeps ? [SEP] the teddy ##bear sleeps . [SEP]",
    "[CLS] a [MASK] and a [MASK] . [SEP] [MASK] [SEP]",
    "[CLS] [SEP]",
]


def row_of(text: str) -> tuple[list[str], list[int]]:
    """The pieces, and 1 for what follows the first `[SEP]`."""
    names = text.split()
    middle = names.index("[SEP]")
    return names, [int(place > middle) for place in range(len(names))]


def open_reader(browser: Any, tokenizer: Any, head: str = "sequence", width: int = 900) -> Any:
    widget = reader.HeadReader(tokenizer, *reader.TEXTS, head, 384)
    state = {name: getattr(widget, name) for name in STATE}
    viewport = {"width": width, "height": 700}
    return open_figure(browser, "head_reader", state, pieces.source, viewport=viewport)


@pytest.fixture
def page(browser: Any, tokenizer: Any) -> Iterator[Any]:
    opened = open_reader(browser, tokenizer)
    yield opened
    assert opened.problems == []
    opened.close()


def test_each_head_reads_its_positions() -> None:
    names, segments = row_of(ROWS[1])
    read = {head: reader.readings(head, names, segments, labels=9) for head in reader.HEADS}
    assert [place for place, (scores, _) in enumerate(read["sequence"]) if scores] == [0]
    assert all(scores == "9 scores" for scores, _ in read["token"])
    counted = [names[place] for place, (_, use) in enumerate(read["token"]) if use == "label"]
    assert counted == ["who", "sleeps", "?", "the", "teddy", "sleeps", "."]
    answers = [names[place] for place, (_, use) in enumerate(read["span"]) if use == "may answer"]
    assert answers == ["the", "teddy", "##bear", "sleeps", "."] and read["span"][0][1] == "no answer"
    assert not any(scores for scores, _ in read["mlm"])
    masked = reader.readings("mlm", *row_of(ROWS[2]))
    assert [place for place, (scores, _) in enumerate(masked) if scores] == [2, 5, 8]


def test_the_size_of_a_head_is_that_of_transformers() -> None:
    for head, model_class, labels in (
        ("token", BertForTokenClassification, 2),
        ("span", BertForQuestionAnswering, 2),
        ("mlm", BertForMaskedLM, 2),
    ):
        counted = breakdown(skeleton("bert-base-uncased", model_class))["head"]
        assert reader.head_parameters(head, 768, labels) == counted


@pytest.mark.browser
def test_the_javascript_reads_what_the_library_reads(page: Any) -> None:
    for head in reader.HEADS:
        for text in ROWS:
            names, segments = row_of(text)
            row = [{"piece": p, "segment": s} for p, s in zip(names, segments, strict=True)]
            computed = page.evaluate("([h, row]) => window.figure.readings(h, row, 9)", [head, row])
            assert [tuple(each) for each in computed] == reader.readings(head, names, segments, 9)
        size = page.evaluate("h => window.figure.headParameters(h, 384, 9, 30522)", head)
        assert size == reader.head_parameters(head, 384, 9)


@pytest.mark.browser
def test_a_sentence_of_the_readers_and_every_head(page: Any) -> None:
    headline = page.locator(".ib-headline")
    assert "reads 1 of 10 vectors" in headline.inner_text() and "770" in headline.inner_text()
    page.get_by_label("a label for every token").check()
    assert "reads 10 of 10" in headline.inner_text()
    assert page.locator(".ib-read").count() == 6  # the words and the full stop; `##be` starts no word
    page.get_by_label("text", exact=True).fill("A [MASK] word")
    page.get_by_label("pre-training").check()
    assert "reads 1 of 5" in headline.inner_text()
    assert page.evaluate("window.saved.head") == "mlm"
    page.get_by_label("second text").fill("Here it is.")
    page.get_by_label("start and end").check()
    assert page.locator("td", has_text="may answer").count() == 4


@pytest.mark.browser
def test_a_row_ends_with_the_position_table(page: Any) -> None:
    page.locator("textarea").first.fill("word " * 100_000)
    assert "of 512 vectors" in page.locator(".ib-headline").inner_text()
    assert "pieces cut off" in page.locator(".ib-note").inner_text()


@pytest.mark.browser
def test_the_keyboard_is_enough(page: Any) -> None:
    page.get_by_label("second text").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.saved.head") == "token"
    controls = page.locator(".ib-reader input, .ib-reader textarea, .ib-reader [tabindex]")
    marks = controls.evaluate_all("nodes => nodes.map(node => node.dataset.lmSuppressShortcuts)")
    assert set(marks) == {"true"}


@pytest.mark.browser
def test_the_kernel_can_set_text_and_head(page: Any) -> None:
    page.evaluate("window.model.set('text_a', 'One [MASK].')")
    page.evaluate("window.model.set('head', 'mlm')")
    assert page.get_by_label("text", exact=True).input_value() == "One [MASK]."
    assert page.locator(".ib-read").count() == 1


@pytest.mark.browser
def test_nothing_sticks_out_of_a_narrow_window(browser: Any, tokenizer: Any) -> None:
    for width in (360, 1200):
        opened = open_reader(browser, tokenizer, "span", width)
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.close()


def test_without_a_front_end_the_reader_is_a_picture(tokenizer: Any) -> None:
    shown = reader.head_reader(tokenizer, head="token")
    assert isinstance(shown, style.Picture)
    assert base64.b64decode(shown.bundle["image/png"]).startswith(b"\x89PNG")
    assert "reads 1 of 10 (770 parameters)" in shown.bundle["text/plain"]


def test_with_a_front_end_the_widget_carries_the_picture(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    widget = reader.head_reader(tokenizer)
    assert isinstance(widget, reader.HeadReader)
    data, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/html"} <= set(data)


def test_an_unknown_head_lists_the_heads(tokenizer: Any) -> None:
    with pytest.raises(ValueError, match="sequence"):
        reader.head_reader(tokenizer, head="pooler")
