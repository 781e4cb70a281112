"""Inputs and probes of the assignment `masking_granularity` (lesson 04).

A row travels as tokens or as groups: for each piece the number of its word, None for a special token. The two
questions that choose at random are asked many times with one generator, then again from the same seed: the draws
leave as 0 and 1, one row a draw.
"""

LESSON = "lessons/04_which_unit_is_hidden.ipynb"
NAMES = (
    "word_groups",
    "half_open_words",
    "prediction_budget",
    "whole_word_selection",
    "span_length_distribution",
    "span_selection",
)
