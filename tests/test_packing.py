"""Rows and batches: truncation, segment ids, padding, packing, batches of similar length."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertTokenizer

from insidebert.packing import length_batches, pack_documents, pack_pair, pad_batch

IDS = {"cls_id": 101, "sep_id": 102}


def test_a_pair_and_a_single_segment() -> None:
    assert pack_pair([5, 6], [7], max_length=9, **IDS) == {
        "input_ids": [101, 5, 6, 102, 7, 102],
        "token_type_ids": [0, 0, 0, 0, 1, 1],
        "attention_mask": [1] * 6,
    }
    assert pack_pair([5, 6], None, max_length=9, **IDS) == {
        "input_ids": [101, 5, 6, 102],
        "token_type_ids": [0] * 4,
        "attention_mask": [1] * 4,
    }


@given(a=st.integers(0, 40), b=st.integers(0, 40) | st.none(), max_length=st.integers(3, 60))
def test_truncation_takes_from_the_longer_segment_and_from_b_on_a_tie(
    a: int, b: int | None, max_length: int
) -> None:
    left, right = list(range(1000, 1000 + a)), None if b is None else list(range(2000, 2000 + b))
    row = pack_pair(left, right, max_length=max_length, **IDS)
    kept_a = [t for t in row["input_ids"] if 1000 <= t < 2000]
    kept_b = [t for t in row["input_ids"] if t >= 2000]
    assert kept_a == left[: len(kept_a)] and kept_b == (right or [])[: len(kept_b)]
    if b is None:
        assert len(kept_a) == min(a, max_length - 2)
    else:
        assert len(kept_a) + len(kept_b) == min(a + b, max_length - 3)
        if len(kept_a) < a:
            assert len(kept_a) >= len(kept_b)
        if len(kept_b) < b:
            assert len(kept_b) in (len(kept_a), len(kept_a) - 1) or len(kept_a) == a <= len(kept_b)
    assert len(left) == a  # the caller's list is untouched
    assert len(row["input_ids"]) == len(row["token_type_ids"]) == len(row["attention_mask"])
    assert sum(row["token_type_ids"]) == (0 if b is None else len(kept_b) + 1)


def test_a_row_without_room_for_its_special_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="max_length"):
        pack_pair([1], [2], max_length=2, **IDS)
    with pytest.raises(ValueError, match="max_length"):
        pack_pair([1], None, max_length=1, **IDS)


def test_a_row_of_no_tokens_and_one_far_over_512() -> None:
    assert pack_pair([], None, max_length=8, **IDS)["input_ids"] == [101, 102]
    row = pack_pair(range(1000, 3000), range(4000, 7000), max_length=512, **IDS)
    assert len(row["input_ids"]) == 512
    assert sum(row["token_type_ids"]) == 255  # 254 of B, one fewer than of A, and its [SEP]


def test_packing_equals_the_tokenizer_of_transformers(tmp_path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *[f"w{i}" for i in range(50)]]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    tokenizer = BertTokenizer(vocab=str(tmp_path / "vocab.txt"))
    rng = random.Random(0)
    rows, texts = [], []
    for _ in range(20):
        a, b = ([rng.randint(5, 54) for _ in range(rng.randint(1, 12))] for _ in range(2))
        rows.append(pack_pair(a, b, cls_id=2, sep_id=3, max_length=64))
        texts.append((tokenizer.decode(a), tokenizer.decode(b)))
    expected = tokenizer([a for a, _ in texts], [b for _, b in texts], padding=True, return_tensors="pt")
    for name, value in pad_batch(rows, pad_id=0).items():
        assert value.dtype == torch.long
        assert torch.equal(value, expected[name]), name


def test_padding_has_mask_and_segment_zero() -> None:
    batch = pad_batch(
        [pack_pair([5], [6, 7], max_length=9, **IDS), pack_pair([], None, max_length=9, **IDS)], 9
    )
    assert batch["input_ids"].tolist()[1] == [101, 102, 9, 9, 9, 9]
    assert batch["attention_mask"].tolist()[1] == [1, 1, 0, 0, 0, 0]
    assert batch["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 1], [0] * 6]


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        pad_batch([], 0)


@given(st.lists(st.integers(0, 70), max_size=30))
def test_documents_share_rows_in_order_and_lose_nothing(lengths: list[int]) -> None:
    numbers = iter(range(1000, 10**6))
    documents = [[next(numbers) for _ in range(length)] for length in lengths]
    rows = pack_documents(documents, cls_id=101, sep_id=102, max_length=32)
    assert all(3 <= len(row["input_ids"]) <= 32 and row["input_ids"][0] == 101 for row in rows)
    assert [t for row in rows for t in row["input_ids"] if t >= 1000] == [t for d in documents for t in d]
    short = [
        row["input_ids"]
        for row in pack_documents([[1], [2, 3], [], [4]], cls_id=101, sep_id=102, max_length=8)
    ]
    assert short == [[101, 1, 102, 2, 3, 102, 4, 102]]


def test_a_row_too_small_for_a_document_is_refused() -> None:
    with pytest.raises(ValueError, match="max_length"):
        pack_documents([[1]], cls_id=101, sep_id=102, max_length=2)


def test_batches_hold_every_row_once_and_waste_little() -> None:
    rng = random.Random(0)
    lengths = [min(128, int(rng.lognormvariate(3.3, 0.7)) + 3) for _ in range(5000)]
    batches = list(length_batches(lengths, 16, random.Random(1)))
    assert sorted(i for batch in batches for i in batch) == list(range(5000))
    assert max(map(len, batches)) == 16

    def padding(batches: list[list[int]]) -> float:
        read = sum(len(batch) * max(lengths[i] for i in batch) for batch in batches)
        return 1 - sum(lengths) / read

    plain = list(range(5000))
    assert padding([plain[i : i + 16] for i in range(0, 5000, 16)]) > 0.4
    assert padding(batches) < 0.06


def test_batches_differ_between_epochs_and_come_in_random_order() -> None:
    lengths = list(range(1000))
    rng = random.Random(1)
    one, two = list(length_batches(lengths, 10, rng)), list(length_batches(lengths, 10, rng))
    assert {frozenset(b) for b in one} != {frozenset(b) for b in two}
    longest = [max(batch) for batch in one]
    assert longest != sorted(longest)


def test_batches_of_nothing_and_of_no_rows() -> None:
    assert list(length_batches([], 8, random.Random(0))) == []
    with pytest.raises(ValueError, match="at least 1"):
        list(length_batches([3, 4], 0, random.Random(0)))
