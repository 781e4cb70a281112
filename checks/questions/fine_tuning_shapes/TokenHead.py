"""Scores each position by its own vector."""

from checks.questions.fine_tuning_shapes import heads

SIGNATURE = "TokenHead(hidden, num_labels, dropout=0.1): (B,S,H) -> (B,S,num_labels)"
SECTION = "A label for every token"

inputs, probe = heads.inputs, heads.probe
