"""Passages cut down to the sentences nearest to their questions: what stays, and where the answers go."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot
from transformers.modeling_outputs import BaseModelOutput

from insidebert.shortlist import sentence_spans, sentence_vectors, shortlist

CONTEXT = (
    'The mill is old.  Ada keeps the lighthouse! "Who else?" Nobody knows; the sea does not tell. It rains.'
)


class BagOfPieces(nn.Module):
    """An encoder that knows nothing but which pieces stand in a text: like is what shares pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, input_ids: torch.Tensor, **others: Any) -> BaseModelOutput:
        assert not self.training
        return BaseModelOutput(last_hidden_state=one_hot(input_ids, 30522).float())


@pytest.fixture
def encoder() -> nn.Module:
    return BagOfPieces()


def row(*answers: str, question: str = "Who keeps the lighthouse?") -> dict[str, Any]:
    starts = [CONTEXT.index(answer) for answer in answers]
    return {
        "id": "mill-1",
        "context": CONTEXT,
        "question": question,
        "answers": {"text": list(answers), "answer_start": starts},
    }


def where_they_say(row: dict[str, Any]) -> bool:
    places = zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True)
    return all(row["context"][start : start + len(text)] == text for text, start in places)


def test_sentences_lie_end_to_end() -> None:
    texts = [CONTEXT[a:b] for a, b in sentence_spans(CONTEXT)]
    assert "".join(texts) == CONTEXT
    assert [text.strip() for text in texts][:3] == [
        "The mill is old.",
        "Ada keeps the lighthouse!",
        '"Who else?"',
    ]
    assert sentence_spans("no end") == [(0, 6)]


def test_a_vector_is_the_mean_of_real_pieces_alone(tokenizer: Any, encoder: nn.Module) -> None:
    alone = sentence_vectors(["Ada"], tokenizer, encoder)
    padded = sentence_vectors(["Ada", "a much longer text than that"], tokenizer, encoder)
    torch.testing.assert_close(padded[:1], alone)
    torch.testing.assert_close(padded.norm(dim=1), torch.ones(2))
    assert alone[0, 0] == 0  # [PAD] is counted nowhere
    with pytest.raises(ValueError, match="no texts"):
        sentence_vectors([], tokenizer, encoder)


def test_the_nearest_sentences_stay_in_their_order(tokenizer: Any, encoder: nn.Module) -> None:
    [one] = shortlist([row("Ada")], tokenizer, encoder, keep=1)
    assert one["context"].strip() == "Ada keeps the lighthouse!" and where_they_say(one)
    [two] = shortlist([row("It", question="It rains. Who is old?")], tokenizer, encoder, keep=2)
    assert " ".join(two["context"].split()) == "The mill is old. It rains." and where_they_say(two)
    [all_of_it] = shortlist([row("Ada", "Nobody")], tokenizer, encoder, keep=9)
    assert all_of_it == row("Ada", "Nobody")


@pytest.mark.parametrize("answer", ["It rains", "sea", "old.  Ada keeps", "Ada keeps the lighthouse"])
@pytest.mark.parametrize("keep", [1, 2, 3])
def test_in_training_the_answer_stays(tokenizer: Any, encoder: nn.Module, answer: str, keep: int) -> None:
    [kept] = shortlist([row(answer)], tokenizer, encoder, keep=keep, keep_answer=True)
    assert kept["answers"]["text"] == [answer] and where_they_say(kept)


def test_an_answer_goes_with_its_sentence(tokenizer: Any, encoder: nn.Module) -> None:
    before = row("It rains", "Ada")
    [cut] = shortlist([before], tokenizer, encoder, keep=1)
    assert cut["answers"]["text"] == ["Ada"] and where_they_say(cut)
    assert before == row("It rains", "Ada")  # the row itself is as it was
    [none] = shortlist([row()], tokenizer, encoder, keep=1, keep_answer=True)
    assert none["answers"] == {"text": [], "answer_start": []}


def test_nothing_to_keep_is_refused(tokenizer: Any, encoder: nn.Module) -> None:
    with pytest.raises(ValueError, match="keep is 0"):
        shortlist([row()], tokenizer, encoder, keep=0)
