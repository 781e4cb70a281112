"""The core of the judges: how a wrong value is named, and how it is shown beside the right one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from checks.encoding import Array
from checks.judges.containers import list_of, record
from checks.judges.kinds import INT, NUMBER, number
from checks.judges.tensors import tensor
from checks.judges.values import Mistake, ValueJudge
from checks.protocol import Case, Outcome

INTS = list_of(INT)


def as_tensor(rows, dtype="int64"):
    return Array("tensor", dtype, np.array(rows, dtype=dtype))


@pytest.mark.parametrize(
    ("kind", "got", "expected", "shown"),
    [
        (INTS, [1, 2], [1, 3], ("[1, 2]", "[1, 3]")),
        (INTS, [0] * 12, [0] * 10 + [5, 0], ("[10]: 0", "[10]: 5")),
        (INTS, [0] * 12, [0] * 13, ("[0, 0, 0, 0, 0, 0, 0, 0, … (12)]", "[0, 0, 0, 0, 0, 0, 0, 0, … (13)]")),
        (INTS, [10**12] * 12, [10**12] * 13, ("length: 12", "length: 13")),
        (
            record({"ids": INTS, "mask": INTS}),
            {"ids": [10**12] * 9, "mask": [1]},
            {"ids": [10**12] * 11, "mask": [1]},
            ("ids length: 9", "ids length: 11"),
        ),
        (list_of(NUMBER), [0.1234567], [0.1234568], ("[0.1234567]", "[0.1234568]")),
        (tensor("int64"), as_tensor([[1, 2]]), np.array([[1, 4]]), ("[0, 1]: 2", "[0, 1]: 4")),
    ],
)
def test_a_difference_is_shown_in_two_texts_that_differ(kind, got, expected, shown):
    assert kind.difference(got, expected) == shown


def verdict_on(judge, *values, changed=False, cases=None):
    cases = cases or [Case(f"n={n}", {"n": n}) for n in range(1, len(values) + 1)]
    return judge(cases, [Outcome(value, changed_input=changed) for value in values])


ONES = ValueJudge(
    tensor("int64"),
    lambda n: np.ones((n, 2), dtype=int),
    (Mistake("transposed", "The axes are exchanged.", lambda n: np.ones((2, n), dtype=int)),),
)


def test_a_value_of_another_shape_is_named_by_the_mistake_that_has_this_shape():
    named = verdict_on(ONES, as_tensor([[1], [1]]), as_tensor([[1, 1], [1, 1]])).findings[0]
    assert (named.id, named.case) == ("transposed", "n=1")
    assert "(2, 1)" in named.got and "(1, 2)" in named.expected


def test_a_shape_that_no_mistake_has_on_every_case_keeps_its_plain_name():
    for second in ([[1, 1], [1, 0]], [[1, 1, 1]]):
        assert verdict_on(ONES, as_tensor([[1], [1]]), as_tensor(second)).findings[0].id == "wrong_shape"


def test_a_tensor_of_other_numbers_is_named_before_its_values():
    assert verdict_on(ONES, as_tensor([[1, 1]], "float32")).findings[0].id == "not_long"
    floats = ValueJudge(tensor("float"), lambda n: np.ones(n))
    assert verdict_on(floats, as_tensor([1])).findings[0].id == "not_floats"


DOUBLE = ValueJudge(INT, lambda n: 2 * n, (Mistake("single", "Twice.", lambda n: n),))


def test_an_answer_that_says_two_things_to_one_input_is_told_so():
    case = Case("n=1", {"n": 1})
    cases = [case, Case("n=2", {"n": 2}), case.again()]
    assert verdict_on(DOUBLE, 2, 4, 2, cases=cases).state == "correct"
    finding = verdict_on(DOUBLE, 2, 4, 5, cases=cases).findings[0]
    assert (finding.id, finding.got, finding.expected) == ("two_answers", "5", "2, as before")
    assert verdict_on(DOUBLE, 2, 4, "2", cases=cases).findings[0].id == "two_answers"
    assert verdict_on(DOUBLE, 1, 2, 1, cases=cases).findings[0].id == "single"
    assert verdict_on(DOUBLE, "2", 4, 2, cases=cases).findings[0].id == "wrong_type"


def test_an_argument_that_was_changed_is_the_reason_where_no_mistake_explains_the_values():
    assert verdict_on(DOUBLE, 2, 7, changed=True).findings[0].id == "changes_its_input"
    assert verdict_on(DOUBLE, 1, 2, changed=True).findings[0].id == "single"
    assert verdict_on(DOUBLE, 2, 7).findings[0].id == "unexpected_value"


def test_no_number_is_as_good_as_infinity():
    same = number(1e-6, 1e-9).same
    assert same(math.inf, math.inf) and not same(20.7, math.inf) and not same(math.inf, 20.7)
