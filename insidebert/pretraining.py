"""The encoder, its two pre-training heads and the sum of their losses (Devlin et al. 2019, sec. 3.1).

The encoder is `transformers`' `BertModel`. Masked positions are about 15 % of a batch. So the MLM head, the most
expensive layer of a small BERT, runs on those K positions alone, and the feed-forward half of the last layer on
them and on position 0, which the NSP head reads: same loss, same gradients, part of the work.

B batch, S sequence, H hidden, V vocabulary, K predicted positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from transformers import BertConfig, BertForPreTraining, BertModel
from transformers.activations import ACT2FN
from transformers.masking_utils import create_bidirectional_mask

CHECKPOINT = Path(__file__).parent / "checkpoints" / "small"
WEIGHTS = "model.safetensors"
TOKEN_TABLE = "bert.embeddings.word_embeddings.weight"

# Where `BertForPreTraining` keeps the weights of our heads; the encoder is `bert.` in both.
REFERENCE_NAMES = {
    "mlm.dense.": "cls.predictions.transform.dense.",
    "mlm.norm.": "cls.predictions.transform.LayerNorm.",
    "mlm.bias": "cls.predictions.bias",
    "nsp.": "cls.seq_relationship.",
}


@dataclass
class PretrainingOutput:
    """Losses are scalars, means in nats; `predicted` is K. A loss without its labels is None."""

    loss: Tensor | None
    mlm_loss: Tensor | None
    nsp_loss: Tensor | None
    nsp_logits: Tensor  # (B,2), column 0 is IsNext
    mlm_logits: Tensor | None = None  # (K,V), at the predicted positions in row-major order
    predicted: int = 0


class MaskedLanguageHead(nn.Module):
    """dense, activation, LayerNorm, then the token table transposed, plus a bias (V,)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = ACT2FN[config.hidden_act]
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden: Tensor, table: Tensor) -> Tensor:
        """(…,H) and the token table (V,H) → logits (…,V)."""
        return F.linear(self.norm(self.activation(self.dense(hidden))), table, self.bias)


