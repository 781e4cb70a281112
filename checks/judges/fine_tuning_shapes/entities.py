"""`entity_spans` and `entity_f1`: spans from BIO tags, and precision and recall over whole spans.

A misconception is the reference with one of its rules changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from checks.judges.comparing import Mistake, RaisedMistake, is_number, judge_values, show_value
from checks.protocol import Case, Outcome, Question, Verdict

Tags = Sequence[str]
Span = tuple[str, int, int]
Open = tuple[str, int, str]  # type, first word, B or I: how it was opened


# --- entity_spans -----------------------------------------------------------------------------------------


def _same_type(prefix: str, kind: str, entity: Open) -> bool:
    return prefix == "I" and kind == entity[0]


def _either(prefix: str, kind: str, entity: Open | None) -> bool:
    return prefix in ("B", "I")


def _only_b(prefix: str, kind: str, entity: Open | None) -> bool:
    return prefix == "B"


def _spans(
    tags: Tags,
    *,
    continues: Callable[[str, str, Open], bool] = _same_type,
    opens: Callable[[str, str, Open | None], bool] = _either,
    last: bool = True,
) -> set[Span]:
    """The entities of a row. `last`: whether one that reaches the end of the row counts."""
    found: set[Span] = set()
    entity: Open | None = None
    for position, tag in enumerate([*tags, "O"]):
        prefix, _, kind = tag.partition("-")
        if entity is not None and continues(prefix, kind, entity):
            continue
        if entity is not None and (last or position < len(tags)):
            found.add((entity[0], entity[1], position - 1))
        entity = (kind, position, prefix) if opens(prefix, kind, entity) else None
    return found


def _orphans_ignored(tags: Tags) -> set[Span]:
    return _spans(tags, opens=_only_b)


def _orphans_after_o(tags: Tags) -> set[Span]:
    """An I- opens only where nothing is open before it; of another type it just ends the entity."""
    return _spans(tags, opens=lambda prefix, kind, entity: prefix == "B" or (prefix == "I" and not entity))


def _types_run_on(tags: Tags) -> set[Span]:
    return _spans(tags, continues=lambda prefix, kind, entity: prefix == "I")


def _types_run_on_orphans_ignored(tags: Tags) -> set[Span]:
    return _spans(tags, continues=lambda prefix, kind, entity: prefix == "I", opens=_only_b)


def _neighbours_merged(tags: Tags) -> set[Span]:
    return _spans(tags, continues=lambda prefix, kind, entity: kind == entity[0])


def _until_o(tags: Tags) -> set[Span]:
    return _spans(tags, continues=lambda prefix, kind, entity: prefix in ("B", "I"))


def _orphans_alone(tags: Tags) -> set[Span]:
    return _spans(
        tags, continues=lambda prefix, kind, entity: prefix == "I" and kind == entity[0] and entity[2] == "B"
    )


def _every_tag(tags: Tags) -> set[Span]:
    return _spans(tags, continues=lambda prefix, kind, entity: False)


def _each(change: Callable[[Span], Any]) -> Callable[[Tags], set[Any]]:
    return lambda tags: {change(span) for span in _spans(tags)}


def _longer_than_one(tags: Tags) -> set[Span]:
    return {span for span in _spans(tags) if span[2] > span[1]}


def _type_at(part: int) -> Callable[[Tags], set[Span]]:
    return lambda tags: {(span[0].split("-")[part], *span[1:]) for span in _spans(tags)}


def _ends_by_type(tags: Tags) -> set[Span]:
    """One entity a type, from the first to the last tag of it."""
    ends: dict[str, tuple[int, int]] = {}
    for kind, first, last in sorted(_spans(tags), key=lambda span: span[1]):
        ends[kind] = (ends.get(kind, (first, last))[0], last)
    return {(kind, first, last) for kind, (first, last) in ends.items()}


EXCLUSIVE = (
    "The last word is given as the one behind the entity. It is inclusive: the entity's own last word."
)
ORPHANS = (
    "An I- without an open entity of its type was ignored. It opens one, as CoNLL's own scorer reads it."
)
LAST_MISSING = (
    "The entity that reaches the end of the row is missing. Close what is open when the loop has ended."
)
TYPES_RUN_ON = "An I- of another type was added to the open entity. It ends that one and opens its own."
MERGED = "Two entities that touch became one. A B- always opens a new one."

SPAN_RULES: tuple[tuple[str, str, Callable[[Tags], set[Any]]], ...] = (
    ("last_entity_missing", LAST_MISSING, lambda tags: _spans(tags, last=False)),
    ("orphan_inside_ignored", ORPHANS, _orphans_ignored),
    (
        "other_type_only_ends",
        "An I- of another type ended the open entity and was dropped. It opens one of its own.",
        _orphans_after_o,
    ),
    ("type_change_ignored", TYPES_RUN_ON, _types_run_on),
    (
        "type_change_and_orphans_ignored",
        "An I- continued whatever was open, else nothing. Compare its type; without a match it opens one.",
        _types_run_on_orphans_ignored,
    ),
    ("touching_entities_merged", MERGED, _neighbours_merged),
    (
        "runs_until_o",
        "An entity was ended by `O` alone. A B-, or an I- of another type, ends it too.",
        _until_o,
    ),
    (
        "orphans_stay_alone",
        "An I- that opened an entity was not continued by the next I- of its type.",
        _orphans_alone,
    ),
    (
        "every_tag_an_entity",
        "Every tagged word became an entity. An I- of the same type continues one.",
        _every_tag,
    ),
    ("end_exclusive", EXCLUSIVE, _each(lambda span: (span[0], span[1], span[2] + 1))),
    (
        "counts_from_1",
        "The words are counted from 1. The first word is 0.",
        _each(lambda span: (span[0], span[1] + 1, span[2] + 1)),
    ),
    (
        "length_for_last",
        "The third number is the length. It is the entity's last word.",
        _each(lambda span: (span[0], span[1], span[2] - span[1] + 1)),
    ),
    (
        "type_not_first",
        "The parts are in another order. An entity is (type, first, last).",
        _each(lambda span: (span[1], span[2], span[0])),
    ),
    ("type_missing", "The type is missing. An entity is (type, first, last).", _each(lambda span: span[1:])),
    ("type_cut_at_hyphen", "A type may hold a hyphen. Cut the tag at its first hyphen only.", _type_at(0)),
    ("type_cut_at_hyphen", "A type may hold a hyphen. Cut the tag at its first hyphen only.", _type_at(-1)),
    ("single_words_missing", "Entities of a single word are missing.", _longer_than_one),
    (
        "one_entity_a_type",
        "Entities of one type were run together. Each B- opens another one, however many there are.",
        _ends_by_type,
    ),
)


def _prefix_kept(tags: Tags) -> set[Span]:
    return {(tags[first], first, last) for _, first, last in _spans(tags)}


SPAN_MISTAKES = tuple(
    Mistake(id, cause, lambda case, rule=rule: frozenset(rule(case["tags"])))  # type: ignore[misc]
    for id, cause, rule in (
        *SPAN_RULES,
        (
            "prefix_in_type",
            "The type still has its B- or I-. The type is what follows the hyphen.",
            _prefix_kept,
        ),
    )
)


def _show_spans(value: Any) -> str:
    parts = sorted(value, key=str)
    shown = ", ".join(show_value(part) for part in parts[:4]) + (", …" if len(parts) > 4 else "")
    return f"{{{shown}}}" if parts else "an empty set"


def entity_spans(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: frozenset(_spans(case["tags"])),
        kind="a set of tuples (type, first, last)",
        is_kind=lambda value: isinstance(value, frozenset) and all(isinstance(span, tuple) for span in value),
        same=lambda got, expected: bool(got == expected),
        mistakes=SPAN_MISTAKES,
        show=_show_spans,
    )


# --- entity_f1 --------------------------------------------------------------------------------------------

Scores = tuple[float, float, float]
Rows = Sequence[Tags]


def _rates(hits: int, wanted: int, found: int, undefined: float = 0.0) -> Scores:
    precision = hits / found if found else undefined
    recall = hits / wanted if wanted else undefined
    if precision + recall == 0:
        return precision, recall, undefined
    return precision, recall, 2 * precision * recall / (precision + recall)


def _counts(case: Case, spans: Callable[[Tags], set[Any]] = _spans) -> tuple[int, int, int]:
    return _totals((spans(t), spans(p)) for t, p in zip(case["true"], case["predicted"], strict=True))


def _totals(pairs: Iterable[tuple[set[Any], set[Any]]]) -> tuple[int, int, int]:
    """(hits, wanted, found) over all pairs of sets."""
    counts = [(len(true & found), len(true), len(found)) for true, found in pairs]
    hits, wanted, found = (sum(column) for column in zip(*counts, strict=True))
    return hits, wanted, found


def _f1(case: Case, spans: Callable[[Tags], set[Any]] = _spans, undefined: float = 0.0) -> Scores:
    return _rates(*_counts(case, spans), undefined)


def _averaged(scores: Sequence[Scores]) -> Scores:
    if not scores:
        return 0.0, 0.0, 0.0
    precision, recall, f1 = (math.fsum(column) / len(scores) for column in zip(*scores, strict=True))
    return precision, recall, f1


def _by_sentence(case: Case) -> Scores:
    pairs = [(_spans(t), _spans(p)) for t, p in zip(case["true"], case["predicted"], strict=True)]
    return _averaged([_rates(*_totals([pair])) for pair in pairs])


def _by_type(case: Case) -> Scores:
    def only(kind: str) -> Callable[[Tags], set[Span]]:
        return lambda tags: {span for span in _spans(tags) if span[0] == kind}

    rows = [*case["true"], *case["predicted"]]
    types = sorted({span[0] for tags in rows for span in _spans(tags)})
    return _averaged([_f1(case, only(kind)) for kind in types])


def _pooled(case: Case) -> Scores:
    def union(rows: Rows) -> set[Span]:
        return set().union(*(_spans(row) for row in rows))

    return _rates(*_totals([(union(case["true"]), union(case["predicted"]))]))


def _joined(case: Case) -> Scores:
    def one_row(rows: Rows) -> list[str]:
        return [tag for row in rows for tag in row]

    return _rates(*_totals([(_spans(one_row(case["true"])), _spans(one_row(case["predicted"])))]))


def _overlapping(case: Case) -> Scores:
    """A predicted entity counts when it shares a word and the type with a true one."""
    hits = 0
    for t, p in zip(case["true"], case["predicted"], strict=True):
        true = _spans(t)
        hits += sum(
            any(k == kind and f <= last and first <= l for k, f, l in true)  # noqa: E741
            for kind, first, last in _spans(p)
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
        lambda case: _f1(case, _each(lambda span: span[1:])),
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
        lambda case: _f1(case, _each(lambda span: span[:2])),
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
            isinstance(value, (tuple, list)) and len(value) == 3 and all(map(is_number, value))
        ),
        same=_same_scores,
        mistakes=F1_MISTAKES,
        raised=F1_CRASHES,
    )
