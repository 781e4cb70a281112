"""Judges of the assignment `objectives`.

Losses are compared with a float64 reference in NumPy, gradients with their closed form. Random answers are first held
to what is true of every draw, then to what chance allows (`checks.judges.statistics`).
"""
