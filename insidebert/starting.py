"""Where a short pre-training run starts, so that little data and little time go into what is known beforehand.

BERT starts from N(0, 0.02²) everywhere. Then a small model spends its first thousands of steps on two things: how
often each piece occurs, and that a hidden piece has to do with its neighbours. At a high learning rate the first
pushes all token vectors in one direction, the second is then hardly found, and the loss stays at the entropy of
the frequencies. Three changes of the starting point avoid that; everything is trained from there, nothing is fixed.

H hidden, V vocabulary, F frequencies, D size of a head.
"""

from __future__ import annotations

import math
from collections import Counter

import torch
from transformers import BertConfig, PreTrainedModel

from insidebert.pretraining import PretrainingModel
from insidebert.pretraining_data import Documents

OFFSETS = (-1, 1, -2, 2)  # where the heads of the first layer look at first, in positions
STD = 0.06  # of the encoder's matrices: near 1/√H for a small H, where 0.02 leaves a layer without effect
AMPLITUDE = 0.08  # of the position table's waves; token vectors start at 0.02 in each of H dimensions
SPREAD = 3.0  # of the logits, in nats, before the encoder has learned to use its head
SHARPNESS = 0.63  # query times key is its square: enough that half of a head's attention meets its offset


@torch.no_grad()
def prepare(model: PretrainingModel, documents: Documents) -> None:
    """Changes a model with random weights in place; all that is random comes from torch's global generator."""
    for name, weight in model.named_parameters():
        if weight.ndim == 2 and ("encoder" in name or name == "mlm.dense.weight"):
            weight.normal_(0, STD)
    look_at_neighbours(model)
    model.mlm.bias.copy_(log_frequencies(documents, len(model.mlm.bias)))


def log_frequencies(documents: Documents, vocab_size: int) -> torch.Tensor:
    """(V,) the logarithm of each piece's share of the corpus, each counted once more than it occurs."""
    counts = Counter(i for document in documents for sentence in document for i in sentence)
    occurs = torch.tensor([counts[i] + 1.0 for i in range(vocab_size)])
    return (occurs / occurs.sum()).log()


@torch.no_grad()
def continue_encoder(
    encoder: PreTrainedModel, documents: Documents, dropout: float = 0.0
) -> PretrainingModel:
    """A model that goes on from a trained encoder: its weights, and heads that are of use from the first step.

    The encoder's pooler is left out: a model tuned for sentence similarity has none that was trained. The MLM head's
    dense layer starts as the identity and its LayerNorm at a scale that spreads the logits by about `SPREAD`, so
    that the decoder, which is the encoder's own token table, reads what the last layer says.
    """
    config = BertConfig.from_dict(
        {**encoder.config.to_dict(), "hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    )
    model = PretrainingModel(config)
    weights = {name: w for name, w in encoder.state_dict().items() if not name.startswith("pooler.")}
    model.bert.load_state_dict(weights, strict=False)
    H = config.hidden_size
    model.mlm.dense.weight.copy_(torch.eye(H))
    model.mlm.norm.weight.fill_(SPREAD / (model.token_table.norm(dim=1).mean().item() * math.sqrt(H)))
    model.mlm.bias.copy_(log_frequencies(documents, config.vocab_size))
    return model


@torch.no_grad()
def look_at_neighbours(model: PretrainingModel) -> None:
    """Positions become waves, and the first layer's heads start at fixed distances from the position they serve.

    In waves of frequencies ω, position i + o is position i turned by the angles ω·o (Vaswani et al. 2017, sec. 3.5).
    So a query that turns its position by ω·o fits the key at i + o best. Random frequencies in (0, π) keep
    other distances apart.
    """
    bert = model.bert
    attention = bert.encoder.layer[0].attention.self
    D = attention.attention_head_size
    F = D // 2
    frequencies = torch.rand(F) * math.pi
    table = bert.embeddings.position_embeddings.weight  # (positions,H)
    angles = torch.arange(len(table))[:, None] * frequencies
    table.zero_()
    table[:, : 2 * F] = AMPLITUDE * torch.cat([angles.sin(), angles.cos()], 1)
    for head in range(attention.num_attention_heads):
        turn = frequencies * OFFSETS[head % len(OFFSETS)]
        cos, sin = torch.diag(turn.cos()), torch.diag(turn.sin())
        rotation = torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)])  # (2F,2F)
        first = head * D
        attention.key.weight[first : first + 2 * F, : 2 * F] += SHARPNESS * torch.eye(2 * F)
        attention.query.weight[first : first + 2 * F, : 2 * F] += SHARPNESS * rotation
