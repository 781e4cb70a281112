"""The mask playground: the browser draws and counts as the library does; only the guesses ask the kernel."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from transformers import BertConfig

from insidebert import frontend
from insidebert.figures import mask_playground as playground
from insidebert.figures import pieces, style
from insidebert.granularity import half_open, units_of
from insidebert.masking import prediction_budget
from insidebert.pretraining import PretrainingModel
from tests.figure_page import open_figure

STATE = ("vocabulary", "sentence", "unit", "limit", "question", "answer")
RANDOM = """let seed = 1; const random = () => {  // mulberry32: the same draws in every run
  seed = (seed + 0x6d2b79f5) | 0; let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; };"""


@pytest.fixture(scope="module")
def model(tokenizer: Any) -> PretrainingModel:
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return PretrainingModel(BertConfig(vocab_size=len(tokenizer), **shape)).eval()


@pytest.fixture(params=[900])
def page(browser: Any, tokenizer: Any, model: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    widget = playground.MaskPlayground(model, tokenizer, playground.SENTENCE, "token")
    state = {name: getattr(widget, name) for name in STATE}
    viewport = {"width": request.param, "height": 700}
    opened = open_figure(browser, "mask_playground", state, pieces.source, viewport=viewport)
    yield opened
    assert opened.problems == []
    opened.close()


def asked(page: Any, after: int = 0) -> dict[str, Any]:
    """The question of the newest draw, once it has been sent."""
    page.wait_for_function("after => window.model.get('question').number > after", arg=after)
    return page.evaluate("window.model.get('question')")


@pytest.mark.browser
def test_the_browser_counts_as_the_library_does(page: Any, tokenizer: Any) -> None:
    rows = [
        "[CLS] re ##ord ##ers multi ##dim ##ens ##ional arrays [SEP] ##ing ##s on [SEP] [PAD]",
        "[CLS] [SEP]",
        "[CLS] a b ##s c [SEP]",
    ]
    generator = torch.Generator().manual_seed(0)
    for row in rows:
        names = row.split()
        ids = torch.tensor([tokenizer.convert_tokens_to_ids(names)])
        words = units_of(ids, tokenizer)
        found = page.evaluate("names => window.figure.wordsOf(names)", names)
        assert [0 if word is None else word + 1 for word in found] == words[0].tolist()
        for _ in range(20):
            hidden = (torch.rand(words.shape, generator=generator) < 0.4) & (words > 0)
            arguments = [hidden[0].tolist(), found]
            counted = page.evaluate("([hidden, words]) => window.figure.halfOpen(hidden, words)", arguments)
            assert counted == half_open(hidden, words)


@pytest.mark.browser
def test_the_browser_has_the_library_s_budget(page: Any) -> None:
    cases = [(length, share / 100) for length in range(3, 130) for share in range(5, 65, 5)]
    computed = page.evaluate("cases => cases.map(([n, share]) => window.figure.budgetOf(n, share))", cases)
    assert computed == [prediction_budget(length, share, cap=None) for length, share in cases]


@pytest.mark.browser
@pytest.mark.parametrize("unit", ["token", "word", "span"])
def test_units_are_hidden_whole_and_within_the_budget(page: Any, unit: str) -> None:
    words = [None, *[word for word in range(30) for _ in range(1 + word % 3)], None]
    budget = 9
    draws = page.evaluate(
        f"""([words, unit, budget]) => {{ {RANDOM} return Array.from({{ length: 300 }}, () => {{
            const units = window.figure.unitsOf(words, unit, random);
            return [units, window.figure.select(units, words.length, budget, random)]; }}); }}""",
        [words, unit, budget],
    )
    maskable = [i for i, word in enumerate(words) if word is not None]
    seen: set[int] = set()
    for units, hidden in draws:
        assert [i for each in units for i in each] == maskable  # every piece in one unit, in order
        for each in units:
            assert len({hidden[i] for i in each}) == 1
            if unit != "token":  # a word is in one unit
                assert {words[i] for i in maskable if i not in each}.isdisjoint(words[i] for i in each)
        free = budget - sum(hidden)
        assert free >= 0
        assert all(len(each) > free for each in units if not hidden[each[0]])  # nothing more would fit
        seen |= {i for i, flag in enumerate(hidden) if flag}
    assert seen == set(maskable)


@pytest.mark.browser
def test_spans_are_as_long_as_the_truncated_geometric_distribution(page: Any) -> None:
    lengths = page.evaluate(
        f"""() => {{ {RANDOM} const words = Array.from({{ length: 40000 }}, (_, i) => i);
        return window.figure.unitsOf(words, "span", random).map(unit => unit.length); }}"""
    )
    assert max(lengths) == 10
    weights = [0.8**k for k in range(10)]
    mean = sum((k + 1) * w for k, w in enumerate(weights)) / sum(weights)
    assert sum(lengths) / len(lengths) == pytest.approx(mean, abs=0.11)  # over four deviations


@pytest.mark.browser
def test_a_draw_shows_blanks_counters_and_asks_once(page: Any, tokenizer: Any) -> None:
    question = asked(page)
    assert tokenizer.decode(question["ids"]).lower().startswith("[cls] the tokenizer reorders")
    blanks = page.locator(".ib-hidden").count()
    assert blanks == len(question["blanks"]) > 0
    assert f"pieces hidden: {blanks} of" in page.locator(".ib-headline").inner_text()
    page.get_by_label("whole word").check()
    page.get_by_role("slider").fill("60")
    question = asked(page, question["number"] + 1)
    assert page.evaluate("window.saved.unit") == "word"
    assert "half-open: 0" in page.locator(".ib-headline").inner_text()


@pytest.mark.browser
def test_guesses_stand_under_their_own_draw_only(page: Any, tokenizer: Any) -> None:
    question = asked(page)
    true = tokenizer.convert_ids_to_tokens([question["ids"][i] for i in question["blanks"]])
    answer = {
        "number": question["number"],
        "guesses": [[[piece, 0.5], ["<b>", 0.25], ["x", 0.1]] for piece in true],
    }
    page.evaluate("answer => window.model.set('answer', answer)", answer | {"number": -1})
    assert page.locator(".ib-right").count() == 0
    page.evaluate("answer => window.model.set('answer', answer)", answer)
    right = page.locator(".ib-right").all_inner_texts()
    assert right == [f"✓ {piece} 50 %" for piece in true]
    assert page.get_by_text("<b> 25 %").count() == len(true)
    page.get_by_role("button", name="Redraw").click()
    assert page.locator(".ib-right").count() == 0
    newest = asked(page, question["number"])["number"]
    page.evaluate("n => window.model.set('answer', { number: n, error: 'out of memory' })", newest)
    assert "out of memory" in page.locator("p[role=status]").inner_text()


@pytest.mark.browser
def test_an_empty_sentence_asks_nothing(page: Any) -> None:
    first = asked(page)["number"]
    page.get_by_label("your sentence").fill("  ")
    page.get_by_text("Write a sentence.").wait_for()
    assert page.evaluate("window.model.get('question').number") == first
    assert "pieces hidden: 0 of 2" in page.locator(".ib-headline").inner_text()


@pytest.mark.browser
def test_the_keyboard_is_enough(page: Any) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("window.model.get('unit')") == "span"
    before = asked(page, 2)["number"]  # after the first draw and those of two arrow keys
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert asked(page, before)["number"] > before
    controls = page.locator(".ib-playground").locator("input, textarea, button")
    assert set(controls.evaluate_all("all => all.map(each => each.dataset.lmSuppressShortcuts)")) == {"true"}


@pytest.mark.browser
@pytest.mark.parametrize("page", [360], indirect=True)
def test_nothing_sticks_out_of_a_narrow_window(page: Any) -> None:
    page.get_by_label("your sentence").fill("multidimensional " * 30)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_kernel_answers_a_question(model: PretrainingModel, tokenizer: Any) -> None:
    widget = playground.MaskPlayground(model, tokenizer, "A b.", "token")
    ids = tokenizer("the array is long")["input_ids"]
    widget.question = {"number": 7, "ids": ids, "blanks": [4, 1]}
    assert widget.answer["number"] == 7
    assert [len(guesses) for guesses in widget.answer["guesses"]] == [3, 3]
    widget.question = {"number": 8, "ids": ids, "blanks": [99]}
    assert widget.answer["number"] == 8 and "could not guess" in widget.answer["error"]


def test_without_a_front_end_the_playground_is_a_picture(model: Any, tokenizer: Any) -> None:
    picture = playground.mask_playground(model, tokenizer)
    assert isinstance(picture, style.Picture)
    assert base64.b64decode(picture.bundle["image/png"]).startswith(b"\x89PNG")
    for text in (picture.bundle["text/html"], picture.bundle["text/plain"]):
        assert "word: 5 pieces hidden" in text and "0 words left half-open" in text


def test_with_a_front_end_the_widget_carries_the_picture(
    monkeypatch: pytest.MonkeyPatch, model: Any, tokenizer: Any
) -> None:
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    widget = playground.mask_playground(model, tokenizer, unit="span")
    assert isinstance(widget, playground.MaskPlayground)
    data, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/html"} <= set(data)


def test_an_unknown_unit_lists_the_units(model: Any, tokenizer: Any) -> None:
    with pytest.raises(ValueError, match="'token', 'word', 'span'"):
        playground.mask_playground(model, tokenizer, unit="letter")
