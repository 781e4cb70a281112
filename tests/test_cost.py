"""Cost: closed forms against a count of a real model's operations, the paper's budget, measurements."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel

from insidebert.cost import (
    BERT_BASE,
    encoder_flops,
    equal_length,
    measure_lengths,
    predicted_fraction,
    pretraining_tokens,
    training_flops,
    training_memory,
)


def encoder(attention: str = "eager", positions: int = 512) -> BertModel:
    config = BertConfig(
        vocab_size=50,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=96,
        max_position_embeddings=positions,
        attn_implementation=attention,
    )
    return BertModel(config, add_pooling_layer=False)


@pytest.mark.parametrize("length", [1, 7, 128])
def test_flops_are_those_of_a_real_encoder(length):
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        encoder()(torch.zeros(1, length, dtype=torch.long))
    assert sum(encoder_flops(length, 32, 96, 2)) == counter.get_total_flops()


def test_a_training_step_costs_three_forward_passes():
    model = encoder()
    with FlopCounterMode(display=False) as counter:
        model(torch.zeros(1, 64, dtype=torch.long)).last_hidden_state.sum().backward()
    assert training_flops(64, 32, 96, 2) == counter.get_total_flops()


@pytest.mark.parametrize(("hidden", "intermediate"), [(768, 3072), (1024, 4096), (128, 512), (100, 333)])
def test_attention_and_linear_layers_meet_at_2h_plus_i(hidden, intermediate):
    S = equal_length(hidden, intermediate)
    linear, attention = encoder_flops(S, hidden, intermediate, 5)
    assert linear == attention
    linear, attention = encoder_flops(S - 1, hidden, intermediate, 5)
    assert linear > attention


def test_bert_base():
    assert equal_length(768, 3072) == 4608
    linear, attention = encoder_flops(512, 768, 3072, 12)
    assert linear == 2 * 512 * 12 * (7_087_872 - 9_984), "every weight of a layer, no bias and no LayerNorm"
    assert attention / linear == pytest.approx(512 / 4608)


def test_training_memory_in_gib():
    assert training_memory(109_482_240) == pytest.approx(1.631, abs=5e-4)
    assert training_memory(335_141_888) == pytest.approx(4.994, abs=5e-4)
    assert training_memory(2**26) == 1.0


def test_the_papers_budget():
    run = BERT_BASE
    assert pretraining_tokens(run.batch, run.length, 1) == 131_072
    passes = pretraining_tokens(run.batch, run.length, run.steps) / run.corpus_words
    assert passes == pytest.approx(40, abs=0.5)


@pytest.mark.parametrize(
    ("length", "cap", "share"),
    [(512, 20, 20 / 512), (512, None, 77 / 512), (128, 20, 19 / 128), (1, 20, 1.0)],
)
def test_the_signal_in_a_batch(length, cap, share):
    assert predicted_fraction(length, cap=cap) == share
    with pytest.raises(ValueError, match="0 tokens"):
        predicted_fraction(0)


def test_memory_is_quadratic_where_the_scores_are_kept():
    eager = [m.peak_bytes for m in measure_lengths(encoder("eager", 2048), [512, 1024, 2048], repeats=1)]
    scores = [2 * 4 * S * S for S in (512, 1024, 2048)]  # two heads, fp32
    for peak, size in zip(eager, scores, strict=True):
        assert peak > size
    assert 3.4 < eager[2] / eager[1] < 4
    fused = [m.peak_bytes for m in measure_lengths(encoder("sdpa", 2048), [512, 1024, 2048], repeats=1)]
    assert fused[2] / fused[1] == pytest.approx(2, rel=0.05)


def test_measuring_leaves_the_model_as_it_was():
    model = encoder().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    short, long = measure_lengths(model, [8, 512], batch=2, repeats=5)
    assert (short.length, long.length) == (8, 512)
    assert 0 < short.seconds < long.seconds
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    with pytest.raises(ValueError, match="513"):
        measure_lengths(model, [8, 513])
