"""Which positions `mask_tokens` selects: whose chance it is, and how much of it.

B batch · S sequence · R calls · K selected positions
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checks.judges.objectives.mask_draws import Draws
from checks.judges.statistics import is_plausible, percent
from checks.protocol import Finding
from checks.questions.objectives.mask_tokens import PAD

NEVER = 1e-9  # what a right answer gives with less probability than this is a wrong one


def source_of_randomness(draw: Draws, all_draws: Sequence[Draws]) -> Finding | None:
    """Calls 0 and 2 had one generator seed and different global ones; calls 2i and 2i + 1 shared a generator."""
    if not draw.selected.any():
        cause = "No position is ever selected. Select each with `probability`."
        return draw.finding("nothing_selected", cause, "no label in any call", f"about {draw.p:.0%}")
    if all(it.selected[:, ~it.special].all() for it in all_draws):
        cause = "Every position is selected. Each is selected with `probability`."
        return draw.finding("selects_everything", cause, "a label everywhere", f"about {draw.p:.0%}")
    if draw.selected[:, ~draw.special].all():
        return share_selected(all_draws)
    if any((part[:2] != part[2:4]).any() for part in (draw.masked, draw.labels)):
        cause = "Something is drawn from the global generator. Pass `generator=generator` to every draw."
        got = "two generators with the same seed, two results"
        return draw.finding("global_generator", cause, got, "the same seed, the same result")
    if (draw.selected == draw.selected[0]).all():
        cause = "The selection does not come from `generator`: a seed is set inside, or nothing is random."
        got = "the same positions for any seed"
        return draw.finding("ignores_generator", cause, got, "other positions for another seed")
    if (draw.selected[::2] == draw.selected[1::2]).all():
        cause = "The seed is set again in every call, so each epoch hides the same positions. Just draw."
        got = "the same positions in the second call with a generator"
        return draw.finding("same_mask_every_call", cause, got, "other positions in each call")
    return None


def shape_of_selection(draw: Draws) -> Finding | None:
    """The small case was drawn more than a hundred times: what never varies there is no chance."""
    inside = ~draw.special
    rows = [draw.selected[:, row, inside[row]] for row in range(draw.case["B"])]  # (R, maskable) a row
    counts = np.stack([row.sum(1) for row in rows], 1)  # (R,B)
    alone = "each position on its own"
    if ((counts == 0) | (counts == inside.sum(1))).all():
        unit = "batch" if ((counts > 0) == (counts[:, :1] > 0)).all() else "row"
        cause = (
            f"One draw decides for a whole {unit}. Draw for every position: `torch.rand(input_ids.shape, …)`."
        )
        return draw.finding(f"one_draw_per_{unit}", cause, f"all of a {unit} or nothing", alone)
    shared = inside.all(0)
    if (draw.selected[:, :, shared] == draw.selected[:, :1, shared]).all():
        cause = "Every row hides the same positions: one row of draws was spread over the batch."
        return draw.finding("same_mask_in_every_row", cause, "all rows alike", "a draw a position")
    if (counts == counts[0]).all():
        cause = "A row always hides the same number of positions. Each is to be selected on its own."
        return draw.finding("fixed_number_per_row", cause, f"always {counts[0, 0]} in row 0", alone)
    totals = counts.sum(1)
    if (totals == totals[0]).all():
        cause = "A batch always hides the same number of positions. Each is to be selected on its own."
        return draw.finding("fixed_number_per_batch", cause, f"always {totals[0]} in all", alone)
    return _never_selected(draw)


def _never_selected(draw: Draws) -> Finding | None:
    never = ~draw.selected.any(0) & ~draw.special  # (B,S)
    if not never.any():
        return None
    row, column = (int(index) for index in np.argwhere(never)[0])
    id, cause = "never_selects_some", "A position is never selected, though `special_tokens_mask` is 0 there."
    if (never == (draw.ids == PAD) & ~draw.special).all():
        id, cause = (
            "never_selects_id_0",
            "Id 0 is never selected. Whether a position may be hidden is what `special_tokens_mask` says, not its id.",
        )
    got = f"row {row}, position {column}, id {draw.ids[row, column]}: not once in {len(draw.selected)} calls"
    return draw.finding(id, cause, got, f"about {draw.p:.0%} of the calls")


def always_one(draw: Draws) -> Finding | None:
    """In rows of a few positions it happens that none is selected."""
    positions = (~draw.special).sum(1)
    if not (draw.selected.any(2) | (positions == 0)).all():
        return None
    chance = np.prod(1 - (1 - draw.p) ** positions[positions > 0])
    if chance > NEVER:
        return None
    cause = "Every row has a selected position, as if one were made sure of. By chance a short row has none."
    return draw.finding("never_an_empty_row", cause, f"none of {len(positions)} rows is without", "some are")


def _selection(draw: Draws) -> tuple[int, int]:
    inside = draw.selected[:, ~draw.special]
    return int(inside.sum()), inside.size


def share_selected(draws: Sequence[Draws]) -> Finding | None:
    wrong = [draw for draw in draws if not is_plausible(*_selection(draw), draw.p)]
    if not wrong:
        return None
    id, cause = "wrong_share_selected", "The share of selected positions is not `probability`."
    shares = (
        (lambda p: 0.15, "ignores_probability", "15 % whatever `probability` says: use the argument."),
        (
            lambda p: 1 - p,
            "probability_inverted",
            "The comparison is the wrong way round: a draw from [0, 1) is *below* p with probability p.",
        ),
        (
            lambda p: 0.8 * p,
            "selects_the_masked_only",
            "80 % of the share is selected, as if only what becomes `[MASK]` counted. All three kinds do.",
        ),
    )
    for share, name, explained in shares:
        if all(is_plausible(*_selection(draw), share(draw.p)) for draw in draws):
            id, cause = name, explained
            break
    return wrong[0].finding(id, cause, percent(*_selection(wrong[0])) + " selected", f"{wrong[0].p:.0%}")


def neighbours(draws: Sequence[Draws]) -> Finding | None:
    """Disjoint pairs of positions, side by side and one above the other, are both selected with p²."""
    for draw in draws:
        inside = np.broadcast_to(~draw.special, draw.selected.shape)
        for axis, words in ((2, "in a row"), (1, "one above the other")):
            one, two = (np.take(draw.selected, range(i, inside.shape[axis], 2), axis) for i in (0, 1))
            in_one, in_two = (np.take(inside, range(i, inside.shape[axis], 2), axis) for i in (0, 1))
            count, n = int((one & two).sum()), int((in_one & in_two).sum())
            if not is_plausible(count, n, draw.p**2):
                cause = "Positions are not selected on their own: neighbours depend on each other."
                got = f"{percent(count, n)} of the pairs {words} are both selected"
                return draw.finding("neighbours_depend", cause, got, f"{100 * draw.p**2:.1f} %")
    return None


def other_default(default: Draws, explicit: Draws) -> Finding | None:
    """The same batch and seed, once without `probability` and once with 0.15."""
    if (default.labels == explicit.labels).all() and (default.masked == explicit.masked).all():
        return None
    cause = "Without `probability` the result is not that of `probability=0.15`. What is its default?"
    got = f"{int(default.selected.sum())} positions selected without it"
    expected = f"the {int(explicit.selected.sum())} that are selected with probability=0.15"
    return default.finding("wrong_default", cause, got, expected)
