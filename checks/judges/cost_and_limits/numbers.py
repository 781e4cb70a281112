"""What counts as a number."""

from __future__ import annotations

from typing import Any

from checks.judges.comparing import is_number


def is_real(value: Any) -> bool:
    """A number that a float can hold: an int of a thousand digits is none."""
    return is_number(value) and (isinstance(value, float) or abs(value) < 2**1023)
