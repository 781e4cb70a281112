"""Inputs and probes of the assignment `input_representation` (lesson 02).

B batch · S sequence · H hidden · V vocabulary · P rows of the position table · T segment types
"""

LESSON = "lessons/02_what_goes_in.ipynb"
NAMES = ("wordpiece", "pack_pair", "pad_batch", "embed")
