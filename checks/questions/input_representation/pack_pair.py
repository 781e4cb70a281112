"""Pairs and single segments around the limit: far below, exactly full, one too many, room for one id and for none."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case

SIGNATURE = "pack_pair(ids_a, ids_b, *, cls_id, sep_id, max_length) -> dict"
SECTION = "Packing a pair"

SIZES = (  # ids of A, ids of B, max_length
    *((1, 1, 10), (2, None, 10), (3, 0, 10), (0, 2, 10), (4, 3, 10), (5, None, 7)),  # nothing has to go
    *((5, 3, 10), (3, 8, 10), (9, 2, 10), (6, 6, 12), (9, 6, 12), (9, None, 7)),
    *((3, 2, 4), (2, None, 3), (2, 3, 3), (2, None, 2)),  # room for one id, for none
)
REFUSED = "Not even the special tokens fit into that row: nothing that is returned can be right."


def inputs(rng: Random) -> list[Case]:
    small = [_pair(rng, *size) for size in SIZES]
    large = _pair(rng, rng.randrange(30, 40), rng.randrange(70, 90), 64)
    refused = [_pair(rng, 2, second, room, refused=REFUSED) for second, room in ((3, 2), (None, 1))]
    return [*small, _with_ids_of_specials(rng), large, *refused, small[0].again()]


def _pair(rng: Random, length_a: int, length_b: int | None, max_length: int, **data: Any) -> Case:
    ids = rng.sample(range(1_000, 30_000), length_a + (length_b or 0))
    cls_id, sep_id = rng.sample([i for i in range(3, 999) if i not in (101, 102)], 2)
    second = "None" if length_b is None else f"{length_b} ids"
    return Case(
        f"A of {length_a} ids, B {second}, max_length={max_length}",
        {
            "ids_a": ids[:length_a],
            "ids_b": None if length_b is None else ids[length_a:],
            "cls_id": cls_id,
            "sep_id": sep_id,
            "max_length": max_length,
            **data,
        },
    )


def _with_ids_of_specials(rng: Random) -> Case:
    """Text may hold any id, those of the special tokens and 0 as well: only its place says what a token is."""
    data = dict(_pair(rng, 5, 4, 20).data)
    data["ids_a"] = [*data["ids_a"][:2], data["sep_id"], 0, data["ids_a"][1]]
    data["ids_b"] = [data["cls_id"], data["ids_b"][0], 0, data["sep_id"]]
    return Case("ids of special tokens and 0 in both texts, max_length=20", data)


def probe(answer: Callable[..., Any], case: Case) -> Any:
    segments = [None if case[name] is None else list(case[name]) for name in ("ids_a", "ids_b")]
    return call(answer, *segments, **{name: case[name] for name in ("cls_id", "sep_id", "max_length")})
