"""`entity_f1`: precision and recall over whole entities. A misconception counts something else, or elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from checks.judges.comparing import Mistake, RaisedMistake, is_number, judge_values
from checks.judges.fine_tuning_shapes.entities import SPAN_RULES, Span, Tags, each, spans
from checks.protocol import Case, Outcome, Question, Verdict

Scores = tuple[float, float, float]
Rows = Sequence[Tags]


def _rates(hits: int, wanted: int, found: int, undefined: float = 0.0) -> Scores:
    precision = hits / found if found else undefined
    recall = hits / wanted if wanted else undefined
    if precision + recall == 0:
        return precision, recall, undefined
    return precision, recall, 2 * precision * recall / (precision + recall)


def _counts(case: Case, found_by: Callable[[Tags], set[Any]] = spans) -> tuple[int, int, int]:
    return _totals((found_by(t), found_by(p)) for t, p in zip(case["true"], case["predicted"], strict=True))


def _totals(pairs: Iterable[tuple[set[Any], set[Any]]]) -> tuple[int, int, int]:
    """(hits, wanted, found) over all pairs of sets."""
    counts = [(len(true & found), len(true), len(found)) for true, found in pairs]
    hits, wanted, found = (sum(column) for column in zip(*counts, strict=True))
    return hits, wanted, found


def _f1(case: Case, found_by: Callable[[Tags], set[Any]] = spans, undefined: float = 0.0) -> Scores:
    return _rates(*_counts(case, found_by), undefined)


def _averaged(scores: Sequence[Scores]) -> Scores:
    if not scores:
        return 0.0, 0.0, 0.0
    precision, recall, f1 = (math.fsum(column) / len(scores) for column in zip(*scores, strict=True))
    return precision, recall, f1


def _by_sentence(case: Case) -> Scores:
    pairs = [(spans(t), spans(p)) for t, p in zip(case["true"], case["predicted"], strict=True)]
    return _averaged([_rates(*_totals([pair])) for pair in pairs])


def _by_type(case: Case) -> Scores:
    def only(kind: str) -> Callable[[Tags], set[Span]]:
        return lambda tags: {span for span in spans(tags) if span[0] == kind}

    rows = [*case["true"], *case["predicted"]]
    types = sorted({span[0] for tags in rows for span in spans(tags)})
    return _averaged([_f1(case, only(kind)) for kind in types])


def _pooled(case: Case) -> Scores:
    def union(rows: Rows) -> set[Span]:
        return set().union(*(spans(row) for row in rows))

    return _rates(*_totals([(union(case["true"]), union(case["predicted"]))]))


def _joined(case: Case) -> Scores:
    def one_row(rows: Rows) -> list[str]:
        return [tag for row in rows for tag in row]

    return _rates(*_totals([(spans(one_row(case["true"])), spans(one_row(case["predicted"])))]))


def _overlapping(case: Case) -> Scores:
    """A predicted entity counts when it shares a word and the type with a true one."""
    hits = 0
    for t, p in zip(case["true"], case["predicted"], strict=True):
        true = spans(t)
        hits += sum(
            any(k == kind and f <= last and first <= l for k, f, l in true)  # noqa: E741
            for kind, first, last in spans(p)
        )
    _, wanted, found = _counts(case)
    return _rates(hits, wanted, found)


def _tagged_words(tags: Tags) -> set[Any]:
    return {(position, tag) for position, tag in enumerate(tags) if tag != "O"}


def _accuracy(case: Case, *, skip_o: bool) -> float:
    rows = zip(case["true"], case["predicted"], strict=True)
    pairs = [pair for t, p in rows for pair in zip(t, p, strict=True) if not skip_o or pair[0] != "O"]
    return sum(t == p for t, p in pairs) / len(pairs) if pairs else 0.0


def _f1_of(case: Case, mean: Callable[[float, float], float]) -> Scores:
    precision, recall, _ = _f1(case)
    return precision, recall, mean(precision, recall)


SWAPPED = "Precision and recall are exchanged; F1 hides it. Precision divides by what was predicted."
F1_MISTAKES = (
    Mistake("precision_and_recall_swapped", SWAPPED, lambda case: (_f1(case)[1], _f1(case)[0], _f1(case)[2])),
    Mistake(
        "accuracy_of_tags",
        "This is the share of words with the right tag. Most are `O`, which is why entities are counted instead.",
        lambda case: (_accuracy(case, skip_o=False),) * 3,
    ),
    Mistake(
        "accuracy_of_tags",
        "This is the share of entity words with the right tag. Count whole entities.",
        lambda case: (_accuracy(case, skip_o=True),) * 3,
    ),
    Mistake(
        "tags_for_entities",
        "Single tags were counted. An entity is right as a whole or not at all: compare the spans.",
        lambda case: _f1(case, _tagged_words),
    ),
    Mistake(
        "types_ignored",
        "Entities were compared without their type. A person found where a place stands is wrong.",
        lambda case: _f1(case, each(lambda span: span[1:])),
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
        "overlap_counts",
        "An entity counted although it only overlaps a true one. First and last word must both be right.",
        _overlapping,
    ),
    Mistake(
        "starts_only",
        "Entities were compared by type and first word. The last word must be right too.",
        lambda case: _f1(case, each(lambda span: span[:2])),
    ),
    Mistake(
        "undefined_is_one",
        "Where there is nothing to divide by, the score is 0, not 1.",
        lambda case: _f1(case, undefined=1.0),
    ),
    Mistake(
        "undefined_is_nan",
        "Where there is nothing to divide by, the score is 0, not nan.",
        lambda case: _f1(case, undefined=math.nan),
    ),
    Mistake(
        "mean_for_f1",
        "F1 is the harmonic mean of precision and recall, not their mean.",
        lambda case: _f1_of(case, lambda p, r: (p + r) / 2),
    ),
    Mistake(
        "geometric_mean_for_f1",
        "F1 is the harmonic mean of precision and recall, not the root of their product.",
        lambda case: _f1_of(case, lambda p, r: math.sqrt(p * r)),
    ),
    Mistake(
        "two_missing_in_f1",
        "The factor 2 is missing in F1: 2·precision·recall / (precision + recall).",
        lambda case: _f1_of(case, lambda p, r: p * r / (p + r) if p + r else 0.0),
    ),
    Mistake(
        "percent",
        "The scores are in percent. They lie between 0 and 1.",
        lambda case: tuple(100 * score for score in _f1(case)),
    ),
    Mistake(
        "f1_first",
        "The order is precision, recall, F1.",
        lambda case: (_f1(case)[2], *_f1(case)[:2]),
    ),
    *(
        Mistake(id, cause, lambda case, rule=rule: _f1(case, rule))  # type: ignore[misc]
        for id, cause, rule in SPAN_RULES[:9]
    ),
)

F1_CRASHES = (
    RaisedMistake(
        "divides_by_zero",
        "Nothing was predicted, or nothing is true, and the division failed. Such a score is 0.",
        lambda error, message: error == "ZeroDivisionError",
    ),
)


def _is_score(value: Any) -> bool:
    return is_number(value) and not abs(value) > 1e9  # nan is one, an int beyond all floats is none


def _same_scores(got: Any, expected: Scores) -> bool:
    # Ratios of small counts: 1e-9 is far above rounding and far below a difference of one entity.
    return len(got) == len(expected) and all(
        abs(a - b) <= 1e-9 or (math.isnan(a) and math.isnan(b)) for a, b in zip(got, expected, strict=True)
    )


def entity_f1(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_f1,
        kind="three numbers (precision, recall, f1)",
        is_kind=lambda value: (
            isinstance(value, (tuple, list)) and len(value) == 3 and all(map(_is_score, value))
        ),
        same=_same_scores,
        mistakes=F1_MISTAKES,
        raised=F1_CRASHES,
    )
