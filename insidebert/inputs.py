"""What a trained encoder makes of what goes in: its embedding tables exchanged, and its vectors of a sentence.

B batch, S sequence, H hidden, N sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

TABLES = {"token": "word_embeddings", "position": "position_embeddings", "segment": "token_type_embeddings"}
ROWS = 64  # in one forward pass


def table_of(encoder: Any, name: str) -> Tensor:
    """(rows,H) the weight of a BERT's token, position or segment table. ValueError for another name."""
    if name not in TABLES:
        raise ValueError(f"There is no table {name!r}: ask for {', '.join(map(repr, TABLES))}.")
    weight: Tensor = getattr(encoder.embeddings, TABLES[name]).weight
    return weight


@contextmanager
def exchanged(table: Tensor, rows: Tensor) -> Iterator[None]:
    """Inside the block `table` holds `rows` (broadcast to its shape); afterwards, also after an error, its own."""
    kept = table.detach().clone()
    with torch.no_grad():
        table.copy_(rows)
    try:
        yield
    finally:
        with torch.no_grad():
            table.copy_(kept)


@torch.no_grad()
def movement(encoder: Any, batch: Mapping[str, Tensor], table: Tensor, rows: Tensor) -> float:
    """How far the last layer moves when `table` holds `rows`: ‖after − before‖ / ‖before‖, mean of real positions."""
    real = batch["attention_mask"].bool()
    before = encoder(**batch).last_hidden_state[real]
    with exchanged(table, rows):
        after = encoder(**batch).last_hidden_state[real]
    return float(((after - before).norm(dim=-1) / before.norm(dim=-1)).mean())


def touched_rows(table: Tensor, tolerance: float = 1e-3) -> int:
    """How many rows stand before the rows at the end that all have one length, within `tolerance` of it.

    Training changes each row in its own way. Rows that no step touched still have a common length if they started
    with one, as in `insidebert.starting`; weight decay shortens all of them alike. A table without such an end,
    where only the last row is as long as itself, was touched everywhere.
    """
    lengths = table.detach().norm(dim=1)
    differ = ((lengths - lengths[-1]).abs() > tolerance * lengths[-1]).nonzero()
    touched = int(differ.max()) + 1 if len(differ) else 0
    return len(table) if touched == len(table) - 1 else touched


@torch.no_grad()
def sentence_vectors(
    encoder: Any, tokenizer: Any, sentences: Sequence[str], max_length: int = 32
) -> dict[str, Tensor]:
    """(N,H) twice: the last layer at `[CLS]`, and its mean over all real positions, special tokens included."""
    device = table_of(encoder, "token").device
    first, mean = [], []
    for start in range(0, len(sentences), ROWS):
        batch = tokenizer(
            list(sentences[start : start + ROWS]),
            padding=True,
            truncation=True,
            max_length=max_length,
            return_tensors="pt",
        ).to(device)
        hidden = encoder(**batch).last_hidden_state  # (B,S,H)
        real = batch["attention_mask"][..., None]  # (B,S,1)
        first.append(hidden[:, 0])
        mean.append((hidden * real).sum(1) / real.sum(1))
    return {"[CLS]": torch.cat(first), "mean": torch.cat(mean)}


def closer(a: Tensor, b: Tensor, labels: Sequence[int]) -> float:
    """How often a pair with label 0 is closer, by cosine, than a pair with label 1; a coin scores 0.5.

    a, b (N,H); every pair of the one kind is compared with every pair of the other. ValueError where one kind lacks.
    """
    cosines = torch.cosine_similarity(a, b, dim=-1)
    kind = torch.tensor(list(labels), device=cosines.device)
    near, far = cosines[kind == 0], cosines[kind == 1]
    if not len(near) or not len(far):
        raise ValueError(f"{len(near)} pairs with label 0 and {len(far)} with label 1: it takes both kinds.")
    wins = (near[:, None] > far).float() + 0.5 * (near[:, None] == far).float()
    return float(wins.mean())
