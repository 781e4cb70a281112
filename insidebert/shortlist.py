"""Retrieve, then read: a passage cut down to the sentences nearest to the question.

N texts, S sequence, H hidden. An encoder tuned for sentence similarity, as the embedded one is, knows which sentence
speaks of what a question asks before it has seen one question; what a span head must still learn is where in that
sentence the answer stands. Min et al. 2018 (arXiv 1805.08092) show that few sentences are enough for most questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from insidebert.features import INPUTS, collate


@torch.inference_mode()
def sentence_vectors(
    texts: Sequence[str], tokenizer: Any, encoder: nn.Module, max_length: int = 256
) -> Tensor:
    """(N,H): one vector of length 1 for each text, the mean over its pieces (Reimers and Gurevych 2019, sec. 3).

    The encoder is put into evaluation mode. Raises `ValueError` without texts.
    """
    if not texts:
        raise ValueError("There are no texts to compare. Give at least one.")
    encoding = tokenizer(list(texts), truncation=True, max_length=max_length)
    batch = collate([{name: encoding[name][n] for name in INPUTS} for n in range(len(texts))])
    device = next(encoder.parameters()).device
    hidden = encoder.eval()(**{name: part.to(device) for name, part in batch.items()}).last_hidden_state
    mask = batch["attention_mask"].to(device)[..., None]  # (N,S,1)
    means = (hidden * mask).sum(1) / mask.sum(1)  # (N,H)
    return nn.functional.normalize(means.float(), dim=-1).cpu()


def shortlist(
    rows: Sequence[Mapping[str, Any]],
    tokenizer: Any,
    encoder: nn.Module,
    *,
    keep: int = 2,
    keep_answer: bool = False,
) -> list[dict[str, Any]]:
    """The rows with each passage cut down to the `keep` sentences most like its question, in their old order.

    `keep_answer=True`, for training, keeps the sentences of the first answer first of all; to do so on rows that are
    scored would be a peek. Answers move with their sentences, and those whose sentence is gone are dropped: score what
    is found against the rows as they were. Raises `ValueError` for `keep` below 1.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}; at least one sentence of a passage has to stay.")
    return [_shortened(row, tokenizer, encoder, keep, keep_answer) for row in rows]


def _shortened(
    row: Mapping[str, Any], tokenizer: Any, encoder: nn.Module, keep: int, keep_answer: bool
) -> dict[str, Any]:
    context, spans = row["context"], sentence_spans(row["context"])
    asked, *vectors = sentence_vectors(
        [row["question"], *(context[a:b] for a, b in spans)], tokenizer, encoder
    )
    nearest = sorted(range(len(spans)), key=lambda n: -float(vectors[n] @ asked))
    answers = list(zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True))
    first = _sentences_of(*answers[0], spans) if keep_answer and answers else []
    kept = sorted([*first, *(n for n in nearest if n not in first)][: max(keep, len(first))])
    moved = [(text, _moved(text, start, spans, kept)) for text, start in answers]
    return {
        **row,
        "context": "".join(context[slice(*spans[n])] for n in kept),
        "answers": {
            "text": [text for text, start in moved if start is not None],
            "answer_start": [start for _, start in moved if start is not None],
        },
    }


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The sentences of a text as characters, end exclusive: end to end, each with the white space behind it."""
    starts = [0, *(match.end() for match in re.finditer(r"[.!?;:]+[\"')]*\s+(?=\S)", text))]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _sentences_of(text: str, start: int, spans: Sequence[tuple[int, int]]) -> list[int]:
    """The sentences that an answer touches."""
    return [n for n, (a, b) in enumerate(spans) if a < start + len(text) and start < b]


def _moved(text: str, start: int, spans: Sequence[tuple[int, int]], kept: Sequence[int]) -> int | None:
    """Where an answer starts once only `kept` sentences are left, `None` when one of its own is gone."""
    own = _sentences_of(text, start, spans)
    if not set(own) <= set(kept):
        return None
    return start - sum(b - a for n, (a, b) in enumerate(spans) if n < own[0] and n not in kept)
