"""Inputs and probes of the assignment `parameter_budget` (lesson 03)."""

LESSON = "lessons/03_parameter_budget.ipynb"
NAMES = (
    "count_parameters",
    "token_table_share",
    "breakdown",
    "layer_parameters",
    "factorised_table",
    "budget_report",
)
