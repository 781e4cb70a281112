"""Inputs and probes of the assignment `fine_tuning_shapes` (lesson 05).

A head is looked at from outside: whatever its parameters are called, the probe fills them with numbers, feeds it
hidden states that are 1 in one place and 0 elsewhere, and writes down the scores. A training step is run on a
model so small that the judge can compute it by hand.

B batch · S sequence · H hidden · L labels · N rows fed in training mode
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from checks.probing import ChangedInput, call
from checks.protocol import Assignment, Case, encode

ASSIGNMENT = Assignment("fine_tuning_shapes", "lessons/05_two_shapes_of_fine_tuning.ipynb")


# --- heads ------------------------------------------------------------------------------------------------

TRAINING_ROWS = 800
LOUD = 16.0  # the second feature of a training row; no weight times 1 can be mistaken for a weight times this


def _head_inputs(rng: Random) -> list[Case]:
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


def _span_head_inputs(rng: Random) -> list[Case]:
    shapes = [(3, 5, rng.randrange(6, 9)), (1, 4, 6), (2, 6, rng.randrange(3, 6))]
    return [
        Case(
            f"B={B}, S={S}, hidden={H}",
            {"B": B, "S": S, "H": H, "arguments": [H], "seed": rng.randrange(2**32)},
        )
        for B, S, H in shapes
    ]


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


def _call_head(answer: Callable[..., Any], case: Case) -> Any:
    import torch

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(case["seed"])
        head = answer(*case["arguments"])
        if not isinstance(head, torch.nn.Module):
            return head
        inputs = {
            name: torch.from_numpy(make(case))
            for name, make in (("scores", hidden_states), ("units", units), ("training", training_rows))
        }
        head.eval()
        first = head(inputs["scores"])  # lazy layers get their shapes here
        if first is None or first is ...:
            return first
        for parameter in head.parameters():
            eighths = torch.randint(1, 9, parameter.shape) * (1 - 2 * torch.randint(2, parameter.shape))
            parameter.copy_(eighths / 8)
        before = encode(list(inputs.values()))
        readings = {"parameters": sum(parameter.numel() for parameter in head.parameters())}
        readings |= {"scores": head(inputs["scores"]), "again": head(inputs["scores"])}
        readings["units"] = head(inputs["units"])
        head.train()
        readings["training"] = head(inputs["training"])
    if encode(list(inputs.values())) != before:
        raise ChangedInput(readings)
    return readings


# --- labels and entities ----------------------------------------------------------------------------------


def _align_inputs(rng: Random) -> list[Case]:
    return [
        _pieces(rng, "two words of one piece", [1, 1]),
        _pieces(rng, "a word of three pieces", [1, 3, 1]),
        _pieces(rng, "long words first and last", [rng.randrange(2, 5), 1, 2, rng.randrange(2, 5)]),
        _pieces(rng, "padding behind", [2, 1, 1, 3], padding=rng.randrange(2, 5)),
        _pieces(rng, "a word that left no piece", [1, 2, 0, 2, 1]),
        _pieces(rng, "a row cut off in the middle", [1, 2, 3, 1, 4, 2, 1], cut=7),
        _pieces(rng, "30 words", [rng.choice([1, 1, 1, 2, 3]) for _ in range(29)] + [2], padding=9),
    ]


def _pieces(rng: Random, label: str, pieces: list[int], *, padding: int = 0, cut: int | None = None) -> Case:
    words = [word for word, count in enumerate(pieces) for _ in range(count)][:cut]
    # Odd labels are B-, the even one behind each is its I-; 0 is O. The first word always carries an entity.
    labels = [
        rng.choice([1, 3, 5]) if word == 0 else rng.choice([0, 1, 2, 3, 4, 5]) for word in range(len(pieces))
    ]
    return Case(label, {"word_ids": [None, *words, None, *[None] * padding], "word_labels": labels})


def _call_align(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, list(case["word_ids"]), list(case["word_labels"]))


TYPES = ("PER", "ORG", "LOC", "MISC", "DATE", "WORK")


def _tag_inputs(rng: Random) -> list[Case]:
    a, b, c = rng.sample(TYPES, 3)
    rows = [
        [f"B-{a}", "O"],
        ["O", f"B-{a}", f"I-{a}", "O"],
        ["O", f"B-{b}", f"I-{b}"],
        [f"B-{a}", f"B-{a}", f"I-{a}", "O"],
        [f"B-{a}", f"I-{a}", f"B-{b}", "O"],
        [f"I-{a}", f"I-{a}", "O", f"I-{b}", f"B-{b}", "O"],
        ["O", f"B-{a}", f"I-{b}", f"I-{b}", "O"],
        [f"I-{a}", f"I-{b}", f"I-{c}", "O"],
        [f"B-{a}-{b}", f"I-{a}-{b}", f"I-{a}-{c}", "O"],
        ["O"] * rng.randrange(2, 5),
        [],
        _random_tags(rng, [a, b, c], 40),
    ]
    return [Case(" ".join(row)[:60] or "no tags at all", {"tags": row}) for row in rows]


def _random_tags(rng: Random, types: Sequence[str], length: int) -> list[str]:
    """A row of tags as a model gives them: mostly well-formed, with an `I-` out of place now and then."""
    tags: list[str] = []
    while len(tags) < length:
        kind, size = rng.choice(types), rng.randrange(1, 4)
        opening = "I" if rng.random() < 0.2 else "B"
        tags += [f"{opening}-{kind}"] + [f"I-{kind}"] * (size - 1) + ["O"] * rng.choice([0, 1, 1, 2])
    return tags[:length]


def _call_spans(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, list(case["tags"]))


def _f1_inputs(rng: Random) -> list[Case]:
    a, b = rng.sample(TYPES, 2)
    empty = ["O"] * 3
    one = [f"B-{a}", "O", "O", "O"]
    ends_open = ["O", "O", f"B-{a}"]
    goes_on = [f"I-{a}", "O", "O"]
    return [
        _corpus("one of two found", [one], [[f"B-{a}", "O", f"B-{b}", "O"]]),
        _corpus("a type wrong, an end wrong", *_near_misses(a, b)),
        _corpus(
            "the same place in two sentences",
            [one, one, [f"B-{b}", "O"]],
            [one, ["O"] * 4, [f"B-{b}", f"B-{a}"]],
        ),
        _corpus(
            "an entity at the end of a row and one at the start of the next",
            [ends_open, goes_on, empty],
            [ends_open, [f"B-{a}", "O", "O"], [f"B-{b}", "O", "O"]],
        ),
        _corpus("nothing predicted", [one, [f"B-{b}", f"I-{b}"]], [["O"] * 4, ["O"] * 2]),
        _corpus("nothing true", [empty], [[f"I-{b}", "O", f"B-{a}"]]),
        _corpus("nothing true, nothing predicted", [empty, empty[:2]], [empty, empty[:2]]),
        _random_corpus(rng),
    ]


def _near_misses(a: str, b: str) -> tuple[list[list[str]], list[list[str]]]:
    """One entity right, one with another type, two with another end, one with another start; then one right."""
    pairs = [
        ([f"B-{a}", f"I-{a}", "O"], [f"B-{a}", f"I-{a}", "O"]),
        ([f"B-{b}", "O"], [f"B-{a}", "O"]),
        ([f"B-{a}", f"I-{a}", f"I-{a}", "O"], [f"B-{a}", f"I-{a}", "O", "O"]),
        ([f"B-{b}", f"I-{b}", "O"], [f"B-{b}", "O", "O"]),
        ([f"B-{a}", f"I-{a}", "O", f"B-{b}"], ["O", f"B-{a}", "O", "O"]),
    ]
    first = [[tag for pair in pairs for tag in pair[side]] for side in (0, 1)]
    second = ["O", f"B-{b}", "O"]
    return [first[0], second], [first[1], second]


def _corpus(label: str, true: list[list[str]], predicted: list[list[str]]) -> Case:
    return Case(label, {"true": true, "predicted": predicted})


def _random_corpus(rng: Random) -> Case:
    """Sentences of different lengths, each tag kept with the probability ¾: fewer entities right than wrong."""
    types = rng.sample(TYPES, 3)
    true = [_random_tags(rng, types, rng.randrange(4, 25)) for _ in range(12)]
    noise = [_random_tags(rng, types, len(row)) for row in true]
    predicted = [
        [tag if rng.random() < 0.75 else other for tag, other in zip(row, others, strict=True)]
        for row, others in zip(true, noise, strict=True)
    ]
    return _corpus("12 sentences", true, predicted)


def _call_f1(answer: Callable[..., Any], case: Case) -> Any:
    return call(answer, [list(row) for row in case["true"]], [list(row) for row in case["predicted"]])


# --- best_span --------------------------------------------------------------------------------------------


def _span_inputs(rng: Random) -> list[Case]:
    """Scores are multiples of a quarter, so that ties are ties; peaks lie where a wrong search would go."""
    limit = rng.randrange(3, 6)
    refused = "No position lies in the context, so there is no answer: whatever is returned would be one."
    return [
        _row(rng, "a clear answer", 7, (2, 6), start={3: 5}, end={4: 5}),
        _row(rng, "an answer of one token", 8, (2, 7), start={4: 6}, end={4: 6, 6: 4}),
        _row(rng, "all scores below 0", 9, (3, 8), start={4: -0.5}, end={6: -0.5}),
        _row(rng, "the best end before the best start", 10, (2, 9), start={7: 6, 3: 3.5}, end={4: 6.5, 8: 2}),
        _row(rng, "a high end without a start before it", 10, (2, 9), start={5: 5}, end={2: 6, 7: 4}),
        _row(rng, "a question that scores high", 10, (5, 9), start={1: 9, 6: 4}, end={7: 4}),
        _row(rng, "padding that scores high", 10, (3, 7), start={4: 4}, end={6: 4, 8: 9}),
        _row(
            rng,
            f"just within max_length={limit}",
            14,
            (1, 13),
            start={3: 5},
            end={2 + limit: 5, 1 + limit: 3, 5 + limit: 5.5},
            max_length=limit,
        ),
        _row(
            rng,
            f"just beyond max_length={limit}",
            14,
            (1, 13),
            start={3: 5, 4: 2.5},
            end={3 + limit: 5},
            max_length=limit,
        ),
        _row(rng, "equal scores", 16, (2, 15), start={4: 5, 6: 5}, end={8: 5, 11: 5}),
        _row(rng, "far apart, max_length left out", 60, (5, 58), start={10: 6, 20: 4}, end={44: 6, 49: 4}),
        _row(
            rng,
            "30 tokens, max_length left out",
            60,
            (5, 58),
            start={rng.randrange(9, 12): 8},
            end={},
            length=30,
        ),
        _row(
            rng,
            "a random row of 64",
            64,
            (rng.randrange(8, 20), 60),
            start={},
            end={},
            spread=24,
            max_length=8,
        ),
        _row(rng, "no context", 5, (0, 0), start={}, end={}, refused=refused),
    ]


def _row(
    rng: Random,
    label: str,
    S: int,
    context: tuple[int, int],
    *,
    start: dict[int, float],
    end: dict[int, float],
    spread: int = 8,
    length: int = 0,
    **data: Any,
) -> Case:
    """A row of S positions whose context runs from context[0] up to context[1]; `start` and `end` are peaks above
    a floor between −4 and −2. `length` sets an end that far from the start."""
    scores = [[-4 + rng.randrange(spread + 1) / 4 for _ in range(S)] for _ in range(2)]
    if length:
        end = {first + length - 1: 8.0 for first in start}
    for row, peaks in zip(scores, (start, end), strict=True):
        for position, score in peaks.items():
            row[position] = float(score)
    inside = [context[0] <= position < context[1] for position in range(S)]
    where = f"S={S}, context {context[0]} to {context[1] - 1}" if any(inside) else f"S={S}"
    data |= {"start": scores[0], "end": scores[1], "context": inside}
    return Case(f"{label}, {where}", data)


def _call_best_span(answer: Callable[..., Any], case: Case) -> Any:
    import torch

    rows = (torch.tensor(case["start"]), torch.tensor(case["end"]), torch.tensor(case["context"]))
    limit = [case["max_length"]] if "max_length" in case.data else []
    return call(answer, *rows, *limit)


# --- train_step -------------------------------------------------------------------------------------------


def _step_inputs(rng: Random) -> list[Case]:
    return [
        _steps(rng, "gradients below the limit", 1_000.0),
        _steps(rng, "gradients above the limit", rng.choice([0.25, 0.5])),
        _steps(rng, "max_grad_norm left out", None),
        _steps(rng, "gradients left behind by an earlier backward", 1_000.0, left_behind=True),
    ]


def _steps(rng: Random, label: str, limit: float | None, *, left_behind: bool = False) -> Case:
    """A linear regression of three features and a bias, two batches of four rows. In training mode the model
    drops features: which ones is part of the case, so that the step can be computed by hand."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    batches = []
    for _ in range(2):
        keep = (numbers.random((4, 3)) < 0.6) * 2.0
        keep[0] = (2.0, 0.0, 2.0)  # never all kept, never all dropped
        x = numbers.normal(size=(4, 3)) + np.sign(numbers.normal(size=(4, 3)))
        y = 6.0 + 2.0 * numbers.normal(size=4)
        batches.append({"x": x.tolist(), "y": y.tolist(), "keep": keep.tolist()})
    shown = "" if limit is None else f", max_grad_norm={limit:g}"
    return Case(
        f"{label}{shown}",
        {
            "weight": numbers.normal(size=3).tolist(),
            "bias": float(numbers.normal()),
            "learning_rate": rng.choice([0.05, 0.1]),
            "batches": batches,
            "max_grad_norm": limit,
            "left_behind": [1.5, -2.0, 1.0, 2.5] if left_behind else None,  # weight, then bias
        },
    )


