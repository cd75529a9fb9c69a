"""What regressions on shared draws see: one column per feature and value, which all rows with that value share."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shared.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Draws compared with values that rows have, one line per feature and value.

    A bin is seen as "in the row's bin" if less than half of the draws are, otherwise as "in another bin": most draws
    count 0, so that single precision loses nothing when the mean is subtracted. A number is seen by its deviations
    from the row's own, in double precision.

    Attributes
    ----------
    columns : (k, draws) array
        What the regression sees of the draws.
    squares : (k, draws) array
        Their squared distances from the row in this feature; 0 or 1 for bins.
    own : (k,) array
        What the regression sees of the row itself.
    signs : (k,) array
        -1 where the regression sees the opposite of "as in the row".
    """

    columns: NDArray[Any]
    squares: NDArray[Any]
    own: Floats
    signs: Floats

    @classmethod
    def of(cls, draws: Floats, seen: Floats, binned: Bools) -> "tuple[Contrasts, Ints]":
        """All contrasts of rows, and the place of each row's own among them: (n, d).

        Parameters
        ----------
        draws : (d, draws) array
        seen : (n, d) array
        binned : (d,) array
        """
        places, parts, start = np.empty(seen.shape, np.int64), [], 0
        for j, drawn in enumerate(draws):
            values, place = np.unique(seen[:, j], return_inverse=True)
            places[:, j] = place.reshape(-1) + start
            start += len(values)
            parts.append(_of_bins(drawn, values) if binned[j] else _of_numbers(drawn, values))
        single = bool(binned.all())
        columns, squares, own, signs = (np.concatenate(part) for part in zip(*parts, strict=True))
        columns = columns.astype(np.float32 if single else np.float64, copy=False)
        squares = squares.astype(np.min_scalar_type(len(draws)) if single else np.float64, copy=False)
        return cls(columns, squares, own, signs), places


Part = tuple[NDArray[Any], NDArray[Any], Floats, Floats]


def _of_bins(drawn: Floats, bins: Floats) -> Part:
    other = drawn != bins[:, None]
    rare = 2 * other.sum(axis=1) > len(drawn)  # bins that hold less than half of the draws
    return other != rare[:, None], other, rare.astype(np.float64), np.where(rare, 1.0, -1.0)


def _of_numbers(drawn: Floats, numbers: Floats) -> Part:
    columns = drawn - numbers[:, None]
    return columns, columns**2, np.zeros(len(numbers)), np.ones(len(numbers))


def count_of(seen: Floats) -> int:
    """How many contrasts rows have: the different values of all features."""
    return sum(len(np.unique(column)) for column in seen.T)
