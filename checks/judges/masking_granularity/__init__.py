"""Judges of the assignment `masking_granularity`.

Groups, counts and distributions are compared with small references written here. Random selections are first held to
what is true of every draw, then to the exact chances of a small case, then, for spans, to the lengths in a long one.
"""
