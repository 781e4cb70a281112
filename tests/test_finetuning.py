"""Heads against transformers' own, aligned labels, windows, the training step and what several runs report."""

from __future__ import annotations

import copy
import random
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

from insidebert.features import (
    align_labels,
    answer_windows,
    batches,
    collate,
    sentence_features,
    word_features,
)
from insidebert.finetuning import (
    PUBLISHED_GRID,
    Recipe,
    SequenceHead,
    SpanHead,
    TaskModel,
    TokenHead,
    fine_tune,
    keep_tables,
    make_optimizer,
    over_seeds,
    predict,
    relative_movement,
    train_step,
    warmup_then_decay,
)

H, L = 16, 3


def config(**changes: Any) -> BertConfig:
    shape = {"vocab_size": 30522, "hidden_size": H, "num_hidden_layers": 2, "num_attention_heads": 2}
    return BertConfig(**shape, intermediate_size=32, **changes)


def tiny(head: nn.Module, **options: Any) -> TaskModel:
    torch.manual_seed(0)
    return TaskModel(BertModel(config(), add_pooling_layer=False), head, **options)


@pytest.fixture
def batch() -> dict[str, torch.Tensor]:
    torch.manual_seed(1)
    mask = torch.ones(4, 9, dtype=torch.long)
    mask[1, 6:] = 0
    segments = torch.zeros(4, 9, dtype=torch.long)
    segments[:, 5:] = 1
    ids = torch.randint(1000, 30000, (4, 9))
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}


# --- heads: equal to transformers' own with the same weights --------------------------------------------------


def test_sequence_head_equals_transformers(batch: dict[str, torch.Tensor]) -> None:
    reference = BertForSequenceClassification(config(num_labels=L)).eval()
    model = TaskModel(reference.bert, SequenceHead(H, L, pooler=reference.bert.pooler)).eval()
    model.head.classifier.load_state_dict(reference.classifier.state_dict())
    targets = {"labels": torch.tensor([0, 2, 1, 1])}
    assert_same(model(**batch, **targets), reference(**batch, **targets))


def test_token_head_equals_transformers(batch: dict[str, torch.Tensor]) -> None:
    reference = BertForTokenClassification(config(num_labels=L)).eval()
    model = TaskModel(reference.bert, TokenHead(H, L)).eval()
    model.head.classifier.load_state_dict(reference.classifier.state_dict())
    labels = torch.randint(0, L, (4, 9)).masked_fill(batch["attention_mask"] == 0, -100)
    labels[:, 0] = -100
    assert_same(model(**batch, labels=labels), reference(**batch, labels=labels))


def test_span_head_equals_transformers(batch: dict[str, torch.Tensor]) -> None:
    reference = BertForQuestionAnswering(config()).eval()
    model = TaskModel(reference.bert, SpanHead(H)).eval()
    model.head.outputs.load_state_dict(reference.qa_outputs.state_dict())
    targets = {"start_positions": torch.tensor([0, 2, 4, 1]), "end_positions": torch.tensor([0, 3, 8, 1])}
    ours, theirs = model(**batch, **targets), reference(**batch, **targets)
    torch.testing.assert_close(ours.loss, theirs.loss, atol=1e-6, rtol=0)
    torch.testing.assert_close(ours.logits, (theirs.start_logits, theirs.end_logits), atol=1e-6, rtol=0)


def assert_same(ours: Any, theirs: Any) -> None:
    torch.testing.assert_close(ours.loss, theirs.loss, atol=1e-6, rtol=0)
    torch.testing.assert_close(ours.logits, theirs.logits, atol=1e-6, rtol=0)


def test_sequence_head_reads_position_0_alone() -> None:
    head, hidden = SequenceHead(H, L).eval(), torch.randn(2, 5, H, requires_grad=True)
    head(hidden).sum().backward()
    assert hidden.grad is not None
    assert hidden.grad[:, 0].abs().min() > 0 and hidden.grad[:, 1:].abs().max() == 0


