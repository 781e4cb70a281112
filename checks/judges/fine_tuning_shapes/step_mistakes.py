"""`train_step`: the lines people leave out, move or change, and what they raise."""

from __future__ import annotations

from checks.judges.fine_tuning_shapes.steps import Way
from checks.judges.values import RaisedMistake

NO_CLIPPING = (
    "The gradients were not clipped, or too early, or only a copy of them. Clip those of the parameters between "
    "backward and step."
)
ACCUMULATE = (
    "Gradients of an earlier batch are added to those of this one. Call `zero_grad()` before each backward."
)
OTHER_NORM = (
    "Another norm was limited. The norm of a gradient is the root of the sum of its squares (`norm_type=2`)."
)
OLD = "The step came before backward and used the gradients of the batch before. Backward, clip, then step."

# id, cause, how the step is done, whether the gradients that remain must fit too (else several ways look alike)
WAYS: tuple[tuple[str, str, Way, bool], ...] = (
    (
        "not_in_training_mode",
        "The loss is that of evaluation mode: dropout was off. Call `model.train()` first.",
        Way(training=False),
        False,
    ),
    ("gradients_accumulate", ACCUMULATE, Way(clear="never"), False),
    ("gradients_accumulate", ACCUMULATE, Way(clear="first"), False),
    (
        "clears_after_the_step",
        "Gradients that were there before the call were added. Clear before backward, not after the step.",
        Way(clear="after"),
        False,
    ),
    (
        "clips_after_the_step",
        "The gradients were clipped after the step had used them. Clip between backward and step.",
        Way(clip_at="after"),
        True,
    ),
    ("no_clipping", NO_CLIPPING, Way(clip="none"), False),
    (
        "clips_by_value",
        "Each number was clipped by itself, which turns the gradient. Clip the norm: all numbers by the same factor.",
        Way(clip="value"),
        False,
    ),
    (
        "clips_each_parameter",
        "Each parameter was clipped by its own norm. The norm is that of all gradients together.",
        Way(clip="each"),
        False,
    ),
    ("clips_another_norm", OTHER_NORM, Way(clip="sum"), False),
    ("clips_another_norm", OTHER_NORM, Way(clip="maximum"), False),
    (
        "clips_the_loss",
        "The loss was cut off at the limit, and above it nothing is learned. Clip the gradients, after backward.",
        Way(clip="loss"),
        False,
    ),
    (
        "scales_small_gradients_up",
        "Gradients below the limit were scaled up to it. Clipping only makes long ones shorter.",
        Way(clip="always"),
        False,
    ),
    (
        "limit_hard_coded",
        "A limit of 1.0 is written into the step. Clip to the argument `max_grad_norm`.",
        Way(clip="to_one"),
        False,
    ),
    (
        "zero_grad_before_the_step",
        "The step had no gradients to use: `zero_grad()` stands between backward and step, or backward is missing.",
        Way(clear="between"),
        True,
    ),
    ("steps_with_old_gradients", OLD, Way(steps="before", clear="never", clip="none"), False),
    ("steps_with_old_gradients", OLD, Way(steps="before", clear="between"), False),
    (
        "steps_before_backward",
        "The step came before backward, when there were no gradients yet. Backward, clip, then step.",
        Way(steps="never"),
        False,
    ),
    (
        "loss_after_the_step",
        "This is the loss after the step. Return the one the gradients came from.",
        Way(loss="after"),
        False,
    ),
)

RAISED = (
    RaisedMistake(
        "batch_not_unpacked",
        "The batch is a dict of arguments: `model(**batch)`.",
        lambda error, message: error == "TypeError" and "positional argument" in message and "'y'" in message,
    ),
    RaisedMistake(
        "output_taken_for_loss",
        "The model returns an output with several parts. The loss is its attribute: `model(**batch).loss`.",
        lambda error, message: error == "AttributeError" and "SimpleNamespace" in message,
    ),
    RaisedMistake(
        "loss_has_no_graph",
        "The loss was cut off from the graph before backward. Call `backward()` on the tensor, `item()` at the end.",
        lambda error, message: (
            "does not require grad" in message or (error == "AttributeError" and "'backward'" in message)
        ),
    ),
    RaisedMistake(
        "other_default_limit",
        "`max_grad_norm` needs a default: with it left out it must be 1.0.",
        lambda error, message: error == "TypeError" and "missing" in message and "max_grad_norm" in message,
    ),
)
