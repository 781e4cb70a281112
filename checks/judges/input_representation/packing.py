"""`pack_pair`: a reference for a row, and what can be changed in it: shortening, putting together, one part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ids = list[int]
Row = dict[str, Ids]
Segments = tuple[Ids, Ids | None]  # of a single segment the second is None
Cut = Callable[[Ids, Ids | None, int, int], Segments]  # A, B, the room for both, max_length


# --- shortening ---------------------------------------------------------------------------------------------


def shorten(a: Ids, b: Ids | None, room: int, _: int = 0, *, drop: int = -1, tie: str = "b") -> Segments:
    """The truncation of the paper's code: one id at a time from the end of the longer segment."""
    second = b or []
    while len(a) + len(second) > max(room, 0):
        from_a = len(a) > len(second) or (tie == "a" and len(a) == len(second))
        (a if from_a else second).pop(drop)
    return a, b


def one_side(first: str) -> Cut:
    """All that is too much goes from one segment; from the other one only when the first is empty."""

    def cut(a: Ids, b: Ids | None, room: int, _: int) -> Segments:
        while len(a) + len(b or []) > room:
            on_a = bool(a) if first == "a" else not b
            (a if on_a else b or []).pop()
        return a, b

    return cut


def at_once(a: Ids, b: Ids | None, room: int, _: int, *, rest_of_a: bool = False) -> Segments:
    """The segment that is longer pays for everything; what it cannot pay stays, or comes from A."""
    excess = max(0, len(a) + len(b or []) - room)
    longer = a if b is None or len(a) > len(b) else b
    del longer[max(0, len(longer) - excess) :]
    if rest_of_a:
        del a[max(0, room - len(b or [])) :]
    return a, b


def halves(a: Ids, b: Ids | None, room: int, odd: int) -> Segments:
    """Half of the room for each where something has to go; `odd` is 1 where A gets the larger half."""
    if b is None:
        return a[:room], b
    if len(a) + len(b) <= room:
        return a, b
    half = (room + odd) // 2
    return a[:half], b[: room - half]


# --- putting together ---------------------------------------------------------------------------------------


def assemble(
    a: Ids,
    b: Ids | None,
    cls_id: int,
    sep_id: int,
    *,
    cls: bool = True,
    middle: bool = True,
    last: bool = True,
) -> Row:
    first = [cls_id] * cls + a + [sep_id] * (last if b is None else middle)
    second = [] if b is None else b + [sep_id] * last
    types = [0] * len(first) + [1] * len(second)
    return {"input_ids": first + second, "token_type_ids": types, "attention_mask": [1] * len(types)}


def packing(cut: Cut = shorten, form: Callable[..., Row] = assemble, **changed: Any) -> Callable[..., Row]:
    """The answer that shortens in this way, then puts the row together in that way."""

    def answer(ids_a: Ids, ids_b: Ids | None, cls_id: int, sep_id: int, max_length: int) -> Row:
        room = max_length - (2 if ids_b is None else 3)
        segments = cut(list(ids_a), None if ids_b is None else list(ids_b), room, max_length)
        return form(*segments, cls_id, sep_id, **changed)

    return answer


pack_pair = packing()


def packed_whole(finish: Callable[[Row, int, int], Row]) -> Callable[..., Row]:
    """The answer that packs without shortening, then does something with (row, max_length, sep_id)."""

    def answer(ids_a: Ids, ids_b: Ids | None, cls_id: int, sep_id: int, max_length: int) -> Row:
        return finish(assemble(list(ids_a), ids_b, cls_id, sep_id), max_length, sep_id)

    return answer


def cut_off(row: Row, max_length: int, sep_id: int) -> Row:
    return {part: values[:max_length] for part, values in row.items()}


def cut_off_and_closed(row: Row, max_length: int, sep_id: int) -> Row:
    row = cut_off(row, max_length, sep_id)
    return row | {"input_ids": [*row["input_ids"][:-1], sep_id]}


def padded(ids_a: Ids, ids_b: Ids | None, cls_id: int, sep_id: int, max_length: int) -> Row:
    row = pack_pair(ids_a, ids_b, cls_id, sep_id, max_length)
    return {part: values + [0] * (max_length - len(values)) for part, values in row.items()}


def _part(part: str, change: Callable[..., Ids]) -> Callable[..., Ids]:
    """A part of the right row, changed by `change(part, ids, ids_b, cls_id, sep_id)`."""

    def answer(ids_a: Ids, ids_b: Ids | None, cls_id: int, sep_id: int, max_length: int) -> Ids:
        row = pack_pair(ids_a, ids_b, cls_id, sep_id, max_length)
        return change(row[part], row["input_ids"], ids_b, cls_id, sep_id)

    return answer


def types(change: Callable[..., Ids]) -> Callable[..., Ids]:
    return _part("token_type_ids", change)


def mask(change: Callable[..., Ids]) -> Callable[..., Ids]:
    return _part("attention_mask", change)
