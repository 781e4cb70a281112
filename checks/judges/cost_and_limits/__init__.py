"""Judges and misconceptions of the assignment `cost_and_limits`."""

from checks.judges.cost_and_limits.counts import predicted_fraction, pretraining_tokens, training_memory
from checks.judges.cost_and_limits.flops import encoder_flops
from checks.judges.cost_and_limits.runs import summarise_runs

JUDGES = {
    "encoder_flops": encoder_flops,
    "pretraining_tokens": pretraining_tokens,
    "predicted_fraction": predicted_fraction,
    "training_memory": training_memory,
    "summarise_runs": summarise_runs,
}
