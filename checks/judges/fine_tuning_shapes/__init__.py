"""Judges and misconceptions of the assignment `fine_tuning_shapes`.

Heads are judged by what their scores depend on, decoding by small references in plain Python, a training step by
the same step computed by hand in float64.
"""

from checks.judges.fine_tuning_shapes.decoding import best_span
from checks.judges.fine_tuning_shapes.entities import entity_spans
from checks.judges.fine_tuning_shapes.f1 import entity_f1
from checks.judges.fine_tuning_shapes.heads import sequence_head, span_head, token_head
from checks.judges.fine_tuning_shapes.labels import align_labels
from checks.judges.fine_tuning_shapes.training import train_step

JUDGES = {
    "SequenceHead": sequence_head,
    "TokenHead": token_head,
    "SpanHead": span_head,
    "align_labels": align_labels,
    "best_span": best_span,
    "entity_spans": entity_spans,
    "entity_f1": entity_f1,
    "train_step": train_step,
}
