"""Judges of the assignment `cost_and_limits`: closed forms and Python's own statistics."""
