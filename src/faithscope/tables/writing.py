"""Writing a log: predictions, explanations and rows in one Parquet file; an audit finds the same numbers in it."""

import json
import os
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.arrow import METADATA, read_settings, to_arrow, write_column
from faithscope.explanations.base import Explanations
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rules import Rules
from faithscope.inputs.alignment import index_of, is_fresh
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import is_frame, to_vector
from faithscope.inputs.checks import same_length
from faithscope.inputs.columns import Rows, hold_dates
from faithscope.inputs.labels import to_labels, to_number_predictions
from faithscope.inputs.missing import is_missing
from faithscope.runtime.files import whole_file
from faithscope.words import numbered

DOCUMENT = "document"  # the column of documents


def write_log(path: str | os.PathLike[str], explanations: Explanations, predictions: Any, X: Any = None) -> None:
    """Write a log that `audit` reads back to the same numbers.

    Parameters
    ----------
    path : path
        A Parquet file.
    explanations : Explanations
        One explanation per row.
    predictions : array-like, (n,), or an (n, k) array of numbers
        Several numbers per row become the columns ``prediction_0``, ``prediction_1`` and so on.
    X : array-like or table, n rows, optional
        The rows, or documents; sufficiency cannot be measured without them.

    Examples
    --------
    >>> import tempfile, faithscope as fs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_log(f"{folder}/log.parquet", fs.Importances([[0.5, 0.1], [0.5, 0.1]]), ["yes", "yes"])
    ...     fs.audit(f"{folder}/log.parquet").consistency.value
    1.0
    """
    import pyarrow.parquet as pq

    table = to_log(explanations, predictions, X)
    with whole_file(path, private=True) as file:
        pq.write_table(table, file)


def to_log(explanations: Explanations, predictions: Any, X: Any = None) -> Any:
    """The log as a pyarrow.Table."""
    try:
        labels, table = _predictions(predictions), to_arrow(explanations)
        same_length(explanations=len(explanations), predictions=len(labels[0]))
        names, columns = _rows(explanations, X)
        index_names, index = _row_labels(X)
        outputs = ["prediction"] if len(labels) == 1 else [f"prediction_{j}" for j in range(len(labels))]
        written = numbered([*table.column_names, *outputs, *names, *index_names], "_")[table.num_columns :]
        for name, values in zip(written, (*labels, *columns, *index), strict=True):
            table = table.append_column(name, write_column(values)[0])
    except UnicodeEncodeError:
        raise BadInput("A text or a name holds a lone surrogate, which no table can keep: clean the texts.") from None
    inputs = dict(zip(names, written[len(labels) : len(labels) + len(names)], strict=True))
    settings = {**(read_settings(table) or {}), "inputs": inputs}
    settings["prediction"] = written[0] if len(labels) == 1 else written[: len(labels)]
    return table.replace_schema_metadata({METADATA: json.dumps(settings).encode()})


def _predictions(predictions: Any) -> list[Array]:
    """One column of labels or numbers, or one column of numbers per output."""
    if getattr(predictions, "ndim", 1) == 2 and np.asarray(predictions).dtype.kind == "f":
        return list(to_number_predictions(predictions, "Spread", vectors=True).reshape(len(predictions), -1).T)
    return [to_labels(predictions)]


def _row_labels(X: Any) -> tuple[list[str], list[Any]]:
    """The labels of the rows of a pandas frame as named columns, one per level; none if they only count rows."""
    index = index_of(X)
    if is_fresh(index):
        return [], []
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    names = [str(level.name) if level.name is not None else "index" for level in levels]
    return names, [_with_none(to_vector(level), False) for level in levels]


def _rows(explanations: Explanations, X: Any) -> tuple[list[str], list[Any]]:
    """The rows as named columns; documents as lists of their words."""
    if X is None:
        return [], []
    if isinstance(explanations, Highlights):
        import pyarrow as pa

        return [DOCUMENT], [pa.array(explanations.documents(X), pa.list_(pa.string()))]
    if is_frame(X):
        rows = Rows(X)
        return list(rows.names), [_with_none(column.values, column.zoned) for column in rows.columns]
    plain = X.toarray() if hasattr(X, "toarray") else X
    # What rules speak of is kept as it is; distances are between numbers.
    spoken_of = isinstance(explanations, Rules)
    held = Rows(plain, loose=not spoken_of).columns
    columns = [_with_none(column.values if spoken_of else column.measured, False) for column in held]
    return _names(explanations, len(columns)), columns


def _names(explanations: Explanations, width: int) -> list[str]:
    """What the columns of a plain array are called: as the explanations call their features, if they do."""
    known = explanations.features if isinstance(explanations, Rules) else getattr(explanations, "names", None) or ()
    return list(known) if len(known) == width else [f"x{j}" for j in range(width)]


def _with_none(column: Array, zoned: bool) -> Any:
    """The column, with None for missing objects; dates as Arrow has them, with a time zone if they have one."""
    import pyarrow as pa

    if zoned and column.dtype.kind == "M":
        return pa.array(column).cast(pa.timestamp(np.datetime_data(column.dtype)[0], "UTC"))
    if column.dtype != object:
        return column
    items = [None if is_missing(item) else item for item in column]
    return pa.array(items) if hold_dates(column) else items
