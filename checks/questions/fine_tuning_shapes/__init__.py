"""Inputs and probes of the assignment `fine_tuning_shapes` (lesson 05).

B batch · S sequence · H hidden · L labels
"""

LESSON = "lessons/05_two_shapes_of_fine_tuning.ipynb"
NAMES = (
    "SequenceHead",
    "TokenHead",
    "SpanHead",
    "align_labels",
    "best_span",
    "entity_spans",
    "entity_f1",
    "train_step",
)
