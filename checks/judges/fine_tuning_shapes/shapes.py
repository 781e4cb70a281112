"""Whether a head gives scores at all, and of which shape.

B batch · S sequence · H hidden · L labels
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.encoding import Array
from checks.judges.fine_tuning_shapes.dropout import Wrong
from checks.judges.showing import describe_type
from checks.protocol import Case
from checks.questions.fine_tuning_shapes.heads import TRAINING_ROWS

OUTPUTS = ("scores", "again", "alone", "units", "training")
Shape = tuple[int, ...]
Numbers = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Head:
    """What a kind of head must give.

    shape     of its scores for (B,S,H), with L labels.
    mistaken  shapes with a name of their own: (B, S, H, L) -> (shape, id).
    two       whether it returns two tensors, start and end, which are looked at as one with L = 2.
    """

    outputs: str
    shape: Callable[[int, int, int], Shape]
    every_position: bool
    mistaken: Callable[[int, int, int, int], Sequence[tuple[Shape, str]]]
    two: bool = False


def _is_floats(value: Any) -> bool:
    return isinstance(value, Array) and value.kind == "tensor" and value.dtype.startswith("float")


def wrong_kind(head: Head, value: Any) -> Wrong | None:
    """Says what is not a head, or gives no scores; the scores' shapes are not looked at."""
    if not isinstance(value, dict) or set(value) != {"parameters", *OUTPUTS}:
        cause = "The class must be an `nn.Module`, so that its layers are moved, saved and trained with the model."
        return "wrong_type", cause, describe_type(value), "an nn.Module"
    scores = value["scores"]
    parts = scores if head.two and isinstance(scores, (tuple, list)) else [scores]
    if any(isinstance(part, Array) and part.dtype.startswith("int") for part in parts):
        cause = "These are labels, not scores: the loss needs a score for each choice. Leave the argmax out."
        return "labels_for_scores", cause, describe_type(parts[0]), head.outputs
    if head.two and _is_floats(scores):
        cause = (
            "One tensor came back. Return two, the scores of the starts and those of the ends: (B,S) each."
        )
        return "one_tensor_for_two", cause, describe_type(scores), head.outputs
    pairs = not head.two or (isinstance(scores, (tuple, list)) and len(scores) == 2)
    if not pairs or not all(_is_floats(part) for part in parts):
        return "wrong_type", f"`forward` must return {head.outputs}.", describe_type(scores), head.outputs
    return None


def wrong_shape(head: Head, scores: Any, B: int, S: int, H: int, L: int) -> Wrong | None:
    """What is wrong with the shape of the scores of B rows; they are floats."""
    shapes = [part.data.shape for part in (scores if head.two else [scores])]
    wanted = head.shape(B, S, L)[:2] if head.two else head.shape(B, S, L)
    got = next((shape for shape in shapes if shape != wanted), wanted)
    if got == wanted:
        return None
    if got == tuple(size for size in wanted if size != 1):
        id = "squeeze_drops_an_axis"
    else:
        id = next((id for shape, id in head.mistaken(B, S, H, L) if shape == got), "wrong_shape")
    cause = CAUSES.get(id, f"The shape is not that of {head.outputs}.")
    of_one = " for one row" if B == 1 else ""
    return id, cause, f"shape {got}{of_one}", f"shape {wanted}{of_one}"


CAUSES = {
    "scores_for_every_position": "These are scores for every position. Pick position 0.",
    "keeps_position_axis": "Position 0 was cut out as a slice. `x[:, 0]` takes its axis away.",
    "reads_first_row": "`x[0]` is the first row of the batch. Position 0 of every row is `x[:, 0]`.",
    "returns_the_vector": "This is the hidden vector itself. A linear layer makes scores of it.",
    "axes_swapped": "The axes are swapped. The batch comes first, labels come last.",
    "scores_for_position_0": "There is one score, or one row of scores, a sentence. Every position gets its own.",
    "batch_flattened": "Batch and positions were run together. Keep them apart: the loss may flatten, not the head.",
    "specials_dropped": "Positions are missing. Keep those of special tokens too: label −100 hides them later.",
    "keeps_last_axis": "The last axis of length 1 is still there. `squeeze(-1)` takes it away.",
    "unpacked_along_wrong_axis": "Something else than start and end was taken apart. They are the last axis: try "
    "`unbind(-1)`.",
    "squeeze_drops_an_axis": "`squeeze()` takes away every axis of length 1, a batch of one too. Say which axis.",
}


def numbers_of(head: Head, case: Case, value: Mapping[str, Any]) -> Numbers | None:
    """The scores as float64 arrays, start and end side by side, and the parameters; None where a shape is wrong."""
    S, L = case["S"], case["L"]
    rows = {"scores": case["B"], "again": case["B"], "alone": 1}
    rows |= {"units": 1 + S * case["H"], "training": TRAINING_ROWS}
    if not _is_floats(value["parameters"]) or value["parameters"].data.ndim != 1:
        return None
    numbers = {"parameters": value["parameters"].data.astype(np.float64)}
    for name, B in rows.items():
        parts = value[name] if isinstance(value[name], (tuple, list)) else [value[name]]
        if not all(_is_floats(part) for part in parts) or len({part.data.shape for part in parts}) != 1:
            return None
        arrays = [part.data.astype(np.float64) for part in parts]
        numbers[name] = np.stack(arrays, -1) if head.two else arrays[0]
        if len(parts) != (2 if head.two else 1) or numbers[name].shape != head.shape(B, S, L):
            return None
    return numbers
