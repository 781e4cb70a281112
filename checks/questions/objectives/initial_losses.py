"""Vocabularies, from a handful of entries to more than any BERT has."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from checks.protocol import Case

SIGNATURE = "initial_losses(vocab_size) -> (mlm, nsp, total)"
SECTION = "What an untrained model scores"


def inputs(rng: Random) -> list[Case]:
    sizes = [rng.randrange(3, 9), rng.randrange(100, 1_000), 28_996, 30_522, rng.randrange(50_000, 300_000)]
    cases = [Case(f"vocab_size={size}", {"vocab_size": size}) for size in sizes]
    return [*cases, cases[0].again()]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    return answer(case["vocab_size"])
