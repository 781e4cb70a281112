"""What a step of pre-training reads: documents as token ids, rows of an epoch, rows of a step."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from transformers import BertTokenizer

from insidebert.packing import length_batches, pack_pair
from insidebert.pairs import segment_pairs
from insidebert.pretraining_recipe import Recipe

Documents = list[list[list[int]]]  # sentences as token ids, without special tokens


def tokenize(documents: Sequence[Sequence[str]], tokenizer: Any) -> Documents:
    """Sentences as token ids, without special tokens; documents keep their shape."""
    flat = [sentence for document in documents for sentence in document]
    ids = iter(tokenizer(flat, add_special_tokens=False, verbose=False)["input_ids"] if flat else [])
    return [list(filter(None, itertools.islice(ids, len(document)))) for document in documents]


def corpus_vocabulary(documents: Documents, tokenizer: Any) -> BertTokenizer:
    """A tokenizer with the special tokens and those pieces of `tokenizer` that occur in the documents.

    It cuts these documents into the same pieces. A softmax over a third of the vocabulary costs a third, and
    pieces that never occur have nothing to learn; `PretrainingModel.widened` puts them back at the end.
    """
    used = {i for document in documents for sentence in document for i in sentence}
    pieces = tokenizer.convert_ids_to_tokens(sorted(used.union(tokenizer.all_special_ids)))
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    return BertTokenizer(vocab=vocabulary, model_max_length=tokenizer.model_max_length)


def renumber(documents: Documents, old: Any, new: Any) -> Documents:
    """The same pieces under the numbers of another tokenizer."""
    number = {old.convert_tokens_to_ids(piece): i for piece, i in new.get_vocab().items()}
    return [[[number[i] for i in sentence] for sentence in document] for document in documents]


def epoch_rows(documents: Documents, tokenizer: Any, recipe: Recipe, epoch: int) -> list[dict]:
    """The rows of one epoch: the pairs are drawn anew each time."""
    rng = random.Random(f"pairs {recipe.seed} {epoch}")
    length = recipe.length(epoch)
    ids = {"cls_id": tokenizer.cls_token_id, "sep_id": tokenizer.sep_token_id, "max_length": length}
    pairs = segment_pairs(documents, rng, tokens=length - 3, short_probability=recipe.short)
    return [{**pack_pair(a, b, **ids), "next_sentence_label": label} for a, b, label in pairs]


def step_rows(
    documents: Documents, tokenizer: Any, recipe: Recipe, rows_per_step: int, start: int
) -> Iterator[list[dict]]:
    """The rows of step `start`, `start` + 1 and so on without end; an incomplete batch is dropped.

    A step has `rows_per_step` rows of full length, or more of the shorter rows of the first epochs.
    """
    step = 0
    for epoch in itertools.count():
        rows = epoch_rows(documents, tokenizer, recipe, epoch)
        size = rows_per_step * max(1, recipe.max_length // recipe.length(epoch))  # about as many tokens
        if len(rows) < size:
            raise ValueError(
                f"The corpus makes {len(rows)} rows and a step needs {size}: "
                "lower --batch-size or --accumulation, or read more documents."
            )
        rng = random.Random(f"batches {recipe.seed} {epoch}")
        for batch in length_batches([len(row["input_ids"]) for row in rows], size, rng):
            if len(batch) == size:
                if step >= start:
                    yield [rows[i] for i in batch]
                step += 1
