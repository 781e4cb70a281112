"""The head reader: a sentence of the reader's, the vector that leaves each position, and which of them a head reads.

S positions, H hidden, L labels, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from insidebert import frontend
from insidebert.figures import pieces, style
from insidebert.figures.widget import Widget
from insidebert.packing import pack_pair

HEADS = {
    "sequence": "one label for the row",
    "token": "a label for every token",
    "span": "start and end of an answer",
    "mlm": "pre-training: the hidden pieces",
}
TEXTS = ("This teddybear is so cute.", "")
READ = style.BLUE


def readings(
    head: str, names: Sequence[str], segments: Sequence[int], labels: int = 2
) -> list[tuple[str, str]]:
    """For each position what the head computes from its vector, "" where it reads nothing, and what that is for.

    `names`: the pieces of the packed row, special tokens with them; `segments`: 0 or 1 each. ValueError for a head
    that is none of `HEADS`.
    """
    if head not in HEADS:
        raise ValueError(f"There is no head {head!r}: the figure knows {', '.join(HEADS)}.")
    passage = max(segments)  # with one text, that text
    result = []
    for place, (name, segment) in enumerate(zip(names, segments, strict=True)):
        special = name in ("[CLS]", "[SEP]")
        scores, use = "", ""
        if head == "sequence" and place == 0:
            scores, use = f"{labels} scores", "label"
        elif head == "token":
            first = not special and not name.startswith("##")
            scores, use = f"{labels} scores", "label" if first else "ignored"
        elif head == "span":
            inside = not special and segment == passage
            scores, use = "2 scores", "no answer" if place == 0 else "may answer" if inside else "ruled out"
        elif head == "mlm" and name == "[MASK]":
            scores, use = "V scores", "piece"
        result.append((scores, use))
    return result


def head_parameters(head: str, hidden: int, labels: int = 2, vocab: int = 30_522) -> int:
    """Weights and biases that the head adds: L·H + L, 2·H + 2 for a span; for MLM a transform and a bias, as the
    decoder is the token table (Devlin et al. 2019, sec. 3 and 4)."""
    if head == "mlm":
        return hidden * hidden + hidden + 2 * hidden + vocab
    outputs = 2 if head == "span" else labels
    return outputs * hidden + outputs


def head_reader(
    tokenizer: Any, text_a: str = TEXTS[0], text_b: str = TEXTS[1], head: str = "sequence", hidden: int = 384
) -> HeadReader | style.Picture:
    """Which output vectors of a packed row each head reads, and what it makes of them.

    `hidden`: H of the encoder, for the size of the head. ValueError for a head that is none of `HEADS`, and for a
    tokenizer that is no lowercase WordPiece.
    """
    readings(head, ["[CLS]"], [0])  # an unknown head fails here, with the list
    reader = HeadReader if frontend.interactive() else picture
    return reader(tokenizer, text_a, text_b, head, hidden)


class HeadReader(Widget):
    """Two text boxes, four heads, the row. The browser computes; texts and head follow it for whoever asks."""

    _esm = pieces.source("head_reader.js")
    _css = pieces.source("head_reader.css")

    vocabulary = traitlets.Unicode().tag(sync=True)  # pieces by id, one a line
    heads = traitlets.Dict(HEADS).tag(sync=True)
    text_a = traitlets.Unicode().tag(sync=True)
    text_b = traitlets.Unicode().tag(sync=True)
    head = traitlets.Unicode().tag(sync=True)
    labels = traitlets.Int(2).tag(sync=True)
    hidden = traitlets.Int().tag(sync=True)
    limit = traitlets.Int(512).tag(sync=True)  # rows of the position table

    def __init__(self, tokenizer: Any, text_a: str, text_b: str, head: str, hidden: int) -> None:
        super().__init__(
            vocabulary=pieces.vocabulary(tokenizer),
            text_a=text_a,
            text_b=text_b,
            head=head,
            hidden=hidden,
            limit=tokenizer.model_max_length,
        )
        self._tokenizer = tokenizer

    def still(self) -> dict[str, str]:
        return picture(self._tokenizer, self.text_a, self.text_b, self.head, self.hidden).bundle


def picture(tokenizer: Any, text_a: str, text_b: str, head: str, hidden: int) -> style.Picture:
    """The row once, and under it a line for each head; `head` comes first."""
    texts = [text_a, text_b]  # too long for a row, they are cut below: no warning
    ids = tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
    special = {"cls_id": tokenizer.cls_token_id, "sep_id": tokenizer.sep_token_id}
    row = pack_pair(
        ids[0], ids[1] if text_b.strip() else None, max_length=tokenizer.model_max_length, **special
    )
    names, segments = tokenizer.convert_ids_to_tokens(row["input_ids"]), row["token_type_ids"]
    order = [head, *(name for name in HEADS if name != head)]
    figure = style.blank(11, 0.42 * (len(order) + 2.5))
    axes = figure.subplots()
    colours = [
        None if name in ("[CLS]", "[SEP]") else pieces.PARTS[s]
        for name, s in zip(names, segments, strict=True)
    ]
    middles = pieces.draw_row(axes, 0, names, colours, narrowest=6)
    axes.text(-1, 0, "piece", ha="right", va="center", fontsize=9)
    said = []
    for y, name in enumerate(order, start=1):
        read = readings(name, names, segments)
        axes.text(-1, y, HEADS[name], ha="right", va="center", fontsize=9)
        for x, (scores, use) in zip(middles, read, strict=True):
            used = scores and use not in ("ignored", "ruled out")
            edge, face = (READ if scores else style.GREY), (READ if used else "white")
            axes.plot(x, y, "o", ms=9, mec=edge, mfc=face)
        count = sum(bool(scores) for scores, _ in read)
        said.append(
            f"{HEADS[name]}: reads {count} of {len(names)} ({head_parameters(name, hidden):,} parameters)"
        )
    axes.text(
        0,
        len(order) + 1,
        "full: read and used; blue ring: read, then ignored or ruled out; grey: not read",
        va="center",
        fontsize=8,
    )
    axes.set_xlim(left=-34)
    axes.set_ylim(len(order) + 1.5, -0.7)
    axes.axis("off")
    return style.Picture(figure, f"Pieces: {' '.join(names)}. " + "; ".join(said) + ".")
