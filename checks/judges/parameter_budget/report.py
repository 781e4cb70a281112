"""Judge of `budget_report`: the form of the rows first, then their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    close,
    describe_type,
    equal,
    incorrect,
    judge_values,
)
from checks.judges.parameter_budget.closed_forms import (
    embeddings,
    parts,
    share,
    shared_bias,
    tied_twice,
    total,
)
from checks.judges.parameter_budget.names import FIXED_PREFIX, NO_ITEMS
from checks.protocol import Case, Finding, Outcome, Question, Verdict
from checks.questions.parameter_budget import ModelSpec


def _report(row: Callable[[ModelSpec], dict[str, Any]]) -> Callable[[Case], Any]:
    return lambda case: {name: row(model) for name, model in case["models"].items()}


def _row(model: ModelSpec, **other: Any) -> dict[str, Any]:
    return {
        "total": total(model),
        "token_table": parts(model)["token table"],
        "share": share(model),
    } | other


def _same_report(got: Any, expected: Any) -> bool:
    return (
        isinstance(got, dict)
        and got.keys() == expected.keys()
        and all(_same_row(got[name], expected[name]) for name in expected)
    )


def _same_row(got: Any, expected: Any) -> bool:
    return (
        isinstance(got, dict)
        and got.keys() == expected.keys()
        and all(
            close(1e-9)(got[key], value) if isinstance(value, float) else equal(got[key], value)
            for key, value in expected.items()
        )
    )


def _last_only(case: Case) -> dict[str, Any]:
    name, model = list(case["models"].items())[-1]
    return {name: _row(model)}


def _repeated(index: int) -> Callable[[Case], Any]:
    def returns(case: Case) -> Any:
        models = list(case["models"].values())
        return {name: _row(models[index]) for name in case["models"]}

    return returns


def _miscounted(wrong: Callable[[ModelSpec], int]) -> Callable[[Case], Any]:
    """A report whose total is off, and the share with it."""
    return _report(lambda m: _row(m, total=wrong(m), share=parts(m)["token table"] / wrong(m)))


REPORT_MISTAKES = (
    Mistake(
        "percent_for_share",
        "`share` is a percentage. A share lies between 0 and 1: do not multiply by 100.",
        _report(lambda m: _row(m, share=100 * share(m))),
    ),
    Mistake(
        "share_of_embeddings",
        "`share` is taken of the embeddings. It is the table over the whole model.",
        _report(lambda m: _row(m, share=parts(m)["token table"] / embeddings(m))),
    ),
    Mistake(
        "all_embeddings_for_token_table",
        "`token_table` holds all embeddings. The token table is the word embeddings alone.",
        _report(lambda m: _row(m, token_table=embeddings(m), share=embeddings(m) / total(m))),
    ),
    Mistake(
        "counts_tied_decoder_twice",
        "`total` holds the tied decoder a second time. A tied matrix is counted once.",
        _miscounted(lambda m: total(m) + tied_twice(m)),
    ),
    Mistake(
        "counts_tied_decoder_twice",
        "`total` holds the tied decoder and its bias a second time. What is tied is counted once.",
        _miscounted(lambda m: total(m) + tied_twice(m) + shared_bias(m)),
    ),
    Mistake(
        "counts_buffers",
        "`total` holds the buffers (`position_ids`, `token_type_ids`), which are not learned.",
        _miscounted(lambda m: total(m) + 2 * m["P"]),
    ),
    Mistake(
        "same_row_for_all",
        "Every row describes the same model. Look at which model the loop counts.",
        _repeated(0),
    ),
    Mistake(
        "same_row_for_all",
        "Every row describes the same model. Look at which model the loop counts.",
        _repeated(-1),
    ),
    Mistake(
        "last_model_only",
        "Only the last model is in the report. Add a row in each turn of the loop, and return after it.",
        _last_only,
    ),
    Mistake(
        "first_model_only",
        "Only the first model is in the report. The `return` stands inside the loop.",
        lambda case: {name: _row(model) for name, model in list(case["models"].items())[:1]},
    ),
    Mistake(
        "table_size_for_count",
        "`token_table` is the number of rows. It is the number of parameters in the table, rows times hidden size.",
        _report(lambda m: _row(m, token_table=m["V"])),
    ),
)


def _rounded(digits: int) -> Mistake:
    return Mistake(
        "share_rounded",
        "`share` is rounded. Return it as it is and round where you print it.",
        _report(lambda m: _row(m, share=round(share(m), digits))),
    )


SHARE_ROUNDED = tuple(_rounded(digits) for digits in range(1, 9))


def budget_report(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    verdict = judge_values(
        question,
        cases,
        outcomes,
        expected=_report(_row),
        kind="a dict with a row for each name",
        is_kind=lambda value: isinstance(value, dict),
        same=_same_report,
        mistakes=(*REPORT_MISTAKES, *SHARE_ROUNDED),
        raised=(NO_ITEMS, FIXED_PREFIX),
    )
    if verdict.findings and verdict.findings[0].id == "unexpected_value":
        finding = _report_form(cases, outcomes) or verdict.findings[0]
        return incorrect(question, finding)
    return verdict


def _report_form(cases: list[Case], outcomes: Sequence[Outcome]) -> Finding | None:
    """The keys are looked at first: a name that differs explains more than a number that does."""
    columns = ("total", "token_table", "share")
    for case, outcome in zip(cases, outcomes, strict=True):
        names = list(case["models"])
        if set(outcome.value) != set(names):
            got = ", ".join(map(str, outcome.value)) or "an empty dict"
            return Finding(
                "wrong_names", "The report needs one row a model, by name.", case.label, got, ", ".join(names)
            )
        for name in names:
            row = outcome.value[name]
            if not isinstance(row, dict) or set(row) != set(columns):
                got = ", ".join(map(str, row)) if isinstance(row, dict) else describe_type(row)
                return Finding(
                    "wrong_columns", "A row has exactly three keys.", case.label, got, ", ".join(columns)
                )
            for column in columns[:2]:
                if type(row[column]) is not int:
                    got = f"{column}: {describe_type(row[column])}"
                    return Finding(
                        "wrong_type", "A number of parameters is an int.", case.label, got, "an int"
                    )
    return None
