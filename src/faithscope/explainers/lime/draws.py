"""What LIME draws each feature from: a table of equally likely values; and what its regressions see of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from faithscope.explainers.shared.arrays import Bools, Codes, Floats, Ints
from faithscope.explainers.shared.columns import columns_with_names, to_categorical
from faithscope.explainers.shared.quarters import quarter_of, quartiles
from faithscope.explainers.shared.table import Table
from faithscope.inputs.missing import missing_values

Places = NDArray[np.uint16]

_INSIDE = (1e-300, 1 - 2**-53)  # where the normal quantile is finite
_BITS, _FEWEST, _TABLES = (
    16,
    12,
    23,
)  # bits of a place in a table, at most and at least, and of all tables


class DrawnFeature(Protocol):
    """A feature of the rows that are drawn.

    Attributes
    ----------
    values : (places,) array
        The table of values as the model sees them, each equally likely.
    binned : bool
        Whether regressions see only in which bin a value lies.
    """

    @property
    def values(self) -> NDArray[Any]: ...

    @property
    def binned(self) -> bool: ...

    def gaps(self, drawn: Places, column: Floats) -> NDArray[Any]:
        """How far draws are from each row's own value: (n, samples). Draws are places in the table."""
        ...

    def seen(self, column: Floats) -> Floats:
        """What regressions see of rows' values, of which none is missing: bins, or numbers of deviations."""
        ...

    def seen_draws(self, drawn: Places) -> Floats:
        """The same of draws."""
        ...


def learn_features(table: Table, rows: Floats, discretize: bool) -> list[DrawnFeature]:
    """What to draw each feature from; the more features, the fewer places each table has."""
    places = 2 ** int(np.clip(_TABLES - np.ceil(np.log2(rows.shape[1])), _FEWEST, _BITS))
    return [_learn_feature(table, j, column, places, discretize) for j, column in enumerate(rows.T)]


def _learn_feature(table: Table, j: int, column: Floats, places: int, discretize: bool) -> DrawnFeature:
    known = table.categories[j]
    if known is not None:
        palette = table.palette(j, complete=bool((column == len(known)).any()))
        return Binned.categories(column, len(known), palette, places)
    whole = bool(table.whole[j])
    numbers = Binned.quarters(column, places, whole=whole) if discretize else Normal.learn(column, places)
    values = table.decode_column(j, numbers.values)
    return numbers if values is numbers.values else Decoded(values, numbers)


