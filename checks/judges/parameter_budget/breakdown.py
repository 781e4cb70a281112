"""Judge of `breakdown`: seven parts, each worth its share of the points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    crashed,
    describe_type,
    equal,
    incorrect,
    not_attempted,
    show_value,
)
from checks.judges.parameter_budget.closed_forms import (
    PARTS,
    head,
    layer,
    model_of,
    parts,
    shared_bias,
    tied_twice,
    total,
)
from checks.judges.parameter_budget.names import FIXED_PREFIX
from checks.protocol import Case, Finding, Outcome, Question, Verdict
from checks.questions.parameter_budget import ModelSpec


def _moved(change: Callable[[ModelSpec], Mapping[str, int]]) -> Callable[[Case], Any]:
    """A breakdown in which `change` says by how much each part is off."""

    def returns(case: Case) -> Any:
        off = change(model_of(case))
        return {part: count + off.get(part, 0) for part, count in parts(model_of(case)).items()}

    return returns


def _decoder_bias(model: ModelSpec) -> int:
    return model["V"] if model["head"] in ("pretraining", "mlm") else 0


def _norms_elsewhere(model: ModelSpec) -> Mapping[str, int]:
    """Where LayerNorms stand besides the embeddings': two a layer, one in the MLM head."""
    in_layers = 4 * model["H"] * model["L"]
    in_head = 2 * model["H"] if model["head"] in ("pretraining", "mlm") else 0
    return {"embedding norm": in_layers + in_head, "encoder layers": -in_layers, "head": -in_head}


BREAKDOWN_MISTAKES = (
    Mistake(
        "tied_decoder_in_head",
        "The tied decoder stands in `head` a second time. Its matrix is the token table and belongs there alone.",
        _moved(lambda m: {"head": tied_twice(m)}),
    ),
    Mistake(
        "tied_decoder_in_head",
        "What is tied stands in `head` a second time, matrix and bias. Count each under one of its names.",
        _moved(lambda m: {"head": tied_twice(m) + shared_bias(m)}),
    ),
    Mistake(
        "all_norms_in_embedding_norm",
        "`embedding norm` holds every LayerNorm of the model. It is the one of the embeddings alone.",
        _moved(_norms_elsewhere),
    ),
    Mistake(
        "tied_decoder_moved_to_head",
        "The shared matrix stands in `head`. Count it in `token table`, where the encoder uses it.",
        _moved(lambda m: {"head": tied_twice(m), "token table": -tied_twice(m)}),
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
        part
        for part in PARTS
        if all(equal(value[part], parts(model_of(case))[part]) for case, value in pairs)
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
    wrong = [(case, value) for case, value in pairs if value != parts(model_of(case))]
    case, value = wrong[0]
    off = [part for part in PARTS if value[part] != parts(model_of(case))[part]]
    got = ", ".join(f"{part}: {show_value(value[part])}" for part in off)
    expected = ", ".join(f"{part}: {show_value(parts(model_of(case))[part])}" for part in off)
    for mistake in BREAKDOWN_MISTAKES:
        if all(mistake.returns(case) == value for case, value in wrong):
            return Finding(mistake.id, mistake.cause, case.label, got, expected)
    sums = [(sum(value.values()), total(model_of(case))) for case, value in wrong]
    if any(ours != theirs for ours, theirs in sums):
        cause = f"The parts sum to {sums[0][0]:,}; the model has {sums[0][1]:,} parameters."
        return Finding("does_not_sum", cause, case.label, got, expected)
    cause = "The sum is right, but numbers stand in the wrong part."
    return Finding("wrong_part", cause, case.label, got, expected)
