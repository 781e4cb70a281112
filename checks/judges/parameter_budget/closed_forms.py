"""Closed forms: every count of a BERT from its shape alone. No model is built.

V vocabulary · H hidden · I intermediate · L layers · P positions · T segment types
"""

from __future__ import annotations

from checks.questions.parameter_budget.models import ModelSpec

PARTS = (
    "token table",
    "position table",
    "segment table",
    "embedding norm",
    "encoder layers",
    "pooler",
    "head",
)


def layer(H: int, I: int) -> int:
    """One encoder layer: four H×H projections, two feed-forward matrices, their biases, two LayerNorms."""
    return 4 * H * H + 4 * H + 2 * H * I + I + H + 4 * H


def head(model: ModelSpec) -> int:
    """What lies outside the encoder. A tied decoder adds its bias alone; an untied one its matrix and, in
    `transformers`, a bias of its own beside the head's."""
    H, V, kind = model["H"], model["V"], model["head"]
    mlm = H * H + H + 2 * H + V + (0 if model["tied"] else V * H + V)
    wrapper = (H + 1) * model["labels"] if model["wrapped"] else 0
    return (
        wrapper
        + {
            "": 0,
            "pretraining": mlm + 2 * H + 2,
            "mlm": mlm,
            "tokens": (H + 1) * model["labels"],
            "classifier": (H + 1) * model["labels"],
            "qa": (H + 1) * 2,
        }[kind]
    )


def parts(model: ModelSpec) -> dict[str, int]:
    H = model["H"]
    return {
        "token table": model["V"] * H,
        "position table": model["P"] * H,
        "segment table": model["T"] * H,
        "embedding norm": 2 * H,
        "encoder layers": model["L"] * layer(H, model["I"]),
        "pooler": H * H + H if model["pooler"] else 0,
        "head": head(model),
    }


def total(model: ModelSpec) -> int:
    return sum(parts(model).values())


def tied_twice(model: ModelSpec) -> int:
    """How much too many when a tied decoder is counted again."""
    return model["V"] * model["H"] if model["tied"] and model["head"] in ("pretraining", "mlm") else 0


def biases_and_norms(model: ModelSpec) -> int:
    """All parameters with fewer than two axes."""
    H, I, L, V = model["H"], model["I"], model["L"], model["V"]
    count = 2 * H + L * (4 * H + I + H + 4 * H) + (H if model["pooler"] else 0)
    mlm = H + 2 * H + V + (0 if model["tied"] else V)
    bias = {"": 0, "pretraining": mlm + 2, "mlm": mlm, "qa": 2}.get(model["head"], model["labels"])
    return count + bias + (model["labels"] if model["wrapped"] else 0)


def tensors(model: ModelSpec) -> int:
    """How many parameter tensors there are."""
    untied = 0 if model["tied"] else 2
    in_head = {"": 0, "pretraining": 5 + 2 + untied, "mlm": 5 + untied}.get(model["head"], 2)
    return 5 + 16 * model["L"] + (2 if model["pooler"] else 0) + in_head + (2 if model["wrapped"] else 0)


def trainable(model: ModelSpec) -> int:
    return total(model) - (parts(model)["encoder layers"] if model["frozen"] else 0)


def shared_bias(model: ModelSpec) -> int:
    """A tied decoder's bias has two names as well: `state_dict()` lists both."""
    return model["V"] if tied_twice(model) else 0


def share(model: ModelSpec) -> float:
    return parts(model)["token table"] / total(model)


def embeddings(model: ModelSpec) -> int:
    return sum(parts(model)[part] for part in PARTS[:4])


def over_modules(model: ModelSpec) -> int:
    """The sum of `parameters()` over `modules()`: every number once for each module it lies in."""
    H, V, L = model["H"], model["V"], model["L"]
    part = parts(model)
    layers, pooler, outside = part["encoder layers"], part["pooler"], head(model)
    scorer = (H + 1) * model["labels"] if model["wrapped"] else 0
    attention = 4 * (H * H + H) + 2 * H
    encoder = total(model) - outside
    found = encoder + 2 * embeddings(model) + 5 * layers + L * attention + 2 * pooler
    if model["head"] in ("mlm", "pretraining"):
        decoder, transform = V * H + V, H * H + 3 * H
        predictions = transform + decoder + (0 if model["tied"] else V)
        pairs = 2 * (2 * H + 2) if model["head"] == "pretraining" else 0
        found += encoder + outside - scorer + 2 * predictions + 2 * transform + decoder + pairs
    elif model["head"]:
        found += encoder + 2 * (outside - scorer)
    return found + (total(model) + scorer if model["wrapped"] else 0)
