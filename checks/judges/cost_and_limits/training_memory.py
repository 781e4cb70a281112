"""Memory of weights, gradients and Adam's two moments in fp32, in GiB."""

from __future__ import annotations

from checks.judges.kinds import number
from checks.judges.values import Mistake, ValueJudge

MISTAKES = (
    Mistake(
        "gb_for_gib",
        "This is in GB, 10⁹ bytes. A GiB is 2³⁰ bytes, 7 % more.",
        lambda parameters: 16 * parameters / 10**9,
    ),
    Mistake("weights_only", "Only the weights are counted.", lambda parameters: 4 * parameters / 2**30),
    Mistake(
        "no_moments",
        "Half of it is missing: Adam's two moments, or two of the four bytes that a number has in fp32.",
        lambda parameters: 8 * parameters / 2**30,
    ),
    Mistake(
        "one_moment",
        "One copy is missing. There are four: weights, gradients and Adam's two moments.",
        lambda parameters: 12 * parameters / 2**30,
    ),
    Mistake(
        "counts_numbers",
        "These are four numbers a parameter, over 2²⁰. In fp32 each has 4 bytes, and a GiB is 2³⁰ of them.",
        lambda parameters: 4 * parameters / 2**20,
    ),
    Mistake(
        "double_precision",
        "Eight bytes a number is fp64. fp32 has four.",
        lambda parameters: 32 * parameters / 2**30,
    ),
    Mistake(
        "bits_for_bytes",
        "These are bits: 32 a number. A byte has eight.",
        lambda parameters: 128 * parameters / 2**30,
    ),
    Mistake(
        "mib_for_gib",
        "This is in MiB. Divide by 2³⁰, not by 2²⁰.",
        lambda parameters: 16 * parameters / 2**20,
    ),
    Mistake("mb_for_gib", "This is in MB. Divide by 2³⁰.", lambda parameters: 16 * parameters / 10**6),
    Mistake("bytes_for_gib", "This is in bytes. Divide by 2³⁰.", lambda parameters: 16 * parameters),
    Mistake(
        "mixed_units",
        "10³ and 2¹⁰ are mixed. A GiB is 2³⁰ bytes, 1024 three times.",
        lambda parameters: 16 * parameters / (10**6 * 1024),
        lambda parameters: 16 * parameters / (10**3 * 2**20),
    ),
    Mistake(
        "rounded",
        "The value is cut to a whole number. Return it as it is; round when you print.",
        lambda parameters: 16 * parameters // 2**30,
    ),
)

JUDGE = ValueJudge(
    number(words="a number, in GiB"), lambda parameters: 16 * parameters / 2**30, MISTAKES, rounded="rounded"
)
