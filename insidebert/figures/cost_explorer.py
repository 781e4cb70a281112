"""The cost explorer: operations of one sequence against its length, in the linear layers and in attention.

S sequence length, H hidden, I intermediate, L layers.
"""

from __future__ import annotations

import traitlets

from insidebert import configs, cost, frontend
from insidebert.figures import style
from insidebert.figures.widget import Widget

COLOURS = {"linear": style.BLUE, "attention": style.VERMILION}
SHORTEST, LONGEST = 64, 32_768  # tokens, the ends of the axis


def cost_explorer(preset: str = "bert-base-uncased", length: int = 512) -> CostExplorer | style.Picture:
    """What a forward pass of one sequence costs at every length, and where attention overtakes the linear layers.

    `preset` is the published shape it opens with, `length` the marked length in tokens. ValueError for an unknown
    name, with the list of names, and for a length outside 64 to 32,768.
    """
    configs.published(preset)
    if not SHORTEST <= length <= LONGEST:
        raise ValueError(f"length is {length}; the figure shows {SHORTEST} to {LONGEST:,} tokens.")
    return CostExplorer(preset, length) if frontend.interactive() else picture(preset, length)


def score_bytes(length: int, heads: int, layers: int) -> int:
    """Bytes of all attention scores of one sequence in float32, where a layer keeps them: 4 · L · heads · S²."""
    return 4 * layers * heads * length * length


class CostExplorer(Widget):
    """A shape, a length, two curves and their table. The browser computes; shape and length follow it."""

    _esm = style.source("cost_explorer.js")
    _css = style.source("cost_explorer.css")

    presets = traitlets.Dict().tag(sync=True)  # {name: {hidden, intermediate, layers, heads}}
    preset = traitlets.Unicode().tag(sync=True)
    length = traitlets.Int().tag(sync=True)
    shortest = traitlets.Int(SHORTEST).tag(sync=True)
    longest = traitlets.Int(LONGEST).tag(sync=True)
    positions = traitlets.Int(512).tag(sync=True)  # rows of the position table

    def __init__(self, preset: str, length: int) -> None:
        super().__init__(presets=shapes(), preset=preset, length=length)

    def still(self) -> dict[str, str]:
        return picture(self.preset, self.length).bundle


def shapes() -> dict[str, dict[str, int]]:
    """The published shapes that differ in cost: the vocabulary costs nothing here."""
    found: dict[str, dict[str, int]] = {}
    for name in configs.NAMES:
        config = configs.published(name)
        shape = {
            "hidden": config.hidden_size,
            "intermediate": config.intermediate_size,
            "layers": config.num_hidden_layers,
            "heads": config.num_attention_heads,
        }
        if shape not in found.values():
            found[name] = shape
    return found


def picture(preset: str, length: int) -> style.Picture:
    """Both curves for one shape, on logarithmic axes, with the marked length and the length of equal cost."""
    config = configs.published(preset)
    shape = (config.hidden_size, config.intermediate_size, config.num_hidden_layers)
    lengths = [SHORTEST * 2**power for power in range(10)]
    figure = style.blank(7.6, 3.6)
    axes = figure.subplots()
    costs = [cost.encoder_flops(S, *shape) for S in lengths]
    linear, attention = zip(*costs, strict=True)
    axes.loglog(lengths, linear, color=COLOURS["linear"], label="linear layers")
    axes.loglog(lengths, attention, color=COLOURS["attention"], linestyle="--", label="attention")
    equal = cost.equal_length(*shape[:2])
    axes.axvline(equal, color=style.GREY, linewidth=1)
    axes.text(equal * 1.05, linear[0], f"equal at {equal:,}", fontsize=9)
    axes.axvspan(512, LONGEST, color=style.GREY, alpha=0.12)
    axes.text(540, attention[-1], "beyond BERT's position table", fontsize=9, va="top")
    axes.axvline(length, color="black", linestyle=":", linewidth=1)
    axes.set_xticks(lengths, [f"{S:,}" for S in lengths], fontsize=8)
    axes.set_xlim(SHORTEST, LONGEST)
    axes.set_xlabel("tokens in a sequence")
    axes.set_ylabel("operations (FLOP), forward")
    axes.legend(frameon=False, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    here = cost.encoder_flops(length, *shape)
    description = (
        f"{preset}: at {length:,} tokens {here[0] / 1e9:.1f} GFLOP in linear layers and {here[1] / 1e9:.1f} in "
        f"attention, {100 * here[1] / sum(here):.1f} % of both. The first grows with the length, the second with its "
        f"square; they are equal at {equal:,} tokens."
    )
    return style.Picture(figure, description)
