"""What an untrained model scores, ln V, ln 2 and their sum; and what people take for it."""

from __future__ import annotations

from collections.abc import Callable
from math import log, log2, log10

from checks.judges.containers import tuple_of
from checks.judges.kinds import number
from checks.judges.values import Mistake, ValueJudge

Triple = tuple[float, float, float]


def _with_sum(mlm: Callable[[int], float], nsp: float = log(2)) -> Callable[..., Triple]:
    return lambda vocab_size: (mlm(vocab_size), nsp, mlm(vocab_size) + nsp)


def _with_total(total: Callable[[int], float]) -> Callable[..., Triple]:
    return lambda vocab_size: (log(vocab_size), log(2), total(vocab_size))


def _published(digits: int) -> Callable[..., tuple[float, ...]]:
    """The numbers for bert-base-uncased, as one reads them."""
    return lambda: tuple(round(loss, digits) for loss in (log(30_522), log(2), log(61_044)))


MISTAKES = (
    Mistake(
        "bits_for_nats",
        "These are bits, logarithms to base 2. PyTorch's losses are in nats: use the natural logarithm.",
        _with_sum(log2, 1.0),
    ),
    Mistake(
        "base_ten",
        "These are logarithms to base 10. Losses are in nats: use the natural logarithm.",
        _with_sum(log10, log10(2)),
    ),
    Mistake(
        "sign_flipped",
        "The signs are the wrong way round: a loss is −log p, and log p is negative.",
        _with_sum(lambda V: -log(V), -log(2)),
    ),
    Mistake(
        "probabilities_for_losses",
        "These are the probabilities of the right answer. The loss is the negative logarithm of them.",
        _with_sum(lambda V: 1 / V, 1 / 2),
    ),
    Mistake(
        "perplexities_for_losses",
        "These are the numbers of choices. The loss is the logarithm of them.",
        _with_sum(float, 2.0),
    ),
    Mistake(
        "accuracy_for_nsp",
        "½ is how often a guess between two is right. Its loss is −ln ½.",
        _with_sum(log, 0.5),
    ),
    Mistake(
        "error_for_loss",
        "1 − p is how often a guess is wrong. The loss is −ln p.",
        _with_sum(lambda V: 1 - 1 / V, 0.5),
    ),
    Mistake(
        "nsp_over_vocabulary",
        "The sentence head chooses between two classes, not among the vocabulary.",
        lambda vocab_size: (log(vocab_size), log(vocab_size), 2 * log(vocab_size)),
    ),
    Mistake(
        "nsp_zero",
        "The sentence loss is not 0: an untrained model does not know which of the two it is.",
        _with_sum(log, 0.0),
    ),
    Mistake(
        "nsp_in_bits",
        "The sentence loss is 1 bit, but the token loss is in nats. Use the natural logarithm for both: ln 2.",
        _with_sum(log, 1.0),
    ),
    Mistake(
        "mlm_times_share",
        "The token loss is a mean over the selected positions: the 15 % cancel.",
        _with_sum(lambda V: 0.15 * log(V)),
        _with_total(lambda V: 0.15 * log(V) + log(2)),
    ),
    Mistake(
        "half_of_sum",
        "The total is the sum of the two, without a coefficient.",
        _with_total(lambda V: (log(V) + log(2)) / 2),
        _with_total(lambda V: log(V) + log(2) / 2),
    ),
    Mistake(
        "product_for_sum",
        "The total is the sum of the two, not their product.",
        _with_total(lambda V: log(V) * log(2)),
    ),
    Mistake(
        "log_of_sum", "The total is ln V + ln 2 = ln 2V, not ln(V + 2).", _with_total(lambda V: log(V + 2))
    ),
    Mistake(
        "hard_coded_vocabulary",
        "This is right for 30,522 alone. Use the argument.",
        _with_sum(lambda V: log(30_522)),
        *map(_published, (2, 3, 4)),
    ),
    Mistake(
        "leaves_out_the_right_one",
        "The right answer is one of the V choices: ln V, not ln(V − 1).",
        _with_sum(lambda V: log(V - 1)),
    ),
    Mistake(
        "one_choice_too_many",
        "There are V choices, not V + 1: the ids go from 0 to V − 1.",
        _with_sum(lambda V: log(V + 1)),
    ),
    Mistake(
        "rounded",
        "ln 2 was typed with a few digits. Let `math.log(2)` work it out.",
        *(_with_sum(log, round(log(2), digits)) for digits in (1, 2, 3, 4, 5)),
    ),
    Mistake(
        "pair_swapped",
        "The order is (mlm, nsp, total).",
        lambda vocab_size: (log(2), log(vocab_size), log(2 * vocab_size)),
    ),
)

# A loss that PyTorch computes in float32 is right.
JUDGE = ValueJudge(
    tuple_of(*[number(1e-6, 1e-12)] * 3, words="three numbers (mlm, nsp, total)"),
    _with_sum(log),
    MISTAKES,
    rounded="rounded",
)
