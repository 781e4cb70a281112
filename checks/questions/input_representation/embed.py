"""Small tables and rows that look up their first and last entries.

The tables are too large to travel as plain data: a case names a seed, and `tables` draws the same numbers from it
for the probe and for the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np

from checks.probing import ChangedInput, call
from checks.protocol import Case

SIGNATURE = "embed(input_ids, token_type_ids, word, position, segment, layer_norm) -> (B,S,H)"
SECTION = "Three lookups, one sum"


def tables(batch: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The tables and the LayerNorm of a batch in float64: word (V,H), position (P,H), segment (T,H), weight (H,),
    bias (H,)."""
    draw, H = np.random.default_rng(batch["seed"]).standard_normal, batch["H"]
    return {
        "word": draw((batch["V"], H)),
        "position": draw((batch["P"], H)),
        "segment": draw((batch["T"], H)),
        "weight": 1.0 + 0.5 * draw(H),
        "bias": draw(H),
    }


def inputs(rng: Random) -> list[Case]:
    P = rng.randrange(7, 10)
    full = _sentences(rng, B=2, S=P, H=6, P=P)
    refused = f"The position table has {P} rows, so there is no vector for position {P}, the row's last."
    return [
        _sentences(rng, B=1, S=3, H=4, P=P),
        _sentences(rng, B=1, S=1, H=4, P=P),
        _sentences(rng, B=2, S=4, H=6, P=P),
        _sentences(rng, B=3, S=5, H=6, P=P, T=3),
        full,
        _sentences(rng, B=4, S=20, H=64, P=32, V=200),
        _sentences(rng, B=2, S=P + 1, H=6, P=P, refused=refused),
        full.again(),
    ]


def _sentences(rng: Random, *, B: int, S: int, H: int, P: int, T: int = 2, V: int = 13, **data: Any) -> Case:
    cuts = [rng.randrange(1, S) if S > 1 else 1 for _ in range(B)]
    ids = [[rng.randrange(V) for _ in range(S)] for _ in range(B)]
    ids[0][0], ids[-1][-1] = 0, V - 1
    batch = {
        "seed": rng.randrange(2**32),
        "input_ids": ids,
        "token_type_ids": [[0] * cut + [rng.randrange(1, T)] * (S - cut) for cut in cuts],
        "eps": rng.choice([1e-3, 3e-3, 1e-2]),
        "H": H,
        "V": V,
        "P": P,
        "T": T,
    }
    label = f"B={B}, S={S}, H={H}, a position table of {P} rows, {T} segment types"
    return Case(label, {"batch": batch, **data})


def probe(answer: Callable[..., Any], case: Case) -> Any:
    import torch
    from torch import nn

    batch = case["batch"]
    numbers = {name: torch.from_numpy(array) for name, array in tables(batch).items()}
    layer_norm = nn.LayerNorm(batch["H"], eps=batch["eps"], dtype=torch.float64)
    with torch.no_grad():
        layer_norm.weight.copy_(numbers["weight"])
        layer_norm.bias.copy_(numbers["bias"])
    modules = [nn.Embedding.from_pretrained(numbers[name]) for name in ("word", "position", "segment")]
    modules.append(layer_norm)
    before = [module.weight.clone() for module in modules]
    value = call(answer, torch.tensor(batch["input_ids"]), torch.tensor(batch["token_type_ids"]), *modules)
    if not all(torch.equal(was, module.weight) for was, module in zip(before, modules, strict=True)):
        raise ChangedInput(value)
    return value
