"""`entity_spans`: entities from BIO tags. A misconception is the reference with one of its rules changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import Mistake, judge_values, show_value
from checks.protocol import Case, Outcome, Question, Verdict

Tags = Sequence[str]
Span = tuple[str, int, int]
Open = tuple[str, int, str]  # type, first word, B or I: how it was opened


def _same_type(prefix: str, kind: str, entity: Open) -> bool:
    return prefix == "I" and kind == entity[0]


def _either(prefix: str, kind: str, entity: Open | None) -> bool:
    return prefix in ("B", "I")


def _only_b(prefix: str, kind: str, entity: Open | None) -> bool:
    return prefix == "B"


def spans(
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
    return spans(tags, opens=_only_b)


def _orphans_after_o(tags: Tags) -> set[Span]:
    """An I- opens only where nothing is open before it; of another type it just ends the entity."""
    return spans(tags, opens=lambda prefix, kind, entity: prefix == "B" or (prefix == "I" and not entity))


def _types_run_on(tags: Tags) -> set[Span]:
    return spans(tags, continues=lambda prefix, kind, entity: prefix == "I")


def _types_run_on_orphans_ignored(tags: Tags) -> set[Span]:
    return spans(tags, continues=lambda prefix, kind, entity: prefix == "I", opens=_only_b)


def _neighbours_merged(tags: Tags) -> set[Span]:
    return spans(tags, continues=lambda prefix, kind, entity: kind == entity[0])


def _until_o(tags: Tags) -> set[Span]:
    return spans(tags, continues=lambda prefix, kind, entity: prefix in ("B", "I"))


def _orphans_alone(tags: Tags) -> set[Span]:
    return spans(
        tags, continues=lambda prefix, kind, entity: prefix == "I" and kind == entity[0] and entity[2] == "B"
    )


def _every_tag(tags: Tags) -> set[Span]:
    return spans(tags, continues=lambda prefix, kind, entity: False)


def each(change: Callable[[Span], Any]) -> Callable[[Tags], set[Any]]:
    return lambda tags: {change(span) for span in spans(tags)}


def _longer_than_one(tags: Tags) -> set[Span]:
    return {span for span in spans(tags) if span[2] > span[1]}


def _type_at(part: int) -> Callable[[Tags], set[Span]]:
    return lambda tags: {(span[0].split("-")[part], *span[1:]) for span in spans(tags)}


def _ends_by_type(tags: Tags) -> set[Span]:
    """One entity a type, from the first to the last tag of it."""
    ends: dict[str, tuple[int, int]] = {}
    for kind, first, last in sorted(spans(tags), key=lambda span: span[1]):
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
    ("last_entity_missing", LAST_MISSING, lambda tags: spans(tags, last=False)),
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
    ("end_exclusive", EXCLUSIVE, each(lambda span: (span[0], span[1], span[2] + 1))),
    (
        "counts_from_1",
        "The words are counted from 1. The first word is 0.",
        each(lambda span: (span[0], span[1] + 1, span[2] + 1)),
    ),
    (
        "length_for_last",
        "The third number is the length. It is the entity's last word.",
        each(lambda span: (span[0], span[1], span[2] - span[1] + 1)),
    ),
    (
        "type_not_first",
        "The parts are in another order. An entity is (type, first, last).",
        each(lambda span: (span[1], span[2], span[0])),
    ),
    ("type_missing", "The type is missing. An entity is (type, first, last).", each(lambda span: span[1:])),
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
    return {(tags[first], first, last) for _, first, last in spans(tags)}


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
        expected=lambda case: frozenset(spans(case["tags"])),
        kind="a set of tuples (type, first, last)",
        is_kind=lambda value: isinstance(value, frozenset) and all(isinstance(span, tuple) for span in value),
        same=lambda got, expected: bool(got == expected),
        mistakes=SPAN_MISTAKES,
        show=_show_spans,
    )
