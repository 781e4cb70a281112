"""The opening line of every lesson: the scale it runs at, and what that means on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

import torch

Scale = Literal["laptop", "gpu"]


def detect_scale() -> Scale:
    """ "gpu" where PyTorch sees one, else "laptop".

    A lesson shows it as its one switch, to be overwritten by hand.
    """
    return "gpu" if torch.cuda.is_available() else "laptop"


def device_for(scale: Scale) -> torch.device:
    """Where a lesson of this scale computes. Without a GPU the larger setting runs on the CPU, and takes
    longer.

    ValueError for a scale that is neither "laptop" nor "gpu".
    """
    if scale not in ("laptop", "gpu"):
        raise ValueError(f'scale is "laptop" or "gpu"; got {scale!r}.')
    return torch.device("cuda" if scale == "gpu" and torch.cuda.is_available() else "cpu")


def opening(scale: Scale, *, model: str, data: str, seconds: Mapping[Scale, int]) -> None:
    """Prints the lesson's one line: device, model, data source and the run time to expect at this scale."""
    device = device_for(scale)
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {os.cpu_count()} cores"
    print(f"{scale}: {where} · model: {model} · data: {data} · runs in about {_duration(seconds[scale])}")


def _duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 90 else f"{seconds / 60:.0f} min"
