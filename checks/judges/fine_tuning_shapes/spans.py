"""Entities from BIO tags, with each rule open to change. What an answer to `entity_spans` may get wrong in its loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Tags = Sequence[str]
Span = tuple[str, int, int]
Open = tuple[str, int, str]  # type, first word, B or I: how it was opened
Spans = Callable[[Tags], set[Any]]


def same_type(prefix: str, kind: str, entity: Open) -> bool:
    return prefix == "I" and kind == entity[0]


def either(prefix: str, kind: str, entity: Open | None) -> bool:
    return prefix in ("B", "I")


def only_b(prefix: str, kind: str, entity: Open | None) -> bool:
    return prefix == "B"


def spans(
    tags: Tags,
    *,
    continues: Callable[[str, str, Open], bool] = same_type,
    opens: Callable[[str, str, Open | None], bool] = either,
    last: bool = True,
    cut: Callable[[str], str] = lambda tag: tag.partition("-")[2],
) -> set[Span]:
    """The entities of a row.

    continues, opens: whether a tag, as (prefix, type), goes on with the open entity, or opens one.
    last: whether an entity that reaches the end of the row counts.
    cut: from a tag to its type.
    """
    found: set[Span] = set()
    entity: Open | None = None
    for position, tag in enumerate([*tags, "O"]):
        prefix, kind = tag.partition("-")[0], cut(tag)
        if entity is not None and continues(prefix, kind, entity):
            continue
        if entity is not None and (last or position < len(tags)):
            found.add((entity[0], entity[1], position - 1))
        entity = (kind, position, prefix) if opens(prefix, kind, entity) else None
    return found


def reading(**rules: Any) -> Spans:
    return lambda tags: spans(tags, **rules)


def each(change: Callable[[Span], Any]) -> Spans:
    """The right entities, each changed."""
    return lambda tags: {change(span) for span in spans(tags)}


def across_o(tags: Tags) -> set[Span]:
    """`O` does not close an entity: the next I- of its type goes on with it."""
    found: list[Span] = []
    for position, tag in enumerate(tags):
        prefix, _, kind = tag.partition("-")
        if prefix == "I" and found and found[-1][0] == kind:
            found[-1] = (kind, found[-1][1], position)
        elif prefix != "O":
            found.append((kind, position, position))
    return set(found)


def without_word_0(tags: Tags) -> set[Span]:
    """The number 0 of the first word is taken for "nothing is open"."""
    found, first, kind = set(), 0, ""
    for position, tag in enumerate([*tags, "O"]):
        if first and tag != f"I-{kind}":
            found.add((kind, first, position - 1))
            first = 0
        if tag != "O" and not first:
            first, kind = position, tag.partition("-")[2]
    return found


def one_a_type(tags: Tags) -> set[Span]:
    """One entity a type, from the first to the last tag of it."""
    ends: dict[str, tuple[int, int]] = {}
    for kind, first, last in sorted(spans(tags), key=lambda span: span[1]):
        ends[kind] = (ends.get(kind, (first, last))[0], last)
    return {(kind, first, last) for kind, (first, last) in ends.items()}


RULES: tuple[tuple[str, str, Spans], ...] = (  # id, cause, the entities an answer finds that reads so
    (
        "last_entity_missing",
        "The entity that reaches the end of the row is missing. Close what is open when the loop has ended.",
        reading(last=False),
    ),
    (
        "orphan_inside_ignored",
        "An I- without an open entity of its type was ignored. It opens one, as CoNLL's own scorer reads it.",
        reading(opens=only_b),
    ),
    (
        "other_type_only_ends",
        "An I- of another type ended the open entity and was dropped. It opens one of its own.",
        reading(opens=lambda prefix, kind, entity: prefix == "B" or (prefix == "I" and not entity)),
    ),
    (
        "type_change_ignored",
        "An I- of another type was added to the open entity. It ends that one and opens its own.",
        reading(continues=lambda prefix, kind, entity: prefix == "I"),
    ),
    (
        "type_change_and_orphans_ignored",
        "An I- continued whatever was open, else nothing. Compare its type; without a match it opens one.",
        reading(continues=lambda prefix, kind, entity: prefix == "I", opens=only_b),
    ),
    (
        "touching_entities_merged",
        "Two entities that touch became one. A B- always opens a new one.",
        reading(continues=lambda prefix, kind, entity: kind == entity[0]),
    ),
    (
        "runs_until_o",
        "An entity was ended by `O` alone. A B-, or an I- of another type, ends it too.",
        reading(continues=lambda prefix, kind, entity: prefix in ("B", "I")),
    ),
    (
        "orphans_stay_alone",
        "An I- that opened an entity was not continued by the next I- of its type.",
        reading(continues=lambda prefix, kind, entity: same_type(prefix, kind, entity) and entity[2] == "B"),
    ),
    (
        "every_tag_an_entity",
        "Every tagged word became an entity. An I- of the same type continues one.",
        reading(continues=lambda prefix, kind, entity: False),
    ),
    (
        "goes_on_behind_o",
        "An I- behind an `O` went on with the entity before it. `O` closes what is open.",
        across_o,
    ),
    (
        "word_0_taken_for_none",
        "An entity that begins at word 0 is lost: 0 is false in Python. Let `None` say that nothing is open.",
        without_word_0,
    ),
)
