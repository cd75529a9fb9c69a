"""What LIME draws each feature from: a table of equally likely values, and how unlike a row's own value each is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from faithscope.explainers.table import Table, columns_with_names, to_categorical

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Places = NDArray[np.uint16]

_INSIDE = (1e-300, 1 - 2**-53)  # where the normal quantile is finite
_BITS, _FEWEST, _TABLES = 16, 12, 23  # of a place in a table, at most and at least; of values in all tables


class Feature(Protocol):
    """One column of the rows that are drawn.

    Attributes
    ----------
    values : (places,) array
        The table: as the model sees them, each equally likely.
    """

    @property
    def values(self) -> NDArray[Any]: ...

    def own(self, column: Floats) -> NDArray[Any]:
        """The rows' own values, as the model sees them."""
        ...

    def gaps(self, drawn: Places, column: Floats) -> NDArray[Any]:
        """How unlike each row's own value its draws are: (n, samples)."""
        ...


def learn_features(table: Table, rows: Floats, discretize: bool) -> list[Feature]:
    """What to draw each feature from; fewer places in each table where there are many features."""
    places = 2 ** int(np.clip(_TABLES - np.ceil(np.log2(rows.shape[1])), _FEWEST, _BITS))
    made: list[Feature] = []
    for column, known in zip(rows.T, table.categories, strict=True):
        if known is not None:
            made.append(Binned.categories(column, known, places))
        else:
            made.append(Binned.quarters(column, places) if discretize else Normal.learn(column, places))
    return made


def draw_places(generator: np.random.Generator, shape: tuple[int, int], places: int) -> Places:
    """Places in tables of this length, all equally likely."""
    count = shape[0] * shape[1]
    raw = np.asarray(generator.bit_generator.random_raw(-(-count // 4)), "<u8").view("<u2")[:count]
    return np.asarray(raw >> (_BITS - places.bit_length() + 1), np.uint16).reshape(shape)


@dataclass(frozen=True, eq=False)
class Binned:
    """A feature seen as bins, quarters of the training values or categories; a draw is unlike a row in another bin.

    Attributes
    ----------
    values : (places,) array
        Those of a bin beside each other, and so many of them as is the bin's share of the training rows.
    starts : (bins + 1,) array
        Where those of each bin begin.
    borders : (bins - 1,) array, or None for categories
        Upper ends of all quarters but the last.
    known : (bins,) array, or None for numbers
        The categories.
    """

    values: NDArray[Any]
    starts: Ints
    borders: Floats | None = None
    known: NDArray[Any] | None = None

    @classmethod
    def categories(cls, column: Floats, known: tuple[Any, ...], places: int) -> "Binned":
        """Categories, given as positions among the known ones."""
        values = np.array(known) if all(type(one) in (int, float, bool) for one in known) else _objects(known)
        starts = _starts(column.astype(np.intp), len(known), places)
        return cls(np.repeat(values, np.diff(starts)), starts, known=values)

    @classmethod
    def quarters(cls, column: Floats, places: int) -> "Binned":
        """Numbers, cut at the quartiles; quartiles that coincide are one border.

        In each quarter values are those of a normal distribution with its mean and deviation, between its borders.
        """
        borders = np.unique(np.percentile(column, (25, 50, 75)))
        bins = np.searchsorted(borders, column)
        starts = _starts(bins, len(borders) + 1, places)
        cuts = np.array([column.min(), *borders, column.max()])
        drawn = [_truncated(column[bins == k], cuts[k : k + 2], many) for k, many in enumerate(np.diff(starts))]
        return cls(np.clip(np.concatenate(drawn), cuts[0], cuts[-1]), starts, borders)

    def own(self, column: Floats) -> NDArray[Any]:
        return column if self.known is None else self.known[column.astype(np.intp)]

    def gaps(self, drawn: Places, column: Floats) -> NDArray[np.bool_]:
        bins = column.astype(np.intp) if self.borders is None else np.searchsorted(self.borders, column)
        start, many = self.starts[bins, None], np.diff(self.starts)[bins]
        # Below the bin's start the difference turns over, so one comparison tells both sides.
        other = drawn - start.astype(np.uint16) >= many[:, None].astype(np.uint16)
        other[many == self.starts[-1]] = False
        return np.asarray(other)


@dataclass(frozen=True, eq=False)
class Normal:
    """A feature of numbers as they are, drawn from a normal distribution; gaps are in standard deviations.

    Attributes
    ----------
    values : (places,) array
    deviation : float
        Of the training values; 1 where they are all equal, and then the same is drawn.
    """

    values: Floats
    deviation: float

    @classmethod
    def learn(cls, column: Floats, places: int) -> "Normal":
        """With the mean and deviation of training values."""
        spread = float(column.std()) if column.min() < column.max() else 0.0
        mean = float(column.mean()) if spread else float(column[0])
        return cls(mean + spread * ndtri(_middles(places)), spread or 1.0)

    def own(self, column: Floats) -> NDArray[Any]:
        return column

    def gaps(self, drawn: Places, column: Floats) -> Floats:
        return np.asarray((column[:, None] - self.values[drawn]) / self.deviation)


def truth_values(X: Any, categorical: Iterable[int | str]) -> list[int | str]:
    """The categorical columns, with all that hold True and False."""
    columns = columns_with_names(X)[1]
    return [*to_categorical(categorical), *(j for j, column in enumerate(columns) if column.dtype.kind == "b")]


def _objects(known: tuple[Any, ...]) -> NDArray[Any]:
    values = np.empty(len(known), object)
    values[:] = known
    return values


def _starts(bins: Ints, count: int, places: int) -> NDArray[np.int64]:
    """Where the places of each bin begin, when each gets its share of them."""
    upto = np.bincount(bins, minlength=count).cumsum() / len(bins)
    return np.asarray(np.rint(np.append(0.0, upto) * places), np.int64)


def _middles(count: int) -> Floats:
    return (np.arange(count) + 0.5) / count


def _truncated(values: Floats, cuts: Floats, many: int) -> Floats:
    """So many quantiles of a normal distribution between cuts; one value where all of these are equal."""
    mean, deviation = (values.mean(), values.std()) if many else (0.0, 0.0)
    if deviation == 0 or values.min() == values.max():
        return np.repeat(values[:1], many)
    low, high = ndtr((cuts - mean) / deviation)
    chances = low + (high - low) * _middles(many)
    return np.asarray(mean + deviation * ndtri(np.clip(chances, *_INSIDE)))
