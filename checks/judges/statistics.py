"""Is a count what chance gives? The judges of random answers decide with one bound, in closed form.

A right answer hides each of n positions with probability p, so that the number X of hidden positions is binomial.
Hoeffding (1963, theorem 1, the Chernoff bound) says for every n, with no approximation,

    P(X ≥ n·q) ≤ exp(−n·KL(q‖p))  for q ≥ p,  and the same for P(X ≤ n·q) with q ≤ p,

where KL(q‖p) = q ln(q/p) + (1−q) ln((1−q)/(1−p)). Refusing a count when n·KL(count/n‖p) > ln(2/error) therefore
refuses a right answer with probability `error` at most: half of it above, half below. For large n the band is
about 6.2 standard deviations wide on each side at `ERROR`, a little wider than the normal tail would ask.

A judge that makes m comparisons refuses a right answer with probability m·error at most (union bound). With
`ERROR` a hundred comparisons stay at one in a million.
"""

from __future__ import annotations

import math

ERROR = 1e-8  # of one comparison


def is_plausible(count: int, n: int, p: float, error: float = ERROR) -> bool:
    """Whether `count` of `n` independent trials of probability `p` may have come out so.

    False for a right answer with probability `error` at most. No trials: True, nothing speaks against it.
    """
    return n == 0 or n * divergence(count / n, p) <= math.log(2 / error)


def divergence(q: float, p: float) -> float:
    """KL(q‖p) of two coins in nats; infinite where p makes q impossible."""
    return _term(q, p) + _term(1 - q, 1 - p)


def _term(q: float, p: float) -> float:
    if q <= 0:
        return 0.0
    return q * math.log(q / p) if p > 0 else math.inf


def percent(count: int, n: int) -> str:
    """A share as a learner reads it: "14.9 %"."""
    return f"{100 * count / n:.1f} %" if n else "none"
