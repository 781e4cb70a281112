"""The examples that `nsp_pairs` gave, as places in the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from checks.encoding import Array
from checks.judges.showing import describe_type
from checks.protocol import Case, Finding

Place = tuple[int, int]  # document and sentence; of a text that stands twice the first
Example = tuple[Place, Place, int]


@dataclass(frozen=True)
class Pairs:
    """What the calls of one case gave."""

    case: Case
    calls: list[list[Example]]

    @cached_property
    def sizes(self) -> list[int]:
        return [len(document) for document in self.case["documents"]]

    @cached_property
    def nexts(self) -> list[tuple[Place, Place]]:
        """Every consecutive pair of every document."""
        place = dict(zip(_texts(self.case), _places(self.case), strict=True))
        return [(place[a], place[b]) for document in self.case["documents"] for a, b in pairwise(document)]

    @property
    def n(self) -> int:
        """How many examples a call should give."""
        return len(self.nexts)

    @cached_property
    def flat(self) -> list[Example]:
        return [example for call in self.calls for example in call]

    def labels(self) -> list[list[int]]:
        """The labels of each call, in the order of the first sentences: an answer may shuffle."""
        return [[label for _, _, label in sorted(call)] for call in self.calls]

    def text(self, place: Place) -> str:
        return f"“{self.case['documents'][place[0]][place[1]]}”"

    def finding(self, id: str, cause: str, got: str, expected: str) -> Finding:
        return Finding(id, cause, self.case.label, got, expected)


def _texts(case: Case) -> list[str]:
    """Each text of the corpus once, in the order of the probe's numbers."""
    return list(dict.fromkeys(text for document in case["documents"] for text in document))


def _places(case: Case) -> list[Place]:
    first: dict[str, Place] = {}
    for d, document in enumerate(case["documents"]):
        for s, text in enumerate(document):
            first.setdefault(text, (d, s))
    return list(first.values())


def read_pairs(case: Case, value: Any) -> Pairs | Finding:
    """The probe's evidence as examples, or what is wrong about its form."""
    if not _are_examples(case, value):
        return _form(case, value)
    places = _places(case)
    examples = [(places[a], places[b], label) for a, b, label in value["examples"].data.tolist()]
    ends, calls = 0, []
    for length in value["lengths"]:
        calls.append(examples[ends : ends + length])
        ends += length
    return Pairs(case, calls)


def _are_examples(case: Case, value: Any) -> bool:
    """Whether it is what the probe makes of lists of examples, one for each call."""
    if not (isinstance(value, dict) and value.keys() == {"lengths", "examples"}):
        return False
    lengths, examples = value["lengths"], value["examples"]
    if not (isinstance(lengths, list) and all(type(it) is int and it >= 0 for it in lengths)):
        return False
    if not (isinstance(examples, Array) and examples.data.dtype.kind == "i"):
        return False
    data, calls = examples.data, sum(plan["each"] for plan in case["calls"])
    return (
        len(lengths) == calls
        and data.shape == (sum(lengths), 3)
        and bool((data >= 0).all() and (data < [len(_texts(case))] * 2 + [2]).all())
    )


def _form(case: Case, value: Any) -> Finding:
    """Which part of the answer is no example."""
    wanted = "a list of (sentence, sentence, 0 or 1)"
    if not isinstance(value, (list, tuple)):
        return Finding("wrong_type", f"Return {wanted}.", case.label, describe_type(value)[:120], wanted)
    for index, example in enumerate(value):
        if problem := _example_problem(example, _texts(case)):
            got = f"[{index}]: {describe_type(example)[:160]}"
            return Finding("wrong_type", problem, case.label, got, wanted)
    return Finding("wrong_type", f"Return {wanted}.", case.label, describe_type(value)[:120], wanted)


def _example_problem(example: Any, texts: Sequence[str]) -> str:
    if not (isinstance(example, (list, tuple)) and len(example) == 3):
        return "An example has three parts: the first sentence, the second sentence and the label."
    for name, part in zip(("first", "second"), example, strict=False):
        if not isinstance(part, str):
            return f"The {name} part of an example is a sentence; here it is {describe_type(part)[:60]}."
        if part not in texts:
            return f"The {name} sentence of an example is none of the corpus. Take sentences as they are."
    return "The label of an example is the int 0 or 1."
