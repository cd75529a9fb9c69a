"""Rules from importances: an explanation that names features speaks of the rows that are alike in them.

Rows are alike in a number if they lie in the same bin of it, between two of its quantiles, and in a category if they
hold the same one; missing values are alike.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.conditions.condition import Condition, to_condition
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Ints, Names
from faithscope.inputs.columns import ZONED, Column, Rows, default_names, distinct_names
from faithscope.inputs.dates import Moment
from faithscope.inputs.grouping import group
from faithscope.words import readable

_ALIKE = {"number", "text", "date", ZONED, ""}  # families of columns; "" if all is missing


def alike_rules(marks: Array, names: Names | None, X: Any, bins: int, known: Any = None) -> Rules:
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
    columns = Rows(X)
    distinct_names(columns.names)
    places = feature_places(columns, names, marks.shape[1])
    source = columns if known is None else Rows(known)
    if source.names != columns.names:
        raise BadInput(
            f"X_train, of which bins are made, has {len(source.names)} columns and X has {len(columns.names)}, or they "
            "have other names: pass the same columns in the same order."
        )
    order = np.argsort(places, kind="stable")  # conditions stand in the order of the columns
    cells = np.zeros(marks.shape, np.int32)  # from 1 where a row names a feature
    conditions: list[list[Condition]] = []
    for j, position in enumerate(places[order].tolist()):
        rows = np.flatnonzero(marks[:, order[j]])
        conditions.append([])
        column = columns.column(position)
        if column.family not in _ALIKE:
            raise WrongType(
                "Rows are alike in numbers, texts, truth values or dates, one of them per column, and column "
                f"{column.name!r} holds {' and '.join(column.families)} values: convert or drop it."
            )
        if len(rows):
            known_column = source.column(position)
            cells[rows, j], conditions[j] = _binned(column, known_column, position, bins, rows)
    numbers, first = group((cells,))
    rows, features = np.nonzero(cells[first])
    parts = [
        conditions[j][cell - 1]
        for j, cell in zip(features.tolist(), cells[first[rows], features].tolist(), strict=True)
    ]
    ends = np.searchsorted(rows, np.arange(len(first) + 1)).tolist()
    return Rules(numbers, tuple(tuple(parts[a:b]) for a, b in pairwise(ends)), columns.names)._labelled(X)


def feature_places(columns: Rows, names: Names | None, width: int) -> Ints:
    """The positions of the features that importances are of."""
    by_position = names is None or not columns.named or names == default_names(width)
    if by_position and width == len(columns.names):
        return np.arange(width)
    if names is None:
        raise BadInput(
            f"Importances are of {width} features and X has {len(columns.names)} columns: pass rows with the columns "
            "that importances are of, and importances of one class (fs.read(values, class_index=...))."
        )
    needs = f"importances of {width} features speak of (pass rows as the model sees them, or sum by fs.Grouped)"
    return np.array([columns.place(name, needs) for name in names], np.int64)


def _binned(values: Column, known: Column, position: int, bins: int, rows: Ints) -> tuple[Ints, list[Condition]]:
    """The number of the bin of each of these rows, from 1, and the conditions that bins are; the last is missing."""
    condition = partial(to_condition, position, values.name)
    numbers = None if values.declared else _numbers(values)
    if numbers is None:
        codes, places = values.take(rows).coded
        conditions = [condition("==", item) for item in places]
    else:
        ends = _ends(values, known, bins)
        codes = np.searchsorted(ends, numbers[rows], side="left")  # how many lie below
        zoned = "zone" in values.family
        bounds = ends.tolist() if numbers.dtype.kind == "f" else [Moment(end, zoned) for end in ends.tolist()]
        present = condition("!=", None)
        above = [present, *(condition(">", bound) for bound in bounds)]
        upto = [*(condition("<=", bound) for bound in bounds), present]
        conditions = [low & high for low, high in zip(above, upto, strict=True)]
    codes[values.missing[rows]] = len(conditions)
    return codes + 1, [*conditions, condition("==", None)]


def _numbers(column: Column) -> Array | None:
    """A column as numbers: dates as whole nanoseconds; None if it holds texts, truth values or the like."""
    if column.family.startswith("date"):
        ticks, unit = column.ticks
        fits = np.abs(ticks[~column.missing]).max(initial=0) < 2**62 // unit
        return (ticks if fits else ticks.astype(object)) * unit
    truths = column.values.dtype == bool or (column.values.dtype == object and bool in map(type, column.values))
    numeric = column.family == "number" or column.values.dtype.kind == "f"
    return column.measured.astype(np.float64) if numeric and not truths else None


def _ends(column: Column, known: Column, bins: int) -> Array:
    """The distinct quantiles at 1/bins, 2/bins, … of what is known of a column, ascending; none if nothing is."""
    numbers = _numbers(known)
    present = np.empty(0) if numbers is None else numbers[~known.missing]
    apart = column.family and column.family.startswith("date") != known.family.startswith("date")
    if (numbers is None or apart) and not known.missing.all():
        seen = known.values[~known.missing][0]
        told = repr(seen) if isinstance(seen, str) else readable(seen)
        raise WrongType(f"Column {column.name!r} holds numbers or dates in X and {told} in X_train: convert one.")
    shares = np.arange(1, bins) / bins
    if not len(present):
        return present
    if present.dtype.kind != "f":  # a date of its own
        return np.unique(np.sort(present)[np.floor(shares * (len(present) - 1)).astype(np.int64)])
    with np.errstate(invalid="ignore"):  # between two infinities there is nothing
        ends = np.unique(np.quantile(present, shares))
    return np.asarray(ends[~np.isnan(ends)])
