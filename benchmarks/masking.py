"""Masking: from rows of a tokenised data set to a masked batch of 64 × 512, ours against what people use.

    python benchmarks/masking.py --json masking.json

token   `DataCollatorForLanguageModeling`
word    the same with `whole_word_mask=True`, which hides every picked word behind `[MASK]`; ours stays 80/10/10
span    a loop over spans, step by step what SpanBERT's code does (Joshi et al. 2020, sec. 3.1)

Both sides draw the same rows of the same `datasets.Dataset` through a `DataLoader`, in turn, with one thread; the
figures are medians, in tokens per second of CPU time. "From lists alone" leaves the data set out: both collators
get rows of Python lists that are in memory already. Memory is what a batch adds to the process, at its peak.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import multiprocessing
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import datasets
import numpy as np
import torch
import transformers
from torch.utils.data import DataLoader
from transformers import DataCollatorForLanguageModeling

from insidebert.masking import MaskingCollator
from insidebert.packing import pack_pair
from insidebert.rows import ArrowRows
from insidebert.sources import load_tokenizer

MODEL_INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
UNITS = ("token", "word", "span")
REFERENCE_READS = {
    "token": [*MODEL_INPUTS, "special_tokens_mask"],
    "word": [*MODEL_INPUTS, "special_tokens_mask", "offset_mapping"],
    "span": MODEL_INPUTS,
}


# ---- rows ------------------------------------------------------------------------------------------------


def tokenised_rows(tokenizer: Any, length: int, rows: int) -> datasets.Dataset:
    """`rows` rows `[CLS] A [SEP] B [SEP]`, all `length` long, of the prose that comes with Python.

    With `special_tokens_mask`, which makes the reference faster, and `offset_mapping`, which its words need.
    """
    text = "\n".join(topics[name] for name in sorted(topics))[: 8 * length * rows]
    encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    room, made = length - 3, []
    for i in range(rows):
        start = i * room % (len(encoding["input_ids"]) - room)
        ids, offsets = (encoding[name][start : start + room] for name in ("input_ids", "offset_mapping"))
        row = pack_pair(
            ids[: room // 2],
            ids[room // 2 :],
            cls_id=tokenizer.cls_token_id,
            sep_id=tokenizer.sep_token_id,
            max_length=length,
        )
        none = (0, 0)
        row["special_tokens_mask"] = [
            int(i in (tokenizer.cls_token_id, tokenizer.sep_token_id)) for i in row["input_ids"]
        ]
        row["offset_mapping"] = [none, *offsets[: room // 2], none, *offsets[room // 2 :], none]
        made.append(row)
    return datasets.Dataset.from_list(made)


# ---- references ------------------------------------------------------------------------------------------


class SpanLoop:
    """SpanBERT's masking as a collator: the steps and the draws of its code, one row and one span at a time.

    It picks an anchor and a length, takes whole words from the anchor's on, cuts the last span at the budget, merges
    spans that touch and gives each a fate. It leaves out SpanBERT's second objective and is spared its tensors of
    single tokens.
    """

    def __init__(self, tokenizer: Any, probability: float = 0.15, p: float = 0.2, longest: int = 10) -> None:
        self.pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        self.special, self.mask_id = set(tokenizer.all_special_ids), tokenizer.mask_token_id
        self.lengths = list(range(1, longest + 1))
        weights = [p * (1 - p) ** (length - 1) for length in self.lengths]
        self.weights = [weight / sum(weights) for weight in weights]
        self.probability = probability

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        masked = [self.mask(row["input_ids"]) for row in rows]
        columns = {name: [row[name] for row in rows] for name in MODEL_INPUTS[1:]}
        columns |= {"input_ids": [ids for ids, _ in masked], "labels": [labels for _, labels in masked]}
        return {
            name: self.padded(column, -100 if name == "labels" else 0) for name, column in columns.items()
        }

    @staticmethod
    def padded(column: list[list[int]], fill: int) -> torch.Tensor:
        batch = np.full((len(column), max(map(len, column))), fill)
        for b, row in enumerate(column):
            batch[b, : len(row)] = row
        return torch.from_numpy(batch)

    def mask(self, row: list[int]) -> tuple[list[int], list[int]]:
        """A row's ids and labels; each segment between special tokens is masked by itself."""
        ids, labels, begin = list(row), [-100] * len(row), 0
        for position, token in enumerate(row):
            if token in self.special:
                if position > begin:
                    self.mask_segment(ids, labels, begin, position)
                begin = position + 1
        if len(row) > begin:
            self.mask_segment(ids, labels, begin, len(row))
        return ids, labels

    def mask_segment(self, ids: list[int], labels: list[int], begin: int, end: int) -> None:
        wanted = math.ceil((end - begin) * self.probability)
        starts_word = [self.is_start_word(token) for token in ids[begin:end]]
        hidden: set[int] = set()
        spans = []
        while len(hidden) < wanted:
            words = np.random.choice(self.lengths, p=self.weights)
            anchor = begin + np.random.choice(end - begin)
            if anchor in hidden:
                continue
            left = anchor
            while left > begin and not starts_word[left - begin]:
                left -= 1
            right = last = left
            for _ in range(words):
                if right >= end or len(hidden) >= wanted:
                    break
                left, right = right, self.word_end(right - begin, starts_word) + begin
                for position in range(left, right):
                    if len(hidden) >= wanted:
                        break
                    hidden.add(position)
                    last = position
                spans.append([left, last])
        for first, last in self.merged(spans):
            fate = np.random.random()
            for position in range(first, last + 1):
                labels[position] = ids[position]
                if fate < 0.8:
                    ids[position] = self.mask_id
                elif fate < 0.9:
                    ids[position] = np.random.choice(len(self.pieces))

    def is_start_word(self, token: int) -> bool:
        return not self.pieces[token].startswith("##")

    @staticmethod
    def word_end(position: int, starts_word: list[bool]) -> int:
        position += 1
        while position < len(starts_word) and not starts_word[position]:
            position += 1
        return position

    @staticmethod
    def merged(spans: list[list[int]]) -> list[list[int]]:
        """Spans that touch or overlap become one."""
        result: list[list[int]] = []
        for first, last in sorted(spans):
            if result and first <= result[-1][1] + 1:
                result[-1][1] = max(result[-1][1], last)
            else:
                result.append([first, last])
        return result


