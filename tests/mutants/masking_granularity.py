"""Answers to the assignment `masking_granularity`: right ones in two styles, and wrong ones people give."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np

SPECIAL = {"[CLS]", "[SEP]", "[PAD]"}


# --- word_groups ------------------------------------------------------------------------------------------


def word_groups(tokens):
    groups, number, before = [], -1, "[CLS]"
    for token in tokens:
        if token in SPECIAL:
            groups.append(None)
        else:
            number += before in SPECIAL or not token.startswith("##")
            groups.append(number)
        before = token
    return groups


def groups_by_starts(tokens):
    text = [token not in SPECIAL for token in tokens]
    starts = [
        here and (token[:2] != "##" or not before)
        for here, before, token in zip(text, [False, *text], tokens, strict=False)
    ]
    numbers = itertools.accumulate(starts, initial=-1)
    next(numbers)
    return [number if here else None for number, here in zip(numbers, text, strict=True)]


def grouped(special=SPECIAL.__contains__, continues=None, orphan="word", restart=False, count_specials=False):
    """Groups with one thing changed. `orphan`: what a `##` piece right after a special token becomes."""
    continues = continues or (lambda token: token.startswith("##"))

    def answer(tokens):
        groups, number, inside = [], -1, False
        for token in tokens:
            if special(token):
                groups.append(None)
                inside = False
                number = -1 if restart else number + count_specials
                continue
            if continues(token) and not inside and orphan == "none":
                groups.append(None)
                continue
            if continues(token) and not inside and orphan == "glue" and number >= 0:
                groups.append(number)
                inside = True
                continue
            number += not (inside and continues(token))
            groups.append(number)
            inside = True
        return groups

    return answer


def glued_to_minus_one(tokens):
    groups, number = [], -1
    for token in tokens:
        if token in SPECIAL:
            groups.append(None)
            continue
        if not token.startswith("##"):
            number += 1
        groups.append(number)
    return groups


def groups_then(change):
    return lambda tokens: [change(group, index) for index, group in enumerate(word_groups(tokens))]


def pieces_numbered(tokens):
    count = itertools.count()
    return [None if token in SPECIAL else next(count) for token in tokens]


def specials_numbered(tokens):
    numbers, number = [], -1
    for index, token in enumerate(tokens):
        previous = tokens[index - 1] if index else "[CLS]"
        joined = token.startswith("##") and previous not in SPECIAL
        number += not joined
        numbers.append(number)
    return numbers


def first_places(tokens):
    groups = word_groups(tokens)
    return [None if group is None else groups.index(group) for group in groups]


def groups_in_place(tokens):
    groups = word_groups(tokens)
    tokens[:] = [token.removeprefix("##") for token in tokens]
    return groups


# --- half_open_words --------------------------------------------------------------------------------------


def half_open_words(hidden, groups):
    words = {}
    for is_hidden, group in zip(hidden, groups, strict=True):
        if group is not None:
            words.setdefault(group, set()).add(is_hidden)
    return sum(len(seen) == 2 for seen in words.values())


def half_open_by_sets(hidden, groups):
    pieces = list(zip(hidden, groups, strict=True))
    some = {group for is_hidden, group in pieces if is_hidden}
    seen = {group for is_hidden, group in pieces if not is_hidden}
    return len((some & seen) - {None})


def words_counted(count, none_too=False):
    def answer(hidden, groups):
        names = set(groups) if none_too else set(groups) - {None}
        words = [[h for h, g in zip(hidden, groups, strict=True) if g == name] for name in names]
        return sum(count(word) for word in words)

    return answer


def is_open(word):
    return any(word) and not all(word)


# --- prediction_budget ------------------------------------------------------------------------------------


def prediction_budget(length, probability=0.15, cap=20):
    return min(max(1, round(length * probability)), cap)


def budget_by_cases(length, probability=0.15, cap=20):
    wanted = round(length * probability)
    if wanted < 1:
        return 1
    return cap if wanted > cap else wanted


def budget(compute, low=1):
    def answer(length, probability=0.15, cap=20):
        return min(max(low, compute(length, probability, cap)), cap)

    return answer


def larger_of_both(length, probability=0.15, cap=20):
    return max(round(length * probability), cap)


def no_cap(length, probability=0.15, cap=20):
    return max(1, round(length * probability))


def cap_twenty(length, probability=0.15, cap=20):
    return prediction_budget(length, probability)


def fifteen(length, probability=0.15, cap=20):
    return prediction_budget(length, cap=cap)


def float_budget(length, probability=0.15, cap=20):
    return float(prediction_budget(length, probability, cap))


# --- whole_word_selection ---------------------------------------------------------------------------------


def words_of(groups):
    words = {}
    for place, group in enumerate(groups):
        if group is not None:
            words.setdefault(group, []).append(place)
    return list(words.values())


def take(groups, budget, words):
    """Hide the words in the given order, passing over those that do not fit."""
    hidden = [False] * len(groups)
    for places in words:
        if sum(hidden) + len(places) <= budget:
            for place in places:
                hidden[place] = True
    return hidden


def whole_word_selection(groups, budget, rng):
    words = words_of(groups)
    rng.shuffle(words)
    return take(groups, budget, words)


def whole_by_drawing(groups, budget, rng):
    words = words_of(groups)
    chosen = []
    while words := [places for places in words if len(places) <= budget]:
        places = words.pop(rng.randrange(len(words)))
        budget -= len(places)
        chosen += places
    return [place in chosen for place in range(len(groups))]


def whole_by_keys(groups, budget, rng):
    return take(groups, budget, sorted(words_of(groups), key=lambda places: rng.random()))


def ordered(order):
    """Takes the words in the order of `order(words, rng)`."""
    return lambda groups, budget, rng: take(groups, budget, order(words_of(groups), rng))


def shuffled(words, rng):
    rng.shuffle(words)
    return words


def by_pieces(words, rng):
    pieces = [places for places in words for _ in places]
    rng.shuffle(pieces)
    return list({tuple(places): places for places in pieces}.values())


def inverted(select):
    return lambda *args: [not hidden for hidden in select(*args)]


def inverted_text(select):
    def answer(groups, *args):
        hidden = select(groups, *args)
        return [g is not None and not h for g, h in zip(groups, hidden, strict=True)]

    return answer


def with_specials(select):
    """Hides each special token whose neighbour is hidden."""

    def answer(groups, *args):
        hidden = select(groups, *args)
        return [
            h or (g is None and (hidden[max(0, i - 1)] or hidden[min(i + 1, len(hidden) - 1)]))
            for i, (h, g) in enumerate(zip(hidden, groups, strict=True))
        ]

    return answer


def specials_as_word(groups, budget, rng):
    return whole_word_selection([-1 if group is None else group for group in groups], budget, rng)


def single_pieces(groups, budget, rng):
    places = [place for place, group in enumerate(groups) if group is not None]
    chosen = rng.sample(places, min(budget, len(places)))
    return [place in chosen for place in range(len(groups))]


def cut_at_the_end(groups, budget, rng):
    places = [place for word in shuffled(words_of(groups), rng) for place in word][:budget]
    return [place in places for place in range(len(groups))]


def counted_in_words(groups, budget, rng):
    words = shuffled(words_of(groups), rng)[:budget]
    return take(groups, len(groups), words)


def overshoots(groups, budget, rng):
    hidden = [False] * len(groups)
    for places in shuffled(words_of(groups), rng):
        if sum(hidden) >= budget:
            break
        for place in places:
            hidden[place] = True
    return hidden


def strictly_below(select):
    return lambda groups, budget, *rest: select(groups, budget - 1, *rest)


def stops_at_misfit(groups, budget, rng):
    words, total = [], 0
    for places in shuffled(words_of(groups), rng):
        total += len(places)
        if total > budget:
            break
        words.append(places)
    return take(groups, budget, words)


def coin_per_word(groups, budget, rng):
    return take(groups, budget, [word for word in shuffled(words_of(groups), rng) if rng.random() < 0.15])


def global_random(select):
    return lambda groups, budget, rng, *more: select(groups, budget, random, *more)


def numpy_random(groups, budget, rng):
    words = words_of(groups)
    return take(groups, budget, [words[i] for i in np.random.permutation(len(words))])


def seeded_anew(select):
    return lambda groups, budget, rng, *more: select(groups, budget, random.Random(42), *more)


def no_selection(groups, budget, rng, *more):
    return [False] * len(groups)


def neighbours_first(words, rng):
    start = rng.randrange(len(words))
    return words[start:] + words[:start]


def select_in_place(select):
    def answer(groups, *args):
        hidden = select(groups, *args)
        groups.clear()
        return hidden

    return answer


def places_of(select):
    return lambda *args: [i for i, hidden in enumerate(select(*args)) if hidden]


def as_numbers(select):
    return lambda *args: [int(hidden) for hidden in select(*args)]


def as_array(select):
    return lambda *args: np.array(select(*args))


# --- span_length_distribution -----------------------------------------------------------------------------


def span_length_distribution(p=0.2, max_length=10):
    shares = [p * (1 - p) ** (length - 1) for length in range(1, max_length + 1)]
    return [share / sum(shares) for share in shares]


def distribution_by_recursion(p=0.2, max_length=10):
    first = p / (1 - (1 - p) ** max_length)
    return list(itertools.accumulate([first] + [1 - p] * (max_length - 1), lambda share, fall: share * fall))


def shares(compute):
    return lambda p=0.2, max_length=10: compute(p, max_length)


def normalised(weights):
    return [weight / sum(weights) for weight in weights]


def clipped(p, longest):
    head = [p * (1 - p) ** k for k in range(longest - 1)]
    return [*head, 1 - sum(head)]


# --- span_selection: right --------------------------------------------------------------------------------


def segments_of(groups):
    """Words, as lists of places, in segments between special tokens."""
    segments, open_segment = [], False
    for place, group in enumerate(groups):
        if group is None:
            open_segment = False
            continue
        if not open_segment:
            segments.append([])
            open_segment = True
        if segments[-1] and groups[place - 1] == group:
            segments[-1][-1].append(place)
        else:
            segments[-1].append([place])
    return segments


def span_selection(groups, budget, rng, p=0.2, max_length=10):
    """Draws a length and a start, both again when that span does not fit."""
    return select_spans(groups, budget, rng, span_length_distribution(p, max_length))


def select_spans(groups, budget, rng, shares, segments=None):
    hidden = [False] * len(groups)
    words = [(word, number) for number, s in enumerate(segments or segments_of(groups)) for word in s]
    sizes = sorted(len(word) for word, _ in words)
    lengths = range(1, len(shares) + 1)
    while sizes and sizes[0] <= budget:
        (length,) = rng.choices(lengths, shares)
        start = rng.randrange(len(words))
        span = words[start : start + length]
        places = [place for word, _ in span for place in word]
        one_segment = span[0][1] == span[-1][1]
        if len(span) < length or not one_segment or len(places) > budget or any(hidden[i] for i in places):
            continue
        budget -= len(places)
        for word, _ in span:
            sizes.remove(len(word))
        for place in places:
            hidden[place] = True
    return hidden


def spans_from_a_list(groups, budget, rng, p=0.2, max_length=10):
    """Draws a length, then one of all places where such a span fits; no place: draws the length again."""
    shares = span_length_distribution(p, max_length)
    free = [list(segment) for segment in segments_of(groups)]  # runs of free words
    chosen = []
    while any(len(word) <= budget for run in free for word in run):
        (length,) = rng.choices(range(1, len(shares) + 1), shares)
        places = [
            (number, start)
            for number, run in enumerate(free)
            for start in range(len(run) - length + 1)
            if sum(map(len, run[start : start + length])) <= budget
        ]
        if places:
            number, start = rng.choice(places)
            run = free.pop(number)
            chosen += [place for word in run[start : start + length] for place in word]
            budget -= sum(map(len, run[start : start + length]))
            free += [run[:start], run[start + length :]]
    hidden = set(chosen)
    return [place in hidden for place in range(len(groups))]


def spans_cut_short(groups, budget, rng, p=0.2, max_length=10, *, length_of=None, starts=None):
    """A start among the words, then on until the length, the segment, the budget or a hidden word ends it."""
    shares = span_length_distribution(p, max_length)
    segments = segments_of(groups)
    following = {tuple(a): b for s in segments for a, b in itertools.pairwise(s)}
    words = [word for s in segments for word in s]
    starts = words if starts is None else starts(words)
    hidden = [False] * len(groups)
    smallest = sorted(words, key=len)
    while any(len(word) <= budget and not hidden[word[0]] for word in smallest):
        word = rng.choice(starts)
        length = length_of(rng) if length_of else rng.choices(range(1, len(shares) + 1), shares)[0]
        while word and length and len(word) <= budget and not hidden[word[0]]:
            for place in word:
                hidden[place] = True
            budget -= len(word)
            length -= 1
            word = following.get(tuple(word))
    return hidden


# --- span_selection: wrong --------------------------------------------------------------------------------


def with_shares(change):
    """Spans whose lengths follow `change(p, max_length)`."""

    def answer(groups, budget, rng, p=0.2, max_length=10):
        return select_spans(groups, budget, rng, change(p, max_length))

    return answer


def across_segments(groups, budget, rng, p=0.2, max_length=10):
    joined = [[word for segment in segments_of(groups) for word in segment]]
    return select_spans(groups, budget, rng, span_length_distribution(p, max_length), joined)


def over_places(groups, budget, rng, p=0.2, max_length=10):
    """Spans of places in the row, special tokens and all."""
    numbers = list(range(len(groups)))
    return spans_cut_short(numbers, min(budget, len(groups)), rng, p, max_length)


def spans_of_pieces(groups, budget, rng, p=0.2, max_length=10):
    pieces = [None if group is None else place for place, group in enumerate(groups)]
    return span_selection(pieces, budget, rng, p, max_length)


def lengths_in_pieces(groups, budget, rng, p=0.2, max_length=10):
    """Takes whole words until the drawn number of pieces is reached."""
    shares = span_length_distribution(p, max_length)
    segments = segments_of(groups)
    following = {tuple(a): b for s in segments for a, b in itertools.pairwise(s)}
    words = [word for s in segments for word in s]
    hidden = [False] * len(groups)
    while any(len(word) <= budget and not hidden[word[0]] for word in words):
        word = rng.choice(words)
        (left,) = rng.choices(range(1, len(shares) + 1), shares)
        while word and left > 0 and len(word) <= budget and not hidden[word[0]]:
            for place in word:
                hidden[place] = True
            budget -= len(word)
            left -= len(word)
            word = following.get(tuple(word))
    return hidden


def starts_at_pieces(groups, budget, rng, p=0.2, max_length=10):
    def starts(words):
        return [word for word in words for _ in word]

    return spans_cut_short(groups, budget, rng, p, max_length, starts=starts)


def from_the_front(groups, budget, rng, p=0.2, max_length=10):
    return take(groups, budget, words_of(groups))


def last_span_overshoots(groups, budget, rng, p=0.2, max_length=10):
    hidden = [False] * len(groups)
    words = words_of(groups)
    shares = span_length_distribution(p, max_length)
    while sum(hidden) < min(budget, sum(map(len, words))):
        start = rng.randrange(len(words))
        (length,) = rng.choices(range(1, len(shares) + 1), shares)
        for places in words[start : start + length]:
            for place in places:
                hidden[place] = True
    return hidden


def spans_of_budget_words(groups, budget, rng, p=0.2, max_length=10):
    """Counts words in the budget."""
    words = words_of(groups)
    numbers = [place for place, _ in enumerate(words)]
    hidden = span_selection(numbers, min(budget, len(words)), rng, p, max_length)
    chosen = [word for word, h in zip(words, hidden, strict=True) if h]
    return take(groups, len(groups), chosen)


def one_span(groups, budget, rng, p=0.2, max_length=10):
    words = words_of(groups)
    shares = span_length_distribution(p, max_length)
    (length,) = rng.choices(range(1, len(shares) + 1), shares)
    start = rng.randrange(len(words))
    return take(groups, budget, words[start : start + length])


def long_words_first(groups, budget, rng, p=0.2, max_length=10):
    """The first span is a longest word that fits; the rest is right."""
    words = words_of(groups)
    fitting = [word for word in words if len(word) <= budget]
    if not fitting:
        return [False] * len(groups)
    most = max(map(len, fitting))
    first = rng.choice([word for word in fitting if len(word) == most])
    rest = [None if place in first else group for place, group in enumerate(groups)]
    hidden = span_selection(rest, budget - most, rng, p, max_length)
    return [h or place in first for place, h in enumerate(hidden)]


RIGHT = {
    "word_groups": [word_groups, groups_by_starts],
    "half_open_words": [half_open_words, half_open_by_sets],
    "prediction_budget": [prediction_budget, budget_by_cases],
    "whole_word_selection": [whole_word_selection, whole_by_drawing, whole_by_keys],
    "span_length_distribution": [span_length_distribution, distribution_by_recursion],
    "span_selection": [span_selection, spans_from_a_list, spans_cut_short],
}

MUTANTS = {
    "word_groups": [
        ("glued_across_a_special", grouped(orphan="glue")),
        ("glued_across_a_special", glued_to_minus_one),
        ("orphan_piece_is_no_word", grouped(orphan="none")),
        ("every_piece_a_word", pieces_numbered),
        ("restarts_in_each_segment", grouped(restart=True)),
        ("counts_from_one", groups_then(lambda group, index: None if group is None else group + 1)),
        ("specials_take_a_number", grouped(count_specials=True)),
        ("specials_are_words", specials_numbered),
        ("number_for_special", groups_then(lambda group, index: -1 if group is None else group)),
        ("number_for_special", groups_then(lambda group, index: -100 if group is None else group)),
        ("number_for_special", groups_then(lambda group, index: group or 0)),
        ("padding_is_a_word", grouped(special=lambda token: token in ("[CLS]", "[SEP]"))),
        ("bracket_taken_for_special", grouped(special=lambda token: token.startswith("["))),
        ("bracket_taken_for_special", grouped(special=lambda token: token[0] in "[]")),
        ("single_hash_continues", grouped(continues=lambda token: token.startswith("#"))),
        ("place_of_first_piece", first_places),
        ("changes_its_input", groups_in_place),
        ("wrong_type", lambda tokens: tuple(word_groups(tokens))),
        ("wrong_type", lambda tokens: [str(group) for group in word_groups(tokens)]),
        ("unexpected_value", lambda tokens: [None, 0, 0, 1, None]),
    ],
    "half_open_words": [
        ("none_taken_for_a_word", words_counted(is_open, none_too=True)),
        ("counts_touched_words", words_counted(any)),
        ("counts_hidden_words", words_counted(all)),
        ("counts_words_not_hidden_whole", words_counted(lambda word: not all(word))),
        ("counts_hidden_pieces", words_counted(lambda word: sum(word) * is_open(word))),
        ("counts_visible_pieces", words_counted(lambda word: word.count(False) * is_open(word))),
        ("counts_changes", words_counted(lambda w: sum(a != b for a, b in itertools.pairwise(w)))),
        ("asks_the_first_piece", words_counted(lambda word: word[0] and not all(word))),
        ("asks_the_first_piece", words_counted(lambda word: not word[0] and any(word))),
        ("compares_the_ends_only", words_counted(lambda word: word[0] != word[-1])),
        ("counts_the_others", words_counted(lambda word: not is_open(word))),
        ("wrong_type", lambda hidden, groups: half_open_words(hidden, groups) / max(1, len(groups))),
        ("unexpected_value", lambda hidden, groups: half_open_words(hidden, groups) + 1),
    ],
    "prediction_budget": [
        ("rounds_down", budget(lambda n, p, cap: int(n * p))),
        ("rounds_up", budget(lambda n, p, cap: math.ceil(n * p))),
        ("rounds_the_half_up", budget(lambda n, p, cap: int(n * p + 0.5))),
        ("no_minimum", budget(lambda n, p, cap: round(n * p), low=0)),
        ("cap_ignored", no_cap),
        ("cap_hard_coded", cap_twenty),
        ("cap_always_reached", larger_of_both),
        ("probability_hard_coded", fifteen),
        ("specials_subtracted", budget(lambda n, p, cap: round((n - 2) * p))),
        ("specials_subtracted", budget(lambda n, p, cap: round((n - 3) * p))),
        ("cap_on_the_length", lambda n, probability=0.15, cap=20: max(1, round(min(n, cap) * probability))),
        ("wrong_type", float_budget),
        ("unexpected_value", budget(lambda n, p, cap: round(n * p) + 1)),
    ],
    "whole_word_selection": [
        ("inverted", inverted(whole_word_selection)),
        ("inverted", inverted_text(whole_word_selection)),
        ("hides_special_tokens", with_specials(whole_word_selection)),
        ("hides_special_tokens", specials_as_word),
        ("cuts_a_word", single_pieces),
        ("cuts_a_word", cut_at_the_end),
        ("budget_counts_words", counted_in_words),
        ("over_budget", overshoots),
        ("budget_never_reached", strictly_below(whole_word_selection)),
        ("leaves_room", stops_at_misfit),
        ("leaves_room", coin_per_word),
        ("leaves_room", no_selection),
        ("ignores_rng", global_random(whole_word_selection)),
        ("ignores_rng", numpy_random),
        ("same_every_time", seeded_anew(whole_word_selection)),
        ("in_reading_order", ordered(lambda words, rng: words)),
        ("in_reading_order", ordered(lambda words, rng: words[::-1])),
        ("draws_pieces_not_words", ordered(by_pieces)),
        ("longest_first", ordered(lambda words, rng: sorted(shuffled(words, rng), key=len, reverse=True))),
        ("shortest_first", ordered(lambda words, rng: sorted(shuffled(words, rng), key=len))),
        ("words_not_equally_likely", ordered(neighbours_first)),
        ("changes_its_input", select_in_place(whole_word_selection)),
        ("wrong_type", places_of(whole_word_selection)),
        ("wrong_type", as_numbers(whole_word_selection)),
        ("wrong_type", as_array(whole_word_selection)),
    ],
    "span_length_distribution": [
        ("p_hard_coded", shares(lambda p, n: span_length_distribution(max_length=n))),
        ("max_length_hard_coded", shares(lambda p, n: span_length_distribution(p))),
        ("clipped", shares(clipped)),
        ("not_renormalised", shares(lambda p, n: [p * (1 - p) ** k for k in range(n)])),
        ("powers_not_normalised", shares(lambda p, n: [(1 - p) ** k for k in range(n)])),
        ("off_by_one_power", shares(lambda p, n: [p * (1 - p) ** k for k in range(1, n + 1)])),
        ("starts_at_length_zero", shares(lambda p, n: span_length_distribution(p, n + 1))),
        ("starts_at_length_zero", shares(lambda p, n: [0.0, *span_length_distribution(p, n)])),
        ("one_length_missing", shares(lambda p, n: span_length_distribution(p, n - 1))),
        ("p_exchanged", shares(lambda p, n: span_length_distribution(1 - p, n))),
        ("uniform", shares(lambda p, n: [1 / n for _ in range(n)])),
        ("cumulative", shares(lambda p, n: list(itertools.accumulate(span_length_distribution(p, n))))),
        ("reversed", shares(lambda p, n: list(reversed(span_length_distribution(p, n))))),
        ("percent", shares(lambda p, n: [100 * share for share in span_length_distribution(p, n)])),
        ("exponential", shares(lambda p, n: normalised([math.exp(-p * k) for k in range(n)]))),
        ("wrong_length", shares(lambda p, n: [*span_length_distribution(p, n), 0.0])),
        ("wrong_type", shares(lambda p, n: dict(enumerate(span_length_distribution(p, n), 1)))),
        ("wrong_type", shares(lambda p, n: sum(k * s for k, s in enumerate(span_length_distribution(p, n))))),
        ("unexpected_value", shares(lambda p, n: [round(s, 3) for s in span_length_distribution(p, n)])),
    ],
    "span_selection": [
        ("inverted", inverted_text(span_selection)),
        ("hides_special_tokens", over_places),
        ("cuts_a_word", spans_of_pieces),
        ("budget_counts_words", spans_of_budget_words),
        ("over_budget", last_span_overshoots),
        ("budget_never_reached", strictly_below(span_selection)),
        ("leaves_room", one_span),
        ("leaves_room", no_selection),
        ("ignores_rng", global_random(span_selection)),
        ("same_every_time", seeded_anew(span_selection)),
        ("in_reading_order", from_the_front),
        ("crosses_a_special", across_segments),
        ("max_length_ignored", with_shares(lambda p, n: span_length_distribution(p))),
        ("starts_at_a_piece", starts_at_pieces),
        ("words_not_equally_likely", long_words_first),
        ("spans_clipped", with_shares(clipped)),
        ("one_word_spans", with_shares(lambda p, n: [1.0])),
        ("longest_spans_only", lambda *args: longest_only(*args)),
        ("lengths_in_pieces", lengths_in_pieces),
        ("uniform_lengths", with_shares(lambda p, n: [1 / n] * n)),
        ("p_ignored", with_shares(lambda p, n: span_length_distribution(0.2, n))),
        ("p_exchanged", with_shares(lambda p, n: span_length_distribution(1 - p, n))),
        ("changes_its_input", select_in_place(span_selection)),
        ("wrong_type", places_of(span_selection)),
    ],
}


def longest_only(groups, budget, rng, p=0.2, max_length=10):
    return spans_cut_short(groups, budget, rng, p, max_length, length_of=lambda rng: max_length)
