"""`TokenHead`: scores of every position, each from its own vector."""

from checks.judges.fine_tuning_shapes.heads import judge_of
from checks.judges.fine_tuning_shapes.shapes import Head

TOKEN = Head(
    "a tensor (B,S,num_labels)",
    shape=lambda B, S, L: (B, S, L),
    every_position=True,
    mistaken=lambda B, S, H, L: [
        ((B, L), "scores_for_position_0"),
        ((B, L, S), "axes_swapped"),
        ((B * S, L), "batch_flattened"),
        ((B, S - 1, L), "specials_dropped"),
        ((B, S - 2, L), "specials_dropped"),
        ((B, S, H), "returns_the_vector"),
    ],
)
JUDGE = judge_of(TOKEN)
