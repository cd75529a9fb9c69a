"""The last step of dice-ml 0.5 to 0.7: small changes of counterfactuals are taken back, with its ``int()``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Masks = NDArray[np.bool_]

_EQUAL = 10e-4  # a smaller difference counts as none
_LONGEST = 10_000_000  # steps, after which a search counts as one that never ends
_SHARE = 0.1  # quantile of a feature's deviations up to which a change is small


@dataclass(frozen=True, eq=False)
class SmallChanges:
    """Moves features of a counterfactual toward the row while the class stays the wanted one.

    The package compares the row with the counterfactual's *whole part*: it enters a search where
    ``|x - int(value)|`` is small, moves the value by its last decimal until ``int(value)`` reaches or passes x, and
    sets it to ``int(value)`` if a step loses the class. So a value with decimals moves to a whole number, changed or
    not. Version 0.8 removes the ``int()``.

    Attributes
    ----------
    decimals : (d,) array
        Decimals of each feature; a step is one unit of the last.
    small : (d,) array
        Largest difference at which a feature is searched: the lesser of its deviations' 10% quantile and their median.
    splits : sequence of arrays, optional
        Per feature, the sorted values at which the model may change its answer: between them one step is asked about
        and stands for all.
    """

    decimals: Ints
    small: Floats
    splits: Sequence[Any] | None = None

    @classmethod
    def of(cls, known: Floats, fractions: bool = False, splits: Sequence[Any] | None = None) -> "SmallChanges":
        """What dice-ml reads off these rows; `fractions` if whole numbers are written 1.0."""
        return cls(decimals(known, fractions), np.array([_small(column) for column in known.T]), splits)

    def take_back(self, points: Floats, rows: Floats, valid: Callable[[Floats, Ints], Masks]) -> Floats:
        """The points after the search.

        Parameters
        ----------
        points, rows : (n, d) arrays
        valid : callable
            From (m, d) points and the positions of their rows to whether they have the class wanted of these rows.
        """
        points = points.copy()
        for feature in np.argsort(-self.small, kind="stable"):
            gaps = np.abs(rows[:, feature] - np.trunc(points[:, feature]))
            places = np.flatnonzero((gaps <= self.small[feature]) & (gaps > _EQUAL))
            if not len(places):
                continue
            change, cuts = 10.0 ** -int(self.decimals[feature]), None if self.splits is None else self.splits[feature]
            ends = zip(rows[places, feature].tolist(), points[places, feature].tolist(), strict=True)
            searches = [_steps(wanted, start, change, cuts) for wanted, start in ends]
            counts = [len(steps) for steps, *_ in searches]
            of = np.repeat(places, counts)  # steps of all searches are asked about at once
            asked = points[of]
            asked[:, feature] = np.concatenate([steps for steps, *_ in searches])
            kept = np.split(valid(asked, of), np.cumsum(counts)[:-1])
            for row, (_, back, end), keeps in zip(places, searches, kept, strict=True):
                points[row, feature] = end if keeps.all() else back[keeps.argmin()]
        return points


def _steps(wanted: float, start: float, change: float, cuts: Any) -> tuple[Floats, Floats, float]:
    """The steps of one search that are asked about, and what the value is set to if each of them loses the class.

    Then where the search ends if all of them keep it.
    """
    way = float(np.sign(wanted - np.trunc(start)))
    goal, reached = _goal(wanted, way)
    count = min(int(np.ceil(abs(goal - start) / change)) + 2, _LONGEST)
    # Step by step, as the package adds: the sum of many small numbers is not their product.
    values = np.add.accumulate(np.concatenate([[start], np.full(count, way * change)])) * way
    last = min(int(np.searchsorted(values, goal * way, side=reached)), count)
    steps = np.arange(1, last + 1)
    if cuts is not None:  # the first step, and those before which the model's answer may change
        edges = np.sort(way * cuts)
        first = np.concatenate([[1], *(np.searchsorted(values, edges, side=side) for side in ("left", "right"))])
        steps = np.unique(first[(first >= 1) & (first <= last)])
    back = np.trunc(values[steps - 1] * way) + 0.0
    return values[steps] * way, back, float(values[last] * way)


def _goal(wanted: float, way: float) -> tuple[float, Literal["left", "right"]]:
    """The value at which ``int(value)`` reaches or passes the wanted one, and whether it is "left" behind or included.

    ``int()`` cuts toward zero: going up, it is 0 as soon as the value is above -1, and 1 when the value is 1.
    """
    goal = float(np.ceil(wanted - _EQUAL) if way > 0 else np.floor(wanted + _EQUAL))
    return (goal, "left") if goal * way >= 1 else (goal - way, "right")


def decimals(known: Floats, fractions: bool = False) -> Ints:
    """Decimals of each feature by its most frequent values, as dice-ml counts them; 0 for whole numbers."""
    return np.array([_decimals(column, fractions) for column in known.T], np.int64)


def _decimals(column: Floats, fractions: bool) -> int:
    if np.all(column == np.floor(column)):
        return int(fractions)
    values, counts = np.unique(column, return_counts=True)
    modes = values[counts == counts.max()]
    return max(len(np.format_float_positional(value, trim="0").partition(".")[2]) for value in modes)


def _small(column: Floats) -> float:
    """The lesser of two measures of spread; a median deviation of 0 counts as 1."""
    different = np.unique(column)
    quantile = np.quantile(np.abs(different - np.median(different)), _SHARE)
    middle = np.median(np.abs(column - np.median(column)))
    return float(min(quantile, middle if middle > 0 else 1.0))
