"""A table that a model was trained on: its rows as numbers and back, as the model wants them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.table_columns import (
    Dates,
    as_numbers,
    encode_categories,
    encode_numbers,
    known_categories,
    palette,
)
from faithscope.explainers.shared.table_rows import Rebuild, rebuilder
from faithscope.inputs.arrays import is_frame, to_array, to_items, to_vector
from faithscope.inputs.dates import dated_columns, hold_dates
from faithscope.inputs.missing import is_missing, missing_values

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Own:
    """What rows hold where a category is none of the known ones: `decode` gives it back for these very rows.

    Attributes
    ----------
    values : dict of int to (n,) array
        By feature, only those that hold such a category; the array is read where the code says "none of the known".
    """

    values: Mapping[int, NDArray[Any]]

    def take(self, rows: Any) -> "Own":
        """What some of the rows hold, in their order."""
        return Own({j: column[rows] for j, column in self.values.items()})


@dataclass(frozen=True, eq=False)
class Table:
    """Columns known from training rows; numbers stay numbers, categories become their place among the known ones.

    A missing number is NaN. Of a feature with m categories a missing value has place m, and a category that training
    rows do not have, "none of the known", has place m + 1. Dates are numbers of a unit since 1970.

    Attributes
    ----------
    names : tuple of str
        The features; x0, x1, … for a plain array.
    categories : tuple of tuples, or None for numbers and dates
        For each feature the categories seen in training, in order.
    rebuild : callable
        From columns back to what the model was trained on: an array, or a pandas, polars or Arrow table.
    dates : tuple of Dates, or None for numbers and categories
    markers : tuple
        For each feature what a missing value looks like among Python objects; NaN elsewhere.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    rebuild: Rebuild
    dates: tuple[Dates | None, ...]
    markers: tuple[Any, ...]

    @classmethod
    def learn(cls, X: Any, categorical: Iterable[int | str] = ()) -> "Table":
        """Learn the columns of training rows.

        Parameters
        ----------
        X : (n, d) array or pandas, polars or Arrow table
            Values may be missing: None, NaN, NaT or a library's NA.
        categorical : positions or names of columns
            Numbers and dates that are codes of categories; columns that hold neither are categories in any case.
        """
        if hasattr(X, "__next__"):
            raise WrongType("Training rows came one by one, and they are read more than once: pass a list.")
        names, columns = columns_with_names(X)
        if not columns or not len(columns[0]):
            raise BadInput("Training rows are empty: at least one row and one column are needed.")
        chosen = {_position(one, names) for one in to_categorical(categorical)}
        kept = [column if j in chosen else _plain(column) for j, column in enumerate(columns)]
        zoned = dated_columns(X)[2] if is_frame(X) else [False] * len(names)
        dates = tuple(
            Dates.learn(column, zoned[j]) if j not in chosen and hold_dates(column) else None
            for j, column in enumerate(kept)
        )
        kinds = tuple(
            None if dates[j] or (column.dtype.kind in "biuf" and j not in chosen) else known_categories(column)
            for j, column in enumerate(kept)
        )
        markers = tuple(_marker(X, j, column) for j, column in enumerate(columns))
        return cls(names, kinds, rebuilder(X, columns), dates, markers)

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Which features are categories."""
        return np.array([known is not None for known in self.categories], bool)

    def encode(self, X: Any) -> Floats:
        """Rows as an (n, d) matrix of floats."""
        return self.read(X)[0]

    def read(self, X: Any) -> tuple[Floats, Own]:
        """Rows as a matrix, and the categories of theirs that training rows do not have."""
        names, columns = columns_with_names(X)
        if not columns and not (len(X) if hasattr(X, "__len__") else 0):
            return np.empty((0, len(self.names))), Own({})
        if len(columns) != len(self.names):
            raise BadInput(f"Rows have {len(columns)} features where training rows have {len(self.names)}.")
        if is_frame(X) and names != self.names and set(names) == set(self.names):
            columns = [columns[names.index(name)] for name in self.names]
        coded = [self._encode(j, column) for j, column in enumerate(columns)]
        matrix = np.column_stack(coded) if len(coded[0]) else np.empty((0, len(coded)))
        unseen = [j for j, known in enumerate(self.categories) if known is not None and (coded[j] > len(known)).any()]
        return matrix, Own({j: _objects(columns[j]) for j in unseen})

    def _encode(self, j: int, column: NDArray[Any]) -> Floats:
        known, dates = self.categories[j], self.dates[j]
        if known is not None:
            return encode_categories(known, column)
        return encode_numbers(column, self.names[j]) if dates is None else dates.encode(column, self.names[j])

    def decode(self, matrix: Floats, own: Own | None = None) -> Any:
        """Rows as the model wants them, from a matrix as `encode` makes it.

        Parameters
        ----------
        matrix : (n, d) array
        own : Own, optional
            What the same rows hold where a category is none of the known ones: as `read` gives it, `take` for other
            rows than those read. Without it, or where the column's type cannot hold it, such a value is missing.
        """
        return self.rebuild([self.decode_column(j, matrix[:, j], own) for j in range(len(self.names))])

    def decode_column(self, j: int, values: Floats, own: Own | None = None) -> NDArray[Any]:
        """The column of one feature as `rebuild` takes it."""
        known, dates = self.categories[j], self.dates[j]
        if known is not None:
            unseen = None if own is None else own.values.get(j)
            return _with_own(self._look_up(j, known, values), values > len(known), unseen)
        if dates is not None:
            return dates.decode(values)
        marker = self.markers[j]
        missing = np.isnan(values) if not isinstance(marker, float) else np.zeros(0, bool)
        return np.where(missing, marker, values.astype(object)) if missing.any() else values

    def _look_up(self, j: int, known: tuple[Any, ...], values: Floats) -> NDArray[Any]:
        places = values.astype(np.int64)
        return self.palette(j, complete=bool((places >= len(known)).any()))[places]

    def palette(self, j: int, *, complete: bool = True) -> NDArray[Any]:
        """What the model sees for each place of a category; where complete, for missing and for none of them too."""
        known = self.categories[j]
        assert known is not None
        return palette(known, self.markers[j], complete=complete)

    def readable(self, j: int, value: float) -> Any:
        """A number as a rule names it; that of a date, which must be whole, as a date."""
        dates = self.dates[j]
        return float(value) if dates is None else dates.moment(value)

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Which features are dates: cuts of such are whole numbers of their unit, so that they can be named."""
        return np.array([one is not None for one in self.dates], bool)


