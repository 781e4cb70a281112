"""`SpanHead`: two scores of every position, each from its own vector, and no dropout."""

from checks.judges.fine_tuning_shapes.heads import judge_of
from checks.judges.fine_tuning_shapes.shapes import Head

SPAN = Head(
    "two tensors (B,S)",
    shape=lambda B, S, L: (B, S, 2),
    every_position=True,
    mistaken=lambda B, S, H, L: [
        ((B, S, 1), "keeps_last_axis"),
        ((B,), "scores_for_position_0"),
        ((S, 2), "unpacked_along_wrong_axis"),
        ((B, S // 2, 2), "unpacked_along_wrong_axis"),
        ((B, S - S // 2, 2), "unpacked_along_wrong_axis"),
        ((S, B), "axes_swapped"),
    ],
    two=True,
)
JUDGE = judge_of(SPAN)
