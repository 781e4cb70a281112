"""What words alone tell about a pair of segments: a linear classifier that knows no order inside a segment.

It sees which pieces segment A has, which segment B has, and how much they share. A task that it solves needs no
more than topic; a task that it fails needs something else.

N pairs, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

Pair = tuple[list[int], list[int], int]  # ids of A, ids of B, label 0 or 1
SHARED_SCALE = 20.0  # the cosine is one number beside 2·V; a large scale lets a small weight use it
EPOCHS, BATCH, RATE, DECAY = 3, 64, 1e-2, 0.1


class BagOfWords:
    """Learns the label of a pair from its words; give it the documents to learn how telling each piece is."""

    def __init__(self, documents: Sequence[Sequence[list[int]]], vocab_size: int) -> None:
        """`documents` are lists of sentences as ids below `vocab_size`. ValueError without documents."""
        if not documents:
            raise ValueError("No documents, so no piece can be weighted: give the training documents.")
        holds = [i for document in documents for i in {i for sentence in document for i in sentence}]
        frequency = torch.tensor(holds, dtype=torch.long).bincount(minlength=vocab_size)
        # Inverse document frequency: a piece that every document has says nothing about the topic.
        self.weight = (len(documents) / frequency.clamp(min=1)).log()  # (V,)
        self.coefficients = torch.zeros(2 * vocab_size + 1)
        self.bias = torch.zeros(1)

    def features(self, pairs: Sequence[Pair]) -> Tensor:
        """(N,2V+1): the weighted pieces of A and of B, each of length 1, and the cosine between the two."""
        a, b = self._bags([a for a, _, _ in pairs]), self._bags([b for _, b, _ in pairs])
        return torch.cat([a, b, SHARED_SCALE * (a * b).sum(1, keepdim=True)], 1)

    def fit(self, pairs: Sequence[Pair], seed: int = 0) -> BagOfWords:
        """Logistic regression by AdamW. ValueError without pairs."""
        if not pairs:
            raise ValueError("No pairs to learn from.")
        generator = torch.Generator().manual_seed(seed)
        parameters = [self.coefficients.requires_grad_(), self.bias.requires_grad_()]
        optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(pairs), generator=generator).split(BATCH):
                batch = [pairs[row] for row in rows]
                loss = F.binary_cross_entropy_with_logits(self._scores(batch), _labels(batch))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        for parameter in parameters:
            parameter.requires_grad_(False)
        return self

    def accuracy(self, pairs: Sequence[Pair]) -> float:
        """The share of pairs whose label it tells, from 0 to 1. ValueError without pairs."""
        if not pairs:
            raise ValueError("No pairs to judge.")
        scores = torch.cat([self._scores(pairs[i : i + BATCH]) for i in range(0, len(pairs), BATCH)])
        return float(((scores > 0) == _labels(pairs).bool()).float().mean())

    def _scores(self, pairs: Sequence[Pair]) -> Tensor:
        return self.features(pairs) @ self.coefficients + self.bias  # (N,)

    def _bags(self, segments: Sequence[list[int]]) -> Tensor:
        bags = torch.zeros(len(segments), len(self.weight))
        for row, segment in zip(bags, segments, strict=True):
            row[segment] = 1
        return F.normalize(bags * self.weight, dim=1)


def _labels(pairs: Sequence[Pair]) -> Tensor:
    return torch.tensor([float(label) for *_, label in pairs])
