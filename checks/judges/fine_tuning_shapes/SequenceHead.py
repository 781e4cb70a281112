"""`SequenceHead`: scores of a whole row, from the vector at position 0."""

from checks.judges.fine_tuning_shapes.heads import judge_of
from checks.judges.fine_tuning_shapes.shapes import Head

SEQUENCE = Head(
    "a tensor (B,num_labels)",
    shape=lambda B, S, L: (B, L),
    every_position=False,
    mistaken=lambda B, S, H, L: [
        ((B, S, L), "scores_for_every_position"),
        ((B, 1, L), "keeps_position_axis"),
        ((S, L), "reads_first_row"),
        ((B, H), "returns_the_vector"),
        ((L, B), "axes_swapped"),
    ],
)
JUDGE = judge_of(SEQUENCE)
