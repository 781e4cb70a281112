"""`align_labels`: one label for each word, put on the first of its pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checks.judges.containers import list_of
from checks.judges.kinds import INT
from checks.judges.values import Mistake, RaisedMistake, ValueJudge

IGNORED = -100  # what PyTorch's cross-entropy leaves out
Words = list[int | None]


def align_labels(
    word_ids: Words,
    word_labels: list[int],
    rest: Callable[[int], int] = lambda label: IGNORED,
    special: int = IGNORED,
    first: bool = True,
) -> list[int]:
    """The labels of a row; `rest` is the label of further pieces, `first` whether it is the first that counts."""
    row = []
    for position, word in enumerate(word_ids):
        other = position - 1 if first else position + 1
        neighbour = word_ids[other] if 0 <= other < len(word_ids) else None
        if word is None:
            row.append(special)
        else:
            row.append(word_labels[word] if word != neighbour else rest(word_labels[word]))
    return row


def aligning(**changed: Any) -> Callable[[Words, list[int]], list[int]]:
    return lambda word_ids, word_labels: align_labels(word_ids, word_labels, **changed)


def then(change: Callable[[list[int]], list[int]]) -> Callable[[Words, list[int]], list[int]]:
    """The answer that does something with the right row."""
    return lambda word_ids, word_labels: change(align_labels(word_ids, word_labels))


def ignoring(other: int) -> Callable[[Words, list[int]], list[int]]:
    return then(lambda row: [other if label == IGNORED else label for label in row])


def keeping(wanted: Callable[[Any, int], bool]) -> Callable[[Words, list[int]], list[int]]:
    """The answer whose row holds some entries only; `wanted(word, label)`."""

    def answer(word_ids: Words, word_labels: list[int]) -> list[int]:
        row = zip(word_ids, align_labels(word_ids, word_labels), strict=True)
        return [label for word, label in row if wanted(word, label)]

    return answer


def _in_turn(word_ids: Words, word_labels: list[int]) -> list[int]:
    """Takes the next label at each new word instead of the label of that word."""
    labels = iter(word_labels)
    return [IGNORED if label == IGNORED else next(labels) for label in align_labels(word_ids, word_labels)]


def _by_labels(word_ids: Words, word_labels: list[int]) -> list[int]:
    labels = [IGNORED if word is None else word_labels[word] for word in word_ids]
    before = [None, *labels]
    return [IGNORED if labels[s] == before[s] else labels[s] for s in range(len(labels))]


def _without_pieces(word_ids: Words, word_labels: list[int]) -> list[int]:
    row = [IGNORED, *word_labels, *[IGNORED] * len(word_ids)]
    return row[: len(word_ids)]


def _hidden(hides: Callable[[int, Words], bool]) -> Callable[[Words, list[int]], list[int]]:
    def answer(word_ids: Words, word_labels: list[int]) -> list[int]:
        row = align_labels(word_ids, word_labels)
        return [IGNORED if hides(position, word_ids) else label for position, label in enumerate(row)]

    return answer


MISTAKES = (
    Mistake(
        "label_on_every_piece",
        "Every piece carries its word's label, so that a long word counts several times. Only the first one does.",
        aligning(rest=lambda label: label),
    ),
    Mistake(
        "inside_label_on_rest",
        "Further pieces got the I- label of their word. That is another convention; here they are −100.",
        aligning(rest=lambda label: label + label % 2),
    ),
    Mistake(
        "outside_label_on_rest",
        "Further pieces are labelled 0, which is a class (`O`), and the model learns it. Use −100.",
        aligning(rest=lambda label: 0),
    ),
    Mistake(
        "specials_labelled_0",
        "Special tokens are labelled 0, which is a class (`O`). They belong to no word: −100.",
        aligning(special=0),
        aligning(special=0, rest=lambda label: label),
    ),
    Mistake(
        "zero_for_ignored",
        "0 is a class (`O`), and the model learns it. What must not count is −100.",
        ignoring(0),
    ),
    Mistake(
        "minus_one_for_ignored",
        "The cross-entropy leaves out −100. It takes −1 for a class and fails.",
        ignoring(-1),
    ),
    Mistake("plus_100_for_ignored", "The sign is missing: what must not count is −100.", ignoring(100)),
    Mistake(
        "label_on_last_piece",
        "The label stands on the last piece of its word. Put it on the first.",
        aligning(first=False),
    ),
    Mistake(
        "shifted_by_one",
        "The labels stand one position too far to one side. Each belongs to the piece at its own place.",
        then(lambda row: [*row[1:], IGNORED]),
        then(lambda row: [IGNORED, *row[:-1]]),
    ),
    Mistake(
        "counts_words_itself",
        "Labels were taken one after the other. A word may leave no piece: `word_labels[word_id]` is the right one.",
        _in_turn,
    ),
    Mistake(
        "compares_labels",
        "A word with the label of the word before it got none. Compare the words' numbers, not their labels.",
        _by_labels,
    ),
    Mistake(
        "word_0_taken_for_special",
        "The first word lost its label: 0 is false in Python. Ask `word_id is None`.",
        _hidden(lambda position, word_ids: word_ids[position] == 0),
    ),
    Mistake(
        "starts_with_word_0",
        "A row may begin with word 0, and then its label is missing. Before the first entry stands no word: `None`.",
        _hidden(lambda position, word_ids: position == 0),
    ),
    Mistake(
        "edges_left_out",
        "The first and last place of the row never get a label. A row may begin and end with a word.",
        _hidden(lambda position, word_ids: position in (0, len(word_ids) - 1)),
        _hidden(lambda position, word_ids: position == len(word_ids) - 1),
    ),
    Mistake(
        "specials_left_out",
        "Special tokens are missing, so that labels and pieces no longer match. There is one label for each entry.",
        keeping(lambda word, label: word is not None),
    ),
    Mistake(
        "further_pieces_left_out",
        "Further pieces are missing, so that labels and pieces no longer match. There is one label for each entry.",
        keeping(lambda word, label: word is None or label != IGNORED),
        keeping(lambda word, label: label != IGNORED),
    ),
    Mistake(
        "labels_of_words",
        "These are the labels of the words as they came. There is one label for each entry of `word_ids`.",
        lambda word_labels: list(word_labels),
    ),
    Mistake(
        "labels_without_pieces",
        "The labels follow the words as if each had one piece. Long words push them apart: go by `word_ids`.",
        _without_pieces,
    ),
)

RAISED = (
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
    RaisedMistake(
        "looks_for_every_word",
        "A word was looked for that has no piece in this row. Go through `word_ids`, not through the words.",
        lambda error, message: error == "ValueError" and "is not in list" in message,
    ),
)

JUDGE = ValueJudge(
    list_of(INT, "a list of ints, one for each entry of word_ids"), align_labels, MISTAKES, RAISED
)
