"""Spread, counted: the variance within explanations, of silent rows, and of all rows, from sums that add."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from faithscope.agreements import scaled
from faithscope.counting.layout import sums
from faithscope.counting.leave_out import LeftOut, Parts, parts_left_out
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.chunks import over_chunks, rows_at
from faithscope.sample import Sample

_WIDTH = 4  # numbers worked on per row
_NONE_LEFT = 1e-12  # of the variance: what is left if one row holds all of it, up to rounding


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over sets of rows: of weights, of squared weights, of weighted predictions and of their squares.

    Attributes
    ----------
    weight, own : (m,) arrays
        Σw and Σw² of each set.
    total : (m, k) array
        Σwy.
    square : (m,) array
        Σw|y|².
    """

    weight: Floats
    own: Floats
    total: Floats
    square: Floats

    @classmethod
    def of_rows(cls, sample: Sample) -> "Moments":
        """One set per row; predictions are `scaled`, and taken about their mean, so that squares do not cancel."""
        if sample.clusters is not None:
            raise NotProven("Spread is not measured for clustered rows: use agreement=fs.Close(eps) with clusters.")
        values, _ = scaled(sample.labels)
        _refuse_constant(values)
        if sample.weights is None:
            weight = np.broadcast_to(np.ones(1), sample.n)
            values -= values.mean(axis=0)
            return cls(weight, weight, values, _row_sums(values**2))
        weight = sample.weights
        values -= weight @ values / weight.sum()
        return cls(weight, weight**2, weight[:, None] * values, weight * _row_sums(values**2))

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(*(a + b for a, b in zip(self.columns, other.columns, strict=True)))

    def __sub__(self, other: "Moments") -> "Moments":
        return Moments(*(a - b for a, b in zip(self.columns, other.columns, strict=True)))

    def __getitem__(self, chosen: "Bools | Ints | slice") -> "Moments":
        weight = self.weight[chosen]
        own = weight if self.own is self.weight else self.own[chosen]
        return Moments(weight, own, self.total[chosen], self.square[chosen])

    @property
    def columns(self) -> tuple[Floats, Floats, Floats, Floats]:
        """All four arrays."""
        return self.weight, self.own, self.total, self.square

    def times(self, many: "Bools | Ints") -> "Moments":
        """Each set so many times; not at all if it is not kept."""
        return Moments(*(column * (many if column.ndim == 1 else many[:, None]) for column in self.columns))

    def sums(self, index: Ints, size: int) -> "Moments":
        """The sums of the sets with the same index."""
        total = np.stack([sums(index, column, size) for column in self.total.T], axis=1)
        weight = sums(index, self.weight, size)
        own = weight if self.own is self.weight else sums(index, self.own, size)
        return Moments(weight, own, total, sums(index, self.square, size))

    def whole(self) -> "Moments":
        """All sets as one."""
        return Moments(*(column.sum(axis=0, keepdims=True) for column in self.columns))

    @property
    def freedom(self) -> Floats:
        """``Σw - Σw² / Σw``, which is n - 1 if rows are not weighted; NaN for a single row."""
        freedom = self.weight - self.own / self.weight
        return np.where(freedom > 1e-12 * self.weight, freedom, np.nan)

    def kurtosis(self) -> float:
        """Of the predictions, one per set, about the mean of all: 3 for a normal distribution, more with outliers."""
        mean = float(self.square.sum() / self.weight.sum())
        return float(np.sum(self.square * (self.square / self.weight)) / self.weight.sum() / mean**2)

    def about(self, mean: Floats) -> Floats:
        """The weighted squared distances from a point: ``Σ w |y - mean|²``."""
        distance = self.square - 2 * _row_sums(self.total * mean) + self.weight * _row_sums(mean**2)
        return np.maximum(distance, 0.0)


class SpreadParts(NamedTuple):
    """Variances per row: within explanations (W), of silent rows about the mean (S), and of all rows (T)."""

    within: Floats
    silent: Floats
    whole: Floats

    @classmethod
    def of(cls, within: Floats, silent: Moments, everyone: Moments) -> "SpreadParts":
        """From W, the moments of silent rows and those of all rows."""
        mean = everyone.total * (1 / everyone.weight)[:, None]
        inverse = 1 / everyone.freedom
        return cls(np.asarray(within), silent.about(mean) * inverse, everyone.about(mean) * inverse)

    def asked(self, everyone: Moments, asking: Floats) -> "SpreadParts":
        """The same if rows of this weight ask: what is silent, of whomever, falls to them; unknown if nobody asks.

        The predictions of an explanation that was seen once differ from that of a row that asks, in the mean, by no
        more than both lie from the mean of all: ``v_g + (1 - s) v_r`` if a share s of its rows ask, of variance v_g.
        """
        known = asking > _NONE_LEFT * everyone.weight
        times = np.divide(everyone.weight, asking, out=np.zeros(len(asking)), where=known)
        return SpreadParts(self.within, self.silent * times, np.where(known, self.whole, 0.0))

    @property
    def explained(self) -> Floats:
        """``1 - (W + S) / T``."""
        return 1 - (self.within + self.silent) / self.whole

    @property
    def silence(self) -> Floats:
        """``S / T``: how much higher the share could be if silent rows lay at their explanation's mean."""
        return self.silent / self.whole