def test_dropout_is_for_training_only() -> None:
    for head in (SequenceHead(H, L, dropout=0.5), TokenHead(H, L, dropout=0.5)):
        hidden = torch.randn(2, 5, H)
        assert not torch.equal(head.train()(hidden), head(hidden))
        assert torch.equal(head.eval()(hidden), head(hidden))


def test_token_loss_without_a_label_is_zero_and_has_a_gradient() -> None:
    logits = torch.randn(1, 4, L, requires_grad=True)
    loss = TokenHead(H, L).loss(logits, torch.full((1, 4), -100))
    loss.backward()
    assert loss == 0 and logits.grad is not None and logits.grad.abs().sum() == 0


def test_a_model_without_targets_gives_scores_alone(batch: dict[str, torch.Tensor]) -> None:
    output = tiny(SequenceHead(H, L)).eval()(**batch)
    assert output.loss is None and output.logits.shape == (4, L)


# --- rows to features -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word_ids", "labels", "aligned"),
    [
        ([None, 0, 0, 1, None], [3, 5], [-100, 3, -100, 5, -100]),
        ([None, 0, 1, 1, 1, 2], [1, 2, 0], [-100, 1, 2, -100, -100, 0]),  # cut before [SEP]
        ([0, None, 0], [7], [7, -100, 7]),
        ([], [], []),
    ],
)
def test_align_labels(word_ids: list[int | None], labels: list[int], aligned: list[int]) -> None:
    assert align_labels(word_ids, labels) == aligned


def test_word_features_label_each_word_once(tokenizer: Any) -> None:
    rows = [{"tokens": ["Czechoslovakia", "won", "."], "ner_tags": [5, 0, 0]}]
    [feature] = word_features(rows, tokenizer, num_labels=9)
    labelled = [label for label in feature["labels"] if label != -100]
    assert labelled == [5, 0, 0] and len(feature["labels"]) == len(feature["input_ids"])


def test_capitals_are_marked_by_the_segment_of_every_piece_of_their_word(tokenizer: Any) -> None:
    rows = [{"tokens": ["the", "Czechoslovakian", "iPod", '"', "Élite"], "ner_tags": [0] * 5}]
    [plain] = word_features(rows, tokenizer, num_labels=9)
    [marked] = word_features(rows, tokenizer, num_labels=9, capitals=True)
    pieces = tokenizer.convert_ids_to_tokens(marked["input_ids"])
    segments = dict(zip(pieces, marked["token_type_ids"], strict=True))
    assert segments == {
        "[CLS]": 0,
        "the": 0,
        "czechoslovakia": 1,
        "##n": 1,
        "ipod": 0,
        '"': 0,
        "elite": 1,
        "[SEP]": 0,
    }
    assert not any(plain["token_type_ids"])
    assert plain["input_ids"] == marked["input_ids"]


def test_long_rows_are_cut_with_their_labels(tokenizer: Any) -> None:
    rows = [{"tokens": ["one"] * 900, "ner_tags": [0] * 900, "sentence": "one " * 900, "label": 1}]
    [words] = word_features(rows, tokenizer, num_labels=2, max_length=512)
    [sentence] = sentence_features(rows, tokenizer, num_labels=2, max_length=512)
    assert len(words["input_ids"]) == len(words["labels"]) == len(sentence["input_ids"]) == 512


def test_a_row_of_one_piece_is_a_row(tokenizer: Any) -> None:
    [feature] = sentence_features([{"sentence": "Good", "label": 1}], tokenizer, num_labels=2)
    assert len(feature["input_ids"]) == 3 and feature["labels"] == 1


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"sentence": " ", "label": 0}, "empty sentence"),
        ({"sentence": "Good", "label": 2}, "label 2"),
        ({"sentence": "Good", "label": -1}, "label -1"),
    ],
)
def test_bad_sentences_are_named(tokenizer: Any, row: dict, says: str) -> None:
    with pytest.raises(ValueError, match=f"Row 1 .*{says}"):
        sentence_features([{"sentence": "Fine", "label": 0}, row], tokenizer, num_labels=2)


