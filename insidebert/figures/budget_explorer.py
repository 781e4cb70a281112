"""The budget explorer: where an encoder's parameters are, as one stacked bar that moves with six controls."""

from __future__ import annotations

from typing import Any

import traitlets

from insidebert import budget, configs, frontend
from insidebert.figures import style
from insidebert.figures.widget import Widget

COLOURS = {
    "token table": style.ORANGE,
    "projection": style.YELLOW,
    "position table": style.SKY,
    "segment table": style.PURPLE,
    "embedding norm": style.GREY,
    "encoder layers": style.BLUE,
    "pooler": style.GREEN,
}
REFERENCE = "bert-base-uncased"  # drawn under every other model, for scale


def budget_explorer(preset: str = REFERENCE) -> BudgetExplorer | style.Picture:
    """Where the parameters of an encoder are: published models to start from, sliders to change them.

    `preset` is the published name it opens with; an unknown one is a ValueError that lists the names.
    """
    return BudgetExplorer(preset) if frontend.interactive() else picture(preset)


class BudgetExplorer(Widget):
    """Presets, sliders, a stacked bar and its table.

    The browser computes; `shape` follows it for whoever asks.
    """

    _esm = style.source("budget_explorer.js")
    _css = style.source("budget_explorer.css")

    presets = traitlets.Dict().tag(sync=True)  # {name: shape}
    colours = traitlets.Dict(COLOURS).tag(sync=True)
    reference = traitlets.Unicode(REFERENCE).tag(sync=True)
    shape = traitlets.Dict().tag(sync=True)  # the arguments of `budget.closed_form`

    def __init__(self, preset: str = REFERENCE) -> None:
        configs.published(preset)  # an unknown name fails here, with the list of names
        shapes = _shapes()
        super().__init__(presets=shapes, shape=shapes[preset])
        self._preset = preset

    def still(self) -> dict[str, str]:
        return picture(self._preset).bundle


def picture(preset: str = REFERENCE) -> style.Picture:
    """The published models as stacked bars, `preset` first among them."""
    configs.published(preset)
    shapes = _shapes()
    names = [preset, *(name for name in shapes if name != preset and not name.endswith("-cased"))]
    figure = style.blank(8.6, 0.42 * len(names) + 1.3)
    axes = figure.subplots()
    descriptions = []
    for row, name in enumerate(names):
        parts = budget.closed_form(**shapes[name])
        total, left = sum(parts.values()), 0.0
        for part, size in parts.items():
            axes.barh(
                row, size / 1e6, left=left, height=0.7, color=COLOURS[part], label=part if row == 0 else None
            )
            left += size / 1e6
        share = parts["token table"] / total
        axes.text(left + 4, row, f"{total / 1e6:.2f} M, table {100 * share:.2f} %", va="center", fontsize=9)
        descriptions.append(f"{name}: {total:,} parameters, token table {100 * share:.2f} %")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 430)
    axes.set_xlabel("parameters (millions), encoder with pooler, no head")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="upper center", ncols=4, frameon=False, fontsize=9, bbox_to_anchor=(0.5, 1.02))
    return style.Picture(figure, "Where the parameters are. " + "; ".join(descriptions) + ".")


def _shapes() -> dict[str, dict[str, Any]]:
    return {name: budget.config_shape(configs.published(name)) for name in configs.NAMES}
