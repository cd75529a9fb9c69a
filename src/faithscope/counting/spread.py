"""Spread, counted: the variance within explanations, of silent rows, and of all rows, from sums that add."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import scaled
from faithscope.counting.leave_out import LeftOut, RowKinds, terms_and_left_out
from faithscope.errors import BadInput, NotProven
from faithscope.sample import Sample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
            values, weight = values - values.mean(axis=0), np.ones(sample.n)
            return cls(weight, weight, values, (values**2).sum(axis=1))
        weight = sample.weights
        values = values - weight @ values / weight.sum()
        return cls(weight, weight**2, weight[:, None] * values, weight * (values**2).sum(axis=1))

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(*(a + b for a, b in zip(self.columns, other.columns, strict=True)))

    def __sub__(self, other: "Moments") -> "Moments":
        return Moments(*(a - b for a, b in zip(self.columns, other.columns, strict=True)))

    def __getitem__(self, chosen: "NDArray[np.bool_] | Ints") -> "Moments":
        return Moments(*(column[chosen] for column in self.columns))

    @property
    def columns(self) -> tuple[Floats, Floats, Floats, Floats]:
        """All four arrays."""
        return self.weight, self.own, self.total, self.square

    def where(self, kept: NDArray[np.bool_]) -> "Moments":
        """The sets that are kept; the others are empty."""
        return Moments(*(np.where(kept if column.ndim == 1 else kept[:, None], column, 0) for column in self.columns))

    def sums(self, index: Ints, size: int) -> "Moments":
        """The sums of the sets with the same index."""

        def added(column: Floats) -> Floats:
            return np.bincount(index, column, minlength=size).astype(np.float64, copy=False)

        total = np.stack([added(column) for column in self.total.T], axis=1)
        weight = added(self.weight)
        own = weight if self.own is self.weight else added(self.own)
        return Moments(weight, own, total, added(self.square))

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
        return float(np.sum(self.square**2 / self.weight) / self.weight.sum() / mean**2)

    def about(self, mean: Floats) -> Floats:
        """The weighted squared distances from a point: ``Σ w |y - mean|²``."""
        distance = self.square - 2 * (self.total * mean).sum(axis=1) + self.weight * (mean**2).sum(axis=1)
        return np.asarray(np.maximum(distance, 0.0))


class SpreadParts(NamedTuple):
    """Variances per row: within explanations (W), of silent rows about the mean (S), and of all rows (T)."""

    within: Floats
    silent: Floats
    whole: Floats

    @classmethod
    def of(cls, within: Floats, silent: Moments, everyone: Moments) -> "SpreadParts":
        """From W, the moments of silent rows and those of all rows."""
        mean = everyone.total / everyone.weight[:, None]
        freedom = everyone.freedom
        return cls(np.asarray(within), silent.about(mean) / freedom, everyone.about(mean) / freedom)

    @property
    def explained(self) -> Floats:
        """``1 - (W + S) / T``."""
        return np.asarray(1 - (self.within + self.silent) / self.whole)

    @property
    def silence(self) -> Floats:
        """``S / T``: how much higher the share could be if silent rows lay at their explanation's mean."""
        return np.asarray(self.silent / self.whole)


class SpreadCounts(NamedTuple):
    """W, S and T of all rows, the same without each row or block of rows, and what else an estimate tells."""

    whole: SpreadParts
    without: SpreadParts
    unverifiable: float
    kurtosis: float
    unit: float = 1.0  # of the predictions, in which the variances are squares

    def left_out(self, counted: LeftOut) -> LeftOut | None:
        """The share explained, and the silence, without each row or block; None if some are left without variance."""
        if not (self.without.whole > _NONE_LEFT * self.whole.whole).all():
            return None
        return LeftOut(self.without.explained, self.without.silence, counted.reach, counted.weight, counted.rows)


def spread_by_explanation(sample: Sample) -> tuple[SpreadCounts, LeftOut, RowKinds]:
    """Spread among rows with the same explanation, in closed form."""
    codes, first = sample.explanations.group()
    rows = Moments.of_rows(sample)
    groups = rows.sums(codes, len(first))
    kinds = _row_kinds(sample, rows, groups, codes)
    whole, left_out = terms_and_left_out(kinds)
    everyone, alone = rows.whole(), kinds.size == 1
    silent = rows[alone].whole()
    rest = everyone - rows if sample.weights is not None else _without_one(everyone, rows)
    without = SpreadParts.of(left_out.value, silent, rest)
    # Leaving out a silent row, or one of two with an explanation, changes which rows are silent.
    few = np.flatnonzero(kinds.size <= 2)
    lone, mean = alone[few], rest.total[few] / (everyone.weight - rows.weight[few])[:, None]
    changed = np.where(lone, -rows[few].about(mean), (groups[codes[few]] - rows[few]).about(mean))
    without.silent[few] += changed / (rest.freedom if len(rest.weight) == 1 else rest.freedom[few])
    np.maximum(without.silent, 0.0, out=without.silent)
    parts = SpreadParts.of(np.array([whole.agreeing / whole.total]), silent, everyone)
    unit = scaled(sample.labels)[1]
    return SpreadCounts(parts, without, whole.silent / whole.total, rows.kurtosis(), unit), left_out, kinds


def _row_kinds(sample: Sample, rows: Moments, groups: Moments, codes: Ints) -> RowKinds:
    """Every row with the distances of the other rows that have its explanation, in place of agreeing ones."""
    sizes = np.bincount(codes, minlength=len(groups.weight))
    values = rows.total if sample.weights is None else rows.total / rows.weight[:, None]
    apart = sum(_from_mean(column, rows.weight, codes, groups.weight) ** 2 for column in values.T)
    squares = np.bincount(codes, rows.weight * apart, minlength=len(sizes))  # about the mean of each explanation
    size, weight = sizes[codes], groups.weight[codes]
    own = weight if sample.weights is None else groups.own[codes]
    distances = (squares[codes] + weight * apart) / 2
    pairs = (groups.weight * squares)[codes]
    return RowKinds(size, weight, own, pairs, distances, rows.weight, np.ones(sample.n, np.int64))


def _from_mean(values: Floats, weights: Floats, group: Ints, total: Floats) -> Floats:
    """How far each value is from its group's mean: exactly 0 if the group's values are equal, at any scale.

    Parameters
    ----------
    total : (groups,) array
        The sums of the weights.
    """
    origin = np.empty(len(total))
    origin[group] = values  # some value of each group
    apart = values - origin[group]
    mean = np.bincount(group, weights * apart, minlength=len(total)) / total
    return np.asarray(apart - mean[group])


def _without_one(everyone: Moments, rows: Moments) -> Moments:
    """All rows but each in turn, if they count the same: the weights are one number."""
    left = everyone.weight - 1
    return Moments(left, left, everyone.total - rows.total, everyone.square - rows.square)


def _refuse_constant(values: Floats) -> None:
    if len(values) < 2:
        raise BadInput("Spread needs at least 2 rows, since a single prediction has no variance; got 1.")
    if (values == values[0]).all():
        raise BadInput(
            f"Predictions are all equal ({', '.join(f'{value:g}' for value in values[0])}), so there is no variance to "
            "account for: measure agreement=fs.Close(eps)" + (" of one of them." if len(values[0]) > 1 else " instead.")
        )