@pytest.mark.parametrize(
    ("words", "tags", "says"),
    [([], [], "no words"), (["a", "b"], [0], "2 words and 1 labels"), (["a"], [9], "label 9")],
)
def test_bad_word_rows_are_named(tokenizer: Any, words: list[str], tags: list[int], says: str) -> None:
    with pytest.raises(ValueError, match=f"Row 0 .*{says}"):
        word_features([{"tokens": words, "ner_tags": tags}], tokenizer, num_labels=9)


@pytest.mark.parametrize("max_length", [2, 513])
def test_rows_end_where_the_position_table_ends(tokenizer: Any, max_length: int) -> None:
    with pytest.raises(ValueError, match="position table"):
        sentence_features([{"sentence": "Fine", "label": 0}], tokenizer, num_labels=2, max_length=max_length)


def passage(length: int = 60) -> dict[str, Any]:
    context = " ".join(f"word{i}" for i in range(length))
    return {
        "context": context,
        "question": "Which one?",
        "answers": {"text": ["word40 word41"], "answer_start": [context.index("word40")]},
    }


def test_windows_overlap_and_cover_the_passage(tokenizer: Any) -> None:
    row = passage()
    windows = answer_windows([row], tokenizer, max_length=64, overlap=10)
    assert len(windows) > 2 and all(len(window["input_ids"]) <= 64 for window in windows)
    inside = [[offset for offset in window["offsets"] if offset] for window in windows]
    for earlier, later in pairwise(inside):
        assert earlier[-10:] == later[:10]
    covered = {i for window in inside for start, end in window for i in range(start, end)}
    assert covered == {i for i, character in enumerate(row["context"]) if character != " "}


def test_targets_point_at_the_answer_or_at_cls(tokenizer: Any) -> None:
    row = passage()
    windows = answer_windows([row], tokenizer, max_length=64, overlap=30)
    held = [window for window in windows if window["start_positions"]]
    assert 0 < len(held) < len(windows)
    for window in windows:
        first, last = window["start_positions"], window["end_positions"]
        if window in held:
            text = row["context"][window["offsets"][first][0] : window["offsets"][last][1]]
            assert text == "word40 word41"
        else:
            assert (first, last) == (0, 0)


def test_an_unanswerable_question_points_at_cls(tokenizer: Any) -> None:
    row = {**passage(), "answers": {"text": [], "answer_start": []}}
    [window] = answer_windows([row], tokenizer, max_length=512)
    assert (window["start_positions"], window["end_positions"]) == (0, 0)


def test_an_overlap_that_leaves_no_step_is_refused(tokenizer: Any) -> None:
    for overlap in (58, 64, -1):
        with pytest.raises(ValueError, match="overlap"):
            answer_windows([passage()], tokenizer, max_length=64, overlap=overlap)
    with pytest.raises(ValueError, match="leaves"):
        answer_windows([{**passage(), "question": "why " * 70}], tokenizer, max_length=64, overlap=0)


def test_an_answer_that_is_not_there_is_refused(tokenizer: Any) -> None:
    row = passage()
    row["answers"]["answer_start"] = [3]
    with pytest.raises(ValueError, match="Row 0: at character 3"):
        answer_windows([row], tokenizer)
    with pytest.raises(ValueError, match="empty question or passage"):
        answer_windows([{**passage(), "question": ""}], tokenizer)


def features(lengths: list[int], **targets: Any) -> list[dict[str, Any]]:
    rng = random.Random(0)
    return [
        {
            "input_ids": [rng.randrange(1000, 30000) for _ in range(S)],
            "token_type_ids": [0] * S,
            "attention_mask": [1] * S,
            **{name: value(S) for name, value in targets.items()},
        }
        for S in lengths
    ]


