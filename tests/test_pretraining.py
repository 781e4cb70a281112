"""Encoder, heads, the sum of two losses; the loop, its checkpoints and its resumption."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F  # noqa: N812
from transformers import BertConfig, BertForPreTraining, BertTokenizer

from insidebert import pretrain as training
from insidebert import pretraining, starting
from insidebert.pretrain import evaluate, pretrain
from insidebert.pretraining import PretrainingModel
from insidebert.pretraining_recipe import Recipe
from insidebert.sources import load_pretraining_model, load_tokenizer

V = 60
RECIPE = Recipe(
    layers=1, hidden=16, heads=2, dropout=0.1, max_length=24, first_length=12, batch_size=8, steps=6, warmup=2, decay=2,
    learning_rate=3e-3, save_every=3,
)  # fmt: skip


@pytest.fixture(scope="module")
def config() -> BertConfig:
    return BertConfig(
        vocab_size=V,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=40,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> BertTokenizer:
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *[f"w{i}" for i in range(V - 5)]]
    path.write_text("\n".join(words), encoding="utf-8")
    return BertTokenizer(vocab=str(path), model_max_length=512)


@pytest.fixture(scope="module")
def documents() -> list[list[list[int]]]:
    """Each document keeps to ten words of its own, so that both objectives can be learned."""
    rng = random.Random(0)
    return [
        [[5 + 10 * (d % 5) + rng.randrange(10) for _ in range(rng.randint(3, 8))] for _ in range(30)]
        for d in range(20)
    ]


@pytest.fixture
def batch() -> dict[str, torch.Tensor]:
    g = torch.Generator().manual_seed(0)
    input_ids = torch.randint(5, V, (6, 17), generator=g)
    attention_mask = (torch.arange(17) < torch.tensor([17, 12, 9, 17, 5, 1])[:, None]).long()
    labels = torch.where(torch.rand(6, 17, generator=g) < 0.2, input_ids, -100).masked_fill(
        attention_mask == 0, -100
    )
    return {
        "input_ids": input_ids,
        "token_type_ids": (torch.arange(17) > 6).long().expand(6, 17) * attention_mask,
        "attention_mask": attention_mask,
        "labels": labels,
        "next_sentence_label": torch.tensor([0, 1, 1, 0, 0, 1]),
    }


def gradients(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


# ------------------------------------------------------------------------------------------------ model


def test_loss_and_gradients_equal_transformers(config: BertConfig, batch: dict[str, torch.Tensor]) -> None:
    torch.manual_seed(1)
    ours = PretrainingModel(config).double()
    reference = ours.to_bert_for_pretraining().double()
    output, expected = ours(**batch), reference(**batch)
    assert torch.allclose(output.loss, expected.loss, atol=1e-12)
    output.loss.backward()
    expected.loss.backward()
    theirs = gradients(reference)
    for name, gradient in gradients(ours).items():
        other = theirs[pretraining.renamed(name, pretraining.REFERENCE_NAMES)]
        assert torch.allclose(gradient, other, atol=1e-12), name
    assert len(gradients(ours)) == len(theirs)


def test_loss_is_the_sum_of_two_means(config: BertConfig, batch: dict[str, torch.Tensor]) -> None:
    output = PretrainingModel(config)(**batch)
    assert output.loss.item() == pytest.approx((output.mlm_loss + output.nsp_loss).item())
    assert output.predicted == int((batch["labels"] != -100).sum())
    model = PretrainingModel(config)
    only_mlm = model(**{k: v for k, v in batch.items() if k != "next_sentence_label"})
    assert only_mlm.nsp_loss is None and only_mlm.loss is only_mlm.mlm_loss


def test_an_untrained_model_guesses_uniformly(config: BertConfig, batch: dict[str, torch.Tensor]) -> None:
    torch.manual_seed(0)
    output = PretrainingModel(config)(**batch)
    assert output.mlm_loss.item() == pytest.approx(torch.log(torch.tensor(float(V))).item(), abs=0.1)
    assert output.nsp_loss.item() == pytest.approx(0.693, abs=0.1)


def test_nothing_to_predict_costs_nothing_and_keeps_the_graph(
    config: BertConfig, batch: dict[str, torch.Tensor]
) -> None:
    model = PretrainingModel(config)
    output = model(**{**batch, "labels": torch.full_like(batch["labels"], -100)})
    assert output.mlm_loss.item() == 0
    output.loss.backward()
    assert model.mlm.dense.weight.grad is not None


def test_padding_changes_nothing(config: BertConfig, batch: dict[str, torch.Tensor]) -> None:
    model = PretrainingModel(config).double().eval()
    padded = {name: F.pad(value, (0, 9), value=-100 if name == "labels" else 0) if value.ndim == 2 else value
              for name, value in batch.items()}  # fmt: skip
    assert torch.allclose(model(**padded).loss, model(**batch).loss, atol=1e-12)


def test_predict_gives_the_logits_of_transformers(config: BertConfig, batch: dict[str, torch.Tensor]) -> None:
    model = PretrainingModel(config).eval()
    inputs = {k: batch[k] for k in ("input_ids", "token_type_ids", "attention_mask")}
    where = batch["labels"] != -100
    expected = model.to_bert_for_pretraining().eval()(**inputs)
    ours = model.predict(inputs.pop("input_ids"), where, **inputs)
    assert torch.allclose(ours, expected.prediction_logits[where], atol=1e-5)


def test_weights_travel_both_ways_and_through_files(config: BertConfig, tmp_path: Path) -> None:
    torch.manual_seed(2)
    reference = BertForPreTraining(config)
    model = PretrainingModel.from_bert_for_pretraining(reference)
    back = model.to_bert_for_pretraining().state_dict()
    assert back.keys() == reference.state_dict().keys()
    assert all(torch.equal(back[name], weight) for name, weight in reference.state_dict().items())
    model.save_pretrained(tmp_path)
    for loaded in (BertForPreTraining.from_pretrained(tmp_path), PretrainingModel.from_pretrained(tmp_path)):
        weights = loaded.state_dict()
        if isinstance(loaded, PretrainingModel):
            weights = loaded.to_bert_for_pretraining().state_dict()
        assert all(torch.equal(weights[name], weight) for name, weight in back.items())
    model.save_pretrained(tmp_path, dtype=torch.float16)
    half = PretrainingModel.from_pretrained(tmp_path)
    assert half.token_table.dtype == torch.float32 and not half.training
    assert torch.allclose(half.token_table, model.token_table, atol=1e-3)


def test_a_widened_model_computes_the_same_and_does_not_guess_what_it_never_met(
    config: BertConfig, batch: dict[str, torch.Tensor]
) -> None:
    torch.manual_seed(3)
    model = PretrainingModel(config).eval()
    with torch.no_grad():
        model.mlm.bias.normal_()
    rows = [2 * i + 1 for i in range(V)]
    wide = model.widened(rows, 3 * V)
    assert wide.config.vocab_size == 3 * V and config.vocab_size == V
    where = batch["labels"] != -100
    inputs = {k: batch[k] for k in ("token_type_ids", "attention_mask")}
    narrow_logits = model.predict(batch["input_ids"], where, **inputs)
    wide_logits = wide.predict(torch.tensor(rows)[batch["input_ids"]], where, **inputs)
    assert torch.allclose(wide_logits[:, rows], narrow_logits, atol=1e-6)
    assert all(best in rows for best in wide_logits.argmax(-1).tolist())


def test_weights_of_another_shape_are_refused(config: BertConfig, tmp_path: Path) -> None:
    model = PretrainingModel(config)
    weights = model.reference_weights()
    weights.pop("cls.seq_relationship.bias")
    with pytest.raises(ValueError, match=r"nsp\.bias"):
        model.load_reference_weights(weights)
    with pytest.raises(FileNotFoundError, match="safetensors"):
        PretrainingModel.from_pretrained(tmp_path)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (2, 41)])
def test_empty_batches_and_rows_over_the_position_table_are_refused(
    config: BertConfig, shape: tuple[int, int]
) -> None:
    with pytest.raises(ValueError, match=r"at least one token|position table"):
        PretrainingModel(config)(torch.zeros(shape, dtype=torch.long))


def test_rows_of_one_token_and_of_none(config: BertConfig) -> None:
    model = PretrainingModel(config)
    assert torch.isfinite(model(torch.tensor([[7]]), labels=torch.tensor([[8]])).loss)
    nothing = torch.tensor([[1, 1, 1], [0, 0, 0]])  # the second row is padding alone
    output = model(torch.full((2, 3), 7), attention_mask=nothing, next_sentence_label=torch.tensor([0, 1]))
    assert torch.isfinite(output.loss)


# ------------------------------------------------------------------------------------------------- loop


def losses(out: Path) -> list[tuple[float, float]]:
    rows = [json.loads(line) for line in (out / training.METRICS).read_text(encoding="utf-8").splitlines()]
    assert [row["step"] for row in rows] == list(range(len(rows)))
    return [(row["mlm"], row["nsp"]) for row in rows]


def test_both_losses_fall(tokenizer: BertTokenizer, documents: list, tmp_path: Path) -> None:
    recipe = dataclasses.replace(
        RECIPE,
        hidden=32,
        batch_size=32,
        steps=150,
        warmup=10,
        decay=50,
        learning_rate=5e-3,
        dropout=0.0,
        save_every=150,
    )
    model = pretrain(recipe, documents, tokenizer, tmp_path, progress=False)
    run = losses(tmp_path)
    # Word frequencies alone would give ln 50, which is 0.96 of what the untrained model scores.
    assert sum(m for m, _ in run[-10:]) / 10 < 0.85 * run[0][0]
    assert sum(n for _, n in run[-10:]) / 10 < 0.6
    figures = evaluate(model, documents[:8], tokenizer, recipe, progress=False)
    assert figures["nsp_accuracy"] > 0.66  # chance is 0.5; three standard deviations of 79 pairs above it
    assert figures["mlm_top1"] > 0.08
    assert figures == evaluate(model, documents[:8], tokenizer, recipe, progress=False)


def test_a_resumed_run_equals_an_uninterrupted_one(
    tokenizer: BertTokenizer, documents: list, tmp_path: Path
) -> None:
    whole = pretrain(RECIPE, documents, tokenizer, tmp_path / "whole", progress=False)
    pretrain(RECIPE, documents, tokenizer, tmp_path / "parts", stop_after=4, progress=False)
    with (tmp_path / "parts" / training.METRICS).open("a", encoding="utf-8") as out:
        out.write(json.dumps({"step": 4, "mlm": 99.0, "nsp": 99.0}) + "\n")  # done after the last checkpoint
    parts = pretrain(RECIPE, documents, tokenizer, tmp_path / "parts", resume=True, progress=False)
    assert losses(tmp_path / "parts") == losses(tmp_path / "whole")
    assert len(losses(tmp_path / "whole")) == RECIPE.steps
    for ours, theirs in zip(parts.parameters(), whole.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_resuming_over_an_epoch_reads_on_where_it_stopped(tokenizer: BertTokenizer, documents: list) -> None:
    few = documents[:4]
    steps = [
        rows for rows, _ in zip(training.step_rows(few, tokenizer, RECIPE, 8, 0), range(12), strict=False)
    ]
    later = training.step_rows(few, tokenizer, RECIPE, 8, 7)
    assert [next(later) for _ in range(5)] == steps[7:]


def test_the_first_epochs_read_more_and_shorter_rows(tokenizer: BertTokenizer, documents: list) -> None:
    few = documents[:6]
    epoch = len(training.epoch_rows(few, tokenizer, RECIPE, epoch=0)) // 16
    steps = [
        rows
        for rows, _ in zip(training.step_rows(few, tokenizer, RECIPE, 8, 0), range(epoch + 3), strict=False)
    ]
    longest = [max(len(row["input_ids"]) for row in rows) for rows in steps]
    assert epoch > 3 and len(steps[0]) == 16 and len(steps[-1]) == 8
    assert max(longest[:epoch]) == 12 and min(longest[epoch:]) > 12


def test_the_corpus_vocabulary_holds_what_occurs_and_cuts_words_alike() -> None:
    full = BertTokenizer(
        vocab={
            piece: i
            for i, piece in enumerate(
                ["[PAD]", "un", "[UNK]", "[CLS]", "##seen", "[SEP]", "[MASK]", "seen", "##s", "see"]
            )
        },
        model_max_length=512,
    )
    text = [["unseen seens", "seen"], ["seen seen"]]
    documents = training.tokenize(text, full)
    small = training.corpus_vocabulary(documents, full)
    assert set(small.get_vocab()) == {*full.all_special_tokens, "un", "##seen", "seen", "##s"}
    assert training.renumber(documents, full, small) == training.tokenize(text, small)
    assert small.convert_tokens_to_ids("[MASK]") == small.mask_token_id


def test_another_recipe_does_not_resume(tokenizer: BertTokenizer, documents: list, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="resume"):
        pretrain(RECIPE, documents, tokenizer, tmp_path, resume=True, progress=False)
    pretrain(RECIPE, documents, tokenizer, tmp_path, stop_after=1, progress=False)
    other = dataclasses.replace(RECIPE, batch_size=4)
    with pytest.raises(ValueError, match="batch_size 8 → 4"):
        pretrain(other, documents, tokenizer, tmp_path, resume=True, progress=False)


def test_accumulated_gradients_equal_one_large_batch(
    tokenizer: BertTokenizer, documents: list, tmp_path: Path
) -> None:
    recipe = dataclasses.replace(RECIPE, dropout=0.0, steps=4)
    pretrain(recipe, documents, tokenizer, tmp_path / "one", progress=False)
    split = dataclasses.replace(recipe, batch_size=2, accumulation=4)
    pretrain(split, documents, tokenizer, tmp_path / "four", progress=False)
    for one, four in zip(losses(tmp_path / "one"), losses(tmp_path / "four"), strict=True):
        assert four == pytest.approx(one, abs=1e-5)


def test_a_full_disk_leaves_the_previous_checkpoint(
    tokenizer: BertTokenizer, documents: list, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = dataclasses.replace(RECIPE, save_every=2)
    pretrain(recipe, documents, tokenizer, tmp_path, stop_after=2, progress=False)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != training.METRICS}

    def half(state: object, path: Path) -> None:
        Path(path).write_bytes(b"the first half of")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match=r"previous one is intact.*--resume"):
        pretrain(recipe, documents, tokenizer, tmp_path, resume=True, progress=False)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != training.METRICS}
    assert after == before
    monkeypatch.undo()
    pretrain(recipe, documents, tokenizer, tmp_path, resume=True, progress=False)
    assert len(losses(tmp_path)) == recipe.steps


def test_a_loss_that_is_not_finite_stops_the_run_and_names_the_step(
    tokenizer: BertTokenizer, documents: list, tmp_path: Path
) -> None:
    recipe = dataclasses.replace(RECIPE, learning_rate=1e30, clip=1e30, warmup=0)
    with pytest.raises(FloatingPointError, match=r"step \d+ .*--learning-rate"):
        pretrain(recipe, documents, tokenizer, tmp_path, progress=False)


def test_a_corpus_that_is_too_small_is_refused(
    tokenizer: BertTokenizer, documents: list, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="two documents"):
        pretrain(RECIPE, documents[:1], tokenizer, tmp_path, progress=False)
    with pytest.raises(ValueError, match="--batch-size"):
        pretrain(dataclasses.replace(RECIPE, batch_size=5000), documents, tokenizer, tmp_path, progress=False)


def test_the_learning_rate_rises_stays_and_falls() -> None:
    recipe = Recipe(steps=100, warmup=10, decay=20, learning_rate=1.0)
    rates = [recipe.rate(step) for step in range(100)]
    assert rates[0] == pytest.approx(0.1) and rates[9] == 1.0 and rates[80] == 1.0
    assert (
        rates[-1] == pytest.approx(0.05)
        and rates == sorted(rates[:10]) + rates[10:80] + sorted(rates[80:])[::-1]
    )
    longer = dataclasses.replace(recipe, steps=500)
    assert [longer.rate(step) for step in range(80)] == rates[:80]


def test_biases_and_norms_do_not_decay(config: BertConfig) -> None:
    model = PretrainingModel(config)
    decaying, others = training.make_optimizer(model, RECIPE).param_groups
    undecayed = {id(p) for p in others["params"]}
    for name, parameter in model.named_parameters():
        assert (id(parameter) in undecayed) == ("bias" in name or "norm" in name.lower()), name
    assert decaying["weight_decay"] == RECIPE.weight_decay and others["weight_decay"] == 0


TWO_PROCESSES = """
import dataclasses, random, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from transformers import BertTokenizer
from insidebert.pretrain import pretrain
import test_pretraining as here

