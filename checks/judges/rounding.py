"""Whether a value is a right one that was rounded."""

from __future__ import annotations

from typing import Any


def is_rounding(value: Any, right: Any, digits: int) -> bool:
    """Whether a value is the right one with its floats rounded; at exactly a half either way will do."""
    if isinstance(right, float) and isinstance(value, (int, float)):
        return round(value, digits) == value and abs(value - right) <= 0.5001 * 10**-digits
    if isinstance(right, dict) and isinstance(value, dict):
        return value.keys() == right.keys() and all(
            is_rounding(value[key], right[key], digits) for key in right
        )
    if isinstance(right, (list, tuple)) and isinstance(value, (list, tuple)):
        pairs = zip(value, right, strict=False)
        return len(value) == len(right) and all(is_rounding(*pair, digits) for pair in pairs)
    return bool(type(value) is type(right) and value == right)
