"""Tables exchanged and put back; lengths of rows; vectors of a sentence and how they are compared."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import BertConfig, BertModel

from insidebert import inputs


@pytest.fixture
def encoder(tokenizer: Any) -> BertModel:
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return BertModel(BertConfig(vocab_size=len(tokenizer), initializer_range=0.5, **shape)).eval()


def test_a_table_comes_back_even_after_an_error(encoder: BertModel) -> None:
    table = inputs.table_of(encoder, "segment")
    kept = table.detach().clone()
    with pytest.raises(KeyError), inputs.exchanged(table, torch.ones(16)):
        assert torch.equal(table, torch.ones(2, 16))
        raise KeyError
    assert torch.equal(table, kept)
    with pytest.raises(ValueError, match="'token', 'position', 'segment'"):
        inputs.table_of(encoder, "word")


def test_movement_is_relative_and_looks_at_real_positions(encoder: BertModel, tokenizer: Any) -> None:
    batch = tokenizer(["a bear", "a bear sleeps beside me"], padding=True, return_tensors="pt")
    segments = inputs.table_of(encoder, "segment")
    assert inputs.movement(encoder, batch, segments, segments.detach().clone()) == 0
    # No row has segment 1: that row may be anything. Nor do positions behind the text matter.
    assert inputs.movement(encoder, batch, segments, segments.detach() + torch.tensor([[0.0], [9.0]])) == 0
    places = inputs.table_of(encoder, "position")
    behind = (torch.arange(512) >= batch["input_ids"].shape[1])[:, None] * 5.0
    assert inputs.movement(encoder, batch, places, places.detach() + behind) == 0
    assert 0.1 < inputs.movement(encoder, batch, places, torch.zeros(16)) < 3


@pytest.mark.parametrize("touched", [0, 1, 31, 510])
def test_rows_of_one_length_at_the_end_were_not_touched(touched: int) -> None:
    angles = torch.rand(512, 8, generator=torch.Generator().manual_seed(0)) * 6
    table = torch.cat([angles.sin(), angles.cos()], 1) * 0.98  # all of one length
    table[:touched] *= 1.1
    assert inputs.touched_rows(table) == touched
    assert inputs.touched_rows(table.half().float()) == touched  # as it is stored


def test_a_table_without_such_an_end_was_touched_everywhere() -> None:
    assert inputs.touched_rows(torch.randn(512, 16, generator=torch.Generator().manual_seed(0))) == 512


def test_vectors_do_not_depend_on_the_batch(encoder: BertModel, tokenizer: Any) -> None:
    texts = ["a bear", "it sleeps beside me, beside my bed, and beside itself", "no"]
    together = inputs.sentence_vectors(encoder, tokenizer, texts)
    for i, text in enumerate(texts):
        alone = inputs.sentence_vectors(encoder, tokenizer, [text])
        hidden = encoder(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        torch.testing.assert_close(alone["[CLS]"][0], hidden[0])
        torch.testing.assert_close(alone["mean"][0], hidden.mean(0))
        for kind in ("[CLS]", "mean"):
            torch.testing.assert_close(together[kind][i], alone[kind][0], atol=1e-5, rtol=1e-5)


def test_closer_counts_pairs() -> None:
    a = torch.tensor([[1.0, 0.0]]).expand(4, 2)
    b = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])  # cosines 1, .71, 0, .71
    assert inputs.closer(a, b, [0, 0, 1, 1]) == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    assert inputs.closer(a, b, [1, 1, 0, 0]) == pytest.approx(0.5 / 4)
    with pytest.raises(ValueError, match="both kinds"):
        inputs.closer(a, b, [0, 0, 0, 0])
