"""The three benchmarks on a machine with a GPU: bert-base shapes, bf16, against the chip's peak.

    python benchmarks/gpu.py --json gpu.json

masking       rows of a data set to a masked batch on the device, ours and the usual collators; and masked there
pretraining   a step of ours and of `BertForPreTraining`, same weights, same batch
fine_tuning   real tokens per second, batches of similar length and every row padded to 128

Needs no network, takes a few minutes. Speeds are medians of runs in turn. `utilisation` is the share of the peak
that useful operations reach: multiplications of the encoder and of the heads where they are needed, three times
(forward once, backward twice), none for padding and none for logits that no loss reads. `peak_gib` is all the device
holds at the worst moment of a step: weights, gradients, Adam's moments and activations.
`--device cpu --small` goes the same way with tiny shapes and tells nothing about speed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from fine_tuning import padded
from masking import MODEL_INPUTS, REFERENCE_READS, UNITS, reference_collator, tokenised_rows
from pretraining_step import batch_of, differences, models
from torch import Tensor, nn
from torch.utils.data import DataLoader
from transformers import BertConfig, BertModel

from insidebert.configs import published
from insidebert.cost import peak_memory, training_flops
from insidebert.features import sentence_features
from insidebert.finetuning import Recipe, SequenceHead, TaskModel, fine_tune, make_optimizer, to, train_step
from insidebert.masking import (
    MaskingCollator,
    continuation_table,
    corrupt,
    cut_into_units,
    select_units,
    special_table,
)
from insidebert.rows import ArrowRows
from insidebert.sources import load_data, load_tokenizer

# Dense bf16 matrix products, FLOP/s, by the makers' data sheets; the first name that occurs in the device's counts.
PEAKS = {
    "B200": 2250e12,
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "L4": 121e12,
    "A10": 125e12,
    "RTX 4090": 165e12,
}


@dataclass(frozen=True)
class Scale:
    """What is measured: bert-base, or shapes for a test on a CPU."""

    config: BertConfig = field(default_factory=lambda: published("bert-base-uncased"))
    mask: tuple[int, int] = (64, 512)  # rows in a batch, tokens in a row
    steps: tuple[tuple[int, int], ...] = (
        (256, 128),
        (64, 512),
    )  # the paper's first 90 % of steps, and the rest
    batch_sizes: tuple[int, ...] = (32, 256)
    copies: int = 8  # of the sentiment set's 400 training rows
    rounds: int = 10
    matmul: int = 8192


def small() -> Scale:
    config = BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=1, intermediate_size=256)
    return Scale(config, mask=(4, 64), steps=((4, 32),), batch_sizes=(32,), copies=1, rounds=1, matmul=256)


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def in_turn(runs: dict[str, Callable[[], Any]], device: torch.device, rounds: int) -> dict[str, float]:
    """Median seconds of each run, all of them once per round, after a round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            wait(device)
            start = time.perf_counter()
            run()
            wait(device)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values[1:]) for name, values in times.items()}


