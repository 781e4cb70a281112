"""The mask playground: any sentence, three units, the blanks they make and what the model says to them."""

from __future__ import annotations

from typing import Any

import torch
import traitlets

from insidebert import frontend
from insidebert.figures import pieces, style
from insidebert.figures.widget import Widget
from insidebert.granularity import fill_blanks, half_open, units_of
from insidebert.masking import UNITS, prediction_budget, select_units

SENTENCE = "The tokenizer reorders multidimensional arrays before initialization."


def mask_playground(
    model: Any, tokenizer: Any, sentence: str = SENTENCE, unit: str = "token"
) -> MaskPlayground | style.Picture:
    """A sentence with blanks, drawn by token, whole word or span; counters, and the guesses of `model`.

    `model`: a `pretraining.PretrainingModel`. ValueError for an unknown unit, and for a tokenizer that is no
    lowercase WordPiece.
    """
    if unit not in UNITS:
        raise ValueError(f"unit is {unit!r}; it can be {', '.join(map(repr, UNITS))}.")
    if not frontend.interactive():
        return picture(tokenizer, sentence)
    return MaskPlayground(model, tokenizer, sentence, unit)


class MaskPlayground(Widget):
    """Text box, unit, share and a button. The browser draws and counts; each draw asks the kernel for guesses."""

    _esm = pieces.source("mask_playground.js")
    _css = pieces.source("mask_playground.css")

    vocabulary = traitlets.Unicode().tag(sync=True)  # pieces by id, one a line
    sentence = traitlets.Unicode().tag(sync=True)
    unit = traitlets.Unicode().tag(sync=True)
    limit = traitlets.Int(512).tag(sync=True)  # rows of the position table
    question = traitlets.Dict().tag(sync=True)  # number of the draw, ids of the row, positions of the blanks
    answer = traitlets.Dict().tag(sync=True)  # number of the draw, for each blank [[piece, probability], …]

    def __init__(self, model: Any, tokenizer: Any, sentence: str, unit: str) -> None:
        limit = model.config.max_position_embeddings
        super().__init__(vocabulary=pieces.vocabulary(tokenizer), sentence=sentence, unit=unit, limit=limit)
        self._model, self._tokenizer = model, tokenizer
        self.observe(lambda change: self._guess(change["new"]), "question")

    def _guess(self, question: dict[str, Any]) -> None:
        number = question["number"]
        try:
            guesses = fill_blanks(self._model, self._tokenizer, question["ids"], question["blanks"])
            self.answer = {"number": number, "guesses": guesses}
        except Exception as error:  # without an answer the figure would wait for ever
            self.answer = {"number": number, "error": f"The model could not guess: {error}"}

    def still(self) -> dict[str, str]:
        return picture(self._tokenizer, self.sentence).bundle


def picture(tokenizer: Any, sentence: str = SENTENCE, share: float = 0.3, seed: int = 11) -> style.Picture:
    """One sentence three times, the same share of it hidden by token, whole word and span."""
    ids = tokenizer(sentence, return_tensors="pt", truncation=True)["input_ids"]  # (1,S)
    names = tokenizer.convert_ids_to_tokens(ids[0].tolist())
    words = units_of(ids, tokenizer)
    budget = prediction_budget(ids.shape[1], share, cap=None)
    figure = style.blank(13, 2.1)
    axes = figure.subplots()
    descriptions = []
    for y, unit in enumerate(UNITS):
        generator = torch.Generator().manual_seed(seed)
        units = units_of(ids, tokenizer, unit, generator=generator)
        hidden = select_units(units, budget=torch.tensor([budget]), generator=generator)
        flags = hidden[0].tolist()
        opened = half_open(hidden, words)
        special = [number == 0 for number in words[0].tolist()]
        colours = [
            pieces.HIDDEN if flag else None if outside else style.SKY
            for flag, outside in zip(flags, special, strict=True)
        ]
        pieces.draw_row(axes, y, names, colours)
        axes.text(
            -1, y, f"{unit}: {sum(flags)} hidden,\n{opened} half-open", ha="right", va="center", fontsize=9
        )
        blanks = " ".join(name for name, flag in zip(names, flags, strict=True) if flag)
        descriptions.append(f"{unit}: {sum(flags)} pieces hidden ({blanks}), {opened} words left half-open")
    axes.set_ylim(2.6, -0.6)
    axes.axis("off")
    return style.Picture(
        figure, f"One sentence, {budget} pieces to hide at most. " + "; ".join(descriptions) + "."
    )
