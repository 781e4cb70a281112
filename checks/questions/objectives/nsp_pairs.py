"""Small corpora: of two documents and of five, one in which sentences repeat, and two that are too small."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from checks.probing import call
from checks.protocol import Case
from checks.questions.generators import CountingRandom, global_seed
from checks.questions.objectives.calls import call_once, is_blank, plan_calls

SIGNATURE = "nsp_pairs(documents, rng) -> list[(a, b, label)]"
SECTION = "Neighbours and strangers"

_SUBJECTS = ("The cat", "A teacher", "My sister", "The ship", "This city", "Our river", "Nobody", "The moon")
_VERBS = ("waits", "sings", "falls asleep", "turns north", "comes home", "is late", "forgets", "starts again")
TOO_FEW = "With fewer than two documents there is no other document to draw from."


def _documents(rng: Random, sizes: list[int]) -> list[list[str]]:
    """Documents of as many sentences as `sizes` says; no sentence occurs twice."""
    everything = [f"{subject} {verb}." for subject in _SUBJECTS for verb in _VERBS]
    sentences = iter(rng.sample(everything, sum(sizes)))
    return [[next(sentences) for _ in range(size)] for size in sizes]


def inputs(rng: Random) -> list[Case]:
    many = rng.sample([1, *(rng.randrange(9, 14) for _ in range(4))], 5)
    few = rng.sample([4, 5], 2)
    repeating = _documents(rng, [4, 5])
    repeating[1][2] = repeating[1][0]  # a sentence that has two different followers
    corpora = [
        (f"two documents of {few[0]} and {few[1]} sentences", _documents(rng, few), 40),
        (f"five documents of {', '.join(map(str, many))} sentences", _documents(rng, many), 140),
        ("a document that says one sentence twice", repeating, 30),
        ("two documents of the same sentences", _documents(rng, [3]) * 2, 2),
    ]
    too_few = [("one document alone", _documents(rng, [50])), ("no document", [])]
    return [
        *(
            Case(label, {"documents": documents, "calls": plan_calls(rng, different)})
            for label, documents, different in corpora
        ),
        *(
            Case(label, {"documents": documents, "calls": call_once(rng), "refused": TOO_FEW})
            for label, documents in too_few
        ),
    ]


def probe(answer: Callable[..., Any], case: Case) -> Any:
    """All calls: `lengths`, the examples of each, and `examples` (sum of them, 3), each sentence as its place in the
    corpus, the first place of a text. What is not a list of examples comes back as it is."""
    place: dict[str, int] = {}
    for sentence in (sentence for document in case["documents"] for sentence in document):
        place.setdefault(sentence, len(place))
    found: list[list[Any]] = []
    lengths: list[int] = []
    for plan in case["calls"]:
        rng = CountingRandom(plan["generator"])
        with global_seed(plan["world"]):
            for _ in range(plan["each"]):
                rng.draws = 0
                value = (call if len(lengths) < 4 else _ask)(answer, case["documents"], rng)
                examples = is_blank(value) or _read(value, place)
                if not isinstance(examples, list):
                    return value
                found += examples
                lengths.append(len(examples))
    return {"lengths": lengths, "examples": np.array(found, dtype=np.int16).reshape(-1, 3)}


def _ask(answer: Callable[..., Any], *arguments: Any) -> Any:
    return answer(*arguments)


def _read(value: Any, place: dict[str, int]) -> list[list[Any]] | None:
    """Examples as places and labels; None where one is no triple of two known sentences and 0 or 1."""
    if not isinstance(value, (list, tuple)):
        return None
    examples = []
    for example in value:
        if not (isinstance(example, (list, tuple)) and len(example) == 3):
            return None
        a, b, label = example
        if not (isinstance(a, str) and isinstance(b, str) and a in place and b in place and _is_label(label)):
            return None
        examples.append([place[a], place[b], int(label)])
    return examples


def _is_label(label: Any) -> bool:
    """0 or 1, of Python, of NumPy or as a tensor without axes; no bool, no float."""
    dtype = str(getattr(label, "dtype", ""))
    whole = type(label) is int or ("int" in dtype and getattr(label, "ndim", 1) == 0)
    return whole and label in (0, 1)