def reference_collator(unit: str, tokenizer: Any) -> Callable[[Any], Any]:
    if unit == "span":
        return SpanLoop(tokenizer)
    with warnings.catch_warnings():  # it says that whole words are never replaced by random ones
        warnings.simplefilter("ignore")
        return DataCollatorForLanguageModeling(tokenizer, whole_word_mask=unit == "word")


# ---- measuring -------------------------------------------------------------------------------------------


def through_loader(rows: Any, collate: Callable[[Any], Any], batch_size: int) -> None:
    """One epoch of whole batches in random order."""
    order = torch.Generator().manual_seed(0)
    for _ in DataLoader(rows, batch_size, shuffle=True, drop_last=True, generator=order, collate_fn=collate):
        pass


def cpu_seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()  # one thread computes: what else the machine is doing does not count
    run()
    return time.process_time() - start


def in_turn(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median seconds of each run, all of them once per round; a round before the first warms up."""
    times = [{name: cpu_seconds(run) for name, run in runs.items()} for _ in range(rounds + 1)][1:]
    return {name: statistics.median(row[name] for row in times) for name in runs}


def peak_mb(rows: Any, collate: Callable[[Any], Any], batch_size: int) -> float:
    """MiB that one batch adds, at its peak, to a copy of this process that has made a batch of two. Linux only."""
    if sys.platform != "linux":
        return float("nan")
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        collate(rows.__getitems__([0, 1]))
        ctypes.CDLL(None).malloc_trim(0)  # free memory goes back, so that using it shows
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
        before = resident_kb("VmRSS")
        collate(rows.__getitems__(list(range(batch_size))))
        sender.send(resident_kb("VmHWM") - before)

    process = context.Process(target=child)
    process.start()
    grown = receiver.recv()
    process.join()
    return grown / 2**10


def resident_kb(line: str) -> int:
    status = dict(row.split(":", 1) for row in Path("/proc/self/status").read_text().splitlines())
    return int(status[line].split()[0])


def measure(
    unit: str, rows: datasets.Dataset, tokenizer: Any, batch_size: int, rounds: int
) -> dict[str, float]:
    """Tokens per second and peak MiB of both sides for one unit."""
    plain, theirs = rows.select_columns(MODEL_INPUTS), rows.select_columns(REFERENCE_READS[unit])
    sides = {
        "ours": (
            ArrowRows(plain),
            MaskingCollator(tokenizer, unit=unit, generator=torch.Generator().manual_seed(0)),
        ),
        "reference": (theirs, reference_collator(unit, tokenizer)),
    }
    peaks = {f"{name}_peak_mb": peak_mb(*side, batch_size) for name, side in sides.items()}
    runs = {name: partial(through_loader, *side, batch_size) for name, side in sides.items()}
    for name, (_, collate) in sides.items():
        lists = list((plain if name == "ours" else theirs).select(range(batch_size)))
        runs[f"{name}_from_lists"] = partial(collate, lists)
    speed = {name: batch_size * len(rows[0]["input_ids"]) / s for name, s in in_turn(runs, rounds).items()}
    for name in sides:  # these ran an epoch, the others one batch
        speed[name] *= len(rows) // batch_size
    return {**speed, "ratio": speed["ours"] / speed["reference"], **peaks}


def print_table(result: dict[str, dict[str, float]]) -> None:
    print("million tokens per second        from lists alone   peak MiB of a batch")
    print("          ours reference  ratio     ours reference     ours reference")
    for unit, row in result.items():
        speed = {name: value / 1e6 for name, value in row.items()}
        print(
            f"{unit:6}{speed['ours']:8.2f}{speed['reference']:10.2f}{row['ratio']:6.1f}×"
            f"{speed['ours_from_lists']:9.2f}{speed['reference_from_lists']:10.2f}"
            f"{row['ours_peak_mb']:9.1f}{row['reference_peak_mb']:10.1f}"
        )


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--length", type=int, default=512, help="tokens in a row")
    parser.add_argument("--batch-size", type=int, default=64, help="rows in a batch")
    parser.add_argument("--batches", type=int, default=6, help="batches in an epoch")
    parser.add_argument("--rounds", type=int, default=7, help="epochs, of which the median counts")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    tokenizer = load_tokenizer(offline=True)
    rows = tokenised_rows(tokenizer, options.length, options.batch_size * options.batches)
    result = {unit: measure(unit, rows, tokenizer, options.batch_size, options.rounds) for unit in UNITS}
    print_table(result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
