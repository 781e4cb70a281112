"""Answers to the assignment `masking_granularity`: right ones in two styles, and wrong ones people give."""

from __future__ import annotations

import itertools
import random

import numpy as np
import torch

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


def glued_to_minus_one(tokens):
    groups, number = [], -1
    for token in tokens:
        number += token not in SPECIAL and not token.startswith("##")
        groups.append(None if token in SPECIAL else number)
    return groups


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


# --- prediction_budget ------------------------------------------------------------------------------------


def prediction_budget(length, probability=0.15, cap=20):
    return min(max(1, round(length * probability)), cap)


def budget_by_cases(length, probability=0.15, cap=20):
    wanted = round(length * probability)
    if wanted < 1:
        return 1
    return cap if wanted > cap else wanted


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


def fullest_of_many(groups, budget, rng):
    return max((whole_word_selection(groups, budget, rng) for _ in range(20)), key=sum)


def neighbours_first(words, rng):
    start = rng.randrange(len(words) or 1)
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


def as_tuple_of_numpy(groups, budget, rng):
    """NumPy's and torch's bools stand for Python's, a tuple for a list."""
    hidden = whole_word_selection(groups, budget, rng)
    return (np.bool_(hidden[0]), *map(torch.tensor, hidden[1:]))


def as_array(select):
    return lambda *args: np.array(select(*args))


# --- span_length_distribution -----------------------------------------------------------------------------


def span_length_distribution(p=0.2, max_length=10):
    shares = [p * (1 - p) ** (length - 1) for length in range(1, max_length + 1)]
    return [share / sum(shares) for share in shares]


def distribution_by_recursion(p=0.2, max_length=10):
    first = p / (1 - (1 - p) ** max_length)
    return list(itertools.accumulate([first] + [1 - p] * (max_length - 1), lambda share, fall: share * fall))


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


def clipped(p, longest):
    head = [p * (1 - p) ** k for k in range(longest - 1)]
    return [*head, 1 - sum(head)]


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
    start = rng.randrange(len(words) or 1)
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


def longest_only(groups, budget, rng, p=0.2, max_length=10):
    return spans_cut_short(groups, budget, rng, p, max_length, length_of=lambda rng: max_length)


def fills_from_the_left(groups, budget, rng, p=0.2, max_length=10):
    """A random word, then the first words that fit."""
    words = shuffled(words_of(groups), rng)[:1]
    return take(groups, budget, words + [word for word in words_of(groups) if word not in words])


def spans_a_little_shorter(groups, budget, rng, p=0.25, max_length=10):
    return span_selection(groups, budget, rng, p, max_length)


def by_segment(groups, budget, rng, p=0.2, max_length=10):
    """Draws a segment, then a start in it: words of short segments begin more spans."""
    segments = segments_of(groups)
    most = max(map(len, segments), default=0)

    def starts(words):
        return [word for segment in segments for word in segment for _ in range(60 * most // len(segment))]

    return spans_cut_short(groups, budget, rng, p, max_length, starts=starts)


def waits_for_the_budget(groups, budget, rng, p=0.2, max_length=10):
    """Goes on until the budget is used up, which the words may never do."""
    words, hidden = words_of(groups), [False] * len(groups)
    while sum(hidden) < budget:
        word = rng.choice(words or [[]])
        if sum(hidden) + len(word) <= budget:
            for place in word:
                hidden[place] = True
    return hidden


RIGHT = {
    "word_groups": [word_groups, groups_by_starts, lambda tokens: tuple(word_groups(tokens))],
    "half_open_words": [
        half_open_words,
        half_open_by_sets,
        lambda hidden, groups: np.int64(half_open_words(hidden, groups)),
    ],
    "prediction_budget": [
        prediction_budget,
        budget_by_cases,
        lambda *args: torch.tensor(prediction_budget(*args)),
    ],
    "whole_word_selection": [whole_word_selection, whole_by_drawing, whole_by_keys, as_tuple_of_numpy],
    "span_length_distribution": [span_length_distribution, distribution_by_recursion],
    "span_selection": [span_selection, spans_from_a_list, spans_cut_short],
}

MUTANTS = {
    "word_groups": [
        ("glued_across_a_special", glued_to_minus_one),
        ("changes_its_input", groups_in_place),
        ("wrong_type", lambda tokens: [str(group) for group in word_groups(tokens)]),
        ("wrong_type", lambda tokens: np.array([group or 0 for group in word_groups(tokens)])),
        ("unexpected_value", lambda tokens: [None, 0, 0, 1, None]),
    ],
    "half_open_words": [
        (
            "counts_touched_words",
            lambda hidden, groups: len({g for h, g in zip(hidden, groups, strict=True) if h} - {None}),
        ),
        ("wrong_type", lambda hidden, groups: float(half_open_words(hidden, groups))),
        ("unexpected_value", lambda hidden, groups: half_open_words(hidden, groups) + 1),
    ],
    "prediction_budget": [
        ("rounds_down", lambda length, probability=0.15, cap=20: min(max(1, int(length * probability)), cap)),
        ("wrong_type", lambda *args: float(prediction_budget(*args))),
        ("unexpected_value", lambda *args: prediction_budget(*args) + 1),
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
        ("words_not_equally_likely", fullest_of_many),
        ("does_not_end", waits_for_the_budget),
        ("changes_its_input", select_in_place(whole_word_selection)),
        ("wrong_type", places_of(whole_word_selection)),
        ("wrong_type", as_numbers(whole_word_selection)),
        ("wrong_type", as_array(whole_word_selection)),
    ],
    "span_length_distribution": [
        (
            "not_renormalised",
            lambda p=0.2, max_length=10: [p * (1 - p) ** length for length in range(max_length)],
        ),
        ("shares_rounded", lambda *args: [round(share, 3) for share in span_length_distribution(*args)]),
        ("wrong_type", lambda *args: dict(enumerate(span_length_distribution(*args), 1))),
        ("wrong_type", lambda *args: sum(k * s for k, s in enumerate(span_length_distribution(*args)))),
        ("unexpected_value", lambda *args: [*span_length_distribution(*args), 0.0]),
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
        ("words_not_equally_likely", fills_from_the_left),
        ("wrong_default", spans_a_little_shorter),
        ("max_length_ignored", with_shares(lambda p, n: span_length_distribution(p))),
        ("starts_at_a_piece", starts_at_pieces),
        ("words_not_equally_likely", long_words_first),
        ("words_not_equally_likely", by_segment),
        ("spans_clipped", with_shares(clipped)),
        ("one_word_spans", with_shares(lambda p, n: [1.0])),
        ("longest_spans_only", longest_only),
        ("lengths_in_pieces", lengths_in_pieces),
        ("uniform_lengths", with_shares(lambda p, n: [1 / n] * n)),
        ("p_ignored", with_shares(lambda p, n: span_length_distribution(0.2, n))),
        ("p_exchanged", with_shares(lambda p, n: span_length_distribution(1 - p, n))),
        ("does_not_end", waits_for_the_budget),
        ("changes_its_input", select_in_place(span_selection)),
        ("wrong_type", places_of(span_selection)),
    ],
}
