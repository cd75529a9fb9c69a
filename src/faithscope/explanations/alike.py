"""Rules from importances: an explanation that names features speaks of the rows that are alike in them.

Rows are alike in a number if they lie in the same bin of it, between two of its quantiles, and in a category if they
hold the same one; missing values are alike.
"""

from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.conditions.condition import Condition
from faithscope.explanations.conditions.feature_column import FeatureColumn
from faithscope.explanations.conditions.features import array_columns, default_names, distinct_names
from faithscope.explanations.conditions.written import to_condition
from faithscope.explanations.rules import Rules
from faithscope.inputs.arrays import declared_categories, frame_names, is_frame, to_vector
from faithscope.inputs.dates import Moment, dated_column, hold_dates
from faithscope.inputs.grouping import group
from faithscope.inputs.hints import hint

Ints = NDArray[np.int64]

_NUMBERS = (int, float, np.integer, np.floating, Decimal)


def alike_rules(marks: NDArray[Any], names: tuple[str, ...] | None, X: Any, bins: int, known: Any = None) -> Rules:
    """For each row, the rule that its named features are as they are: it covers the rows alike in all of them.

    Parameters
    ----------
    marks : (n, d) array
        Not 0 where a row names a feature.
    names : d names, optional
        The columns of X that these are; by default all of them, in order.
    X : (n, d) array, list of rows, or table
    bins : int
        At most how many bins a number has: its bin is how many of the distinct quantiles at 1/bins, 2/bins, … of its
        column lie below it. Rows with one value are never parted, so that there are fewer bins where many share it.
    known : rows like X, optional
        The rows of which quantiles are taken; by default X.

    Examples
    --------
    >>> rules = alike_rules(np.array([[1, 0], [1, 1], [0, 0]]), None, [[1.0, "a"], [2.0, "b"], [9.0, None]], bins=2)
    >>> [rules.describe(row) for row in range(3)]
    ['x0 <= 2', 'x0 <= 2 and x1 == b', 'everything']
    """
    columns = _Columns(X)
    places = columns.places(names, marks.shape[1])
    source = columns if known is None else _Columns(known)
    if source.names != columns.names:
        raise BadInput(
            f"X_train, of which bins are made, has {len(source.names)} columns and X has {len(columns.names)}, or they "
            "have other names: pass the same columns in the same order."
        )
    order = np.argsort(places, kind="stable")  # conditions stand in the order of the columns
    rows, features = np.nonzero(marks[:, order])
    sizes = np.bincount(rows, minlength=len(marks))
    within = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]  # the how many-th of its row
    parts: list[Condition] = []
    ids = np.full((len(marks), int(sizes.max(initial=0))), -1)
    by_feature = np.argsort(features, kind="stable")
    for here in np.split(by_feature, np.flatnonzero(np.diff(features[by_feature])) + 1) if len(rows) else ():
        position = int(places[order[features[here[0]]]])
        codes, conditions = _binned(columns.at(position), source.at(position), position, bins, rows[here])
        ids[rows[here], within[here]] = codes + len(parts)
        parts += conditions
    numbers, first = group((ids,)) if ids.shape[1] else (np.zeros(len(marks), np.int64), np.arange(len(marks))[:1])
    distinct = tuple(tuple(parts[part] for part in row if part >= 0) for row in ids[first].tolist())
    return Rules(numbers, distinct, columns.names)._labelled(X)


def column_count(X: Any) -> int:
    """How many columns rows have; of images, how many cells."""
    return len(frame_names(X) if is_frame(X) else array_columns(X))


