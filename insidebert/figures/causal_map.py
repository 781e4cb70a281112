"""The causal map: what forced which decision in BERT's design, and who pays for it. Each box can be opened."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass

import traitlets

from insidebert import frontend
from insidebert.figures import style
from insidebert.figures.widget import Widget

COLOURS = {"need": style.VERMILION, "decision": style.BLUE, "price": style.ORANGE}
MEANING = {"need": "what was missing", "decision": "what BERT does", "price": "what it costs"}
# In the picture, so that the kinds can be told apart without colours: a corner's radius, a line.
CORNERS = {"need": 0.01, "decision": 0.8, "price": 0.3}
LINES = {"need": "-", "decision": "-", "price": "--"}


@dataclass(frozen=True)
class Box:
    """One box: its kind, the boxes it follows from, what it says when opened, and the lesson that shows it."""

    id: str
    kind: str  # need, decision or price
    title: str
    causes: tuple[str, ...]
    text: str
    lesson: str


def _box(id: str, kind: str, title: str, causes: str, text: str, lesson: str) -> Box:
    return Box(id, kind, title, tuple(causes.split()), text, lesson)


ROWS: dict[str, tuple[Box, ...]] = {
    "Reading": (
        _box(
            "left",
            "need",
            "the right context is out of reach",
            "",
            "A left-to-right model reads a word before it has seen what follows. For generating text that is the "
            "task; for understanding it, half of the evidence is missing.",
            "01",
        ),
        _box(
            "both",
            "decision",
            "attend both ways",
            "left",
            "Every position may look at every other, left and right, in every layer. The mask that hid the future "
            "is gone.",
            "01",
        ),
        _box(
            "visible",
            "need",
            "now the answer is visible",
            "both",
            "With both sides in sight the next token stands in the input. A model trained to predict it learns to "
            "copy, and nothing else.",
            "01",
        ),
        _box(
            "hide",
            "decision",
            "hide pieces, then ask (MLM)",
            "visible",
            "Some pieces are taken out of the row and the model names them. The question is fair again, and both "
            "sides may help.",
            "01",
        ),
        _box(
            "never",
            "need",
            "[MASK] never occurs in use",
            "hide",
            "Fine-tuning and use have no hidden pieces. A model that is only ever asked at [MASK] need not "
            "represent the pieces it can see.",
            "01",
        ),
        _box(
            "mix",
            "decision",
            "80 / 10 / 10",
            "never",
            "Of the selected pieces 80 % become [MASK], 10 % a random piece, 10 % stay as they are. All are "
            "targets, so every visible piece may be one.",
            "01",
        ),
    ),
    "Pieces": (
        _box(
            "unit",
            "need",
            "a word gives itself away",
            "hide",
            "Long words are several pieces. A hidden piece whose siblings are in sight is often spelled out by "
            "them: less is learned than it seems.",
            "04",
        ),
        _box(
            "words",
            "decision",
            "later: hide words or spans",
            "unit",
            "What counts as one unit was changed after the paper: whole words in later checkpoints of the authors, "
            "spans of words in SpanBERT. Better on most tasks, not on all.",
            "04",
        ),
    ),
    "Pairs": (
        _box(
            "pairs",
            "need",
            "many tasks are about two texts",
            "",
            "Inference, answering from a paragraph, paraphrase: the label belongs to a relation, and a model of "
            "single texts never sees one.",
            "01",
        ),
        _box(
            "segments",
            "decision",
            "two segments in a row",
            "pairs",
            "[CLS] A [SEP] B [SEP], with a table of two rows that says which piece belongs to A and which to B.",
            "02",
        ),
        _box(
            "nsp",
            "decision",
            "next-sentence prediction",
            "segments",
            "Half of the pairs are neighbours, half come from two documents; the label is read at [CLS]. Topic alone "
            "answers much of it, and later models dropped or replaced it.",
            "01",
        ),
    ),
    "Tasks": (
        _box(
            "each",
            "need",
            "an architecture for every task",
            "",
            "Before, each task had a network of its own on top of fixed word vectors, trained from little labelled "
            "data.",
            "05",
        ),
        _box(
            "encoder",
            "decision",
            "one encoder, small heads",
            "each",
            "Pre-train one encoder, then add a layer and train everything a little further. Which output the head "
            "reads decides the task.",
            "05",
        ),
    ),
    "The bill": (
        _box(
            "quadratic",
            "price",
            "quadratic attention",
            "both",
            "Every position with every other: twice the length, four times the scores, in every layer.",
            "06",
        ),
        _box(
            "positions",
            "price",
            "512 positions",
            "both",
            "Attention that looks both ways has no order of its own. A learned table gives it one, and the table "
            "ends at 512 rows.",
            "02",
        ),
        _box(
            "signal",
            "price",
            "a signal from 15 %",
            "hide",
            "A left-to-right model learns from every position, this one from about one in seven. It needs more "
            "steps for the same number of answers.",
            "06",
        ),
        _box(
            "compute",
            "price",
            "compute before the first task",
            "encoder signal",
            "All tasks share one encoder, and somebody has to train it first: about forty passes over 3.3 billion "
            "words.",
            "06",
        ),
        _box(
            "parameters",
            "price",
            "a hundred million parameters",
            "encoder",
            "One model for everything is a large one. A fifth of it is a table of pieces.",
            "03",
        ),
        _box(
            "adaptation",
            "price",
            "adaptation is delicate",
            "encoder",
            "Fine-tuning moves the whole encoder with a few thousand labels. Rate, epochs and seed matter, and some "
            "runs fail.",
            "05",
        ),
        _box(
            "evaluation",
            "price",
            "evaluation gets harder",
            "adaptation nsp",
            "Spread over seeds, shortcuts in the data, scores of parts that hide what the whole does: a single number "
            "says little.",
            "06",
        ),
        _box(
            "documents",
            "price",
            "whole documents",
            "nsp",
            "Neighbours need text in its order. A bag of single sentences, which earlier models could use, is no "
            "longer enough.",
            "01",
        ),
    ),
}
# In the picture: where a row's first box stands, and how far the next. Chosen so that few arrows cross a box.
PLACES = {
    "Reading": (0.6, 1.35),
    "Pieces": (5.2, 1.6),
    "Pairs": (4.6, 1.4),
    "Tasks": (4.0, 1.6),
    "The bill": (0.4, 1.03),
}
BOXES = {box.id: box for boxes in ROWS.values() for box in boxes}


def causal_map() -> CausalMap | style.Picture:
    """Needs, decisions and prices, each with what it follows from and what it leads to."""
    return CausalMap() if frontend.interactive() else picture()


class CausalMap(Widget):
    """Boxes that open; the browser follows causes and effects by itself."""

    _esm = style.source("causal_map.js")
    _css = style.source("causal_map.css")

    rows = traitlets.Dict().tag(sync=True)
    meaning = traitlets.Dict(MEANING).tag(sync=True)

    def __init__(self) -> None:
        super().__init__(rows={name: [asdict(box) for box in boxes] for name, boxes in ROWS.items()})

    def still(self) -> dict[str, str]:
        return picture().bundle


def picture() -> style.Picture:
    """The whole map: a row for each chain, an arrow for each cause."""
    widest = max(map(len, ROWS.values()))
    figure = style.blank(1.55 * widest, 1.2 * len(ROWS) + 0.5)
    axes = figure.subplots()
    places = {
        box.id: (PLACES[name][0] + column * PLACES[name][1], -row)
        for row, (name, boxes) in enumerate(ROWS.items())
        for column, box in enumerate(boxes)
    }
    frames = {}
    for box in BOXES.values():
        frame = {
            "boxstyle": f"round,pad=0.35,rounding_size={CORNERS[box.kind]}",
            "facecolor": "white",
            "edgecolor": COLOURS[box.kind],
            "linestyle": LINES[box.kind],
            "linewidth": 2,
        }
        title = textwrap.fill(box.title, 15)
        text = axes.text(*places[box.id], title, ha="center", va="center", fontsize=8, bbox=frame, zorder=2)
        frames[box.id] = text.get_bbox_patch()
    for row, name in enumerate(ROWS):
        axes.text(-0.1, -row, name, ha="right", va="center", fontsize=10, fontweight="bold")
    for kind, colour in COLOURS.items():
        axes.plot([], [], color=colour, linestyle=LINES[kind], linewidth=3, label=MEANING[kind])
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False, fontsize=9)
    axes.set_xlim(-0.9, widest)
    axes.set_ylim(0.5 - len(ROWS), 0.5)
    axes.set_axis_off()
    for box in BOXES.values():
        for cause in box.causes:
            arrow = {
                "arrowstyle": "-|>",
                "color": style.GREY,
                "patchA": frames[cause],
                "patchB": frames[box.id],
            }
            # After the boxes, when the frames have their size.
            axes.annotate("", places[box.id], places[cause], arrowprops=arrow, zorder=3)
    said = "; ".join(
        f"{box.title} (from: {', '.join(BOXES[cause].title for cause in box.causes) or 'the beginning'})"
        for box in BOXES.values()
    )
    return style.Picture(figure, f"The causal map. {said}.")