def columns_with_names(X: Any) -> tuple[tuple[str, ...], list[NDArray[Any]]]:
    """Names and columns of rows of any kind; x0, x1, … where they have no names."""
    if is_frame(X):
        return dated_columns(X)[:2]
    array = to_array(X, "Rows")
    if array is None:
        rows = [to_vector(row, "Rows") for row in to_items(X, "Rows")]
        if len({row.shape for row in rows}) > 1:
            raise BadInput("Rows are lists of different lengths: give every row one value a feature.")
        array = np.array(rows) if rows else np.empty((0, 0))
    if array.ndim != 2:
        raise BadInput(f"Rows must have one row a row and one column a feature; got shape {array.shape}.")
    columns = [to_vector(column.tolist()) if array.dtype.kind not in "biufM" else column for column in array.T]
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


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """Numbers among which some are missing as floats; any other column as it is."""
    if column.dtype != object or isinstance(column[0], str):
        return column
    missing = missing_values(column)
    numbers = as_numbers(column) if missing.any() and not missing.all() else None
    return column if numbers is None else numbers


def _marker(X: Any, j: int, column: NDArray[Any]) -> Any:
    """What is missing in a column of Python objects, None by default; NaN in any other column."""
    typed = hasattr(X, "iloc") and X.dtypes.iloc[j].kind in "biuf"  # pandas' own type, which knows missing
    if column.dtype != object or typed:
        return np.nan
    return next((one for one in column if is_missing(one)), None)


def _objects(column: NDArray[Any]) -> NDArray[Any]:
    values = np.empty(len(column), object)
    values[:] = column.tolist()
    return values


def _with_own(column: NDArray[Any], unseen: NDArray[np.bool_], own: NDArray[Any] | None) -> NDArray[Any]:
    if own is None or not unseen.any():
        return column
    column = column.astype(object)
    column[unseen] = own[unseen]
    return column
