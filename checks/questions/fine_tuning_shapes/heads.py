"""How a head is looked at from outside.

Whatever its parameters are called, the probe fills them with numbers, feeds it hidden states that are 1 in one place
and 0 elsewhere, and writes down the scores.

B batch · S sequence · H hidden · L labels · N rows fed in training mode
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from checks.encoding import encode
from checks.probing import ChangedInput
from checks.protocol import Case

TRAINING_ROWS = 800
LOUD = 16.0  # the second feature of a training row; no weight times 1 can be mistaken for a weight times this
MOST = 2_000  # parameters that are written down


def inputs(rng: Random) -> list[Case]:
    """For a head with labels and dropout."""
    S = rng.randrange(4, 7)
    B, H, L = rng.sample([size for size in range(2, 7) if size != S], 3)  # sizes that tell the axes apart
    return [
        _head(rng, B, S, H, L, rng.choice([0.25, 0.4])),
        _head(rng, 1, 4, 6, 1, 0.5),
        _head(rng, 3, 5, 8, 2, None),
        _head(rng, 4, 6, 5, 3, 0.0),
    ]


def _head(rng: Random, B: int, S: int, H: int, L: int, dropout: float | None) -> Case:
    rate = "the default dropout" if dropout is None else f"dropout={dropout}"
    label = f"B={B}, S={S}, hidden={H}, num_labels={L}, {rate}"
    arguments = [H, L] if dropout is None else [H, L, dropout]
    data = {"B": B, "S": S, "H": H, "L": L, "dropout": dropout}
    return Case(label, {**data, "arguments": arguments, "seed": rng.randrange(2**32)})


def hidden_states(case: Case) -> np.ndarray:
    """(B,S,H) multiples of a quarter: sums and products with the weights are exact, even in float32."""
    quarters = np.random.default_rng(case["seed"]).integers(-6, 7, (case["B"], case["S"], case["H"]))
    return (quarters / 4).astype(np.float32)


def units(case: Case) -> np.ndarray:
    """(1+S·H,S,H): all zeros, then a 1 in one place after the other, positions first."""
    S, H = case["S"], case["H"]
    places = np.eye(S * H, dtype=np.float32).reshape(S * H, S, H)
    return np.concatenate([np.zeros((1, S, H), np.float32), places])


def training_rows(case: Case) -> np.ndarray:
    """(N,S,H): every vector has two features that are not 0, so that its score tells which of them were dropped."""
    rows = np.zeros((TRAINING_ROWS, case["S"], case["H"]), np.float32)
    rows[..., 0], rows[..., 1] = 1.0, LOUD
    return rows


def probe(answer: Callable[..., Any], case: Case) -> Any:
    import torch

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(case["seed"])
        head = answer(*case["arguments"])
        if not isinstance(head, torch.nn.Module):
            return head
        x, places, rows = (torch.from_numpy(make(case)) for make in (hidden_states, units, training_rows))
        before = encode([x, places, rows])
        head.eval()
        first = head(x)  # lazy layers get their shapes here
        if first is None or first is ...:
            return first
        for parameter in head.parameters():
            eighths = torch.randint(1, 9, parameter.shape) * (1 - 2 * torch.randint(2, parameter.shape))
            parameter.copy_(eighths / 8)
        readings = {
            "parameters": _written_down(head),
            "scores": head(x),
            "again": head(x),
            "alone": head(x[:1]),
            "units": head(places),
        }
        head.train()
        readings["training"] = head(rows)
    if encode([x, places, rows]) != before:
        raise ChangedInput(readings)
    return readings


def _written_down(head: Any) -> Any:
    """All parameters in one row; of very many only how many there are."""
    import torch

    values = torch.cat([parameter.flatten() for parameter in head.parameters()] or [torch.zeros(0)])
    return values if len(values) <= MOST else torch.full((1,), float(len(values)))
