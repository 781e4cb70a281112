"""The parameter budget: closed forms and counts against transformers' own classes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers
from torch import nn
from transformers import (
    AutoModel,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

from insidebert import budget, configs

# Totals and token tables: lessons.md, and the counts of transformers' own classes.
PUBLISHED = {
    "bert-tiny": (4_385_920, 3_906_816),
    "bert-base-uncased": (109_482_240, 23_440_896),
    "bert-base-cased": (108_310_272, 28_996 * 768),
    "bert-large-uncased": (335_141_888, 31_254_528),
    "albert-base-v2": (11_683_584, 30_000 * 128),
}


@pytest.mark.parametrize(("name", "expected"), PUBLISHED.items())
def test_totals_of_the_published_models(name: str, expected: tuple[int, int]) -> None:
    model = budget.skeleton(name)
    assert (budget.count_parameters(model), budget.token_table(model)[1].numel()) == expected


@pytest.mark.parametrize(
    ("name", "percent"), [("bert-tiny", 89.08), ("bert-base-uncased", 21.41), ("bert-large-uncased", 9.33)]
)
def test_shares_of_the_token_table(name: str, percent: float) -> None:
    assert round(100 * budget.token_table_share(budget.skeleton(name)), 2) == percent


@pytest.mark.parametrize(
    ("model_class", "total"),
    [
        (BertForPreTraining, 110_106_428),
        (BertForMaskedLM, 109_514_298),
        (BertForSequenceClassification, 109_483_778),
        (BertForQuestionAnswering, 108_893_186),
    ],
)
def test_the_same_encoder_with_other_heads(model_class: type, total: int) -> None:
    model = budget.skeleton("bert-base-uncased", model_class)
    parts = budget.breakdown(model)
    assert budget.count_parameters(model) == sum(parts.values()) == total
    assert parts["token table"] == 23_440_896
    without_pooler = model_class in (BertForMaskedLM, BertForQuestionAnswering)
    assert parts["pooler"] == (0 if without_pooler else 590_592)
    assert parts["head"] > 0


def test_breakdown_of_base_is_the_sum_in_the_lesson() -> None:
    parts = budget.breakdown(budget.skeleton("bert-base-uncased"))
    assert tuple(parts) == budget.PARTS
    assert parts == {
        "token table": 30_522 * 768,
        "position table": 512 * 768,
        "segment table": 2 * 768,
        "embedding norm": 2 * 768,
        "encoder layers": 12 * 7_087_872,
        "pooler": 590_592,
        "head": 0,
    }
    assert sum(list(parts.values())[:4]) == 23_837_184


def test_an_untied_decoder_is_part_of_the_head() -> None:
    config = configs.published("bert-base-uncased")
    config.tie_word_embeddings = False
    untied = budget.breakdown(budget.skeleton(config, BertForPreTraining))
    tied = budget.breakdown(budget.skeleton("bert-base-uncased", BertForPreTraining))
    assert untied["token table"] == tied["token table"]
    # transformers unties the output bias with the matrix: 30,522 more than "the decoder counted twice".
    assert untied["head"] - tied["head"] == 30_522 * 768 + 30_522
    assert 110_106_428 + 23_440_896 == 133_547_324


def test_a_decoder_registered_before_its_encoder_is_still_the_table() -> None:
    class Backwards(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.decoder = nn.Linear(128, 30_522, bias=False, device="meta")
            self.inner = budget.skeleton("bert-tiny")
            self.decoder.weight = self.inner.embeddings.word_embeddings.weight

    parts = budget.breakdown(Backwards())
    assert parts == budget.breakdown(budget.skeleton("bert-tiny"))


def test_frozen_counts_and_buffers_do_not() -> None:
    model = budget.skeleton("bert-tiny")
    total = budget.count_parameters(model)
    model.requires_grad_(False)
    model.register_buffer("extra", torch.zeros(1000, device="meta"))
    assert budget.count_parameters(model) == total == sum(budget.breakdown(model).values())


def test_distilbert_and_roberta_are_read_too() -> None:
    small = {"vocab_size": 100, "num_hidden_layers": 2, "num_attention_heads": 2}
    distil = budget.skeleton(transformers.DistilBertConfig(**small, dim=8, hidden_dim=16))
    assert budget.breakdown(distil)["encoder layers"] == 2 * budget.layer_parameters(8, 16)
    roberta_config = transformers.RobertaConfig(**small, hidden_size=8, intermediate_size=16)
    roberta = budget.skeleton(roberta_config, transformers.RobertaForMaskedLM)
    parts = budget.breakdown(roberta)
    assert parts["encoder layers"] == 2 * budget.layer_parameters(8, 16)
    assert parts["token table"] == 800 and sum(parts.values()) == budget.count_parameters(roberta)


@pytest.mark.parametrize(
    "model", [nn.Linear(2, 2), nn.ModuleList(budget.skeleton("bert-tiny") for _ in "ab")], ids=["none", "two"]
)
def test_no_table_or_two_is_an_error_that_names_the_table(model: nn.Module) -> None:
    with pytest.raises(ValueError, match="word_embeddings"):
        budget.token_table(model)


def test_layer_parameters() -> None:
    assert budget.layer_parameters(768, 3072) == 7_087_872
    assert budget.layer_parameters(1024, 4096) == 12_596_224
    for hidden in (128, 256, 512, 768, 1024):
        assert budget.layer_parameters(hidden, 4 * hidden) == 12 * hidden**2 + 13 * hidden
    odd = BertConfig(hidden_size=24, intermediate_size=7, num_attention_heads=2, num_hidden_layers=1)
    assert budget.breakdown(budget.skeleton(odd))["encoder layers"] == budget.layer_parameters(24, 7)


def test_factorised_table_and_break_even() -> None:
    base, large = budget.factorised_table(30_522, 768, 128), budget.factorised_table(30_522, 1024, 128)
    assert (base[0], round(base[1], 2)) == (4_005_120, 5.85)
    assert (large[0], round(large[1], 2)) == (4_037_888, 7.74)
    assert round(budget.break_even_factor(30_522, 768)) == 749
    below, above = (budget.factorised_table(30_522, 768, factor)[0] for factor in (749, 750))
    assert below < 30_522 * 768 < above


@pytest.mark.parametrize("name", configs.NAMES)
def test_closed_form_is_the_count(name: str) -> None:
    config = configs.published(name)
    parts = budget.closed_form(**budget.config_shape(config))
    counted = budget.breakdown(budget.skeleton(config))
    assert sum(parts.values()) == sum(counted.values())
    parts["encoder layers"] += parts.pop("projection")
    assert parts | {"head": 0} == counted


def test_budget_report() -> None:
    names = ("bert-base-uncased", "bert-large-uncased")
    report = budget.budget_report({name: budget.skeleton(name) for name in names})
    assert report["bert-base-uncased"] == {
        "total": 109_482_240,
        "token_table": 23_440_896,
        "share": 23_440_896 / 109_482_240,
    }
    assert report["bert-large-uncased"]["total"] == 335_141_888


def test_from_pretrained_models_are_counted_alike(tmp_path: Path) -> None:
    config = BertConfig(
        vocab_size=50, hidden_size=8, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2
    )
    BertForPreTraining(config).save_pretrained(tmp_path)
    for model_class in (BertModel, BertForPreTraining, BertForTokenClassification):
        loaded = model_class.from_pretrained(tmp_path, local_files_only=True)
        assert budget.breakdown(loaded) == budget.breakdown(budget.skeleton(config, model_class))
        assert next(loaded.parameters()).device.type == "cpu"
    loaded = AutoModel.from_pretrained(tmp_path, local_files_only=True)
    assert budget.token_table_share(loaded) == 400 / budget.count_parameters(loaded)


def test_an_unknown_name_lists_the_names() -> None:
    with pytest.raises(ValueError, match="bert-base-uncased") as caught:
        configs.published("bert-huge")
    assert all(name in str(caught.value) for name in configs.NAMES)


def test_configurations_are_fresh() -> None:
    configs.published("bert-tiny").vocab_size = 7
    assert configs.published("bert-tiny").vocab_size == 30_522


OFFLINE = """
import sys, time
def forbid(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(event)
sys.addaudithook(forbid)
from insidebert.budget import budget_report, skeleton
skeleton("bert-tiny")  # transformers imports a model's module when it is first asked for
start = time.perf_counter()
report = budget_report({name: skeleton(name) for name in ("bert-base-uncased", "bert-large-uncased")})
print(time.perf_counter() - start, *(row["total"] for row in report.values()))
"""


def test_base_and_large_in_two_seconds_without_a_socket() -> None:
    run = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    seconds, base, large = run.stdout.split()
    assert (int(base), int(large)) == (109_482_240, 335_141_888)
    assert float(seconds) < 2
