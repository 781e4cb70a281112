"""Masking: what is picked, what becomes of it, and the collator around both."""

from __future__ import annotations

import math
from itertools import chain, pairwise

import datasets
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import Whitespace
from torch.utils.data import DataLoader
from transformers import (
    BertConfig,
    BertForPreTraining,
    BertTokenizer,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

from insidebert.masking import (
    MaskingCollator,
    continuation_table,
    corrupt,
    cut_into_units,
    prediction_budget,
    select_units,
    special_table,
)
from insidebert.rows import ArrowRows

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{i}" for i in range(60)]
PIECES = [f"##p{i}" for i in range(35)]
PAD, UNK, CLS, SEP, MASK = range(5)
V = 100
MILLION = 1_000_000


@pytest.fixture(scope="module")
def tokenizer() -> BertTokenizer:
    return BertTokenizer(vocab={token: i for i, token in enumerate(SPECIAL + WORDS + PIECES)})


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def row(length: int, seed: int = 0, sep: int | None = None) -> dict[str, list[int]]:
    """[CLS] … [SEP] of random words and pieces, in two segments where `sep` says so."""
    ids = [CLS, *torch.randint(5, V, (max(length - 2, 0),), generator=seeded(seed)).tolist(), SEP][:length]
    if sep is not None:
        ids[sep] = SEP
    segments = [int(sep is not None and i > sep) for i in range(length)]
    return {"input_ids": ids, "token_type_ids": segments, "attention_mask": [1] * length}


def assert_share(count: int, n: int, p: float) -> None:
    """Within four standard deviations of a binomial distribution."""
    assert abs(count - n * p) <= 4 * math.sqrt(n * p * (1 - p)), (count / n, p)


def words_of(maskable: list[bool], continues: list[bool]) -> list[list[int]]:
    """The positions of each word, the slow way."""
    words: list[list[int]] = []
    for i, hideable in enumerate(maskable):
        if hideable and continues[i] and i > 0 and maskable[i - 1]:
            words[-1].append(i)
        elif hideable:
            words.append([i])
    return words


# ---- units -----------------------------------------------------------------------------------------------


@st.composite
def batches(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    B, S = draw(st.integers(1, 4)), draw(st.integers(0, 40))
    cells = st.lists(st.sampled_from("sw##ww#"), min_size=B * S, max_size=B * S)
    kinds = draw(cells)
    maskable = torch.tensor([kind != "s" for kind in kinds], dtype=torch.bool).view(B, S)
    continues = torch.tensor([kind == "#" for kind in kinds], dtype=torch.bool).view(B, S)
    return maskable, continues


@settings(max_examples=150, deadline=None)
@given(batches(), st.sampled_from(["token", "word", "span"]), st.booleans(), st.integers(0, 2**31))
def test_whole_units_within_the_budget(batch, unit, exact, seed):
    maskable, continues = batch
    before = maskable.clone(), continues.clone()
    generator = seeded(seed)
    units = cut_into_units(maskable, unit, continues=continues, generator=generator)
    budget = torch.tensor([prediction_budget(len(r), 0.3, cap=6) for r in maskable]) if exact else None
    selected = select_units(units, probability=0.3, budget=budget, generator=generator)

    assert torch.equal(maskable, before[0]) and torch.equal(continues, before[1])
    assert selected.shape == units.shape == maskable.shape
    assert torch.equal(units > 0, maskable)
    assert not (selected & ~maskable).any()
    counted = 0
    for b, (numbers, picked) in enumerate(zip(units.tolist(), selected.tolist(), strict=True)):
        present = sorted({*numbers} - {0})
        assert present == list(range(counted + 1, counted + 1 + len(present))), "counted on from row to row"
        counted += len(present)
        members = [[i for i, n in enumerate(numbers) if n == unit_number] for unit_number in present]
        assert all(where == list(range(where[0], where[-1] + 1)) for where in members), "units are contiguous"
        words = words_of(maskable[b].tolist(), continues[b].tolist())
        if unit == "word":
            assert members == words
        if unit == "span":
            for where in members:
                inside = [word for word in words if word[0] in where]
                assert list(chain.from_iterable(inside)) == where and 1 <= len(inside) <= 10
        for where in members if unit == "token" else members + words:
            assert len({picked[i] for i in where}) == 1, "half-open"
        if budget is not None:
            left = int(budget[b]) - sum(picked)
            assert left >= 0
            assert all(picked[where[0]] or len(where) > left for where in members), "a unit would have fitted"


def test_a_span_ends_at_a_special_token():
    maskable = torch.tensor([[False, *[True] * 9, False, *[True] * 9, False]])
    continues = torch.zeros_like(maskable)
    for seed in range(50):
        units = cut_into_units(maskable, "span", continues=continues, generator=seeded(seed))
        assert units[0, 9] < units[0, 11]
        assert (units[~maskable] == 0).all()


@pytest.mark.parametrize(("p", "longest"), [(0.2, 10), (0.5, 4), (1.0, 3)])
def test_span_lengths_are_geometric_truncated_and_renormalised(p, longest):
    maskable = torch.ones(1, MILLION, dtype=torch.bool)
    units = cut_into_units(
        maskable,
        "span",
        continues=torch.zeros_like(maskable),
        p=p,
        max_words=longest,
        generator=seeded(),
    )
    lengths = units[0].bincount()[1:-1]  # the end of the row cuts the last one
    weights = [p * (1 - p) ** (k - 1) for k in range(1, longest + 1)]
    for k, weight in enumerate(weights, 1):
        assert_share(int((lengths == k).sum()), len(lengths), weight / sum(weights))
    assert int(lengths.max()) <= longest
    if p == 0.2:
        assert lengths.double().mean() == pytest.approx(3.797, abs=0.02)  # 4.46 clipped, 5.0 without limit


def test_words_and_spans_need_to_know_where_words_are():
    with pytest.raises(ValueError, match="continues"):
        cut_into_units(torch.ones(1, 4, dtype=torch.bool), "word")
    with pytest.raises(ValueError, match="'piece'"):
        cut_into_units(torch.ones(1, 4, dtype=torch.bool), "piece")
    with pytest.raises(ValueError, match="p=0"):
        cut_into_units(torch.ones(1, 4, dtype=torch.bool), "span", continues=torch.zeros(1, 4) > 0, p=0)


# ---- selection -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["token", "word", "span"])
def test_every_unit_is_picked_with_the_probability(unit):
    generator = seeded(1)
    continues = torch.rand(2000, 500, generator=generator) < 0.25
    maskable = torch.rand(2000, 500, generator=generator) < 0.99
    units = cut_into_units(maskable, unit, continues=continues, generator=generator)
    selected = select_units(units, generator=generator)
    first = maskable & (units != torch.nn.functional.pad(units, (1, 0), value=-2)[:, :-1])
    assert_share(int((selected & first).sum()), int(first.sum()), 0.15)
    sizes = units[maskable].bincount().double()
    spread = math.sqrt(float((sizes**2).sum()) * 0.15 * 0.85)
    assert abs(int(selected.sum()) - 0.15 * int(maskable.sum())) <= 4 * spread
    if unit == "token":
        columns = selected.sum(0)  # no position is favoured: each of 500 is a binomial of about 1,980
        assert (columns - 1980 * 0.15).abs().max() < 5 * math.sqrt(1980 * 0.15 * 0.85)


@pytest.mark.parametrize(
    ("length", "cap", "wanted"), [(10, None, 2), (3, None, 1), (512, 20, 20), (512, None, 77)]
)
def test_an_exact_budget_is_spent_to_the_last_token(length, cap, wanted):
    budget = torch.full((64,), prediction_budget(length, cap=cap))
    units = cut_into_units(torch.ones(64, length, dtype=torch.bool))
    selected = select_units(units, budget=budget, generator=seeded())
    assert selected.sum(1).tolist() == [wanted] * 64


@pytest.mark.parametrize(
    ("length", "wanted"), [(0, 1), (1, 1), (10, 2), (30, 4), (50, 8), (128, 19), (512, 20)]
)
def test_the_budget_rounds_as_python_does(length, wanted):
    assert prediction_budget(length) == wanted  # 30·0.15 = 4.5 → 4: halves go to the even number


def test_an_exact_budget_favours_no_word():
    maskable, continues = (
        torch.ones(20_000, 20, dtype=torch.bool),
        torch.arange(20).expand(20_000, 20) % 2 == 1,
    )
    units = cut_into_units(maskable, "word", continues=continues)
    selected = select_units(units, budget=torch.full((20_000,), 5), generator=seeded())
    assert selected.sum(1).unique().tolist() == [4], "two words of two pieces, a fifth piece fits no word"
    for count in selected[:, ::2].sum(0).tolist():
        assert_share(count, 20_000, 0.2)


def test_a_word_larger_than_the_budget_gives_way_to_one_that_fits():
    maskable = torch.ones(200, 5, dtype=torch.bool)
    continues = torch.tensor([[False, True, True, True, False]]).expand(200, 5)
    units = cut_into_units(maskable, "word", continues=continues)
    selected = select_units(units, budget=torch.ones(200, dtype=torch.long), generator=seeded())
    assert selected.tolist() == [[False] * 4 + [True]] * 200


def test_nothing_to_pick_from():
    for shape in [(0, 7), (3, 0), (0, 0)]:
        empty = torch.zeros(shape, dtype=torch.bool)
        for unit in ("token", "word", "span"):
            units = cut_into_units(empty, unit, continues=empty)
            assert select_units(units, budget=torch.ones(shape[0])).shape == shape
            masked, labels = corrupt(torch.zeros(shape).long(), empty, mask_token_id=MASK, vocab_size=V)
            assert masked.shape == labels.shape == shape
    specials = torch.zeros(2, 5, dtype=torch.bool)
    units = cut_into_units(specials, "span", continues=specials)
    assert not select_units(units, budget=torch.tensor([1, 1])).any()


@pytest.mark.parametrize("probability", [-0.1, 1.5, math.nan])
def test_a_probability_is_a_share(probability):
    with pytest.raises(ValueError, match="probability"):
        select_units(torch.zeros(1, 1, dtype=torch.long), probability=probability)


# ---- corruption ------------------------------------------------------------------------------------------


def test_eighty_ten_ten():
    V = 30_522
    input_ids = torch.randint(1000, V, (1000, 1000), generator=seeded(1))
    original = input_ids.clone()
    selected = select_units(cut_into_units(torch.ones(1000, 1000) > 0), generator=seeded(2))
    masked_ids, labels = corrupt(input_ids, selected, mask_token_id=103, vocab_size=V, generator=seeded(3))

    assert torch.equal(input_ids, original)
    assert torch.equal(labels, torch.where(selected, input_ids, -100))
    assert torch.equal(masked_ids[~selected], input_ids[~selected])
    n, hidden, kept = (
        int(selected.sum()),
        masked_ids[selected] == 103,
        masked_ids[selected] == input_ids[selected],
    )
    assert_share(n, MILLION, 0.15)
    assert_share(int(hidden.sum()), n, 0.8 + 0.1 / V)
    assert_share(int(kept.sum()), n, 0.1 + 0.1 / V)
    drawn = masked_ids[selected][~hidden & ~kept].double()
    assert_share(len(drawn), n, 0.1)
    assert abs(drawn.mean() - V / 2) < 4 * V / math.sqrt(12 * len(drawn)), "uniform over the vocabulary"
    assert drawn.min() < 20 and drawn.max() > V - 20, "special ids and the last ones included"


def test_spans_share_a_fate_and_pieces_do_not():
    generator, input_ids = seeded(), torch.randint(1000, 30_000, (500, 400), generator=seeded(1))
    every = torch.ones_like(input_ids, dtype=torch.bool)
    units = cut_into_units(every, "span", continues=~every, generator=generator)
    selected = select_units(units, generator=generator)

    def fates(per: str) -> tuple[torch.Tensor, torch.Tensor]:
        """(N,) pieces in each picked span, and how many of them became [MASK]."""
        masked_ids, _ = corrupt(
            input_ids,
            selected,
            mask_token_id=30_522,  # no random id can be it
            vocab_size=30_522,
            per=per,
            units=units,
            generator=generator,
        )
        number = units[selected]
        sizes = number.bincount()
        return sizes[sizes > 0], number.bincount((masked_ids == 30_522)[selected].double())[sizes > 0]

    sizes, hidden = fates("span")
    assert ((hidden == 0) | (hidden == sizes)).all()
    assert_share(int((hidden > 0).sum()), len(sizes), 0.8)
    sizes, hidden = fates("piece")
    assert ((hidden > 0) & (hidden < sizes)).any()


def test_the_mix_can_be_another():
    ids, every = torch.full((1, 1000), 50), torch.ones(1, 1000, dtype=torch.bool)
    masked, _ = corrupt(ids, every, mask_token_id=MASK, vocab_size=V, mix=(1.0, 0.0))
    assert (masked == MASK).all()
    masked, labels = corrupt(ids, every, mask_token_id=MASK, vocab_size=V, mix=(0.0, 0.0))
    assert torch.equal(masked, ids) and torch.equal(labels, ids)
    with pytest.raises(ValueError, match="mix"):
        corrupt(ids, every, mask_token_id=MASK, vocab_size=V, mix=(0.8, 0.3))
    with pytest.raises(ValueError, match="units"):
        corrupt(ids, every, mask_token_id=MASK, vocab_size=V, per="span")


# ---- tokenizers ------------------------------------------------------------------------------------------


def byte_pairs(**special: str) -> PreTrainedTokenizerFast:
    """A tokenizer whose pieces carry no `##`: a, b, ab, and what it calls special."""
    model = Tokenizer(BPE({"<pad>": 0, "<mask>": 1, "<s>": 2, "a": 3, "b": 4, "ab": 5}, [("a", "b")]))
    model.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=model, **special)


def test_tables_of_a_vocabulary(tokenizer):
    assert continuation_table(tokenizer).nonzero().flatten().tolist() == list(range(65, 100))
    assert special_table(tokenizer).nonzero().flatten().tolist() == [PAD, UNK, CLS, SEP, MASK]


def test_a_tokenizer_without_wordpiece_is_refused_or_needs_word_ids():
    tokenizer = byte_pairs(pad_token="<pad>", mask_token="<mask>", cls_token="<s>")
    rows = [{"input_ids": [2, 5, 3, 4, 3]}]
    with pytest.raises(ValueError, match="word_ids"):
        MaskingCollator(tokenizer, unit="word")(rows)
    assert (MaskingCollator(tokenizer)(rows)["labels"][:, 0] == -100).all()

    rows = [{"input_ids": [2, 5, 3, 4, 3], "word_ids": [None, 0, 0, 0, 1]}]
    collate = MaskingCollator(tokenizer, unit="word", probability=0.5, generator=seeded())
    seen = {tuple((collate(rows)["labels"][0] != -100).tolist()) for _ in range(60)}
    assert seen == {(False, a, a, a, b) for a in (False, True) for b in (False, True)}
    table = ArrowRows(datasets.Dataset.from_list(rows)).__getitems__([0])
    assert {tuple((collate(table)["labels"][0] != -100).tolist()) for _ in range(60)} == seen


@pytest.mark.parametrize("missing", ["mask", "pad"])
def test_a_tokenizer_without_mask_or_padding_is_refused(missing):
    special = {"pad_token": "<pad>", "mask_token": "<mask>"}
    del special[f"{missing}_token"]
    with pytest.raises(ValueError, match=f"no {missing} token"):
        MaskingCollator(byte_pairs(**special))


# ---- the collator ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["token", "word", "span"])
@pytest.mark.parametrize("budget", ["bernoulli", "exact"])
def test_a_batch(tokenizer, unit, budget):
    rows = [
        row(n, seed=n, sep=n // 2 if n > 4 else None) | {"next_sentence_label": n % 2}
        for n in (0, 1, 2, 9, 40)
    ]
    kept = [
        {name: value if isinstance(value, int) else list(value) for name, value in r.items()} for r in rows
    ]
    collate = MaskingCollator(tokenizer, unit=unit, budget=budget, generator=seeded())
    words = continuation_table(tokenizer)
    picked = 0
    for _ in range(30):
        batch = collate(rows)
        assert rows == kept
        assert {name: tuple(value.shape) for name, value in batch.items()} == {
            "input_ids": (5, 40),
            "token_type_ids": (5, 40),
            "attention_mask": (5, 40),
            "labels": (5, 40),
            "next_sentence_label": (5,),
        }
        assert all(value.dtype == torch.long for value in batch.values())
        assert batch["next_sentence_label"].tolist() == [0, 1, 0, 1, 0]
        selected = batch["labels"] != -100
        for b, source in enumerate(rows):
            ids, n = source["input_ids"], len(source["input_ids"])
            original = torch.where(selected[b], batch["labels"][b], batch["input_ids"][b]).tolist()
            assert original == ids + [PAD] * (40 - n)
            assert batch["attention_mask"][b].tolist() == [1] * n + [0] * (40 - n)
            assert batch["token_type_ids"][b].tolist() == source["token_type_ids"] + [0] * (40 - n)
            assert not any(selected[b, i] for i in range(40) if original[i] < 5), "a special token or padding"
            if budget == "exact":
                assert int(selected[b].sum()) <= prediction_budget(n)
                if unit == "token" and n > 2:
                    assert int(selected[b].sum()) == prediction_budget(n)
            if unit != "token":
                hideable = [i >= 5 for i in original]
                for word in words_of(hideable, words[original].tolist()):
                    assert len({bool(selected[b, i]) for i in word}) == 1
        picked += int(selected.sum())
    assert picked > 0


@pytest.mark.parametrize("unit", ["token", "word", "span"])
@pytest.mark.parametrize("budget", ["bernoulli", "exact"])
def test_a_batch_of_empty_rows_is_empty(tokenizer, unit, budget):
    rows = [row(0), row(0)]
    for form in (rows, ArrowRows(datasets.Dataset.from_list(rows)).__getitems__([0, 1])):
        batch = MaskingCollator(tokenizer, unit=unit, budget=budget)(form)
        assert {value.shape for value in batch.values()} == {(2, 0)}


def test_the_generator_decides_and_epochs_differ(tokenizer):
    rows = [row(60, seed) for seed in range(8)]
    for unit in ("token", "word", "span"):
        torch.manual_seed(0)
        one, two = (MaskingCollator(tokenizer, unit=unit, generator=seeded(5)) for _ in range(2))
        first = one(rows)["labels"]
        torch.manual_seed(1)
        assert torch.equal(first, two(rows)["labels"])
        assert not torch.equal(first, one(rows)["labels"]), "the next epoch hides others"
        assert not torch.equal(
            first, MaskingCollator(tokenizer, unit=unit, generator=seeded(6))(rows)["labels"]
        )


def test_lists_arrays_tensors_and_arrow_give_the_same_batch(tokenizer):
    rows = [row(n, n, sep=n // 2) | {"next_sentence_label": n % 2} for n in (7, 30, 12)]
    dataset = datasets.Dataset.from_list(rows)
    forms = [
        rows,
        dataset.with_format("numpy").__getitems__([0, 1, 2]),
        dataset.with_format("torch").__getitems__([0, 1, 2]),
        ArrowRows(dataset).__getitems__([0, 1, 2]),
        ArrowRows(dataset.select([2, 1, 0])).__getitems__([2, 1, 0]),
        [ArrowRows(dataset)[i] for i in range(3)],
    ]
    expected, *others = [MaskingCollator(tokenizer, unit="span", generator=seeded())(form) for form in forms]
    for batch in others:
        assert batch.keys() == expected.keys()
        assert all(torch.equal(batch[name], expected[name]) for name in batch)


def test_a_given_special_tokens_mask_is_followed(tokenizer):
    rows = [{"input_ids": [10, 11, 12, 13], "special_tokens_mask": [0, 1, 1, 0]}]
    batch = MaskingCollator(tokenizer, probability=1.0)(rows)
    assert batch["labels"].tolist() == [[10, -100, -100, 13]]
    assert batch.keys() == {"input_ids", "attention_mask", "labels"}


def test_the_width_can_be_rounded_up(tokenizer):
    batch = MaskingCollator(tokenizer, pad_to_multiple_of=8)([row(13), row(5)])
    assert batch["input_ids"].shape == (2, 16)
    assert (batch["labels"][:, 13:] == -100).all()


def test_bad_rows_get_a_sentence(tokenizer):
    tokenizer = BertTokenizer(vocab=tokenizer.get_vocab(), model_max_length=512)
    collate = MaskingCollator(tokenizer)
    good = row(6)
    with pytest.raises(ValueError, match="empty batch"):
        collate([])
    with pytest.raises(ValueError, match="513 tokens"):
        collate([good, row(513)])
    assert collate([row(512)])["labels"].shape == (1, 512)
    assert MaskingCollator(tokenizer, max_length=600)([row(513)])["labels"].shape == (1, 513)
    with pytest.raises(ValueError, match="text"):
        collate([good | {"text": "no number"}])
    with pytest.raises(ValueError, match="input_ids"):
        collate([{"attention_mask": [1]}])
    with pytest.raises(ValueError, match="same columns"):
        collate([good, {"input_ids": [CLS, SEP]}])
    with pytest.raises(ValueError, match="token_type_ids"):
        collate([good | {"token_type_ids": [0]}])
    with pytest.raises(ValueError, match="labels"):
        collate([good | {"labels": [0] * 6}])
    for option in ({"unit": "sentence"}, {"budget": "tight"}, {"probability": 2}):
        with pytest.raises(ValueError, match=next(iter(option))):
            MaskingCollator(tokenizer, **option)


@pytest.mark.parametrize("workers", [0, 2])
def test_in_a_data_loader(tokenizer, workers):
    dataset = ArrowRows(datasets.Dataset.from_list([row(50)] * 16))  # the same row: only masks can differ
    loader = DataLoader(
        dataset, batch_size=4, num_workers=workers, collate_fn=MaskingCollator(tokenizer, generator=seeded())
    )
    epochs = [[batch["labels"] for batch in loader] for _ in range(2)]
    seen = {tuple(labels.flatten().tolist()) for epoch in epochs for labels in epoch}
    assert len(seen) == 8, "no two batches, workers or epochs hide the same"


def test_in_a_trainer(tokenizer, tmp_path):
    rows = [row(n % 20 + 8, n, sep=5) | {"next_sentence_label": n % 2} for n in range(12)]
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=V, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    trainer = Trainer(
        BertForPreTraining(config),
        TrainingArguments(tmp_path, max_steps=3, per_device_train_batch_size=4, report_to=[], use_cpu=True),
        train_dataset=datasets.Dataset.from_list(rows),
        data_collator=MaskingCollator(tokenizer, unit="span", budget="exact", generator=seeded()),
    )
    loss = trainer.train().training_loss
    assert loss == pytest.approx(math.log(V) + math.log(2), abs=0.5)


def test_neighbouring_spans_lie_side_by_side():
    """Tiles leave no word out and count up from the left."""
    maskable = torch.ones(3, 30, dtype=torch.bool)
    numbers = cut_into_units(maskable, "span", continues=~maskable, generator=seeded()).flatten().tolist()
    assert numbers[0] == 1
    assert all(b - a in (0, 1) for a, b in pairwise(numbers))
    assert numbers[30] != numbers[29] and numbers[60] != numbers[59], "no unit goes on in the next row"
