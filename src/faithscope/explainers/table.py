"""A table that a model was trained on: its rows as numbers and back, as the model wants them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.inputs import first_missing, frame_columns, is_frame, to_array, to_items, to_vector

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns known from training rows; numbers stay numbers, categories become their position among the known ones.

    Attributes
    ----------
    names : tuple of str
        The features; x0, x1, … for a plain array.
    categories : tuple of tuples, or None for numbers
        For each feature the categories seen in training, in order.
    rebuild : callable
        From columns back to what the model was trained on: an array, or a pandas, polars or Arrow table.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    rebuild: Callable[[list[NDArray[Any]]], Any]

    @classmethod
    def learn(cls, X: Any, categorical: Iterable[int | str] = ()) -> "Table":
        """Learn the columns of training rows.

        Parameters
        ----------
        X : (n, d) array or pandas, polars or Arrow table, none missing
        categorical : positions or names of columns
            Numbers that are codes of categories; columns that hold no numbers are categories in any case.
        """
        if hasattr(X, "__next__"):
            raise WrongType("Training rows came one by one, and they are read more than once: pass a list.")
        names, columns = columns_with_names(X)
        if not columns or not len(columns[0]):
            raise BadInput("Training rows are empty: at least one row and one column are needed.")
        chosen = {_position(one, names) for one in to_categorical(categorical)}
        kinds = tuple(
            _known_categories(column, names[j]) if j in chosen or column.dtype.kind not in "biuf" else None
            for j, column in enumerate(columns)
        )
        for j, column in enumerate(columns):
            _refuse_missing(column, names[j])
        return cls(names, kinds, _rebuilder(X, columns))

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Which features are categories."""
        return np.array([known is not None for known in self.categories], bool)

    def encode(self, X: Any) -> Floats:
        """Rows as an (n, d) matrix of floats; a category that training did not have is refused."""
        names, columns = columns_with_names(X)
        if not columns and not (len(X) if hasattr(X, "__len__") else 0):
            return np.empty((0, len(self.names)))
        if len(columns) != len(self.names):
            raise BadInput(f"Rows have {len(columns)} features where training rows have {len(self.names)}.")
        if is_frame(X) and names != self.names and set(names) == set(self.names):
            columns = [columns[names.index(name)] for name in self.names]
        coded = [self._encode(j, column) for j, column in enumerate(columns)]
        return np.column_stack(coded) if len(coded[0]) else np.empty((0, len(coded)))

    def _encode(self, j: int, column: NDArray[Any]) -> Floats:
        known, name = self.categories[j], self.names[j]
        _refuse_missing(column, name)
        if known is None:
            if column.dtype.kind not in "biuf" and len(column):
                raise WrongType(f"Column {name!r} held numbers in training but holds {column[0]!r} here.")
            _refuse_large(column, name)
            values = column.astype(np.float64)
            if not np.isfinite(values).all():
                row = int((~np.isfinite(values)).argmax())
                raise BadInput(f"Column {name!r} holds {values[row]} at row {row}: every number must be finite.")
            return values
        places = {value: float(place) for place, value in enumerate(known)}
        items = column.tolist()
        unseen = next((row for row, item in enumerate(items) if item not in places), None)
        if unseen is not None:
            raise BadInput(
                f"Column {name!r} holds {items[unseen]!r} at row {unseen}, a category that training rows do not have: "
                "leave such rows out, or train with them."
            )
        return np.array([places[item] for item in items], np.float64)

    def decode(self, matrix: Floats) -> Any:
        """Rows as the model wants them, from a matrix as `encode` makes it."""
        columns = [
            matrix[:, j] if known is None else _lookup(known, matrix[:, j]) for j, known in enumerate(self.categories)
        ]
        return self.rebuild(columns)


def columns_with_names(X: Any) -> tuple[tuple[str, ...], list[NDArray[Any]]]:
    """Names and columns of rows of any kind; x0, x1, … where they have no names."""
    if is_frame(X):
        return frame_columns(X)
    array = to_array(X, "Rows")
    if array is None:
        rows = [to_vector(row, "Rows") for row in to_items(X, "Rows")]
        if len({row.shape for row in rows}) > 1:
            raise BadInput("Rows are lists of different lengths: give every row one value a feature.")
        array = np.array(rows) if rows else np.empty((0, 0))
    if array.ndim != 2:
        raise BadInput(f"Rows must have one row a row and one column a feature; got shape {array.shape}.")
    columns = [to_vector(column.tolist()) if array.dtype.kind not in "biuf" else column for column in array.T]
    return tuple(f"x{j}" for j in range(array.shape[1])), columns


