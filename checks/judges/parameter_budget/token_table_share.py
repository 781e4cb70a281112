"""The wrong table, the wrong whole, the wrong name."""

from __future__ import annotations

from collections.abc import Callable

from checks.judges.kinds import number
from checks.judges.parameter_budget import closed_forms as bert
from checks.judges.parameter_budget.names import FIXED_PREFIX, FOUND_NOTHING
from checks.judges.values import Mistake, ValueJudge
from checks.questions.parameter_budget.models import ModelSpec

Count = Callable[[ModelSpec], float]


def _table_over(whole: Count) -> Callable[..., float]:
    return lambda model: model["V"] * model["H"] / whole(model)


def _of_all(part: Count) -> Callable[..., float]:
    return lambda model: part(model) / bert.total(model)


def _prefix_unknown(model: ModelSpec) -> float:
    """A sum over nothing where no `bert.` stands before the name."""
    return 0.0 if model["wrapped"] or model["head"] == "" else bert.share(model)


MISTAKES = (
    Mistake(
        "percent_for_share",
        "This is a percentage. A share lies between 0 and 1: do not multiply by 100.",
        _of_all(lambda m: 100 * bert.parts(m)["token table"]),
    ),
    Mistake(
        "share_of_embeddings",
        "You divided by the embeddings alone. The question asks for the share of the whole model.",
        _table_over(bert.embeddings),
    ),
    Mistake(
        "all_embeddings_for_token_table",
        "You took all embeddings together. The token table is the word embeddings alone.",
        _of_all(bert.embeddings),
    ),
    Mistake(
        "three_tables_for_token_table",
        "You took the token, position and segment tables together. The question asks for the token table alone.",
        _of_all(lambda m: bert.embeddings(m) - bert.parts(m)["embedding norm"]),
    ),
    Mistake(
        "position_table_for_token_table",
        "You took the position table, which has a row a position. The token table has a row a vocabulary entry.",
        _of_all(lambda m: bert.parts(m)["position table"]),
    ),
    Mistake(
        "segment_table_for_token_table",
        "You took the segment table, which has a row a segment. The token table has a row a vocabulary entry.",
        _of_all(lambda m: bert.parts(m)["segment table"]),
    ),
    Mistake(
        "share_with_tied_decoder_twice",
        "The total below the line holds the tied decoder a second time. A tied matrix is counted once.",
        _table_over(lambda m: bert.total(m) + bert.tied_twice(m)),
        _table_over(lambda m: bert.total(m) + bert.tied_twice(m) + bert.shared_bias(m)),
    ),
    Mistake(
        "share_with_buffers",
        "The total below the line holds buffers (`position_ids`, `token_type_ids`), which are not learned.",
        _table_over(lambda m: bert.total(m) + 2 * m["P"]),
    ),
    Mistake(
        "table_twice_over_total",
        "Above the line the tied matrix is counted twice, as table and as decoder. It is one matrix.",
        _of_all(lambda m: bert.parts(m)["token table"] + bert.tied_twice(m)),
    ),
    Mistake(
        "share_of_rest",
        "You divided by everything but the table. The share is taken of the whole model, the table included.",
        _table_over(lambda m: bert.total(m) - bert.parts(m)["token table"]),
    ),
    Mistake(
        "misses_head_below",
        "The total below the line is the encoder's. What stands on top of it belongs to the model too.",
        _table_over(lambda m: bert.total(m) - bert.head(m)),
    ),
    Mistake(
        "share_of_trainable",
        "The total below the line leaves out what is frozen. Frozen numbers are parameters all the same.",
        _table_over(bert.trainable),
    ),
    Mistake(
        "first_parameter_for_table",
        "You took the model's first parameter. Which one comes first depends on the model; look at the names.",
        _of_all(lambda m: m["labels"] * m["H"] if m["wrapped"] else bert.parts(m)["token table"]),
    ),
    Mistake(
        "largest_parameter_for_table",
        "You took the largest parameter. With a small vocabulary that is another matrix; look at the names.",
        _of_all(lambda m: m["H"] * max(m["V"], m["I"], m["P"], m["H"])),
    ),
    Mistake("fixed_prefix", FIXED_PREFIX.cause, _prefix_unknown),
    Mistake("integer_division", "`//` cuts a share to 0. Divide with `/`.", lambda: 0.0),
)

JUDGE = ValueJudge(
    number(1e-6, words="a number between 0 and 1"),  # a share computed in float32 is right
    bert.share,
    MISTAKES,
    raised=(FIXED_PREFIX, FOUND_NOTHING),
    rounded="share_rounded",
)
