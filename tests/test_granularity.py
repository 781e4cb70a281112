"""What a hidden piece gives away: probes, blanks and scores are what they say."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from transformers import BertConfig

from insidebert import granularity
from insidebert.pretraining import PretrainingModel

SENTENCES = [
    "The tokenizer reorders multidimensional arrays before the initialization of all parameters.",
    "A short one.",
    "No word of this long sentence is cut by the table of all the words.",
    "Multidimensional arrays hold the same kind of number in every one of their places.",
]


class Copies:
    """Stands for a model: it knows the whole row and says what it sees, so a blank is never right."""

    def __init__(self, vocab_size: int, answers: torch.Tensor | None = None) -> None:
        self.token_table = torch.zeros(vocab_size, 1)
        self.answers = answers

    def predict(self, input_ids: torch.Tensor, positions: torch.Tensor, **_: Any) -> torch.Tensor:
        return torch.nn.functional.one_hot(input_ids[positions], len(self.token_table)).float()


def test_a_probe_is_a_long_word_and_as_many_others(tokenizer: Any) -> None:
    found = granularity.probes(SENTENCES, tokenizer, random.Random(0))
    assert len(found) == 2  # the second sentence is short, the third has no word of three pieces
    for case in found:
        names = tokenizer.convert_ids_to_tokens(case.input_ids)
        assert len(case.word) >= 3 and case.position in case.word
        assert not names[case.word[0]].startswith("##")
        assert all(names[i].startswith("##") for i in case.word[1:])
        assert not names[case.word[-1] + 1].startswith("##")
        assert len(case.elsewhere) == len(case.word) - 1
        assert set(case.elsewhere).isdisjoint(case.word)
        assert all(0 < i < len(names) - 1 for i in case.elsewhere)
    assert granularity.probes(SENTENCES, tokenizer, random.Random(0)) == found
    with pytest.raises(ValueError, match="at most 3 ids"):
        granularity.probes(SENTENCES, tokenizer, random.Random(0), longest=3)


def test_half_open_words_are_counted_once() -> None:
    words = torch.tensor([[0, 1, 1, 1, 2, 3, 3, 0]])
    for hidden, expected in [
        ([0, 0, 0, 0, 0, 0, 0, 0], 0),
        ([0, 1, 1, 0, 0, 0, 0, 0], 1),
        ([0, 1, 1, 1, 1, 0, 1, 0], 1),
        ([0, 0, 1, 0, 1, 1, 0, 0], 2),
    ]:
        assert granularity.half_open(torch.tensor([hidden], dtype=torch.bool), words) == expected


def test_words_are_counted_by_their_length() -> None:
    words = torch.tensor([[0, 1, 1, 1, 2, 3, 3, 0], [0, 4, 5, 5, 5, 5, 5, 5]])
    hidden = torch.tensor([[0, 1, 0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 1, 1, 1, 1]], dtype=torch.bool)
    table = granularity.words_by_length(words, hidden)
    assert table[1] == {"words": 2, "hidden": 1, "half_open": 0}
    assert table[2] == {"words": 1, "hidden": 1, "half_open": 0}
    assert table[3] == {"words": 1, "hidden": 0, "half_open": 1}
    assert table[4] == {"words": 0, "hidden": 0, "half_open": 0}
    assert table[5] == {"words": 1, "hidden": 1, "half_open": 0}  # and longer
    assert sum(row["half_open"] for row in table.values()) == granularity.half_open(hidden, words)


def test_what_is_hidden_is_hidden(tokenizer: Any) -> None:
    """A model that repeats what it reads sees [MASK] at every target, in all three ways of hiding."""
    cases = granularity.probes(SENTENCES, tokenizer, random.Random(0))
    accuracy = granularity.siblings_experiment(Copies(len(tokenizer)), tokenizer, cases)  # type: ignore[arg-type]
    assert accuracy == {"alone": 0.0, "elsewhere": 0.0, "whole word": 0.0}


def test_scores_belong_to_their_rows(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows left as they are, in several batches: the model that repeats what it reads is always right."""
    monkeypatch.setattr(granularity, "ROWS", 2)
    ids, mask = granularity.rows_of(SENTENCES, tokenizer, longest=48)
    positions = granularity.units_of(ids, tokenizer) > 0
    model: Any = Copies(len(tokenizer))
    found = granularity.score(model, ids, mask, positions, ids[positions])
    assert found["top1"] == 1.0
    assert found["loss"] == pytest.approx(
        torch.tensor(1 + (len(tokenizer) - 1) / torch.e).log().item(), rel=1e-5
    )


def test_units_differ_in_what_they_leave_half_open(tokenizer: Any) -> None:
    model: Any = Copies(len(tokenizer))
    shown = {
        unit: granularity.unit_experiment(model, tokenizer, SENTENCES * 40, unit)
        for unit in ("token", "word", "span")
    }
    assert shown["token"]["half_open"] > 0 == shown["word"]["half_open"] == shown["span"]["half_open"]
    for found in shown.values():
        assert found["share"] == pytest.approx(0.15, abs=0.04)
        assert found["top1"] == 0.0


def test_guesses_are_in_the_order_of_the_blanks(tokenizer: Any) -> None:
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    model = PretrainingModel(BertConfig(vocab_size=len(tokenizer), initializer_range=0.5, **shape)).eval()
    ids = tokenizer("the array is long")["input_ids"]
    forth = granularity.fill_blanks(model, tokenizer, ids, [1, 4])
    assert granularity.fill_blanks(model, tokenizer, ids, [4, 1]) == forth[::-1] != forth
    assert all(len(best) == 3 and 0 < best[2][1] <= best[1][1] <= best[0][1] <= 1 for best in forth)
    assert granularity.fill_blanks(model, tokenizer, ids, []) == []
    changed = [*ids[:4], 7, ids[5]]  # what stood under a blank does not matter
    assert granularity.fill_blanks(model, tokenizer, changed, [1, 4]) == forth
    with pytest.raises(ValueError, match="position table"):
        granularity.fill_blanks(model, tokenizer, [5] * 600, [1])