def peak_flops(device: torch.device, size: int) -> tuple[float, str]:
    """FLOP/s of the chip for dense bf16 products, and where the figure is from."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    for known, peak in PEAKS.items():
        if known in name:
            return peak, "data sheet"
    a = torch.randn(size, size, device=device, dtype=torch.bfloat16)
    return 2 * size**3 / in_turn({"matmul": lambda: a @ a}, device, 10)[
        "matmul"
    ], f"measured, {size}³ product"


def peak_gib(run: Callable[[], Any], device: torch.device) -> float:
    """GiB held at the worst moment of `run`; on a CPU only what `run` itself adds."""
    held = torch.cuda.memory_allocated(device) if device.type == "cuda" else 0
    with peak_memory(device) as peak:
        run()
    return (held + peak[0]) / 2**30


# ---- masking ---------------------------------------------------------------------------------------------


def masking(scale: Scale, device: torch.device) -> dict[str, Any]:
    """Tokens per second from rows to a batch on the device, and of masking alone on the device."""
    tokenizer = load_tokenizer(offline=True)
    B, S = scale.mask
    rows = tokenised_rows(tokenizer, S, 4 * B)
    special, continues = special_table(tokenizer).to(device), continuation_table(tokenizer).to(device)
    generator = torch.Generator(device).manual_seed(0)

    def load(data: Any, collate: Callable[[Any], Any]) -> None:
        for batch in DataLoader(data, B, collate_fn=collate, pin_memory=device.type == "cuda"):
            to(batch, device)

    def mask_there(ids: Tensor, unit: str) -> None:
        units = cut_into_units(~special[ids], unit, continues=continues[ids], generator=generator)
        selected = select_units(units, generator=generator)
        per = "span" if unit == "span" else "piece"
        corrupt(
            ids,
            selected,
            mask_token_id=tokenizer.mask_token_id,
            vocab_size=len(tokenizer),
            per=per,
            units=units,
            generator=generator,
        )

    ids = torch.tensor(rows[:B]["input_ids"], device=device)
    plain, result = ArrowRows(rows.select_columns(MODEL_INPUTS)), {}
    for unit in UNITS:
        runs = {
            "ours": partial(load, plain, MaskingCollator(tokenizer, unit=unit)),
            "reference": partial(
                load, rows.select_columns(REFERENCE_READS[unit]), reference_collator(unit, tokenizer)
            ),
            "on_device": partial(mask_there, ids, unit),
        }
        tokens = {"ours": len(rows) * S, "reference": len(rows) * S, "on_device": B * S}
        speed = {name: tokens[name] / s for name, s in in_turn(runs, device, min(scale.rounds, 3)).items()}
        result[unit] = {**speed, "ratio": speed["ours"] / speed["reference"]}
    return result


# ---- pre-training ----------------------------------------------------------------------------------------


def head_flops(config: BertConfig, B: int, K: int) -> int:
    """Operations of one forward pass of pooler, MLM head at K positions and NSP head."""
    H, V = config.hidden_size, config.vocab_size
    return 2 * K * (H * H + H * V) + 2 * B * (H * H + 2 * H)


def encoder_training(config: BertConfig, length: int) -> int:
    return training_flops(length, config.hidden_size, config.intermediate_size, config.num_hidden_layers)


def pretraining(scale: Scale, device: torch.device, peak: float) -> dict[str, Any]:
    """Training steps of both models, bf16 autocast and AdamW, no dropout; the difference of losses is in fp32."""
    config, result = scale.config, {}
    for B, S in scale.steps:
        pair = models(config.num_hidden_layers, config.hidden_size)
        sides = dict(zip(("ours", "reference"), (model.to(device) for model in pair), strict=True))
        batch = to(batch_of(B, S), device)
        loss_difference, gradient_difference = differences(*pair, batch)
        K = int((batch["labels"] != -100).sum())
        flops = B * encoder_training(config, S) + 3 * head_flops(config, B, K)
        seconds, peaks = steps_in_turn(sides, batch, device, scale.rounds)
        result[f"{B}x{S}"] = {
            **{name: B * S / seconds[name] for name in sides},
            "ratio": seconds["reference"] / seconds["ours"],
            "loss_difference": loss_difference,
            "gradient_difference": gradient_difference,
            **{f"{name}_utilisation": flops / seconds[name] / peak for name in sides},
            **{f"{name}_peak_gib": peaks[name] for name in sides},
        }
    return result


def steps_in_turn(
    sides: dict[str, nn.Module], batch: dict[str, Tensor], device: torch.device, rounds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of a training step, then GiB at its peak with one model on the device at a time."""
    recipe = Recipe()
    runs = {
        name: partial(train_step, model, batch, make_optimizer(model, recipe))
        for name, model in sides.items()
    }
    seconds, peaks = in_turn(runs, device, rounds), {}
    runs.clear()
    for model in sides.values():
        model.zero_grad()
        model.to("cpu")
    for name, model in sides.items():
        optimizer = make_optimizer(model.to(device), recipe)
        train_step(model, batch, optimizer)
        peaks[name] = peak_gib(partial(train_step, model, batch, optimizer), device)
        del optimizer
        model.zero_grad()
        model.to("cpu")
    return seconds, peaks


