"""Reads the vector at position 0 alone."""

from checks.questions.fine_tuning_shapes import heads

SIGNATURE = "SequenceHead(hidden, num_labels, dropout=0.1): (B,S,H) -> (B,num_labels)"
SECTION = "One label from position 0"

inputs, probe = heads.inputs, heads.probe
