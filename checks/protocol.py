"""What a graded question is made of.

A question has four parts that never mix. *Inputs* are plain data drawn from a seed. The *probe* calls the
learner's answer on them and returns evidence. The *judge* compares inputs and evidence and returns a verdict.
*Misconceptions* are the wrong answers people are known to give, each with a finding of its own.

This module holds what both halves need. Inputs and probes live in `checks.questions`, judges and misconceptions
in `checks.judges`: where a submission is graded the second half is not even there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from checks.encoding import Other

State = Literal["correct", "partial", "incorrect", "not_attempted", "crashed"]


@dataclass(frozen=True)
class Case:
    """One input of a question: plain data that the probe turns into arguments and the judge reads again.

    `label` is how the case is named to the learner ("a tied pre-training model, hidden size 32").
    """

    label: str
    data: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def again(self) -> Case:
        """The same input once more, last of all: what an answer keeps between calls shows in it."""
        return Case(f"{self.label}, asked again", self.data)


@dataclass(frozen=True)
class Question:
    """The half of a question that may stand beside a submission: inputs and probe.

    lesson  the notebook where it is explained, a path in the course; `section` is the heading in it.
    inputs  `random.Random -> list[Case]`, smallest case first; the same seed draws the same cases.
    probe   `(answer, case) -> value`, builds the arguments, calls the answer, returns what it returned.
    """

    name: str
    assignment: str
    signature: str
    lesson: str
    section: str
    inputs: Callable[[random.Random], list[Case]]
    probe: Callable[[Any, Case], Any]

    def cases(self, seed: int) -> list[Case]:
        # Hashing in the name keeps two questions with one seed from drawing the same numbers.
        return self.inputs(random.Random(f"{self.name}:{seed}"))


@dataclass(frozen=True)
class Raised:
    """The answer raised: the exception's name and message, and the line of the answer where it happened."""

    error: str
    message: str
    line: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one case gave: a value, or an exception; and whether the answer changed its arguments."""

    value: Any = None
    raised: Raised | None = None
    changed_input: bool = False

    @property
    def is_blank(self) -> bool:
        """True for the answers that mean "not attempted": `NotImplementedError`, `None` and `...`."""
        if self.raised is not None:
            return self.raised.error == "NotImplementedError"
        return self.value is None or (isinstance(self.value, Other) and self.value.type == "ellipsis")


@dataclass(frozen=True)
class Evidence:
    """What one probe of one question left behind, one outcome per case.

    `handed_on` names the function of the course's own that the answer called instead of doing the work.
    """

    question: str
    outcomes: tuple[Outcome, ...]
    handed_on: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing a judge saw. `id` is stable and counted over a class; the rest is for the learner."""

    id: str
    cause: str
    case: str = ""
    got: str = ""
    expected: str = ""


@dataclass(frozen=True)
class Verdict:
    """The judgement on one question: a state, a score from 0 to 1, the findings, and where to read on.

    A judge leaves `question`, `lesson` and `section` empty; `checks.judges.judge` fills them in.
    """

    question: str
    state: State
    score: float
    findings: tuple[Finding, ...] = ()
    lesson: str = ""
    section: str = ""

    def __post_init__(self) -> None:
        if not (0.0 <= self.score <= 1.0):  # also refuses nan
            raise ValueError(f"A verdict's score lies between 0 and 1; {self.question} got {self.score!r}.")