def _call_train_step(answer: Callable[..., Any], case: Case) -> Any:
    import types

    import torch

    class Regression(torch.nn.Module):
        """Features dropped as the case says, in training mode alone; a linear layer; the mean squared error."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(case["weight"], dtype=torch.float64))
            self.bias = torch.nn.Parameter(torch.tensor(case["bias"], dtype=torch.float64))
            self.keep = torch.ones(())

        def forward(self, x: Any, y: Any) -> Any:
            seen = x * self.keep if self.training else x
            return types.SimpleNamespace(loss=((seen @ self.weight + self.bias - y) ** 2).mean())

    Regression.forward.__qualname__ = "Regression.forward"  # as a learner reads it in an error

    class PlainSGD:
        """Gradient descent. PyTorch's own would load the whole compiler at its first step, which takes seconds."""

        def __init__(self, parameters: Any, lr: float):
            self.param_groups: list[dict[str, Any]] = [{"params": list(parameters), "lr": lr}]
            self.taken = 0

        def zero_grad(self, set_to_none: bool = True) -> None:
            for parameter in self.param_groups[0]["params"]:
                parameter.grad = None if set_to_none else torch.zeros_like(parameter)

        def step(self) -> None:
            self.taken += 1
            with torch.no_grad():
                for parameter in self.param_groups[0]["params"]:
                    if parameter.grad is not None:
                        parameter -= self.param_groups[0]["lr"] * parameter.grad

    model = Regression()
    optimizer = PlainSGD(model.parameters(), lr=case["learning_rate"])
    if case["left_behind"] is not None:
        left = torch.tensor(case["left_behind"], dtype=torch.float64)
        model.weight.grad, model.bias.grad = left[:3].clone(), left[3].clone()
    limit = [] if case["max_grad_norm"] is None else [case["max_grad_norm"]]
    steps = []
    for batch in case["batches"]:
        data = {name: torch.tensor(batch[name], dtype=torch.float64) for name in ("x", "y")}
        model.keep = torch.tensor(batch["keep"], dtype=torch.float64)
        model.eval()
        with torch.enable_grad():
            loss = call(answer, model, data, optimizer, *limit)
        steps.append(
            {
                "loss": loss,
                "keeps_graph": bool(getattr(loss, "requires_grad", False)),
                "parameters": [*model.weight.tolist(), model.bias.item()],
                "gradients": _gradients(model),
                "taken": optimizer.taken,
            }
        )
    # A step that returned nothing and did nothing is a blank, not a wrong answer.
    returned = steps[0]["loss"]
    untouched = not optimizer.taken and steps[-1]["gradients"] == case["left_behind"]
    return returned if untouched and (returned is None or returned is ...) else steps


