"""Seven parts of a model; each that is right on every model earns its seventh."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checks.judges.containers import record
from checks.judges.kinds import INT
from checks.judges.parameter_budget import closed_forms as bert
from checks.judges.parameter_budget.names import FIXED_PREFIX
from checks.judges.values import Mistake, ValueJudge
from checks.questions.parameter_budget.models import ModelSpec


def _moved(change: Callable[[ModelSpec], Mapping[str, int]]) -> Callable[..., dict[str, int]]:
    """A breakdown in which `change` says by how much each part is off."""

    def way(model: ModelSpec) -> dict[str, int]:
        off = change(model)
        return {part: count + off.get(part, 0) for part, count in bert.parts(model).items()}

    return way


def _decoder_bias(model: ModelSpec) -> int:
    return model["V"] if model["head"] in ("pretraining", "mlm") else 0


def _norms_elsewhere(model: ModelSpec) -> Mapping[str, int]:
    """Where LayerNorms stand besides the embeddings': two a layer, one in the MLM head."""
    in_layers = 4 * model["H"] * model["L"]
    in_head = 2 * model["H"] if model["head"] in ("pretraining", "mlm") else 0
    return {"embedding norm": in_layers + in_head, "encoder layers": -in_layers, "head": -in_head}


MISTAKES = (
    Mistake(
        "tied_decoder_in_head",
        "The tied decoder stands in `head` a second time. Its matrix is the token table and belongs there alone.",
        _moved(lambda m: {"head": bert.tied_twice(m)}),
        _moved(lambda m: {"head": bert.tied_twice(m) + bert.shared_bias(m)}),
    ),
    Mistake(
        "all_norms_in_embedding_norm",
        "`embedding norm` holds every LayerNorm of the model. It is the one of the embeddings alone.",
        _moved(_norms_elsewhere),
    ),
    Mistake(
        "tied_decoder_moved_to_head",
        "The shared matrix stands in `head`. Count it in `token table`, where the encoder uses it.",
        _moved(lambda m: {"head": bert.tied_twice(m), "token table": -bert.tied_twice(m)}),
    ),
    Mistake(
        "pooler_in_head",
        "The pooler stands in `head`. It is part of the encoder and has its own line.",
        _moved(lambda m: {"pooler": -bert.parts(m)["pooler"], "head": bert.parts(m)["pooler"]}),
    ),
    Mistake(
        "pooler_in_layers",
        "The pooler stands in `encoder layers`. It comes after the last layer and has its own line.",
        _moved(lambda m: {"pooler": -bert.parts(m)["pooler"], "encoder layers": bert.parts(m)["pooler"]}),
    ),
    Mistake(
        "embedding_norm_in_layers",
        "The LayerNorm of the embeddings stands in `encoder layers`. It has a line of its own, `embedding norm`.",
        _moved(lambda m: {"embedding norm": -2 * m["H"], "encoder layers": 2 * m["H"]}),
    ),
    Mistake(
        "embedding_norm_in_head",
        "The LayerNorm of the embeddings stands in `head`. It has a line of its own, `embedding norm`.",
        _moved(lambda m: {"embedding norm": -2 * m["H"], "head": 2 * m["H"]}),
    ),
    Mistake(
        "skips_frozen_parts",
        "The frozen layers (`requires_grad=False`) are missing. Frozen numbers are parameters all the same.",
        _moved(lambda m: {"encoder layers": bert.trainable(m) - bert.total(m)}),
    ),
    Mistake(
        "misses_head",
        "`head` is 0 although something stands on the encoder. Whatever lies outside the encoder is the head.",
        _moved(lambda m: {"head": -bert.head(m)}),
    ),
    Mistake(
        "misses_mlm_bias",
        "The decoder's bias is missing: one number a vocabulary entry, learned and not tied to anything.",
        _moved(lambda m: {"head": -_decoder_bias(m)}),
    ),
    Mistake(
        "untied_decoder_dropped",
        "A decoder that is not tied is a matrix of its own and belongs in `head`.",
        _moved(lambda m: {"head": 0 if m["tied"] else -m["V"] * m["H"]}),
    ),
    Mistake(
        "one_layer_for_all",
        "`encoder layers` holds one layer. The model has several.",
        _moved(lambda m: {"encoder layers": (1 - m["L"]) * bert.layer(m["H"], m["I"])}),
    ),
    Mistake(
        "positions_and_segments_swapped",
        "`position table` and `segment table` are exchanged: the position table has a row a position.",
        _moved(
            lambda m: {
                "position table": (m["T"] - m["P"]) * m["H"],
                "segment table": (m["P"] - m["T"]) * m["H"],
            }
        ),
    ),
)


def _where_the_sum_is_off(got: Mapping[str, int], expected: Mapping[str, int]) -> tuple[str, str]:
    ours, theirs = sum(got.values()), sum(expected.values())
    if ours == theirs:
        return "wrong_part", "The sum is right, but numbers stand in the wrong part."
    return "does_not_sum", f"The parts sum to {ours:,}; the model has {theirs:,} parameters."


# Points for parts only where most of the accounting is right; a mere constant earns nothing.
JUDGE = ValueJudge(
    record(dict.fromkeys(bert.PARTS, INT)),
    bert.parts,
    MISTAKES,
    raised=(FIXED_PREFIX,),
    otherwise=_where_the_sum_is_off,
    credit=lambda right: len(right) / len(bert.PARTS) if len(right) >= 3 else 0.0,
)
