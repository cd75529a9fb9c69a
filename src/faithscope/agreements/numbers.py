"""Agreements of numbers: Close and Tolerance by how far two are apart, Spread by their variance."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Literal

import numpy as np

from faithscope.agreements.base import Agreement, AgreementSums, GroupedRows
from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.checks import is_real
from faithscope.inputs.chunks import over_chunks, rows_at
from faithscope.inputs.labels import to_number_predictions

_WIDTH = 4  # numbers worked on per value
_APART = 2.0  # between the numbers of bins that do not lie next to each other, or are of two groups
_NEARLY_ALL = 0.95  # of the variance, in one of several columns


@dataclass(frozen=True)
class _ByDistance(Agreement):
    """By how far two numbers are apart, beside eps."""

    eps: float

    def __post_init__(self) -> None:
        eps = self.eps.item() if isinstance(self.eps, np.generic) else self.eps  # single precision ends below
        if not is_real(eps) or not 0 < eps < 1e308:
            raise BadInput(
                f"{type(self).__name__}'s eps must be a positive number, in the units of the predictions; got "
                f"{self.eps!r}."
            )
        object.__setattr__(self, "eps", float(eps))


@dataclass(frozen=True)
class Close(_ByDistance):
    """Two numbers agree by ``max(0, 1 - |y - y'| / eps)``: wholly if they are equal, not at all from eps on.

    It is the paper's consistency of predictions cut into bins of width eps, averaged over where the bins begin, so
    every theorem about labels holds for it.

    Parameters
    ----------
    eps : float
        In the units of the predictions.

    Examples
    --------
    >>> import faithscope as fs
    >>> fs.consistency(["a", "a"], [1.0, 1.5], agreement=fs.Close(2.0)).value
    0.75
    """

    def over(self, values: Floats) -> AgreementSums:
        return _CloseSums(values, self.eps)


@dataclass(frozen=True)
class Tolerance(_ByDistance):
    """Two numbers agree if they differ by at most eps. The plainest to read, but merging explanations may raise it.

    Differences are those of floats: 0.4 - 0.3 is more than 0.1. If predictions are rounded to decimals, pass an eps
    between two steps (0.15 for steps of 0.1).

    Values {0, 2} and {1} at eps = 1 agree .75 apart and .875 together, so `certify` and `Best` refuse it:
    ``Close(eps)`` bounds it from below.

    Parameters
    ----------
    eps : float
        In the units of the predictions.

    Examples
    --------
    >>> import faithscope as fs
    >>> fs.consistency(["a", "a"], [1.0, 1.5], agreement=fs.Tolerance(0.5)).value
    1.0
    """

    convex: ClassVar[bool] = False

    def over(self, values: Floats) -> AgreementSums:
        return _ToleranceSums(values, self.eps)


def _window(values: Floats, eps: float) -> tuple[Ints, Ints]:
    """Where the values whose distance from each is at most eps begin and end.

    The difference of the pair itself decides, whichever of the two is asked: the ends ``value ± eps``, between which
    values are sought first, are rounded.
    """
    slack = np.spacing(eps) / 2  # differences that round to eps
    lows = np.empty(len(values), np.int64)

    def fill(start: int, stop: int) -> None:
        own = values[start:stop]
        low = _search(values, own - eps - slack)
        while (more := (low > 0) & (own - np.take(values, np.maximum(low - 1, 0)) <= eps)).any():
            low -= more
        while (less := own - np.take(values, low) > eps).any():
            low += less
        lows[start:stop] = low

    over_chunks(fill, len(values), _WIDTH)
    return lows, _ends(lows)


def _ends(lows: Ints) -> Ints:
    """Where windows end that begin at `lows`: at the last whose own window begins no later than this one stands."""
    return np.cumsum(np.bincount(lows, minlength=len(lows)))


def _search(places: Array, wanted: Array, side: Literal["left", "right"] = "left") -> Ints:
    """``np.searchsorted(places, wanted, side)``, fast if what is wanted lies close together, as it does in a chunk."""
    first, last = np.searchsorted(places, [wanted.min(), wanted.max()], side)
    return np.asarray(np.searchsorted(places[first:last], wanted, side) + first)


class _ToleranceSums(AgreementSums):
    """Rows within eps of a value are a window of its group, so their weight is a difference of two prefix sums."""

    def __init__(self, values: Floats, eps: float) -> None:
        self.low, self.high = _window(values, eps)
        self.size = len(values) + 1

    def at(self, rows: GroupedRows, group: Ints, value: Ints, power: int = 1) -> Floats:
        places, height = rows.group * self.size + rows.value, _prefixes(rows.weight)  # the square of 0 or 1 is itself
        sums = np.empty(len(group))

        def fill(start: int, stop: int) -> None:
            base, wanted = group[start:stop] * self.size, value[start:stop]
            low, high = (_search(places, base + np.take(end, wanted)) for end in (self.low, self.high))
            sums[start:stop] = np.take(height, high) - np.take(height, low)

        over_chunks(fill, len(group), _WIDTH)
        return sums

    def within(self, rows: GroupedRows) -> Floats:
        base, lows = rows.group * self.size, np.empty(len(rows.group), np.int64)
        places, height = base + rows.value, _prefixes(rows.weight)

        def fill(start: int, stop: int) -> None:
            lows[start:stop] = _search(places, base[start:stop] + np.take(self.low, rows.value[start:stop]))

        over_chunks(fill, len(lows), _WIDTH)
        return np.asarray(np.take(height, _ends(lows)) - np.take(height, lows))

    def among_all(self, weight: Floats) -> tuple[Floats, Floats]:
        height = _prefixes(weight)
        agreeing = height[self.high] - height[self.low]
        return agreeing, agreeing


class _CloseSums(AgreementSums):
    """Values are cut into bins of width eps: two that are less than eps apart lie in one bin, or in two in a row.

    So sums of the places of values within their bins tell distances, without differences of large numbers.
    """

    def __init__(self, values: Floats, eps: float) -> None:
        largest = np.abs(values).max(initial=0.0)
        if largest > eps * 1e300:
            raise BadInput(f"Close's eps {eps:g} is too small beside predictions of {largest:g}: raise it.")
        self.place, self.size = np.empty(len(values)), len(values) + 1

        def cut(start: int, stop: int) -> None:
            self.place[start:stop] = np.remainder(values[start:stop], eps) / eps

        over_chunks(cut, len(values), _WIDTH)
        # From one value to the next, since quotients of large values are rounded.
        with np.errstate(over="ignore"):
            gap, moved = (np.diff(column, prepend=column[:1]) for column in (values, self.place))
            self.bin = np.cumsum(np.minimum(np.rint(gap / eps - moved), _APART))
        self.ends = _windows(np.zeros(len(values), np.int64), self.bin, self.place)

    def at(self, rows: GroupedRows, group: Ints, value: Ints, power: int = 1) -> Floats:
        places = rows.group * self.size + rows.value

        def bounds(part: slice) -> list[Any]:
            base, wanted = group[part] * self.size, value[part]
            low, first, last, high = (np.take(end, wanted) for end in self.ends)
            return [_search(places, base + end) for end in (low, first, wanted + 1, last, high)]

        prefixes = _power_prefixes(rows.weight, rows_at(self.place, rows.value), power)
        return _sums(prefixes, rows_at(self.place, value), bounds)[power - 1]

    def within(self, rows: GroupedRows) -> Floats:
        bins, place = (rows_at(column, rows.value) for column in (self.bin, self.place))
        return _among_themselves(rows.weight, place, _windows(rows.group, bins, place), 1)[0]

    def among_all(self, weight: Floats) -> tuple[Floats, Floats]:
        sums, squares = _among_themselves(weight, self.place, self.ends, 2)
        return sums, squares


def _windows(group: Ints, bins: Floats, place: Floats) -> tuple[Ints, Ints, Ints, Ints]:
    """For rows in order of group and value: where those less than eps away begin, the bin, its end, and where they end.

    In the bin before, only rows whose place is higher are less than eps away; in the next bin, only lower ones. So a
    bin's number and a place are a key by which rows are sought.
    """
    step = np.minimum(np.diff(bins, prepend=bins[:1]), _APART)
    step[1:][group[1:] != group[:-1]] = _APART
    step[:1] = _APART
    key, low = np.cumsum(step) + place, np.empty(len(place), np.int64)

    def fill(start: int, stop: int) -> None:
        low[start:stop] = _search(key, key[start:stop] - 1, "right")

    over_chunks(fill, len(low), _WIDTH)
    starts = np.flatnonzero(step)
    sizes = np.diff(starts, append=len(step))
    first, last = (np.repeat(ends, sizes) for ends in (starts, starts + sizes))
    np.minimum(low, first, out=low)
    return low, first, last, _ends(low)


def _among_themselves(weight: Floats, place: Floats, ends: tuple[Ints, ...], power: int) -> list[Floats]:
    """`_sums` of rows among themselves, in their order: above a row is the next."""

    def bounds(part: slice) -> list[Any]:
        low, first, last, high = (end[part] for end in ends)
        return [low, first, slice(part.start + 1, part.stop + 1), last, high]

    return _sums(_power_prefixes(weight, place, power), place, bounds)


def _power_prefixes(weight: Floats, place: Floats, power: int) -> list[Floats]:
    """Prefix sums of ``weight * place**degree``, for every degree up to the power."""
    return [_prefixes(each) for each in accumulate([place] * power, np.multiply, initial=weight)]


def _sums(prefixes: list[Floats], place: Floats, bounds: Callable[[slice], list[Any]]) -> list[Floats]:
    """The sums of the agreement, and of its square if there are prefix sums of squares, each for every value.

    With x the place of a row and p that of the value, rows of the bin before agree by x - p, rows of the same bin by
    1 + x - p up to the value and by 1 + p - x above it, and rows of the next bin by p - x.

    Parameters
    ----------
    prefixes : list of arrays
        Prefix sums of the weights w, of w x and, for squares, of w x².
    place : (q,) array
    bounds : callable
        For some of the values: where the rows less than eps away begin, the bin, what is above the value, the next bin,
        and where they end.
    """
    sums = np.empty((len(prefixes) - 1, len(place)))

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        p, (first, bin_first, middle, bin_last, last) = place[part], bounds(part)
        low, begin, end, high = (np.take(prefixes[0], bound) for bound in (first, bin_first, bin_last, last))
        x_low, x_high = (np.take(prefixes[1], bound) for bound in (first, last))
        above, x_above = (prefix[middle] for prefix in prefixes[:2])
        same_bin = end - begin
        sums[0, part] = p * (low + high - 2 * above) + same_bin + 2 * x_above - x_low - x_high
        for squares in prefixes[2:]:
            x_begin, x_end = (np.take(prefixes[1], bound) for bound in (bin_first, bin_last))
            total = np.take(squares, last) - np.take(squares, first) + same_bin
            total += p**2 * (high - low) + 2 * (2 * x_above - x_begin - x_end)
            sums[1, part] = total + 2 * p * (begin + end - 2 * above - x_high + x_low)

    over_chunks(fill, len(place), _WIDTH)
    return list(sums)


def _prefixes(values: Floats) -> Floats:
    prefixes = np.zeros(len(values) + 1)
    np.cumsum(values, out=prefixes[1:])
    return prefixes


@dataclass(frozen=True)
class Spread(Agreement):
    """The share of the predictions' variance that explanations account for: 1 if each explanation has one prediction.

    With ``d_ij = ½ (y_i - y_j)²``, W the mean over rows of the mean of d over the others that the explanation covers, S
    the squared distances of silent rows from the mean of all, per row, and T the variance of all predictions: the
    value is ``1 - (W + S) / T``, its upper end ``1 - W / T``, and chance is 0. Numbers, or (n, k) outputs such as
    probabilities, whose columns add up. One-hot labels give `Estimate.adjusted` back. A few outliers can decide it,
    which a note says. Groups of rows are measured against the variance T of all rows.

    Examples
    --------
    >>> import faithscope as fs
    >>> fs.consistency(["a", "a", "b", "b"], [1.0, 1.0, 5.0, 5.0], agreement=fs.Spread()).value
    1.0
    """

    itself: ClassVar[float] = 0.0

    def read(self, predictions: Any) -> Array:
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
    half = float((columns.max(axis=0) / 2 - columns.min(axis=0) / 2).max()) if columns.size else 0.0
    unit = math.ldexp(0.5, math.frexp(half)[1]) if half > 0 else 1.0
    return np.divide(columns, unit, dtype=np.float64), unit


def column_notes(agreement: Agreement, predictions: Array) -> tuple[str, ...]:
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
