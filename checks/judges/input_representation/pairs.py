"""The judge of `pack_pair`: a reference for a row, and its changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    RaisedMistake,
    incorrect,
    judge_values,
    judge_with_refusals,
    show_value,
)
from checks.judges.input_representation.parts import find_wrong_keys, with_parts
from checks.protocol import Case, Outcome, Question, Verdict


def _room(case: Case) -> int:
    return int(case["max_length"]) - (2 if case["b"] is None else 3)


def _segments(case: Case) -> tuple[list[int], list[int]]:
    return list(case["a"]), list(case["b"] or [])


def _longer_first(case: Case, room: int | None = None, *, drop: int = -1, tie: str = "b") -> Any:
    """The truncation of the paper's code: one id at a time from the end of the longer segment."""
    a, b = _segments(case)
    room = _room(case) if room is None else room
    while len(a) + len(b) > room:
        from_a = len(a) > len(b) or (tie == "a" and len(a) == len(b))
        (a if from_a else b).pop(drop)
    return a, b


def _one_side(first: str) -> Callable[[Case], Any]:
    """All that is too much goes from one segment; from the other one only when the first is empty."""

    def cut(case: Case) -> Any:
        a, b = _segments(case)
        while len(a) + len(b) > _room(case):
            on_a = bool(a) if first == "a" else not b
            (a if on_a else b).pop()
        return a, b

    return cut


def _at_once(case: Case) -> Any:
    a, b = _segments(case)
    excess = max(0, len(a) + len(b) - _room(case))
    longer = a if len(a) > len(b) else b
    del longer[max(0, len(longer) - excess) :]
    return a, b


