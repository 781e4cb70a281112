"""Random generators as a probe gives them to answers: of a known seed, and with an end to what can be drawn."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import numpy as np

from checks.time_limit import DoesNotEnd


class CountingRandom(random.Random):
    """A generator that gives up, so that a loop without an end says so instead of hanging the notebook.

    `draws` counts the calls for a number; a probe that asks many times sets it back to 0 before each.
    """

    LIMIT = 100_000

    def __init__(self, seed: int | None = None):
        self.draws = 0
        super().__init__(seed)

    def _count(self) -> None:
        self.draws += 1
        if self.draws > self.LIMIT:
            raise DoesNotEnd(f"drew {self.LIMIT:,} random numbers and did not come to an end")

    def random(self) -> float:
        self._count()
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        self._count()
        return super().getrandbits(k)


@contextlib.contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed the global generators of Python, NumPy and torch, and put them back afterwards."""
    import torch

    # `torch.manual_seed` would also reach for the accelerators, which takes milliseconds a call.
    world = torch.default_generator
    kept = random.getstate(), np.random.get_state(), world.get_state()
    random.seed(seed)
    np.random.seed(seed)
    world.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        world.set_state(kept[2])
