"""Short rows, each with one thing that can go wrong, and a long random one."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.probing import call
from checks.protocol import Case
from checks.questions.fine_tuning_shapes.tags import random_tags, types

SIGNATURE = "entity_spans(tags) -> set[(type, first, last)]"
SECTION = "From tags to entities"


def inputs(rng: Random) -> list[Case]:
    a, b, c = types(rng)
    rows = [
        [f"B-{a}", "O"],
        ["O", f"B-{a}", f"I-{a}", "O"],
        ["O", f"B-{b}", f"I-{b}"],
        [f"B-{a}", f"B-{a}", f"I-{a}", "O"],
        [f"B-{a}", f"I-{a}", f"B-{b}", "O"],
        [f"B-{a}", "O", f"I-{a}", "O", f"B-{a}"],
        [f"I-{a}", f"I-{a}", "O", f"I-{b}", f"B-{b}", "O"],
        ["O", f"B-{a}", f"I-{b}", f"I-{b}", "O"],
        [f"I-{a}", f"I-{b}", f"I-{c}", "O"],
        [f"B-{a}-{b}", f"I-{a}-{b}", f"I-{a}-{c}", "O"],
        ["B-BIO", "I-BIO", "B-INST", "O", "B-I-O"],  # names made of the letters of the scheme
        ["O"] * rng.randrange(2, 5),
        [],
        random_tags(rng, [a, b, c], 40),
    ]
    cases = [Case(" ".join(row)[:60] or "no tags at all", {"tags": row}) for row in rows]
    return [*cases, cases[0].again()]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, list(case["tags"]))
