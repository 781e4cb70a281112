"""The input packer: the browser cuts and packs as the library does; a picture stands in."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from typing import Any

import pytest

from insidebert import frontend
from insidebert.figures import input_packer as packer
from insidebert.figures import pieces, style
from insidebert.packing import pack_pair
from tests.figure_page import open_figure

STATE = ("vocabulary", "text_a", "text_b", "max_length", "limit")
# Accents, punctuation of several scripts, Chinese characters, emoji, control characters, special tokens in the text.
TEXTS = [
    "This teddy bear is so cute.",
    "Électroencéphalographie, naïve façade; Straße İstanbul ΣΟΦΟΣ",
    "don't stop-me_now (a+b)*c = 100% ~ `x` ^ | <tag/>",
    "北京 is the capital of 中国。「引用」 全角！",
    "emoji 🧸 and 👩‍👩‍👧 and ½ ² ™ … — “quotes” ‽",
    "soft\u00adhyphen zero\u200bwidth nul\x00 tab\tnew\nline\r\nnbsp\u00a0end \ufffd",
    "a [MASK] here, [SEP]glued[CLS] and [mask] in lower case",
    "x" * 100 + " " + "y" * 101 + " " + "e\u0301" * 60,
    "unaffable antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "हिन्दी العربية עברית ไทย 한국어 ひらがな カタカナ",
    "not assigned \U000e00c7 \u0379x",
    "   ",
    "",
]


def open_packer(browser: Any, tokenizer: Any, text_a: str, width: int = 900) -> Any:
    widget = packer.InputPacker(tokenizer, text_a, packer.TEXTS[1], 40)
    state = {name: getattr(widget, name) for name in STATE}
    viewport = {"width": width, "height": 700}
    return open_figure(browser, "input_packer", state, pieces.source, viewport=viewport)


@pytest.fixture
def page(browser: Any, tokenizer: Any) -> Iterator[Any]:
    opened = open_packer(browser, tokenizer, packer.TEXTS[0])
    yield opened
    assert opened.problems == []
    opened.close()


def row_of(page: Any, name: str) -> list[str]:
    """The cells of one line of the table."""
    line = page.locator(".ib-packer tr").filter(has=page.get_by_role("rowheader", name=name, exact=True))
    return line.locator("td").all_inner_texts()


@pytest.mark.browser
def test_the_browser_cuts_text_as_the_tokenizer_does(page: Any, tokenizer: Any) -> None:
    rng = random.Random(0)
    alphabet = "aeiou rst ABC .,!?-'’é ü ß ñ 中 文 1 2 3 ## _ […] €µ"
    texts = TEXTS + ["".join(rng.choices(alphabet, k=40)) for _ in range(300)]
    computed = page.evaluate(
        """texts => { const vocabulary = window.figure.vocabularyOf(window.model.get("vocabulary"));
        return texts.map(text => window.figure.piecesOf(text, vocabulary)); }""",
        texts,
    )
    for text, found in zip(texts, computed, strict=True):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert found == tokenizer.convert_ids_to_tokens(ids), text


@pytest.mark.browser
def test_the_browser_packs_as_the_library_does(page: Any) -> None:
    rng = random.Random(1)
    for _ in range(200):
        a, b = ([str(rng.randrange(90)) for _ in range(rng.randrange(12))] for _ in range(2))
        second, longest = rng.choice([b, None]), rng.randint(3, 24)
        got = page.evaluate("([a, b, longest]) => window.figure.pack(a, b, longest)", [a, second, longest])
        ids = [[int(i) for i in part] if part is not None else None for part in (a, second)]
        expected = pack_pair(ids[0] or [], ids[1], cls_id=-1, sep_id=-2, max_length=longest)
        names = [{-1: "[CLS]", -2: "[SEP]"}.get(i, str(i)) for i in expected["input_ids"]]
        assert [column["piece"] for column in got["row"]] == names
        assert [column["segment"] for column in got["row"]] == expected["token_type_ids"]
        kept = len(names) - (2 if second is None else 3)
        assert kept + sum(map(len, got["dropped"])) == len(a) + len(second or [])


@pytest.mark.browser
def test_typing_changes_the_row_at_once(page: Any, tokenizer: Any) -> None:
    page.get_by_label("text A").fill("Teddy bears")
    page.get_by_label("text B").fill("sleep")
    names = ["[CLS]", "teddy", "bears", "[SEP]", "sleep", "[SEP]"]
    assert row_of(page, "piece") == names
    assert row_of(page, "token id") == [str(i) for i in tokenizer.convert_tokens_to_ids(names)]
    assert row_of(page, "segment id") == ["0", "0", "0", "0", "1", "1"]
    assert row_of(page, "position id") == ["0", "1", "2", "3", "4", "5"]
    assert page.evaluate("[window.saved.text_a, window.saved.text_b]") == ["Teddy bears", "sleep"]
    page.get_by_label("text B").fill(" ")
    assert row_of(page, "segment id") == ["0", "0", "0", "0"]


@pytest.mark.browser
def test_the_limit_cuts_and_padding_fills(page: Any) -> None:
    page.get_by_label("text A").fill("one two three four five")
    page.get_by_label("text B").fill("six seven")
    field = page.get_by_label("max_length", exact=True)
    field.fill("7")
    field.blur()
    assert row_of(page, "piece") == ["[CLS]", "one", "two", "[SEP]", "six", "seven", "[SEP]"]
    assert page.locator(".ib-packer s").all_inner_texts() == ["three", "four", "five"]
    assert "3 pieces cut off" in page.locator(".ib-headline").inner_text()
    field.fill("12")
    field.blur()
    page.get_by_label("pad to max_length").check()
    assert row_of(page, "piece")[-2:] == ["[PAD]", "[PAD]"]
    assert row_of(page, "attention mask") == ["1"] * 10 + ["0"] * 2
    for typed, kept in {"-5": 3, "9999": 512, "": 3, "7.6": 8}.items():
        field.fill(typed)
        field.blur()
        assert page.evaluate("window.saved.max_length") == kept


@pytest.mark.browser
def test_a_whole_book_is_cut_and_counted(page: Any) -> None:
    page.get_by_label("text A").fill("word " * 200_000)
    assert "199966 pieces cut off" in page.locator(".ib-headline").inner_text()
    assert page.locator(".ib-packer s").count() == 200
    assert "more." in page.locator(".ib-note").first.inner_text()


@pytest.mark.browser
def test_the_keyboard_is_enough(page: Any) -> None:
    for tag in ("TEXTAREA", "TEXTAREA", "INPUT", "INPUT", "INPUT", "DIV"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == tag
        assert page.evaluate("document.activeElement.dataset.lmSuppressShortcuts") == "true"


@pytest.mark.browser
def test_markup_in_a_text_stays_text(page: Any) -> None:
    page.get_by_label("text A").fill("<img src=x onerror=alert(1)>")
    assert "<" in row_of(page, "piece") and page.locator(".ib-packer img").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_sticks_out_of_a_narrow_window(browser: Any, tokenizer: Any, width: int) -> None:
    opened = open_packer(browser, tokenizer, "long " * 60, width)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened.close()


def test_without_a_front_end_the_packer_is_a_picture(tokenizer: Any) -> None:
    picture = packer.input_packer(tokenizer, "Teddy bears", "", 12)
    assert isinstance(picture, style.Picture)
    bundle = picture._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "pieces: [CLS] teddy bears [SEP]; token id: 101" in bundle["text/plain"]
    assert "segment id: 0 0 0 0; position id: 0 1 2 3" in bundle["text/html"]


def test_with_a_front_end_the_widget_carries_the_picture(
    monkeypatch: pytest.MonkeyPatch, tokenizer: Any
) -> None:
    monkeypatch.setattr(frontend, "interactive", lambda: True)
    widget = packer.input_packer(tokenizer)
    assert isinstance(widget, packer.InputPacker)
    data, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/html"} <= set(data)


@pytest.mark.parametrize("length", [2, 513])
def test_a_limit_that_no_row_can_have_is_refused(tokenizer: Any, length: int) -> None:
    with pytest.raises(ValueError, match=str(length)):
        packer.input_packer(tokenizer, max_length=length)


def test_another_kind_of_tokenizer_is_refused() -> None:
    class Cased:
        def get_vocab(self) -> dict[str, int]:
            return {"[CLS]": 0, "##s": 1, "A": 2}

        def tokenize(self, text: str) -> list[str]:
            return [text]

    with pytest.raises(ValueError, match="lowercase WordPiece"):
        pieces.vocabulary(Cased())
