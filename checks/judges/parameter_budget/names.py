"""A table that is looked up by a name that only some models give it."""

from __future__ import annotations

from checks.judges.comparing import RaisedMistake

FIXED_PREFIX = RaisedMistake(
    "fixed_prefix",
    "The name before the table differs between models: a bare encoder has no `bert.`, your own module may call it "
    "anything. Look at how a parameter's name ends.",
    lambda error, message: (
        error
        in ("AttributeError", "KeyError", "StopIteration", "IndexError", "UnboundLocalError", "ValueError")
        or (error == "TypeError" and "NoneType" in message)
    ),
)