def draw_places(generator: np.random.Generator, shape: tuple[int, int], places: int) -> Places:
    """Random places in a table of this length, all equally likely."""
    count = shape[0] * shape[1]
    raw = np.asarray(generator.bit_generator.random_raw(-(-count // 4)), "<u8").view("<u2")[:count]
    return np.asarray(raw >> (_BITS - places.bit_length() + 1), np.uint16).reshape(shape)


@dataclass(frozen=True, eq=False)
class Binned:
    """A feature seen as bins: quarters of the training values or categories, and one bin for missing values.

    The gap between a draw and a row is whether they lie in different bins.

    Attributes
    ----------
    values : (places,) array
        The values of a bin stand side by side, and their number is in proportion to the bin's training rows.
    starts : (bins + 1,) array
        Where the values of each bin begin. The bin after the last quarter holds missing values; after the last
        category come missing values, then categories that no training row has.
    borders : (quarters - 1,) array, or None for categories
        Upper ends of all quarters but the last.
    """

    values: NDArray[Any]
    starts: Codes
    borders: Floats | None = None
    binned: ClassVar[bool] = True

    @classmethod
    def categories(cls, column: Floats, known: int, palette: NDArray[Any], places: int) -> "Binned":
        """The bins of categories, from a column of places and what the model sees for each place."""
        starts = _starts(column.astype(np.intp), known + 2, places)
        return cls(np.repeat(palette, np.diff(starts)[: len(palette)]), starts)

    @classmethod
    def quarters(cls, column: Floats, places: int, *, whole: bool = False) -> "Binned":
        """The bins of numbers, cut at the quartiles; quartiles that coincide are one border.

        The values of a quarter are those of a normal distribution with its mean and deviation, cut off at its borders.
        If they must be `whole`, values are rounded up and borders down, so that a value stays in its quarter.
        """
        present = column[~np.isnan(column)]
        borders = quartiles(present, whole=whole)
        bins = quarter_of(present, borders)
        count = len(borders) + 1
        starts = _starts(quarter_of(column, borders), count + 1, places)
        cuts = np.array([present.min(), *borders, present.max()]) if len(present) else np.zeros(2)
        drawn = [
            _truncated(present[bins == k], cuts[k : k + 2], many) for k, many in enumerate(np.diff(starts)[:count])
        ]
        values = np.clip(np.concatenate(drawn), cuts[0], cuts[-1])
        missing = np.full(starts[-1] - starts[-2], np.nan)
        return cls(np.concatenate([np.ceil(values) if whole else values, missing]), starts, borders)

    def gaps(self, drawn: Places, column: Floats) -> Bools:
        bins = self._bins(column)
        start, many = self.starts[bins, None], np.diff(self.starts)[bins]
        # Below the bin's start the unsigned difference wraps around, so that one comparison covers both sides.
        other = drawn - start.astype(np.uint16) >= many[:, None].astype(np.uint16)
        other[many == self.starts[-1]] = False
        return np.asarray(other)

    def _bins(self, column: Floats) -> Codes:
        return column.astype(np.intp) if self.borders is None else quarter_of(column, self.borders)

    def seen(self, column: Floats) -> Floats:
        return self._bins(column).astype(np.float64)

    def seen_draws(self, drawn: Places) -> Floats:
        # Of bins that begin at the same place only the last is not empty.
        return (np.searchsorted(self.starts, drawn, side="right") - 1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Normal:
    """A feature of numbers as they are, drawn from a normal distribution; gaps are in standard deviations.

    Missing is drawn as often as training rows have it, and counts as the mean.

    Attributes
    ----------
    values : (places,) array
    deviation : float
        Of the training values; 1 if they are all equal, and then that value is drawn.
    mean : float
    """

    values: Floats
    deviation: float
    mean: float
    binned: ClassVar[bool] = False

    @classmethod
    def learn(cls, column: Floats, places: int) -> "Normal":
        """The distribution with the mean and deviation of training values."""
        present = column[~np.isnan(column)]
        many = round(places * len(present) / len(column))
        spread = float(present.std()) if len(present) and present.min() < present.max() else 0.0
        mean = float(present.mean()) if spread else float(present[0]) if len(present) else 0.0
        values = mean + spread * ndtri(_middles(many))
        return cls(np.append(values, np.full(places - many, np.nan)), spread or 1.0, mean)

    def gaps(self, drawn: Places, column: Floats) -> Floats:
        values, own = self.values[drawn], column[:, None]
        if np.isnan(self.values[-1]) or np.isnan(own).any():
            values, own = (np.where(np.isnan(part), self.mean, part) for part in (values, own))
        return np.asarray((own - values) / self.deviation)

    def seen(self, column: Floats) -> Floats:
        return np.asarray((np.where(np.isnan(column), self.mean, column) - self.mean) / self.deviation)

    def seen_draws(self, drawn: Places) -> Floats:
        return self.seen(self.values[drawn])


@dataclass(frozen=True, eq=False)
class Decoded:
    """A feature of numbers that the model sees in another form: dates, or missing values that are None."""

    values: NDArray[Any]
    numbers: Binned | Normal

    @property
    def binned(self) -> bool:
        return self.numbers.binned

    def gaps(self, drawn: Places, column: Floats) -> NDArray[Any]:
        return self.numbers.gaps(drawn, column)

    def seen(self, column: Floats) -> Floats:
        return self.numbers.seen(column)

    def seen_draws(self, drawn: Places) -> Floats:
        return self.numbers.seen_draws(drawn)


def truth_values(X: Any, categorical: Iterable[int | str]) -> list[int | str]:
    """The categorical columns, and all columns of True and False."""
    columns = columns_with_names(X)[1]
    return [*to_categorical(categorical), *(j for j, column in enumerate(columns) if _is_true_or_false(column))]


def _is_true_or_false(column: NDArray[Any]) -> bool:
    if column.dtype != object:
        return column.dtype.kind == "b"
    missing = missing_values(column)
    return bool(missing.any()) and set(map(type, column[~missing])) <= {bool, np.bool_} and not missing.all()


def _starts(bins: Codes, count: int, places: int) -> Ints:
    """Where the places of each bin begin, if each gets its share of them."""
    upto = np.bincount(bins, minlength=count).cumsum() / len(bins)
    return np.asarray(np.rint(np.append(0.0, upto) * places), np.int64)


def _middles(count: int) -> Floats:
    return (np.arange(count) + 0.5) / count


def _truncated(values: Floats, cuts: Floats, many: int) -> Floats:
    """As many quantiles of a normal distribution, cut off at the cuts; the value itself if all values are equal."""
    mean, deviation = (values.mean(), values.std()) if many else (0.0, 0.0)
    if deviation == 0 or values.min() == values.max():
        return np.repeat(values[:1], many)
    low, high = ndtr((cuts - mean) / deviation)
    chances = low + (high - low) * _middles(many)
    return np.asarray(mean + deviation * ndtri(np.clip(chances, *_INSIDE)))