# ---- fine-tuning -----------------------------------------------------------------------------------------


def fine_tuning(scale: Scale, device: torch.device, peak: float) -> dict[str, Any]:
    """An epoch on the sentiment set's sentences, several times over, from random weights: speed needs no others."""
    tokenizer = load_tokenizer(offline=True)
    rows = list(load_data("sentiment", offline=True)["train"]) * scale.copies
    features = sentence_features(rows, tokenizer, num_labels=2)
    flops = sum(encoder_training(scale.config, len(row["input_ids"])) for row in features)
    result = {}
    for batch_size in scale.batch_sizes:
        torch.manual_seed(0)
        encoder = BertModel(scale.config, add_pooling_layer=False)
        model = TaskModel(encoder, SequenceHead(scale.config.hidden_size, 2)).to(device)
        train = partial(fine_tune, model, recipe=Recipe(batch_size=batch_size, epochs=1))
        runs = {"ours": partial(train, features), "reference": partial(train, padded(features))}
        seconds = in_turn(runs, device, min(scale.rounds, 3))
        tokens = sum(len(row["input_ids"]) for row in features)
        result[f"batch {batch_size}"] = {
            **{name: tokens / seconds[name] for name in runs},
            "ratio": seconds["reference"] / seconds["ours"],
            **{f"{name}_utilisation": flops / seconds[name] / peak for name in runs},
            **{f"{name}_peak_gib": peak_gib(run, device) for name, run in runs.items()},
        }
    return result


# ---- the whole -------------------------------------------------------------------------------------------


def measure(scale: Scale, device: torch.device) -> dict[str, Any]:
    start = time.perf_counter()
    peak, source = peak_flops(device, scale.matmul)
    result: dict[str, Any] = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "torch": torch.__version__,
        "peak_flops": peak,
        "peak_source": source,
        "masking": masking(scale, device),
        "pretraining": pretraining(scale, device, peak),
        "fine_tuning": fine_tuning(scale, device, peak),
    }
    return {**result, "seconds": time.perf_counter() - start}


def lines(result: dict[str, Any]) -> Iterator[str]:
    yield f"{result['device']}, torch {result['torch']}, peak {result['peak_flops'] / 1e12:.1f} TFLOP/s bf16"
    yield f"({result['peak_source']}); {result['seconds']:.0f} s in all. Tokens per second:"
    yield f"{'':24}{'ours':>14}{'reference':>14}{'ratio':>8}  utilisation      peak GiB"
    for part in ("masking", "pretraining", "fine_tuning"):
        for name, row in result[part].items():
            line = f"{part:12}{name:12}{row['ours']:14,.0f}{row['reference']:14,.0f}{row['ratio']:7.2f}×"
            if "ours_utilisation" in row:
                line += "".join(f"{row[f'{side}_utilisation']:7.1%}" for side in ("ours", "reference")) + "  "
                line += "".join(f"{row[f'{side}_peak_gib']:8.2f}" for side in ("ours", "reference"))
            else:
                line += f"  on the device {row['on_device']:,.0f}"
            yield line


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1 … or cpu")
    parser.add_argument("--small", action="store_true", help="tiny shapes, to try the benchmark itself")
    options = parser.parse_args(argv)
    device = torch.device(options.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print(
            "This benchmark is for a machine with a GPU, and torch finds none here. The others in this folder are "
            "for CPUs; `--device cpu --small` tries this one without measuring anything of worth.",
            file=sys.stderr,
        )
        return 2
    transformers.logging.set_verbosity_error()
    result = measure(small() if options.small else Scale(), device)
    print("\n".join(lines(result)))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
