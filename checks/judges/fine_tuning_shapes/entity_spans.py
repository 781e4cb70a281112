"""`entity_spans`: entities read by other rules, and right ones written down in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checks.judges.containers import set_of
from checks.judges.fine_tuning_shapes.spans import RULES, Spans, each, one_a_type, reading, spans
from checks.judges.kinds import Kind
from checks.judges.values import Mistake, ValueJudge


def of_tags(rule: Spans) -> Callable[..., frozenset[Any]]:
    return lambda tags: frozenset(rule(tags))


HYPHEN = "A type may hold a hyphen. Cut the tag at its first hyphen only."
MISTAKES = (
    *(Mistake(id, cause, of_tags(rule)) for id, cause, rule in RULES),
    Mistake(
        "end_exclusive",
        "The last word is given as the one behind the entity. It is inclusive: the entity's own last word.",
        of_tags(each(lambda span: (span[0], span[1], span[2] + 1))),
    ),
    Mistake(
        "counts_from_1",
        "The words are counted from 1. The first word is 0.",
        of_tags(each(lambda span: (span[0], span[1] + 1, span[2] + 1))),
    ),
    Mistake(
        "length_for_last",
        "The third number is the length. It is the entity's last word.",
        of_tags(each(lambda span: (span[0], span[1], span[2] - span[1] + 1))),
    ),
    Mistake(
        "type_not_first",
        "The parts are in another order. An entity is (type, first, last).",
        of_tags(each(lambda span: (span[1], span[2], span[0]))),
        of_tags(each(lambda span: (span[1], span[0], span[2]))),
    ),
    Mistake(
        "type_missing",
        "The type is missing. An entity is (type, first, last).",
        of_tags(each(lambda span: span[1:])),
    ),
    Mistake(
        "type_cut_at_hyphen",
        HYPHEN,
        of_tags(each(lambda span: (span[0].split("-")[0], *span[1:]))),
        of_tags(each(lambda span: (span[0].split("-")[-1], *span[1:]))),
        of_tags(reading(cut=lambda tag: f"{tag}-".split("-")[1])),
        of_tags(reading(cut=lambda tag: tag.split("-")[-1] if tag != "O" else "")),
    ),
    Mistake(
        "letters_stripped",
        "`strip` and `lstrip` take letters away, not a prefix: `B-BIO` loses more than its `B-`. Cut `tag[2:]`.",
        *(of_tags(reading(cut=lambda tag, off=off: tag.lstrip(off))) for off in ("BI-", "BIO-")),
        *(of_tags(reading(cut=lambda tag, off=off: tag.strip(off))) for off in ("BI-", "BIO-")),
        of_tags(reading(cut=lambda tag: tag.lstrip("B-").lstrip("I-"))),
        of_tags(reading(cut=lambda tag: tag.replace("B-", "").replace("I-", ""))),
    ),
    Mistake(
        "prefix_in_type",
        "The type still has its B- or I-. The type is what follows the hyphen.",
        lambda tags: frozenset((tags[first], first, last) for _, first, last in spans(tags)),
    ),
    Mistake(
        "single_words_missing",
        "Entities of a single word are missing.",
        lambda tags: frozenset(span for span in spans(tags) if span[2] > span[1]),
    ),
    Mistake(
        "one_entity_a_type",
        "Entities of one type were run together. Each B- opens another one, however many there are.",
        of_tags(one_a_type),
    ),
)

ENTITY = Kind(
    "a tuple (type, first, last)",
    lambda value: isinstance(value, tuple) and all(isinstance(it, str) or type(it) is int for it in value),
    lambda got, expected: bool(got == expected),
)
JUDGE = ValueJudge(set_of(ENTITY, "a set of tuples (type, first, last)"), of_tags(spans), MISTAKES)
