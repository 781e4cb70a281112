"""Where the parameters of a BERT are: counted on a model, and by closed forms.

V vocabulary · H hidden · I intermediate · L layers · E factor (width of a factorised token table)

A parameter is a number that training may change. It is counted once however many modules share it (tied
weights), frozen or not; buffers such as `position_ids` are no parameters. Counting needs shapes only, so
`skeleton` builds models on PyTorch's `meta` device: exact, instant, without memory and without a download.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import torch
from torch import nn
from transformers import AutoModel, PretrainedConfig, PreTrainedModel

from insidebert.configs import published

TABLE = "embeddings.word_embeddings.weight"
PARTS = (
    "token table",
    "position table",
    "segment table",
    "embedding norm",
    "encoder layers",
    "pooler",
    "head",
)
# What follows the encoder's prefix in a parameter's name, and the part it belongs to.
_PART_OF = {
    "embeddings.position_embeddings.": "position table",
    "embeddings.token_type_embeddings.": "segment table",
    "embeddings.LayerNorm.": "embedding norm",
    "encoder.": "encoder layers",
    "transformer.": "encoder layers",  # DistilBERT's name for it
    "pooler.": "pooler",
}


class Report(TypedDict):
    """One row of `budget_report`."""

    total: int
    token_table: int
    share: float


def skeleton(
    config: str | PretrainedConfig, model_class: type[PreTrainedModel] | None = None
) -> PreTrainedModel:
    """A model with every shape and no numbers, on the `meta` device.

    `config` is a published name or a configuration.
    Without `model_class` it is the bare encoder with its pooler.
    """
    if isinstance(config, str):
        config = published(config)
    with torch.device("meta"):
        return model_class(config) if model_class else AutoModel.from_config(config)


def count_parameters(model: nn.Module) -> int:
    """Every learnable number once: a tied matrix once, frozen ones too, buffers not."""
    return sum(parameter.numel() for parameter in model.parameters())  # `parameters()` drops repetitions


def token_table(model: nn.Module) -> tuple[str, nn.Parameter]:
    """The name and the weight of the word-embedding table, whatever prefix the model puts before it.

    `ValueError` when the model has no such table, or several.
    """
    # With repetitions: a decoder registered before the encoder would otherwise take the shared table's name.
    named = model.named_parameters(remove_duplicate=False)
    found = {id(weight): (name, weight) for name, weight in named if _is_table(name)}
    if len(found) != 1:
        what = ", ".join(name for name, _ in found.values()) or "none"
        raise ValueError(
            f"Expected one parameter named '…{TABLE}', found {what}. Pass a BERT-like model with one encoder."
        )
    return next(iter(found.values()))


def token_table_share(model: nn.Module) -> float:
    """The word-embedding table over all parameters of the model, between 0 and 1."""
    return token_table(model)[1].numel() / count_parameters(model)


def breakdown(model: nn.Module) -> dict[str, int]:
    """Parameters by part, in the order of `PARTS`; the values sum to `count_parameters(model)`.

    Whatever lies outside the encoder (MLM transform and bias, NSP, classifiers) is `head`. A decoder tied to
    the token table is counted in `token table` alone. ALBERT's projection E → H lives in its encoder and is
    counted there.
    """
    table_name, table = token_table(model)
    prefix = table_name.removesuffix(TABLE)
    sizes = dict.fromkeys(PARTS, 0)
    for name, parameter in model.named_parameters():  # a shared weight comes once, under its first name
        part = "token table" if parameter is table else _part(name, prefix)
        sizes[part] += parameter.numel()
    return sizes


def layer_parameters(hidden: int, intermediate: int) -> int:
    """One encoder layer: weights, biases and both LayerNorms. With I = 4H it is 12H² + 13H."""
    attention = 4 * (hidden * hidden + hidden)  # query, key, value, output
    feed_forward = hidden * intermediate + intermediate + intermediate * hidden + hidden
    norms = 2 * (hidden + hidden)  # a scale and a shift each
    return attention + feed_forward + norms


def factorised_table(vocab: int, hidden: int, factor: int) -> tuple[int, float]:
    """ALBERT's two matrices V×E and E×H, without bias: their parameters, and how many times smaller than V×H.

    Lan et al. 2020, sec. 3.1.
    """
    parameters = vocab * factor + factor * hidden
    return parameters, vocab * hidden / parameters


def break_even_factor(vocab: int, hidden: int) -> float:
    """The E at which V·E + E·H = V·H; a larger factor makes the table bigger, not smaller."""
    return vocab * hidden / (vocab + hidden)


def closed_form(
    vocab: int,
    hidden: int,
    intermediate: int,
    layers: int,
    *,
    factor: int | None = None,
    share_layers: bool = False,
    positions: int = 512,
    segments: int = 2,
) -> dict[str, int]:
    """The parts of a bare encoder with pooler, by multiplication alone: what the budget explorer draws.

    With `factor` the three tables are E wide and a `projection` E → H (with its bias) follows, as in ALBERT;
    with `share_layers` all layers use the weights of one. Keys: the parts of `breakdown` without `head`, and
    `projection`.
    """
    width = hidden if factor is None else factor
    return {
        "token table": vocab * width,
        "projection": 0 if factor is None else factor * hidden + hidden,
        "position table": positions * width,
        "segment table": segments * width,
        "embedding norm": 2 * width,
        "encoder layers": (min(layers, 1) if share_layers else layers)
        * layer_parameters(hidden, intermediate),
        "pooler": hidden * hidden + hidden,
    }


def config_shape(config: PretrainedConfig) -> dict[str, Any]:
    """The arguments with which `closed_form` describes this configuration."""
    albert = config.model_type == "albert"
    return {
        "vocab": config.vocab_size,
        "hidden": config.hidden_size,
        "intermediate": config.intermediate_size,
        "layers": config.num_hidden_layers,
        "factor": config.embedding_size if albert else None,
        "share_layers": albert,
    }


def budget_report(models: Mapping[str, nn.Module]) -> dict[str, Report]:
    """For each named model: all parameters, those of the token table, and the share of the table."""
    return {
        name: Report(
            total=count_parameters(model),
            token_table=token_table(model)[1].numel(),
            share=token_table_share(model),
        )
        for name, model in models.items()
    }


def _is_table(name: str) -> bool:
    return name == TABLE or name.endswith("." + TABLE)


def _part(name: str, prefix: str) -> str:
    if not name.startswith(prefix):
        return "head"
    inside = name.removeprefix(prefix)
    return next((part for start, part in _PART_OF.items() if inside.startswith(start)), "head")
