"""Answers to the assignment `input_representation`: right ones in two styles, and wrong ones people give."""

from __future__ import annotations

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

PARTS = ("input_ids", "token_type_ids", "attention_mask")


# --- wordpiece: right -------------------------------------------------------------------------------------


def wordpiece(word, vocab, unk="[UNK]", max_chars=100):
    if len(word) > max_chars:
        return [unk]
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                break
            end -= 1
        if end == start:
            return [unk]
        pieces.append(piece)
        start = end
    return pieces


def wordpiece_by_recursion(word, vocab, unk="[UNK]", max_chars=100):
    def split(rest, prefix):
        if not rest:
            return []
        fits = [n for n in range(len(rest), 0, -1) if prefix + rest[:n] in vocab]
        if not fits:
            raise KeyError(rest)
        return [prefix + rest[: fits[0]], *split(rest[fits[0] :], "##")]

    try:
        return split(word, "") if len(word) <= max_chars else [unk]
    except KeyError:
        return [unk]


# --- wordpiece: wrong -------------------------------------------------------------------------------------


def fixed_unk(word, vocab, unk="[UNK]", max_chars=100):
    return wordpiece(word, vocab, max_chars=max_chars)


def fixed_limit(word, vocab, unk="[UNK]", max_chars=100):
    return wordpiece(word, vocab, unk)


def limit_too_small(word, vocab, unk="[UNK]", max_chars=100):
    return [unk] if len(word) >= max_chars else wordpiece(word, vocab, unk, max_chars)


def no_limit(word, vocab, unk="[UNK]", max_chars=100):
    return wordpiece(word, vocab, unk, len(word))


def cut_to_limit(word, vocab, unk="[UNK]", max_chars=100):
    return wordpiece(word[:max_chars], vocab, unk)


def lowered(word, vocab, unk="[UNK]", max_chars=100):
    return wordpiece(word.lower(), vocab, unk, max_chars)


def characters(word, vocab, unk="[UNK]", max_chars=100):
    if len(word) > max_chars:
        return [unk]
    return [word[0], *("##" + letter for letter in word[1:])]


def whole_words(word, vocab, unk="[UNK]", max_chars=100):
    return [word] if word in vocab and len(word) <= max_chars else [unk]


