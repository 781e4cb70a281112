"""A table that is looked up by a name that only some models give it."""

from __future__ import annotations

import re

from checks.judges.values import RaisedMistake

CAUSE = (
    "The name before the table differs between models: a bare encoder has no `bert.`, your own module may call it "
    "anything. Look at how a parameter's name ends."
)
# What Python says when `model.bert…`, `get_parameter("bert…")` or `dict["bert…"]` is not there.
_NAMES_THE_ENCODER = re.compile(r"\b(bert|base_model|embeddings|word_embeddings)\b|NoneType")

FIXED_PREFIX = RaisedMistake(
    "fixed_prefix", CAUSE, lambda error, message: bool(_NAMES_THE_ENCODER.search(message))
)
# A search that finds nothing: `next()` of an empty generator, `[…][0]` of an empty list, a loop that never assigns.
FOUND_NOTHING = RaisedMistake(
    "fixed_prefix",
    CAUSE,
    lambda error, message: error in ("StopIteration", "IndexError", "UnboundLocalError"),
)
NO_ITEMS = RaisedMistake(
    "dict_without_items",
    "A loop over a dict gives its names alone. `models.items()` gives names and models.",
    lambda error, message: (
        (error == "AttributeError" and "'str' object" in message)
        or (error == "ValueError" and "unpack" in message)
    ),
)
