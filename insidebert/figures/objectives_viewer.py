"""The mask and pair viewer: one packed row, drawn anew at every press; what is seen and what is asked."""

from __future__ import annotations

from typing import Any

import torch
import traitlets

from insidebert import frontend
from insidebert.figures import style
from insidebert.figures.widget import Widget
from insidebert.masking import corrupt, special_table
from insidebert.packing import pack_pair

# Three short documents about three subjects: a stranger is easy to tell, which is a point of the lesson.
STORIES = [
    [
        "This teddy bear is so cute.",
        "One of its ears was sewn on twice.",
        "Nobody knows which child chewed it off.",
        "It sits on the shelf and looks at the door.",
    ],
    [
        "The function returns a new array.",
        "Its shape is the shape of the input.",
        "If the array is empty, an error is raised.",
        "Use the second argument to change the order of the axes.",
    ],
    [
        "Knead the dough until it no longer sticks to your fingers.",
        "Cover it with a cloth and wait for an hour.",
        "Meanwhile the oven should become as hot as it can.",
        "The bread is done when it sounds hollow.",
    ],
]
RANDOM_PIECES = (
    1000  # the browser draws random pieces from so many of the vocabulary, themselves drawn at random
)
COLOURS = {"[MASK]": style.BLUE, "random": style.VERMILION, "as it was": style.GREEN}


def objectives_viewer(
    tokenizer: Any, documents: list[list[str]] | None = None
) -> ObjectivesViewer | style.Picture:
    """What one pair asks of the model: which pieces are targets, what stands in their place, which label it has.

    `documents`: at least two, each of at least two sentences; by default three short ones of the course. Else
    ValueError.
    """
    documents = STORIES if documents is None else documents
    if len(documents) < 2 or min(map(len, documents)) < 2:
        raise ValueError(
            f"The viewer draws neighbours and strangers: it needs two documents or more of two sentences or more, "
            f"got {len(documents)} with {[len(document) for document in documents]} sentences."
        )
    return ObjectivesViewer(tokenizer, documents) if frontend.interactive() else picture(tokenizer, documents)


class ObjectivesViewer(Widget):
    """Three buttons, two settings, the row and a tally. Everything happens in the browser."""

    _esm = style.source("objectives_viewer.js")
    _css = style.source("objectives_viewer.css")

    documents: traitlets.List[Any] = traitlets.List().tag(sync=True)  # documents of sentences of pieces
    vocabulary: traitlets.List[Any] = traitlets.List().tag(sync=True)  # pieces to draw a random one from

    def __init__(self, tokenizer: Any, documents: list[list[str]]) -> None:
        generator = torch.Generator().manual_seed(0)
        ids = torch.randint(len(tokenizer), (RANDOM_PIECES,), generator=generator)
        super().__init__(
            documents=[[tokenizer.tokenize(sentence) for sentence in document] for document in documents],
            vocabulary=tokenizer.convert_ids_to_tokens(ids),
        )
        self._standing_in = picture(tokenizer, documents).bundle

    def still(self) -> dict[str, str]:
        return self._standing_in


def picture(tokenizer: Any, documents: list[list[str]], draws: int = 4, seed: int = 35) -> style.Picture:
    """The first two sentences of the first document under several masks: row by row what the model sees."""
    a, b = tokenizer(documents[0][:2], add_special_tokens=False)["input_ids"]
    packed = pack_pair(a, b, cls_id=tokenizer.cls_token_id, sep_id=tokenizer.sep_token_id, max_length=64)
    ids = torch.tensor([packed["input_ids"]] * draws)  # (draws,S)
    generator = torch.Generator().manual_seed(seed)
    selected = (torch.rand(ids.shape, generator=generator) < 0.15) & ~special_table(tokenizer)[ids]
    shown, labels = corrupt(
        ids,
        selected,
        mask_token_id=tokenizer.mask_token_id,
        vocab_size=len(tokenizer),
        generator=generator,
    )
    original = tokenizer.convert_ids_to_tokens(packed["input_ids"])
    figure = style.blank(0.62 * len(original), 0.5 * draws + 1.1)  # a piece of six letters fills 0.6 inches
    axes = figure.subplots()
    said = []
    for row in range(draws):
        seen = tokenizer.convert_ids_to_tokens(shown[row])
        for column, piece in enumerate(seen):
            if labels[row, column] == -100:
                axes.text(column, row, piece, ha="center", va="center", fontsize=8)
                continue
            fate = "as it was" if piece == original[column] else "[MASK]" if piece == "[MASK]" else "random"
            box = {"facecolor": "white", "edgecolor": COLOURS[fate], "linewidth": 2, "pad": 2}
            axes.text(column, row, piece, ha="center", va="center", fontsize=8, bbox=box, parse_math=False)
            said.append(
                f"draw {row + 1}: {original[column]} {'shown ' if fate != 'random' else 'as '}{piece}"
            )
    for column, piece in enumerate(original):
        axes.text(column, -1, piece, ha="center", va="center", fontsize=8, color="dimgray", style="italic")
    axes.set_xlim(-0.8, len(original) - 0.2)
    axes.set_ylim(draws - 0.4, -1.6)
    axes.set_yticks([-1, *range(draws)], ["the row", *(f"draw {row + 1}" for row in range(draws))])
    axes.set_xticks([])
    axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
    axes.tick_params(length=0)
    for fate, colour in COLOURS.items():
        axes.plot([], [], color=colour, linewidth=3, label=f"target: {fate}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3, frameon=False, fontsize=9)
    return style.Picture(
        figure,
        "One pair under several masks; the targets are: "
        + "; ".join(said)
        + ". Label of the pair: 0, B follows A.",
    )
