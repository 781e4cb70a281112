"""Two steps of a linear regression, so small that the judge can compute them by hand."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from checks.probing import call
from checks.protocol import Case

SIGNATURE = "train_step(model, batch, optimizer, max_grad_norm=1.0) -> float"
SECTION = "One training step"
MOMENTUM = 0.5  # of the optimizer that the answer gets


def inputs(rng: Random) -> list[Case]:
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


def probe(answer: Callable[..., Any], case: Case) -> Any:
    import torch

    model = _regression(case)
    optimizer = _descent(model.parameters(), case["learning_rate"])
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


def _regression(case: Case) -> Any:
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
    return Regression()


def _descent(parameters: Any, rate: float) -> Any:
    import torch

    class Descent(torch.optim.Optimizer):
        """Gradient descent with momentum, which whoever moves the parameters by hand does not know of. PyTorch's own
        `zero_grad` and `add_param_group` load its whole compiler, which takes seconds: both are written anew."""

        def __init__(self) -> None:
            self.taken = 0
            super().__init__(parameters, {"lr": rate})

        def add_param_group(self, param_group: dict[str, Any]) -> None:
            self.param_groups.append({**self.defaults, **param_group, "params": list(param_group["params"])})

        def zero_grad(self, set_to_none: bool = True) -> None:
            for parameter in self.param_groups[0]["params"]:
                parameter.grad = None if set_to_none else torch.zeros_like(parameter)

        def step(self, closure: Any = None) -> Any:
            loss = None
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            self.taken += 1
            with torch.no_grad():
                for parameter in self.param_groups[0]["params"]:
                    if parameter.grad is not None:
                        velocity = self.state[parameter].get("velocity", 0.0)
                        self.state[parameter]["velocity"] = MOMENTUM * velocity + parameter.grad
                        parameter -= self.param_groups[0]["lr"] * self.state[parameter]["velocity"]
            return loss

    return Descent()
