"""Models in plain data (`ModelSpec`): the probe builds them, the judge counts from the same data and builds nothing.

V vocabulary · H hidden · I intermediate · L layers · P positions · T segment types
"""

from __future__ import annotations

from random import Random
from typing import Any, TypedDict

from checks.protocol import Case


class ModelSpec(TypedDict):
    """A model in plain data. `head` is "", "pretraining", "mlm", "tokens", "classifier" or "qa"."""

    V: int
    H: int
    I: int
    L: int
    P: int
    T: int
    labels: int
    head: str
    tied: bool
    pooler: bool
    frozen: bool  # the encoder's layers are frozen
    wrapped: str  # the name it has inside a module of the reader's own; "" where there is none


# Published miniatures (Turc et al. 2019): small enough to hold in memory, where parameters have a storage.
PUBLISHED = {
    "bert-tiny": (30_522, 128, 512, 2, 512, 2),
    "bert-mini": (30_522, 256, 1_024, 4, 512, 2),
}


def spec(
    shape: tuple[int, ...],
    head: str = "",
    *,
    labels: int = 2,
    tied: bool = True,
    pooler: bool | None = None,
    frozen: bool = False,
    wrapped: str = "",
) -> ModelSpec:
    """A model of the shape (V, H, I, L, P, T). Whether it has a pooler follows from the head unless said."""
    if pooler is None:
        pooler = head in ("", "pretraining", "classifier")
    V, H, I, L, P, T = shape
    return {
        "V": V, "H": H, "I": I, "L": L, "P": P, "T": T, "labels": labels, "head": head, "tied": tied,
        "pooler": pooler, "frozen": frozen, "wrapped": wrapped,
    }  # fmt: skip


def build(model: ModelSpec) -> Any:
    """The model of a spec. Its numbers are whatever lay in memory: nobody reads them."""
    import transformers
    from torch import nn
    from transformers.initialization import no_init_weights

    config: Any = transformers.BertConfig(
        vocab_size=model["V"],
        hidden_size=model["H"],
        intermediate_size=model["I"],
        num_hidden_layers=model["L"],
        num_attention_heads=1,
        max_position_embeddings=model["P"],
        type_vocab_size=model["T"],
        tie_word_embeddings=model["tied"],
    )
    config.num_labels = model["labels"]
    # To draw numbers would take half the time.
    with no_init_weights():
        if model["head"] == "":
            built = transformers.BertModel(config, add_pooling_layer=model["pooler"])
        else:
            name = {
                "pretraining": "BertForPreTraining",
                "mlm": "BertForMaskedLM",
                "tokens": "BertForTokenClassification",
                "classifier": "BertForSequenceClassification",
                "qa": "BertForQuestionAnswering",
            }[model["head"]]
            built = getattr(transformers, name)(config)
    built.tie_weights()  # goes with the drawing
    if model["frozen"]:
        for parameter in built.base_model.get_submodule("encoder").parameters():
            parameter.requires_grad_(False)
    if not model["wrapped"]:
        return built

    class SentencePair(nn.Module):
        """What people build themselves: an encoder under their own name, and a layer on top."""

        def __init__(self, backbone: nn.Module, name: str, hidden: int, labels: int):
            super().__init__()
            self.scorer = nn.Linear(
                hidden, labels
            )  # before the encoder: its table is not the first parameter
            setattr(self, name, backbone)

    return SentencePair(built, model["wrapped"], model["H"], model["labels"])


def small_shape(rng: Random, few_words: bool = False) -> tuple[int, ...]:
    """A shape whose six numbers are all different, so that no two mistakes give the same count by chance.

    With few words the token table is smaller than a feed-forward matrix.
    """
    H = 4 * rng.randrange(5, 17)
    return (
        rng.randrange(20, 40) if few_words else rng.randrange(300, 900),
        H,
        H * 3 + rng.randrange(1, 20),
        rng.randrange(2, 5),
        rng.randrange(40, 120),
        rng.randrange(2, 5),
    )


def _label(model: ModelSpec) -> str:
    names = {
        "": "bare encoder",
        "pretraining": "pre-training model",
        "mlm": "masked language model",
        "tokens": "token classifier",
        "classifier": "sequence classifier",
        "qa": "question-answering model",
    }
    notes = [
        "decoder not tied" if not model["tied"] and model["head"] in ("pretraining", "mlm") else "",
        "no pooler" if model["head"] == "" and not model["pooler"] else "",
        "its layers frozen" if model["frozen"] else "",
        f"as `{model['wrapped']}` inside another module" if model["wrapped"] else "",
    ]
    shape = f"V={model['V']}, H={model['H']}, I={model['I']}, L={model['L']}"
    return ", ".join([names[model["head"]], *filter(None, notes), shape])


def cases(rng: Random, *kinds: dict[str, Any]) -> list[Case]:
    """A case for each kind of model: the arguments of `spec`, and `few_words` for `small_shape`."""
    models = [spec(small_shape(rng, kind.pop("few_words", False)), **kind) for kind in kinds]
    return [Case(_label(model), {"model": model}) for model in models]
