"""Judges and misconceptions of the assignment `parameter_budget`.

Everything is counted from shapes with closed forms: no model is built, no reference answer imported.

V vocabulary · H hidden · I intermediate · L layers · P positions · T segment types
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    RaisedMistake,
    close,
    crashed,
    describe_type,
    equal,
    incorrect,
    is_number,
    judge_values,
    not_attempted,
    show_value,
)
from checks.protocol import Case, Finding, Outcome, Question, Verdict
from checks.questions.parameter_budget import ModelSpec

PARTS = (
    "token table",
    "position table",
    "segment table",
    "embedding norm",
    "encoder layers",
    "pooler",
    "head",
)


# --- closed forms -----------------------------------------------------------------------------------------


def layer(H: int, I: int) -> int:  # noqa: E741
    """One encoder layer: four H×H projections, two feed-forward matrices, their biases, two LayerNorms."""
    return 4 * H * H + 4 * H + 2 * H * I + I + H + 4 * H


def head(model: ModelSpec) -> int:
    """What lies outside the encoder. A tied decoder adds its bias alone; an untied one its matrix and, in
    `transformers`, a bias of its own beside the head's."""
    H, V, kind = model["H"], model["V"], model["head"]
    mlm = H * H + H + 2 * H + V + (0 if model["tied"] else V * H + V)
    wrapper = (H + 1) * model["labels"] if model["wrapped"] else 0
    return (
        wrapper
        + {
            "": 0,
            "pretraining": mlm + 2 * H + 2,
            "mlm": mlm,
            "tokens": (H + 1) * model["labels"],
            "classifier": (H + 1) * model["labels"],
            "qa": (H + 1) * 2,
        }[kind]
    )


def parts(model: ModelSpec) -> dict[str, int]:
    H = model["H"]
    return {
        "token table": model["V"] * H,
        "position table": model["P"] * H,
        "segment table": model["T"] * H,
        "embedding norm": 2 * H,
        "encoder layers": model["L"] * layer(H, model["I"]),
        "pooler": H * H + H if model["pooler"] else 0,
        "head": head(model),
    }


def total(model: ModelSpec) -> int:
    return sum(parts(model).values())


def _tied_twice(model: ModelSpec) -> int:
    """How much too many when a tied decoder is counted again."""
    return model["V"] * model["H"] if model["tied"] and model["head"] in ("pretraining", "mlm") else 0


def _biases_and_norms(model: ModelSpec) -> int:
    """All parameters with fewer than two axes."""
    H, I, L, V = model["H"], model["I"], model["L"], model["V"]  # noqa: E741
    count = 2 * H + L * (4 * H + I + H + 4 * H) + (H if model["pooler"] else 0)
    mlm = H + 2 * H + V + (0 if model["tied"] else V)
    bias = {"": 0, "pretraining": mlm + 2, "mlm": mlm, "qa": 2}.get(model["head"], model["labels"])
    return count + bias + (model["labels"] if model["wrapped"] else 0)


def _tensors(model: ModelSpec) -> int:
    """How many parameter tensors there are."""
    untied = 0 if model["tied"] else 2
    in_head = {"": 0, "pretraining": 5 + 2 + untied, "mlm": 5 + untied}.get(model["head"], 2)
    return 5 + 16 * model["L"] + (2 if model["pooler"] else 0) + in_head + (2 if model["wrapped"] else 0)


def _model(case: Case) -> ModelSpec:
    model: ModelSpec = case["model"]
    return model


# --- count_parameters -------------------------------------------------------------------------------------


def _where_it_differs(wrong: Callable[[ModelSpec], int], right: Callable[[ModelSpec], int] = total) -> Any:
    """A mistake's value on a case; NotImplemented where it happens to give the right answer."""

    def returns(case: Case) -> Any:
        value = wrong(_model(case))
        return value if value != right(_model(case)) else NotImplemented

    return returns


def _trainable(model: ModelSpec) -> int:
    return total(model) - (parts(model)["encoder layers"] if model["frozen"] else 0)


