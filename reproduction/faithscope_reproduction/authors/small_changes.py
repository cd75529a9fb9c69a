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
    limit : int or None
        Most steps of one search; the released versions have none.
    """

    decimals: Ints
    small: Floats
    limit: int | None = None

    @classmethod
    def of(cls, known: Floats, fractions: bool = False, limit: int | None = None) -> "SmallChanges":
        """What dice-ml reads off these rows; `fractions` if whole numbers are written 1.0."""
        return cls(decimals(known, fractions), np.array([_small(column) for column in known.T]), limit)

    def take_back(
        self, points: Floats, rows: Floats, valid: Callable[[Floats, Ints], Masks], splits: Sequence[Any] | None = None
    ) -> tuple[Floats, Masks]:
        """The points after the search, and which of them met the limit.

        Parameters
        ----------
        points, rows : (n, d) arrays
        valid : callable
            From (m, d) points and the positions of their rows to whether they have the class wanted of these rows.
        splits : sequence of arrays, optional
            Per feature, the sorted values at which the model may change its answer: between them one step is asked
            about and stands for all.
        """
        points, limited = points.copy(), np.zeros(len(points), np.bool_)
        for feature in np.argsort(-self.small, kind="stable"):
            places = self._entered(points[:, feature], rows[:, feature], feature)
            cuts = None if splits is None else splits[feature]
            change = 10.0 ** -int(self.decimals[feature])
            searches = [
                _Search.of(rows[row, feature], points[row, feature], change, self.limit, cuts) for row in places
            ]
            if searches:
                kept = _kept(searches, points, places, feature, valid)
                points[places, feature] = [search.ended(keeps) for search, keeps in zip(searches, kept, strict=True)]
                limited[places] |= [s.limited and bool(keeps.all()) for s, keeps in zip(searches, kept, strict=True)]
        return points, limited

    def _entered(self, values: Floats, wanted: Floats, feature: int) -> Ints:
        gaps = np.abs(wanted - np.trunc(values))
        return np.flatnonzero((gaps <= self.small[feature]) & (gaps > _EQUAL))


@dataclass(frozen=True, eq=False)
class _Search:
    """The steps of one search that are asked about, and where it ends if all of them keep the class."""

    asked: Floats
    back: Floats  # what the value is set to if that step loses the class
    end: float
    limited: bool

    @classmethod
    def of(cls, wanted: float, start: float, change: float, limit: int | None, cuts: Any) -> "_Search":
        way = float(np.sign(wanted - np.trunc(start)))
        goal, reached = _goal(wanted, way)
        count = min(int(np.ceil(abs(goal - start) / change)) + 2, limit or _LONGEST)
        # Step by step, as the package adds: the sum of many small numbers is not their product.
        values = np.add.accumulate(np.concatenate([[start], np.full(count, way * change)])) * way
        last = int(np.searchsorted(values, goal * way, side=reached))
        limited, last = last > count, min(last, count)
        steps = np.arange(1, last + 1) if cuts is None else _first_of_each_cell(values, np.sort(way * cuts), last)
        return cls(values[steps] * way, np.trunc(values[steps - 1] * way) + 0.0, float(values[last] * way), limited)

    def ended(self, keeps: Masks) -> float:
        """Where the search ends if these of its steps keep the class."""
        return self.end if keeps.all() else float(self.back[int(keeps.argmin())])


def _goal(wanted: float, way: float) -> tuple[float, Literal["left", "right"]]:
    """The value at which ``int(value)`` reaches or passes the wanted one, and whether it is "left" behind or included.

    ``int()`` cuts toward zero: going up, it is 0 as soon as the value is above -1, and 1 when the value is 1.
    """
    goal = float(np.ceil(wanted - _EQUAL) if way > 0 else np.floor(wanted + _EQUAL))
    return (goal, "left") if goal * way >= 1 else (goal - way, "right")


def _first_of_each_cell(values: Floats, cuts: Any, last: int) -> Ints:
    """The first step, and those before which the model's answer may change, whichever side its splits belong to."""
    single, cuts = values.astype(np.float32), np.asarray(cuts, np.float32)  # trees compare in single precision
    steps = np.concatenate(
        [[1], np.searchsorted(single, cuts, side="left"), np.searchsorted(single, cuts, side="right")]
    )
    return np.unique(steps[(steps >= 1) & (steps <= last)])


def _kept(
    searches: Sequence[_Search], points: Floats, places: Ints, feature: int, valid: Callable[[Floats, Ints], Masks]
) -> list[Masks]:
    """Which steps of each search keep the class: those of all searches are asked about at once."""
    counts = [len(search.asked) for search in searches]
    of = np.repeat(places, counts)
    asked = points[of]
    asked[:, feature] = np.concatenate([search.asked for search in searches])
    return np.split(valid(asked, of), np.cumsum(counts)[:-1])


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
