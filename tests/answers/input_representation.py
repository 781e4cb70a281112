"""Answers to the assignment `input_representation`: right ones in several styles, and wrong ones written by hand."""

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


def no_mask(row, *_):
    del row["attention_mask"]


def as_tensors(row, *_):
    return {part: torch.tensor(values) for part, values in row.items()}


def cut_at_once(a, b, room, max_length):
    excess = len(a) + len(b or []) - room
    if excess > 0:
        if b is None or len(a) > len(b):
            a = a[: max(0, len(a) - excess)]
        else:
            b = b[: max(0, len(b) - excess)]
    return a, b


def refuses_long(ids_a, ids_b, *, cls_id, sep_id, max_length):
    row = pack(ids_a, ids_b, cls_id, sep_id)
    if len(row["input_ids"]) > max_length:
        raise ValueError("too long")
    return row


def refuses_an_empty_row(ids_a, ids_b, *, cls_id, sep_id, max_length):
    if room_for(ids_b, max_length) == 0:
        raise ValueError("no room for any text")
    return pack_pair(ids_a, ids_b, cls_id=cls_id, sep_id=sep_id, max_length=max_length)


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


# --- pad_batch --------------------------------------------------------------------------------------------


def pad_batch(features, pad_id):
    width = max(len(row["input_ids"]) for row in features)
    fills = {"input_ids": pad_id, "token_type_ids": 0, "attention_mask": 0}
    return {
        part: torch.tensor([row[part] + [fill] * (width - len(row[part])) for row in features])
        for part, fill in fills.items()
    }


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


def ends_in_padding(features, pad_id):
    """Takes a padding id in the text for padding."""
    batch = pad_batch(features, pad_id)
    return batch | {"token_type_ids": batch["token_type_ids"] * (batch["input_ids"] != pad_id)}


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


def own_norm(input_ids, token_type_ids, word, position, segment, layer_norm):
    """Divides by H − 1, as `var` does by itself."""
    refuse_long(input_ids, position)
    x = word(input_ids) + position(torch.arange(input_ids.shape[1])) + segment(token_type_ids)
    variance = x.var(-1, keepdim=True)
    return (x - x.mean(-1, keepdim=True)) / (
        variance + layer_norm.eps
    ).sqrt() * layer_norm.weight + layer_norm.bias


def from_one(input_ids, token_type_ids, word, position, segment, layer_norm):
    refuse_long(input_ids, position)
    places = torch.arange(1, input_ids.shape[1] + 1)
    return layer_norm(word(input_ids) + position(places) + segment(token_type_ids))


def tables_swapped(input_ids, token_type_ids, word, position, segment, layer_norm):
    refuse_long(input_ids, position)
    places = torch.arange(input_ids.shape[1])
    return layer_norm(position(input_ids) + word(places) + segment(token_type_ids))


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


def clears_types(input_ids, token_type_ids, *modules):
    value = embed(input_ids, token_type_ids, *modules)
    token_type_ids.zero_()
    return value


def clears_padding(input_ids, token_type_ids, word, *modules):
    value = embed(input_ids, token_type_ids, word, *modules)
    with torch.no_grad():
        word.weight[0] = 0.0
    return value


def with_dropout(*args):
    return functional.dropout(embed(*args), 0.1)


RIGHT = {
    "wordpiece": [
        wordpiece,
        wordpiece_by_recursion,
        lambda *args, **kwargs: tuple(wordpiece(*args, **kwargs)),
    ],
    "pack_pair": [pack_pair, pack_by_arithmetic],
    "pad_batch": [pad_batch, pad_by_slices, pad_by_library],
    "embed": [embed, embed_by_loops],
}

MUTANTS = {
    "wordpiece": [
        ("shortest_match_first", shortest_first),
        ("changes_its_input", pops_vocabulary),
        (
            "two_answers",
            lambda word, vocab, *options, seen=[]: (
                seen.append(word) or wordpiece(word, vocab, *options) * min(2, seen.count(word))
            ),
        ),
        ("wrong_type", lambda *args, **kwargs: " ".join(wordpiece(*args, **kwargs))),
        ("unexpected_value", lambda *args, **kwargs: ["un", "##aff", "##able"]),
    ],
    "pack_pair": [
        ("excess_from_longer_at_once", pack_after(cut_at_once)),
        ("refuses_instead_of_truncating", refuses_long),
        ("refuses_instead_of_truncating", refuses_an_empty_row),
        ("b_may_be_none", lambda ids_a, ids_b, **named: pack_pair(ids_a, list(ids_b), **named)),
        ("accepts_impossible_input", never_refuses),
        ("raises_another_error", pops_empty),
        ("changes_its_input", pops_in_place),
        ("missing_keys", pack_with(no_mask)),
        ("wrong_type", pack_with(as_tensors)),
        ("wrong_type", pack_with(lambda row, *_: row["input_ids"])),
        ("wrong_type", pack_with(lambda row, *_: row | {"attention_mask": [True] * len(row["input_ids"])})),
        ("unexpected_value", pack_with(lambda row, *_: row["input_ids"].reverse())),
    ],
    "pad_batch": [
        ("unexpected_value", ends_in_padding),
        ("not_long", lambda f, p: {part: tensor.int() for part, tensor in pad_batch(f, p).items()}),
        (
            "not_long",
            lambda f, p: pad_batch(f, p) | {"attention_mask": pad_batch(f, p)["attention_mask"] > 0},
        ),
        ("changes_its_input", pad_in_place),
        ("missing_keys", lambda f, p: {"input_ids": pad_batch(f, p)["input_ids"]}),
        ("extra_keys", lambda f, p: pad_batch(f, p) | {"labels": pad_batch(f, p)["input_ids"]}),
        ("wrong_shape", lambda f, p: {part: tensor[None] for part, tensor in pad_batch(f, p).items()}),
        ("wrong_type", lambda f, p: {part: tensor.tolist() for part, tensor in pad_batch(f, p).items()}),
    ],
    "embed": [
        ("sample_variance", own_norm),
        ("looks_up_beyond_a_table", from_one),
        ("looks_up_beyond_a_table", tables_swapped),
        ("raises_another_error", no_check),
        ("accepts_impossible_input", clamped),
        ("refuses_a_row_that_fits", strict_limit),
        ("changes_its_input", clears_types),
        ("changes_its_input", clears_padding),
        ("two_answers", with_dropout),
        ("wrong_shape", lambda *args: embed(*args).mean(1)),
        ("wrong_type", lambda *args: embed(*args).tolist()),
        ("not_floats", lambda *args: embed(*args).long()),
        ("unexpected_value", lambda *args: embed(*args) + 1),
    ],
}
