"""`pack_pair`: who pays for what is too much, which tokens are counted, and where the second segment begins."""

from __future__ import annotations

from checks.judges.containers import list_of, record
from checks.judges.input_representation import PARTS, two_of_three
from checks.judges.input_representation.packing import (
    assemble,
    at_once,
    cut_off,
    cut_off_and_closed,
    halves,
    mask,
    one_side,
    pack_pair,
    packed_whole,
    packing,
    padded,
    shorten,
    types,
)
from checks.judges.kinds import INT
from checks.judges.values import Mistake, RaisedMistake, ValueJudge

TYPES, MASK = "token_type_ids", "attention_mask"
MISTAKES = (
    Mistake(
        "hard_coded_ids",
        "101 and 102 are the ids of one vocabulary. Use the arguments `cls_id` and `sep_id`.",
        lambda ids_a, ids_b, max_length: pack_pair(ids_a, ids_b, 101, 102, max_length),
    ),
    Mistake(
        "segments_all_zero",
        "Every position is in segment 0. Of a pair, B and the `[SEP]` behind it are segment 1.",
        types(lambda types, *_: [0] * len(types)),
        part=TYPES,
    ),
    Mistake(
        "first_sep_in_segment_one",
        "The first `[SEP]` was counted to B. It closes A, so it belongs to segment 0.",
        types(
            lambda types, ids, ids_b, *_: (
                types if ids_b is None else [*types[: (n := types.count(0)) - 1], 1, *types[n:]]
            )
        ),
        part=TYPES,
    ),
    Mistake(
        "last_sep_in_segment_zero",
        "The last `[SEP]` is in segment 0. It closes B and belongs to segment 1, like B.",
        types(lambda types, *_: [*types[:-1], 0]),
        part=TYPES,
    ),
    Mistake(
        "single_in_segment_one",
        "A single sentence is segment 0 throughout; segment 1 is for the second of two.",
        types(lambda types, ids, ids_b, *_: [1] * len(types) if ids_b is None else types),
        part=TYPES,
    ),
    Mistake(
        "segments_swapped",
        "0 and 1 are exchanged: the first segment is 0, the second is 1.",
        types(lambda types, *_: [1 - number for number in types]),
        types(lambda types, ids, ids_b, *_: types if ids_b is None else [1 - number for number in types]),
        part=TYPES,
    ),
    Mistake(
        "segments_by_first_sep",
        "The end of A was looked up by the id of `[SEP]`, and A may hold that id itself. Count the ids of A.",
        types(lambda types, ids, ids_b, _, sep: [int(i > ids.index(sep)) for i in range(len(ids))]),
        types(
            lambda types, ids, ids_b, _, sep: [
                int(ids_b is not None and i > ids.index(sep)) for i in range(len(ids))
            ]
        ),
        part=TYPES,
    ),
    Mistake(
        "mask_hides_specials",
        "The mask is 0 on special tokens. It tells text from padding, and attention reads `[CLS]` and `[SEP]`.",
        mask(lambda mask, ids, ids_b, *specials: [int(i not in specials) for i in ids]),
        mask(
            lambda mask, ids, ids_b, cls, sep: [
                int(0 < n < len(ids) - 1 and not (i == sep and ids_b is not None)) for n, i in enumerate(ids)
            ]
        ),
        part=MASK,
    ),
    Mistake(
        "mask_from_ids",
        "The mask is 0 where an id is 0. A row that is not padded is text throughout: 1 everywhere.",
        mask(lambda mask, ids, *_: [int(i != 0) for i in ids]),
        part=MASK,
    ),
    Mistake(
        "empty_b_taken_for_none",
        "An empty list is a second segment of no ids and still gets its `[SEP]`. Ask for `ids_b is None`.",
        lambda ids_a, ids_b, cls_id, sep_id, max_length: pack_pair(
            ids_a, ids_b or None, cls_id, sep_id, max_length
        ),
    ),
    Mistake(
        "shortened_b_taken_for_none",
        "B was shortened to nothing and lost its `[SEP]`. It is a second segment all the same: ask whether "
        "`ids_b is None`.",
        packing(form=lambda a, b, cls, sep: assemble(a, b or None, cls, sep)),
        lambda ids_a, ids_b, cls_id, sep_id, max_length: packing(
            form=lambda a, b, cls, sep: assemble(a, b or (None if ids_b else b), cls, sep)
        )(ids_a, ids_b, cls_id, sep_id, max_length),
    ),
    Mistake(
        "single_gets_two_seps",
        "A single sentence ends with one `[SEP]`. Only a second segment brings a second one.",
        packing(form=lambda a, b, cls, sep: assemble(a, b or [], cls, sep)),
        packing(lambda a, b, room, m: shorten(a, b or [], m - 3)),
    ),
    Mistake(
        "single_room_for_three_specials",
        "Three places were kept for special tokens. A single sentence needs two: `[CLS]` and one `[SEP]`.",
        packing(lambda a, b, room, m: shorten(a, b, m - 3)),
    ),
    Mistake(
        "tie_drops_a",
        "Where both segments are equally long the id of B goes, not the id of A. Compare with `>`.",
        packing(lambda a, b, room, _: shorten(a, b, room, tie="a")),
    ),
    Mistake(
        "excess_from_longer_at_once",
        "All that is too much was cut from one segment. Drop one id, then ask again which segment is longer.",
        packing(at_once),
        packing(lambda a, b, room, _: at_once(a, b, room, _, rest_of_a=True)),
    ),
    Mistake(
        "always_truncates_a",
        "A was cut although B is longer. Drop from the segment that is longer at that moment.",
        packing(one_side("a")),
    ),
    Mistake(
        "always_truncates_b",
        "B was cut although A is longer. Drop from the segment that is longer at that moment.",
        packing(one_side("b")),
    ),
    Mistake(
        "halves_the_room",
        "Each segment got half of the room. What a short segment does not need belongs to the long one.",
        packing(lambda a, b, room, _: halves(a, b, room, 0)),
        packing(lambda a, b, room, _: halves(a, b, room, 1)),
    ),
    Mistake(
        "drops_from_the_front",
        "Ids were dropped from the front of a segment. Drop the last one.",
        packing(lambda a, b, room, _: shorten(a, b, room, drop=0)),
    ),
    Mistake(
        "cuts_the_packed_row",
        "The row was packed first and cut afterwards, so that B or its `[SEP]` pays for a long A. "
        "Shorten A and B, then pack.",
        packed_whole(cut_off),
        packed_whole(cut_off_and_closed),
    ),
    Mistake(
        "specials_not_counted",
        "The row is too long: `max_length` counts the special tokens too, three of them for a pair.",
        packing(lambda a, b, room, m: shorten(a, b, m)),
    ),
    Mistake(
        "two_specials_counted",
        "A pair has three special tokens: `[CLS]` and two `[SEP]`. Room was made for two.",
        packing(lambda a, b, room, m: shorten(a, b, m - 2)),
    ),
    Mistake(
        "max_length_ignored",
        "Nothing was dropped. A row has at most `max_length` ids.",
        packed_whole(lambda row, *_: row),
    ),
    Mistake("last_sep_missing", "The `[SEP]` at the end is missing.", packing(last=False)),
    Mistake("middle_sep_missing", "The `[SEP]` between A and B is missing.", packing(middle=False)),
    Mistake("cls_missing", "The `[CLS]` in front is missing.", packing(cls=False)),
    Mistake(
        "pads_to_max_length",
        "The row was padded. Packing one row needs no padding; `pad_batch` adds what its batch needs.",
        padded,
    ),
)

RAISED = (
    RaisedMistake(
        "refuses_instead_of_truncating",
        "This row can be packed: drop ids until it fits. Only special tokens that do not fit are an error.",
        lambda error, message: error == "ValueError" and "unpack" not in message,
    ),
    RaisedMistake(
        "b_may_be_none",
        "`ids_b` is `None` where there is one segment only. Ask for that before you take its length.",
        lambda error, message: error == "TypeError" and "NoneType" in message,
    ),
)

ROW = record(dict.fromkeys(PARTS, list_of(INT, "a list of ints")), "a dict of three lists of ints")
JUDGE = ValueJudge(ROW, pack_pair, MISTAKES, RAISED, credit=two_of_three)