recipe = dataclasses.replace(here.RECIPE, dropout=0.0, batch_size=int(sys.argv[4]), accumulation=2)
tokenizer = BertTokenizer(vocab=sys.argv[2], model_max_length=512)
pretrain(recipe, here.documents.__wrapped__(), tokenizer, Path(sys.argv[3]), progress=False)
"""


def test_two_processes_equal_one_with_twice_the_batch(
    tokenizer: BertTokenizer, documents: list, tmp_path: Path
) -> None:
    script = tmp_path / "run.py"
    script.write_text(TWO_PROCESSES, encoding="utf-8")
    words = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    launch = [
        sys.executable,
        "-m",
        "accelerate.commands.launch",
        "--num_processes",
        "2",
        "--num_machines",
        "1",
    ]
    launch += ["--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0"]
    run = [str(script), str(Path(__file__).parent), str(tmp_path / "vocab.txt"), str(tmp_path / "two"), "4"]
    refused = subprocess.run([*launch, "--cpu", *run], capture_output=True, text=True, timeout=240)
    assert refused.returncode != 0 and "--multi_gpu" in refused.stderr
    command = [*launch, "--multi_gpu", *run]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    recipe = dataclasses.replace(RECIPE, dropout=0.0, batch_size=8, accumulation=2)
    pretrain(recipe, documents, tokenizer, tmp_path / "one", progress=False)
    assert len(losses(tmp_path / "two")) == RECIPE.steps
    for one, two in zip(losses(tmp_path / "one"), losses(tmp_path / "two"), strict=True):
        assert two == pytest.approx(one, abs=1e-5)


# -------------------------------------------------------------------------------------- command and card


def test_the_command_trains_evaluates_and_resumes(
    tokenizer: BertTokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rng = random.Random(0)
    text = [
        [" ".join(f"w{rng.randrange(V - 5)}" for _ in range(6)) + " ." for _ in range(20)] for _ in range(12)
    ]
    monkeypatch.setattr(training, "load_tokenizer", lambda: tokenizer)
    monkeypatch.setattr(training, "load_corpus", lambda *split, **options: text)
    flags = ["--layers", "1", "--hidden", "16", "--heads", "2", "--max-length", "32", "--batch-size", "4"]
    command = ["--out", str(tmp_path), "--quiet", *flags]
    assert training.main([*command, "--steps", "2"]) == 0
    assert training.main([*command, "--steps", "4", "--resume"]) == 0
    assert len(losses(tmp_path)) == 4
    figures = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == figures
    assert 0 <= figures["mlm_top1"] <= 1 and figures["predicted"] > 50
    assert (tmp_path / "model.safetensors").stat().st_size < 100_000
    shutil.rmtree(tmp_path)
    assert training.main([*command, "--resume"]) == 1
    assert "resume" in capsys.readouterr().err


def test_the_checkpoint_is_small_whole_and_described() -> None:
    folder = pretraining.CHECKPOINT
    assert (folder / "model.safetensors").stat().st_size <= 16_000_000
    assert (folder / "metrics.jsonl").stat().st_size <= 200_000
    figures = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    card = (folder / "README.md").read_text(encoding="utf-8")
    for name in ("mlm_top1", "nsp_accuracy"):
        assert f"{100 * figures[name]:.1f} %" in card
    curve = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sum(row["mlm"] for row in curve[-50:]) / 50 < curve[0]["mlm"] - 1
    assert all(row["loss"] == pytest.approx(row["mlm"] + row["nsp"], abs=1e-3) for row in curve)


def test_a_prepared_start_knows_frequencies_and_looks_at_neighbours(documents: list) -> None:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=V, hidden_size=128, num_hidden_layers=1, num_attention_heads=4, intermediate_size=8
    )
    model = PretrainingModel(config).eval()
    starting.prepare(model, documents)
    tokens = torch.tensor([i for document in documents for sentence in document for i in sentence])
    shares = torch.bincount(tokens, minlength=V) / len(tokens)
    entropy = -(shares * shares.clamp(min=1e-9).log()).sum().item()
    ids = tokens[: 24 * 128].view(24, 128)
    loss = model(ids, labels=ids).mlm_loss.item()
    assert loss == pytest.approx(entropy, abs=0.3)
    attention = model.bert.encoder.layer[0].attention.self
    x = model.bert.embeddings(ids[:1])[0]  # (S,H)
    queries, keys = (layer(x).view(128, 4, 32) for layer in (attention.query, attention.key))
    best = torch.einsum("ihd,jhd->hij", queries, keys).argmax(-1)  # (heads,S)
    positions = torch.arange(4, 124)
    for head, offset in enumerate(starting.OFFSETS):
        assert (best[head, 4:124] == positions + offset).float().mean() > 0.8


DOCUMENTATION = [  # written for this test, in the corpus's manner
    "Returns the number of elements in the array.",
    "If true, the result has the same shape as the input tensor.",
    "The name of the file to read from, or a file object.",
    "Whether to return a copy of the data or not.",
    "Raises an error if the value is not in the list.",
    "The axis along which the sum is computed.",
    "This function is used to create a new model from a given configuration.",
    "By default, the last dimension is used.",
]


def test_the_checkpoint_guesses_hidden_pieces() -> None:
    model, tokenizer = load_pretraining_model(offline=True), load_tokenizer(offline=True)
    assert model.token_table.shape[0] == len(tokenizer) == 30522
    right, surprise, count = 0, 0.0, 0
    for sentence in DOCUMENTATION:
        ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
        length = ids.shape[1] - 2
        hide = torch.eye(length + 2, dtype=torch.bool)[1:-1]  # one row per piece, each hidden in turn
        logits = model.predict(ids.expand(length, -1).masked_fill(hide, tokenizer.mask_token_id), hide)
        right += int((logits.argmax(-1) == ids[0, 1:-1]).sum())
        surprise += F.cross_entropy(logits, ids[0, 1:-1], reduction="sum").item()
        count += length
    assert surprise / count < 5  # nats; knowing how often each piece occurs would give about 6
    assert right / count > 0.25
