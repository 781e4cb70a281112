"""Judges and misconceptions of the assignment `masking_granularity`.

Groups, counts and distributions are compared with small references written here. Random selections are first held to
what is true of every draw, then to the exact chances of a small case, then, for spans, to the lengths in a long one.
"""

from checks.judges.masking_granularity.numbers import prediction_budget, span_length_distribution
from checks.judges.masking_granularity.spans import span_selection
from checks.judges.masking_granularity.whole import whole_word_selection
from checks.judges.masking_granularity.words import half_open_words, word_groups

JUDGES = {
    "word_groups": word_groups,
    "half_open_words": half_open_words,
    "prediction_budget": prediction_budget,
    "whole_word_selection": whole_word_selection,
    "span_length_distribution": span_length_distribution,
    "span_selection": span_selection,
}
