"""Judges and misconceptions of the assignment `input_representation`.

Expected values come from small references written here, in plain Python and float64 NumPy. A misconception is
such a reference with one thing changed.

B batch · S sequence · H hidden · P rows of the position table
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from checks.judges.comparing import (
    Mistake,
    RaisedMistake,
    incorrect,
    judge_values,
    judge_with_refusals,
    show_value,
)
from checks.protocol import Array, Case, Finding, Outcome, Question, Verdict
from checks.questions.input_representation import tables

# --- wordpiece --------------------------------------------------------------------------------------------

Split = list[str] | None  # None: some part of the word has no match


def _options(case: Case) -> tuple[str, int]:
    options = case["options"]
    return options.get("unk", "[UNK]"), options.get("max_chars", 100)


def _pieces(case: Case, starts: Sequence[int], ends: Callable[[int, int], Sequence[int]]) -> Split:
    """Cut from left to right; `ends(start, length)` says in which order ends are tried."""
    word, vocab, pieces, start = case["word"], case["vocab"], [], 0
    while start < len(word):
        for end in ends(start, len(word)):
            piece = ("##" if start in starts else "") + word[start:end]
            if piece in vocab:
                pieces.append(piece)
                start = end
                break
        else:
            return None
    return pieces


def _longest(start: int, length: int) -> Sequence[int]:
    return range(length, start, -1)


def _shortest(start: int, length: int) -> Sequence[int]:
    return range(start + 1, length + 1)


def _greedy(case: Case, ends: Callable[[int, int], Sequence[int]] = _longest) -> Split:
    return _pieces(case, range(1, len(case["word"])), ends)


def _wordpiece(case: Case, split: Callable[[Case], Split] = _greedy, **fixed: Any) -> list[str]:
    unk, limit = _options(case)
    unk, limit = fixed.get("unk", unk), fixed.get("limit", limit)
    if len(case["word"]) > limit:
        return [unk]
    pieces = split(case)
    return [unk] if pieces is None else pieces


def _from_the_end(case: Case) -> Split:
    word, end = case["word"], len(case["word"])
    pieces: list[str] = []
    while end:
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if piece in case["vocab"]:
                pieces.insert(0, piece)
                end = start
                break
        else:
            return None
    return pieces


def _all_splits(case: Case, start: int = 0) -> list[list[str]]:
    """Every way to cut the word, those with the longest first pieces first. Only for short words."""
    word = case["word"]
    if start == len(word):
        return [[]]
    found = []
    for end in _longest(start, len(word)):
        piece = ("##" if start else "") + word[start:end]
        if piece in case["vocab"]:
            found += [[piece, *rest] for rest in _all_splits(case, end)]
    return found


def _backtracking(case: Case) -> Split:
    return next(iter(_all_splits(case)), None)


def _fewest(case: Case) -> Split:
    return min(_all_splits(case), key=len, default=None)


def _until_stuck(case: Case, on_stuck: str) -> list[str]:
    """What is left in the list when an answer reaches a part without a match: "keep" what there is, mark the
    "rest" as unknown, or go on behind the next "character"."""
    unk, limit = _options(case)
    word, start = case["word"], 0
    pieces: list[str] = []
    if len(word) > limit:
        return [unk]
    while start < len(word):
        prefix = "##" if start else ""
        end = next((e for e in _longest(start, len(word)) if prefix + word[start:e] in case["vocab"]), 0)
        if not end:
            if on_stuck != "character":
                return pieces + ([unk] if on_stuck == "rest" else [])
            pieces.append(unk)
            start += 1
            continue
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


def _anywhere(case: Case) -> Split:
    """Takes a piece with or without `##`, wherever it stands."""
    word, vocab, pieces, start = case["word"], case["vocab"], [], 0
    while start < len(word):
        forms = [form + word[start:end] for end in _longest(start, len(word)) for form in ("", "##")]
        found = next((form for form in forms if form in vocab), None)
        if found is None:
            return None
        pieces.append(found)
        start += len(found.removeprefix("##"))
    return pieces


def _plain(case: Case) -> Split:
    """Looks continuations up without `##`."""
    return _pieces(case, (), _longest)


def _lowered(case: Case) -> Case:
    return Case(case.label, {**case.data, "word": case["word"].lower()})


def _marked(pieces: Split) -> Split:
    return None if pieces is None else [*pieces[:1], *(f"##{piece}" for piece in pieces[1:])]


def _unmarked(pieces: Split) -> Split:
    return None if pieces is None else [piece.removeprefix("##") for piece in pieces]


def _characters(case: Case) -> Split:
    return _marked(list(case["word"]))


WORD_MISTAKES = (
    Mistake(
        "unk_hard_coded",
        'The unknown token is written into the answer. Return the argument `unk`, whose default is "[UNK]".',
        lambda case: _wordpiece(case, unk="[UNK]"),
    ),
    Mistake(
        "max_chars_hard_coded",
        "The limit of 100 characters is written into the answer. Compare with the argument `max_chars`.",
        lambda case: _wordpiece(case, limit=100),
    ),
    Mistake(
        "max_chars_off_by_one",
        "A word of exactly `max_chars` characters is still split; only a longer one is unknown.",
        lambda case: _wordpiece(case, limit=_options(case)[1] - 1),
    ),
    Mistake(
        "max_chars_ignored",
        "The word is longer than `max_chars` and was split all the same. Such a word is one `unk`.",
        lambda case: _wordpiece(case, limit=10**9),
    ),
    Mistake(
        "too_long_is_cut",
        "The word was cut to `max_chars` characters and then split. A word that is too long is one `unk`.",
        lambda case: _wordpiece(
            Case(case.label, {**case.data, "word": case["word"][: _options(case)[1]]}),
        ),
    ),
    Mistake(
        "lowers_the_word",
        "The word was changed to lower case. That is the tokenizer's step before this one; look up what came.",
        lambda case: _wordpiece(_lowered(case)),
    ),
    Mistake(
        "splits_into_characters",
        "The word falls into single characters. Look for the longest piece of the vocabulary that fits.",
        lambda case: _wordpiece(case, _characters),
    ),
    Mistake(
        "whole_words_only",
        "Only whole words are looked up. A word that is not in the vocabulary is cut into pieces that are.",
        lambda case: _wordpiece(case, lambda c: [c["word"]] if c["word"] in c["vocab"] else None),
    ),
    Mistake(
        "backtracks",
        "A shorter piece was tried when the longest led nowhere. WordPiece never goes back: the word is `unk`.",
        lambda case: _wordpiece(case, _backtracking) if len(case["word"]) < 20 else NotImplemented,
    ),
    Mistake(
        "fewest_pieces",
        "These are the fewest pieces there can be. WordPiece is greedy: it does not look ahead.",
        lambda case: _wordpiece(case, _fewest) if len(case["word"]) < 20 else NotImplemented,
    ),
    Mistake(
        "shortest_match_first",
        "The shortest piece was taken. Start with the longest end and shorten it until the piece is known.",
        lambda case: _wordpiece(case, lambda c: _greedy(c, _shortest)),
    ),
    Mistake(
        "cuts_from_the_end",
        "The word was cut from its end. Greedy means: the longest piece at the start, then go on behind it.",
        lambda case: _wordpiece(case, _from_the_end),
    ),
    Mistake(
        "unknown_rest_only",
        "Only the rest is marked unknown. When any part has no match the whole word is a single `unk`.",
        lambda case: _until_stuck(case, "rest"),
    ),
    Mistake(
        "unknown_by_character",
        "Single characters are marked unknown. When any part has no match the whole word is a single `unk`.",
        lambda case: _until_stuck(case, "character"),
    ),
    Mistake(
        "unmatched_part_dropped",
        "The part without a match is missing in silence. When any part has no match return `[unk]`.",
        lambda case: _until_stuck(case, "keep"),
    ),
    Mistake(
        "empty_for_unknown",
        "The list is empty. A word that cannot be split is one `unk`, so that its place in the text is kept.",
        lambda case: [] if _wordpiece(case) == [_options(case)[0]] else _wordpiece(case),
    ),
    Mistake(
        "prefix_missing_in_output",
        "The pieces are right and their `##` is gone. It is part of the piece, and tells it from a word's start.",
        lambda case: _wordpiece(case, lambda c: _unmarked(_greedy(c))),
    ),
    Mistake(
        "continuations_looked_up_plain",
        "Behind the first piece the vocabulary was asked without `##`. `ing` and `##ing` are two entries.",
        lambda case: _wordpiece(case, _plain),
    ),
    Mistake(
        "continuations_looked_up_plain",
        "Behind the first piece the vocabulary was asked without `##`. `ing` and `##ing` are two entries.",
        lambda case: _wordpiece(case, lambda c: _marked(_plain(c))),
    ),
    Mistake(
        "ignores_where_a_piece_stands",
        "A piece was taken in a place it is not for: with `##` only inside a word, without only at its start.",
        lambda case: _wordpiece(case, _anywhere),
    ),
)


def wordpiece(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_wordpiece,
        kind="a list of strings",
        is_kind=lambda value: isinstance(value, list) and all(isinstance(piece, str) for piece in value),
        same=lambda got, expected: bool(got == expected),
        mistakes=WORD_MISTAKES,
    )


# --- rows and batches: a dict of three parts --------------------------------------------------------------

PARTS = ("input_ids", "token_type_ids", "attention_mask")


def _keys(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Finding | None:
    """A dict with other keys than the three is said before any number in it is looked at."""
    for case, outcome in zip(cases, outcomes, strict=True):
        if isinstance(outcome.value, dict) and set(outcome.value) != set(PARTS):
            got = ", ".join(map(str, outcome.value)) or "an empty dict"
            cause = "The dict must have exactly three keys."
            return Finding("wrong_keys", cause, case.label, got[:300], ", ".join(PARTS))
    return None


def _with_parts(
    verdict: Verdict,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    expected: Callable[[Case], Any],
    same: Callable[[Any, Any], bool],
    show: Callable[[Any], str],
) -> Verdict:
    """Show the first part that differs instead of the whole dict, and give two thirds where the ids are right
    and one of the other two parts is as well."""
    if not verdict.findings or verdict.findings[0].got == "" or verdict.state != "incorrect":
        return verdict
    values = [outcome.value for outcome in outcomes]
    if not all(isinstance(value, dict) and set(value) == set(PARTS) for value in values):
        return verdict
    pairs = list(zip(values, [expected(case) for case in cases], strict=True))
    right = {part for part in PARTS if all(same(got[part], wanted[part]) for got, wanted in pairs)}
    first = next(
        (
            index
            for index, (got, wanted) in enumerate(pairs)
            if not all(same(got[p], wanted[p]) for p in PARTS)
        ),
        None,
    )
    if first is None:
        return verdict
    got, wanted = pairs[first]
    part = next(part for part in PARTS if not same(got[part], wanted[part]))
    finding = replace(
        verdict.findings[0],
        case=cases[first].label,
        got=f"{part}: {show(got[part])}",
        expected=f"{part}: {show(wanted[part])}",
    )
    changed = any(outcome.changed_input for outcome in outcomes)
    if "input_ids" in right and len(right) == 2 and not changed:
        return replace(verdict, state="partial", score=2 / 3, findings=(finding,))
    return replace(verdict, findings=(finding,))


# --- pack_pair --------------------------------------------------------------------------------------------


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
    wrong_keys = _keys(cases, outcomes)
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
    return _with_parts(verdict, cases, outcomes, _row, lambda got, expected: bool(got == expected), _show_row)


def pack_pair(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_with_refusals(question, cases, outcomes, _judge_rows)


# --- pad_batch --------------------------------------------------------------------------------------------


def _batch(case: Case, **changed: Any) -> dict[str, np.ndarray]:
    """The padded batch, int64 (B,S). Changes: `width`, `fill` (per part), `left`, `fixed` (a function of the
    arrays and the case)."""
    features = case["features"]
    width = changed.get("width", lambda lengths: max(lengths))([len(row["input_ids"]) for row in features])
    fill = {"input_ids": case["pad_id"], "token_type_ids": 0, "attention_mask": 0} | changed.get("fill", {})
    batch = {}
    for part in PARTS:
        rows = []
        for row in features:
            kept = row[part][:width]
            padding = [fill[part](row) if callable(fill[part]) else fill[part]] * (width - len(kept))
            rows.append(padding + kept if changed.get("left") else kept + padding)
        batch[part] = np.array(rows, dtype=np.int64)
    return batch


def _lengths_mask(case: Case) -> np.ndarray:
    lengths = np.array([len(row["input_ids"]) for row in case["features"]])
    return (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)


def _swap(case: Case, **parts: Callable[[dict[str, np.ndarray]], np.ndarray]) -> dict[str, np.ndarray]:
    batch = _batch(case)
    return batch | {part: change(batch) for part, change in parts.items()}


PAD_MISTAKES = (
    Mistake(
        "pads_ids_with_zero",
        "0 is the padding id of some vocabularies only. Fill `input_ids` with the argument `pad_id`.",
        lambda case: _batch(case, fill={"input_ids": 0}),
    ),
    Mistake(
        "pads_everything_with_pad_id",
        "`pad_id` was used in all three tensors. It is an id; mask and segment are 0 on padding.",
        lambda case: _batch(case, fill=dict.fromkeys(PARTS, case["pad_id"])),
    ),
    Mistake(
        "pads_segments_with_pad_id",
        "Segments are padded with `pad_id`. There are two segments, and padding takes 0.",
        lambda case: _batch(case, fill={"token_type_ids": case["pad_id"]}),
    ),
    Mistake(
        "pads_segments_with_one",
        "Padding is in segment 1. It takes segment 0.",
        lambda case: _batch(case, fill={"token_type_ids": 1}),
    ),
    Mistake(
        "repeats_last_segment",
        "Padding got the segment of the row's last id. It takes segment 0, whatever the row ends with.",
        lambda case: _batch(case, fill={"token_type_ids": lambda row: row["token_type_ids"][-1]}),
    ),
    Mistake(
        "attends_to_padding",
        "The mask is 1 on padding, so every real token would attend to nothing. Pad the mask with 0.",
        lambda case: _batch(case, fill={"attention_mask": 1}),
    ),
    Mistake(
        "mask_of_ones",
        "The mask is 1 everywhere. It has to be 0 on padding.",
        lambda case: _swap(case, attention_mask=lambda b: np.ones_like(b["input_ids"])),
    ),
    Mistake(
        "mask_from_ids",
        "The mask was made by comparing ids with `pad_id`. Pad the mask that each row brings.",
        lambda case: _swap(
            case, attention_mask=lambda b: (b["input_ids"] != case["pad_id"]).astype(np.int64)
        ),
    ),
    Mistake(
        "mask_from_length",
        "The mask was made from the row's length. Pad the mask that each row brings: it may hold zeros.",
        lambda case: _swap(case, attention_mask=lambda b: _lengths_mask(case)),
    ),
    Mistake(
        "mask_inverted",
        "The mask is upside down: 1 is text, 0 is padding.",
        lambda case: _swap(case, attention_mask=lambda b: 1 - b["attention_mask"]),
    ),
    Mistake(
        "segments_lost",
        "All segments are 0. Pad the `token_type_ids` that each row brings.",
        lambda case: _swap(case, token_type_ids=lambda b: np.zeros_like(b["input_ids"])),
    ),
    Mistake(
        "pads_on_the_left",
        "The padding stands in front. BERT's positions count from the left: padding goes behind the text.",
        lambda case: _batch(case, left=True),
    ),
    Mistake(
        "cuts_to_the_shortest",
        "Rows were cut to the shortest of the batch. Nothing is lost in padding: go by the longest.",
        lambda case: _batch(case, width=min),
    ),
    Mistake(
        "goes_by_the_first_row",
        "The first row's length was taken for all. Go by the longest row of the batch.",
        lambda case: _batch(case, width=lambda lengths: lengths[0]),
    ),
    Mistake(
        "one_column_too_many",
        "There is a column that is padding in every row. The longest row needs none.",
        lambda case: _batch(case, width=lambda lengths: max(lengths) + 1),
    ),
    Mistake(
        "pads_to_a_multiple_of_eight",
        "The batch was widened to a multiple of 8. Here it is padded to its longest row.",
        lambda case: _batch(case, width=lambda lengths: -(-max(lengths) // 8) * 8),
    ),
    Mistake(
        "pads_to_512",
        "Every row has 512 positions. Pad to the longest row of this batch, the rest is wasted work.",
        lambda case: _batch(case, width=lambda lengths: 512),
    ),
    Mistake(
        "transposed",
        "The axes are exchanged: the batch comes first, (B,S).",
        lambda case: {part: array.T for part, array in _batch(case).items()},
    ),
)


def _is_batch(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(part, Array) and part.kind == "tensor" and part.data.ndim == 2 for part in value.values()
    )


def _same_array(got: Any, expected: np.ndarray) -> bool:
    return isinstance(got, Array) and np.array_equal(got.data, expected)


def _show_batch(values: Any) -> str:
    data = values.data if isinstance(values, Array) else np.asarray(values)
    rows = [f"[{', '.join(map(str, row[:8]))}{', …' if len(row) > 8 else ''}]" for row in data[:4].tolist()]
    return f"{', '.join(rows)}{', …' if len(data) > 4 else ''} of shape {tuple(data.shape)}"


def _not_long(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Finding | None:
    for case, outcome in zip(cases, outcomes, strict=True):
        for part, array in outcome.value.items() if _is_batch(outcome.value) else ():
            if array.dtype != "int64":
                cause = "Embedding tables are indexed with long tensors. Say `dtype=torch.long`."
                return Finding("not_long", cause, case.label, f"{part}: {array.dtype}", "int64")
    return None


def pad_batch(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    early = _keys(cases, outcomes) or _not_long(cases, outcomes)
    if early:
        return incorrect(question, early)

    def same(got: Any, expected: Any) -> bool:
        return all(_same_array(got[part], expected[part]) for part in PARTS)

    verdict = judge_values(
        question,
        cases,
        outcomes,
        expected=_batch,
        kind="a dict of three (B,S) tensors",
        is_kind=_is_batch,
        same=same,
        mistakes=PAD_MISTAKES,
    )
    return _with_parts(verdict, cases, outcomes, _batch, _same_array, _show_batch)


# --- embed ------------------------------------------------------------------------------------------------


def _lookups(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three looked-up arrays, (B,S,H) each."""
    table = tables(case)
    ids, types = np.array(case["input_ids"]), np.array(case["token_type_ids"])
    position = np.broadcast_to(table["position"][: ids.shape[1]], (*ids.shape, case["H"]))
    return table["word"][ids], position, table["segment"][types]


