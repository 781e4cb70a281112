"""One pre-training step, forward and backward: our model against `transformers`' `BertForPreTraining`.

    python benchmarks/pretraining_step.py --json pretraining_step.json

Same weights, same batch, no dropout, one thread, the two in turn. The difference is the MLM head: the reference
computes 30,522 logits for every position, ours for the predicted 15 %. Speed is in tokens per second of CPU time,
the median over rounds, so that a busy machine disturbs it little; memory is what a step adds to its process at the
peak, each measured in a process of its own. Losses and gradients must agree.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import torch
from transformers import BertConfig

from insidebert.pretraining import REFERENCE_NAMES, PretrainingModel, renamed

SHAPES = {  # layers, hidden, rows, positions; and how many times faster we mean to be
    "mini": ((4, 256, 16, 128), 2.5),
    "tiny": ((2, 128, 16, 128), 4.0),
    "base": ((12, 768, 4, 128), 1.3),
}
TOLERANCE = 1e-5


def models(layers: int, hidden: int) -> tuple[PretrainingModel, Any]:
    """Ours and the reference, with the same weights."""
    config = BertConfig(
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 64,
        intermediate_size=4 * hidden,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    torch.manual_seed(0)
    ours = PretrainingModel(config).train()
    return ours, ours.to_bert_for_pretraining()


def batch_of(rows: int, positions: int) -> dict[str, torch.Tensor]:
    """Random ids, every seventh position or so to be predicted."""
    g = torch.Generator().manual_seed(1)
    input_ids = torch.randint(1000, 30522, (rows, positions), generator=g)
    return {
        "input_ids": input_ids,
        "token_type_ids": (torch.arange(positions) >= positions // 2)
        .long()
        .expand(rows, positions)
        .contiguous(),
        "attention_mask": torch.ones_like(input_ids),
        "labels": torch.where(torch.rand(rows, positions, generator=g) < 0.15, input_ids, -100),
        "next_sentence_label": torch.randint(0, 2, (rows,), generator=g),
    }


def step(model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> float:
    """Forward and backward; returns the loss."""
    model.zero_grad(set_to_none=True)
    loss = model(**batch).loss
    loss.backward()
    return loss.item()


def differences(
    ours: PretrainingModel, reference: Any, batch: dict[str, torch.Tensor]
) -> tuple[float, float]:
    """The difference of the losses, and the largest between any two elements of the gradients."""
    loss = abs(step(ours, batch) - step(reference, batch))
    theirs = {name: p.grad for name, p in reference.named_parameters()}
    gradient = max(
        float((p.grad - theirs[renamed(name, REFERENCE_NAMES)]).abs().max())
        for name, p in ours.named_parameters()
        if p.grad is not None
    )
    return loss, gradient


def seconds(model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> float:
    start = time.process_time()
    step(model, batch)
    return time.process_time() - start


def added_memory(name: str, side: int) -> float:
    """Megabytes that a step adds to this process at its peak, looked up every millisecond."""
    torch.set_num_threads(1)
    (layers, hidden, rows, positions), _ = SHAPES[name]
    model = models(layers, hidden)[side]
    batch = batch_of(rows, positions)
    process, done, seen = psutil.Process(), threading.Event(), []

    def watch() -> None:
        while not done.wait(0.001):
            seen.append(process.memory_info().rss)

    before = process.memory_info().rss
    watcher = threading.Thread(target=watch)
    watcher.start()
    step(model, batch)
    done.set()
    watcher.join()
    return max(0, max(seen, default=before) - before) / 1e6


def compare(name: str, rounds: int) -> dict[str, float]:
    (layers, hidden, rows, positions), _ = SHAPES[name]
    sides = models(layers, hidden)
    batch = batch_of(rows, positions)
    loss_difference, gradient_difference = differences(*sides, batch)  # warms up as well
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for side, spent in zip(sides, times, strict=True):
            spent.append(seconds(side, batch))
    ours, reference = (rows * positions / statistics.median(spent) for spent in times)
    memory = []
    for side in (0, 1):
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            memory.append(fresh.apply(added_memory, (name, side)))
    return {
        "ours": ours,
        "reference": reference,
        "ratio": ours / reference,
        "loss_difference": loss_difference,
        "gradient_difference": gradient_difference,
        "ours_peak_mb": memory[0],
        "reference_peak_mb": memory[1],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each side (7)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures = {}
    print(f"{'':6}{'tokens per CPU second':>32}{'':>10}{'largest difference':>24}{'MB per step':>18}")
    print(
        f"{'':6}{'ours':>16}{'reference':>16}{'ratio':>10}{'loss':>12}{'gradient':>12}{'ours':>9}{'ref.':>9}"
    )
    for name, (_, wanted) in SHAPES.items():
        f = figures[name] = compare(name, options.rounds)
        print(
            f"{name:6}{f['ours']:>16,.0f}{f['reference']:>16,.0f}{f['ratio']:>9.2f}×"
            f"{f['loss_difference']:>12.1e}{f['gradient_difference']:>12.1e}"
            f"{f['ours_peak_mb']:>9,.0f}{f['reference_peak_mb']:>9,.0f}   aim {wanted}×",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(
        any(f[k] > TOLERANCE for f in figures.values() for k in ("loss_difference", "gradient_difference"))
    )


if __name__ == "__main__":
    sys.exit(main())
