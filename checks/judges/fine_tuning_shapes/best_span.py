"""`best_span`: every pair of positions is looked at, and the first of the best is the answer."""

from __future__ import annotations

import numpy as np

from checks.judges.containers import tuple_of
from checks.judges.fine_tuning_shapes.search import (
    EVERYWHERE,
    apart,
    apart_then_sorted,
    best_span,
    everywhere,
    filled,
    from_zero,
    low_outside,
    one_first,
    searching,
    then,
    until_gap,
    within,
    without_edges,
    zero_outside,
)
from checks.judges.kinds import INT
from checks.judges.values import Mistake, RaisedMistake, ValueJudge

TIE = "Of several answers with the same score the first one counts: the smallest i, then the smallest j."
FLOORS = tuple(-(10.0**digits) for digits in range(1, 7))
MISTAKES = (
    Mistake(
        "end_exclusive",
        "The end lies one behind the answer. Both i and j are inclusive.",
        then(lambda i, j: (i, j + 1)),
    ),
    Mistake(
        "relative_to_context",
        "The positions are counted from the start of the context. They are positions of the whole row.",
        lambda start, end, context, max_length=30: tuple(
            k - context.index(True) for k in best_span(start, end, context, max_length) or ()
        ),
    ),
    Mistake(
        "start_and_length",
        "The second number is the length. It is the answer's last position.",
        then(lambda i, j: (i, j - i + 1)),
    ),
    Mistake(
        "end_first", "The end comes first. The pair is (i, j), start then end.", then(lambda i, j: (j, i))
    ),
    Mistake(
        "best_score_begins_at_0",
        "All scores are below 0, and a 0 won: the one the best score began with, or that of masked pairs. Use −∞.",
        from_zero,
    ),
    Mistake(
        "outside_counts_as_zero",
        "Scores outside the context were set to 0, and 0 beats what is below it. Leave those pairs out, or take −∞.",
        zero_outside,
    ),
    Mistake(
        "finite_floor",
        "What is not allowed got a low number for a score, and real scores may be lower. Take −∞ (`-math.inf`).",
        *(searching(floor=floor) for floor in FLOORS),
        *map(low_outside, FLOORS),
    ),
    Mistake(
        "only_start_in_context",
        "The end lies outside the context. Both ends must be inside.",
        within(np.array, everywhere),
    ),
    Mistake(
        "only_end_in_context",
        "The start lies outside the context. Both ends must be inside.",
        within(everywhere, np.array),
    ),
    Mistake(
        "context_ignored",
        "The answer lies outside the context: question and padding score too. Both ends must be inside.",
        within(everywhere),
    ),
    Mistake(
        "gap_taken_for_context",
        "The context has a gap, and an end of the answer lies in it. Ask each position, not only the first and last.",
        within(filled),
    ),
    Mistake(
        "gap_ends_the_search",
        "A position outside the context ended the search, or made a pair impossible. Only i and j must lie inside.",
        until_gap,
    ),
    Mistake(
        "edges_left_out",
        "The row's first and last position were left out. Where the context holds them they are candidates.",
        within(without_edges),
        within(lambda inside: inside & (np.arange(len(inside)) > 0)),
        within(lambda inside: inside & (np.arange(len(inside)) < len(inside) - 1)),
    ),
    Mistake(
        "max_length_off_by_one",
        "An answer from i to j has j − i + 1 tokens. Exactly `max_length` of them are allowed, one more is not.",
        searching(longest=lambda max_length: max_length + 1),
        searching(longest=lambda max_length: max_length - 1),
    ),
    Mistake(
        "max_length_hard_coded",
        "A limit of 30 tokens is written into the answer. Compare with `max_length`.",
        searching(longest=lambda max_length: 30),
        searching(longest=lambda max_length: min(max_length, 30)),
        searching(longest=lambda max_length: max(max_length, 30)),
    ),
    Mistake(
        "max_length_ignored",
        "The answer is longer than `max_length` tokens, counting both ends.",
        searching(longest=lambda max_length: EVERYWHERE),
    ),
    Mistake(
        "start_after_end",
        "The answer ends before it starts. Only pairs with i ≤ j are answers.",
        searching(shortest=lambda max_length: -EVERYWHERE),
        searching(shortest=lambda max_length: 2 - max_length),
    ),
    Mistake(
        "taken_apart",
        "The best start and the best end were taken apart. Only pairs with i ≤ j within `max_length` compete.",
        apart,
        lambda start, end, context: apart(start, end, context, everywhere),
    ),
    Mistake(
        "start_and_end_exchanged",
        "The best start and the best end were exchanged where they cross. Such a pair was never scored: compare pairs.",
        apart_then_sorted,
    ),
    Mistake(
        "best_start_first",
        "The best start was fixed before the ends were looked at. Another start may have the better sum.",
        one_first("start"),
    ),
    Mistake(
        "best_end_first",
        "The best end was fixed before the starts were looked at. Another end may have the better sum.",
        one_first("end"),
    ),
    Mistake(
        "single_tokens_refused",
        "An answer of one token, i = j, is an answer.",
        searching(shortest=lambda max_length: 2),
    ),
    Mistake("last_on_a_tie", TIE, searching(tie=lambda pair: (-pair[0], -pair[1]))),
    Mistake("shortest_on_a_tie", TIE, searching(tie=lambda pair: (pair[1] - pair[0], pair))),
    Mistake("longest_on_a_tie", TIE, searching(tie=lambda pair: (pair[0] - pair[1], pair))),
    Mistake(
        "product_for_sum",
        "The two scores were multiplied, and two bad ones make a good one. Logits are added.",
        searching(score=np.multiply),
    ),
    Mistake(
        "start_score_only",
        "Only the start's score was compared. The score of a pair is start[i] + end[j].",
        searching(score=lambda start, end: start + 0 * end),
    ),
    Mistake(
        "scores_exchanged",
        "The start was read from `end` and the end from `start`.",
        searching(score=lambda start, end: end.T + start.T),
    ),
)

RAISED = (
    RaisedMistake(
        "refuses_a_possible_answer",
        "There is an answer here, and it was refused. Scores may all be far below 0, and the highest starts may have "
        "no end behind them: look at every pair.",
        lambda error, message: error == "ValueError" and "unpack" not in message,
    ),
    RaisedMistake(
        "other_default_length",
        "`max_length` needs a default: with it left out it must be 30.",
        lambda error, message: error == "TypeError" and "missing" in message and "max_length" in message,
    ),
)

JUDGE = ValueJudge(tuple_of(INT, INT, words="a pair of ints (i, j)"), best_span, MISTAKES, RAISED)