def _normalised(case: Case, x: np.ndarray, *, axis: Any = -1, **changed: Any) -> np.ndarray:
    table = tables(case)
    mean = x.mean(axis, keepdims=True)
    variance = x.var(axis, keepdims=True, ddof=changed.get("ddof", 0))
    eps = changed.get("eps", case["eps"])
    plain = (x - mean) / (np.sqrt(variance) + eps if changed.get("eps_outside") else np.sqrt(variance + eps))
    return plain if changed.get("plain") else plain * table["weight"] + table["bias"]


def _sum(case: Case) -> np.ndarray:
    word, position, segment = _lookups(case)
    return word + position + segment


def _embedded(case: Case) -> np.ndarray:
    return _normalised(case, _sum(case))


def _with_positions(positions: Callable[[Case], Any]) -> Callable[[Case], Any]:
    """The embedding with other positions, an integer array that broadcasts to (B,S)."""

    def returns(case: Case) -> Any:
        word, _, segment = _lookups(case)
        rows = np.asarray(positions(case))
        if rows.max() >= case["P"]:
            return NotImplemented
        return _normalised(case, word + tables(case)["position"][rows] + segment)

    return returns


def _restarting(case: Case) -> np.ndarray:
    types = np.array(case["token_type_ids"])
    first = (types == 0).sum(1, keepdims=True)
    count = np.arange(types.shape[1])
    return np.where(count < first, count, count - first)


