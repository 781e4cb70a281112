"""What a folder holds: a tokenizer, a model, or a data set with the columns of the public one.

Nothing here asks the network or prints; where the folder comes from is the business of `insidebert.sources`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict, Features
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from insidebert.pretraining import PretrainingModel

TASKS = ("sentiment", "entities", "question_answering")
SPLITS = ("train", "validation", "test")
ENTITY_TAGS = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC"]

# --- models ---------------------------------------------------------------------------------------------------


def read_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """The tokenizer saved in a folder."""
    from transformers import AutoTokenizer

    with quiet_transformers():
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def read_encoder(folder: Path) -> PreTrainedModel:
    """The encoder saved in a folder, in float32, in evaluation mode. Raises `OSError` when weights are missing."""
    from transformers import AutoModel

    with quiet_transformers():
        encoder, report = AutoModel.from_pretrained(folder, local_files_only=True, output_loading_info=True)
    # A checkpoint without a pooler is whole: few tasks read it. Anything else would be left at random values.
    missing = [name for name in report["missing_keys"] if not name.startswith("pooler.")]
    if missing:
        raise OSError(
            f"{folder} lacks {len(missing)} weights of the encoder, the first is {sorted(missing)[0]}."
        )
    return encoder.float().eval()


def read_pretraining_model(folder: Path) -> PretrainingModel:
    """An encoder saved with both pre-training heads. Raises `OSError` when weights are missing."""
    from transformers import BertForPreTraining

    from insidebert.pretraining import PretrainingModel

    loaded: Any
    with quiet_transformers():
        loaded = BertForPreTraining.from_pretrained(folder, local_files_only=True, output_loading_info=True)
    reference, report = loaded
    if report["missing_keys"]:
        raise OSError(f"{folder} lacks {len(report['missing_keys'])} weights of the model and its heads.")
    return PretrainingModel.from_bert_for_pretraining(reference.float()).eval()


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """No progress bar and no report of unused weights while a model is read: both go to stderr."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


# --- data sets ------------------------------------------------------------------------------------------------


def data_features(task: str) -> Features:
    """The columns of a task and their types, named and ordered as in the public set."""
    from datasets import ClassLabel, Features, List, Value

    text = Value("string")
    if task == "sentiment":
        label = ClassLabel(names=["negative", "positive"])
        return Features({"idx": Value("int32"), "sentence": text, "label": label})
    if task == "entities":
        return Features({"id": text, "tokens": List(text), "ner_tags": List(ClassLabel(names=ENTITY_TAGS))})
    if task == "question_answering":
        answers = {"text": List(text), "answer_start": List(Value("int32"))}
        return Features({"id": text, "title": text, "context": text, "question": text, "answers": answers})
    raise ValueError(f"There is no task {task!r}: the course has {', '.join(TASKS)}.")


def read_folder(folder: Path, features: Features) -> DatasetDict:
    """The splits of a data set, each a `.jsonl` or a `.parquet` file of that name.

    Raises `FileNotFoundError` for a split that is not there, `ValueError` for a row that does not fit the columns.
    """
    from datasets import DatasetDict

    return DatasetDict({split: _read_split(folder, split, features) for split in SPLITS})


def _read_split(folder: Path, split: str, features: Features) -> Dataset:
    from datasets import Dataset

    lines, parquet = folder / f"{split}.jsonl", folder / f"{split}.parquet"
    if parquet.is_file():
        return _read_parquet(parquet, features)
    if not lines.is_file():
        raise FileNotFoundError(f"{folder} has no {split}.jsonl and no {split}.parquet.")
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines() if line.strip()]
    try:
        return Dataset.from_list([{name: row[name] for name in features} for row in rows], features=features)
    except KeyError as error:
        raise ValueError(
            f"A row of {lines} has no {error}; the columns are {', '.join(features)}."
        ) from error
    except (ValueError, TypeError) as error:
        raise ValueError(f"A row of {lines} does not fit its columns: {error}") from error


def _read_parquet(path: Path, features: Features) -> Dataset:
    import pyarrow.parquet
    from datasets import Dataset, DatasetInfo

    table = pyarrow.parquet.read_table(path, columns=list(features))
    return Dataset(table.cast(features.arrow_schema), info=DatasetInfo(features=features))


def public_splits(files: Sequence[str], folder: Path, features: Features) -> DatasetDict:
    """The public set in `files` as train, validation and test, all three with labels.

    The labels of the public test sets of SST-2 and SQuAD 2 are not published. Where there are two files the public
    validation set is cut in two, one half to choose with and one to report.
    """
    from datasets import DatasetDict

    parts = [_read_parquet(folder / name, features) for name in files]
    if len(parts) == 2:
        train, public_validation = parts
        parts = [train, *_halves(public_validation)]
    return DatasetDict(dict(zip(SPLITS, parts, strict=True)))


def _halves(rows: Dataset) -> tuple[Dataset, Dataset]:
    """Two halves that share no article: whole titles, where there are titles, in their order."""
    if "title" not in rows.column_names:
        middle = len(rows) // 2
        return rows.select(range(middle)), rows.select(range(middle, len(rows)))
    titles: list[Any] = list(dict.fromkeys(rows["title"]))
    first = set(titles[: len(titles) // 2])
    inside = [i for i, title in enumerate(rows["title"]) if title in first]
    outside = [i for i, title in enumerate(rows["title"]) if title not in first]
    return rows.select(inside), rows.select(outside)
