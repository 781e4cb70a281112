"""Which pieces BERT has to guess: pick units, then corrupt them.

Token, whole-word and span masking differ in one thing only, what counts as a *unit*:

    token   every piece is a unit
    word    a piece and the `##` pieces that continue it
    span    1 to 10 consecutive words, the length drawn from a geometric distribution

So there is one function that cuts a batch into units (`cut_into_units`), one that picks some of them
(`select_units`) and one that hides what was picked, 80/10/10 (`corrupt`). `MaskingCollator` puts the three
behind the interface of a `DataLoader` or of `transformers.Trainer`.

Shapes: B batch, S sequence, V vocabulary, K picked positions, N words of the batch, G segments between special
tokens, C draws for each segment.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import get_worker_info

from insidebert.rows import pad_rows

UNITS = ("token", "word", "span")

IGNORED = -100  # the label that `torch.nn.functional.cross_entropy` leaves out
MIX = (0.8, 0.1)  # shares of [MASK] and of random ids; the rest stays (Devlin et al. 2019, App. A.1)


def prediction_budget(length: int, probability: float = 0.15, cap: int | None = 20) -> int:
    """How many of `length` pieces may be hidden: a rounded share, at least 1, at most `cap`.

    `length` counts special tokens, as `create_pretraining_data.py` of google-research/bert does.
    """
    wanted = max(1, round(length * probability))
    return wanted if cap is None else min(wanted, cap)


def _check_probability(probability: float) -> None:
    if not 0 <= probability <= 1:
        raise ValueError(f"`probability` is {probability}; the share of units to pick lies between 0 and 1.")


def _check_choice(name: str, got: str, *choices: str) -> None:
    if got not in choices:
        raise ValueError(f"`{name}` is {got!r}; it can be {', '.join(map(repr, choices))}.")


# ---- units -----------------------------------------------------------------------------------------------


def cut_into_units(
    maskable: Tensor,
    unit: str = "token",
    *,
    continues: Tensor | None = None,
    p: float = 0.2,
    max_words: int = 10,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Number the units of a batch from 1, row after row; 0 where `maskable` is false.

    `maskable` (B,S) bool: false on special tokens and padding, which belong to no unit and which no unit
    crosses. `continues` (B,S) bool: true on a piece that continues the word before it (`##ing`); words and
    spans need it. Right after a special token such a piece starts a word.

    Spans tile each segment with whole words, their lengths drawn from a geometric distribution cut at
    `max_words` and renormalised (SpanBERT, Joshi et al. 2020, sec. 3.1: p = 0.2, at most 10, mean 3.80).
    SpanBERT draws one start after another and rejects those already hidden; tiles drawn anew for every batch
    need no rejection, and picking some of them at random hides every word with the same probability. Returns
    (B,S) int32.
    """
    _check_choice("unit", unit, *UNITS)
    if unit == "token":
        starts = maskable
    elif continues is None:
        raise ValueError(
            f"unit={unit!r} needs `continues`, which pieces continue a word; a tokenizer's table gives it: "
            "`continuation_table(tokenizer)[input_ids]`."
        )
    else:
        starts = maskable & ~(continues & _before(maskable))
    if unit == "span":
        starts = _span_starts(starts, maskable, p, max_words, generator)
    return _count(starts).mul_(maskable.flatten()).view_as(maskable)


def _count(flags: Tensor) -> Tensor:
    """How many are true up to each position, row after row. (B·S,) int32, half the memory of long."""
    return flags.flatten().cumsum(0, dtype=torch.int32)


def _true(flags: Tensor) -> Tensor:
    """Where `flags`, flattened, are true: long, ascending."""
    if flags.device.type == "cpu":  # numpy searches four times as fast
        return torch.from_numpy(np.flatnonzero(flags.numpy()))
    return flags.flatten().nonzero().squeeze(1)


def _before(flags: Tensor) -> Tensor:
    """Each position gets its left neighbour's flag, the first one False. (B,S) bool."""
    return torch.nn.functional.pad(flags, (1, 0))[:, : flags.shape[1]]


