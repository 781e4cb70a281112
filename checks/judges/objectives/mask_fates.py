"""What becomes of the positions that `mask_tokens` selects: `[MASK]`, a random id, or nothing.

V vocabulary · R calls · K selected positions
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from checks.judges.objectives.mask_draws import Draws
from checks.judges.statistics import is_plausible, percent
from checks.protocol import Finding

Mix = tuple[float, float, float]  # shares of [MASK], of random ids, of what stays
MIX = (0.8, 0.1, 0.1)
NOT_THE_ORIGINAL = (
    "A random id is never the original. It is drawn from all of [0, vocab_size), the original too."
)
REUSED = "The draw that selected (below `probability`) was used again. What happens needs a draw of its own."


def _reused(draw: Draws) -> Mix:
    """Below 0.8 `[MASK]`, below 0.9 a random id, of a draw that is below p."""
    p = draw.p
    return min(p, 0.8) / p, max(0.0, min(p, 0.9) - 0.8) / p, max(0.0, p - 0.9) / p


def _reused_above(draw: Draws) -> Mix:
    """Above 0.8 `[MASK]`, above 0.7 a random id."""
    p = draw.p
    return max(0.0, p - 0.8) / p, max(0.0, min(p, 0.8) - 0.7) / p, min(p, 0.7) / p


def _another_id(draw: Draws) -> Mix:
    """The right mix where a random id is never the original: as if it were drawn a little oftener, and less stayed."""
    V = draw.case["V"]
    return 0.8, 0.1 * V / (V - 1), 0.1 - 0.1 / (V - 1)


# What answers give that people hand in, each with its finding: one mix, or one for each case.
MIXES: tuple[tuple[Mix | Callable[[Draws], Mix], str, str], ...] = (
    (_another_id, "random_differs_from_original", NOT_THE_ORIGINAL),
    (_reused, "reuses_the_selecting_draw", REUSED),
    (_reused_above, "never_masks", f"Hardly any selected position becomes `[MASK]`. {REUSED}"),
    (
        (1.0, 0.0, 0.0),
        "always_mask",
        "All become `[MASK]`. In use there is no `[MASK]`: 10 % go random, 10 % stay.",
    ),
    (
        (0.8, 0.02, 0.18),
        "ten_per_cent_of_the_rest",
        "10 % of the remaining fifth is 2 % of all. Of those that are not `[MASK]` *half* become random.",
    ),
    (
        (0.8, 0.2, 0.0),
        "rest_all_random",
        "The remaining fifth is all random. Half of it, 10 % of all, stays.",
    ),
    ((0.8, 0.0, 0.2), "never_random", "No position gets a random id: 10 % should."),
    ((0.9, 0.1, 0.0), "never_stays", "No position stays as it is: 10 % should."),
    (
        (0.72, 0.1, 0.18),
        "random_overwrites_mask",
        "The 10 % were drawn from all selected and overwrote `[MASK]`. Draw them from those not masked yet.",
    ),
    (
        (0.8, 0.18, 0.02),
        "rest_mostly_random",
        "90 % of the remaining fifth is random. It should be half.",
    ),
    (
        (0.1, 0.1, 0.8),
        "shares_exchanged",
        "80 % stay and 10 % become `[MASK]`: the shares are exchanged.",
    ),
    (
        (0.1, 0.8, 0.1),
        "shares_exchanged",
        "80 % are random and 10 % become `[MASK]`: the shares are exchanged.",
    ),
    ((0.0, 0.0, 1.0), "nothing_replaced", "Selected ids stay as they are. 80 % of them become `[MASK]`."),
)


def fits(draw: Draws, mix: Mix | Callable[[Draws], Mix]) -> bool:
    """Whether the fates may come from this mix. A random id is the original or `[MASK]` once in V draws each."""
    mask, random, stays = mix(draw) if callable(mix) else mix
    stray = random / draw.case["V"]
    counts = draw.counts()
    chances = (mask + stray, random - 2 * stray, stays + stray)
    return all(is_plausible(count, sum(counts), p) for count, p in zip(counts, chances, strict=True))


def _labels_what_changed(draw: Draws) -> bool:
    """Whether exactly what stayed has no label: of the rest eight ninths are `[MASK]`, a stray random id aside."""
    mask, other, stayed = draw.counts()
    stray = 0.1 / draw.case["V"]
    return stayed == 0 < other and is_plausible(mask, mask + other, (0.8 + stray) / (0.9 - stray))


def _one_fate(fates: np.ndarray) -> bool:
    """Whether each of the groups (G,N) has one fate and the groups differ.

    A random id is now and then the original or `[MASK]`, so that a few groups look mixed. Where each position has a
    draw of its own a third of the pairs are, and more of larger groups.
    """
    present = np.stack([(fates == fate).any(1) for fate in range(3)])  # (3,G)
    several = (fates >= 0).sum(1) > 1  # (G,)
    mixed = (present.sum(0) > 1) & several
    return bool(present.any(1).sum() > 1 and mixed.sum() < 0.1 * several.sum())


def shape_of_corruption(small: Draws) -> Finding | None:
    """One draw where there should be one for each position: seen in a hundred calls of a small batch."""
    fates = small.fates  # (R,B,S)
    units = (("batch", fates.reshape(len(fates), -1)), ("row", fates.reshape(-1, fates.shape[2])))
    for unit, groups in units:
        if _one_fate(groups):
            cause = (
                f"One draw decides what happens to all selected positions of a {unit}. Draw for each of them."
            )
            got = f"a {unit} is all `[MASK]`, all random or all as it was"
            return small.finding(f"one_fate_per_{unit}", cause, got, "a draw for each position")
    random_ids = [set(masked[fate == 1].tolist()) for masked, fate in zip(small.masked, fates, strict=True)]
    if (fates == 1).sum() > len(fates) and max(map(len, random_ids)) == 1:
        cause = (
            "One id was drawn for all random positions of a call. Draw one for each: `size=input_ids.shape`."
        )
        return small.finding("one_random_id", cause, "one id in each call", "an id a position")
    masks, selected = (fates == 0).sum((1, 2)), small.selected.sum((1, 2))  # (R,)
    if selected.mean() > 10 and (np.abs(masks - 0.8 * selected) <= 1.2).mean() > 0.9:  # a right one's: half
        cause = (
            "The same share of the selected positions becomes `[MASK]` in every call. Draw for each position."
        )
        return small.finding("exact_shares", cause, "80 % in each call, rounded", "80 % on average")
    return None


def shares_of_fates(draws: Sequence[Draws], tiny: Draws) -> Finding | None:
    """A name fits the vocabulary of two as well, where most positions are selected."""
    wrong = [draw for draw in draws if not fits(draw, MIX)]
    if not wrong:
        return None
    typical = draws[-1] if draws[-1] in wrong else wrong[0]
    mask, other, stayed = typical.counts()
    K = mask + other + stayed
    id, cause = "wrong_shares", "The three shares are not 80, 10 and 10 %."
    for mix, name, explained in reversed(MIXES):
        if all(fits(draw, mix) for draw in [*draws, tiny]):
            id, cause = name, explained
    if all(map(_labels_what_changed, draws)):
        id, cause = (
            "kept_without_label",
            "Positions that stay have no label. They are predicted too: `labels` follow the selection.",
        )
    got = f"{percent(mask, K)} [MASK], {percent(other, K)} another id, {percent(stayed, K)} as it was"
    return typical.finding(id, cause, got, "80 % [MASK], 10 % random, 10 % as it was")
