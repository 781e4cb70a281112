"""Fine-tuning on the sentiment set: padding to the longest row of a batch of similar rows, against padding to 128.

    python benchmarks/fine_tuning.py --json fine_tuning.json

Same encoder, recipe, seeds, optimizer and thread count; the two in turn, seed by seed. A token is a real one, padding
is not counted. On a CPU the speed is in tokens per second of CPU time, so that other work on the machine disturbs it
little; on a GPU it is in tokens per second. Accuracy is on the test set. Memory is what the tensors of the largest
training step take at their peak, beyond what is there before it: the gradients and the activations.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch

from insidebert.cost import peak_memory
from insidebert.decoding import accuracy
from insidebert.features import collate, sentence_features
from insidebert.finetuning import LAPTOP, Recipe, SequenceHead, TaskModel, fine_tune, predict, to
from insidebert.sources import load_data, load_encoder, load_tokenizer

PADDED = 128
AT_LEAST = 2.0

Rows = list[dict[str, Any]]


def padded(rows: Rows) -> Rows:
    """The same rows, each with padding to 128 of its own, so that no batch can be shorter."""
    fill = {"input_ids": 0, "token_type_ids": 0, "attention_mask": 0}
    return [
        {
            **row,
            **{name: [*row[name], *[pad] * (PADDED - len(row["input_ids"]))] for name, pad in fill.items()},
        }
        for row in rows
    ]


def new_model(seed: int, device: torch.device) -> TaskModel:
    torch.manual_seed(seed)
    encoder = load_encoder(offline=True)
    return TaskModel(encoder, SequenceHead(encoder.config.hidden_size, 2)).to(device)


def step_mb(rows: Rows, batch_size: int, device: torch.device) -> float:
    """Megabytes that the largest step holds at its peak: the batch of the longest rows."""
    longest = sorted(rows, key=lambda row: len(row["input_ids"]))[-batch_size:]
    model, batch = new_model(0, device).train(), to(collate(longest), device)
    with peak_memory(device) as peak:
        model(**batch).loss.backward()
    return peak[0] / 1e6


def run(
    seed: int, train: Rows, test: Rows, labels: list[int], recipe: Recipe, device: torch.device
) -> dict[str, float]:
    model = new_model(seed, device)
    begin = time.process_time()
    history = fine_tune(model, train, recipe, seed=seed)
    cpu_seconds = time.process_time() - begin
    busy = cpu_seconds if device.type == "cpu" else history.seconds
    return {
        "tokens_per_second": history.tokens / busy,
        "seconds": history.seconds,
        "cpu_seconds": cpu_seconds,
        "accuracy": accuracy(predict(model, test), labels),
    }


def measure(seeds: int, recipe: Recipe, device: torch.device) -> dict[str, Any]:
    data, tokenizer = load_data("sentiment", offline=True), load_tokenizer(offline=True)
    rows = {split: sentence_features(data[split], tokenizer, num_labels=2) for split in ("train", "test")}
    sides = {"ours": rows["train"], "reference": padded(rows["train"])}
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for seed in range(seeds):
        for name, train in sides.items():
            runs[name].append(run(seed, train, rows["test"], data["test"]["label"], recipe, device))
            shown = ", ".join(f"{key} {value:.3g}" for key, value in runs[name][-1].items())
            print(f"seed {seed}, {name}: {shown}", flush=True)
    result: dict[str, Any] = {}
    for name in sides:
        result[name] = statistics.median(one["tokens_per_second"] for one in runs[name])
        result[f"{name}_seconds"] = statistics.median(one["seconds"] for one in runs[name])
        result[f"{name}_accuracy"] = statistics.fmean(one["accuracy"] for one in runs[name])
        result[f"{name}_accuracies"] = [one["accuracy"] for one in runs[name]]
        result[f"{name}_peak_mb"] = step_mb(sides[name], recipe.batch_size, device)
    spreads = [statistics.stdev(result[f"{name}_accuracies"]) for name in sides] if seeds > 1 else [0.0]
    result["ratio"] = result["ours"] / result["reference"]
    result["accuracy_std"] = max(spreads)
    result["device"], result["threads"] = str(device), torch.get_num_threads()
    return result


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=LAPTOP["sentiment"].epochs)
    options = parser.parse_args(argv)
    laptop = LAPTOP["sentiment"]
    recipe = Recipe(laptop.batch_size, laptop.learning_rate, options.epochs)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    row = measure(options.seeds, recipe, device)
    print(f"\nsentiment, {recipe}, {device}, {row['threads']} threads")
    print("                         tokens/s   accuracy   peak MB of a step   seconds of a run")
    for name, words in (("ours", "similar lengths"), ("reference", f"padded to {PADDED}")):
        print(
            f"{words:20} {row[name]:12,.0f} {row[f'{name}_accuracy']:10.3f} {row[f'{name}_peak_mb']:19.0f}"
            f" {row[f'{name}_seconds']:18.0f}"
        )
    apart = abs(row["ours_accuracy"] - row["reference_accuracy"])
    print(f"{row['ratio']:.2f} times faster (at least {AT_LEAST:g} wanted);", end=" ")
    print(f"accuracies {apart:.3f} apart, standard deviation over seeds {row['accuracy_std']:.3f}")
    if options.json:
        options.json.write_text(json.dumps({"sentiment": row}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
