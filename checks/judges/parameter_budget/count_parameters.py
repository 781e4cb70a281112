"""What people count besides the parameters, and what they leave out."""

from __future__ import annotations

from checks.judges.kinds import INT
from checks.judges.parameter_budget import closed_forms as bert
from checks.judges.values import Mistake, ValueJudge

MISTAKES = (
    Mistake(
        "counts_tied_decoder_twice",
        "The MLM decoder shares its matrix with the token table (V×H numbers). A tied matrix is counted once.",
        lambda model: bert.total(model) + bert.tied_twice(model),
        lambda model: bert.total(model) + bert.tied_twice(model) + bert.shared_bias(model),
    ),
    Mistake(
        "counts_position_ids_buffer",
        "You counted the `position_ids` buffer, one number a position. A buffer is not learned, so it is no parameter.",
        lambda model: bert.total(model) + model["P"],
    ),
    Mistake(
        "counts_buffers",
        "You counted the buffers (`position_ids`, `token_type_ids`), one number a position. Buffers are not learned.",
        lambda model: bert.total(model) + 2 * model["P"],
    ),
    Mistake(
        "counts_buffers_and_tied_twice",
        "You counted buffers, which are not learned, and the tied decoder a second time.",
        lambda model: bert.total(model) + 2 * model["P"] + bert.tied_twice(model),
        lambda model: bert.total(model) + 2 * model["P"] + bert.tied_twice(model) + bert.shared_bias(model),
    ),
    Mistake(
        "counts_trainable_only",
        "You left out the frozen layers (`requires_grad=False`). Frozen numbers are parameters all the same.",
        bert.trainable,
    ),
    Mistake(
        "misses_pooler",
        "The pooler's H×H matrix and its bias are missing.",
        lambda model: bert.total(model) - bert.parts(model)["pooler"],
    ),
    Mistake(
        "misses_biases_and_norms",
        "Only the matrices are counted. Biases and LayerNorm weights are learned too.",
        lambda model: bert.total(model) - bert.biases_and_norms(model),
    ),
    Mistake(
        "counts_tensors",
        "You counted the parameter tensors. Count the numbers in them: `numel()`.",
        bert.tensors,
    ),
    Mistake(
        "counts_encoder_only",
        "You counted the encoder's layers without the embeddings and what stands on top.",
        lambda model: bert.parts(model)["encoder layers"],
    ),
    Mistake(
        "misses_head",
        "What stands on the encoder is missing: count `model`, not the encoder inside it.",
        lambda model: bert.total(model) - bert.head(model),
    ),
    Mistake(
        "sums_over_modules",
        "A number was counted once for each module it lies in. `model.parameters()` already goes through all of them.",
        bert.over_modules,
    ),
    Mistake(
        "counts_bytes",
        "This is the number of bytes in fp32, four times the number of parameters.",
        lambda model: 4 * bert.total(model),
    ),
    Mistake(
        "counts_optimizer_slots",
        "You counted Adam's two moments with each parameter. They belong to the optimizer, not to the model.",
        lambda model: 3 * bert.total(model),
    ),
)

JUDGE = ValueJudge(INT, bert.total, MISTAKES)
