"""Fine-tuning: an encoder, a small head, the published recipe, and more than one seed.

B batch, S sequence, H hidden, L labels. What is read of the encoder decides the task: position 0 for one
label a row (`SequenceHead`), every position for a label a token (`TokenHead`), two scores a position for a
span (`SpanHead`).
"""

from __future__ import annotations

import math
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from insidebert.features import IGNORED, INPUTS, batches, collate

# --- heads and models ---------------------------------------------------------------------------------------


class SequenceHead(nn.Module):
    """(B,S,H) → (B,L): one label for the row, read from position 0, `[CLS]`, alone (Devlin et al. 2019, sec.
    4.1).

    BERT's own code puts the pooler between, a dense layer and tanh that next-sentence prediction trained.
    Give `pooler=encoder.pooler` to do so where it was trained; the embedded encoder's never was.
    """

    def __init__(self, hidden: int, num_labels: int, dropout: float = 0.1, pooler: nn.Module | None = None):
        super().__init__()
        self.pooler = pooler
        self.dropout = nn.Dropout(dropout)
        self.classifier = _linear(hidden, num_labels)

    def forward(self, hidden: Tensor) -> Tensor:
        summary = hidden[:, 0] if self.pooler is None else self.pooler(hidden)  # (B,H)
        return self.classifier(self.dropout(summary))

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Mean cross-entropy of (B,L) against (B,)."""
        return cross_entropy(logits.float(), labels)


class TokenHead(nn.Module):
    """(B,S,H) → (B,S,L): a label for every position (Devlin et al. 2019, sec. 5.3)."""

    def __init__(self, hidden: int, num_labels: int, dropout: float = 0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.classifier = _linear(hidden, num_labels)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.classifier(self.dropout(hidden))

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Mean cross-entropy of (B,S,L) against (B,S), over the labels that are not −100; 0 where there is none."""
        total = cross_entropy(
            logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        return total / (labels != IGNORED).sum().clamp(min=1)


class SpanHead(nn.Module):
    """(B,S,H) → start (B,S), end (B,S): one linear layer with two outputs (Devlin et al. 2019, sec. 4.2)."""

    def __init__(self, hidden: int):
        super().__init__()
        self.outputs = _linear(hidden, 2)

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        start, end = self.outputs(hidden).unbind(-1)
        return start, end

    def loss(self, logits: tuple[Tensor, Tensor], start_positions: Tensor, end_positions: Tensor) -> Tensor:
        """The mean of two cross-entropies over positions, (B,S) against (B,) each; position 0 means no answer."""
        start, end = logits
        return (cross_entropy(start.float(), start_positions) + cross_entropy(end.float(), end_positions)) / 2


def _linear(hidden: int, outputs: int) -> nn.Linear:
    """A new layer as BERT initialises it: normal with standard deviation 0.02, bias 0."""
    layer = nn.Linear(hidden, outputs)
    nn.init.normal_(layer.weight, std=0.02)
    nn.init.zeros_(layer.bias)
    return layer


class TaskOutput(NamedTuple):
    """What a task model returns: the loss, where the batch has targets, and the head's scores."""

    loss: Tensor | None
    logits: Any


class TaskModel(nn.Module):
    """An encoder and a head. `frozen=True` trains the head alone, on the encoder as it is, without its dropout."""

    def __init__(
        self, encoder: nn.Module, head: SequenceHead | TokenHead | SpanHead, frozen: bool = False
    ) -> None:
        super().__init__()
        self.encoder, self.head, self.frozen = encoder, head, frozen
        encoder.requires_grad_(not frozen)

    def train(self, mode: bool = True) -> TaskModel:
        super().train(mode)
        self.encoder.train(mode and not self.frozen)
        return self

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **targets: Tensor,
    ) -> TaskOutput:
        """All of (B,S); `targets` are the names the head's `loss` takes, or none for scores alone."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            encoded = self.encoder(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            )
        logits = self.head(encoded.last_hidden_state)
        return TaskOutput(self.head.loss(logits, **targets) if targets else None, logits)


def keep_tables(encoder: nn.Module) -> nn.Module:
    """Leave an encoder's token and position tables as pre-training made them; returns the encoder.

    A few hundred rows move only the vectors of the pieces in them, away from those of all other pieces, which the test
    rows hold too. In a small encoder the token table is also half of what the optimizer goes through at each step
    (Lee et al. 2019, arXiv 1911.03090, keep whole layers too).
    """
    for table in ("word_embeddings", "position_embeddings"):
        encoder.get_submodule(f"embeddings.{table}").requires_grad_(False)
    return encoder


# --- the recipe ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """How to fine-tune. The defaults lie in the grid of BERT's authors (Devlin et al. 2019, App. A.3)."""

    batch_size: int = 32
    learning_rate: float = 3e-5
    epochs: int = 3
    warmup: float = 0.1  # share of the steps, then linear decay to 0
    weight_decay: float = 0.01  # not on biases and LayerNorm
    max_grad_norm: float = 1.0

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.epochs < 1 or self.learning_rate <= 0 or not 0 <= self.warmup <= 1:
            raise ValueError(
                f"{self}: batch_size and epochs are at least 1, learning_rate is above 0, warmup is 0 to 1."
            )


