"""Rows of words to place spans in; what each kind of row is good for says the judge."""

from __future__ import annotations

from random import Random

from checks.protocol import Case
from checks.questions.masking_granularity import selections

SIGNATURE = "span_selection(groups, budget, rng, p=0.2, max_length=10) -> list[bool]"
SECTION = "Span masking"
probe = selections.probe


def inputs(rng: Random) -> list[Case]:
    def row(label: str, segments: list[list[int]], budget: int, draws: int, **more: object) -> Case:
        return selections.selection(rng, label, segments, budget, draws, **more)  # type: ignore[arg-type]

    long = [[rng.randrange(1, 4) for _ in range(n)] for n in (14, 11, 6)]
    # Orders in which spans that go on bring far more neighbours together than any uneven choice of words.
    eight = rng.choice([[2, 2, 2, 1, 2, 1, 1, 1], [1, 2, 2, 1, 1, 1, 2, 2]])
    alike, steep = [[2] * 180], {"p": rng.choice([0.65, 0.7]), "max_length": 5}
    default = row("31 words in three segments", long, rng.randrange(12, 18), 60, padding=4)
    given = {"p": 0.2, "max_length": 10}
    return [
        *selections.edges(rng),
        default,
        Case(f"{default.label}, p=0.2, max_length=10, the same seed", {**default.data, "options": given}),
        row("six segments of one word", [[1]] * 6, 2, 2_000, statistics="segments", p=0.05),
        row(
            "eight words in two segments",
            [eight[:2], eight[2:]],
            3,
            3_000,
            statistics="words",
            p=0.1,
            max_length=1,
        ),
        row("180 words of two pieces", alike, 24, 120, statistics="lengths", p=0.2, max_length=4),
        row("180 words of two pieces", alike, 24, 120, statistics="lengths", **steep),
    ]
