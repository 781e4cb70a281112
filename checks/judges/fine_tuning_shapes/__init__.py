"""Judges of the assignment `fine_tuning_shapes`.

Heads are judged by what their scores depend on, decoding by small references in plain Python, a training step by
the same step computed by hand in float64.
"""
