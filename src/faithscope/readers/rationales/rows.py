"""The rows of a log, whatever holds them: a file, a table, a column, a list, or an object that has one of these."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.alignment import index_of
from faithscope.inputs.arrays import frame_column, frame_names, is_frame
from faithscope.inputs.queries import refuse_query
from faithscope.readers.rationales.entries import field
from faithscope.readers.rationales.files import read_file


def log_rows(thing: Any, known: Callable[[Any], bool]) -> list[Any]:
    """The rows of a log.

    Parameters
    ----------
    thing : object
    known : callable
        Whether an object is a row by itself.
    """
    if isinstance(thing, str | os.PathLike):
        return log_rows(read_file(thing), known)
    refuse_query(thing, "Rationales")
    if is_frame(thing):
        return _table_rows(thing)
    if isinstance(thing, list | tuple) or (isinstance(thing, np.ndarray) and thing.ndim == 1):
        return list(thing)
    if hasattr(thing, "to_pylist") or hasattr(thing, "to_list"):  # a column of records
        return _items(thing)
    for held in ("samples", "result_df", "data", "traces"):
        inner = field(thing, held)
        if is_frame(inner) or (isinstance(inner, list) and inner):
            return log_rows(inner, known)
    if isinstance(thing, Mapping) or known(thing):
        return [thing]
    raise WrongType(
        f"Rationales came as {type(thing).__module__}.{type(thing).__qualname__}, which is not known here: pass a list "
        "of dicts with input, answer and explanation, a table, or the path of a file."
    )


def _table_rows(frame: Any) -> list[dict[str, Any]]:
    names = frame_names(frame)
    if len(set(names)) < len(names):
        raise BadInput(f"Two columns are called {max(names, key=names.count)!r}: rename one of them.")
    columns = {name: _items(frame_column(frame, j)) for j, name in enumerate(names)}
    index = index_of(frame)
    if index is not None and isinstance(index.name, str) and index.name not in columns:
        columns[index.name] = index.tolist()
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _items(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())
