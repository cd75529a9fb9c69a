"""Values of dice-ml's rows: numbers that it made texts or rounded to single precision, as they were."""

from typing import Any

import numpy as np

from faithscope.inputs.checks import is_real

Rows = list[list[Any]]


def to_numbers(points: Rows, originals: Rows) -> tuple[Rows, Rows]:
    """Counterfactuals and the rows that they are of, column by column as they were in the data.

    Examples
    --------
    >>> to_numbers([["30.5", "clerk"]], [[float(np.float32(32.249)), "cook"]])
    ([[30.5, 'clerk']], [[32.249, 'cook']])
    """
    if not any(isinstance(value, str) for row in (*points, *originals) for value in row):
        points, originals = _without_truth(points), _without_truth(originals)
    pairs = [_column(after, before) for after, before in zip(_turned(points), _turned(originals), strict=True)]
    return _rows([after for after, _ in pairs], len(points)), _rows([before for _, before in pairs], len(points))


def _without_truth(rows: Rows) -> Rows:
    """Truth values as 0 and 1, as they are among numbers alone."""
    return [[int(value) if isinstance(value, bool | np.bool_) else value for value in row] for row in rows]


def _turned(rows: Rows) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True))


def _rows(columns: list[list[Any]], count: int) -> Rows:
    return [[column[row] for column in columns] for row in range(count)]


def _column(after: tuple[Any, ...], before: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    present = [value for value in before if not _is_missing(value)]
    if not present or not all(map(is_real, present)):
        return list(after), list(before)
    return _doubles([_number(value) for value in after]), _doubles(list(before))


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _number(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _doubles(column: list[Any]) -> list[Any]:
    """The shortest decimals, if all values of a column of floats are of single precision."""
    present = [float(value) for value in column if isinstance(value, float | np.floating) and np.isfinite(value)]
    single = [abs(float(np.float32(value)) - value) <= 1e-10 * max(1.0, abs(value)) for value in present]
    return [_shortest(value) for value in column] if all(single) else column


def _shortest(value: Any) -> Any:
    floating = isinstance(value, float | np.floating) and np.isfinite(value)
    return float(str(np.float32(value))) if floating else value
