"""Inputs and probes of the assignment `objectives` (lesson 01).

Two questions are random. Their answers are called many times, each time with a generator of a known seed and with
the global generators set to another, so that a judge can tell where the randomness came from.
"""

LESSON = "lessons/01_two_objectives.ipynb"
NAMES = ("mask_tokens", "masked_mean_loss", "nsp_pairs", "pretraining_loss", "initial_losses")
