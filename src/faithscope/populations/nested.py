"""Draws as callers hold them, one table or list per explanation, as one table and the explanation of each draw."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.inputs.arrays import frame_names, is_frame, to_array
from faithscope.inputs.models import label_function
from faithscope.inputs.rows import rows_of, take_rows

Ints = NDArray[np.int64]


def is_model(thing: Any) -> bool:
    """Whether this predicts, rather than holds predictions."""
    return thing is not None and not isinstance(thing, type) and label_function(thing) is not None


def flat_draws(rows: Any, explanations: int, *, texts: bool) -> tuple[Any, Ints]:
    """All draws in one table, and the position of the explanation of each.

    Parameters
    ----------
    rows : (n, k, d) array, list of n tables, arrays or lists, or a table of n rows
    explanations : int
        n
    texts : bool
        Whether a list of texts may be several draws; else it is one row of categories.
    """
    array = None if is_frame(rows) else to_array(rows, "Rows")
    deepest = 2 if texts and array is not None and array.dtype.kind in "OUT" else 3
    if array is not None and array.ndim >= deepest:
        _refuse_others(len(array), explanations)
        flat = array.reshape(-1, *array.shape[2:])
        return flat if array.ndim > 2 else flat.tolist(), np.repeat(np.arange(len(array)), array.shape[1])
    if array is not None and array.ndim == 1 and array.dtype == object:
        rows, array = array.tolist(), None
    _refuse_others(rows_of(rows), explanations)
    if is_frame(rows) or array is not None or not isinstance(rows, list | tuple) or not _hold_draws(rows, texts=texts):
        return rows, np.arange(explanations)
    return _joined(rows), np.repeat(np.arange(len(rows)), [rows_of(part) for part in rows])


def flat_predictions(predictions: Any, of: Ints, explanations: int) -> Any:
    """One prediction per draw, in the order of the draws."""
    array = None if is_frame(predictions) else to_array(predictions, "Predictions")
    if array is not None and array.ndim == 2 and array.size == len(of) and array.shape[1] > 1:
        return array.reshape(-1)
    items = predictions.tolist() if array is not None and array.dtype == object else predictions
    if isinstance(items, list | tuple) and len(items) == explanations and items and all(map(_is_list, items)):
        lengths = np.array([rows_of(part) for part in items])
        expected = np.bincount(of, minlength=explanations)
        wrong = np.flatnonzero(lengths != expected)
        if len(wrong):
            row = int(wrong[0])
            raise BadInput(
                f"Explanation {row} has {expected[row]:,} draws and {lengths[row]:,} predictions: pass one per draw."
            )
        return [prediction for part in items for prediction in _items(part)]
    if rows_of(predictions) != len(of):
        raise BadInput(f"There are {len(of):,} draws and {rows_of(predictions):,} predictions: pass one per draw.")
    return predictions


def _refuse_others(given: int, explanations: int) -> None:
    if given != explanations:
        raise BadInput(
            f"There are {explanations:,} explanations, and draws of {given:,}: pass one list or table of draws per "
            "explanation; or all draws in one table, with of=, the position of each draw's explanation."
        )


def _is_list(part: Any) -> bool:
    """Whether this is a list or a column of several values, rather than one value; a tuple may be one label."""
    return isinstance(part, list) or (hasattr(part, "__array__") and getattr(part, "shape", ()) != ())


def _items(part: Any) -> list[Any]:
    return part if isinstance(part, list) else list(np.asarray(part).reshape(-1).tolist())


def _hold_draws(parts: Sequence[Any], *, texts: bool) -> bool:
    """Whether each item is the draws of one explanation: a table, a list of rows, or a list of texts; not one row."""
    if any(is_frame(part) or len(getattr(part, "shape", ())) > 1 for part in parts):
        return True
    if not all(isinstance(part, list | tuple) or len(getattr(part, "shape", ())) == 1 for part in parts):
        return False
    kinds = (list, tuple, np.ndarray, str) if texts else (list, tuple, np.ndarray)
    return all(isinstance(item, kinds) for part in parts for item in part)


def _joined(parts: Sequence[Any]) -> Any:
    """Several tables, arrays or lists as one, in the form that all of them have."""
    filled = [part for part in parts if rows_of(part)] or list(parts[:1])
    forms = {(type(part).__module__.partition(".")[0], _columns(part)) for part in filled}
    if len(forms) > 1:
        (first, _), (second, _), *_ = sorted(forms, key=str)
        differ = f"{first} and {second}" if first != second else "different columns"
        raise BadInput(f"Draws of explanations come as {differ}: pass tables of one library with the same columns.")
    try:
        return _concatenated(filled)
    except Exception as error:  # columns of different types, which each library refuses in its own way
        raise BadInput(
            f"Draws of explanations cannot be joined ({type(error).__name__}): pass tables with the same columns of "
            "the same types, or all draws in one table with of=."
        ) from error


def _columns(part: Any) -> Any:
    """The columns of a table by name, or how many an array has; None for a list."""
    return frame_names(part) if is_frame(part) else getattr(part, "shape", (0,))[1:] or None


def _concatenated(parts: list[Any]) -> Any:
    first = parts[0]
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if hasattr(first, "column_names"):
        import pyarrow as pa

        return pa.concat_tables(parts)
    if is_frame(first):
        import polars as pl

        return pl.concat(parts)
    if isinstance(first, np.ndarray) and first.ndim >= 2:
        return np.concatenate(parts)
    return [item for part in parts for item in take_rows(part, np.arange(rows_of(part)))]
