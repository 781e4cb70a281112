"""Whether the random ids of `mask_tokens` are uniform over the vocabulary.

V vocabulary · K selected positions
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checks.judges.objectives.mask_draws import Draws
from checks.judges.objectives.mask_fates import MIX, NOT_THE_ORIGINAL, fits
from checks.judges.statistics import is_plausible, percent
from checks.protocol import Finding


def from_the_batch(draw: Draws) -> Finding | None:
    """Random ids that are all the batch's own: no other id of a small vocabulary ever comes."""
    V, mask = draw.case["V"], draw.case["mask"]
    own = np.union1d(draw.ids, [mask])
    came = np.unique(draw.masked[draw.fates == 1])
    if not len(came) or not np.isin(came, own).all() or not np.isin(np.setdiff1d(own, [mask]), came).all():
        return None
    cause = "The random ids come from the batch. Draw them from the vocabulary."
    missing = ", ".join(map(str, np.setdiff1d(np.arange(V), own)))
    return draw.finding("random_ids_from_batch", cause, f"never {missing}", f"each of 0 to {V - 1}")


def odd_random_ids(draw: Draws) -> Finding | None:
    """In a vocabulary of a few every id comes up: how often each does is binomial, and the two ends together."""
    V, mask = draw.case["V"], draw.case["mask"]
    places = [draw.selected & (draw.ids != token) for token in range(V)]
    counts = [int((draw.masked[where] == token).sum()) for token, where in enumerate(places)]
    foreign = [int(where.sum()) for where in places]
    odd = [
        token
        for token in range(V)
        if not is_plausible(counts[token], foreign[token], 0.1 / V + 0.8 * (token == mask))
    ]
    ends = is_plausible(counts[0] + counts[-1], foreign[0] + foreign[-1], 0.1 / V)
    if not odd and not ends:
        odd = [0, V - 1]
    if not odd:
        return None
    missing = [token for token in odd if counts[token] == 0]
    id, cause = "random_not_uniform", "The random ids are not uniform over the vocabulary."
    if odd == missing == [V - 1]:
        id = "random_misses_last_id"
        cause = "The last id never comes: `torch.randint` already leaves out its upper end."
    elif odd == missing == [0]:
        id, cause = "random_misses_first_id", "Id 0 never comes. Draw from [0, vocab_size)."
    elif not missing and _ends_halved(counts, foreign, draw):
        id = "random_ends_halved"
        cause = "The first and the last id come half as often as the others: a number was scaled and rounded."
    got = f"never {', '.join(map(str, missing))}" if missing else f"{counts[odd[0]]} times {odd[0]}"
    return draw.finding(id, cause, got, f"each of 0 to {V - 1} equally often")


def _ends_halved(counts: Sequence[int], foreign: Sequence[int], draw: Draws) -> bool:
    """Whether the ids come as often as `round(u * (V - 1))` gives them."""
    V, mask = draw.case["V"], draw.case["mask"]
    chances = [
        0.1 / (V - 1) * (0.5 if token in (0, V - 1) else 1) + 0.8 * (token == mask) for token in range(V)
    ]
    return all(map(is_plausible, counts, foreign, chances))


def avoids_the_original(tiny: Draws) -> Finding | None:
    """In a vocabulary of two a random id is the original every second time, and counts as one that stays."""
    if fits(tiny, MIX):
        return None
    _, _, stayed = tiny.counts()
    K = int(tiny.selected.sum())
    got, expected = f"{percent(stayed, K)} as it was", "15.0 %: 10 % that stay, and half of the random ids"
    if is_plausible(stayed, K, 0.1):
        return tiny.finding("random_differs_from_original", NOT_THE_ORIGINAL, got, expected)
    cause = "The random ids are not uniform over a vocabulary of two."
    return tiny.finding("random_not_uniform", cause, got, expected)
