"""The pictures of a reader's text: no script, mark-up or length brings a warning, an error or a wait."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from insidebert.figures import head_reader, input_packer, mask_playground, objectives_viewer
from insidebert.sources import load_tokenizer

PICTURES: dict[str, Callable[[Any, str], Any]] = {
    "packer": lambda tokenizer, text: input_packer.picture(tokenizer, text, text, 20),
    "reader": lambda tokenizer, text: head_reader.picture(tokenizer, text, "", "token", 384),
    "playground": mask_playground.picture,
    "viewer": lambda tokenizer, text: objectives_viewer.picture(tokenizer, [[text, text]]),
}
TEXTS = {
    "empty": "",
    "Chinese": "我爱北京",
    "right to left": "שלום עולם مرحبا",
    "Devanagari": "नमस्ते",
    "emoji": "👩‍👩‍👧‍👦 ❤️",
    "mark-up": "<script>alert(1)</script> $x^2$",
    "control characters": "a\x00b\ufffd\u202e\ufeff",
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return load_tokenizer(offline=True)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("figure", PICTURES)
def test_any_script_is_drawn_without_a_warning(tokenizer: Any, figure: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bundle = PICTURES[figure](tokenizer, text).bundle
    assert "<script" not in bundle["text/html"]


@pytest.mark.parametrize("figure", ["packer", "playground"])
def test_a_long_text_is_cut_in_silence(
    tokenizer: Any, figure: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    tokenizer.deprecation_warnings.clear()  # the tokenizer warns once
    drawn: list[int] = []

    def draw_row(axes: Any, y: float, names: list[str], *_: Any, **__: Any) -> list[float]:
        drawn.append(len(names))
        return [0.0] * len(names)

    monkeypatch.setattr("insidebert.figures.pieces.draw_row", draw_row)
    PICTURES[figure](tokenizer, "word " * 600)
    assert max(drawn) <= tokenizer.model_max_length
    assert capfd.readouterr().err == ""