def _shared_bias(model: ModelSpec) -> int:
    """A tied decoder's bias has two names as well: `state_dict()` lists both."""
    return model["V"] if _tied_twice(model) else 0


TIED_TWICE = (
    "The MLM decoder shares its matrix with the token table (V×H numbers). A tied matrix is counted once."
)
COUNT_MISTAKES = (
    Mistake("counts_tied_decoder_twice", TIED_TWICE, _where_it_differs(lambda m: total(m) + _tied_twice(m))),
    Mistake(
        "counts_tied_decoder_twice",
        TIED_TWICE,
        _where_it_differs(lambda m: total(m) + _tied_twice(m) + _shared_bias(m)),
    ),
    Mistake(
        "counts_position_ids_buffer",
        "You counted the `position_ids` buffer, one number a position. A buffer is not learned, so it is no parameter.",
        _where_it_differs(lambda m: total(m) + m["P"]),
    ),
    Mistake(
        "counts_buffers",
        "You counted the buffers (`position_ids`, `token_type_ids`), one number a position. Buffers are not learned.",
        _where_it_differs(lambda m: total(m) + 2 * m["P"]),
    ),
    Mistake(
        "counts_buffers_and_tied_twice",
        "You counted buffers, which are not learned, and the tied decoder a second time.",
        _where_it_differs(lambda m: total(m) + 2 * m["P"] + _tied_twice(m)),
    ),
    Mistake(
        "counts_trainable_only",
        "You left out the frozen layers (`requires_grad=False`). Frozen numbers are parameters all the same.",
        _where_it_differs(_trainable),
    ),
    Mistake(
        "misses_pooler",
        "The pooler's H×H matrix and its bias are missing.",
        _where_it_differs(lambda m: total(m) - parts(m)["pooler"]),
    ),
    Mistake(
        "misses_biases_and_norms",
        "Only the matrices are counted. Biases and LayerNorm weights are learned too.",
        _where_it_differs(lambda m: total(m) - _biases_and_norms(m)),
    ),
    Mistake(
        "counts_tensors",
        "You counted the parameter tensors. Count the numbers in them: `numel()`.",
        _where_it_differs(_tensors),
    ),
    Mistake(
        "counts_encoder_only",
        "You counted the encoder's layers without the embeddings and what stands on top.",
        _where_it_differs(lambda m: parts(m)["encoder layers"]),
    ),
    Mistake(
        "misses_head",
        "What stands on the encoder is missing: count `model`, not the encoder inside it.",
        _where_it_differs(lambda m: total(m) - head(m)),
    ),
    Mistake(
        "counts_bytes",
        "This is the number of bytes in fp32, four times the number of parameters.",
        _where_it_differs(lambda m: 4 * total(m)),
    ),
    Mistake(
        "counts_optimizer_slots",
        "You counted Adam's two moments with each parameter. They belong to the optimizer, not to the model.",
        _where_it_differs(lambda m: 3 * total(m)),
    ),
)


def count_parameters(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: total(_model(case)),
        kind="an int, the number of parameters",
        is_kind=lambda value: type(value) is int,
        same=equal,
        mistakes=COUNT_MISTAKES,
    )


# --- token_table_share ------------------------------------------------------------------------------------


def _share(model: ModelSpec) -> float:
    return parts(model)["token table"] / total(model)


def _embeddings(model: ModelSpec) -> int:
    return sum(parts(model)[part] for part in PARTS[:4])