def _span_starts(
    word_starts: Tensor, maskable: Tensor, p: float, max_words: int, generator: torch.Generator | None
) -> Tensor:
    """Which words start a span, every segment tiled by fresh draws. (B,S) bool."""
    number = _count(word_starts).sub_(1)  # (B·S,) the word each position belongs to
    opening = _true(maskable & ~_before(maskable))  # (G,) positions that open a segment
    if len(opening) == 0:
        return word_starts
    first, N = number.index_select(0, opening), int(number[-1]) + 1  # (G,) word that opens each segment
    words = torch.diff(first, append=first.new_tensor([N]))  # (G,) words in each segment
    columns = int(words.max()) // 3 + 2  # the mean length is 3.80
    lengths = torch.zeros(len(words), 0, dtype=torch.long, device=words.device)
    while bool((lengths.sum(1) < words).any()):  # seldom more than once, unless `p` is large
        more = _span_lengths((len(words), columns), p, max_words, words.device, generator)
        lengths = torch.cat([lengths, more], 1)  # (G,C)
    # Where each span begins, in words of its segment. Draws beyond the segment all land on the word that opens the
    # next one, which begins a span anyway.
    begins = torch.minimum(lengths.cumsum(1) - lengths, words[:, None])
    begins += first[:, None]  # (G,C) in words of the batch
    begin_span = torch.zeros(N + 1, dtype=torch.bool, device=words.device)
    begin_span.index_fill_(0, begins.flatten(), True)
    return word_starts & begin_span.index_select(0, number.clamp_(min=0)).view_as(word_starts)


def _span_lengths(
    shape: tuple[int, int], p: float, longest: int, device: torch.device, generator: torch.Generator | None
) -> Tensor:
    """Lengths 1 … `longest`, P(ℓ) ∝ (1−p)^(ℓ−1), by inverting the distribution function. Long tensor."""
    if not 0 < p <= 1 or longest < 1:
        raise ValueError(f"p={p}, max_words={longest}: it takes 0 < p ≤ 1 and spans of 1 word or more.")
    u = torch.rand(shape, device=device, generator=generator)
    if p == 1:
        return torch.ones_like(u, dtype=torch.long)
    q = math.log1p(-p)
    lengths = torch.log1p(u * math.expm1(q * longest)).div_(q).long() + 1
    return lengths.clamp_(max=longest)  # a rounding error at u → 1 must not give one word more


# ---- selection -------------------------------------------------------------------------------------------


