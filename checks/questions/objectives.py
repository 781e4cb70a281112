"""Inputs and probes of the assignment `objectives` (lesson 01).

Two questions are random. Their answers are called many times, each time with a generator of a known seed and with
the global generators set to another, so that a judge can tell where the randomness came from.

B batch · S sequence · V vocabulary · R calls
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from checks.probing import call
from checks.protocol import Assignment, Case
from checks.questions.generators import CountingRandom, global_seed

ASSIGNMENT = Assignment("objectives", "lessons/01_two_objectives.ipynb")

PAD = 0  # the id of padding, as in every BERT vocabulary
IGNORED = -100


# --- calls with known seeds -------------------------------------------------------------------------------


def _plan(rng: Random, different: int) -> list[dict[str, int]]:
    """Calls by seed: two with one generator seed and different global seeds, then `different` more seeds.

    With each generator the answer is called twice in a row (`each`).
    """
    first = rng.randrange(2**31)
    seeds = [first, first, *(rng.randrange(2**31) for _ in range(different))]
    return [{"generator": seed, "world": rng.randrange(2**31), "each": 2} for seed in seeds]


def _once(rng: Random) -> list[dict[str, int]]:
    return [{"generator": rng.randrange(2**31), "world": rng.randrange(2**31), "each": 1}]


def _is_blank(value: Any) -> bool:
    return value is None or value is ...


# --- mask_tokens ------------------------------------------------------------------------------------------


def _masking_inputs(rng: Random) -> list[Case]:
    def batch(B: int, S: int, ids: list[int], ordinary: list[int], **more: Any) -> dict[str, Any]:
        special = dict(zip(("cls", "sep", "mask"), ids, strict=True))
        return {"B": B, "S": S, **special, "ordinary": ordinary, "seed": rng.randrange(2**31), **more}

    few, fewer = rng.randrange(40, 60), rng.randrange(10, 14)
    small, smaller = rng.sample(range(1, few), few - 1), rng.sample(range(1, fewer - 1), fewer - 2)
    return [
        Case(
            f"4 rows of 16, vocab_size={few}, probability=0.5",
            batch(4, 16, small[:3], small[3:], V=few, probability=0.5, calls=_plan(rng, 60)),
        ),
        Case(
            f"256 rows of 64, vocab_size={fewer}, probability=0.6",
            batch(256, 64, smaller[:3], smaller[3:7], V=fewer, probability=0.6, calls=_once(rng)),
        ),
        Case(
            "256 rows of 128, vocab_size=30522, the default probability",
            batch(
                256,
                128,
                [101, 102, 103],
                [1_000, 29_999],
                V=30_522,
                probability=None,
                calls=_once(rng),
            ),
        ),
    ]


def draw_batch(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """`input_ids` (B,S) int64 and `special` (B,S) bool: `[CLS] a [SEP] b [SEP]` and padding, from the case's seed."""
    B, S, ordinary = case["B"], case["S"], case["ordinary"]
    rng = np.random.default_rng(case["seed"])
    if case["V"] == 30_522:  # `ordinary` is the first and last of the ids to draw from
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
    return ids.astype(np.int64), special


def _mask_probe(answer: Callable[..., Any], case: Case) -> Any:
    """All calls of the case: `masked` and `labels`, each (R,B,S). What is not of that form comes back as it is."""
    import torch

    input_ids, special = (torch.from_numpy(array) for array in draw_batch(case))
    options = {"vocab_size": case["V"], "mask_token_id": case["mask"]}
    if case["probability"] is not None:
        options["probability"] = case["probability"]
    masked, labels = [], []
    for plan in case["calls"]:
        generator = torch.Generator().manual_seed(plan["generator"])
        with global_seed(plan["world"]):
            for _ in range(plan["each"]):
                value = call(answer, input_ids, special.long(), **options, generator=generator)
                if not _is_pair_of_ids(value, input_ids.shape):
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


# --- losses -----------------------------------------------------------------------------------------------


def _loss_case(
    rng: Random, label: str, B: int, S: int, V: int, selected: list[int], scale: float = 2
) -> Case:
    """`selected[i]` positions of row i have a label; one of them is id 0 where there are three or more."""
    labels = np.full((B, S), IGNORED)
    for row, count in enumerate(selected):
        for index, position in enumerate(rng.sample(range(S), count)):
            labels[row, position] = 0 if index == 0 and count >= 3 else rng.randrange(1, V)
    data = {"B": B, "S": S, "V": V, "labels": labels.tolist(), "scale": scale, "seed": rng.randrange(2**31)}
    return Case(label, data | {"nsp_labels": [rng.randrange(2) for _ in range(B - 1)] + [1]})


def _loss_inputs(rng: Random) -> list[Case]:
    typical = [0, *(rng.randrange(3, 8) for _ in range(3))]
    return [
        _loss_case(rng, "one row of 4, one label, V=5", 1, 4, 5, [1]),
        _loss_case(rng, "two rows of 6, three labels and one, V=7", 2, 6, 7, [3, 1]),
        _loss_case(rng, "logits in the thousands", 2, 6, 9, [2, 3], scale=2_000),
        _loss_case(rng, "four rows of 32, some labels, V=100", 4, 32, 100, typical),
        _loss_case(rng, "no position has a label", 3, 5, 11, [0, 0, 0]),
    ]


