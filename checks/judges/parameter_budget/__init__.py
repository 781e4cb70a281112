"""Judges and misconceptions of the assignment `parameter_budget`.

Everything is counted from shapes with closed forms: no model is built, no reference answer imported.
"""

from checks.judges.parameter_budget.breakdown import breakdown
from checks.judges.parameter_budget.formulas import factorised_table, layer_parameters
from checks.judges.parameter_budget.report import budget_report
from checks.judges.parameter_budget.share import token_table_share

JUDGES = {
    "token_table_share": token_table_share,
    "breakdown": breakdown,
    "layer_parameters": layer_parameters,
    "factorised_table": factorised_table,
    "budget_report": budget_report,
}
