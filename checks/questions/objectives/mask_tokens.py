"""Batches to hide positions of, with special tokens that only their mask gives away.

B batch · S sequence · V vocabulary · R calls
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from checks.probing import call
from checks.protocol import Case
from checks.questions.generators import global_seed
from checks.questions.objectives.calls import call_once, is_blank, plan_calls

SIGNATURE = (
    "mask_tokens(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator)"
    " -> (masked_ids, labels)"
)
SECTION = "Hide fifteen per cent"

PAD = 0  # the id of padding, as in every BERT vocabulary
IGNORED = -100
PUBLISHED = 30_522  # entries in the vocabulary of bert-base-uncased
PROTECTED, ZERO = 2, 3  # columns of the small case: an ordinary id that is special, id 0 that is not


def inputs(rng: Random) -> list[Case]:
    def batch(B: int, S: int, ids: list[int], ordinary: list[int], **more: Any) -> dict[str, Any]:
        special = dict(zip(("cls", "sep", "mask"), ids, strict=True))
        return {"B": B, "S": S, **special, "ordinary": ordinary, "seed": rng.randrange(2**31), **more}

    few, fewer = rng.randrange(40, 60), rng.randrange(9, 11)
    small, smaller = rng.sample(range(1, few), few - 1), rng.sample(range(1, fewer - 1), fewer - 2)
    published: dict[str, Any] = {"ids": [101, 102, 103], "ordinary": [1_000, 29_999], "V": PUBLISHED}
    fixed = batch(32, 64, **published, calls=call_once(rng))
    return [
        Case(
            f"4 rows of 16, vocab_size={few}, probability=0.5",
            batch(4, 16, small[:3], small[3:], V=few, probability=0.5, calls=plan_calls(rng, 60), odd=True),
        ),
        Case(
            f"384 rows of 64, vocab_size={fewer}, probability=0.95",
            batch(384, 64, smaller[:3], smaller[3:6], V=fewer, probability=0.95, calls=call_once(rng)),
        ),
        Case(
            f"256 rows of 128, vocab_size={PUBLISHED}, the default probability",
            batch(256, 128, **published, calls=call_once(rng)),
        ),
        Case(
            "256 rows of 64, vocab_size=2, probability=0.9",
            batch(256, 64, [1, 1, 1], [0], V=2, probability=0.9, calls=call_once(rng)),
        ),
        Case(
            f"64 rows of 8, vocab_size={few}, probability=0.3",
            batch(64, 8, small[:3], small[3:], V=few, probability=0.3, calls=call_once(rng)),
        ),
        Case("32 rows of 64, the default probability", fixed),
        Case("32 rows of 64, the same seed, probability=0.15", fixed | {"probability": 0.15}),
    ]


def draw_batch(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """`input_ids` (B,S) int64 and `special` (B,S) bool: `[CLS] a [SEP] b [SEP]` and padding, from the case's seed.

    An `odd` batch also has an ordinary id that is not to be hidden, and the id of padding as an ordinary one.
    """
    B, S, ordinary = case["B"], case["S"], case["ordinary"]
    rng = np.random.default_rng(case["seed"])
    if case["V"] == PUBLISHED:  # `ordinary` is the first and last of the ids to draw from
        ids = rng.integers(ordinary[0], ordinary[1] + 1, size=(B, S))
    else:
        ids = np.asarray(ordinary)[rng.integers(len(ordinary), size=(B, S))]
    lengths = rng.integers(S // 2, S + 1, size=B)
    lengths[0] = S
    special = np.arange(S) >= lengths[:, None]
    ids[special] = PAD
    rows = np.arange(B)
    for position, id in ((0, case["cls"]), (lengths // 2, case["sep"]), (lengths - 1, case["sep"])):
        ids[rows, position], special[rows, position] = id, True
    if "odd" in case.data:
        special[:, PROTECTED], ids[:, ZERO] = True, PAD
    return ids.astype(np.int64), special


def probe(answer: Callable[..., Any], case: Case) -> Any:
    """All calls of the case: `masked` and `labels`, each (R,B,S). What is not of that form comes back as it is."""
    import torch

    input_ids, special = (torch.from_numpy(array) for array in draw_batch(case))
    options = {"vocab_size": case["V"], "mask_token_id": case["mask"]}
    if "probability" in case.data:
        options["probability"] = case["probability"]
    masked, labels = [], []
    for plan in case["calls"]:
        generator = torch.Generator().manual_seed(plan["generator"])
        with global_seed(plan["world"]):
            for _ in range(plan["each"]):
                value = call(answer, input_ids, special.long(), **options, generator=generator)
                if is_blank(value) or not _is_pair_of_ids(value, input_ids.shape):
                    return value
                masked.append(value[0])
                labels.append(value[1])
    return {"masked": _compact(torch.stack(masked)), "labels": _compact(torch.stack(labels))}


def _is_pair_of_ids(value: Any, shape: tuple[int, ...]) -> bool:
    import torch

    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and all(torch.is_tensor(part) and part.dtype == torch.long and part.shape == shape for part in value)
    )


def _compact(ids: Any) -> Any:
    """The same numbers in the smallest type that holds them: a quarter of the evidence."""
    import torch

    low, high = int(ids.min()), int(ids.max())
    for dtype in (torch.int16, torch.int32):
        if torch.iinfo(dtype).min <= low and high <= torch.iinfo(dtype).max:
            return ids.to(dtype)
    return ids