def _sum_inputs(rng: Random) -> list[Case]:
    typical = [0, *(rng.randrange(3, 8) for _ in range(7))]
    return [
        _loss_case(rng, "two rows of 4, one label, V=5", 2, 4, 5, [1, 0]),
        _loss_case(rng, "three rows of 6, four labels, V=9", 3, 6, 9, [3, 1, 0]),
        _loss_case(rng, "eight rows of 32, some labels, V=50", 8, 32, 50, typical),
        _loss_case(rng, "no position has a label", 2, 5, 11, [0, 0]),
    ]


def draw_logits(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Logits of the two heads in float64, (B,S,V) and (B,2), from the case's seed."""
    rng = np.random.default_rng(case["seed"])
    mlm = rng.standard_normal((case["B"], case["S"], case["V"])) * case["scale"]
    return mlm, rng.standard_normal((case["B"], 2)) * case["scale"]


def _mean_probe(answer: Callable[..., Any], case: Case) -> Any:
    logits, _ = draw_logits(case)
    return _with_gradients(answer, [logits], [case["labels"]])


def _sum_probe(answer: Callable[..., Any], case: Case) -> Any:
    return _with_gradients(answer, list(draw_logits(case)), [case["labels"], case["nsp_labels"]])


def _with_gradients(answer: Callable[..., Any], logits: list[np.ndarray], labels: list[Any]) -> Any:
    """What came, and its gradient with respect to each of the logits; None where it depends on none of them."""
    import torch

    inputs = [torch.from_numpy(array).requires_grad_() for array in logits]
    with torch.enable_grad():
        value = call(answer, *inputs, *(torch.tensor(label) for label in labels))
        if _is_blank(value):
            return value
        gradients: Any = [None] * len(inputs)
        if torch.is_tensor(value) and value.numel() == 1 and value.requires_grad:
            gradients = torch.autograd.grad(value.sum(), inputs, allow_unused=True)
    return {"value": value, "gradients": list(gradients)}


# --- nsp_pairs --------------------------------------------------------------------------------------------


_SUBJECTS = ("The cat", "A teacher", "My sister", "The ship", "This city", "Our river", "Nobody", "The moon")
_VERBS = ("waits", "sings", "falls asleep", "turns north", "comes home", "is late", "forgets", "starts again")


def _documents(rng: Random, sizes: list[int]) -> list[list[str]]:
    """Documents of as many sentences as `sizes` says; no sentence occurs twice."""
    everything = [f"{subject} {verb}." for subject in _SUBJECTS for verb in _VERBS]
    sentences = iter(rng.sample(everything, sum(sizes)))
    return [[next(sentences) for _ in range(size)] for size in sizes]


TOO_FEW = "With fewer than two documents there is no other document to draw from."


def _pair_inputs(rng: Random) -> list[Case]:
    many = [1, rng.randrange(3, 6), rng.randrange(6, 9), rng.randrange(9, 12), rng.randrange(4, 8)]
    few = [4, 5]
    for sizes in (many, few):
        rng.shuffle(sizes)
    return [
        Case(
            f"two documents of {few[0]} and {few[1]} sentences",
            {"documents": _documents(rng, few), "calls": _plan(rng, 40)},
        ),
        Case(
            f"five documents of {', '.join(map(str, many))} sentences",
            {"documents": _documents(rng, many), "calls": _plan(rng, 40)},
        ),
        Case(
            "one document alone",
            {"documents": _documents(rng, [50]), "calls": _once(rng), "refused": TOO_FEW},
        ),
        Case("no document", {"documents": [], "calls": _once(rng), "refused": TOO_FEW}),
    ]


def _pair_probe(answer: Callable[..., Any], case: Case) -> Any:
    """What each call gave, in a list."""
    calls = []
    for plan in case["calls"]:
        rng = CountingRandom(plan["generator"])
        with global_seed(plan["world"]):
            for _ in range(plan["each"]):
                value = call(answer, case["documents"], rng)
                if _is_blank(value):
                    return value
                calls.append(value)
    return calls


# --- initial_losses ---------------------------------------------------------------------------------------


def _vocabulary_inputs(rng: Random) -> list[Case]:
    sizes = [rng.randrange(3, 9), rng.randrange(100, 1_000), 28_996, 30_522, rng.randrange(50_000, 300_000)]
    return [Case(f"vocab_size={size}", {"V": size}) for size in sizes]


QUESTIONS = (
    ASSIGNMENT.question(
        "mask_tokens",
        "mask_tokens(input_ids, special_tokens_mask, *, vocab_size, mask_token_id, probability=0.15, generator)"
        " -> (masked_ids, labels)",
        "Hide fifteen per cent",
        _masking_inputs,
        _mask_probe,
    ),
    ASSIGNMENT.question(
        "masked_mean_loss",
        "masked_mean_loss(logits, labels) -> scalar",
        "Hide fifteen per cent",
        _loss_inputs,
        _mean_probe,
    ),
    ASSIGNMENT.question(
        "nsp_pairs",
        "nsp_pairs(documents, rng) -> list[(a, b, label)]",
        "Neighbours and strangers",
        _pair_inputs,
        _pair_probe,
    ),
    ASSIGNMENT.question(
        "pretraining_loss",
        "pretraining_loss(mlm_logits, nsp_logits, mlm_labels, nsp_labels) -> scalar",
        "The sum",
        _sum_inputs,
        _sum_probe,
    ),
    ASSIGNMENT.question(
        "initial_losses",
        "initial_losses(vocab_size) -> (mlm, nsp, total)",
        "What an untrained model scores",
        _vocabulary_inputs,
        lambda answer, case: answer(case["V"]),
    ),
)