def test_collate_pads_inputs_and_labels() -> None:
    batch = collate(features([5, 3], labels=lambda S: [1] * S))
    assert batch["input_ids"].shape == batch["labels"].shape == (2, 5)
    assert batch["labels"][1].tolist() == [1, 1, 1, -100, -100]
    assert batch["attention_mask"].sum() == 8 and batch["input_ids"][1, 3:].tolist() == [0, 0]


def test_empty_batches_and_empty_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="no rows"):
        collate([])
    with pytest.raises(ValueError, match="Row 1 of this batch has no tokens"):
        collate(features([3, 0], labels=lambda S: 0))


def test_batches_hold_every_row_once_and_little_padding() -> None:
    rows = features([5, 60] * 40, labels=lambda S: S)
    seen = list(batches(rows, 8, random.Random(0)))
    assert sorted(label for batch in seen for label in batch["labels"].tolist()) == [5] * 40 + [60] * 40
    slots = sum(batch["input_ids"].numel() for batch in seen)
    assert slots < 1.2 * sum(len(row["input_ids"]) for row in rows)


# --- training -------------------------------------------------------------------------------------------------


def test_the_default_recipe_lies_in_the_published_grid() -> None:
    recipe = Recipe()
    assert all(getattr(recipe, name) in values for name, values in PUBLISHED_GRID.items())
    for wrong in ({"epochs": 0}, {"learning_rate": 0.0}, {"batch_size": 0}, {"warmup": 1.5}):
        with pytest.raises(ValueError, match="at least 1"):
            Recipe(**wrong)


def test_the_learning_rate_rises_and_falls() -> None:
    factors = [warmup_then_decay(step, 100, 0.1) for step in range(100)]
    assert factors[0] == 0.1 and factors[9] == 1.0 == max(factors) and factors[10] == 1.0
    assert factors[99] == pytest.approx(1 / 90) and warmup_then_decay(100, 100, 0.1) == 0
    assert warmup_then_decay(0, 100, 0.0) == 1.0


class Recorder(torch.optim.SGD):
    """Plain gradient descent that keeps the norm of the gradient it was given."""

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        self.norm = torch.sqrt(sum((p.grad**2).sum() for g in self.param_groups for p in g["params"]))
        super().step()


def test_train_step_clips_before_it_steps_and_clears_gradients() -> None:
    model = tiny(SequenceHead(H, L))
    batch = collate(features([5, 4], labels=lambda S: S % L))
    optimizer = Recorder(model.parameters(), lr=0.0)
    model.eval()
    losses = [train_step(model, batch, optimizer, max_grad_norm=0.01) for _ in range(2)]
    assert isinstance(losses[0], float) and model.training
    assert optimizer.norm == pytest.approx(0.01, rel=1e-3)
    train_step(model, batch, optimizer, max_grad_norm=1e9)
    first = optimizer.norm
    train_step(model, batch, optimizer, max_grad_norm=1e9)
    assert optimizer.norm < 1.8 * first  # gradients of two batches together would be about twice as long


def test_a_loss_that_is_not_finite_stops_before_the_step() -> None:
    model = tiny(SequenceHead(H, L))
    batch = collate(features([5], labels=lambda S: 0))
    with torch.no_grad():
        model.head.classifier.bias[0] = float("nan")
    before = copy.deepcopy(model.encoder.state_dict())
    with pytest.raises(FloatingPointError, match="no step was taken"):
        train_step(model, batch, make_optimizer(model, Recipe()))
    assert all(torch.equal(weight, before[name]) for name, weight in model.encoder.state_dict().items())


