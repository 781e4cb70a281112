"""Inputs and probes of the assignment `parameter_budget` (lesson 03).

A model travels as plain data (`ModelSpec`): the probe builds it on the `meta` device, where it has shapes and no
numbers; the judge counts from the same data with closed forms and never builds anything.

V vocabulary · H hidden · I intermediate · L layers · P positions · T segment types
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypedDict

from checks.probing import call
from checks.protocol import Assignment, Case

ASSIGNMENT = Assignment("parameter_budget", "lessons/03_parameter_budget.ipynb")


class ModelSpec(TypedDict):
    """A model in plain data. `head` is "", "pretraining", "mlm", "tokens", "classifier" or "qa"."""

    V: int
    H: int
    I: int  # noqa: E741 - the letter of the papers
    L: int
    P: int
    T: int
    labels: int
    head: str
    tied: bool
    pooler: bool
    frozen: bool  # the encoder's layers are frozen
    wrapped: bool  # inside a module of the reader's own, under a name no library uses


PUBLISHED = {
    "bert-base-uncased": (30_522, 768, 3_072, 12, 512, 2),
    "bert-large-uncased": (30_522, 1_024, 4_096, 24, 512, 2),
}


def spec(
    shape: tuple[int, ...],
    head: str = "",
    *,
    labels: int = 2,
    tied: bool = True,
    pooler: bool | None = None,
    frozen: bool = False,
    wrapped: bool = False,
) -> ModelSpec:
    """A model of the shape (V, H, I, L, P, T). Whether it has a pooler follows from the head unless said."""
    if pooler is None:
        pooler = head in ("", "pretraining", "classifier")
    V, H, I, L, P, T = shape  # noqa: E741
    return {
        "V": V, "H": H, "I": I, "L": L, "P": P, "T": T, "labels": labels, "head": head, "tied": tied,
        "pooler": pooler, "frozen": frozen, "wrapped": wrapped,
    }  # fmt: skip


def build(model: ModelSpec) -> Any:
    """The model of a spec, on the `meta` device."""
    import torch
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
    # There are no numbers to draw, and trying would take half the time.
    with torch.device("meta"), no_init_weights():
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

        def __init__(self, backbone: nn.Module, hidden: int, labels: int):
            super().__init__()
            with torch.device("meta"):
                self.scorer = nn.Linear(
                    hidden, labels
                )  # before the encoder: its table is not the first parameter
            self.backbone = backbone

    return SentencePair(built, model["H"], model["labels"])


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
        "inside a module of another name" if model["wrapped"] else "",
    ]
    shape = f"V={model['V']}, H={model['H']}, I={model['I']}, L={model['L']}"
    return ", ".join([names[model["head"]], *filter(None, notes), shape])


def _model_cases(rng: Random, *kinds: dict[str, Any]) -> list[Case]:
    models = [spec(small_shape(rng, kind.pop("few_words", False)), **kind) for kind in kinds]
    return [Case(_label(model), {"model": model}) for model in models]


def _counting_inputs(rng: Random) -> list[Case]:
    return _model_cases(
        rng,
        {"head": ""},
        {"head": "pretraining"},
        {"head": "mlm", "tied": False},
        {"head": "classifier", "labels": rng.randrange(3, 9), "frozen": True},
        {"head": "", "pooler": False},
        {"head": "", "wrapped": True, "labels": 5},
    )


def _share_inputs(rng: Random) -> list[Case]:
    return _model_cases(
        rng,
        {"head": ""},
        {"head": "classifier", "labels": 3},
        {"head": "pretraining"},
        {"head": "", "wrapped": True, "labels": 5, "frozen": True},
        {"head": "", "few_words": True},
    )


def _breakdown_inputs(rng: Random) -> list[Case]:
    return _model_cases(
        rng,
        {"head": ""},
        {"head": "pretraining"},
        {"head": "mlm", "tied": False},
        {"head": "tokens", "labels": rng.randrange(3, 9)},
        {"head": "", "pooler": False},
        {"head": "", "wrapped": True, "labels": 5},
    )


def _layer_inputs(rng: Random) -> list[Case]:
    shapes = [(rng.randrange(2, 6), rng.randrange(7, 12)), (24, 50), (768, 3_072), (1_024, 4_096)]
    shapes.insert(2, (12 * rng.randrange(10, 40), 100 * rng.randrange(5, 30) + 1))
    return [Case(f"hidden={h}, intermediate={i}", {"H": h, "I": i}) for h, i in shapes]


def _factor_inputs(rng: Random) -> list[Case]:
    tables = [
        (rng.randrange(50, 90), rng.randrange(20, 30), rng.randrange(3, 9)),
        (1_000 * rng.randrange(8, 60) + 1, 64 * rng.randrange(5, 16), 32 * rng.randrange(2, 6)),
        (30_522, 768, 128),
        (30_522, 1_024, 128),
        (30_522, 768, 1_000),  # beyond the break-even: the two matrices are larger than the one
    ]
    return [Case(f"vocab={v}, hidden={h}, factor={e}", {"V": v, "H": h, "E": e}) for v, h, e in tables]


def _report_inputs(rng: Random) -> list[Case]:
    small = {
        f"model-{rng.randrange(100, 1000)}": spec(small_shape(rng)),
        f"other-{rng.randrange(100, 1000)}": spec(small_shape(rng), "pretraining"),
    }
    large = {name: spec(shape) for name, shape in PUBLISHED.items()}
    return [Case("two small models", {"models": small}), Case("bert-base and bert-large", {"models": large})]


def _call_with_model(answer: Callable[[Any], Any], case: Case) -> Any:
    return answer(build(case["model"]))


def _call_report(answer: Callable[[Any], Any], case: Case) -> Any:
    return call(answer, {name: build(model) for name, model in case["models"].items()})


QUESTIONS = (
    ASSIGNMENT.question(
        "count_parameters",
        "count_parameters(model) -> int",
        "1 Walk through the model",
        _counting_inputs,
        _call_with_model,
    ),
    ASSIGNMENT.question(
        "token_table_share",
        "token_table_share(model) -> float",
        "2 The token table",
        _share_inputs,
        _call_with_model,
    ),
    ASSIGNMENT.question(
        "breakdown",
        "breakdown(model) -> dict[str, int]",
        "6 One encoder, many totals",
        _breakdown_inputs,
        _call_with_model,
    ),
    ASSIGNMENT.question(
        "layer_parameters",
        "layer_parameters(hidden, intermediate) -> int",
        "4 Inside one layer",
        _layer_inputs,
        lambda answer, case: answer(case["H"], case["I"]),
    ),
    ASSIGNMENT.question(
        "factorised_table",
        "factorised_table(vocab, hidden, factor) -> (parameters, times_smaller)",
        "8 A cheaper table",
        _factor_inputs,
        lambda answer, case: answer(case["V"], case["H"], case["E"]),
    ),
    ASSIGNMENT.question(
        "budget_report",
        "budget_report(models) -> dict[str, dict]",
        "3 A larger model",
        _report_inputs,
        _call_report,
    ),
)