def _ratio(top: Callable[[ModelSpec], float], bottom: Callable[[ModelSpec], float]) -> Any:
    return lambda case: top(_model(case)) / bottom(_model(case))


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
        _ratio(lambda m: parts(m)["token table"], _embeddings),
    ),
    Mistake(
        "all_embeddings_for_token_table",
        "You took all embeddings together. The token table is the word embeddings alone.",
        _ratio(_embeddings, total),
    ),
    Mistake(
        "three_tables_for_token_table",
        "You took the token, position and segment tables together. The question asks for the token table alone.",
        _ratio(lambda m: _embeddings(m) - parts(m)["embedding norm"], total),
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
        _ratio(lambda m: parts(m)["token table"], lambda m: total(m) + _tied_twice(m)),
    ),
    Mistake(
        "share_with_tied_decoder_twice",
        TWICE_BELOW,
        _ratio(lambda m: parts(m)["token table"], lambda m: total(m) + _tied_twice(m) + _shared_bias(m)),
    ),
    Mistake(
        "share_with_buffers",
        "The total below the line holds buffers (`position_ids`, `token_type_ids`), which are not learned.",
        _ratio(lambda m: parts(m)["token table"], lambda m: total(m) + 2 * m["P"]),
    ),
    Mistake(
        "table_twice_over_total",
        "Above the line the tied matrix is counted twice, as table and as decoder. It is one matrix.",
        _ratio(lambda m: parts(m)["token table"] + _tied_twice(m), total),
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
)
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


def _rounded(digits: int) -> Mistake:
    return Mistake(
        "share_rounded",
        "The value is rounded. Return the share as it is and round where you print it.",
        lambda case: round(_share(_model(case)), digits),
    )


SHARE_ROUNDED = tuple(_rounded(digits) for digits in range(1, 9))
FIXED_PREFIX_VALUE = Mistake(
    "fixed_prefix",
    FIXED_PREFIX.cause,
    lambda case: 0.0,  # nothing had that name, so the sum over nothing came back
)


def token_table_share(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: _share(_model(case)),
        kind="a float between 0 and 1",
        is_kind=is_number,
        same=close(1e-9),
        mistakes=(*SHARE_MISTAKES, *SHARE_ROUNDED, FIXED_PREFIX_VALUE),
        raised=(FIXED_PREFIX,),
    )


# --- breakdown --------------------------------------------------------------------------------------------


def _moved(change: Callable[[ModelSpec], Mapping[str, int]]) -> Callable[[Case], Any]:
    """A breakdown in which `change` says by how much each part is off."""

    def returns(case: Case) -> Any:
        off = change(_model(case))
        return {part: count + off.get(part, 0) for part, count in parts(_model(case)).items()}

    return returns


def _decoder_bias(model: ModelSpec) -> int:
    return model["V"] if model["head"] in ("pretraining", "mlm") else 0


BREAKDOWN_MISTAKES = (
    Mistake(
        "tied_decoder_in_head",
        "The tied decoder stands in `head` a second time. Its matrix is the token table and belongs there alone.",
        _moved(lambda m: {"head": _tied_twice(m)}),
    ),
    Mistake(
        "tied_decoder_moved_to_head",
        "The shared matrix stands in `head`. Count it in `token table`, where the encoder uses it.",
        _moved(lambda m: {"head": _tied_twice(m), "token table": -_tied_twice(m)}),
    ),
    Mistake(
        "pooler_in_head",
        "The pooler stands in `head`. It is part of the encoder and has its own line.",
        _moved(lambda m: {"pooler": -parts(m)["pooler"], "head": parts(m)["pooler"]}),
    ),
    Mistake(
        "pooler_in_layers",
        "The pooler stands in `encoder layers`. It comes after the last layer and has its own line.",
        _moved(lambda m: {"pooler": -parts(m)["pooler"], "encoder layers": parts(m)["pooler"]}),
    ),
    Mistake(
        "embedding_norm_in_layers",
        "The LayerNorm of the embeddings stands in `encoder layers`. It has a line of its own, `embedding norm`.",
        _moved(lambda m: {"embedding norm": -2 * m["H"], "encoder layers": 2 * m["H"]}),
    ),
    Mistake(
        "embedding_norm_in_head",
        "The LayerNorm of the embeddings stands in `head`. It has a line of its own, `embedding norm`.",
        _moved(lambda m: {"embedding norm": -2 * m["H"], "head": 2 * m["H"]}),
    ),
    Mistake(
        "misses_head",
        "`head` is 0 although something stands on the encoder. Whatever lies outside the encoder is the head.",
        _moved(lambda m: {"head": -head(m)}),
    ),
    Mistake(
        "misses_mlm_bias",
        "The decoder's bias is missing: one number a vocabulary entry, learned and not tied to anything.",
        _moved(lambda m: {"head": -_decoder_bias(m)}),
    ),
    Mistake(
        "untied_decoder_dropped",
        "A decoder that is not tied is a matrix of its own and belongs in `head`.",
        _moved(lambda m: {"head": 0 if m["tied"] else -m["V"] * m["H"]}),
    ),
    Mistake(
        "one_layer_for_all",
        "`encoder layers` holds one layer. The model has several.",
        _moved(lambda m: {"encoder layers": (1 - m["L"]) * layer(m["H"], m["I"])}),
    ),
    Mistake(
        "positions_and_segments_swapped",
        "`position table` and `segment table` are exchanged: the position table has a row a position.",
        _moved(
            lambda m: {
                "position table": (m["T"] - m["P"]) * m["H"],
                "segment table": (m["P"] - m["T"]) * m["H"],
            }
        ),
    ),
)