class SpreadCounts(NamedTuple):
    """W, S and T of all rows, the same without each row or block of rows, and what else an estimate tells."""

    whole: SpreadParts
    without: SpreadParts
    unverifiable: float
    kurtosis: float
    unit: float = 1.0  # of the predictions, in which the variances are squares

    @property
    def always_vary(self) -> bool:
        """Whether predictions vary without any of the rows or blocks."""
        return bool((self.without.whole > _NONE_LEFT * self.whole.whole).all())

    def left_out(self, counted: LeftOut) -> LeftOut | None:
        """The share explained, and the silence, without each row or block; None if some are left without variance."""
        if not self.always_vary:
            return None
        return LeftOut(self.without.explained, self.without.silence, counted.reach, counted.weight, counted.rows)


def spread_by_explanation(sample: Sample) -> tuple[SpreadCounts, LeftOut, Parts, Moments]:
    """Spread among rows with the same explanation, in closed form; with its rows, in order, and their moments."""
    codes, first = sample.explanations.group()
    rows = Moments.of_rows(sample)
    kinds = _row_kinds(sample, rows, codes, len(first))
    counted, left_out = parts_left_out(kinds)
    everyone, silent = rows.whole(), rows[kinds.size == 1].whole()
    two = np.flatnonzero(kinds.size == 2)
    order = two[np.argsort(codes[two], kind="stable")]
    partner = np.empty(sample.n, np.int64)  # of rows that share their explanation with just one other row
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    without = SpreadParts(left_out.value, np.empty(sample.n), np.empty(sample.n))

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        here, size = rows[part], kinds.size[part]
        one = here[:1] if rows.own is rows.weight else here  # of rows that count the same, the weights are one number
        weights = (everyone.weight - one.weight, everyone.own - one.own)
        rest = Moments(*weights, everyone.total - here.total, everyone.square - here.square)
        _, gone, whole = SpreadParts.of(rest.square, silent, rest)  # W is known
        # Leaving out a silent row, or one of two with an explanation, changes which rows are silent.
        mean, freedom = rest.total * (1 / rest.weight)[:, None], np.broadcast_to(rest.freedom, len(size))
        alone, pair = np.flatnonzero(size == 1), np.flatnonzero(size == 2)
        gone[alone] -= here[alone].about(mean[alone]) / freedom[alone]
        gone[pair] += rows[partner[start + pair]].about(mean[pair]) / freedom[pair]
        without.silent[part], without.whole[part] = np.maximum(gone, 0.0), whole

    over_chunks(fill, sample.n, _WIDTH)
    parts = SpreadParts.of(np.array([counted.agreeing / counted.total]), silent, everyone)
    spread = SpreadCounts(parts, without, counted.silent / counted.total, rows.kurtosis(), scaled(sample.labels)[1])
    return spread, left_out, kinds, rows


def _row_kinds(sample: Sample, rows: Moments, codes: Ints, groups: int) -> Parts:
    """Every row with the distances of the other rows that have its explanation, in place of agreeing ones."""
    sizes = np.bincount(codes, minlength=groups)
    even = sample.weights is None
    weights = np.asarray(sizes if even else np.bincount(codes, rows.weight, minlength=groups), np.float64)
    values = rows.total if even else rows.total / rows.weight[:, None]
    apart = np.zeros(sample.n)
    for column in values.T:
        apart += _from_mean(column, sample.weights, codes, weights) ** 2
    squares = np.bincount(codes, apart if even else rows.weight * apart, minlength=groups)  # about each mean
    size, pairs = rows_at(sizes, codes), rows_at(weights * squares, codes)
    weight = size if even else rows_at(weights, codes)
    own = size if even else rows_at(np.bincount(codes, rows.own, minlength=groups), codes)

    def distances(start: int, stop: int) -> None:
        part = slice(start, stop)
        apart[part] = (np.take(squares, codes[part]) + weight[part] * apart[part]) / 2

    over_chunks(distances, sample.n, _WIDTH)
    return Parts(size, weight, own, pairs, apart, rows.weight, np.broadcast_to(np.ones(1), sample.n))


def _from_mean(values: Floats, weights: Floats | None, group: Ints, total: Floats) -> Floats:
    """How far each value is from its group's mean: exactly 0 if the group's values are equal, at any scale.

    Parameters
    ----------
    total : (groups,) array
        The sums of the weights.
    """
    origin = np.empty(len(total))
    origin[group] = values  # some value of each group
    apart: Floats = rows_at(origin, group)
    np.subtract(values, apart, out=apart)
    mean = np.bincount(group, apart if weights is None else weights * apart, minlength=len(total)) / total
    apart -= rows_at(mean, group)
    return apart


def _row_sums(table: Floats) -> Floats:
    """``table.sum(axis=1)``, which NumPy is slow at for few columns."""
    total = table[:, 0]
    for column in table.T[1:]:
        total = total + column
    return total


def _refuse_constant(values: Floats) -> None:
    if len(values) < 2:
        raise BadInput("Spread needs at least 2 rows, since a single prediction has no variance; got 1.")
    if (values[:2] == values[0]).all() and (values == values[0]).all():
        raise BadInput(
            f"Predictions are all equal ({', '.join(f'{value:g}' for value in values[0])}), so there is no variance to "
            "account for: measure agreement=fs.Close(eps)" + (" of one of them." if len(values[0]) > 1 else " instead.")
        )