def _sinusoids(case: Case) -> np.ndarray:
    S, H = len(case["input_ids"][0]), case["H"]
    angle = np.arange(S)[:, None] / 10_000 ** (np.arange(0, H, 2) / H)
    table = np.zeros((S, H))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table


def _without(part: int) -> Callable[[Case], Any]:
    return lambda case: _normalised(case, _sum(case) - _lookups(case)[part])


EMBED_MISTAKES = (
    Mistake(
        "layer_norm_missing",
        "The sum is right and not normalised. Put it through `layer_norm` before you return it.",
        _sum,
    ),
    Mistake(
        "layer_norm_without_weights",
        "The norm's own weight and bias were left out. Call the module `layer_norm`, it applies them.",
        lambda case: _normalised(case, _sum(case), plain=True),
    ),
    Mistake(
        "own_eps",
        "The norm was computed with another eps. Call the module `layer_norm`, or use its `eps`.",
        lambda case: _normalised(case, _sum(case), eps=1e-12),
    ),
    Mistake(
        "own_eps",
        "The norm was computed with another eps. Call the module `layer_norm`, or use its `eps`.",
        lambda case: _normalised(case, _sum(case), eps=1e-5),
    ),
    Mistake(
        "eps_outside_the_root",
        "eps was added to the standard deviation. LayerNorm adds it to the variance, under the root.",
        lambda case: _normalised(case, _sum(case), eps_outside=True),
    ),
    Mistake(
        "sample_variance",
        "The variance was divided by H − 1. LayerNorm divides by H (`unbiased=False`).",
        lambda case: _normalised(case, _sum(case), ddof=1),
    ),
    Mistake(
        "normalises_over_positions",
        "The norm went over the positions. Each position is normalised by itself, over its H numbers.",
        lambda case: _normalised(case, _sum(case), axis=1),
    ),
    Mistake(
        "normalises_each_lookup",
        "Each lookup was normalised before the sum. Sum first, then normalise once.",
        lambda case: sum(_normalised(case, part) for part in _lookups(case)),
    ),
    Mistake(
        "norm_before_segment",
        "Something was added after the norm. Sum all three, then normalise.",
        lambda case: _normalised(case, _lookups(case)[0] + _lookups(case)[1]) + _lookups(case)[2],
    ),
    Mistake("word_missing", "The word lookup is missing from the sum.", _without(0)),
    Mistake(
        "position_missing",
        "The position lookup is missing: without it a row is a bag of words.",
        _without(1),
    ),
    Mistake("segment_missing", "The segment lookup is missing from the sum.", _without(2)),
    Mistake(
        "segment_always_zero",
        "Every position got the vector of segment 0. Look `token_type_ids` up.",
        lambda case: _normalised(case, _lookups(case)[0] + _lookups(case)[1] + tables(case)["segment"][0]),
    ),
    Mistake(
        "positions_reversed",
        "Positions were counted from the end. The first position is row 0 of the table.",
        _with_positions(lambda case: np.arange(len(case["input_ids"][0]))[::-1]),
    ),
    Mistake(
        "positions_restart_in_segment",
        "Positions start again in the second segment. They run through the whole row.",
        _with_positions(_restarting),
    ),
    Mistake(
        "one_position_for_all",
        "Every position got row 0 of the position table. Position s is row s.",
        _with_positions(lambda case: 0),
    ),
    Mistake(
        "position_of_the_row",
        "The position was counted along the batch. It is the place inside the row: `torch.arange(S)`.",
        _with_positions(lambda case: np.arange(len(case["input_ids"]))[:, None]),
    ),
    Mistake(
        "sinusoids_for_positions",
        "These are the sinusoids of the first Transformer. BERT learns a position table: look `position` up.",
        lambda case: _normalised(case, _lookups(case)[0] + _sinusoids(case) + _lookups(case)[2]),
    ),
    Mistake(
        "scaled_by_root_of_hidden",
        "The word vectors were multiplied by √H, as in the first Transformer. BERT adds them as they are.",
        lambda case: _normalised(
            case, _lookups(case)[0] * case["H"] ** 0.5 + _lookups(case)[1] + _lookups(case)[2]
        ),
    ),
    Mistake(
        "multiplied_for_summed",
        "The lookups were multiplied. They are summed.",
        lambda case: _normalised(case, np.prod(_lookups(case), axis=0)),
    ),
    Mistake(
        "mean_for_sum",
        "The lookups were averaged. They are summed; under the norm the difference is small, not zero.",
        lambda case: _normalised(case, _sum(case) / 3),
    ),
)

