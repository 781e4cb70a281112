"""From scores back to text: the best span, entities, answers, and what they are worth.

S positions of a row, L labels. Scores are logits; a higher one is better.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

Span = tuple[str, int, int]  # type, first word, last word


def accuracy(logits: Sequence[Tensor], labels: Sequence[int]) -> float:
    """The share of rows whose highest score, of (L,) each, is that of their label."""
    if len(logits) != len(labels) or not labels:
        raise ValueError(
            f"There are {len(logits)} rows of scores for {len(labels)} labels; one each is needed."
        )
    return sum(int(row.argmax()) == label for row, label in zip(logits, labels, strict=True)) / len(labels)


# --- entities -----------------------------------------------------------------------------------------------


def word_tags(
    logits: Tensor,
    labels: Sequence[int],
    words: int,
    names: Sequence[str],
    transitions: Tensor | None = None,
) -> list[str]:
    """One tag per word, from (S,L) at each position that carries a label, that is at each first piece.

    Without `transitions` the best tag of each word by itself; with them (`tag_transitions`) the best row of tags.
    Words that fell off the end of a truncated row are `O`.
    """
    scores = logits[[position for position, label in enumerate(labels) if label != -100]]  # (words,L)
    best = scores.argmax(-1).tolist() if transitions is None else best_path(scores, transitions)
    tags = [names[tag] for tag in best]
    return tags + ["O"] * (words - len(tags))


def tag_transitions(rows: Iterable[Sequence[int]], names: Sequence[str]) -> Tensor:
    """(L,L): log P(next tag | tag), counted on rows of training labels; −∞ where BIO forbids it.

    An `I-` may only follow a tag of its own type. Every pair that is allowed counts once more than it occurs. The ends
    of a row count as `O`: so they do in BIO, where no entity reaches over them. Raises `ValueError` unless `O` is the
    first name, and for a label that is no tag, such as the -100 of a later piece.
    """
    if not names or names[0] != "O":
        raise ValueError(
            f"The tags are {list(names)}; a row begins and ends as after an O, the first of them."
        )
    counts = torch.tensor(
        [[float(tag[0] != "I" or tag[2:] == before[2:]) for tag in names] for before in names]
    )
    for number, row in enumerate(rows):
        if odd := [int(tag) for tag in row if not 0 <= tag < len(names)]:
            raise ValueError(
                f"Row {number} has the label {odd[0]}; each is one word's, from 0 to {len(names) - 1}."
            )
        for before, tag in pairwise([0, *row, 0]):
            counts[before, tag] += 1
    return (counts / counts.sum(1, keepdim=True)).log()


def best_path(scores: Tensor, transitions: Tensor) -> list[int]:
    """The row of tags with the highest sum of log-probabilities, its words' and its transitions' (Viterbi 1967).

    `scores`: (words,L), made log-probabilities here; `transitions`: (L,L) from `tag_transitions`, whose first tag, `O`,
    stands at both ends. The head scores each word by itself; this is what it cannot say about neighbours. Raises
    `ValueError` when the two do not fit together.
    """
    L = len(transitions)
    if transitions.shape != (L, L) or scores.dim() != 2 or scores.shape[1] != L:
        raise ValueError(
            f"The scores are {tuple(scores.shape)} and the transitions {tuple(transitions.shape)}; "
            "they are (words,L) and (L,L), of the same L tags."
        )
    if not len(scores):
        return []
    first, *others = scores.float().log_softmax(-1)
    best, came_from = transitions[0] + first, []  # (L,): the best row so far that ends in each tag
    for word in others:
        best, previous = (best[:, None] + transitions).max(0)
        came_from.append(previous)
        best = best + word
    path = [int((best + transitions[:, 0]).argmax())]
    for previous in reversed(came_from):
        path.append(int(previous[path[-1]]))
    return path[::-1]


def entity_spans(tags: Sequence[str]) -> set[Span]:
    """The entities in a row of BIO tags: (type, first word, last word), the last one inclusive.

    An `I-` that continues no entity of its type opens one, as CoNLL's own scorer reads it.
    """
    spans: set[Span] = set()
    kind, first = "", 0
    for position, tag in enumerate([*tags, "O"]):
        prefix, _, tag_kind = tag.partition("-")
        if prefix not in ("B", "I", "O") or (prefix == "O") == bool(tag_kind):
            raise ValueError(
                f"Tag {position} is {tag!r}; a BIO tag is O, or B- or I- and a type, like B-PER."
            )
        if prefix == "I" and tag_kind == kind:
            continue
        if kind:
            spans.add((kind, first, position - 1))
        kind, first = tag_kind, position
    return spans


def entity_f1(
    true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> tuple[float, float, float]:
    """Precision, recall and F1 over all rows together; an entity counts when type, first and last word are
    right.

    0 where undefined. Raises `ValueError` when the rows do not pair up (Tjong Kim Sang and De Meulder 2003).
    """
    if [len(row) for row in true] != [len(row) for row in predicted]:
        raise ValueError("Every row needs one predicted tag for each of its words; the lengths differ.")
    pairs = [(entity_spans(t), entity_spans(p)) for t, p in zip(true, predicted, strict=True)]
    hits = sum(len(t & p) for t, p in pairs)
    wanted, found = sum(len(t) for t, _ in pairs), sum(len(p) for _, p in pairs)
    precision = hits / found if found else 0.0
    recall = hits / wanted if wanted else 0.0
    return precision, recall, 2 * hits / (wanted + found) if hits else 0.0


# --- answers ------------------------------------------------------------------------------------------------


def best_span(start: Tensor, end: Tensor, context: Tensor, max_length: int = 30) -> tuple[int, int]:
    """The span (i, j), both inclusive, with the highest start[i] + end[j].

    `start`, `end`: (S,) scores; `context`: (S,) bool, where an answer may begin and end. i ≤ j, at most
    `max_length` positions, the first (i, j) on a tie (Devlin et al. 2019, sec. 4.2). Raises `ValueError` when
    nothing qualifies.
    """
    start, end, context = torch.as_tensor(start), torch.as_tensor(end), torch.as_tensor(context).bool()
    if not start.shape == end.shape == context.shape or start.dim() != 1:
        raise ValueError(
            f"start, end and context are rows of one length; they are {tuple(start.shape)}, "
            f"{tuple(end.shape)} and {tuple(context.shape)}."
        )
    S = len(start)
    allowed = (
        torch.ones(S, S, dtype=torch.bool).triu().tril(max_length - 1).to(context.device)
    )  # i ≤ j < i + max
    allowed &= context[:, None] & context[None, :]
    if not allowed.any():
        raise ValueError(
            f"No span of 1 to {max_length} positions lies inside the context, "
            f"which is {int(context.sum())} of {S} positions."
        )
    scores = (start[:, None] + end[None, :])[allowed]  # row by row, the first of equals first
    i, j = allowed.nonzero()[scores.argmax()].tolist()
    return i, j


@dataclass(frozen=True)
class Answer:
    """The best answer of a passage, and how much better it scores than having none (`margin`, in logits)."""

    text: str
    start: int  # characters into the passage
    end: int
    margin: float

    def given(self, threshold: float = 0.0) -> str:
        """The answer, or "" when its margin is not above the threshold τ (Devlin et al. 2019, sec. 4.3)."""
        return self.text if self.margin > threshold else ""


def answers_from_windows(
    rows: Sequence[Mapping[str, Any]],
    windows: Sequence[Mapping[str, Any]],
    logits: Sequence[tuple[Tensor, Tensor]],
    max_length: int = 30,
) -> list[Answer]:
    """One answer per row out of the scores of its windows (`finetuning.answer_windows`).

    A passage has no answer to the degree that its most doubtful window says so: the score for none is the
    lowest start[0] + end[0] of its windows, that of an answer is the highest of its windows.
    """
    found: dict[int, tuple[float, int, int]] = {}
    none: dict[int, float] = {}
    for window, (start, end) in zip(windows, logits, strict=True):
        row, offsets = window["row"], window["offsets"]
        i, j = best_span(start, end, torch.tensor([offset is not None for offset in offsets]), max_length)
        candidate = (float(start[i] + end[j]), offsets[i][0], offsets[j][1])
        found[row] = max(found.get(row, candidate), candidate, key=lambda answer: answer[0])
        none[row] = min(none.get(row, float("inf")), float(start[0] + end[0]))
    missing = [index for index in range(len(rows)) if index not in found]
    if missing:
        raise ValueError(
            f"No window belongs to row {missing[0]}; decode the windows made from these very rows."
        )
    answers = []
    for index, row in enumerate(rows):
        score, first, last = found[index]
        answers.append(Answer(row["context"][first:last], first, last, score - none[index]))
    return answers


def normalise_answer(text: str) -> list[str]:
    """Lowercase words without punctuation and articles: what SQuAD compares (Rajpurkar et al. 2016, sec. 6.1)."""
    text = "".join(character for character in text.lower() if character not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def answer_scores(given: str, accepted: Sequence[str]) -> tuple[float, float]:
    """Exact match and F1 over words against the best of the accepted answers; none accepted means unanswerable."""
    words = normalise_answer(given)
    best_match = best_f1 = 0.0
    for gold in map(normalise_answer, accepted or [""]):
        common = sum((Counter(words) & Counter(gold)).values())
        match = float(words == gold)
        f1 = match if not words or not gold else 2 * common / (len(words) + len(gold))
        best_match, best_f1 = max(best_match, match), max(best_f1, f1)
    return best_match, best_f1


def question_scores(rows: Sequence[Mapping[str, Any]], given: Sequence[str]) -> dict[str, float]:
    """Means over all questions, and over those with and without an answer; "" says that there is none.

    Keys: `exact`, `f1`, `answerable_f1`, `unanswerable` (the share of unanswerable questions left
    unanswered).
    """
    if len(rows) != len(given) or not given:
        raise ValueError(f"There are {len(given)} answers for {len(rows)} questions; one each is needed.")
    scores = [
        (*answer_scores(text, row["answers"]["text"]), bool(row["answers"]["text"]))
        for row, text in zip(rows, given, strict=True)
    ]
    return {
        "exact": _mean(exact for exact, _, _ in scores),
        "f1": _mean(f1 for _, f1, _ in scores),
        "answerable_f1": _mean(f1 for _, f1, answerable in scores if answerable),
        "unanswerable": _mean(f1 for _, f1, answerable in scores if not answerable),
    }


def best_threshold(rows: Sequence[Mapping[str, Any]], answers: Sequence[Answer]) -> float:
    """The threshold τ with the highest F1 on these rows: take it from the validation set, never from the test set."""
    margins = sorted(answer.margin for answer in answers)
    between = [(low + high) / 2 for low, high in pairwise(margins)]
    candidates = [margins[0] - 1, *between, margins[-1] + 1]
    return max(
        candidates, key=lambda tau: question_scores(rows, [answer.given(tau) for answer in answers])["f1"]
    )


def overlap_baseline(context: str, question: str) -> str:
    """The sentence of the passage that shares most words with the question, the first on a tie: what to beat.

    It learns nothing and never says that there is no answer. Cutting the sentence down to the words nearest to those
    of the question, as sliding windows do (Richardson et al. 2013), scores less on the passages of this course.
    """
    asked = set(normalise_answer(question))
    sentences = re.split(r"(?<=[.!?;])\s+", context)
    return max(sentences, key=lambda sentence: len(asked & set(normalise_answer(sentence))))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
