"""Judge of `token_table_share`: the wrong table, the wrong whole, the wrong name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    close,
    is_number,
    judge_values,
)
from checks.judges.parameter_budget.closed_forms import (
    embeddings,
    head,
    model_of,
    parts,
    share,
    shared_bias,
    tied_twice,
    total,
    trainable,
)
from checks.judges.parameter_budget.names import FIXED_PREFIX, FOUND_NOTHING
from checks.protocol import Case, Outcome, Question, Verdict
from checks.questions.parameter_budget import ModelSpec


def _ratio(top: Callable[[ModelSpec], float], bottom: Callable[[ModelSpec], float]) -> Any:
    return lambda case: top(model_of(case)) / bottom(model_of(case))


TWICE_BELOW = "The total below the line holds the tied decoder a second time. A tied matrix is counted once."
SHARE_MISTAKES = (
    Mistake(
        "percent_for_share",
        "This is a percentage. A share lies between 0 and 1: do not multiply by 100.",
        _ratio(lambda m: 100 * parts(m)["token table"], total),
    ),
    Mistake(
        "share_of_embeddings",
        "You divided by the embeddings alone. The question asks for the share of the whole model.",
        _ratio(lambda m: parts(m)["token table"], embeddings),
    ),
    Mistake(
        "all_embeddings_for_token_table",
        "You took all embeddings together. The token table is the word embeddings alone.",
        _ratio(embeddings, total),
    ),
    Mistake(
        "three_tables_for_token_table",
        "You took the token, position and segment tables together. The question asks for the token table alone.",
        _ratio(lambda m: embeddings(m) - parts(m)["embedding norm"], total),
    ),
    Mistake(
        "position_table_for_token_table",
        "You took the position table, which has a row a position. The token table has a row a vocabulary entry.",
        _ratio(lambda m: parts(m)["position table"], total),
    ),
    Mistake(
        "segment_table_for_token_table",
        "You took the segment table, which has a row a segment. The token table has a row a vocabulary entry.",
        _ratio(lambda m: parts(m)["segment table"], total),
    ),
    Mistake(
        "share_with_tied_decoder_twice",
        TWICE_BELOW,
        _ratio(lambda m: parts(m)["token table"], lambda m: total(m) + tied_twice(m)),
    ),
    Mistake(
        "share_with_tied_decoder_twice",
        TWICE_BELOW,
        _ratio(lambda m: parts(m)["token table"], lambda m: total(m) + tied_twice(m) + shared_bias(m)),
    ),
    Mistake(
        "share_with_buffers",
        "The total below the line holds buffers (`position_ids`, `token_type_ids`), which are not learned.",
        _ratio(lambda m: parts(m)["token table"], lambda m: total(m) + 2 * m["P"]),
    ),
    Mistake(
        "table_twice_over_total",
        "Above the line the tied matrix is counted twice, as table and as decoder. It is one matrix.",
        _ratio(lambda m: parts(m)["token table"] + tied_twice(m), total),
    ),
    Mistake(
        "share_of_rest",
        "You divided by everything but the table. The share is taken of the whole model, the table included.",
        _ratio(lambda m: parts(m)["token table"], lambda m: total(m) - parts(m)["token table"]),
    ),
    Mistake(
        "misses_head_below",
        "The total below the line is the encoder's. What stands on top of it belongs to the model too.",
        _ratio(lambda m: parts(m)["token table"], lambda m: total(m) - head(m)),
    ),
    Mistake(
        "share_of_trainable",
        "The total below the line leaves out what is frozen. Frozen numbers are parameters all the same.",
        _ratio(lambda m: parts(m)["token table"], trainable),
    ),
    Mistake(
        "first_parameter_for_table",
        "You took the model's first parameter. Which one comes first depends on the model; look at the names.",
        _ratio(lambda m: m["labels"] * m["H"] if m["wrapped"] else parts(m)["token table"], total),
    ),
    Mistake(
        "largest_parameter_for_table",
        "You took the largest parameter. With a small vocabulary that is another matrix; look at the names.",
        _ratio(lambda m: m["H"] * max(m["V"], m["I"], m["P"], m["H"]), total),
    ),
)


def _rounded(digits: int) -> Mistake:
    return Mistake(
        "share_rounded",
        "The value is rounded. Return the share as it is and round where you print it.",
        lambda case: round(share(model_of(case)), digits),
    )


def _prefix_unknown(case: Case) -> Any:
    """A sum over nothing where no `bert.` stands before the name."""
    model = model_of(case)
    return 0.0 if model["wrapped"] or model["head"] == "" else NotImplemented


SHARE_ROUNDED = tuple(_rounded(digits) for digits in range(1, 7))
NO_SHARE = (
    Mistake("fixed_prefix", FIXED_PREFIX.cause, _prefix_unknown),
    Mistake("integer_division", "`//` cuts a share to 0. Divide with `/`.", lambda case: 0.0),
)


def token_table_share(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: share(model_of(case)),
        kind="a float between 0 and 1",
        is_kind=is_number,
        same=close(1e-6),  # a share computed in float32 is right
        mistakes=(*SHARE_MISTAKES, *SHARE_ROUNDED, *NO_SHARE),
        raised=(FIXED_PREFIX, FOUND_NOTHING),
    )