def _gradients(model: Any) -> list[float] | None:
    if model.weight.grad is None or model.bias.grad is None:
        return None
    return [*model.weight.grad.tolist(), model.bias.grad.item()]


QUESTIONS = (
    ASSIGNMENT.question(
        "SequenceHead",
        "SequenceHead(hidden, num_labels, dropout=0.1): (B,S,H) -> (B,num_labels)",
        "One label from position 0",
        _head_inputs,
        _call_head,
    ),
    ASSIGNMENT.question(
        "TokenHead",
        "TokenHead(hidden, num_labels, dropout=0.1): (B,S,H) -> (B,S,num_labels)",
        "A label for every token",
        _head_inputs,
        _call_head,
    ),
    ASSIGNMENT.question(
        "SpanHead",
        "SpanHead(hidden): (B,S,H) -> (start (B,S), end (B,S))",
        "Two scores for every position",
        _span_head_inputs,
        _call_head,
    ),
    ASSIGNMENT.question(
        "align_labels",
        "align_labels(word_ids, word_labels) -> list[int]",
        "Labels for words, scores for pieces",
        _align_inputs,
        _call_align,
    ),
    ASSIGNMENT.question(
        "best_span",
        "best_span(start, end, context, max_length=30) -> (i, j)",
        "From scores to an answer",
        _span_inputs,
        _call_best_span,
    ),
    ASSIGNMENT.question(
        "entity_spans",
        "entity_spans(tags) -> set[(type, first, last)]",
        "From tags to entities",
        _tag_inputs,
        _call_spans,
    ),
    ASSIGNMENT.question(
        "entity_f1",
        "entity_f1(true, predicted) -> (precision, recall, f1)",
        "What an entity tagger is worth",
        _f1_inputs,
        _call_f1,
    ),
    ASSIGNMENT.question(
        "train_step",
        "train_step(model, batch, optimizer, max_grad_norm=1.0) -> float",
        "One training step",
        _step_inputs,
        _call_train_step,
    ),
)
