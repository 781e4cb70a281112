"""Two losses and their sum against the step: live while a notebook trains, a picture afterwards."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

from insidebert import frontend
from insidebert.figures import style
from insidebert.figures.widget import Widget

Row = Sequence[float]  # step, MLM loss, NSP loss, in nats
SECONDS = 0.5  # between two messages to the browser
POINTS = 200  # in a picture: a longer run is drawn as means over as many stretches


class LiveCurves(Widget):
    """The curves in the browser, drawn again whenever `rows` changes."""

    _esm = style.source("loss_curves.js")
    _css = style.source("loss_curves.css")

    steps = traitlets.Int().tag(sync=True)
    references = traitlets.Dict().tag(sync=True)
    rows: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def still(self) -> dict[str, str]:
        return picture(self.rows, self.references).bundle if self.rows else {}


class loss_curves:  # noqa: N801, used as `with loss_curves(300) as curves:`
    """The curves of a run while it runs: `add` draws a step; on leaving, the finished curves stay.

    `references` are losses known beforehand, by name. Without a front end nothing is shown until the end.
    """

    def __init__(self, steps: int, references: Mapping[str, float] | None = None) -> None:
        self.steps, self.references = steps, dict(references or {})
        self.rows: list[Row] = []
        self._live: LiveCurves | None = None
        self._sent = 0.0
        self._handle: Any = None

    def __enter__(self) -> loss_curves:
        if frontend.interactive():
            self._live = LiveCurves(steps=self.steps, references=self.references)
            self._handle = _display(self._live, display_id=True)
        return self

    def add(self, step: int, mlm: float, nsp: float) -> None:
        """One more step: its number from 0 and its two mean losses, in nats."""
        self.rows.append((step, mlm, nsp))
        if self._live and time.monotonic() - self._sent > SECONDS:
            self._sent = time.monotonic()
            self._live.rows = list(self.rows)

    def __exit__(self, *_: object) -> None:
        if not self.rows:
            return
        if self._live:
            self._live.rows = list(self.rows)
            self._handle.update(self._live)  # the saved notebook keeps the picture of the whole run
        else:
            _display(picture(self.rows, self.references))


def picture(rows: Sequence[Row], references: Mapping[str, float] | None = None) -> style.Picture:
    """The curves of a finished run. ValueError for a run without steps."""
    if not rows:
        raise ValueError("There is no step to draw: give rows of (step, MLM loss, NSP loss).")
    size = -(-len(rows) // POINTS)
    points = [_mean(rows[i : i + size]) for i in range(0, len(rows), size)]
    steps = [point[0] for point in points]
    figure = style.blank(8.6, 3.6)
    axes = figure.subplots()
    for name, losses, colour, line in (
        ("sum", [mlm + nsp for _, mlm, nsp in points], style.BLACK, ":"),
        ("MLM", [mlm for _, mlm, _ in points], style.BLUE, "-"),
        ("NSP", [nsp for *_, nsp in points], style.VERMILION, "--"),
    ):
        axes.plot(steps, losses, color=colour, linestyle=line, label=name)
    for name, loss in (references or {}).items():
        axes.axhline(loss, color=style.GREY, linewidth=0.8)
        axes.annotate(name, (1.01, loss), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    axes.set_ylim(bottom=0)
    between = (rows[-1][0] - rows[0][0]) / max(1, len(rows) - 1)  # a row may itself stand for several steps
    axes.set_xlabel("step" if size == 1 else f"step (each point a mean over {size * between:.0f})")
    axes.set_ylabel("loss (nats)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=3, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1))
    first, last = points[0], points[-1]
    said = "; ".join(
        f"{name} from {before:.2f} to {after:.2f} nats"
        for name, before, after in (("MLM", first[1], last[1]), ("NSP", first[2], last[2]))
    )
    return style.Picture(
        figure, f"Loss against step, {rows[-1][0] + 1:.0f} steps: {said}; the sum is their sum."
    )


def _mean(rows: Sequence[Row]) -> Row:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def _display(thing: object, **options: Any) -> Any:
    from IPython.display import display

    return display(thing, **options)
