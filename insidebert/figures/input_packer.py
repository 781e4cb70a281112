"""The input packer: two texts of the reader's, the row they make, and the three ids under every piece."""

from __future__ import annotations

from typing import Any

import traitlets

from insidebert import frontend
from insidebert.figures import pieces, style
from insidebert.figures.widget import Widget
from insidebert.packing import pack_pair

TEXTS = ("This teddybear is so cute.", "It sleeps.")


def input_packer(
    tokenizer: Any, text_a: str = TEXTS[0], text_b: str = TEXTS[1], max_length: int = 20
) -> InputPacker | style.Picture:
    """Two texts as one row: pieces, token ids, segment ids and position ids, cut at `max_length`.

    An empty `text_b` makes a row of one segment. ValueError for a `max_length` under 3 or beyond the position
    table, and for a tokenizer that is no lowercase WordPiece.
    """
    if not 3 <= max_length <= tokenizer.model_max_length:
        raise ValueError(
            f"max_length is {max_length}; a row has room for three special tokens at least and for "
            f"{tokenizer.model_max_length} at most, the rows of the position table."
        )
    packer = InputPacker if frontend.interactive() else picture
    return packer(tokenizer, text_a, text_b, max_length)


class InputPacker(Widget):
    """Two text boxes, a limit and the packed row. The browser computes; the texts follow it for whoever asks."""

    _esm = pieces.source("input_packer.js")
    _css = pieces.source("input_packer.css")

    vocabulary = traitlets.Unicode().tag(sync=True)  # pieces by id, one a line
    text_a = traitlets.Unicode().tag(sync=True)
    text_b = traitlets.Unicode().tag(sync=True)
    max_length = traitlets.Int().tag(sync=True)
    limit = traitlets.Int(512).tag(sync=True)  # rows of the position table

    def __init__(self, tokenizer: Any, text_a: str, text_b: str, max_length: int) -> None:
        super().__init__(
            vocabulary=pieces.vocabulary(tokenizer),
            text_a=text_a,
            text_b=text_b,
            max_length=max_length,
            limit=tokenizer.model_max_length,
        )
        self._tokenizer = tokenizer

    def still(self) -> dict[str, str]:
        return picture(self._tokenizer, self.text_a, self.text_b, self.max_length).bundle


def picture(tokenizer: Any, text_a: str, text_b: str, max_length: int) -> style.Picture:
    """The packed row with its three rows of ids."""
    texts = [text_a, text_b]  # too long for a row, they are cut below: no warning
    ids = tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
    row = pack_pair(
        ids[0],
        ids[1] if text_b.strip() else None,
        cls_id=tokenizer.cls_token_id,
        sep_id=tokenizer.sep_token_id,
        max_length=max_length,
    )
    names = tokenizer.convert_ids_to_tokens(row["input_ids"])
    special = set(tokenizer.all_special_tokens)
    segments = row["token_type_ids"]
    figure = style.blank(11, 1.7)
    axes = figure.subplots()
    colours = [None if name in special else pieces.PARTS[s] for name, s in zip(names, segments, strict=True)]
    middles = pieces.draw_row(axes, 0, names, colours, narrowest=5)  # ids have up to five digits
    lines = {"token id": row["input_ids"], "segment id": segments, "position id": range(len(names))}
    for y, (name, values) in enumerate(lines.items(), start=1):
        axes.text(-1, y, name, ha="right", va="center", fontsize=9)
        for x, value in zip(middles, values, strict=True):
            axes.text(x, y, str(value), ha="center", va="center", fontsize=8)
    axes.text(-1, 0, "piece", ha="right", va="center", fontsize=9)
    axes.set_ylim(3.6, -0.7)
    axes.axis("off")
    description = f"A packed row of {len(names)} positions. " + "; ".join(
        f"{name}: {' '.join(map(str, values))}" for name, values in {"pieces": names, **lines}.items()
    )
    return style.Picture(figure, description + ".")
