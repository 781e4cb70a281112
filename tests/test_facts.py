"""No number in a lesson's prose without a fact: an expression that is recomputed, or a citation.

How an author uses it is written at the top of `lessons/facts.toml`.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest

LESSONS = Path(__file__).parents[1] / "lessons"
FACTS: dict[str, dict[str, str | dict[str, str]]] = tomllib.loads(
    (LESSONS / "facts.toml").read_text(encoding="utf-8")
)

# A number: digits with optional thousands, decimals; no letter or digit before it (fp32, x86 are names).
NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.,])\d+(?:\.\d+)?")
# What is not a claim: code, link targets, list and section numbers, years and places of a citation, identifiers.
EXEMPT = [
    re.compile(pattern, re.MULTILINE | re.DOTALL)
    for pattern in (
        r"^```.*?^```",
        r"`[^`\n]*`",
        r"\]\([^)]*\)",
        r"https?://\S+",
        r"^#+\s+\d+",  # "## 3 A larger model"
        r"^\s*(?:>\s*)*\d+\.\s",  # "2. Make the table …"
        r"\*\*Minutes:\*\*\s*\d+",
        r"\b[Ll]essons?\s+\d\d\b",
        r"\b(?:al\.|and [A-Z]\w+),?\s+\(?\d{4}\b",  # "Lan et al. 2020", "Press and Wolf 2017"
        r"\b(?:[Tt]able|[Ss]ec(?:tion|\.)|[Ff]ig(?:ure|\.)|[Aa]pp(?:endix|\.))\s+(?:[A-Z]\.)?\d+(?:\.\d+)*",
        r"\barXiv[\s:]+\d{4}\.\d{4,5}",
    )
]
CITED = re.compile(r"\d{4}.*\b(?:[Tt]able|[Ss]ec\.|[Ff]ig\.|[Aa]pp\.|[Aa]bstract|[Rr]eadme)")


def numbers(markdown: str) -> list[str]:
    """The numbers of a piece of prose that need a fact, as they are written."""
    for pattern in EXEMPT:
        markdown = pattern.sub(" ", markdown)
    return NUMBER.findall(markdown)


def prose(notebook: Path) -> dict[str, list[str]]:
    """The numbers in each markdown cell by cell id; the references cite and claim nothing."""
    cells = nbformat.read(notebook, as_version=4).cells
    return {c.id: numbers(c.source) for c in cells if c.cell_type == "markdown" and c.id != "references"}


def revealed(notebook: Path) -> set[str]:
    """The keys of the results that a lesson shows."""
    cells = nbformat.read(notebook, as_version=4).cells
    return set(re.findall(r"reveal\(\s*[\"']([^\"']+)", "\n".join(cell.source for cell in cells)))


def as_written(value: float, literal: str) -> str:
    """A value rounded and grouped as the literal is."""
    decimals = len(literal.partition(".")[2])
    return f"{value:,.{decimals}f}" if "," in literal else f"{value:.{decimals}f}"


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What an expression may use: the course library's numbers, `transformers` and `math`."""
    import math

    import transformers

    from insidebert import budget, configs, cost, finetuning, masking

    modules = (masking, finetuning, configs, budget, cost)
    library = {name: value for module in modules for name, value in vars(module).items()}
    return {"math": math, "transformers": transformers, **library}


@pytest.mark.parametrize("notebook", sorted(LESSONS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_number_in_prose_has_a_fact(notebook: Path) -> None:
    facts = FACTS.get(notebook.stem, {})
    cells = prose(notebook)
    missing = [
        f"{number} in cell {cell!r}"
        for cell, found in cells.items()
        for number in found
        if number not in facts
    ]
    assert not missing, f"Add to lessons/facts.toml under [{notebook.stem}]: " + "; ".join(missing)
    unused = set(facts) - set(itertools.chain.from_iterable(cells.values()))
    assert not unused, f"No longer in {notebook.name}, remove from lessons/facts.toml: {sorted(unused)}"


def test_every_section_belongs_to_a_lesson() -> None:
    assert set(FACTS) <= {path.stem for path in LESSONS.glob("*.ipynb")}


ENTRIES = [(lesson, number, fact) for lesson, facts in FACTS.items() for number, fact in facts.items()]


@pytest.mark.parametrize(("lesson", "number", "fact"), ENTRIES, ids=[f"{e[0][:2]}: {e[1]}" for e in ENTRIES])
def test_a_fact_is_true_or_cited(
    lesson: str, number: str, fact: str | dict[str, str], names: dict[str, Any]
) -> None:
    if isinstance(fact, str):
        assert as_written(eval(fact, dict(names)), number) == number, f"{lesson}: {fact}"
    elif set(fact) <= {"at_least", "at_most"} and fact:  # tests/test_lessons.py holds the result to it
        assert set(fact.values()) <= revealed(LESSONS / f"{lesson}.ipynb"), f"{lesson} reveals no {fact}"
    else:
        assert set(fact) == {"cite"} and CITED.search(fact["cite"]), (
            f"{lesson}: cite year and table or section"
        )


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("a total of 109,482,240, which", ["109,482,240"]),
        ("21.41 % of 12H² + 13H.", ["21.41", "12", "13"]),
        ("called 110M, or 1.63 GiB", ["110", "1.63"]),
        ("E = 128: 5.85 times", ["128", "5.85"]),
        ("> **Pitfall: 133 million.**", ["133"]),
        ("minus −3 and 80/10/10", ["3", "80", "10", "10"]),
        ("## 3 A larger model\n\n1. first of 7\n2. second", ["7"]),
        ("fp32 and bert2 in `12 * 768` and\n```\n5\n```", []),
        ("[exercise](../03_x/y.ipynb), Lan et al. 2020, Table 3, sec. 3.1, App. C.2", []),
        ("**Minutes:** 40. See lesson 06.", []),
        ("1,000,000 steps, 256 × 512", ["1,000,000", "256", "512"]),
    ],
)
def test_which_numbers_need_a_fact(markdown: str, found: list[str]) -> None:
    assert numbers(markdown) == found


@pytest.mark.parametrize(
    ("value", "literal", "true"),
    [(0.2141 * 100, "21.41", True), (109_482_240, "109,482,240", True), (109_482_752, "109,482,240", False)],
)
def test_a_value_is_compared_as_it_is_written(value: float, literal: str, true: bool) -> None:
    assert (as_written(value, literal) == literal) is true
