"""Tensors as answers: their form, when two agree, and the first cell where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from checks.encoding import Array
from checks.judges.kinds import Kind, number
from checks.judges.showing import describe_type
from checks.protocol import Finding


def tensor(dtype: str, relative: float = 0.0, absolute: float = 0.0) -> Kind:
    """A tensor of the expected shape and of a dtype ("int64"; "float" for any of them)."""
    return Kind(
        "a tensor",
        lambda value: (
            isinstance(value, np.ndarray)  # what judges predict; evidence never holds one
            or (isinstance(value, Array) and value.kind == "tensor" and value.dtype.startswith(dtype))
        ),
        lambda got, expected: _close(got, expected, relative, absolute),
        lambda got, expected: _cells(got, expected, relative, absolute),
        _as_tensor,
        problem=lambda got, expected: _problem(got, expected, dtype),
    )


def _numbers(value: Any) -> np.ndarray:
    return np.asarray(value.data if isinstance(value, Array) else value)


def _close(got: Any, expected: Any, relative: float, absolute: float) -> bool:
    one, other = _numbers(got), _numbers(expected)
    return one.shape == other.shape and bool(
        np.allclose(one.astype(float), other.astype(float), rtol=relative, atol=absolute, equal_nan=True)
    )


def _cells(got: Any, expected: Any, relative: float, absolute: float) -> Iterator[tuple[str, Kind, Any, Any]]:
    one, other = _numbers(got), _numbers(expected)
    off = ~np.isclose(one.astype(float), other.astype(float), rtol=relative, atol=absolute, equal_nan=True)
    for index in map(tuple, np.argwhere(off)[:1]):
        where = f"[{', '.join(map(str, index))}]"
        yield where, number(relative, absolute), one[index].item(), other[index].item()


def _problem(got: Any, expected: Any, dtype: str) -> Finding | None:
    shape = _numbers(expected).shape
    wanted = f"a tensor of shape {tuple(shape)} and dtype {dtype}"
    if not isinstance(got, Array) or got.kind != "tensor":
        return Finding("wrong_type", f"The answer must be {wanted}.", got=describe_type(got), expected=wanted)
    if not got.dtype.startswith(dtype):
        return Finding(*OTHER_NUMBERS[dtype], got=str(got), expected=wanted)
    if got.data.shape != shape:
        return Finding("wrong_shape", "The shape is another one.", got=str(got), expected=wanted)
    return None


OTHER_NUMBERS = {
    "int64": ("not_long", "The answer is no long tensor. Ids, masks and labels are: say `dtype=torch.long`."),
    "float": ("not_floats", "The answer holds whole numbers or truth values. Here they are real numbers."),
}


def _as_tensor(value: Any) -> Any:
    import torch

    return torch.as_tensor(_numbers(value).copy())
