"""What all figures share: colours, the style sheet, and the picture that stands in for a widget."""

from __future__ import annotations

import base64
import io
import logging
import warnings
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent

# Okabe and Ito, "Color Universal Design" (2008): told apart with every common colour vision.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = [
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
]
GREY = "#999999"


def source(name: str) -> str:
    """A JavaScript or CSS file of this folder; CSS comes with the shared sheet before it."""
    text = (HERE / name).read_text(encoding="utf-8")
    return (HERE / "style.css").read_text(encoding="utf-8") + text if name.endswith(".css") else text


def blank(width: float, height: float) -> Figure:
    """An empty matplotlib figure, in inches."""
    # On its first use on a machine matplotlib reports on stderr that it collects fonts, or has no place to keep them.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


class Picture:
    """A matplotlib figure with its description, as one notebook output:

    HTML with alternative text, PNG, text.
    """

    def __init__(self, figure: Figure, description: str) -> None:
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            # A reader's script that the font lacks is drawn as empty boxes; the description has the letters.
            warnings.filterwarnings(
                "ignore", r"(?s)Glyph .* missing from font|Matplotlib currently does not support"
            )
            figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight", facecolor="white")
        png = base64.b64encode(buffer.getvalue()).decode("ascii")
        image = f'<img style="max-width: 100%" alt="{escape(description)}" src="data:image/png;base64,{png}">'
        self.bundle = {"text/html": image, "image/png": png, "text/plain": description}

    def __repr__(self) -> str:
        return self.bundle["text/plain"]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self.bundle
