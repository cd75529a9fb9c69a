"""Notes on the predictions: numbers that are used as labels agree only if they are equal."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from faithscope.inputs.several import SETS, are_sets

_FEW = 20  # so few labels, or different fractions, need no note
_ROWS_PER_LABEL = 20
_FEWEST_SHARES = 3  # fractions inside (0, 1) that make probabilities of labels between 0 and 1


def label_notes(labels: Sequence[Any], n: int) -> tuple[str, ...]:
    """A note if predictions look like numbers, or if there are very many labels for the rows.

    - Probabilities: all labels lie from 0 to 1, and at least 3 strictly inside.
    - Continuous: more than 20 different fractions.
    - Many: more than 20 labels, and more than one for every 20 rows.
    - Sets: each label is a set of labels, as 0 and 1 for each.

    Parameters
    ----------
    labels : sequence
        The different predictions.
    n : int
        Number of rows.
    """
    if are_sets(labels):
        return (SETS, *_many_notes(labels, n))
    if len(labels) < _FEWEST_SHARES:
        return ()
    numbers = _numbers(labels)
    many = len(labels) > max(_FEW, n / _ROWS_PER_LABEL)
    equal, pass_on = "and agree only if they are equal", "pass agreement=fs.Spread() or fs.Close(eps)"
    if numbers is None:
        return _many_notes(labels, n)
    fractions = numbers[numbers != np.floor(numbers)]
    inside = fractions[(fractions > 0) & (fractions < 1)]
    if len(inside) >= _FEWEST_SHARES and numbers.min() >= 0 and numbers.max() <= 1:
        told = f"predictions look like probabilities ({len(numbers):,} different values, such as {inside.min():g})"
        return (f"{told} {equal}: {pass_on}, or the predicted class",)
    if len(fractions) > _FEW:
        told = f"predictions look continuous ({len(numbers):,} different numbers, such as {fractions.min():g})"
        return (f"{told} {equal}: {pass_on}, or bins",)
    told = f"predictions are {len(numbers):,} different numbers in {n:,} rows"
    return (f"{told} {equal}: if they are quantities, {pass_on}",) if many else ()


def _many_notes(labels: Sequence[Any], n: int) -> tuple[str, ...]:
    told = f"predictions have {len(labels):,} different labels in {n:,} rows, so that few can agree"
    return (f"{told}: merge rare labels, or measure more rows",) if len(labels) > max(_FEW, n / _ROWS_PER_LABEL) else ()


def _numbers(labels: Sequence[Any]) -> Any:
    """The labels as floats, without missing ones; None if not all are numbers."""
    known = [label for label in labels if label is not None]
    kinds = (int, float, Decimal, np.number)
    if not known or not all(isinstance(label, kinds) and not isinstance(label, bool) for label in known):
        return None
    return np.array([float(label) for label in known])