def to_categorical(given: Any) -> list[Any]:
    """Positions or names of columns, in any collection."""
    return list(given) if isinstance(given, set | frozenset) else to_items(given, "categorical, the columns of codes,")


def _position(one: int | str, names: tuple[str, ...]) -> int:
    if isinstance(one, str) and one in names:
        return names.index(one)
    if isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < len(names):
        return int(one)
    raise BadInput(f"categorical names {one!r}, which is no column of the training rows: {', '.join(names[:12])}.")


def _refuse_large(column: NDArray[Any], name: str) -> None:
    """Raise where whole numbers are too large to be told apart as floats."""
    if column.dtype.kind in "iu" and len(column) and max(-int(column.min()), int(column.max())) > 2**53:
        raise BadInput(
            f"Column {name!r} holds whole numbers beyond 2**53, which floats cannot tell apart: name it in "
            "categorical, or leave it out."
        )


def _refuse_missing(column: NDArray[Any], name: str) -> None:
    row = first_missing(column)
    if row is not None:
        raise BadInput(f"Column {name!r} is missing a value at row {row}: drop or fill such rows first.")


def _known_categories(column: NDArray[Any], name: str) -> tuple[Any, ...]:
    _refuse_missing(column, name)
    values = set(column.tolist())
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=lambda value: (type(value).__name__, str(value))))


def _lookup(known: tuple[Any, ...], places: Floats) -> NDArray[Any]:
    if all(type(value) in (int, float, bool) for value in known):
        return np.array(known)[places.astype(np.int64)]
    values = np.empty(len(known), object)
    values[:] = known
    return values[places.astype(np.int64)]


def _rebuilder(X: Any, columns: list[NDArray[Any]]) -> Callable[[list[NDArray[Any]]], Any]:
    """What makes rows of columns again, of the same library and with the same types."""
    if hasattr(X, "iloc"):
        return _PandasRows(tuple(X.columns), tuple(X.dtypes))
    if hasattr(X, "column_names"):
        return _ArrowRows(X.schema)
    if is_frame(X):
        return _PolarsRows(dict(X.schema))
    given = to_array(X, "Rows")
    numeric = {column.dtype.kind for column in columns} <= set("biuf")
    return _ArrayRows(np.dtype(object) if not numeric else np.dtype(np.float64) if given is None else given.dtype)


@dataclass(frozen=True)
class _ArrayRows:
    dtype: np.dtype[Any]

    def __call__(self, columns: list[NDArray[Any]]) -> NDArray[Any]:
        if self.dtype.kind in "biuf":
            kind = np.float64 if self.dtype.kind in "biu" else self.dtype
            return np.ascontiguousarray(np.stack(columns).T, kind)
        rows = np.empty((len(columns[0]), len(columns)), object)
        for j, column in enumerate(columns):
            rows[:, j] = column
        return rows


@dataclass(frozen=True)
class _PandasRows:
    names: tuple[Any, ...]
    dtypes: tuple[Any, ...]

    def __call__(self, columns: list[NDArray[Any]]) -> Any:
        import pandas as pd

        typed = {}
        for j, (column, dtype) in enumerate(zip(columns, self.dtypes, strict=True)):
            broken = getattr(dtype, "kind", "O") in "iu" and not np.array_equal(column, np.floor(column))
            # A perturbed number need not be whole any more.
            typed[j] = pd.Series(column) if broken else pd.Series(column).astype(dtype)
        frame = pd.DataFrame(typed)
        frame.columns = pd.Index(self.names)
        return frame


@dataclass(frozen=True)
class _PolarsRows:
    schema: dict[str, Any]

    def __call__(self, columns: list[NDArray[Any]]) -> Any:
        import polars as pl

        series = []
        for (name, dtype), column in zip(self.schema.items(), columns, strict=True):
            made = pl.Series(name, column.tolist())
            whole = dtype.is_integer() and not np.array_equal(column, np.floor(column.astype(float)))
            series.append(made if whole else made.cast(dtype))
        return pl.DataFrame(series)


@dataclass(frozen=True)
class _ArrowRows:
    schema: Any

    def __call__(self, columns: list[NDArray[Any]]) -> Any:
        import pyarrow as pa

        arrays = [pa.array(column.tolist()) for column in columns]
        whole = [
            pa.types.is_integer(field.type) and pa.types.is_floating(a.type)
            for field, a in zip(self.schema, arrays, strict=True)
        ]
        kinds = zip(self.schema, arrays, whole, strict=True)
        made = [a if left and not _is_whole(a) else a.cast(field.type) for field, a, left in kinds]
        return pa.table(dict(zip(self.schema.names, made, strict=True)))


def _is_whole(array: Any) -> bool:
    values = array.to_numpy(zero_copy_only=False)
    return bool(np.array_equal(values, np.floor(values)))
