"""`align_labels`: one label for each word, put on the first of its pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import Mistake, RaisedMistake, judge_values
from checks.protocol import Case, Outcome, Question, Verdict

IGNORED = -100  # what PyTorch's cross-entropy leaves out


def _aligned(
    case: Case,
    *,
    rest: Callable[[int], int] = lambda label: IGNORED,
    special: int = IGNORED,
    first: bool = True,
) -> list[int]:
    """The labels of a row; `rest` is the label of further pieces, `first` whether it is the first that counts."""
    ids, labels = case["word_ids"], case["word_labels"]
    row = []
    for position, word in enumerate(ids):
        other = position - 1 if first else position + 1
        neighbour = ids[other] if 0 <= other < len(ids) else None
        if word is None:
            row.append(special)
        else:
            row.append(labels[word] if word != neighbour else rest(labels[word]))
    return row


def _shifted(case: Case, by: int) -> list[int]:
    row = _aligned(case)
    return [IGNORED, *row[:-1]] if by == 1 else [*row[1:], IGNORED]


def _replaced(ignored: int) -> Callable[[Case], list[int]]:
    return lambda case: [ignored if label == IGNORED else label for label in _aligned(case)]


def _own_count(case: Case) -> list[int]:
    """Takes the next label at each new word instead of the label of that word."""
    ids, labels = case["word_ids"], iter(case["word_labels"])
    row, previous = [], None
    for word in ids:
        row.append(next(labels) if word is not None and word != previous else IGNORED)
        previous = word
    return row


def _word_0_special(case: Case) -> list[int]:
    return [
        IGNORED if word == 0 else label for word, label in zip(case["word_ids"], _aligned(case), strict=True)
    ]


def _dropped(wanted: Callable[[Any, int], bool]) -> Callable[[Case], list[int]]:
    return lambda case: [
        label for word, label in zip(case["word_ids"], _aligned(case), strict=True) if wanted(word, label)
    ]


def _filled(case: Case) -> list[int]:
    """The labels of the words in a row, without regard to pieces, filled up to the length."""
    row = [IGNORED, *case["word_labels"], IGNORED]
    return (row + [IGNORED] * len(case["word_ids"]))[: len(case["word_ids"])]


EVERY_PIECE = (
    "Every piece carries its word's label, so that a long word counts several times. Only the first one does."
)
MISTAKES = (
    Mistake("label_on_every_piece", EVERY_PIECE, lambda case: _aligned(case, rest=lambda label: label)),
    Mistake(
        "inside_label_on_rest",
        "Further pieces got the I- label of their word. That is another convention; here they are −100.",
        lambda case: _aligned(case, rest=lambda label: label + label % 2),
    ),
    Mistake(
        "outside_label_on_rest",
        "Further pieces are labelled 0, which is a class (`O`), and the model learns it. Use −100.",
        lambda case: _aligned(case, rest=lambda label: 0),
    ),
    Mistake(
        "specials_labelled_0",
        "Special tokens are labelled 0, which is a class (`O`). They belong to no word: −100.",
        lambda case: _aligned(case, special=0),
    ),
    Mistake(
        "specials_labelled_0",
        "Special tokens are labelled 0, and every piece of a word carries its label. Both must be −100.",
        lambda case: _aligned(case, special=0, rest=lambda label: label),
    ),
    Mistake(
        "zero_for_ignored",
        "0 is a class (`O`), and the model learns it. What must not count is −100.",
        _replaced(0),
    ),
    Mistake(
        "minus_one_for_ignored",
        "The cross-entropy leaves out −100. It takes −1 for a class and fails.",
        _replaced(-1),
    ),
    Mistake(
        "plus_100_for_ignored",
        "The sign is missing: what must not count is −100.",
        _replaced(100),
    ),
    Mistake(
        "label_on_last_piece",
        "The label stands on the last piece of its word. Put it on the first.",
        lambda case: _aligned(case, first=False),
    ),
    Mistake(
        "shifted_by_one",
        "The labels stand one position too far to the left: `[CLS]` takes a place of its own.",
        lambda case: _shifted(case, -1),
    ),
    Mistake(
        "shifted_by_one",
        "The labels stand one position too far to the right.",
        lambda case: _shifted(case, 1),
    ),
    Mistake(
        "counts_words_itself",
        "Labels were taken one after the other. A word may leave no piece: `word_labels[word_id]` is the right one.",
        _own_count,
    ),
    Mistake(
        "word_0_taken_for_special",
        "The first word lost its label: 0 is false in Python. Ask `word_id is None`.",
        _word_0_special,
    ),
    Mistake(
        "specials_left_out",
        "Special tokens are missing, so that labels and pieces no longer match. There is one label for each entry.",
        _dropped(lambda word, label: word is not None),
    ),
    Mistake(
        "further_pieces_left_out",
        "Further pieces are missing, so that labels and pieces no longer match. There is one label for each entry.",
        _dropped(lambda word, label: word is None or label != IGNORED),
    ),
    Mistake(
        "further_pieces_left_out",
        "Only first pieces have a label, so that labels and pieces no longer match. There is one label for each entry.",
        _dropped(lambda word, label: label != IGNORED),
    ),
    Mistake(
        "labels_of_words",
        "These are the labels of the words as they came. There is one label for each entry of `word_ids`.",
        lambda case: list(case["word_labels"]),
    ),
    Mistake(
        "labels_without_pieces",
        "The labels follow the words as if each had one piece. Long words push them apart: go by `word_ids`.",
        _filled,
    ),
)

CRASHES = (
    RaisedMistake(
        "looks_up_none",
        "`None` was used as the number of a word. It marks special tokens and padding: give those −100 first.",
        lambda error, message: error == "TypeError" and "NoneType" in message,
    ),
    RaisedMistake(
        "looks_up_a_position",
        "A label was looked up by position. The entries of `word_ids` say which word, and so which label.",
        lambda error, message: error == "IndexError",
    ),
    RaisedMistake(
        "counts_words_itself",
        "The labels ran out: they were taken one after the other. `word_labels[word_id]` finds the right one.",
        lambda error, message: error == "StopIteration",
    ),
)


def align_labels(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_aligned,
        kind="a list of ints, one for each entry of word_ids",
        is_kind=lambda value: isinstance(value, list) and all(type(label) is int for label in value),
        same=lambda got, expected: bool(got == expected),
        mistakes=MISTAKES,
        raised=CRASHES,
    )
