"""A row a model: the names first, then the columns, then their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from checks.judges.containers import mapping, record
from checks.judges.kinds import INT, NUMBER
from checks.judges.parameter_budget import closed_forms as bert
from checks.judges.parameter_budget.names import FIXED_PREFIX, NO_ITEMS
from checks.judges.values import Mistake, ValueJudge
from checks.questions.parameter_budget.models import ModelSpec

Models = Mapping[str, ModelSpec]
Report = Callable[[Models], dict[str, Any]]


def _report(row: Callable[[ModelSpec], dict[str, Any]]) -> Report:
    return lambda models: {name: row(model) for name, model in models.items()}


def _row(model: ModelSpec, **other: Any) -> dict[str, Any]:
    return {
        "total": bert.total(model),
        "token_table": bert.parts(model)["token table"],
        "share": bert.share(model),
    } | other


def _repeated(index: int) -> Report:
    return lambda models: {name: _row(list(models.values())[index]) for name in models}


def _miscounted(wrong: Callable[[ModelSpec], int]) -> Report:
    """A report whose total is off, and the share with it."""
    return _report(lambda m: _row(m, total=wrong(m), share=bert.parts(m)["token table"] / wrong(m)))


MISTAKES = (
    Mistake(
        "percent_for_share",
        "`share` is a percentage. A share lies between 0 and 1: do not multiply by 100.",
        _report(lambda m: _row(m, share=100 * bert.share(m))),
    ),
    Mistake(
        "share_of_embeddings",
        "`share` is taken of the embeddings. It is the table over the whole model.",
        _report(lambda m: _row(m, share=bert.parts(m)["token table"] / bert.embeddings(m))),
    ),
    Mistake(
        "all_embeddings_for_token_table",
        "`token_table` holds all embeddings. The token table is the word embeddings alone.",
        _report(lambda m: _row(m, token_table=bert.embeddings(m), share=bert.embeddings(m) / bert.total(m))),
    ),
    Mistake(
        "counts_tied_decoder_twice",
        "`total` holds the tied decoder a second time. A tied matrix is counted once.",
        _miscounted(lambda m: bert.total(m) + bert.tied_twice(m)),
        _miscounted(lambda m: bert.total(m) + bert.tied_twice(m) + bert.shared_bias(m)),
    ),
    Mistake(
        "counts_buffers",
        "`total` holds the buffers (`position_ids`, `token_type_ids`), which are not learned.",
        _miscounted(lambda m: bert.total(m) + 2 * m["P"]),
    ),
    Mistake(
        "skips_frozen_parts",
        "`total` leaves out what is frozen (`requires_grad=False`). Frozen numbers are parameters all the same.",
        _miscounted(bert.trainable),
    ),
    Mistake(
        "same_row_for_all",
        "Every row describes the same model. Look at which model the loop counts.",
        _repeated(0),
        _repeated(-1),
    ),
    Mistake(
        "last_model_only",
        "Only the last model is in the report. Add a row in each turn of the loop, and return after it.",
        lambda models: {name: _row(models[name]) for name in list(models)[-1:]},
    ),
    Mistake(
        "first_model_only",
        "Only the first model is in the report. The `return` stands inside the loop.",
        lambda models: {name: _row(models[name]) for name in list(models)[:1]},
    ),
    Mistake(
        "table_size_for_count",
        "`token_table` is the number of rows. It is the number of parameters in the table, rows times hidden size.",
        _report(lambda m: _row(m, token_table=m["V"])),
    ),
)

JUDGE = ValueJudge(
    mapping(record({"total": INT, "token_table": INT, "share": NUMBER}), "a dict with a row for each name"),
    _report(_row),
    MISTAKES,
    raised=(NO_ITEMS, FIXED_PREFIX),
    rounded="share_rounded",
)
