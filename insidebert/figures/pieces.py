"""What the figures on word pieces share: the vocabulary in the browser, and how a row of pieces is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from insidebert.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TINT = 0.28  # of a part's colour on white, as in pieces.css
PARTS = (style.SKY, style.ORANGE)  # of segment 0 and of segment 1
HIDDEN = "#444444"
MARGIN = 16  # characters for the names of the lines, left of the row
INCHES = 0.1  # a character


def source(name: str) -> str:
    """A JavaScript or CSS file of this folder, with what it shares before it."""
    kind = name.rpartition(".")[2]
    shared = style.source("pieces.css") if kind == "css" else style.source("pieces.js")
    own = (style.HERE / name).read_text(encoding="utf-8")
    return shared + own


def vocabulary(tokenizer: Any) -> str:
    """The pieces in the order of their ids, one a line: a tenth of the size of the table as JSON.

    ValueError for a tokenizer that is no lowercase WordPiece: the browser would cut the text differently.
    """
    table = tokenizer.get_vocab()
    if "##s" not in table or "[CLS]" not in table or tokenizer.tokenize("A") == ["A"]:
        raise ValueError(
            f"{type(tokenizer).__name__} is no lowercase WordPiece tokenizer, and the figure cuts text with nothing "
            "else. Use insidebert.sources.load_tokenizer()."
        )
    return "\n".join(sorted(table, key=table.__getitem__))


def draw_row(
    axes: Axes, y: float, pieces: Sequence[str], colours: Sequence[str | None], narrowest: int = 1
) -> list[float]:
    """One row of boxes, as wide as their pieces, at least `narrowest` characters; a colour of None leaves a box white.

    The figure becomes as wide as the row needs. Returns the middles of the boxes, in characters.
    """
    from matplotlib.patches import Rectangle

    x, middles = 0.0, []
    for piece, colour in zip(pieces, colours, strict=True):
        width = max(len(piece), narrowest) + 1.4
        face = colour if colour == HIDDEN else _tinted(colour)
        axes.add_patch(Rectangle((x, y - 0.4), width, 0.8, facecolor=face, edgecolor=colour or style.GREY))
        ink = "white" if colour == HIDDEN else "black"
        axes.text(
            x + width / 2, y, piece, ha="center", va="center", fontsize=9, family="monospace", color=ink
        )
        middles.append(x + width / 2)
        x += width + 0.5
    axes.set_xlim(-MARGIN, max(axes.get_xlim()[1], x))
    if axes.figure is not None:
        axes.figure.set_figwidth(INCHES * (axes.get_xlim()[1] + MARGIN))  # type: ignore[union-attr]
    return middles


def _tinted(colour: str | None) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(1 - TINT * (1 - part) for part in to_rgb(colour)) if colour else (1.0, 1.0, 1.0)