def shortest_first(word, vocab, unk="[UNK]", max_chars=100):
    pieces, start = [], 0
    while start < len(word) <= max_chars:
        for end in range(start + 1, len(word) + 1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                pieces.append(piece)
                start = end
                break
        else:
            return [unk]
    return pieces if len(word) <= max_chars else [unk]


def from_the_end(word, vocab, unk="[UNK]", max_chars=100):
    if len(word) > max_chars:
        return [unk]
    pieces, end = [], len(word)
    while end > 0:
        start = 0
        while start < end and ("##" if start else "") + word[start:end] not in vocab:
            start += 1
        if start == end:
            return [unk]
        pieces = [("##" if start else "") + word[start:end], *pieces]
        end = start
    return pieces


def fewest(word, vocab, unk="[UNK]", max_chars=100):
    if len(word) > max_chars:
        return [unk]
    best = {0: []}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if start in best and piece in vocab:
                candidate = [*best[start], piece]
                if end not in best or len(candidate) < len(best[end]):
                    best[end] = candidate
    return best.get(len(word), [unk])


def backtracking(word, vocab, unk="[UNK]", max_chars=100):
    def split(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                rest = split(end)
                if rest is not None:
                    return [piece, *rest]
        return None

    pieces = split(0) if len(word) <= max_chars else None
    return [unk] if pieces is None else pieces


def stuck(finish):
    """An answer that keeps its pieces when a part has no match, and does `finish` with them."""

    def answer(word, vocab, unk="[UNK]", max_chars=100):
        if len(word) > max_chars:
            return [unk]
        pieces, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = [e for e in range(len(word), start, -1) if prefix + word[start:e] in vocab]
            if ends:
                pieces.append(prefix + word[start : ends[0]])
                start = ends[0]
            elif finish == "character":
                pieces.append(unk)
                start += 1
            else:
                return [*pieces, unk] if finish == "rest" else pieces
        return pieces

    return answer


def nothing_for_unknown(word, vocab, unk="[UNK]", max_chars=100):
    pieces = wordpiece(word, vocab, unk, max_chars)
    return [] if pieces == [unk] else pieces


def without_prefix(word, vocab, unk="[UNK]", max_chars=100):
    return [piece.removeprefix("##") for piece in wordpiece(word, vocab, unk, max_chars)]


def plain_lookup(mark):
    def answer(word, vocab, unk="[UNK]", max_chars=100):
        if len(word) > max_chars:
            return [unk]
        pieces, start = [], 0
        while start < len(word):
            ends = [e for e in range(len(word), start, -1) if word[start:e] in vocab]
            if not ends:
                return [unk]
            pieces.append((mark if start else "") + word[start : ends[0]])
            start = ends[0]
        return pieces

    return answer


def either_form(word, vocab, unk="[UNK]", max_chars=100):
    if len(word) > max_chars:
        return [unk]
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end]
            if piece in vocab or "##" + piece in vocab:
                pieces.append(piece if piece in vocab else "##" + piece)
                start = end
                break
        else:
            return [unk]
    return pieces


def pops_vocabulary(word, vocab, unk="[UNK]", max_chars=100):
    pieces = wordpiece(word, vocab, unk, max_chars)
    vocab.pop(pieces[0], None)
    return pieces


# --- pack_pair: right -------------------------------------------------------------------------------------


def pack(a, b, cls_id, sep_id):
    ids = [cls_id, *a, sep_id]
    types = [0] * len(ids)
    if b is not None:
        ids += [*b, sep_id]
        types += [1] * (len(b) + 1)
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": [1] * len(ids)}


def truncate(a, b, room, *, tie="b", drop=-1):
    a, b = list(a), None if b is None else list(b)
    while len(a) + len(b or []) > room:
        if len(a) > len(b or []) or (tie == "a" and len(a) == len(b or [])):
            a.pop(drop)
        else:
            b.pop(drop)
    return a, b


def room_for(b, max_length):
    room = max_length - (2 if b is None else 3)
    if room < 0:
        raise ValueError(f"max_length={max_length} has no room for the special tokens")
    return room


def pack_pair(ids_a, ids_b, *, cls_id, sep_id, max_length):
    return pack(*truncate(ids_a, ids_b, room_for(ids_b, max_length)), cls_id, sep_id)


def pack_by_arithmetic(ids_a, ids_b, *, cls_id, sep_id, max_length):
    """The lengths in closed form: A keeps what it has, or half the room rounded up, or what B leaves over."""
    room = room_for(ids_b, max_length)
    m, n = len(ids_a), 0 if ids_b is None else len(ids_b)
    if ids_b is None:
        m = min(m, room)
    elif m + n > room:
        keep_a = min(m, max(room - n, -(-room // 2)))
        m, n = keep_a, room - keep_a
    tokens = [(cls_id, 0)] + [(i, 0) for i in ids_a[:m]] + [(sep_id, 0)]
    if ids_b is not None:
        tokens += [(i, 1) for i in ids_b[:n]] + [(sep_id, 1)]
    ids, types = map(list, zip(*tokens, strict=True))
    return {"attention_mask": [1 for _ in ids], "input_ids": ids, "token_type_ids": types}


# --- pack_pair: wrong -------------------------------------------------------------------------------------


def pack_with(change):
    """A right row, then `change(row, ids_b, cls_id, sep_id, max_length)` in place."""

    def answer(ids_a, ids_b, *, cls_id, sep_id, max_length):
        row = pack_pair(ids_a, ids_b, cls_id=cls_id, sep_id=sep_id, max_length=max_length)
        return change(row, ids_b, cls_id, sep_id, max_length) or row

    return answer


def pack_after(cut):
    """Packs what `cut(a, b, room, max_length)` leaves of copies of the segments."""

    def answer(ids_a, ids_b, *, cls_id, sep_id, max_length):
        room = room_for(ids_b, max_length)
        a, b = cut(list(ids_a), None if ids_b is None else list(ids_b), room, max_length)
        return pack(a, b, cls_id, sep_id)

    return answer


def types_zero(row, *_):
    row["token_type_ids"] = [0] * len(row["input_ids"])


def types_early(row, ids_b, *_):
    if ids_b is not None:
        row["token_type_ids"][row["token_type_ids"].index(1) - 1] = 1


def types_last(row, *_):
    row["token_type_ids"][-1] = 0


def types_single(row, ids_b, *_):
    if ids_b is None:
        row["token_type_ids"] = [1] * len(row["input_ids"])


def types_swapped(row, *_):
    row["token_type_ids"] = [1 - t for t in row["token_type_ids"]]


def mask_text_only(row, ids_b, cls_id, sep_id, max_length):
    row["attention_mask"] = [0 if i in (cls_id, sep_id) else 1 for i in row["input_ids"]]


def padded(row, ids_b, cls_id, sep_id, max_length):
    for part in PARTS:
        row[part] += [0] * (max_length - len(row[part]))


def no_mask(row, *_):
    del row["attention_mask"]


def as_tensors(row, *_):
    return {part: torch.tensor(values) for part, values in row.items()}


def off_by_chance(row, *_):
    row["input_ids"].reverse()


def official_ids(ids_a, ids_b, *, cls_id, sep_id, max_length):
    return pack_pair(ids_a, ids_b, cls_id=101, sep_id=102, max_length=max_length)


def if_b(ids_a, ids_b, *, cls_id, sep_id, max_length):
    return pack_pair(ids_a, ids_b or None, cls_id=cls_id, sep_id=sep_id, max_length=max_length)


def always_two_seps(ids_a, ids_b, *, cls_id, sep_id, max_length):
    a, b = truncate(ids_a, ids_b, room_for(ids_b, max_length))
    return pack(a, b or [], cls_id, sep_id)


def cut_a_first(a, b, room, max_length):
    while len(a) + len(b or []) > room:
        (a or b).pop()
    return a, b


def cut_b_first(a, b, room, max_length):
    while len(a) + len(b or []) > room:
        (b or a).pop()
    return a, b


def cut_at_once(a, b, room, max_length):
    excess = len(a) + len(b or []) - room
    if excess > 0:
        if b is None or len(a) > len(b):
            a = a[: max(0, len(a) - excess)]
        else:
            b = b[: max(0, len(b) - excess)]
    return a, b


def cut_halves(a, b, room, max_length):
    if b is None:
        return a[:room], b
    if len(a) + len(b) > room:
        return a[: room // 2], b[: room - room // 2]
    return a, b


def packed_then_cut(ids_a, ids_b, *, cls_id, sep_id, max_length):
    room_for(ids_b, max_length)
    return {part: values[:max_length] for part, values in pack(ids_a, ids_b, cls_id, sep_id).items()}


def assembled(*, cls=True, middle=True, last=True):
    def answer(ids_a, ids_b, *, cls_id, sep_id, max_length):
        a, b = truncate(ids_a, ids_b, room_for(ids_b, max_length))
        first = ([cls_id] if cls else []) + a
        second = [] if b is None else b
        if b is not None and middle:
            first.append(sep_id)
        if last:
            (first if b is None else second).append(sep_id)
        ids = first + second
        types = [0] * len(first) + [1] * len(second)
        return {"input_ids": ids, "token_type_ids": types, "attention_mask": [1] * len(ids)}

    return answer


def refuses_long(ids_a, ids_b, *, cls_id, sep_id, max_length):
    row = pack(ids_a, ids_b, cls_id, sep_id)
    if len(row["input_ids"]) > max_length:
        raise ValueError("too long")
    return row


def never_refuses(ids_a, ids_b, *, cls_id, sep_id, max_length):
    room = max(0, max_length - (2 if ids_b is None else 3))
    return pack(*truncate(ids_a, ids_b, room), cls_id, sep_id)


def pops_empty(ids_a, ids_b, *, cls_id, sep_id, max_length):
    return pack(*truncate(ids_a, ids_b, max_length - (2 if ids_b is None else 3)), cls_id, sep_id)


def pops_in_place(ids_a, ids_b, *, cls_id, sep_id, max_length):
    room = room_for(ids_b, max_length)
    while len(ids_a) + len(ids_b or []) > room:
        (ids_a if len(ids_a) > len(ids_b or []) else ids_b).pop()
    return pack(ids_a, ids_b, cls_id, sep_id)


# --- pad_batch: right -------------------------------------------------------------------------------------


def pad_with(width=max, fill=None, left=False, dtype=torch.long):
    def answer(features, pad_id):
        target = width([len(row["input_ids"]) for row in features])
        fills = {"input_ids": pad_id, "token_type_ids": 0, "attention_mask": 0} | (fill or {})
        batch = {}
        for part in PARTS:
            value = pad_id if fills[part] == "pad_id" else fills[part]
            rows = []
            for row in features:
                kept = row[part][:target]
                padding = [row[part][-1] if value == "last" else value] * (target - len(kept))
                rows.append(padding + kept if left else kept + padding)
            batch[part] = torch.tensor(rows, dtype=dtype)
        return batch

    return answer


pad_batch = pad_with()


def pad_by_slices(features, pad_id):
    B, S = len(features), max(len(row["input_ids"]) for row in features)
    batch = {
        "input_ids": torch.full((B, S), pad_id),
        "token_type_ids": torch.zeros(B, S, dtype=torch.long),
        "attention_mask": torch.zeros(B, S, dtype=torch.long),
    }
    for number, row in enumerate(features):
        for part, values in row.items():
            batch[part][number, : len(values)] = torch.tensor(values)
    return batch


def pad_by_library(features, pad_id):
    return {
        part: pad_sequence([torch.tensor(row[part]) for row in features], True, value)
        for part, value in zip(PARTS, (pad_id, 0, 0), strict=True)
    }


# --- pad_batch: wrong -------------------------------------------------------------------------------------


def pad_then(change):
    """A right batch, then `change(batch, features, pad_id)` gives the parts that differ."""

    def answer(features, pad_id):
        batch = pad_batch(features, pad_id)
        return batch | change(batch, features, pad_id)

    return answer


def mask_by_length(batch, features, pad_id):
    lengths = torch.tensor([len(row["input_ids"]) for row in features])
    S = batch["input_ids"].shape[1]
    return {"attention_mask": (torch.arange(S) < lengths[:, None]).long()}


def pad_in_place(features, pad_id):
    S = max(len(row["input_ids"]) for row in features)
    for row in features:
        short = S - len(row["input_ids"])
        row["input_ids"] += [pad_id] * short
        row["token_type_ids"] += [0] * short
        row["attention_mask"] += [0] * short
    return {part: torch.tensor([row[part] for row in features]) for part in PARTS}


# --- embed: right -----------------------------------------------------------------------------------------


def refuse_long(input_ids, position):
    if input_ids.shape[1] > position.num_embeddings:
        raise ValueError(f"{input_ids.shape[1]} positions, {position.num_embeddings} rows in the table")


def embed(input_ids, token_type_ids, word, position, segment, layer_norm):
    refuse_long(input_ids, position)
    places = torch.arange(input_ids.shape[1])
    return layer_norm(word(input_ids) + position(places) + segment(token_type_ids))


def embed_by_loops(input_ids, token_type_ids, word, position, segment, layer_norm):
    B, S = input_ids.shape
    if len(position.weight) < S:
        raise ValueError("too long")
    result = torch.zeros(B, S, word.embedding_dim)
    for b in range(B):
        for s in range(S):
            x = word.weight[input_ids[b, s]] + position.weight[s] + segment.weight[token_type_ids[b, s]]
            centred = x - x.mean()
            x = centred / torch.sqrt((centred**2).mean() + layer_norm.eps)
            result[b, s] = (x * layer_norm.weight + layer_norm.bias).float()
    return result


# --- embed: wrong -----------------------------------------------------------------------------------------


def embed_with(combine, places=None):
    """Looks up, then `combine(word, position, segment, layer_norm)`. `places(ids, types)`: other positions."""

    def answer(input_ids, token_type_ids, word, position, segment, layer_norm):
        refuse_long(input_ids, position)
        where = torch.arange(input_ids.shape[1]) if places is None else places(input_ids, token_type_ids)
        where = where.expand_as(input_ids)
        return combine(word(input_ids), position(where), segment(token_type_ids), layer_norm)

    return answer


def summed(w, p, s, norm):
    return norm(w + p + s)


def hand_norm(x, norm, *, eps=None, unbiased=False, outside=False, dim=-1):
    eps = norm.eps if eps is None else eps
    variance = x.var(dim, unbiased=unbiased, keepdim=True)
    below = variance.sqrt() + eps if outside else (variance + eps).sqrt()
    return (x - x.mean(dim, keepdim=True)) / below * norm.weight + norm.bias


def by_hand(**how):
    return embed_with(lambda w, p, s, norm: hand_norm(w + p + s, norm, **how))


def zero_segment(input_ids, token_type_ids, *modules):
    return embed(input_ids, torch.zeros_like(token_type_ids), *modules)


def from_one(ids, types):
    return torch.arange(1, ids.shape[1] + 1)


def tables_swapped(input_ids, token_type_ids, word, position, segment, layer_norm):
    refuse_long(input_ids, position)
    places = torch.arange(input_ids.shape[1])
    return layer_norm(position(input_ids) + word(places) + segment(token_type_ids))


def reversed_places(ids, types):
    return torch.arange(ids.shape[1]).flip(0)


def restarting(ids, types):
    first = (types == 0).sum(1, keepdim=True)
    places = torch.arange(ids.shape[1]).expand_as(ids)
    return torch.where(places < first, places, places - first)


def row_number(ids, types):
    return torch.arange(len(ids))[:, None]


def sinusoids(w, p, s, norm):
    S, H = w.shape[1:]
    angle = torch.arange(S, dtype=w.dtype)[:, None] / 10_000 ** (torch.arange(0, H, 2, dtype=w.dtype) / H)
    table = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
    return norm(w + table + s)


def no_check(input_ids, token_type_ids, word, position, segment, layer_norm):
    places = torch.arange(input_ids.shape[1])
    return layer_norm(word(input_ids) + position(places) + segment(token_type_ids))


def clamped(input_ids, token_type_ids, word, position, segment, layer_norm):
    places = torch.arange(input_ids.shape[1]).clamp(max=position.num_embeddings - 1)
    return layer_norm(word(input_ids) + position(places) + segment(token_type_ids))


def strict_limit(input_ids, token_type_ids, word, position, segment, layer_norm):
    if input_ids.shape[1] >= position.num_embeddings:
        raise ValueError("too long")
    return embed(input_ids, token_type_ids, word, position, segment, layer_norm)


def adds_in_place(input_ids, token_type_ids, *modules):
    value = embed(input_ids, token_type_ids, *modules)
    token_type_ids.zero_()
    return value


RIGHT = {
    "wordpiece": [wordpiece, wordpiece_by_recursion],
    "pack_pair": [pack_pair, pack_by_arithmetic],
    "pad_batch": [pad_batch, pad_by_slices, pad_by_library],
    "embed": [embed, embed_by_loops],
}

MUTANTS = {
    "wordpiece": [
        ("unk_hard_coded", fixed_unk),
        ("max_chars_hard_coded", fixed_limit),
        ("max_chars_off_by_one", limit_too_small),
        ("max_chars_ignored", no_limit),
        ("too_long_is_cut", cut_to_limit),
        ("lowers_the_word", lowered),
        ("splits_into_characters", characters),
        ("whole_words_only", whole_words),
        ("shortest_match_first", shortest_first),
        ("cuts_from_the_end", from_the_end),
        ("fewest_pieces", fewest),
        ("backtracks", backtracking),
        ("unknown_rest_only", stuck("rest")),
        ("unknown_by_character", stuck("character")),
        ("unmatched_part_dropped", stuck("keep")),
        ("empty_for_unknown", nothing_for_unknown),
        ("prefix_missing_in_output", without_prefix),
        ("continuations_looked_up_plain", plain_lookup("")),
        ("continuations_looked_up_plain", plain_lookup("##")),
        ("ignores_where_a_piece_stands", either_form),
        ("changes_its_input", pops_vocabulary),
        ("wrong_type", lambda *args, **kwargs: " ".join(wordpiece(*args, **kwargs))),
        ("wrong_type", lambda *args, **kwargs: tuple(wordpiece(*args, **kwargs))),
        ("unexpected_value", lambda *args, **kwargs: ["un", "##aff", "##able"]),
    ],
    "pack_pair": [
        ("hard_coded_ids", official_ids),
        ("segments_all_zero", pack_with(types_zero)),
        ("first_sep_in_segment_one", pack_with(types_early)),
        ("last_sep_in_segment_zero", pack_with(types_last)),
        ("single_in_segment_one", pack_with(types_single)),
        ("segments_swapped", pack_with(types_swapped)),
        ("empty_b_taken_for_none", if_b),
        ("single_gets_two_seps", always_two_seps),
        (
            "single_room_for_three_specials",
            pack_after(lambda a, b, room, m: truncate(a, b, max(0, m - 3))),
        ),
        ("tie_drops_a", pack_after(lambda a, b, room, m: truncate(a, b, room, tie="a"))),
        ("excess_from_longer_at_once", pack_after(cut_at_once)),
        ("always_truncates_a", pack_after(cut_a_first)),
        ("always_truncates_b", pack_after(cut_b_first)),
        ("halves_the_room", pack_after(cut_halves)),
        ("drops_from_the_front", pack_after(lambda a, b, room, m: truncate(a, b, room, drop=0))),
        ("cuts_the_packed_row", packed_then_cut),
        ("specials_not_counted", pack_after(lambda a, b, room, m: truncate(a, b, m))),
        ("two_specials_counted", pack_after(lambda a, b, room, m: truncate(a, b, m - 2))),
        ("max_length_ignored", pack_after(lambda a, b, room, m: (a, b))),
        ("last_sep_missing", assembled(last=False)),
        ("middle_sep_missing", assembled(middle=False)),
        ("cls_missing", assembled(cls=False)),
        ("mask_hides_specials", pack_with(mask_text_only)),
        ("pads_to_max_length", pack_with(padded)),
        ("refuses_instead_of_truncating", refuses_long),
        ("accepts_impossible_input", never_refuses),
        ("raises_another_error", pops_empty),
        ("changes_its_input", pops_in_place),
        ("wrong_keys", pack_with(no_mask)),
        ("wrong_type", pack_with(as_tensors)),
        ("wrong_type", pack_with(lambda row, *_: row["input_ids"])),
        ("unexpected_value", pack_with(off_by_chance)),
    ],
    "pad_batch": [
        ("pads_ids_with_zero", pad_with(fill={"input_ids": 0})),
        ("pads_everything_with_pad_id", pad_with(fill=dict.fromkeys(PARTS, "pad_id"))),
        ("pads_segments_with_pad_id", pad_with(fill={"token_type_ids": "pad_id"})),
        ("pads_segments_with_one", pad_with(fill={"token_type_ids": 1})),
        ("repeats_last_segment", pad_with(fill={"token_type_ids": "last"})),
        ("attends_to_padding", pad_with(fill={"attention_mask": 1})),
        ("mask_of_ones", pad_then(lambda b, f, p: {"attention_mask": torch.ones_like(b["input_ids"])})),
        ("mask_from_ids", pad_then(lambda b, f, p: {"attention_mask": (b["input_ids"] != p).long()})),
        ("mask_from_length", pad_then(mask_by_length)),
        ("mask_inverted", pad_then(lambda b, f, p: {"attention_mask": 1 - b["attention_mask"]})),
        ("segments_lost", pad_then(lambda b, f, p: {"token_type_ids": torch.zeros_like(b["input_ids"])})),
        ("pads_on_the_left", pad_with(left=True)),
        ("cuts_to_the_shortest", pad_with(width=min)),
        ("goes_by_the_first_row", pad_with(width=lambda lengths: lengths[0])),
        ("one_column_too_many", pad_with(width=lambda lengths: max(lengths) + 1)),
        ("pads_to_a_multiple_of_eight", pad_with(width=lambda lengths: (max(lengths) + 7) // 8 * 8)),
        ("pads_to_512", pad_with(width=lambda lengths: 512)),
        ("transposed", lambda f, p: {part: tensor.T for part, tensor in pad_batch(f, p).items()}),
        ("not_long", pad_with(dtype=torch.int32)),
        ("not_long", pad_then(lambda b, f, p: {"attention_mask": b["attention_mask"].bool()})),
        ("changes_its_input", pad_in_place),
        ("wrong_keys", lambda f, p: {"input_ids": pad_batch(f, p)["input_ids"]}),
        ("wrong_type", lambda f, p: {part: tensor.tolist() for part, tensor in pad_batch(f, p).items()}),
        ("unexpected_value", lambda f, p: {part: tensor + 1 for part, tensor in pad_batch(f, p).items()}),
    ],
    "embed": [
        ("layer_norm_missing", embed_with(lambda w, p, s, norm: w + p + s)),
        (
            "layer_norm_without_weights",
            embed_with(lambda w, p, s, norm: functional.layer_norm(w + p + s, w.shape[-1:], eps=norm.eps)),
        ),
        ("own_eps", by_hand(eps=1e-12)),
        ("own_eps", by_hand(eps=1e-5)),
        ("eps_outside_the_root", by_hand(outside=True)),
        ("sample_variance", by_hand(unbiased=True)),
        ("normalises_over_positions", by_hand(dim=1)),
        ("normalises_each_lookup", embed_with(lambda w, p, s, norm: norm(w) + norm(p) + norm(s))),
        ("norm_before_segment", embed_with(lambda w, p, s, norm: norm(w + p) + s)),
        ("word_missing", embed_with(lambda w, p, s, norm: norm(p + s))),
        ("position_missing", embed_with(lambda w, p, s, norm: norm(w + s))),
        ("segment_missing", embed_with(lambda w, p, s, norm: norm(w + p))),
        ("segment_always_zero", zero_segment),
        ("looks_up_beyond_a_table", embed_with(summed, from_one)),
        ("looks_up_beyond_a_table", tables_swapped),
        ("positions_reversed", embed_with(summed, reversed_places)),
        ("positions_restart_in_segment", embed_with(summed, restarting)),
        ("one_position_for_all", embed_with(summed, lambda ids, types: torch.tensor(0))),
        ("position_of_the_row", embed_with(summed, row_number)),
        ("sinusoids_for_positions", embed_with(sinusoids)),
        (
            "scaled_by_root_of_hidden",
            embed_with(lambda w, p, s, norm: norm(w * w.shape[-1] ** 0.5 + p + s)),
        ),
        ("multiplied_for_summed", embed_with(lambda w, p, s, norm: norm(w * p * s))),
        ("mean_for_sum", embed_with(lambda w, p, s, norm: norm((w + p + s) / 3))),
        ("concatenated", embed_with(lambda w, p, s, norm: torch.cat([w, p, s], -1))),
        ("wrong_shape", embed_with(lambda w, p, s, norm: norm(w + p + s).mean(1))),
        ("raises_another_error", no_check),
        ("accepts_impossible_input", clamped),
        ("refuses_a_row_that_fits", strict_limit),
        ("changes_its_input", adds_in_place),
        ("wrong_type", lambda *args: embed(*args).tolist()),
        ("unexpected_value", lambda *args: embed(*args) + 1),
    ],
}
