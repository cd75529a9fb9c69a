"""Spread: the share of the predictions' variance that explanations account for."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements.base import Agreement, AgreementSums, GroupedRows
from faithscope.inputs.labels import to_number_predictions

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEARLY_ALL = 0.95  # of the variance, in one of several columns


@dataclass(frozen=True)
class Spread(Agreement):
    """The share of the predictions' variance that explanations account for: 1 if each explanation has one prediction.

    With ``d_ij = ½ (y_i - y_j)²``, W the mean over rows of the mean of d over the others that the explanation covers, S
    the squared distances of silent rows from the mean of all, per row, and T the variance of all predictions: the
    value is ``1 - (W + S) / T``, its upper end ``1 - W / T``, and chance is 0. Numbers, or (n, k) outputs such as
    probabilities, whose columns add up. One-hot labels give `Estimate.adjusted` back. A few outliers can decide it,
    which a note says.

    Examples
    --------
    >>> import faithscope as fs
    >>> fs.consistency(["a", "a", "b", "b"], [1.0, 1.0, 5.0, 5.0], agreement=fs.Spread()).value
    1.0
    """

    itself: ClassVar[float] = 0.0

    def read(self, predictions: Any) -> NDArray[Any]:
        return to_number_predictions(predictions, type(self).__name__, vectors=True)

    def over(self, values: Floats) -> AgreementSums:
        return _DistanceSums(values)


class _DistanceSums(AgreementSums):
    """Sums of ``d = ½ |y - y'|²`` in `scaled` units, from the weight, the mean and the squares of each group."""

    def __init__(self, values: Floats) -> None:
        self.values, _ = scaled(values)

    def at(self, rows: GroupedRows, group: Ints, value: Ints, power: int = 1) -> Floats:
        size = 1 + int(max(rows.group.max(initial=0), group.max(initial=0)))
        weight = np.bincount(rows.group, rows.weight, minlength=size)
        inverse = np.divide(1.0, weight, out=np.zeros(size), where=weight > 0)
        distance = np.zeros(len(group))
        for column in self.values.T:
            # About the mean of each group, from one of its values: exactly 0 if they are equal, at any scale.
            origin = np.zeros(size)
            origin[rows.group] = column[rows.value]
            apart = column[rows.value] - origin[rows.group]
            mean = np.bincount(rows.group, rows.weight * apart, minlength=size) * inverse
            squares = np.bincount(rows.group, rows.weight * (apart - mean[rows.group]) ** 2, minlength=size)
            distance += squares[group] + weight[group] * (column[value] - origin[group] - mean[group]) ** 2
        return np.asarray(distance / 2)


def scaled(values: Floats) -> tuple[Floats, float]:
    """Predictions as columns in units of about half their largest range, so that no square is too large; and that unit.

    The unit is a power of two, so that nothing is rounded.
    """
    columns = values.reshape(len(values), math.prod(values.shape[1:]))  # also of no rows
    ends = [(float(column.min()), float(column.max())) for column in columns.T] if columns.size else []
    half = max((high / 2 - low / 2 for low, high in ends), default=0.0)
    unit = math.ldexp(0.5, math.frexp(half)[1]) if half > 0 else 1.0
    return np.divide(columns, unit, dtype=np.float64), unit


def column_notes(agreement: Agreement, predictions: NDArray[Any]) -> tuple[str, ...]:
    """A note if `Spread` adds up columns of which one holds nearly all of the variance."""
    if not isinstance(agreement, Spread) or predictions.ndim != 2 or predictions.shape[1] < 2 or not len(predictions):
        return ()
    variances = scaled(predictions)[0].var(axis=0)
    most, total = int(variances.argmax()), float(variances.sum())
    if not variances[most] > _NEARLY_ALL * total:
        return ()
    share = min(99, math.floor(100 * variances[most] / total)) if variances[most] < total else 100
    return (
        f"column {most} holds {share}% of the variance of the predictions: columns are added up in their own units",
    )