def _halves(case: Case) -> Any:
    a, b = _segments(case)
    room = _room(case)
    if len(a) + len(b) <= room:
        return a, b
    if case["b"] is None:
        return a[:room], b
    return a[: room // 2], b[: room - room // 2]


def _row(case: Case, segments: Any = None, **changed: Any) -> dict[str, list[int]]:
    """The packed row. Changes: `cls`, `middle`, `last` (whether they are there), `types` (a function)."""
    a, b = _longer_first(case) if segments is None else segments
    cls = [case["cls_id"]] if changed.get("cls", True) else []
    sep = [case["sep_id"]]
    middle = sep if changed.get("middle", True) else []
    last = sep if changed.get("last", True) else []
    single = case["b"] is None and not changed.get("pair", False)
    if single:
        ids, split = [*cls, *a, *last], len(cls) + len(a) + len(last)
    else:
        ids, split = [*cls, *a, *middle, *b, *last], len(cls) + len(a) + len(middle)
    types = [0] * split + [1] * (len(ids) - split)
    if "types" in changed:
        types = changed["types"](types, single)
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": [1] * len(ids)}


def _sep_to_b(types: list[int], single: bool) -> list[int]:
    split = types.count(0)
    return types if single else [0] * (split - 1) + [1] * (len(types) - split + 1)


def _mask_without_specials(case: Case) -> dict[str, list[int]]:
    row = _row(case)
    specials = (case["cls_id"], case["sep_id"])
    return row | {"attention_mask": [int(i not in specials) for i in row["input_ids"]]}


def _cut_row(case: Case) -> dict[str, list[int]]:
    row = _row(case, _segments(case))
    return {part: values[: case["max_length"]] for part, values in row.items()}


def _padded_row(case: Case) -> dict[str, list[int]]:
    row = _row(case)
    return {part: values + [0] * (case["max_length"] - len(values)) for part, values in row.items()}


def _fixed_ids(case: Case) -> dict[str, list[int]]:
    return _row(Case(case.label, {**case.data, "cls_id": 101, "sep_id": 102}))


def _none_for_empty(case: Case) -> dict[str, list[int]]:
    return _row(Case(case.label, {**case.data, "b": case["b"] or None}))


PACK_MISTAKES = (
    Mistake(
        "hard_coded_ids",
        "101 and 102 are the ids of one vocabulary. Use the arguments `cls_id` and `sep_id`.",
        _fixed_ids,
    ),
    Mistake(
        "segments_all_zero",
        "Every position is in segment 0. Of a pair, B and the `[SEP]` behind it are segment 1.",
        lambda case: _row(case, types=lambda types, single: [0] * len(types)),
    ),
    Mistake(
        "first_sep_in_segment_one",
        "The first `[SEP]` was counted to B. It closes A, so it belongs to segment 0.",
        lambda case: _row(case, types=_sep_to_b),
    ),
    Mistake(
        "last_sep_in_segment_zero",
        "The last `[SEP]` is in segment 0. It closes B and belongs to segment 1, like B.",
        lambda case: _row(case, types=lambda types, single: types if single else [*types[:-1], 0]),
    ),
    Mistake(
        "single_in_segment_one",
        "A single sentence is segment 0 throughout; segment 1 is for the second of two.",
        lambda case: _row(case, types=lambda types, single: [1] * len(types) if single else types),
    ),
    Mistake(
        "segments_swapped",
        "0 and 1 are exchanged: the first segment is 0, the second is 1.",
        lambda case: _row(case, types=lambda types, single: [1 - t for t in types]),
    ),
    Mistake(
        "empty_b_taken_for_none",
        "An empty list is a second segment of no ids and still gets its `[SEP]`. Ask for `ids_b is None`.",
        _none_for_empty,
    ),
    Mistake(
        "single_gets_two_seps",
        "A single sentence ends with one `[SEP]`. Only a second segment brings a second one.",
        lambda case: _row(case, pair=True),
    ),
    Mistake(
        "single_room_for_three_specials",
        "Three places were kept for special tokens. A single sentence needs two: `[CLS]` and one `[SEP]`.",
        lambda case: _row(case, _longer_first(case, case["max_length"] - 3)),
    ),
    Mistake(
        "tie_drops_a",
        "Where both segments are equally long the id of B goes, not the id of A. Compare with `>`.",
        lambda case: _row(case, _longer_first(case, tie="a")),
    ),
    Mistake(
        "excess_from_longer_at_once",
        "All that is too much was cut from one segment. Drop one id, then ask again which segment is longer.",
        lambda case: _row(case, _at_once(case)),
    ),
    Mistake(
        "always_truncates_a",
        "A was cut although B is longer. Drop from the segment that is longer at that moment.",
        lambda case: _row(case, _one_side("a")(case)),
    ),
    Mistake(
        "always_truncates_b",
        "B was cut although A is longer. Drop from the segment that is longer at that moment.",
        lambda case: _row(case, _one_side("b")(case)),
    ),
    Mistake(
        "halves_the_room",
        "Each segment got half of the room. What a short segment does not need belongs to the long one.",
        lambda case: _row(case, _halves(case)),
    ),
    Mistake(
        "drops_from_the_front",
        "Ids were dropped from the front of a segment. Drop the last one.",
        lambda case: _row(case, _longer_first(case, drop=0)),
    ),
    Mistake(
        "cuts_the_packed_row",
        "The row was packed first and cut afterwards, so its last `[SEP]` is gone. Shorten A and B, then pack.",
        _cut_row,
    ),
    Mistake(
        "specials_not_counted",
        "The row is too long: `max_length` counts the special tokens too, three of them for a pair.",
        lambda case: _row(case, _longer_first(case, case["max_length"])),
    ),
    Mistake(
        "two_specials_counted",
        "A pair has three special tokens: `[CLS]` and two `[SEP]`. Room was made for two.",
        lambda case: _row(case, _longer_first(case, case["max_length"] - 2)),
    ),
    Mistake(
        "max_length_ignored",
        "Nothing was dropped. A row has at most `max_length` ids.",
        lambda case: _row(case, _segments(case)),
    ),
    Mistake("last_sep_missing", "The `[SEP]` at the end is missing.", lambda case: _row(case, last=False)),
    Mistake(
        "middle_sep_missing",
        "The `[SEP]` between A and B is missing.",
        lambda case: _row(case, middle=False),
    ),
    Mistake("cls_missing", "The `[CLS]` in front is missing.", lambda case: _row(case, cls=False)),
    Mistake(
        "mask_hides_specials",
        "The mask is 0 on special tokens. It tells text from padding, and attention reads `[CLS]` and `[SEP]`.",
        _mask_without_specials,
    ),
    Mistake(
        "pads_to_max_length",
        "The row was padded. Packing one row needs no padding; `pad_batch` adds what its batch needs.",
        _padded_row,
    ),
)

REFUSES = RaisedMistake(
    "refuses_instead_of_truncating",
    "This row can be packed: drop ids until it fits. Only special tokens that do not fit are an error.",
    lambda error, message: error == "ValueError" and "unpack" not in message,
)


def _is_row(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(part, list) and all(type(number) is int for number in part) for part in value.values()
    )


def _show_row(values: Any) -> str:
    if not isinstance(values, list):
        return show_value(values)
    shown = ", ".join(map(str, values[:14])) + (f", … {values[-1]}" if len(values) > 14 else "")
    return f"[{shown}] ({len(values)})"


def _judge_rows(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    wrong_keys = find_wrong_keys(cases, outcomes)
    if wrong_keys:
        return incorrect(question, wrong_keys)
    verdict = judge_values(
        question,
        cases,
        outcomes,
        expected=_row,
        kind="a dict of three lists of ints",
        is_kind=_is_row,
        same=lambda got, expected: bool(got == expected),
        mistakes=PACK_MISTAKES,
        raised=(REFUSES,),
    )
    return with_parts(verdict, cases, outcomes, _row, lambda got, expected: bool(got == expected), _show_row)


def pack_pair(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_with_refusals(question, cases, outcomes, _judge_rows)
