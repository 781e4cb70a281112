"""Inputs and probes of the assignment `input_representation` (lesson 02).

Words, rows and ids travel as plain data. The tables of `embed` are too large for that: a case names a seed, and
`tables` draws the same numbers from it for the probe and for the judge.

B batch · S sequence · H hidden · V vocabulary · P rows of the position table · T segment types
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from checks.probing import call
from checks.protocol import Assignment, Case

ASSIGNMENT = Assignment("input_representation", "lessons/02_what_goes_in.ipynb")

LETTERS = "abcdefghijklmnopqrstuvwxyz"


# --- wordpiece --------------------------------------------------------------------------------------------


def _wordpiece_inputs(rng: Random) -> list[Case]:
    """Words made of five chunks without a letter in common, so that no piece matches by accident."""
    letters = rng.sample(LETTERS, 12)
    a, b, c, d, e, x = ("".join(letters[i : i + 2]) for i in range(0, 12, 2))
    longest = [a, a + b + c, f"##{b}", f"##{c}", f"##{d}", f"##{c}{d}"]
    fewest = [a, a + b, a + b + c, f"##{c}{d}{e}", f"##{d}", f"##{e}"]
    english = ["un", "una", "##aff", "##able", "play", "##ing", "##ed", "##s", "em", "##bed", "##ding"]
    return [
        _word(a, [a, b]),
        _word(a + b, [a, f"##{b}"]),
        _word(a + x, [a, b, f"##{b}"]),
        _word(a + x + b, [a, b, f"##{b}"]),
        _word(x + b, [a, b, f"##{b}"]),
        _word(a + b, [a, b, c]),
        _word(a + b, [c, f"##{a}", f"##{b}"]),
        _word(a + b + c + d, longest),
        _word(a + b + b + b, [a, b, f"##{b}"]),
        _word(a.capitalize() + b, [a, f"##{b}"]),
        _word(a + b + c + d + e, fewest),
        _word(a + b + c + d, [a + b, a + b + c, f"##{c}{d}"]),
        _word(a + x, [a, f"##{b}"], unk=f"<{rng.choice(['unk', 'unknown', 'oov'])}>"),
        _word(a + b + b, [a, f"##{b}"], max_chars=6),
        _word(a + b + b, [a, f"##{b}"], max_chars=5),
        _word("unaffable", english),
        _word("embeddings", english),
        _word(a * 50, [a, f"##{a}"]),
        _word(a * 51, [a, f"##{a}"]),
    ]


def _word(word: str, pieces: list[str], **options: Any) -> Case:
    shown = word if len(word) <= 20 else f"{word[:8]}… ({len(word)} characters)"
    notes = "".join(f", {name}={value!r}" for name, value in options.items())
    vocab = {piece: index for index, piece in enumerate(pieces)}
    label = f"{shown!r} with the pieces {' '.join(pieces)}{notes}"
    return Case(label, {"word": word, "vocab": vocab, "options": options})


def _call_wordpiece(answer: Callable[..., Any], case: Case) -> Any:
    options = case["options"]
    if "max_chars" in options:
        return call(answer, case["word"], dict(case["vocab"]), "[UNK]", options["max_chars"])
    return call(answer, case["word"], dict(case["vocab"]), *options.values())


# --- pack_pair --------------------------------------------------------------------------------------------


def _pack_inputs(rng: Random) -> list[Case]:
    sizes = [(1, 1, 10), (2, None, 10), (3, 0, 10), (4, 3, 10), (5, None, 7), (3, 5, 20)]
    sizes += [(3, 8, 10), (9, 2, 10), (6, 6, 12), (9, 6, 12), (9, None, 7), (2, rng.randrange(20, 30), 12)]
    sizes += [(rng.randrange(30, 40), rng.randrange(70, 90), 64), (rng.randrange(100, 120), 90, 128)]
    cases = [_pair(rng, *size) for size in sizes]
    refused = "Not even the special tokens fit into that row: nothing that is returned can be right."
    return [*cases, _pair(rng, 2, 3, 2, refused=refused), _pair(rng, 2, None, 1, refused=refused)]


def _pair(rng: Random, length_a: int, length_b: int | None, max_length: int, **data: Any) -> Case:
    ids = rng.sample(range(1_000, 30_000), length_a + (length_b or 0))
    cls_id, sep_id = rng.sample([i for i in range(3, 999) if i not in (101, 102)], 2)
    second = "None" if length_b is None else f"{length_b} ids"
    return Case(
        f"A of {length_a} ids, B {second}, max_length={max_length}",
        {
            "a": ids[:length_a],
            "b": None if length_b is None else ids[length_a:],
            "cls_id": cls_id,
            "sep_id": sep_id,
            "max_length": max_length,
            **data,
        },
    )


def _call_pack(answer: Callable[..., Any], case: Case) -> Any:
    ids_b = None if case["b"] is None else list(case["b"])
    return call(
        answer,
        list(case["a"]),
        ids_b,
        cls_id=case["cls_id"],
        sep_id=case["sep_id"],
        max_length=case["max_length"],
    )


# --- pad_batch --------------------------------------------------------------------------------------------


def _pad_inputs(rng: Random) -> list[Case]:
    cases = [
        _batch(rng, "two rows", [3, 5], rng.randrange(2, 99)),
        _batch(rng, "one row", [4], rng.randrange(2, 99)),
        _batch(rng, "rows of one length", [3, 3], rng.randrange(2, 99)),
        _batch(rng, "four rows, the longest first", [7, 2, 4, 6], rng.randrange(2, 99)),
        _batch(rng, "eight rows, padding id 0", [25, *(rng.randrange(9, 25) for _ in range(6)), 45], 0),
    ]
    # A row may hold the padding id as a real token, and may carry padding of its own: only its mask tells.
    special = _batch(rng, "rows that hold the padding id themselves", [6, 4, 5], rng.randrange(2, 99))
    first, second, _ = special["features"]
    first["input_ids"][2] = special["pad_id"]
    second["attention_mask"][3] = 0
    cases.insert(4, special)
    return cases


def _batch(rng: Random, label: str, lengths: list[int], pad_id: int) -> Case:
    features = []
    for number, length in enumerate(lengths):
        second = 0 if number % 3 == 2 else rng.randrange(1, length)  # every third row is a single sentence
        features.append(
            {
                "input_ids": [rng.randrange(1_000, 30_000) for _ in range(length)],
                "token_type_ids": [0] * (length - second) + [1] * second,
                "attention_mask": [1] * length,
            }
        )
    return Case(f"{label}, lengths {lengths}, pad_id={pad_id}", {"features": features, "pad_id": pad_id})


def _call_pad(answer: Callable[..., Any], case: Case) -> Any:
    features = [{name: list(values) for name, values in row.items()} for row in case["features"]]
    return call(answer, features, case["pad_id"])


# --- embed ------------------------------------------------------------------------------------------------


def tables(case: Case) -> dict[str, np.ndarray]:
    """The tables and the LayerNorm of a case in float64: word (V,H), position (P,H), segment (T,H), weight (H,),
    bias (H,)."""
    draw = np.random.default_rng(case["seed"]).standard_normal
    H = case["H"]
    return {
        "word": draw((case["V"], H)),
        "position": draw((case["P"], H)),
        "segment": draw((case["T"], H)),
        "weight": 1.0 + 0.5 * draw(H),
        "bias": draw(H),
    }


def _embed_inputs(rng: Random) -> list[Case]:
    P = rng.randrange(7, 10)
    cases = [
        _sentences(rng, B=1, S=3, H=4, P=P),
        _sentences(rng, B=2, S=4, H=6, P=P),
        _sentences(rng, B=3, S=5, H=6, P=P, T=3),
        _sentences(rng, B=2, S=P, H=6, P=P),
        _sentences(rng, B=4, S=20, H=64, P=32, V=200),
    ]
    refused = f"The position table has {P} rows, so there is no vector for position {P}, the row's last."
    return [*cases, _sentences(rng, B=2, S=P + 1, H=6, P=P, refused=refused)]


def _sentences(rng: Random, *, B: int, S: int, H: int, P: int, T: int = 2, V: int = 13, **data: Any) -> Case:
    cuts = [rng.randrange(1, S) for _ in range(B)]
    return Case(
        f"B={B}, S={S}, H={H}, a position table of {P} rows, {T} segment types",
        {
            "seed": rng.randrange(2**32),
            "input_ids": [[rng.randrange(V) for _ in range(S)] for _ in range(B)],
            "token_type_ids": [[0] * cut + [rng.randrange(1, T)] * (S - cut) for cut in cuts],
            "H": H,
            "V": V,
            "P": P,
            "T": T,
            "eps": rng.choice([1e-3, 3e-3, 1e-2]),
            **data,
        },
    )


def _call_embed(answer: Callable[..., Any], case: Case) -> Any:
    import torch
    from torch import nn

    numbers = {name: torch.from_numpy(array) for name, array in tables(case).items()}
    layer_norm = nn.LayerNorm(case["H"], eps=case["eps"], dtype=torch.float64)
    with torch.no_grad():
        layer_norm.weight.copy_(numbers["weight"])
        layer_norm.bias.copy_(numbers["bias"])
    lookups = [nn.Embedding.from_pretrained(numbers[name]) for name in ("word", "position", "segment")]
    return call(
        answer, torch.tensor(case["input_ids"]), torch.tensor(case["token_type_ids"]), *lookups, layer_norm
    )


QUESTIONS = (
    ASSIGNMENT.question(
        "wordpiece",
        'wordpiece(word, vocab, unk="[UNK]", max_chars=100) -> list[str]',
        "WordPiece, one word at a time",
        _wordpiece_inputs,
        _call_wordpiece,
    ),
    ASSIGNMENT.question(
        "pack_pair",
        "pack_pair(ids_a, ids_b, *, cls_id, sep_id, max_length) -> dict",
        "Packing a pair",
        _pack_inputs,
        _call_pack,
    ),
    ASSIGNMENT.question(
        "pad_batch",
        "pad_batch(features, pad_id) -> dict of (B,S) tensors",
        "From rows to a batch",
        _pad_inputs,
        _call_pad,
    ),
    ASSIGNMENT.question(
        "embed",
        "embed(input_ids, token_type_ids, word, position, segment, layer_norm) -> (B,S,H)",
        "Three lookups, one sum",
        _embed_inputs,
        _call_embed,
    ),
)
