"""Rows as columns, and from columns back to rows as a model takes them: an array, or a table of any library."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import to_array
from faithscope.inputs.columns import Rows
from faithscope.inputs.missing import missing_values
from faithscope.inputs.rows import flat_rows
from faithscope.inputs.tensors import is_a

Columns = list[Array] | Array  # one array per feature, or the rows of a matrix
Rebuild = Callable[[Any], Any]  # from columns to rows; all but arrays take a list of columns


def rebuilder(rows: Rows, X: Any) -> Rebuild:
    """A function from columns to rows, of the library that X is of and with the same types; `rows` is X as read."""
    if hasattr(X, "iloc"):
        return PandasRows(tuple(X.columns), tuple(X.dtypes))
    if rows.named:
        table = X if hasattr(X, "column_names") else X.to_arrow()
        nan = [
            each.values.dtype.kind == "f" and not column.null_count and bool(each.missing.any())
            for each, column in zip(rows.columns, table.columns, strict=True)
        ]
        return ArrowRows(table.schema, tuple(nan), None if table is X else dict(X.schema))
    flat, axes = flat_rows(X)
    given = to_array(flat, "Rows")
    if given is None:  # lists, in which whole numbers may stand beside fractions
        numeric = all(column.family == "number" and not column.missing.any() for column in rows.columns)
        dtype = np.dtype(np.float64 if numeric else object)
    else:
        kinds = {column.values.dtype.kind for column in rows.columns}
        dtype = given.dtype if kinds == {"M"} or kinds <= set("biuf") else np.dtype(object)
    return ArrayRows(dtype, axes, X.device if is_a(X, "torch", "Tensor") else None)


def _whole(column: Array) -> bool:
    """Whether all numbers that are not missing are whole."""
    return column.dtype.kind != "f" or bool(np.array_equal(column, np.floor(column), equal_nan=True))


@dataclass(frozen=True)
class ArrayRows:
    """Rows as a NumPy array; whole numbers become floats, since a perturbed number need not be whole.

    Attributes
    ----------
    axes : tuple of int, optional
        The axes of one row, if rows are images or series.
    device : optional
        Where rows are, if they are tensors of torch.
    """

    dtype: np.dtype[Any]
    axes: tuple[int, ...] | None = None
    device: Any = None

    def __call__(self, columns: Columns) -> Any:
        if self.dtype.kind in "biufM":
            kind = np.float64 if self.dtype.kind in "biu" else self.dtype
            rows = np.array(np.asarray(columns).T, kind, order="C")
        else:
            rows = np.empty((len(columns[0]), len(columns)), object)
            for j, column in enumerate(columns):
                rows[:, j] = column.tolist() if column.dtype.kind == "M" else column
        rows = rows if self.axes is None else rows.reshape(len(rows), *self.axes)
        if self.device is None:
            return rows
        import torch

        return torch.as_tensor(rows, device=self.device)


@dataclass(frozen=True)
class PandasRows:
    """Rows as a pandas frame."""

    names: tuple[Any, ...]
    dtypes: tuple[Any, ...]

    def __call__(self, columns: list[Array]) -> Any:
        import pandas as pd

        pairs = zip(columns, self.dtypes, strict=True)
        frame = pd.DataFrame({j: _pandas_column(column, dtype) for j, (column, dtype) in enumerate(pairs)})
        frame.columns = pd.Index(self.names)
        return frame


def _pandas_column(column: Array, dtype: Any) -> Any:
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype) and dtype.categories is not None:
        flags = dtype.categories.dtype == bool and column.dtype.kind == "f"  # floats, since some are missing
        known = dtype.categories.astype(float) if flags else dtype.categories
        exact = {"O": object, "M": known.dtype}.get(column.dtype.kind)  # numbers are compared by value
        codes = known.get_indexer(pd.Index(column, dtype=exact))  # a category that the dtype lacks becomes missing
        return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype))
    if column.dtype.kind == "M":
        dates = pd.Series(column)
        return (dates.dt.tz_localize("UTC") if getattr(dtype, "tz", None) else dates).astype(dtype)
    kind = getattr(dtype, "kind", "O")
    # No flag or integer of NumPy's stands for missing.
    hole = kind in "biu" and isinstance(dtype, np.dtype) and bool(missing_values(column).any())
    if kind == "b" and column.dtype.kind == "f":  # a perturbed number need not be 0 or 1
        flags = pd.Series(np.where(np.isnan(column), None, column != 0))
        return flags if hole else flags.astype(dtype)
    if kind in "iu" and (hole or not _whole(column)):  # nor whole
        return pd.Series(column if column.dtype.kind != "O" else column.astype(np.float64))
    # Without dtype=object pandas would change the type of texts, and turn None into NaN.
    return pd.Series(column, dtype=object) if dtype == np.dtype(object) else pd.Series(column).astype(dtype)


@dataclass(frozen=True)
class ArrowRows:
    """Rows as an Arrow table; missing is null, or NaN in the columns of `nan`.

    With the schema of a polars frame they are such a frame, in which a category that its type does not have is missing.
    """

    schema: Any
    nan: tuple[bool, ...]
    polars: dict[str, Any] | None = None

    def __call__(self, columns: list[Array]) -> Any:
        import pyarrow as pa

        arrays = []
        for field, column, nan in zip(self.schema, columns, self.nan, strict=True):
            if pa.types.is_dictionary(field.type):
                texts = pa.array(column.tolist(), field.type.value_type, from_pandas=True)
                arrays.append(texts.dictionary_encode().cast(field.type))
                continue
            array = pa.array(column if column.dtype.kind == "M" else column.tolist(), from_pandas=not nan)
            zone = getattr(field.type, "tz", None)
            if zone and column.dtype.kind == "M":
                array = array.cast(pa.timestamp(array.type.unit, zone))
            broken = pa.types.is_integer(field.type) and pa.types.is_floating(array.type) and not _whole(column)
            arrays.append(array if broken else array.cast(field.type))
        table = pa.table(dict(zip(self.schema.names, arrays, strict=True)))
        if self.polars is None:
            return table
        import polars as pl

        frame: Any = pl.from_arrow(table)
        return frame.cast({name: kind for name, kind in self.polars.items() if isinstance(kind, pl.Enum)}, strict=False)