def test_fine_tuning_learns_and_repeats_itself() -> None:
    rows = features([6] * 32)
    for number, row in enumerate(rows):
        row["labels"] = number % 2
        row["input_ids"][2] = 2000 + number % 2  # the label is there to be read
    recipe = Recipe(batch_size=8, learning_rate=5e-3, epochs=6)

    def run() -> tuple[list[float], TaskModel, Any]:
        torch.manual_seed(3)
        model = tiny(SequenceHead(H, 2))
        seen = fine_tune(model, rows, recipe, seed=3, after_epoch=lambda: model.training)
        return seen.losses, model, seen

    losses, model, history = run()
    assert losses == run()[0]
    assert losses[-1] < 0.45 < 0.6 < losses[0]
    assert history.tokens == 6 * 32 * 6 and history.epochs == [False] * 6 and not model.training
    assert [int(score.argmax()) for score in predict(model, rows)] == [row["labels"] for row in rows]


def test_fine_tuning_on_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no features"):
        fine_tune(tiny(SequenceHead(H, 2)), [], Recipe())


def test_a_frozen_encoder_stays_where_it_is() -> None:
    model = tiny(SequenceHead(H, 2), frozen=True)
    encoder, head = copy.deepcopy(model.encoder), copy.deepcopy(model.head)
    fine_tune(model, features([5] * 8, labels=lambda S: 1), Recipe(8, 1e-2, 2))
    assert set(relative_movement(encoder, model.encoder).values()) == {0.0}
    assert not torch.equal(head.classifier.weight, model.head.classifier.weight)
    model.train()
    assert model.head.training and not model.encoder.training


def test_kept_tables_stay_while_the_layers_learn() -> None:
    model = tiny(SequenceHead(H, 2))
    before = copy.deepcopy(keep_tables(model.encoder))
    fine_tune(model, features([5] * 8, labels=lambda S: 1), Recipe(8, 1e-2, 2))
    moved = relative_movement(before, model.encoder)
    assert {part for part, distance in moved.items() if not distance} == {"token table", "position table"}
    assert {"segment table", "embedding norm", "layer 1", "layer 2"} <= set(moved)


@pytest.mark.parametrize("head", [SequenceHead(H, L), TokenHead(H, L), SpanHead(H)])
def test_predictions_keep_the_order_and_drop_the_padding(head: nn.Module) -> None:
    model = tiny(head)
    rows = features([9, 3, 6])
    together, alone = predict(model, rows, batch_size=3), [predict(model, [row])[0] for row in rows]
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
    if isinstance(head, TokenHead):
        assert [score.shape for score in together] == [(9, L), (3, L), (6, L)]


# --- several runs, and what moved -----------------------------------------------------------------------------


def test_over_seeds_reports_spread_and_collapse() -> None:
    table = {0: 0.9, 1: 0.502, 2: 0.8, 3: 0.5}
    runs = over_seeds(table.__getitem__, list(table), majority_rate=0.5)
    assert runs.scores == tuple(table.values()) and runs.best == 0.9
    assert runs.mean == pytest.approx(0.6755) and runs.std == pytest.approx(0.20559, abs=1e-5)
    assert runs.collapsed == 2
    assert over_seeds(table.__getitem__, [0]).std == 0
    with pytest.raises(ValueError, match="no seeds"):
        over_seeds(table.__getitem__, [])


def test_over_seeds_seeds_torch() -> None:
    assert len(set(over_seeds(lambda seed: torch.rand(1).item(), [1, 1]).scores)) == 1
    assert len(set(over_seeds(lambda seed: torch.rand(1).item(), [1, 2]).scores)) == 2


def test_relative_movement_is_measured_per_part() -> None:
    before = BertModel(config())
    after = copy.deepcopy(before)
    with torch.no_grad():
        for parameter in after.encoder.layer[1].parameters():
            parameter.mul_(1.25)
        after.embeddings.word_embeddings.weight.mul_(0.5)
    moved = relative_movement(before, after)
    assert moved["layer 2"] == pytest.approx(0.25) and moved["token table"] == pytest.approx(0.5)
    assert {name for name, distance in moved.items() if distance} == {"layer 2", "token table"}
    assert {"layer 1", "position table", "segment table", "embedding norm", "pooler"} <= set(moved)
    with pytest.raises(ValueError, match="different weights"):
        relative_movement(before, BertModel(config(), add_pooling_layer=False))
