"""The table that a model was trained on: rows of its kind as a matrix of floats, and back as the model reads them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.arrays import Bools, Floats
from faithscope.explainers.shared.columns import column_position, columns_with_names, to_categorical
from faithscope.explainers.shared.encodings import (
    Dates,
    as_numbers,
    as_objects,
    encode_categories,
    encode_numbers,
    known_categories,
    palette,
)
from faithscope.explainers.shared.table_rows import ArrayRows, Rebuild, rebuilder
from faithscope.explanations.base import several
from faithscope.inputs.arrays import declared_categories, is_frame
from faithscope.inputs.dates import dated_columns, hold_dates
from faithscope.inputs.hints import hint
from faithscope.inputs.missing import is_missing, missing_values

_SHOWN = 5  # names of columns that are listed


@dataclass(frozen=True, eq=False)
class Unseen:
    """The categories of rows that no training row has: `decode` gives them back for these very rows.

    Attributes
    ----------
    values : dict of int to (n,) array
        The columns that hold such a category, by feature; read only at rows whose code means "none of the known".
    """

    values: Mapping[int, NDArray[Any]]

    def take(self, rows: Any) -> "Unseen":
        """The same for some of the rows, in their order."""
        return Unseen({j: column[rows] for j, column in self.values.items()})


@dataclass(frozen=True, eq=False)
class Table:
    """Columns known from training rows: numbers stay numbers, and a category becomes its place among the known ones.

    A missing number is NaN. If a feature has m categories, a missing value has place m, and a category that no training
    row has ("none of the known") has place m + 1. Dates are numbers of a unit since 1970.

    Attributes
    ----------
    names : tuple of str
        The features; x0, x1, … for a plain array.
    categories : tuple of tuples, or None for numbers and dates
        The categories of each feature in training, in order.
    rebuild : callable
        From columns to rows as the model reads them: an array, or a pandas, polars or Arrow table.
    dates : tuple of Dates, or None for numbers and categories
    markers : tuple
        What a missing value of each feature looks like: None or the like in a column of Python objects, else NaN.
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
            Numbers and dates that are codes of categories; columns that hold neither are categories in any case, and
            so are those that a table declares to be, as pandas' type "category" does.
        """
        if hasattr(X, "__next__"):
            raise WrongType("Training rows are an iterator, and they are read more than once: pass a list.")
        names, columns = columns_with_names(X)
        if not columns or not len(columns[0]):
            raise BadInput("Training rows are empty: at least one row and one column are needed.")
        named = {column_position(column, names) for column in to_categorical(categorical)}
        chosen = named | declared_categories(X)
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
    def axes(self) -> tuple[int, ...] | None:
        """The axes of one row, if rows are images or series; else None."""
        return getattr(self.rebuild, "axes", None)

    @property
    def categorical(self) -> Bools:
        """Which features are categories."""
        return np.array([known is not None for known in self.categories], bool)

    def encode(self, X: Any) -> Floats:
        """Rows as an (n, d) matrix of floats."""
        return self.read(X)[0]

    def read(self, X: Any) -> tuple[Floats, Unseen]:
        """Rows as a matrix, and their categories that no training row has."""
        names, columns = columns_with_names(X)
        if not columns and not (len(X) if hasattr(X, "__len__") else 0):
            return np.empty((0, len(self.names))), Unseen({})
        if len(columns) != len(self.names):
            raise BadInput(self._other_width(names if is_frame(X) else None, len(columns)))
        if is_frame(X) and names != self.names:
            columns = self._in_order(names, columns)
        coded = [self._encode(j, column) for j, column in enumerate(columns)]
        matrix = np.column_stack(coded) if len(coded[0]) else np.empty((0, len(coded)))
        strange = [j for j, known in enumerate(self.categories) if known is not None and (coded[j] > len(known)).any()]
        return matrix, Unseen({j: as_objects(columns[j].tolist()) for j in strange})

    def _other_width(self, names: tuple[str, ...] | None, width: int) -> str:
        """What to say of rows with more or fewer columns than training rows have: which ones, if they have names."""
        told = f"Rows have {several(width, 'feature', 'features')} but training rows have {len(self.names)}"
        if names is None or _only_numbered(names) or _only_numbered(self.names):
            return f"{told}: pass the same columns."
        more, fewer = (_listed(own, others) for own, others in ((names, self.names), (self.names, names)))
        sides = (("only these rows have", more), ("only training rows have", fewer))
        only = ", ".join(f"{which} {columns}" for which, columns in sides if columns)
        return f"{told}: {only or 'some columns stand twice'}. Pass the same columns."

    def _in_order(self, names: tuple[str, ...], columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """The columns in the order of training, by name; by position if either table only numbers its columns."""
        if set(names) == set(self.names):
            if len(set(names)) < len(names):
                twice = max(names, key=names.count)
                raise BadInput(
                    f"Rows have two columns {twice!r}, and their columns are in another order than those of training "
                    "rows: give each column its own name, or pass the columns in the order of training."
                )
            return [columns[names.index(name)] for name in self.names]
        if _only_numbered(names) or _only_numbered(self.names):
            return columns
        strange = next(name for name in names if name not in self.names)
        raise BadInput(
            f"Rows have a column {strange!r} that training rows do not have. {hint(strange, self.names)} "
            "Pass the columns of training, or rows.to_numpy() if they are the same columns in the same order."
        )

    def _encode(self, j: int, column: NDArray[Any]) -> Floats:
        known, dates = self.categories[j], self.dates[j]
        if known is not None:
            return encode_categories(known, column)
        return encode_numbers(column, self.names[j]) if dates is None else dates.encode(column, self.names[j])

    def decode(self, matrix: Floats, unseen: Unseen | None = None) -> Any:
        """Rows as the model reads them, from a matrix as `encode` returns it.

        Parameters
        ----------
        matrix : (n, d) array
        unseen : Unseen, optional
            The categories of these very rows that no training row has: from `read`, with `take` if the rows are others
            than those read. Without it, or if the column's type cannot hold it, such a value is missing.
        """
        if self._is_array_of_numbers:
            return self.rebuild(matrix.T)
        return self.rebuild([self.decode_column(j, matrix[:, j], unseen) for j in range(len(self.names))])

    @property
    def _is_array_of_numbers(self) -> bool:
        """Whether rows are an array of numbers, as the matrix is."""
        numeric = isinstance(self.rebuild, ArrayRows) and self.rebuild.dtype.kind in "biuf"
        return numeric and not self.categorical.any() and not self.whole.any()

    def decode_column(self, j: int, values: Floats, unseen: Unseen | None = None) -> NDArray[Any]:
        """The column of feature j as `rebuild` takes it."""
        known, dates = self.categories[j], self.dates[j]
        if known is not None:
            strange = None if unseen is None else unseen.values.get(j)
            return _with_unseen(self._look_up(j, known, values), values > len(known), strange)
        if dates is not None:
            return dates.decode(values)
        marker = self.markers[j]
        missing = np.isnan(values) if not isinstance(marker, float) else np.zeros(0, bool)
        return np.where(missing, marker, values.astype(object)) if missing.any() else values

    def _look_up(self, j: int, known: tuple[Any, ...], values: Floats) -> NDArray[Any]:
        places = values.astype(np.int64)
        return self.palette(j, complete=bool((places >= len(known)).any()))[places]

    def palette(self, j: int, *, complete: bool = True) -> NDArray[Any]:
        """What the model sees for each place of a category; if complete, also for missing and for none of the known."""
        known = self.categories[j]
        assert known is not None
        return palette(known, self.markers[j], complete=complete)

    def readable(self, j: int, value: float) -> Any:
        """A number as a rule names it: the number of a date, which must be whole, as that date."""
        dates = self.dates[j]
        return float(value) if dates is None else dates.moment(value)

    @property
    def whole(self) -> Bools:
        """Which features are dates: their cuts must be whole numbers of the unit, so that rules can name them."""
        return np.array([dates is not None for dates in self.dates], bool)


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """A column as it is, unless it holds Python numbers of which some are missing: then as floats."""
    if column.dtype != object or isinstance(column[0], str):
        return column
    missing = missing_values(column)
    numbers = as_numbers(column) if missing.any() and not missing.all() else None
    return column if numbers is None else numbers


def _marker(X: Any, j: int, column: NDArray[Any]) -> Any:
    """What a missing value looks like in a column of Python objects, None by default; NaN in any other column."""
    typed = hasattr(X, "iloc") and X.dtypes.iloc[j].kind in "biuf"  # pandas' own type, which knows missing
    if column.dtype != object or typed:
        return np.nan
    return next((item for item in column if is_missing(item)), None)


def _with_unseen(column: NDArray[Any], where: Bools, strange: NDArray[Any] | None) -> NDArray[Any]:
    if strange is None or not where.any():
        return column
    column = column.astype(object)
    column[where] = strange[where]
    return column


def _listed(names: tuple[str, ...], known: tuple[str, ...]) -> str:
    """The names that are not known, the first few of them."""
    strange = [name for name in names if name not in known]
    more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
    return ", ".join(map(repr, strange[:_SHOWN])) + more


def _only_numbered(names: tuple[str, ...]) -> bool:
    """Whether columns have no names of their own: those of an array, or of a frame that was made from one."""
    return names in (tuple(map(str, range(len(names)))), tuple(f"x{j}" for j in range(len(names))))
