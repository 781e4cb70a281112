"""One encoder layer in closed form: what people leave out."""

from __future__ import annotations

from checks.judges.kinds import INT
from checks.judges.parameter_budget import closed_forms as bert
from checks.judges.values import Mistake, ValueJudge

MISTAKES = (
    Mistake(
        "matrices_only",
        "The matrices are right, biases and LayerNorms are missing (9H + I numbers).",
        lambda H, I: 4 * H * H + 2 * H * I,
    ),
    Mistake(
        "no_biases",
        "The biases are missing: four of the projections (H each), two of the feed-forward part (I and H).",
        lambda H, I: bert.layer(H, I) - 5 * H - I,
    ),
    Mistake(
        "no_layer_norms",
        "4H numbers are missing: the two LayerNorms (2H each), or else the biases of the four projections (H each).",
        lambda H, I: bert.layer(H, I) - 4 * H,
    ),
    Mistake(
        "half_the_layer_norms",
        "2H numbers are missing: there are two LayerNorms, and each has a weight and a bias of H numbers.",
        lambda H, I: bert.layer(H, I) - 2 * H,
    ),
    Mistake(
        "three_projections",
        "Attention has four H×H projections: query, key, value and the output.",
        lambda H, I: bert.layer(H, I) - H * H - H,
    ),
    Mistake(
        "assumes_four_times_hidden",
        "12H² + 13H holds only when the intermediate size is 4H. Use the argument `intermediate`.",
        lambda H: 12 * H * H + 13 * H,
    ),
    Mistake(
        "twelve_h_squared",
        "12H² is the rule of thumb: it leaves out biases and LayerNorms and assumes intermediate = 4H.",
        lambda H: 12 * H * H,
    ),
    Mistake(
        "one_feed_forward_matrix",
        "The feed-forward part has two matrices, H×I up and I×H down.",
        lambda H, I: bert.layer(H, I) - H * I - H,
    ),
    Mistake(
        "no_feed_forward_biases",
        "The two biases of the feed-forward part are missing: I numbers on the way up, H on the way down.",
        lambda H, I: bert.layer(H, I) - I - H,
    ),
    Mistake(
        "no_query_key_value_biases",
        "3H numbers are missing: query, key and value have a bias of H numbers each.",
        lambda H, I: bert.layer(H, I) - 3 * H,
    ),
    Mistake(
        "arguments_swapped",
        "`hidden` and `intermediate` are exchanged.",
        lambda H, I: bert.layer(I, H),
    ),
    Mistake(
        "attention_only",
        "This is attention alone. The feed-forward part and the LayerNorms belong to the layer too.",
        lambda H: 4 * H * H + 4 * H,
    ),
    Mistake(
        "feed_forward_only",
        "This is the feed-forward part alone. Attention and the LayerNorms belong to the layer too.",
        lambda H, I: 2 * H * I + I + H,
    ),
)

JUDGE = ValueJudge(INT, bert.layer, MISTAKES)