# What BERT's authors found to work well on all their tasks (Devlin et al. 2019, App. A.3).
PUBLISHED_GRID = {"batch_size": (16, 32), "learning_rate": (5e-5, 3e-5, 2e-5), "epochs": (2, 3, 4)}

# Ours, not the paper's: for the small embedded encoder on the few hundred rows of this course, chosen on their
# validation sets. So few rows make so few steps that a higher rate and more epochs are needed to get anywhere.
# For entities and answers with the tables kept (`keep_tables`); for entities with the capitals marked
# (`word_features`), for answers in the nearest sentences (`shortlist`).
LAPTOP = {
    "sentiment": Recipe(batch_size=16, learning_rate=1e-4, epochs=5),
    "entities": Recipe(batch_size=8, learning_rate=3e-4, epochs=10),
    "question_answering": Recipe(batch_size=8, learning_rate=2e-4, epochs=10),
}


# --- training -----------------------------------------------------------------------------------------------


def make_optimizer(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW on all that learns, with weight decay on the matrices only, as in BERT's own code."""
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    matrices = [parameter for parameter in learning if parameter.dim() > 1]
    vectors = [parameter for parameter in learning if parameter.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)  # fused: one pass over the weights


def warmup_then_decay(step: int, steps: int, warmup: float) -> float:
    """The factor on the learning rate at `step` of `steps`: up over the first share `warmup`, then down to 0."""
    rising = max(1, round(steps * warmup)) if warmup else 0
    if step < rising:
        return (step + 1) / rising
    return max(0.0, (steps - step) / max(1, steps - rising))


def train_step(
    model: nn.Module,
    batch: Mapping[str, Tensor],
    optimizer: torch.optim.Optimizer,
    max_grad_norm: float = 1.0,
) -> float:
    """One step on one batch in training mode; returns the loss it started from.

    The gradients are of this batch alone, and their global norm is cut to `max_grad_norm` before the step.
    Where the device has bf16 the forward pass uses it. Raises `FloatingPointError` for a loss that is not
    finite, with the weights as they were.
    """
    model.train()
    optimizer.zero_grad()
    with autocast(batch["input_ids"].device):
        loss = model(**batch).loss
    value = loss.item()
    if not math.isfinite(value):
        raise FloatingPointError(
            f"The loss is {value}: no step was taken. Lower the learning rate, and look for "
            "non-finite weights or inputs."
        )
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return value


def autocast(device: torch.device) -> torch.autocast:
    """bf16 for the matrix products on a GPU that has it; float32 elsewhere."""
    return torch.autocast(
        device.type, torch.bfloat16, enabled=device.type == "cuda" and torch.cuda.is_bf16_supported()
    )


@dataclass
class History:
    """What a training run leaves: every step's loss, what each epoch measured, tokens and seconds."""

    losses: list[float] = field(default_factory=list)
    epochs: list[Any] = field(default_factory=list)
    tokens: int = 0  # padding not counted
    seconds: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


def fine_tune(
    model: TaskModel,
    features: Sequence[Mapping[str, Any]],
    recipe: Recipe,
    *,
    seed: int = 0,
    after_epoch: Callable[[], Any] | None = None,
    progress: bool = False,
) -> History:
    """Train a model in place by a recipe, on the device it is on, and leave it in evaluation mode.

    `seed` decides the order of the rows and the dropout, not the head, which the caller made. `after_epoch`
    is called after every epoch, and what it returns is kept; its time is not counted. Raises `ValueError`
    without features.
    """
    if not features:
        raise ValueError("There are no features to train on. Give at least one row.")
    torch.manual_seed(seed)
    rng, device, history = random.Random(seed), next(model.parameters()).device, History()
    optimizer = make_optimizer(model, recipe)
    steps = recipe.epochs * math.ceil(len(features) / recipe.batch_size)
    bar = tqdm(total=steps, disable=not progress, file=sys.stdout, unit="step")
    for _ in range(recipe.epochs):
        begin = time.perf_counter()
        for batch in batches(features, recipe.batch_size, rng):
            factor = warmup_then_decay(len(history.losses), steps, recipe.warmup)
            for group in optimizer.param_groups:
                group["lr"] = recipe.learning_rate * factor
            history.tokens += int(batch["attention_mask"].sum())
            history.losses.append(train_step(model, to(batch, device), optimizer, recipe.max_grad_norm))
            bar.update()
        history.seconds += time.perf_counter() - begin
        if after_epoch is not None:
            model.eval()
            history.epochs.append(after_epoch())
    bar.close()
    model.eval()
    return history


def to(batch: Mapping[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """The batch on a device."""
    return {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}


@torch.inference_mode()
def predict(model: TaskModel, features: Sequence[Mapping[str, Any]], batch_size: int = 32) -> list[Any]:
    """The scores of each row in evaluation mode, in float32 on the CPU, in the order given, padding cut off.

    (L,) for a `SequenceHead`, (S,L) for a `TokenHead`, (start (S,), end (S,)) for a `SpanHead`.
    """
    model.eval()
    device = next(model.parameters()).device
    order = sorted(range(len(features)), key=lambda row: len(features[row]["input_ids"]))
    scores: list[Any] = [None] * len(features)
    for first in range(0, len(order), batch_size):
        rows = order[first : first + batch_size]
        inputs = [{name: features[row][name] for name in INPUTS} for row in rows]
        with autocast(device):
            logits = model(**to(collate(inputs), device)).logits
        for place, row in enumerate(rows):
            scores[row] = _unpadded(logits, place, len(features[row]["input_ids"]))
    return scores


def _unpadded(logits: Any, place: int, length: int) -> Any:
    if isinstance(logits, tuple):
        return tuple(part[place, :length].float().cpu() for part in logits)
    return (logits[place, :length] if logits.dim() == 3 else logits[place]).float().cpu()


# --- several runs, and what moved ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Runs:
    """The scores of runs that differ in their seed alone."""

    scores: tuple[float, ...]
    collapsed: int  # runs that score what always naming one class scores

    @property
    def mean(self) -> float:
        return statistics.fmean(self.scores)

    @property
    def std(self) -> float:
        """Sample standard deviation (n − 1); 0 for a single run, which has none."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else 0.0

    @property
    def best(self) -> float:
        return max(self.scores)

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f} over {len(self.scores)} runs, {self.collapsed} collapsed"


def over_seeds(
    run: Callable[[int], float],
    seeds: Sequence[int],
    *,
    majority_rate: float | None = None,
    tolerance: float = 0.005,
) -> Runs:
    """Score several runs. `run(seed)` builds a model, trains it and returns its score; torch is seeded before
    it.

    With `majority_rate`, the share of the more frequent of two classes, runs within `tolerance` of it, or of
    1 − `majority_rate`, count as collapsed: they name one class only (Devlin et al. 2019, sec. 4.1, saw such
    runs).
    """
    if not seeds:
        raise ValueError("There are no seeds to run. Give at least one; three or more show a spread.")
    scores = []
    for seed in seeds:
        torch.manual_seed(seed)
        scores.append(run(seed))
    levels = [] if majority_rate is None else [majority_rate, 1 - majority_rate]
    collapsed = sum(any(abs(score - level) <= tolerance for level in levels) for score in scores)
    return Runs(tuple(scores), collapsed)


@torch.no_grad()
def relative_movement(before: nn.Module, after: nn.Module) -> dict[str, float]:
    """‖ΔW‖ / ‖W‖ of each part of an encoder: how far fine-tuning moved it from where pre-training left it.

    `before` is a copy made before training. Parts are the tables, the layers from 1 on, and the pooler if
    there is one. Raises `ValueError` when the two are not the same encoder.
    """
    old, new = dict(before.named_parameters()), dict(after.named_parameters())
    if {name: weight.shape for name, weight in old.items()} != {n: w.shape for n, w in new.items()}:
        raise ValueError("The two encoders have different weights: compare a copy made before training.")
    moved: dict[str, list[float]] = {}
    for name, weight in old.items():
        change, size = moved.setdefault(_part(name), [0.0, 0.0])
        change += float((new[name] - weight).double().square().sum())
        moved[_part(name)] = [change, size + float(weight.double().square().sum())]
    return {part: math.sqrt(change / size) if size else 0.0 for part, (change, size) in moved.items()}


def _part(name: str) -> str:
    """The part of the encoder that a parameter belongs to, by its name in `transformers`."""
    if match := re.search(r"layer\.(\d+)\.", name):
        return f"layer {int(match[1]) + 1}"
    tables = {"word_embeddings": "token table", "position_embeddings": "position table"}
    tables |= {"token_type_embeddings": "segment table", "LayerNorm": "embedding norm", "pooler": "pooler"}
    return next((part for key, part in tables.items() if key in name), name)