def select_units(
    units: Tensor,
    *,
    probability: float = 0.15,
    budget: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Pick units at random; every piece of a picked unit is selected. Returns (B,S) bool.

    `units` (B,S) long from `cut_into_units`. Without a `budget` every unit is picked independently with
    `probability` (Bernoulli). With a `budget`, (B,) long, the most pieces each row may hide, units are taken
    in random order, those that no longer fit are passed over, and a row is full when no unit left fits.
    """
    _check_probability(probability)
    if units.numel() == 0:
        return torch.zeros_like(units, dtype=torch.bool)
    keys = torch.rand(int(units.max()) + 1, device=units.device, generator=generator)
    picked = keys < probability if budget is None else _fill(keys, units, budget)
    picked[0] = False  # what belongs to no unit
    return picked.index_select(0, units.flatten()).view_as(units)


def _fill(keys: Tensor, units: Tensor, budget: Tensor) -> Tensor:
    """Which units go in, each row's in the order of their `keys` until none fits its `budget`. As `keys`, bool."""
    last = units.amax(1).cummax(0).values  # (B,) of the units in each row and those above it
    first = torch.nn.functional.pad(last, (1, 0))[:-1] + 1
    row = first[:, None] + torch.arange(int((last - first).max()) + 1, device=units.device)  # (B,C) units
    row = row.masked_fill_(row > last[:, None], 0).long()
    sizes = units.flatten().bincount()
    sizes[0] = 0
    row = row.gather(1, keys[row].argsort(1))
    sizes = sizes[row]
    left = budget.to(sizes).unsqueeze(1).clone()  # (B,1)
    waiting, taken = sizes > 0, torch.zeros_like(sizes, dtype=torch.bool)
    while True:
        waiting &= sizes <= left
        if not waiting.any():
            return torch.zeros_like(keys, dtype=torch.bool).index_fill_(0, row[taken], True)
        # All units in front of the first that is too large go in at once; that one is passed over for good.
        now = waiting & ((sizes * waiting).cumsum(1) <= left)
        taken |= now
        waiting &= ~now
        left -= (sizes * now).sum(1, keepdim=True)


# ---- corruption ------------------------------------------------------------------------------------------


def corrupt(
    input_ids: Tensor,
    selected: Tensor,
    *,
    mask_token_id: int,
    vocab_size: int,
    mix: tuple[float, float] = MIX,
    per: str = "piece",
    units: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Hide the selected pieces: 80 % `[MASK]`, 10 % a uniform draw from [0, V), 10 % as they are.

    `input_ids` (B,S) long, left unchanged; `selected` (B,S) bool. `per` says what shares a fate: each piece
    has its own ("piece", as in Google's code, also for whole words) or all pieces of a unit have the same
    ("span", as in SpanBERT; it needs `units`). A random id is drawn for each piece in both cases. Returns
    `(masked_ids, labels)`, both (B,S) long; labels hold the original id where selected, −100 elsewhere.
    """
    _check_choice("per", per, "piece", "span")
    masked_share, random_share = mix
    if min(mix) < 0 or masked_share + random_share > 1:
        raise ValueError(f"`mix` is {mix}; give the shares of [MASK] and of random ids, together at most 1.")
    masked_ids, labels = input_ids.clone(), torch.full_like(input_ids, IGNORED)
    where = _true(selected)  # (K,)
    original = input_ids.take(where)
    if per == "span":
        if units is None:
            raise ValueError("per='span' needs `units`, the numbers that `cut_into_units` gave.")
        number = units.flatten().index_select(0, where)  # (K,)
        fates = torch.rand(
            int(units.max()) + 1 if len(where) else 0, device=units.device, generator=generator
        )
        fate = fates.index_select(0, number)
    else:
        fate = torch.rand(len(where), device=input_ids.device, generator=generator)
    random_ids = torch.randint(
        vocab_size, where.shape, device=input_ids.device, dtype=input_ids.dtype, generator=generator
    )
    kept_or_random = torch.where(fate < masked_share + random_share, random_ids, original)
    masked_ids.put_(where, kept_or_random.masked_fill_(fate < masked_share, mask_token_id))
    labels.put_(where, original)
    return masked_ids, labels


# ---- tokenizers ------------------------------------------------------------------------------------------


def special_table(tokenizer: Any) -> Tensor:
    """(V,) bool: true on the ids that are never hidden, all that the tokenizer calls special."""
    return _table(tokenizer, tokenizer.all_special_ids)


def continuation_table(tokenizer: Any) -> Tensor:
    """(V,) bool: true on the ids that continue a word, such as `##ing`.

    Only WordPiece writes that into the piece. For any other tokenizer: `ValueError`.
    """
    model: Any = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    if type(model).__name__ != "WordPiece":
        raise ValueError(
            f"{type(tokenizer).__name__} is no WordPiece tokenizer: its pieces do not say which of them "
            "continue a word. Add a column `word_ids` to the rows: `encoding.word_ids()` of a fast tokenizer."
        )
    prefix = model.continuing_subword_prefix
    return _table(tokenizer, [i for piece, i in tokenizer.get_vocab().items() if piece.startswith(prefix)])


def _table(tokenizer: Any, ids: list[int]) -> Tensor:
    table = torch.zeros(len(tokenizer), dtype=torch.bool)
    table[torch.tensor(ids, dtype=torch.long)] = True
    return table


def _look_up(table: Tensor, ids: Tensor) -> Tensor:
    return table.index_select(0, ids.flatten()).view_as(ids)  # several times as fast as table[ids]


# ---- batches ---------------------------------------------------------------------------------------------


class MaskingCollator:
    """Rows to a padded batch with masked `input_ids` and `labels`, for a `DataLoader` or `Trainer`.

    `tokenizer`: gives the ids of `[MASK]` and padding, the special ids and, for words and spans, the pieces
    that continue a word. `unit`, `probability`, `p`, `max_words`: see `cut_into_units`. `budget`: "bernoulli"
    picks units independently; "exact" hides as many pieces as `prediction_budget` allows, at most `cap` (20
    in Google's code for rows of 128; beware, at 512 that is 3.9 %). `per`: see `corrupt`; by default "span"
    for spans, else "piece". `generator`: all randomness comes from it, or from torch's global one. In a
    worker process of a `DataLoader` it is seeded anew from the worker's seed, so that no two workers and no
    two epochs draw the same masks.

    Called on a list of rows (mappings of lists, arrays or tensors) or on an Arrow table (`ArrowRows`). A row
    has `input_ids` and may have `token_type_ids`, `attention_mask`, `special_tokens_mask`, `word_ids` (−1 or
    None for special tokens) and numbers such as `next_sentence_label`. Returns a dict of long tensors: (B,S)
    for what has a value per position, (B,) for numbers. Rows are never changed. Too long a row, no row:
    `ValueError`.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        unit: str = "token",
        probability: float = 0.15,
        budget: str = "bernoulli",
        cap: int | None = None,
        p: float = 0.2,
        max_words: int = 10,
        per: str | None = None,
        mix: tuple[float, float] = MIX,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        for token in ("mask", "pad"):
            if getattr(tokenizer, f"{token}_token_id", None) is None:
                raise ValueError(
                    f"{type(tokenizer).__name__} has no {token} token and masking needs one: "
                    "use a tokenizer of the BERT family, or give it one with `add_special_tokens`."
                )
        _check_choice("unit", unit, *UNITS)
        _check_choice("budget", budget, "bernoulli", "exact")
        _check_probability(probability)
        self.unit, self.probability, self.budget, self.cap = unit, probability, budget, cap
        self.p, self.max_words, self.mix = p, max_words, mix
        self.per = per or ("span" if unit == "span" else "piece")
        self.max_length = max_length or tokenizer.model_max_length
        self.multiple_of = pad_to_multiple_of or 1
        self.mask_id, self.pad_id = tokenizer.mask_token_id, tokenizer.pad_token_id
        self.special = special_table(tokenizer)
        self.tokenizer, self.generator = tokenizer, generator
        self._continues: Tensor | None = None  # made when first needed: rows with `word_ids` do without
        self._worker_seed: int | None = None

    def __call__(self, rows: Any) -> dict[str, Tensor]:
        """A list of rows or an Arrow table to one batch."""
        batch = pad_rows(rows, pad_id=self.pad_id, max_length=self.max_length, multiple_of=self.multiple_of)
        if "labels" in batch:
            raise ValueError("The rows have `labels` already; masking makes its own: remove that column.")
        special, word_ids = batch.pop("special_tokens_mask", None), batch.pop("word_ids", None)
        input_ids = batch["input_ids"]
        special = _look_up(self.special, input_ids) if special is None else special.bool()
        maskable = batch["attention_mask"].bool() & ~special
        generator = self._generator()
        units = cut_into_units(
            maskable,
            self.unit,
            continues=None if self.unit == "token" else self._continuing(input_ids, word_ids),
            p=self.p,
            max_words=self.max_words,
            generator=generator,
        )
        budget = self._budgets(batch["attention_mask"].sum(1)) if self.budget == "exact" else None
        selected = select_units(units, probability=self.probability, budget=budget, generator=generator)
        batch["input_ids"], batch["labels"] = corrupt(
            input_ids,
            selected,
            mask_token_id=self.mask_id,
            vocab_size=len(self.special),
            mix=self.mix,
            per=self.per,
            units=units,
            generator=generator,
        )
        return batch

    def _budgets(self, lengths: Tensor) -> Tensor:
        return torch.tensor([prediction_budget(n, self.probability, self.cap) for n in lengths.tolist()])

    def _continuing(self, input_ids: Tensor, word_ids: Tensor | None) -> Tensor:
        """(B,S) bool: pieces that continue a word, by the rows' `word_ids` or by the vocabulary."""
        if word_ids is not None:
            return word_ids == torch.nn.functional.pad(word_ids, (1, 0), value=-2)[:, : word_ids.shape[1]]
        if self._continues is None:
            self._continues = continuation_table(self.tokenizer)
        return _look_up(self._continues, input_ids)

    def _generator(self) -> torch.Generator | None:
        worker = get_worker_info()
        if worker is not None and self.generator is not None and self._worker_seed != worker.seed:
            self._worker_seed = worker.seed
            self.generator.manual_seed((self.generator.initial_seed() ^ worker.seed) % 2**63)
        return self.generator
