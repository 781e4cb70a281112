"""What an untrained model scores: ln V, ln 2 and their sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from checks.judges.comparing import (
    Mistake,
    close,
    is_number,
    judge_values,
)
from checks.judges.objectives.reference import as_number
from checks.protocol import Case, Outcome, Question, Verdict


def _initial(case: Case) -> tuple[float, float, float]:
    mlm, nsp = math.log(case["V"]), math.log(2)
    return mlm, nsp, mlm + nsp


def _same_triple(got: Any, expected: Any) -> bool:
    return all(close(1e-6, 1e-12)(one, other) for one, other in zip(got, expected, strict=True))


def _initial_mistake(id: str, cause: str, wrong: Callable[[int], tuple[Any, Any, Any]]) -> Mistake:
    return Mistake(id, cause, lambda case: wrong(case["V"]))


def _with_sum(mlm: float, nsp: float) -> tuple[float, float, float]:
    return mlm, nsp, mlm + nsp


def _rounded(digits: int) -> Callable[[int], tuple[Any, Any, Any]]:
    def wrong(V: int) -> tuple[Any, Any, Any]:
        mlm, nsp, total = _with_sum(math.log(V), math.log(2))
        return round(mlm, digits), round(nsp, digits), round(total, digits)

    return wrong


INITIAL_MISTAKES = (
    _initial_mistake(
        "bits_for_nats",
        "These are bits, logarithms to base 2. PyTorch's losses are in nats: use the natural logarithm.",
        lambda V: _with_sum(math.log2(V), 1.0),
    ),
    _initial_mistake(
        "base_ten",
        "These are logarithms to base 10. Losses are in nats: use the natural logarithm.",
        lambda V: _with_sum(math.log10(V), math.log10(2)),
    ),
    _initial_mistake(
        "sign_flipped",
        "The signs are the wrong way round: a loss is −log p, and log p is negative.",
        lambda V: _with_sum(-math.log(V), -math.log(2)),
    ),
    _initial_mistake(
        "probabilities_for_losses",
        "These are the probabilities of the right answer. The loss is the negative logarithm of them.",
        lambda V: _with_sum(1 / V, 1 / 2),
    ),
    _initial_mistake(
        "perplexities_for_losses",
        "These are the numbers of choices. The loss is the logarithm of them.",
        lambda V: _with_sum(V, 2),
    ),
    _initial_mistake(
        "accuracy_for_nsp",
        "½ is how often a guess between two is right. Its loss is −ln ½.",
        lambda V: _with_sum(math.log(V), 0.5),
    ),
    _initial_mistake(
        "error_for_loss",
        "1 − p is how often a guess is wrong. The loss is −ln p.",
        lambda V: _with_sum(1 - 1 / V, 0.5),
    ),
    _initial_mistake(
        "nsp_over_vocabulary",
        "The sentence head chooses between two classes, not among the vocabulary.",
        lambda V: _with_sum(math.log(V), math.log(V)),
    ),
    _initial_mistake(
        "nsp_zero",
        "The sentence loss is not 0: an untrained model does not know which of the two it is.",
        lambda V: _with_sum(math.log(V), 0.0),
    ),
    _initial_mistake(
        "mlm_times_share",
        "The token loss is a mean over the selected positions: the 15 % cancel.",
        lambda V: _with_sum(0.15 * math.log(V), math.log(2)),
    ),
    _initial_mistake(
        "half_of_sum",
        "The total is the sum of the two, without a coefficient.",
        lambda V: (math.log(V), math.log(2), (math.log(V) + math.log(2)) / 2),
    ),
    _initial_mistake(
        "product_for_sum",
        "The total is the sum of the two, not their product.",
        lambda V: (math.log(V), math.log(2), math.log(V) * math.log(2)),
    ),
    _initial_mistake(
        "log_of_sum",
        "The total is ln V + ln 2 = ln 2V, not ln(V + 2).",
        lambda V: (math.log(V), math.log(2), math.log(V + 2)),
    ),
    _initial_mistake(
        "hard_coded_vocabulary",
        "This is right for 30,522 alone. Use the argument.",
        lambda V: _with_sum(math.log(30_522), math.log(2)),
    ),
    _initial_mistake(
        "hard_coded_vocabulary",
        "This is right for 30,522 alone. Use the argument.",
        lambda V: (10.326, 0.693, 11.019),
    ),
    _initial_mistake(
        "leaves_out_the_right_one",
        "The right answer is one of the V choices: ln V, not ln(V − 1).",
        lambda V: _with_sum(math.log(V - 1), math.log(2)),
    ),
    _initial_mistake(
        "pair_swapped",
        "The order is (mlm, nsp, total).",
        lambda V: (math.log(2), math.log(V), math.log(V) + math.log(2)),
    ),
    *(
        _initial_mistake(
            "rounded",
            "The values are rounded. Return them as they are; round when you print.",
            _rounded(digits),
        )
        for digits in (1, 2, 3, 4)
    ),
)


def initial_losses(question: Question, cases: list[Case], outcomes: Sequence[Outcome]) -> Verdict:
    return judge_values(
        question,
        cases,
        [Outcome(_as_floats(o.value), o.raised, o.changed_input) for o in outcomes],
        expected=_initial,
        kind="three numbers (mlm, nsp, total)",
        is_kind=lambda value: (
            isinstance(value, (tuple, list)) and len(value) == 3 and all(is_number(part) for part in value)
        ),
        same=_same_triple,
        mistakes=INITIAL_MISTAKES,
    )


def _as_floats(value: Any) -> Any:
    """Tensors without axes count as the numbers they hold."""
    if isinstance(value, (tuple, list)):
        numbers = [as_number(part) for part in value[:4]]
        if None not in numbers:
            return tuple(numbers)
    return value
