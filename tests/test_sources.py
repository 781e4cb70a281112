"""The order of the sources, in a cache that the test writes, on a network that is forbidden, silent or broken."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from huggingface_hub import constants
from transformers import BertForPreTraining

from insidebert import sources
from insidebert.reading import SPLITS
from insidebert.sources import (
    DATA,
    MODELS,
    load_data,
    load_encoder,
    load_pretraining_model,
    load_tokenizer,
    used,
)

REPO, REVISION = MODELS["bert-base-uncased"]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty Hub cache, and nothing said or asked yet."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(sources, "_said", {})
    sources.hub_answers.cache_clear()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("the network was touched")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, forbidden)
    monkeypatch.setattr(sources.subprocess, "run", forbidden)  # a download has a process of its own


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undoes the offline switch of the test suite: only for a Hub that the test itself serves."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")


@pytest.fixture
def silent_hub(monkeypatch: pytest.MonkeyPatch, online: None) -> Iterator[str]:
    """A server that accepts and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield address


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small BERT with bert-base-uncased's vocabulary, saved as `transformers` saves it."""
    from transformers import BertConfig, BertForPreTraining

    folder = tmp_path_factory.mktemp("tiny")
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    BertForPreTraining(BertConfig(**shape)).save_pretrained(folder)
    load_tokenizer(offline=True).save_pretrained(folder)
    return folder


