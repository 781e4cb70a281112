"""The recipe of a pre-training run: shape, rows, schedule, seed."""

from __future__ import annotations

import dataclasses
from typing import Any

from transformers import BertConfig


def flag(default: Any, text: str) -> Any:
    return dataclasses.field(default=default, metadata={"help": text})


@dataclasses.dataclass
class Recipe:
    """Everything a run depends on. Each field is a flag of `insidebert pretrain`."""

    layers: int = flag(3, "encoder layers")
    hidden: int = flag(128, "hidden size; the inner size is four times as large")
    heads: int = flag(4, "attention heads")
    dropout: float = flag(0.0, "dropout in the encoder; short runs on little text underfit without any")
    unit: str = flag("token", "what is hidden: token, word or span")
    max_length: int = flag(128, "tokens in a row, special tokens included")
    first_length: int = flag(32, "tokens in a row in the first epochs, with as many more rows in a step")
    first_epochs: int = flag(1, "epochs that read such rows: a neighbour is found sooner among few positions")
    short: float = flag(0.1, "share of rows with a random shorter length")
    batch_size: int = flag(8, "rows per process and forward pass")
    accumulation: int = flag(1, "forward passes per step")
    steps: int = flag(2000, "optimiser steps of the whole run")
    warmup: int = flag(100, "steps in which the learning rate rises linearly")
    decay: int = flag(600, "steps at the end in which it falls linearly to 0; it is constant in between")
    learning_rate: float = flag(1e-3, "peak learning rate of AdamW")
    weight_decay: float = flag(0.01, "on matrices alone, not on biases and LayerNorm")
    clip: float = flag(1.0, "largest global norm of the gradients")
    documents: int = flag(0, "read only the first so many documents; 0 reads all")
    save_every: int = flag(500, "steps between checkpoints")
    prepared: int = flag(1, "1 starts as `insidebert.starting` says, 0 from BERT's own random weights")
    from_embedded: bool = flag(
        False, "go on from the embedded encoder, on general English too; it gives the shape"
    )
    seed: int = flag(0, "of weights, pairs, masks and dropout")

    def config(self, vocab_size: int) -> BertConfig:
        return BertConfig(
            vocab_size=vocab_size,
            hidden_size=self.hidden,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            intermediate_size=4 * self.hidden,
            hidden_dropout_prob=self.dropout,
            attention_probs_dropout_prob=self.dropout,
        )

    def length(self, epoch: int) -> int:
        """Tokens in a row: short rows first, as the paper's 128 before 512 (App. A.2)."""
        return self.first_length if epoch < self.first_epochs else self.max_length

    def rate(self, step: int) -> float:
        """The learning rate of step 0 … steps−1: up, constant, down."""
        up = (step + 1) / max(1, self.warmup)
        down = (self.steps - step) / max(1, self.decay)
        return self.learning_rate * min(1.0, up, down)