class PretrainingModel(nn.Module):
    """A `BertModel` with an MLM head whose decoder is the token table, and an NSP head on the pooler."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = BertModel(config)
        self.mlm = MaskedLanguageHead(config)
        self.nsp = nn.Linear(config.hidden_size, 2)
        for layer in (self.mlm.dense, self.nsp):
            nn.init.normal_(layer.weight, std=config.initializer_range)
            nn.init.zeros_(layer.bias)

    @property
    def token_table(self) -> Tensor:
        return self.bert.embeddings.word_embeddings.weight  # (V,H)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
    ) -> PretrainingOutput:
        """Ids, segments and mask (B,S); labels (B,S), −100 where nothing is predicted; NSP labels (B,).

        loss = mean MLM over the K predicted positions + mean NSP over the rows, no coefficient; the mean over
        no position is 0. ValueError for an empty batch and for rows longer than the position table.
        """
        self.check_shape(input_ids)
        predicted = torch.zeros_like(input_ids, dtype=torch.bool) if labels is None else labels != -100
        hidden, first = self.encode(input_ids, token_type_ids, attention_mask, predicted)
        pooled = self.bert.pooler(first[:, None])  # type: ignore[misc]  # None only where asked for, (B,H)
        nsp_logits = self.nsp(pooled)  # (B,2)
        output = PretrainingOutput(None, None, None, nsp_logits)
        if labels is not None:
            output.mlm_logits = self.mlm(hidden, self.token_table)  # (K,V)
            total = F.cross_entropy(output.mlm_logits, labels[predicted], reduction="sum")
            output.predicted = len(hidden)
            output.mlm_loss = total / max(1, len(hidden))
        if next_sentence_label is not None:
            output.nsp_loss = F.cross_entropy(nsp_logits, next_sentence_label)
        losses = [loss for loss in (output.mlm_loss, output.nsp_loss) if loss is not None]
        if losses:
            output.loss = losses[0] if len(losses) == 1 else losses[0] + losses[1]
        return output

    def encode(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None,
        attention_mask: Tensor | None,
        positions: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """The last layer's output at `positions` (B,S) bool, (K,H) in row-major order, and at position 0, (B,H).

        What `BertModel` computes there. Every position attends in every layer; the rest of the last layer, three
        quarters of its work, is done where somebody reads it.
        """
        bert = self.bert
        hidden = bert.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)  # (B,S,H)
        mask = create_bidirectional_mask(
            config=bert.config, inputs_embeds=hidden, attention_mask=attention_mask
        )
        *layers, last = bert.encoder.layer
        for layer in layers:
            hidden = layer(hidden, mask)
        context, _ = last.attention.self(hidden, mask)  # (B,S,H)
        read = torch.cat([positions.flatten().nonzero().squeeze(1), self.firsts(input_ids)])  # (K+B,)
        attended = last.attention.output(context.flatten(0, 1)[read], hidden.flatten(0, 1)[read])
        output = last.feed_forward_chunk(attended)  # (K+B,H)
        return output[: -len(input_ids)], output[-len(input_ids) :]

    @staticmethod
    def firsts(input_ids: Tensor) -> Tensor:
        """(B,) where position 0 of each row lies among the B·S positions."""
        B, S = input_ids.shape
        return torch.arange(0, B * S, S, device=input_ids.device)

    def check_shape(self, input_ids: Tensor) -> None:
        B, S = input_ids.shape
        if B == 0 or S == 0:
            raise ValueError(
                f"A batch of {B} rows and {S} positions holds nothing to read: give at least one token."
            )
        limit = self.config.max_position_embeddings
        if limit < S:
            raise ValueError(
                f"Rows of {S} tokens, but the position table has {limit} rows: truncate the rows."
            )

    @torch.no_grad()
    def predict(
        self,
        input_ids: Tensor,
        positions: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
    ) -> Tensor:
        """MLM logits (K,V) at `positions` (B,S) bool, in row-major order; the head runs nowhere else."""
        self.check_shape(input_ids)
        hidden, _ = self.encode(input_ids, token_type_ids, attention_mask, positions)
        return self.mlm(hidden, self.token_table)

    # ------------------------------------------------------------------------------- exchange of weights

    @classmethod
    def from_bert_for_pretraining(cls, reference: BertForPreTraining) -> PretrainingModel:
        """The same weights, copied, under our heads."""
        model = cls(reference.config)
        model.load_reference_weights(reference.state_dict())
        return model

    def to_bert_for_pretraining(self) -> BertForPreTraining:
        """The same weights, copied, in `transformers`' own class."""
        reference = BertForPreTraining(self.config)
        reference.load_state_dict(self.reference_weights(), strict=False)  # the decoder is tied, not listed
        reference.tie_weights()
        return reference.train(self.training)

    def reference_weights(self) -> dict[str, Tensor]:
        """Our weights under `BertForPreTraining`'s names, the tied decoder once."""
        return {renamed(name, REFERENCE_NAMES): weight for name, weight in self.state_dict().items()}

    def load_reference_weights(self, weights: dict[str, Tensor]) -> None:
        """Takes weights under `BertForPreTraining`'s names. ValueError where they do not fit."""
        ours = {theirs: mine for mine, theirs in REFERENCE_NAMES.items()}
        state = {renamed(name, ours): w for name, w in weights.items() if ".predictions.decoder." not in name}
        try:
            self.load_state_dict(state)
        except RuntimeError as error:
            raise ValueError(f"These are not the weights of this configuration: {error}") from error

    def widened(self, rows: list[int], vocab_size: int) -> PretrainingModel:
        """The same model with a larger vocabulary: row i of the token table becomes row `rows[i]`.

        The other rows belong to pieces that training never met. They become an average piece, slightly varied, and
        get the lowest bias there is, so that the model does not guess what it does not know.
        """
        config = BertConfig.from_dict({**self.config.to_dict(), "vocab_size": vocab_size})
        wide = PretrainingModel(config)
        state = self.state_dict()
        table, bias = self.token_table.detach(), self.mlm.bias.detach()
        state[TOKEN_TABLE] = wide.token_table.detach().to(table.device) + table.mean(0)  # (V,H)
        state[TOKEN_TABLE][rows] = table
        state["mlm.bias"] = bias.min().expand(vocab_size).clone()
        state["mlm.bias"][rows] = bias
        wide.load_state_dict(state)
        return wide.to(table.device).train(self.training)

    # ------------------------------------------------------------------------------------------- on disk

    def save_pretrained(self, folder: str | Path, dtype: torch.dtype = torch.float32) -> None:
        """`config.json` and `model.safetensors`, readable by `BertForPreTraining.from_pretrained` as well."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        config = BertConfig.from_dict({**self.config.to_dict(), "architectures": ["BertForPreTraining"]})
        config.save_pretrained(folder)
        weights = {
            name: w.detach().to("cpu", dtype).contiguous() for name, w in self.reference_weights().items()
        }
        write_atomically(folder / WEIGHTS, lambda path: save_file(weights, path, metadata={"format": "pt"}))

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> PretrainingModel:
        """Reads what `save_pretrained` wrote, computes in float32, in evaluation mode."""
        folder = Path(folder)
        if not (folder / WEIGHTS).is_file():
            raise FileNotFoundError(f"There is no {WEIGHTS} in {folder}: give the folder of a saved model.")
        model = cls(BertConfig.from_pretrained(folder))
        model.load_reference_weights(load_file(folder / WEIGHTS))
        return model.eval()


def renamed(name: str, prefixes: dict[str, str]) -> str:
    for old, new in prefixes.items():
        if name.startswith(old):
            return new + name[len(old) :]
    return name


def write_atomically(path: Path, write: Any) -> None:
    """`write(temporary path)`, then one rename: a full disk or a crash leaves the previous file as it was."""
    partial = path.with_name(path.name + ".partial")
    try:
        write(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