def put_in_cache(folder: Path, repo: str, revision: str, kind: str = "model") -> Path:
    """The layout of the Hub's cache; a revision that is a name points to a commit."""
    root = Path(constants.HF_HUB_CACHE, f"{kind}s--{repo.replace('/', '--')}")
    commit = revision if len(revision) == 40 else "0" * 40
    if commit != revision:
        (root / "refs" / revision).parent.mkdir(parents=True)
        (root / "refs" / revision).write_text(commit, encoding="utf-8")
    return Path(shutil.copytree(folder, root / "snapshots" / commit))


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What was printed, once it is clear that stderr stayed empty."""
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.splitlines()


# --- the embedded default, and offline ------------------------------------------------------------------------


def test_the_default_needs_no_network_and_says_so_once(
    no_network: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        encoder, tokenizer = load_encoder(offline=True), load_tokenizer(offline=True)
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 22_713_216
    assert not encoder.training and len(tokenizer) == 30_522
    assert len(tokenizer("one two").input_ids) == 4  # not padded to a fixed length
    said = lines(capsys)
    assert len(said) == 2 and all("all-MiniLM-L6-v2" in line for line in said)
    assert used() == {line.split(": ")[0]: line.split(": ", 1)[1] for line in said}


def test_offline_never_touches_the_network(no_network: None, capsys: pytest.CaptureFixture[str]) -> None:
    encoder = load_encoder("google-bert/bert-base-uncased", offline=True)
    load_tokenizer(scale="gpu", offline=True)
    data = load_data("sentiment", scale="gpu", offline=True)
    assert encoder.config.hidden_size == 384 and len(data["test"]) == 100
    said = lines(capsys)
    assert len(said) == 3 and all("in place of" in line and "switched off" in line for line in said)


def test_the_environment_can_switch_the_network_off(no_network: None) -> None:
    assert constants.HF_HUB_OFFLINE  # as the test suite sets it
    assert load_encoder("bert-base-uncased").config.hidden_size == 384


def test_importing_is_quiet_and_light() -> None:
    code = "import sys, insidebert.sources; print({'torch', 'transformers', 'datasets'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("set()", "")


def test_loading_writes_nothing_to_stderr_in_a_fresh_process() -> None:
    code = (
        "from insidebert.sources import *; load_encoder(); load_tokenizer('bert-large-uncased'); "
        "load_data('entities'); load_encoder()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "" and len(done.stdout.splitlines()) == 3


# --- a path, then the cache -----------------------------------------------------------------------------------


def test_a_path_comes_first(no_network: None, tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    encoder, tokenizer = load_encoder(tiny_model), load_tokenizer(str(tiny_model))
    assert encoder.config.hidden_size == 8 and len(tokenizer) == 30_522
    assert all(str(tiny_model) in line for line in lines(capsys))


def test_a_folder_without_a_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no saved encoder"):
        load_encoder(tmp_path, offline=True)


def test_an_encoder_with_missing_weights_is_an_error(tiny_model: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    broken = Path(shutil.copytree(tiny_model, tmp_path / "broken"))
    weights = load_file(broken / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if "attention.self.query" not in name}
    save_file(kept, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(OSError, match="lacks 2 weights"):
        load_encoder(broken, offline=True)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="bert-base-uncased"):
        load_encoder("bert-huge-uncased")
    with pytest.raises(ValueError, match='"laptop" or "gpu"'):
        load_encoder(scale="phone")


def test_the_cache_comes_before_the_default(
    no_network: None, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_in_cache(tiny_model, REPO, REVISION)
    encoder, tokenizer = load_encoder("bert-base-uncased"), load_tokenizer(scale="gpu", offline=True)
    assert encoder.config.hidden_size == 8 and len(tokenizer) == 30_522
    said = lines(capsys)
    assert len(said) == 2 and all(REPO in line and "cache" in line for line in said)


def test_the_model_with_its_heads_is_the_courses_own_or_the_cached_one(
    no_network: None, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = load_pretraining_model().config
    assert load_pretraining_model(scale="gpu").config.hidden_size == own.hidden_size
    folder = put_in_cache(tiny_model, REPO, REVISION)
    model = load_pretraining_model(scale="gpu")
    assert model.config.hidden_size == 8 and not model.training
    saved = BertForPreTraining.from_pretrained(folder).eval()
    ids = torch.tensor([[101, 2023, 103, 102]])
    logits = model.predict(ids, ids == 103)
    assert torch.allclose(logits, saved(ids).prediction_logits[0, 2:3], atol=1e-5)
    own_only, in_place, cached = [line for line in lines(capsys) if line.startswith("pre-trained model")]
    assert "in place of" not in own_only and "in place of" in in_place and "cache of this machine" in cached


@pytest.mark.parametrize("damage", ["missing", "truncated", "no config"])
def test_a_half_written_cache_gives_the_default_and_a_sentence(
    no_network: None, tiny_model: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = put_in_cache(tiny_model, REPO, REVISION)
    weights = snapshot / "model.safetensors"
    if damage == "missing":
        weights.unlink()
    elif damage == "truncated":
        weights.write_bytes(weights.read_bytes()[:5000])
    else:
        (snapshot / "config.json").unlink()
    assert load_encoder("bert-base-uncased", offline=True).config.hidden_size == 384
    [said] = lines(capsys)
    assert "in place of" in said and ("cannot be read" in said or "no whole copy" in said)


# --- a Hub that does not help ---------------------------------------------------------------------------------


def test_a_hub_that_never_answers_costs_seconds_once(
    silent_hub: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (
        load_encoder(),
        load_tokenizer(),
        load_data("entities"),
        capsys.readouterr(),
    )  # imports are not what is timed
    begin = time.perf_counter()
    encoder = load_encoder("bert-base-uncased")
    data = load_data("entities", scale="gpu")
    load_tokenizer("bert-large-uncased")
    assert time.perf_counter() - begin < 20  # one wait of three seconds, the rest is loading
    assert encoder.config.hidden_size == 384 and len(data["train"]) == 200
    said = lines(capsys)
    assert len(said) == 3 and all("does not answer" in line for line in said)


def test_a_hub_that_answers_and_stalls_is_given_up(
    silent_hub: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sources, "hub_answers", lambda endpoint: True)
    load_encoder(), capsys.readouterr()
    begin = time.perf_counter()
    assert load_encoder("bert-base-uncased", patience=2).config.hidden_size == 384
    assert time.perf_counter() - begin < 15
    [said] = lines(capsys)
    assert "did not deliver within 2 s" in said


class Hub(threading.Thread):
    """Serves one repository the way the Hub does: a listing of the tree, then the files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.answer()

            def do_GET(self) -> None:
                self.answer()

            def answer(self) -> None:
                path = self.path.split("?")[0]
                if f"/tree/{REVISION}" in path:
                    listing = [
                        {"type": "file", "path": name, "size": len(data), "oid": f"{i:040x}"}
                        for i, (name, data) in enumerate(sorted(files.items()))
                    ]
                    self.reply(json.dumps(listing).encode(), "application/json")
                elif f"/resolve/{REVISION}/" in path and path.split(f"{REVISION}/")[1] in files:
                    self.reply(files[path.split(f"{REVISION}/")[1]], "application/octet-stream")
                else:
                    self.send_error(200 if path == "/" else 404)

            def reply(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("ETag", f'"{hash(data) & 0xFFFFFFFF:040x}"')
                self.send_header("X-Repo-Commit", REVISION)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def run(self) -> None:
        self.server.serve_forever()


def test_the_hub_is_asked_when_the_cache_is_empty(
    tiny_model: Path, online: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub = Hub(tiny_model)
    hub.start()
    address = f"http://127.0.0.1:{hub.server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    for name, value in {
        "HF_ENDPOINT": address,
        "HF_HUB_CACHE": constants.HF_HUB_CACHE,
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    assert load_encoder("bert-base-uncased").config.hidden_size == 8
    [said] = lines(capsys)
    assert said == f"encoder: {REPO}, from the Hub"
    hub.server.shutdown()
    hub.server.server_close()
    assert (
        load_encoder("bert-base-uncased", offline=True).config.hidden_size == 8
    )  # and now it is in the cache


# --- data -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", DATA)
def test_the_embedded_sets_have_three_splits(
    no_network: None, task: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = load_data(task, offline=True)
    assert tuple(data) == SPLITS and all(len(data[split]) for split in SPLITS)
    [said] = lines(capsys)
    assert said.startswith(f"{task} data: ")


def test_the_public_sets_drop_in(
    no_network: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Parquet as the Hub keeps it, in the cache: same columns, three labelled splits, no article in two of them."""
    for task, pinned in DATA.items():
        ours = load_data(task, offline=True)
        parts = (
            ["train", "validation", "test"][-len(pinned.files) :]
            if len(pinned.files) == 3
            else ["train", "test"]
        )
        for name, split in zip(pinned.files, parts, strict=True):
            target = tmp_path / task / name
            target.parent.mkdir(parents=True, exist_ok=True)
            rows = ours[split].add_column("extra", ["x"] * len(ours[split]))  # CoNLL-2003 has more columns
            rows.to_parquet(target)
        put_in_cache(tmp_path / task, pinned.repo, pinned.revision, "dataset")
        capsys.readouterr()
        public = load_data(task, scale="gpu", offline=True)
        [said] = lines(capsys)
        assert pinned.repo in said and "cache" in said
        assert tuple(public) == SPLITS and public["train"].features == ours["train"].features
        assert public["train"].to_list() == ours["train"].to_list()
        if len(pinned.files) == 2:
            assert len(public["validation"]) + len(public["test"]) == len(ours["test"])
        if task == "question_answering":
            assert not set(public["validation"]["title"]) & set(public["test"]["title"])


def test_a_folder_of_ones_own(no_network: None, tmp_path: Path) -> None:
    for split in SPLITS:
        row = {"idx": 0, "sentence": f"Über {split}.", "label": 1, "extra": None}
        (tmp_path / f"{split}.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    data = load_data("sentiment", tmp_path)
    assert data["test"][0] == {"idx": 0, "sentence": "Über test.", "label": 1}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"idx": 0, "sentence": "Fine.", "label": 7}, "does not fit"),
        ({"idx": 0, "sentence": "Fine.", "label": "so-so"}, "does not fit"),
        ({"idx": 0, "label": 1}, "no 'sentence'"),
    ],
)
def test_unknown_labels_and_missing_columns_are_named(tmp_path: Path, row: dict, says: str) -> None:
    for split in SPLITS:
        (tmp_path / f"{split}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"train\.jsonl.*{says}"):
        load_data("sentiment", tmp_path)


def test_unknown_tasks_and_missing_splits_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="sentiment, entities, question_answering"):
        load_data("translation")
    with pytest.raises(FileNotFoundError, match=r"train\.jsonl"):
        load_data("sentiment", tmp_path)
