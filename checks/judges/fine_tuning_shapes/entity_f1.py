"""`entity_f1`: precision and recall over whole entities, and over something else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from checks.judges.containers import tuple_of
from checks.judges.fine_tuning_shapes.spans import RULES, Spans, Tags, each, spans
from checks.judges.kinds import number
from checks.judges.values import Mistake, RaisedMistake, ValueJudge

Scores = tuple[float, float, float]
Corpus = Sequence[Tags]


def rates(hits: int, wanted: int, found: int, undefined: float = 0.0) -> Scores:
    precision = hits / found if found else undefined
    recall = hits / wanted if wanted else undefined
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else undefined


def counted(pairs: Iterable[tuple[set[Any], set[Any]]]) -> tuple[int, int, int]:
    """(hits, wanted, found) over all pairs of sets."""
    counts = [(len(true & found), len(true), len(found)) for true, found in pairs] or [(0, 0, 0)]
    hits, wanted, found = (sum(column) for column in zip(*counts, strict=True))
    return hits, wanted, found


def entity_f1(true: Corpus, predicted: Corpus, find: Spans = spans, undefined: float = 0.0) -> Scores:
    return rates(*counted((find(t), find(p)) for t, p in zip(true, predicted, strict=True)), undefined)


def over(find: Spans, **changed: Any) -> Callable[[Corpus, Corpus], Scores]:
    """The scores of entities that are found in another way."""
    return lambda true, predicted: entity_f1(true, predicted, find, **changed)


def then(change: Callable[..., Scores]) -> Callable[[Corpus, Corpus], Scores]:
    """The right scores, changed."""
    return lambda true, predicted: change(*entity_f1(true, predicted))


def _averaged(scores: Sequence[Scores]) -> Scores:
    if not scores:
        return 0.0, 0.0, 0.0
    precision, recall, f1 = (math.fsum(column) / len(scores) for column in zip(*scores, strict=True))
    return precision, recall, f1


def _by_sentence(true: Corpus, predicted: Corpus) -> Scores:
    return _averaged([entity_f1([t], [p]) for t, p in zip(true, predicted, strict=True)])


def _by_type(true: Corpus, predicted: Corpus) -> Scores:
    types = sorted({span[0] for tags in (*true, *predicted) for span in spans(tags)})
    only = [lambda tags, it=it: {span for span in spans(tags) if span[0] == it} for it in types]
    return _averaged([entity_f1(true, predicted, find) for find in only])


def _pooled(true: Corpus, predicted: Corpus) -> Scores:
    all_true, all_found = (set().union(*map(spans, rows)) for rows in (true, predicted))
    return rates(*counted([(all_true, all_found)]))


def _joined(true: Corpus, predicted: Corpus) -> Scores:
    return entity_f1([[tag for row in true for tag in row]], [[tag for row in predicted for tag in row]])


def _with_entities_only(true: Corpus, predicted: Corpus) -> Scores:
    pairs = [(t, p) for t, p in zip(true, predicted, strict=True) if spans(t)]
    return entity_f1([t for t, _ in pairs], [p for _, p in pairs])


def _overlapping(true: Corpus, predicted: Corpus) -> Scores:
    hits = wanted = found = 0
    for t, p in zip(map(spans, true), map(spans, predicted), strict=True):
        hits += sum(any(a[0] == b[0] and a[1] <= b[2] and b[1] <= a[2] for a in t) for b in p)
        wanted, found = wanted + len(t), found + len(p)
    return rates(hits, wanted, found)


def _accuracy(true: Corpus, predicted: Corpus, skip: str = "") -> Scores:
    rows = zip(true, predicted, strict=True)
    pairs = [pair for t, p in rows for pair in zip(t, p, strict=True) if pair[0] != skip]
    share = sum(t == p for t, p in pairs) / len(pairs) if pairs else 0.0
    return share, share, share


def _tagged_words(tags: Tags) -> set[Any]:
    return {(position, tag) for position, tag in enumerate(tags) if tag != "O"}


MISTAKES = (
    Mistake(
        "precision_and_recall_swapped",
        "Precision and recall are exchanged; F1 hides it. Precision divides by what was predicted.",
        then(lambda p, r, f: (r, p, f)),
    ),
    Mistake(
        "accuracy_of_tags",
        "This is a share of words with the right tag. Count whole entities: most words are `O`.",
        _accuracy,
        lambda true, predicted: _accuracy(true, predicted, "O"),
    ),
    Mistake(
        "tags_for_entities",
        "Single tags were counted. An entity is right as a whole or not at all: compare the spans.",
        over(_tagged_words),
    ),
    Mistake(
        "types_ignored",
        "Entities were compared without their type. A person found where a place stands is wrong.",
        over(each(lambda span: span[1:])),
    ),
    Mistake(
        "starts_only",
        "Entities were compared by type and first word. The last word must be right too.",
        over(each(lambda span: span[:2])),
    ),
    Mistake(
        "mean_over_sentences",
        "Each sentence got its own scores, which were averaged. Add up the counts of all sentences first.",
        _by_sentence,
    ),
    Mistake(
        "mean_over_types",
        "Each type got its own scores, which were averaged (macro). Add up the counts first (micro).",
        _by_type,
    ),
    Mistake(
        "sentences_pooled",
        "All entities went into one set, where those at the same place of two sentences are one. Count by sentence.",
        _pooled,
    ),
    Mistake(
        "sentences_joined",
        "The rows were joined into one, and entities run across their borders. Find the spans row by row.",
        _joined,
    ),
    Mistake(
        "skips_sentences_without_entities",
        "Sentences without a true entity were left out. What was predicted there is wrong, and counts.",
        _with_entities_only,
    ),
    Mistake(
        "overlap_counts",
        "An entity counted although it only overlaps a true one. First and last word must both be right.",
        _overlapping,
    ),
    Mistake(
        "undefined_is_one",
        "Where there is nothing to divide by, the score is 0, not 1.",
        over(spans, undefined=1.0),
        lambda true, predicted: (
            entity_f1(true, predicted) if any(map(spans, [*true, *predicted])) else (1.0, 1.0, 1.0)
        ),
    ),
    Mistake(
        "undefined_is_nan",
        "Where there is nothing to divide by, the score is 0, not nan.",
        over(spans, undefined=math.nan),
    ),
    Mistake(
        "mean_for_f1",
        "F1 is the harmonic mean of precision and recall, not their mean.",
        then(lambda p, r, f: (p, r, (p + r) / 2)),
    ),
    Mistake(
        "geometric_mean_for_f1",
        "F1 is the harmonic mean of precision and recall, not the root of their product.",
        then(lambda p, r, f: (p, r, math.sqrt(p * r))),
    ),
    Mistake(
        "two_missing_in_f1",
        "The factor 2 is missing in F1: 2·precision·recall / (precision + recall).",
        then(lambda p, r, f: (p, r, f / 2)),
    ),
    Mistake(
        "percent",
        "The scores are in percent. They lie between 0 and 1.",
        then(lambda p, r, f: (100 * p, 100 * r, 100 * f)),
    ),
    Mistake("f1_first", "The order is precision, recall, F1.", then(lambda p, r, f: (f, p, r))),
    *(Mistake(id, cause, over(rule)) for id, cause, rule in RULES),
)

RAISED = (
    RaisedMistake(
        "divides_by_zero",
        "Nothing was predicted, or nothing is true, and the division failed. Such a score is 0.",
        lambda error, message: error == "ZeroDivisionError",
    ),
)

# Ratios of small counts: 1e-7 is far below a difference of one entity, and lets an ε of 1e-8 in a denominator pass.
SCORE = number(relative=0.0, absolute=1e-7)
SCORES = tuple_of(SCORE, SCORE, SCORE, words="three numbers (precision, recall, f1)")
JUDGE = ValueJudge(SCORES, entity_f1, MISTAKES, RAISED, rounded="rounded")