class _Columns:
    """The columns of rows, one at a time: of a table by name, of an array by position."""

    def __init__(self, X: Any) -> None:
        self._categories = declared_categories(X)
        self._table = X if is_frame(X) else None
        self._arrays = [] if is_frame(X) else array_columns(X)
        self.names = distinct_names(frame_names(X)) if is_frame(X) else default_names(len(self._arrays))

    def at(self, position: int) -> tuple[FeatureColumn, bool]:
        """A column, and whether it is declared to hold categories."""
        if self._table is None:
            values, zoned = to_vector(self._arrays[position]), False
        else:
            values, zoned = dated_column(self._table, position)
        return FeatureColumn(self.names[position], values, zoned), position in self._categories

    def places(self, names: tuple[str, ...] | None, width: int) -> Ints:
        """The positions of the features that importances are of."""
        by_position = names is None or self._table is None or names == default_names(width)
        if by_position and width == len(self.names):
            return np.arange(width)
        known = {name: place for place, name in enumerate(self.names)}
        odd = next((name for name in names or () if name not in known), None)
        if names is None or odd is not None:
            what = f"{width} features" if odd is None else f"{width} features, {odd!r} among them,"
            closest = "" if odd is None else f" {hint(odd, self.names)}"
            raise BadInput(
                f"Importances are of {what} and X has {len(self.names)} columns, so that it cannot be told which rows "
                f"are alike in a feature: pass rows with the columns that importances are of.{closest}"
            )
        return np.array([known[name] for name in names], np.int64)


def _binned(
    column: tuple[FeatureColumn, bool], source: tuple[FeatureColumn, bool], position: int, bins: int, rows: Ints
) -> tuple[Ints, list[Condition]]:
    """The number of the bin of each of these rows, and the conditions that the bins are; the last one is missing."""
    (values, declared), (known, _) = column, source
    condition = partial(to_condition, position, values.name)
    numbers, missing = None if declared else _numbers(values), values.missing[rows]
    if numbers is None:
        places: dict[Any, int] = {}
        held = zip(values.values[rows].tolist(), missing.tolist(), strict=True)
        codes = np.array([0 if gone else places.setdefault(item, len(places)) for item, gone in held], np.int64)
        conditions = [condition("==", item) for item in places]
        if len({each.family for each in conditions}) > 1:
            two = ", ".join(map(repr, list({type(item): item for item in places}.values())[:2]))
            raise WrongType(f"Column {values.name!r} holds values of several kinds, such as {two}: convert it to one.")
    else:
        ends = _ends(values, known, bins)
        codes = np.searchsorted(ends, numbers[rows], side="left")  # how many lie below
        bounds = ends.tolist() if numbers.dtype.kind == "f" else [Moment(end, _zoned(values)) for end in ends.tolist()]
        upto, above = [condition("<=", bound) for bound in bounds], [condition(">", bound) for bound in bounds]
        conditions = [*upto[:1], *(low & high for low, high in zip(above, upto[1:], strict=False)), *above[-1:]]
        conditions = conditions or [condition("!=", None)]
    codes[missing] = len(conditions)
    return codes, [*conditions, condition("==", None)]


def _numbers(column: FeatureColumn) -> NDArray[Any] | None:
    """A column as numbers: dates as whole nanoseconds; None if it holds texts, truth values or the like."""
    values = column.values
    if hold_dates(values):
        ticks, unit = column.ticks
        fits = np.abs(ticks[~column.missing]).max(initial=0) < 2**62 // unit
        return np.asarray((ticks if fits else ticks.astype(object)) * unit)
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    present = values[~column.missing] if values.dtype == object else values[:0]
    held = len(present) and all(isinstance(item, _NUMBERS) and not isinstance(item, bool) for item in present)
    return column.numbers.astype(np.float64) if held else None


def _ends(column: FeatureColumn, known: FeatureColumn, bins: int) -> NDArray[Any]:
    """The distinct quantiles at 1/bins, 2/bins, … of what is known of a column, ascending; none if nothing is."""
    numbers = _numbers(known)
    present = np.empty(0) if numbers is None else numbers[~known.missing]
    if numbers is None and not known.missing.all():
        seen = known.values[~known.missing][0]
        raise WrongType(f"Column {column.name!r} holds numbers or dates in X and {seen!r} in X_train: convert one.")
    shares = np.arange(1, bins) / bins
    if not len(present):
        return present
    if present.dtype.kind != "f":  # a date of its own
        return np.unique(np.sort(present)[np.floor(shares * (len(present) - 1)).astype(np.int64)])
    with np.errstate(invalid="ignore"):  # between two infinities there is nothing
        ends = np.unique(np.quantile(present, shares))
    return np.asarray(ends[~np.isnan(ends)])


def _zoned(column: FeatureColumn) -> bool:
    """Whether dates have a time zone; Python's own say so themselves."""
    first = Moment.of(column.values[~column.missing][0]) if column.values.dtype == object else None
    return column.zoned if first is None else first.zoned
