"""Judges and misconceptions of the assignment `objectives`.

Losses are compared with a float64 reference in NumPy, gradients with their closed form. Random answers are first held
to what is true of every draw, then to what chance allows (`checks.judges.statistics`).
"""

from checks.judges.objectives.initial import initial_losses
from checks.judges.objectives.losses import masked_mean_loss, pretraining_loss
from checks.judges.objectives.masking import mask_tokens
from checks.judges.objectives.pairs import nsp_pairs

JUDGES = {
    "mask_tokens": mask_tokens,
    "masked_mean_loss": masked_mean_loss,
    "nsp_pairs": nsp_pairs,
    "pretraining_loss": pretraining_loss,
    "initial_losses": initial_losses,
}
