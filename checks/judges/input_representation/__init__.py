"""Judges and misconceptions of the assignment `input_representation`.

Expected values come from small references written here, in plain Python and float64 NumPy. A misconception is such a
reference with one thing changed.
"""

from checks.judges.input_representation.batches import pad_batch
from checks.judges.input_representation.pairs import pack_pair
from checks.judges.input_representation.vectors import embed
from checks.judges.input_representation.words import wordpiece

JUDGES = {"wordpiece": wordpiece, "pack_pair": pack_pair, "pad_batch": pad_batch, "embed": embed}
