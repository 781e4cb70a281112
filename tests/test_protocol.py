"""Evidence: what goes in comes out, and what no probe writes is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from checks.encoding import MAX_EVIDENCE_BYTES, Array, BadEvidence, Other, decode, encode
from checks.evidence import evidence_from_json, evidence_to_json, outcome_to_json
from checks.protocol import Raised, Verdict

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=50),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


def through_json(value):
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


@given(plain)
def test_plain_values_come_back_with_their_types(value):
    back = through_json(value)
    assert back == value
    assert type(back) is type(value)


def test_what_json_lacks_comes_back_too():
    assert math.isnan(through_json(math.nan))
    assert through_json([math.inf, -math.inf]) == [math.inf, -math.inf]
    assert through_json({1, 2}) == {1, 2}
    assert through_json(np.float64(0.5)) == 0.5
    assert through_json(2**80) == 2**80
    assert through_json(-(10**299)) == -(10**299)
    assert isinstance(through_json(10**400), Other)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bool, torch.bfloat16])
def test_tensors_travel_as_bytes(dtype):
    tensor = torch.arange(6).reshape(2, 3).to(dtype)
    back = through_json(tensor)
    assert isinstance(back, Array)
    assert (back.kind, back.dtype) == ("tensor", str(dtype).removeprefix("torch."))
    assert np.array_equal(back.data, tensor.float().numpy())


def test_an_array_keeps_its_shape_even_without_axes():
    assert through_json(np.array(3)).data.shape == ()
    assert through_json(np.zeros((0, 4))).data.shape == (0, 4)


class Strange:
    def __repr__(self):
        raise RuntimeError("no picture of me")


@pytest.mark.parametrize(
    "value", [Strange(), torch.empty(3, device="meta"), np.array(["text"]), len, torch.nn.Linear(1, 1)]
)
def test_strange_objects_become_other_without_an_error(value):
    assert isinstance(through_json(value), Other)


def test_endless_and_enormous_values_cost_a_sentence():
    loop = []
    loop.append(loop)
    assert len(json.dumps(encode(loop))) < 10_000
    assert len(json.dumps(encode([[0] * 1000] * 1000))) < MAX_EVIDENCE_BYTES
    assert isinstance(through_json(np.zeros(MAX_EVIDENCE_BYTES)), Other)


def evidence(outcomes=None, question="count_parameters"):
    return evidence_to_json(question, [outcome_to_json(3)] if outcomes is None else outcomes)


def test_good_evidence_is_read():
    raised = outcome_to_json(None, raised=Raised("ValueError", "too long", "line 3: f(x)"))
    read = evidence_from_json(evidence([outcome_to_json(3), raised]), question="count_parameters", cases=2)
    assert read.outcomes[0].value == 3
    assert read.outcomes[1].raised == Raised("ValueError", "too long", "line 3: f(x)")


@pytest.mark.parametrize(
    "payload",
    [
        None,
        7,
        "not json",
        "[" * 100_000,
        [],
        {},
        {"question": "count_parameters"},
        {"question": "breakdown", "outcomes": [{"value": 3, "changed_input": False}]},
        {"question": "count_parameters", "outcomes": []},
        {"question": "count_parameters", "outcomes": [{"value": 3, "changed_input": False}] * 2},
        {"question": "count_parameters", "outcomes": [3]},
        {"question": "count_parameters", "outcomes": [{"raised": ["one"]}]},
        {"question": "count_parameters", "outcomes": [{"value": {"$": "pickle", "of": "gASV"}}]},
        {"question": "count_parameters", "outcomes": [{"value": {"no": "tag"}}]},
        {"question": "count_parameters", "outcomes": [{"value": {"$": "float", "of": "1e5"}}]},
        {"question": "count_parameters", "outcomes": [{"value": {"$": ["list"], "of": 1}}]},
        {"question": "count_parameters", "outcomes": [{"value": {"$": "dict", "of": [[[1], 2]]}}]},
        '{"question": "count_parameters", "outcomes": [{"value": NaN, "changed_input": false}]}',
        "x" * (MAX_EVIDENCE_BYTES + 1),
        '{"question": "count_parameters", "outcomes": [{"value": 1%s, "changed_input": false}]}'
        % ("0" * 400),
    ],
    ids=range(20),
)
def test_anything_else_is_bad_evidence(payload):
    with pytest.raises(BadEvidence):
        evidence_from_json(payload, question="count_parameters", cases=1)


@pytest.mark.parametrize(
    "change",
    [{"stored": "object"}, {"shape": [2**40]}, {"shape": [-1, -1]}, {"bytes": "%%"}, {"kind": "file"}],
)
def test_an_array_that_lies_about_itself_is_bad_evidence(change):
    array = encode(np.zeros(3))
    array["of"].update(change)
    payload = evidence([{"value": array, "changed_input": False}])
    with pytest.raises(BadEvidence):
        evidence_from_json(payload, question="count_parameters", cases=1)


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_no_verdict_scores_outside_zero_to_one(score):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Verdict("count_parameters", "correct", score)
