"""Agreement: how much two predictions agree, K(y, y') in [0, 1]."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.labels import to_number_predictions, to_predictions


class GroupedRows(NamedTuple):
    """Rows counted by group and prediction, in order of group, then of prediction.

    Attributes
    ----------
    group : (m,) array
        The group of each entry.
    value : (m,) array
        The position of its prediction among the different ones, which ascend.
    weight : (m,) array
        The weight of its rows.
    """

    group: Ints
    value: Ints
    weight: Floats


class AgreementSums(ABC):
    """Sums of an agreement over groups of rows, for predictions among known values: never pair by pair."""

    @abstractmethod
    def at(self, rows: GroupedRows, group: Ints, value: Ints, power: int = 1) -> Floats:
        """For each pair of a group and a value, the sum over the group's rows of weight times agreement.

        Parameters
        ----------
        rows : GroupedRows
        group, value : (q,) arrays
            The groups to sum over, and the positions of the predictions to compare with.
        power : {1, 2}
            The power of the agreement; its squares tell how much it varies.
        """

    def within(self, rows: GroupedRows) -> Floats:
        """For each entry of the rows, the sum over its own group, the entry itself included."""
        return self.at(rows, rows.group, rows.value)

    def among_all(self, weight: Floats) -> tuple[Floats, Floats]:
        """For each value, the sums of the agreement and of its square over all rows; `weight` is that of each value."""
        everybody, values = np.zeros(len(weight), np.int64), np.arange(len(weight))
        rows = GroupedRows(everybody, values, weight)
        return self.at(rows, everybody, values), self.at(rows, everybody, values, power=2)


class Agreement(ABC):
    """A small frozen object that says how much two predictions agree, from 0 to 1.

    Attributes
    ----------
    of_numbers : bool
        Whether predictions are numbers; labels otherwise.
    convex : bool
        Whether coarser explanations can only agree less, so that a bound on them bounds the explainer.
    itself : float
        How much a prediction agrees with itself: 1, or 0 for `Spread`, which sums distances.
    """

    of_numbers: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    itself: ClassVar[float] = 1.0

    def read(self, predictions: Any) -> Array:
        """The predictions that a caller hands over, as an array, or one sentence why not."""
        return to_number_predictions(predictions, type(self).__name__)

    @abstractmethod
    def over(self, values: Floats) -> AgreementSums:
        """Its sums for predictions among these different values, (d,) ascending or (d, k)."""


@dataclass(frozen=True)
class Same(Agreement):
    """Two predictions agree if they are equal: labels.

    Examples
    --------
    >>> import faithscope as fs
    >>> fs.consistency(["a", "a"], [1, 1], agreement=fs.Same()).value
    1.0
    """

    of_numbers: ClassVar[bool] = False

    def read(self, predictions: Any) -> Array:
        return to_predictions(predictions)

    def over(self, values: Floats) -> AgreementSums:
        return _Equal()


class _Equal(AgreementSums):
    """The weight of the rows of a group that have the same label."""

    def within(self, rows: GroupedRows) -> Floats:
        return rows.weight

    def at(self, rows: GroupedRows, group: Ints, value: Ints, power: int = 1) -> Floats:
        if not len(rows.group):
            return np.zeros(len(group))
        size = 1 + int(max(rows.value.max(), value.max(initial=0)))
        places, wanted = rows.group * size + rows.value, group * size + value
        first = np.flatnonzero(np.diff(places, prepend=-1))
        total, places = np.add.reduceat(rows.weight, first), places[first]
        place = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        return np.where(places[place] == wanted, total[place], 0.0)