def breakdown(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    """Seven parts on several models; each part that is right on all of them earns its seventh."""
    early = not_attempted(question, outcomes) or crashed(question, cases, outcomes, (FIXED_PREFIX,))
    if early:
        return early
    for case, outcome in zip(cases, outcomes, strict=True):
        wrong_form = _breakdown_form(case, outcome.value)
        if wrong_form:
            return incorrect(question, wrong_form)

    pairs = [(case, outcome.value) for case, outcome in zip(cases, outcomes, strict=True)]
    right = [
        part for part in PARTS if all(equal(value[part], parts(_model(case))[part]) for case, value in pairs)
    ]
    if len(right) == len(PARTS):
        return Verdict(question.name, "correct", 1.0, lesson=question.lesson)
    finding = _breakdown_finding(pairs)
    # Points for parts only where most of the accounting is right; a mere constant earns nothing.
    score = len(right) / len(PARTS) if len(right) >= 3 else 0.0
    return Verdict(question.name, "partial" if score else "incorrect", score, (finding,), question.lesson)


def _breakdown_form(case: Case, value: Any) -> Finding | None:
    wanted = "a dict with the keys " + ", ".join(PARTS)
    if not isinstance(value, dict):
        return Finding("wrong_type", "The answer must be a dict.", case.label, describe_type(value), wanted)
    missing = [part for part in PARTS if part not in value]
    extra = [str(key) for key in value if key not in PARTS]
    if missing:
        cause = "Keys are missing. A part the model does not have is 0, not absent."
        return Finding("missing_keys", cause, case.label, f"no {', '.join(missing)}", wanted)
    if extra:
        cause = (
            "There are keys besides the seven parts; what you sum up twice no longer adds up to the total."
        )
        return Finding("extra_keys", cause, case.label, ", ".join(extra[:4]), wanted)
    bad = [part for part in PARTS if type(value[part]) is not int]
    if bad:
        got = f"{bad[0]}: {describe_type(value[bad[0]])}"
        return Finding("wrong_type", "Each part must be an int.", case.label, got, "an int")
    return None


def _breakdown_finding(pairs: list[tuple[Case, dict[str, int]]]) -> Finding:
    wrong = [(case, value) for case, value in pairs if value != parts(_model(case))]
    case, value = wrong[0]
    off = [part for part in PARTS if value[part] != parts(_model(case))[part]]
    got = ", ".join(f"{part}: {show_value(value[part])}" for part in off)
    expected = ", ".join(f"{part}: {show_value(parts(_model(case))[part])}" for part in off)
    for mistake in BREAKDOWN_MISTAKES:
        if all(mistake.returns(case) == value for case, value in wrong):
            return Finding(mistake.id, mistake.cause, case.label, got, expected)
    sums = [(sum(value.values()), total(_model(case))) for case, value in wrong]
    if any(ours != theirs for ours, theirs in sums):
        cause = f"The parts sum to {sums[0][0]:,}; the model has {sums[0][1]:,} parameters."
        return Finding("does_not_sum", cause, case.label, got, expected)
    cause = "The sum is right, but numbers stand in the wrong part."
    return Finding("wrong_part", cause, case.label, got, expected)


# --- layer_parameters -------------------------------------------------------------------------------------


def _layer_mistake(id: str, cause: str, wrong: Callable[[int, int], int]) -> Mistake:
    def returns(case: Case) -> Any:
        H, I = case["H"], case["I"]  # noqa: E741
        value = wrong(H, I)
        return value if value != layer(H, I) else NotImplemented

    return Mistake(id, cause, returns)


LAYER_MISTAKES = (
    _layer_mistake(
        "matrices_only",
        "The matrices are right, biases and LayerNorms are missing (9H + I numbers).",
        lambda H, I: 4 * H * H + 2 * H * I,  # noqa: E741
    ),
    _layer_mistake(
        "no_biases",
        "The biases are missing: four of the projections (H each), two of the feed-forward part (I and H).",
        lambda H, I: layer(H, I) - 5 * H - I,  # noqa: E741
    ),
    _layer_mistake(
        "no_layer_norms",
        "The two LayerNorms are missing; each has a weight and a bias of H numbers.",
        lambda H, I: layer(H, I) - 4 * H,  # noqa: E741
    ),
    _layer_mistake(
        "half_the_layer_norms",
        "2H numbers are missing: there are two LayerNorms, and each has a weight and a bias of H numbers.",
        lambda H, I: layer(H, I) - 2 * H,  # noqa: E741
    ),
    _layer_mistake(
        "three_projections",
        "Attention has four H×H projections: query, key, value and the output.",
        lambda H, I: layer(H, I) - H * H - H,  # noqa: E741
    ),
    _layer_mistake(
        "assumes_four_times_hidden",
        "12H² + 13H holds only when the intermediate size is 4H. Use the argument `intermediate`.",
        lambda H, I: 12 * H * H + 13 * H,  # noqa: E741
    ),
    _layer_mistake(
        "twelve_h_squared",
        "12H² is the rule of thumb: it leaves out biases and LayerNorms and assumes intermediate = 4H.",
        lambda H, I: 12 * H * H,  # noqa: E741
    ),
    _layer_mistake(
        "one_feed_forward_matrix",
        "The feed-forward part has two matrices, H×I up and I×H down.",
        lambda H, I: layer(H, I) - H * I - H,  # noqa: E741
    ),
)


def layer_parameters(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=lambda case: layer(case["H"], case["I"]),
        kind="an int",
        is_kind=lambda value: type(value) is int,
        same=equal,
        mistakes=LAYER_MISTAKES,
    )


# --- factorised_table -------------------------------------------------------------------------------------


def _factorised(case: Case) -> tuple[int, float]:
    V, H, E = case["V"], case["H"], case["E"]
    count = V * E + E * H
    return count, V * H / count


def _same_pair(got: Any, expected: Any) -> bool:
    count, ratio = expected
    same_count = equal(got[0], count) if type(count) is int else close()(got[0], count)
    return same_count and close()(got[1], ratio)


def _factor_mistake(id: str, cause: str, wrong: Callable[[int, int, int], tuple[Any, Any]]) -> Mistake:
    return Mistake(id, cause, lambda case: wrong(case["V"], case["H"], case["E"]))


def _with_count(count: int, V: int, H: int) -> tuple[int, float]:
    return count, V * H / count


FACTOR_MISTAKES = (
    _factor_mistake(
        "ratio_inverted",
        "The ratio is upside down: `times_smaller` is the old table over the new one, above 1 when it pays.",
        lambda V, H, E: (E * (V + H), E * (V + H) / (V * H)),
    ),
    _factor_mistake(
        "second_matrix_missing",
        "The E×H matrix that lifts the factor to the hidden size is missing.",
        lambda V, H, E: _with_count(V * E, V, H),
    ),
    _factor_mistake(
        "counts_bias",
        "Two matrices, no bias: this is H too many.",
        lambda V, H, E: _with_count(E * (V + H) + H, V, H),
    ),
    _factor_mistake(
        "counts_both_biases",
        "Two matrices, no bias: this is E + H too many.",
        lambda V, H, E: _with_count(E * (V + H) + H + E, V, H),
    ),
    _factor_mistake(
        "saving_for_ratio",
        "The second value is the share that is saved. `times_smaller` is the old count over the new.",
        lambda V, H, E: (E * (V + H), 1 - E * (V + H) / (V * H)),
    ),
    _factor_mistake(
        "difference_for_ratio",
        "The second value is the difference. `times_smaller` is a ratio, the old count over the new.",
        lambda V, H, E: (E * (V + H), V * H - E * (V + H)),
    ),
    _factor_mistake(
        "hidden_over_factor",
        "H/E leaves out the second matrix. Divide the old count by the new.",
        lambda V, H, E: (E * (V + H), H / E),
    ),
    _factor_mistake(
        "integer_division",
        "`//` cuts the ratio to a whole number. Divide with `/`.",
        lambda V, H, E: (E * (V + H), V * H // (E * (V + H))),
    ),
    _factor_mistake(
        "product_of_three",
        "V·E·H is a product of all three sizes. Two matrices are summed: V·E + E·H.",
        lambda V, H, E: _with_count(V * E * H, V, H),
    ),
    _factor_mistake(
        "pair_swapped",
        "The two values are exchanged: the number of parameters comes first.",
        lambda V, H, E: (V * H / (E * (V + H)), E * (V + H)),
    ),
)


def factorised_table(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        outcomes,
        expected=_factorised,
        kind="a pair (parameters, times_smaller)",
        is_kind=lambda value: (
            isinstance(value, (tuple, list)) and len(value) == 2 and all(is_number(part) for part in value)
        ),
        same=_same_pair,
        mistakes=FACTOR_MISTAKES,
    )


# --- budget_report ----------------------------------------------------------------------------------------


def _report(row: Callable[[ModelSpec], dict[str, Any]]) -> Callable[[Case], Any]:
    return lambda case: {name: row(model) for name, model in case["models"].items()}


def _row(model: ModelSpec, **other: Any) -> dict[str, Any]:
    return {
        "total": total(model),
        "token_table": parts(model)["token table"],
        "share": _share(model),
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
        _report(lambda m: _row(m, share=100 * _share(m))),
    ),
    Mistake(
        "share_of_embeddings",
        "`share` is taken of the embeddings. It is the table over the whole model.",
        _report(lambda m: _row(m, share=parts(m)["token table"] / _embeddings(m))),
    ),
    Mistake(
        "all_embeddings_for_token_table",
        "`token_table` holds all embeddings. The token table is the word embeddings alone.",
        _report(lambda m: _row(m, token_table=_embeddings(m), share=_embeddings(m) / total(m))),
    ),
    Mistake(
        "counts_tied_decoder_twice",
        "`total` holds the tied decoder a second time. A tied matrix is counted once.",
        _miscounted(lambda m: total(m) + _tied_twice(m)),
    ),
    Mistake(
        "counts_tied_decoder_twice",
        "`total` holds the tied decoder and its bias a second time. What is tied is counted once.",
        _miscounted(lambda m: total(m) + _tied_twice(m) + _shared_bias(m)),
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


def budget_report(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    verdict = judge_values(
        question,
        cases,
        outcomes,
        expected=_report(_row),
        kind="a dict with a row for each name",
        is_kind=lambda value: isinstance(value, dict),
        same=_same_report,
        mistakes=REPORT_MISTAKES,
        raised=(FIXED_PREFIX,),
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
    return None


JUDGES = {
    "count_parameters": count_parameters,
    "token_table_share": token_table_share,
    "breakdown": breakdown,
    "layer_parameters": layer_parameters,
    "factorised_table": factorised_table,
    "budget_report": budget_report,
}
