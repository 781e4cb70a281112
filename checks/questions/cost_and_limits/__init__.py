"""Inputs and probes of the assignment `cost_and_limits` (lesson 06).

S positions · H hidden · I intermediate · L layers
"""

LESSON = "lessons/06_cost_and_limits.ipynb"
NAMES = ("encoder_flops", "pretraining_tokens", "predicted_fraction", "training_memory", "summarise_runs")
