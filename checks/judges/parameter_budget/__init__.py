"""Judges of the assignment `parameter_budget`: counts from shapes, in closed form."""
