"""`wordpiece`: what people do instead of the longest piece first, and where they put the limit and the unknown."""

from __future__ import annotations

from checks.judges.containers import list_of
from checks.judges.input_representation.cuts import (
    all_splits,
    anywhere,
    cutting,
    fixed_unk,
    from_the_end,
    greedy,
    limited,
    marked,
    short_pieces,
    shortest,
    two_or_more,
    until_stuck,
    wordpiece,
)
from checks.judges.kinds import TEXT
from checks.judges.values import Mistake, ValueJudge

PLAIN = "Behind the first piece the vocabulary was asked without `##`. `ing` and `##ing` are two entries."
MISTAKES = (
    Mistake(
        "unk_hard_coded",
        'The unknown token is written into the answer. Return the argument `unk`, whose default is "[UNK]".',
        fixed_unk(),
        fixed_unk(too_long=False),
        fixed_unk(no_match=False),
    ),
    Mistake(
        "max_chars_hard_coded",
        "The limit of 100 characters is written into the answer. Compare with the argument `max_chars`.",
        limited(lambda word, max_chars: len(word) > 100),
    ),
    Mistake(
        "max_chars_off_by_one",
        "A word of exactly `max_chars` characters is still split; only a longer one is unknown.",
        limited(lambda word, max_chars: len(word) >= max_chars),
    ),
    Mistake(
        "max_chars_ignored",
        "The word is longer than `max_chars` and was split all the same. Such a word is one `unk`.",
        limited(lambda word, max_chars: False),
    ),
    Mistake(
        "max_chars_limits_bytes",
        "`max_chars` counts characters. You counted bytes, and an `é` has two of them in UTF-8.",
        limited(lambda word, max_chars: len(word.encode()) > max_chars),
    ),
    Mistake(
        "max_chars_limits_pieces",
        "`max_chars` was taken for the longest piece. It limits the word: a longer word is one `unk`.",
        short_pieces,
    ),
    Mistake(
        "known_word_before_limit",
        "A word of the vocabulary was returned before its length was looked at. Compare with `max_chars` first.",
        lambda word, vocab, unk="[UNK]", max_chars=100: (
            [word] if word in vocab else wordpiece(word, vocab, unk, max_chars)
        ),
    ),
    Mistake(
        "too_long_is_cut",
        "The word was cut to `max_chars` characters and then split. A word that is too long is one `unk`.",
        lambda word, vocab, unk="[UNK]", max_chars=100: wordpiece(word[:max_chars], vocab, unk),
    ),
    Mistake(
        "lowers_the_word",
        "The word was changed to lower case. That is the tokenizer's step before this one; look up what came.",
        cutting(lambda word, vocab: greedy(word.lower(), vocab)),
    ),
    Mistake(
        "id_0_taken_for_missing",
        "The piece with the id 0 was taken for missing: 0 is false in Python. Ask `piece in vocab`.",
        cutting(lambda word, vocab: greedy(word, [piece for piece in vocab if vocab[piece]])),
    ),
    Mistake(
        "splits_into_characters",
        "The word falls into single characters. Look for the longest piece of the vocabulary that fits.",
        cutting(lambda word, vocab: marked(list(word))),
    ),
    Mistake(
        "single_characters_missed",
        "A piece of one character was never looked for. Shorten the end down to `start + 1`.",
        cutting(two_or_more),
        cutting(lambda word, vocab: [word] if word in vocab else two_or_more(word, vocab)),
    ),
    Mistake(
        "whole_words_only",
        "Only whole words are looked up. A word that is not in the vocabulary is cut into pieces that are.",
        cutting(lambda word, vocab: [word] if word in vocab else None),
    ),
    Mistake(
        "backtracks",
        "A shorter piece was tried when the longest led nowhere. WordPiece never goes back: the word is `unk`.",
        cutting(lambda word, vocab: next(all_splits(word, vocab), None)),
    ),
    Mistake(
        "fewest_pieces",
        "These are the fewest pieces there can be. WordPiece is greedy: it does not look ahead.",
        cutting(lambda word, vocab: min(all_splits(word, vocab), key=len, default=None)),
    ),
    Mistake(
        "shortest_match_first",
        "The shortest piece was taken. Start with the longest end and shorten it until the piece is known.",
        cutting(lambda word, vocab: greedy(word, vocab, shortest)),
    ),
    Mistake(
        "cutsfrom_the_end",
        "The word was cut from its end. Greedy means: the longest piece at the start, then go on behind it.",
        cutting(from_the_end),
    ),
    Mistake(
        "unknown_rest_only",
        "Only the rest is marked unknown. When any part has no match the whole word is a single `unk`.",
        until_stuck("rest"),
    ),
    Mistake(
        "unknown_by_character",
        "Single characters are marked unknown. When any part has no match the whole word is a single `unk`.",
        until_stuck("character"),
    ),
    Mistake(
        "unmatched_part_dropped",
        "What had no match was dropped without a word. When any part has no match return `[unk]`.",
        until_stuck("keep"),
    ),
    Mistake(
        "empty_for_unknown",
        "The list is empty. A word that cannot be split is one `unk`, so that its place in the text is kept.",
        lambda word, vocab, max_chars=100: (len(word) <= max_chars and greedy(word, vocab)) or [],
    ),
    Mistake(
        "prefix_missing_in_output",
        "The pieces are right and their `##` is gone. It is part of the piece, and tells it from a word's start.",
        cutting(
            lambda word, vocab: (found := greedy(word, vocab)) and [it.removeprefix("##") for it in found]
        ),
    ),
    Mistake(
        "continuations_looked_up_plain",
        PLAIN,
        anywhere(""),
        cutting(lambda word, vocab: marked(greedy(word, vocab, inside=("",)))),
    ),
    Mistake(
        "ignores_where_a_piece_stands",
        "A piece was taken in a place it is not for: with `##` only inside a word, without only at its start.",
        anywhere("", "##", first=("", "##")),
        anywhere("##", "", first=("", "##")),
        anywhere("", "##"),
        anywhere("##", ""),
        cutting(
            lambda word, vocab: marked(
                greedy(word, [piece.removeprefix("##") for piece in vocab], inside=("",))
            )
        ),
    ),
)

JUDGE = ValueJudge(list_of(TEXT, "a list of strings"), wordpiece, MISTAKES)
