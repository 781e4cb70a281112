"""Judges of the assignment `input_representation`.

Expected values come from small references written here, in plain Python and float64 NumPy. A mistake is such a
reference with one thing changed.
"""

PARTS = ("input_ids", "token_type_ids", "attention_mask")


def two_of_three(right: frozenset[str]) -> float:
    """The score of a row or a batch whose ids are right and one of its other two parts."""
    return 2 / 3 if "input_ids" in right and len(right) == 2 else 0.0