REFUSES_FITTING = RaisedMistake(
    "refuses_a_row_that_fits",
    "This row has a vector for each position. Refuse a row only when it is longer than the position table.",
    lambda error, message: error == "ValueError" and "unpack" not in message,
)

BEYOND = RaisedMistake(
    "looks_up_beyond_a_table",
    "A number was looked up in a table that has no such row. Do positions start at 0? Does each table get its ids?",
    lambda error, message: error == "IndexError" and "out of range" in message,
)


def _same_vectors(got: Any, expected: np.ndarray) -> bool:
    # float64 inside, 1e-6: float32 intermediates pass, another eps (1e-5 for 1e-3) does not.
    return (
        isinstance(got, Array)
        and got.data.shape == expected.shape
        and np.allclose(got.data.astype(np.float64), expected, rtol=1e-6, atol=1e-6)
    )


def _show_vectors(value: Any) -> str:
    data = value.data if isinstance(value, Array) else np.asarray(value)
    first = ", ".join(f"{number:.4f}" for number in data[0, 0, :4].tolist())
    return f"[0, 0] begins {first}; shape {tuple(data.shape)}"


def _shape(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Finding | None:
    for case, outcome in zip(cases, outcomes, strict=True):
        value = outcome.value
        if not isinstance(value, Array) or value.kind != "tensor":
            continue
        B, S, H = len(case["input_ids"]), len(case["input_ids"][0]), case["H"]
        if value.data.shape == (B, S, H):
            continue
        got, expected = f"shape {tuple(value.data.shape)}", f"shape {(B, S, H)}"
        if value.data.shape == (B, S, 3 * H):
            cause = "The lookups were put side by side. They have the same H numbers and are added."
            return Finding("concatenated", cause, case.label, got, expected)
        return Finding("wrong_shape", "The shape is not (B,S,H).", case.label, got, expected)
    return None


def _judge_vectors(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    wrong_shape = _shape(cases, outcomes)
    if wrong_shape:
        return incorrect(question, wrong_shape)
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_embedded,
        kind="a (B,S,H) tensor of floats",
        is_kind=lambda value: (
            isinstance(value, Array) and value.kind == "tensor" and value.dtype in ("float32", "float64")
        ),
        same=_same_vectors,
        mistakes=EMBED_MISTAKES,
        raised=(REFUSES_FITTING, BEYOND),
        show=_show_vectors,
    )


def embed(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_with_refusals(question, cases, outcomes, _judge_vectors)


JUDGES = {"wordpiece": wordpiece, "pack_pair": pack_pair, "pad_batch": pad_batch, "embed": embed}
