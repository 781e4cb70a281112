"""How much a hidden piece gives away, measured: with its siblings in sight, and with its whole word hidden.

B batch, S sequence, V vocabulary, K predicted positions, N probes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from insidebert.masking import continuation_table, cut_into_units, select_units, special_table
from insidebert.pretraining import PretrainingModel

ROWS = 64  # in one forward pass


def units_of(input_ids: Tensor, tokenizer: Any, unit: str = "word", **options: Any) -> Tensor:
    """(B,S) ids to (B,S) int32: the unit of each position, numbered from 1, 0 on special tokens.

    `options` go to `masking.cut_into_units`.
    """
    special = special_table(tokenizer)[input_ids]
    continues = continuation_table(tokenizer)[input_ids]
    return cut_into_units(~special, unit, continues=continues, **options)


def half_open(selected: Tensor, words: Tensor) -> int:
    """How many words have some pieces hidden and some in sight. `selected` (B,S) bool, `words` (B,S) numbers."""
    size = int(words.max()) + 1
    hidden = words[selected].flatten().bincount(minlength=size)
    return int(((hidden > 0) & (hidden < words.flatten().bincount(minlength=size)))[1:].sum())


def words_by_length(words: Tensor, selected: Tensor, longest: int = 5) -> dict[int, dict[str, int]]:
    """For words of 1, 2, … `longest` or more pieces: how many there are (`words`), are `hidden` and are `half_open`.

    words (B,S) their numbers, 0 on special tokens; selected (B,S) bool.
    """
    size = int(words.max()) + 1
    pieces = words.flatten().bincount(minlength=size)[1:]  # of each word
    hidden = words[selected].flatten().bincount(minlength=size)[1:]
    table = {}
    for length in range(1, longest + 1):
        these = pieces == length if length < longest else pieces >= length
        table[length] = {
            "words": int(these.sum()),
            "hidden": int((these & (hidden == pieces)).sum()),
            "half_open": int((these & (hidden > 0) & (hidden < pieces)).sum()),
        }
    return table


@dataclass(frozen=True)
class Probe:
    """One row and one piece of it to guess, hidden in three ways."""

    input_ids: list[int]
    position: int  # of the piece to guess
    word: list[int]  # positions of its whole word, its own among them
    elsewhere: list[int]  # as many positions as the word has siblings, in other words


def rows_of(sentences: Sequence[str], tokenizer: Any, longest: int) -> tuple[Tensor, Tensor]:
    """(N,S) ids and attention mask of the sentences that fit `longest` ids. ValueError where none does."""
    ids = [row for row in tokenizer(list(sentences), verbose=False)["input_ids"] if len(row) <= longest]
    if not ids:
        raise ValueError(f"None of {len(sentences)} sentences has at most {longest} ids: raise `longest`.")
    batch = tokenizer.pad({"input_ids": ids}, return_tensors="pt")
    return batch["input_ids"], batch["attention_mask"]


def probes(sentences: Sequence[str], tokenizer: Any, rng: random.Random, *, longest: int = 48) -> list[Probe]:
    """For each sentence with a word of three pieces or more: one such word, one of its pieces.

    Sentences of fewer than eight words or more than `longest` ids say too little or take too long, and are left out.
    """
    found = []
    rows, mask = rows_of(sentences, tokenizer, longest)
    for ids, numbers, size in zip(
        rows.tolist(), units_of(rows, tokenizer).tolist(), mask.sum(1).tolist(), strict=True
    ):
        words: dict[int, list[int]] = {}
        for position, number in enumerate(numbers):
            if number:
                words.setdefault(number, []).append(position)
        long = [word for word in words.values() if len(word) >= 3]
        if not long or len(words) < 8:
            continue
        word = rng.choice(long)
        others = [i for other in words.values() if other is not word for i in other]
        elsewhere = rng.sample(others, min(len(word) - 1, len(others)))
        found.append(Probe(ids[:size], rng.choice(word), word, elsewhere))
    return found


def siblings_experiment(model: PretrainingModel, tokenizer: Any, cases: Sequence[Probe]) -> dict[str, float]:
    """Top-1 accuracy on the same N pieces, hidden alone, with other pieces, and with their whole word.

    "elsewhere" hides as many pieces as the whole word has, and leaves the siblings in sight: what separates it
    from "whole word" is not how much is hidden.
    """
    hidden = {
        "alone": [[case.position] for case in cases],
        "elsewhere": [[case.position, *case.elsewhere] for case in cases],
        "whole word": [case.word for case in cases],
    }
    batch = tokenizer.pad({"input_ids": [case.input_ids for case in cases]}, return_tensors="pt")
    ids, mask = batch["input_ids"], batch["attention_mask"]  # (N,S)
    target = torch.zeros_like(ids, dtype=torch.bool)
    target[torch.arange(len(cases)), torch.tensor([case.position for case in cases])] = True
    accuracy = {}
    for name, blanks in hidden.items():
        masked = ids.clone()
        for row, places in enumerate(blanks):
            masked[row, places] = tokenizer.mask_token_id
        accuracy[name] = score(model, masked, mask, target, ids[target])["top1"]
    return accuracy


def unit_experiment(
    model: PretrainingModel,
    tokenizer: Any,
    sentences: Sequence[str],
    unit: str,
    *,
    probability: float = 0.15,
    longest: int = 48,
    seed: int = 0,
) -> dict[str, float]:
    """Hides units of `sentences` and lets the model guess, every selected piece replaced by [MASK].

    Returns `hidden` (pieces), `share` (of the maskable pieces), `half_open` (words), `top1` and `loss` (mean, nats).
    """
    generator = torch.Generator().manual_seed(seed)
    ids, mask = rows_of(sentences, tokenizer, longest)  # (N,S)
    words = units_of(ids, tokenizer)
    units = units_of(ids, tokenizer, unit, generator=generator)
    selected = select_units(units, probability=probability, generator=generator)
    masked = ids.masked_fill(selected, tokenizer.mask_token_id)
    K = int(selected.sum())
    return {
        "hidden": K,
        "share": K / int((words > 0).sum()),
        "half_open": half_open(selected, words),
        **score(model, masked, mask, selected, ids[selected]),
    }


def score(
    model: PretrainingModel, masked: Tensor, mask: Tensor, positions: Tensor, true: Tensor
) -> dict[str, float]:
    """`top1` and mean `loss` (nats) at `positions` (N,S) bool of the rows `masked`; `true` (K,) in row-major order."""
    device = model.token_table.device
    right, loss, done = 0, 0.0, 0
    for start in range(0, len(masked), ROWS):
        part = slice(start, start + ROWS)
        S = int(mask[part].sum(1).max())
        rows, attend, at = (x[part, :S].to(device) for x in (masked, mask, positions))
        logits = model.predict(rows, at, attention_mask=attend)  # (K,V)
        wanted = true[done : done + len(logits)].to(device)
        right += int((logits.argmax(-1) == wanted).sum())
        loss += float(torch.nn.functional.cross_entropy(logits, wanted, reduction="sum"))
        done += len(logits)
    return {"top1": right / len(true), "loss": loss / len(true)}


def fill_blanks(
    model: PretrainingModel, tokenizer: Any, input_ids: Sequence[int], blanks: Sequence[int], k: int = 3
) -> list[list[tuple[str, float]]]:
    """The k best guesses (piece, probability) for each blank, all blanks replaced by [MASK] at once.

    ValueError for a row longer than the position table.
    """
    if not blanks:
        return []
    device = model.token_table.device
    ids = torch.tensor([list(input_ids)], device=device)
    at = torch.zeros_like(ids, dtype=torch.bool)
    at[0, list(blanks)] = True
    ids[at] = tokenizer.mask_token_id
    best = model.predict(ids, at).softmax(-1).topk(k)
    in_order = [
        list(zip(tokenizer.convert_ids_to_tokens(pieces), shares, strict=True))
        for pieces, shares in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    return [in_order[sorted(blanks).index(blank)] for blank in blanks]
