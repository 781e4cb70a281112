"""From rows of a data set to one padded batch, without a Python step per token.

`ArrowRows` hands a `DataLoader` the rows of a batch as one Arrow table, `pad_rows` makes tensors of such a
table or of the usual list of dicts.

Shapes: B batch, S sequence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

Column = tuple[
    np.ndarray, np.ndarray | None
]  # values end to end and the length of each row; None: a number per row


class ArrowRows(Dataset):
    """Rows of a `datasets.Dataset` for a `DataLoader`, a whole batch at a time as an Arrow table.

    The usual way turns every id into a Python integer and back; here `pad_rows` reads the batch's buffers.
    Pass `remove_unused_columns=False` where `transformers.Trainer` gets such rows.
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset.with_format("arrow")

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.dataset[index].to_pylist()[0]

    def __getitems__(
        self, indices: Sequence[int]
    ) -> Any:  # a DataLoader's fetcher calls this where it exists
        return self.dataset[list(indices)]


def pad_rows(
    rows: Any, *, pad_id: int, max_length: int | None = None, multiple_of: int = 1
) -> dict[str, Tensor]:
    """A list of rows (mappings) or an Arrow table to tensors: (B,S) long for lists, (B,) for numbers.

    Every row has `input_ids`; S is the longest of them, rounded up to a `multiple_of`. Padding is `pad_id`
    there and 0 in every other list. A missing `attention_mask` is made. The rows stay as they are. Raises
    `ValueError` for no row, a row longer than `max_length`, columns that differ between rows, a list that is
    not as long as its row's `input_ids`, and a column that holds no numbers.
    """
    columns = _columns(rows)
    if "input_ids" not in columns or columns["input_ids"][1] is None:
        raise ValueError(
            f"The rows have no list of `input_ids`, only {sorted(columns)}; tokenise them first."
        )
    lengths = columns["input_ids"][1]
    longest = int(lengths.max())
    if max_length is not None and longest > max_length:
        raise ValueError(
            f"A row has {longest} tokens and the model takes {max_length}: truncate the rows, or give "
            "`max_length` where the model has more positions."
        )
    real = np.arange(-(-longest // multiple_of) * multiple_of) < lengths[:, None]  # (B,S)
    batch = {}
    for name, (values, own_lengths) in columns.items():
        if own_lengths is None:
            batch[name] = torch.from_numpy(values)
            continue
        if not np.array_equal(own_lengths, lengths):
            raise ValueError(
                f"`{name}` and `input_ids` differ in length within a row; they need one value each."
            )
        if values.size == real.size:
            padded = values.astype(np.int64).reshape(real.shape)
        else:
            padded = np.full(real.shape, pad_id if name == "input_ids" else 0, dtype=np.int64)
            padded[real] = values
        batch[name] = torch.from_numpy(padded)
    if "attention_mask" not in batch:
        batch["attention_mask"] = torch.from_numpy(real.astype(np.int64))
    return batch


def _columns(rows: Any) -> dict[str, Column]:
    if len(rows) == 0:
        raise ValueError("An empty batch: there is no row in it. Use a split, or a sampler, that has rows.")
    columns: dict[str, Any]
    if hasattr(rows, "column_names"):  # an Arrow table
        flatten = _flatten_arrow
        columns = {name: rows.column(name).combine_chunks() for name in rows.column_names}
    else:
        flatten = _flatten_rows
        for row in rows:
            if not isinstance(row, Mapping) or row.keys() != rows[0].keys():
                raise ValueError(
                    f"The rows of a batch need the same columns: {_keys(rows[0])} and {_keys(row)}."
                )
        columns = {name: [row[name] for row in rows] for name in rows[0]}
    flat = {}
    for name, column in columns.items():
        try:
            flat[name] = flatten(column)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The column `{name}` cannot stand in a batch ({error}): it needs a number or a list of "
                "whole numbers in every row. Remove it from the data set."
            ) from error
    return flat


def _keys(row: Any) -> Any:
    return sorted(row.keys()) if isinstance(row, Mapping) else f"a {type(row).__name__}"


def _flatten_rows(column: list[Any]) -> Column:
    first = column[0]
    if not hasattr(first, "__len__") or getattr(first, "ndim", 1) == 0:
        return _numbers(
            np.array([value.item() if hasattr(value, "item") else value for value in column])
        ), None
    lengths = np.fromiter(map(len, column), dtype=np.int64, count=len(column))
    if all(isinstance(values, np.ndarray | Tensor) for values in column):
        return _whole(np.concatenate([np.asarray(values) for values in column])), lengths
    try:  # masks and segment ids: the fastest way out of a list, for values under 256
        return np.frombuffer(b"".join(map(bytes, column)), dtype=np.uint8), lengths
    except (TypeError, ValueError):
        pass
    values = chain.from_iterable(column)
    try:
        return np.fromiter(values, dtype=np.int64, count=int(lengths.sum())), lengths
    except TypeError:  # `BatchEncoding.word_ids()` says None on special tokens
        filled = (-1 if value is None else value for value in chain.from_iterable(column))
        return np.fromiter(filled, dtype=np.int64, count=int(lengths.sum())), lengths


def _flatten_arrow(column: Any) -> Column:
    if not hasattr(column, "value_lengths"):
        return _numbers(column.to_numpy(zero_copy_only=False)), None
    values = column.flatten()
    if values.null_count:
        values = values.fill_null(-1)
    lengths = column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    return _whole(values.to_numpy(zero_copy_only=False)), lengths


def _whole(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "iub" and values.size:
        raise TypeError(f"a list of {values.dtype}")
    return values


def _numbers(values: np.ndarray) -> np.ndarray:
    """A copy in the types a model takes: whole numbers long, others float."""
    if values.dtype.kind not in "iubf":
        raise TypeError(f"a {values.dtype} per row")
    return values.astype(np.float32 if values.dtype.kind == "f" else np.int64)
