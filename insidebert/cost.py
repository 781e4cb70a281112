"""What BERT costs: floating-point operations, memory, and how much of a batch teaches anything.

Shapes: B batch, S sequence length, H hidden, I intermediate (4H in BERT), V vocabulary.
"""

from __future__ import annotations

import statistics
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from tqdm import tqdm

from insidebert.masking import prediction_budget

BYTES_PER_PARAMETER = 16  # fp32: the weight, its gradient and Adam's two moments, 4 bytes each


@dataclass(frozen=True)
class PretrainingRun:
    """How long a model was pre-trained, and on what."""

    batch: int  # sequences in a step
    length: int  # tokens in a sequence
    steps: int
    corpus_words: int
    short_length: int  # tokens in a sequence at the beginning …
    short_share: float  # … for this share of the steps
    days: float
    chips: int


# Devlin et al. 2019, App. A.2; the corpus (BooksCorpus 800M and English Wikipedia 2,500M words) in sec. 3.1.
# The paper rounds 256 · 512 to 128,000 tokens a step and speaks of about 40 passes over the corpus: that takes words
# for tokens, and all steps for long ones.
BERT_BASE = PretrainingRun(256, 512, 1_000_000, 3_300_000_000, 128, 0.9, days=4, chips=16)
BERT_LARGE = PretrainingRun(256, 512, 1_000_000, 3_300_000_000, 128, 0.9, days=4, chips=64)


# ---- closed forms ----------------------------------------------------------------------------------------


def encoder_flops(length: int, hidden: int, intermediate: int, layers: int) -> tuple[int, int]:
    """Operations of the forward pass of one sequence: `(linear, attention)`; a multiply-add counts 2.

    Linear: query, key, value and output (four times S·H·H) and the two feed-forward projections (twice S·H·I).
    Attention: the scores and the weighted sum (twice S·S·H, all heads together). Biases, LayerNorm, softmax and
    GELU are left out, they are under one per cent.
    """
    linear = layers * 2 * length * (4 * hidden * hidden + 2 * hidden * intermediate)
    attention = layers * 2 * (2 * length * length * hidden)
    return linear, attention


def equal_length(hidden: int, intermediate: int) -> int:
    """The length at which attention costs as much as the linear layers, S = 2H + I: 4,608 for BERT-base."""
    return 2 * hidden + intermediate


def training_flops(length: int, hidden: int, intermediate: int, layers: int) -> int:
    """Operations of one sequence's training step in the encoder: backward costs twice the forward pass."""
    return 3 * sum(encoder_flops(length, hidden, intermediate, layers))


def training_memory(parameters: int) -> float:
    """GiB (2³⁰ bytes) for weights, gradients and Adam's two moments in fp32, before any activation."""
    return parameters * BYTES_PER_PARAMETER / 2**30


def pretraining_tokens(batch: int, length: int, steps: int) -> int:
    """Tokens read in `steps` steps of `batch` sequences of `length` tokens."""
    return batch * length * steps


def predicted_fraction(length: int, probability: float = 0.15, cap: int | None = 20) -> float:
    """The share of a row's positions that give a training signal: 15 %, or 3.9 % at 512 under a cap of 20.

    `cap` is `max_predictions_per_seq` of google-research/bert, 20 by default there.
    """
    if length < 1:
        raise ValueError(f"A row of {length} tokens has no positions to predict; give a length of 1 or more.")
    return prediction_budget(length, probability, cap) / length


# ---- measured --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """A forward pass at one length: median seconds, and the bytes it holds at its peak beyond the weights."""

    length: int
    seconds: float
    peak_bytes: int


def measure_lengths(
    model: nn.Module, lengths: Sequence[int], *, batch: int = 1, repeats: int = 3, progress: bool = False
) -> list[Measured]:
    """Time and memory of a `transformers` encoder's forward pass on random ids (B,S), S each of `lengths`.

    On its own device, in evaluation mode, without gradients. Attention's memory grows with S² where the model
    keeps the scores (`attn_implementation="eager"`) and with S where a fused kernel does not ("sdpa").
    Raises `ValueError` for a length the position table does not reach.
    """
    config: Any = model.config
    for length in lengths:
        if not 1 <= length <= config.max_position_embeddings:
            raise ValueError(
                f"Length {length}: the model has positions 1 to {config.max_position_embeddings}. Give shorter "
                "lengths, or build a model from a configuration with more `max_position_embeddings`."
            )
    device, generator, was_training = (
        next(model.parameters()).device,
        torch.Generator().manual_seed(0),
        model.training,
    )
    model.eval()
    measured = []
    with torch.inference_mode():
        for length in tqdm(lengths, desc="lengths", disable=not progress):
            ids = torch.randint(config.vocab_size, (batch, length), generator=generator).to(device)
            with peak_memory(device) as peak:  # also warms up
                model(ids)
            seconds = statistics.median(_seconds(model, ids) for _ in range(repeats))
            measured.append(Measured(length, seconds, peak[0]))
    model.train(was_training)
    return measured


def _seconds(model: nn.Module, ids: Tensor) -> float:
    _wait(ids.device)
    start = time.perf_counter()
    model(ids)
    _wait(ids.device)
    return time.perf_counter() - start


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@contextmanager
def peak_memory(device: torch.device) -> Iterator[list[int]]:
    """A list that holds, once the block is left, the bytes it had allocated at its peak."""
    result: list[int] = []
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        yield result
        result.append(torch.cuda.max_memory_allocated(device) - before)
    else:
        with _LiveTensors() as tensors:
            yield result
        result.append(tensors.peak)


class _LiveTensors(TorchDispatchMode):
    """Adds up the tensors that operations create and still hold; a kernel's own scratch space stays unseen.

    The operating system's figure would not do: memory that is free in the process hides what is used again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = operation(*args, **(kwargs or {}))
        given = {x.untyped_storage().data_ptr() for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        for tensor in tree_leaves(output):
            if isinstance(tensor, Tensor):
                storage = tensor.untyped_storage()
                if storage.data_ptr() not in given:  # else a view, or changed in place
                    self.now += storage.nbytes()
                    weakref.finalize(storage, self._freed, storage.nbytes()).atexit = False
        self.peak = max(self.peak, self.now)
        return output

    def _freed(self, size: int) -> None:
        self.now -= size
