"""Spread, counted: the variance within explanations, of silent rows, and of all rows, from sums that add."""

from typing import Any, NamedTuple

import numpy as np

from faithscope.agreements import scaled
from faithscope.counting.layout import sums
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.counting.profile import LabelPairs
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.chunks import rows_at
from faithscope.sample import Sample

_NONE_LEFT = 1e-12  # of the variance: what is left if one row holds all of it, up to rounding


Moments = Floats
"""Sums over m sets of rows, (3 + k, m): Σw, Σw², Σwy of each of k columns, and Σw|y|²."""


def moments_of(sample: Sample) -> Moments:
    """One set per row; predictions are `scaled`, and taken about their mean, so that squares do not cancel."""
    columns, weight = _centered(sample)[0], sample.weight
    return np.stack([weight, weight**2, *(weight * columns), weight * (columns**2).sum(axis=0)])


def _centered(sample: Sample) -> tuple[Floats, float]:
    """Predictions as columns, (k, n), about their mean, and their unit."""
    if sample.clusters is not None:
        raise NotProven("Spread is not measured for clustered rows: use agreement=fs.Close(eps) with clusters.")
    values, unit = scaled(sample.labels)
    if len(values) < 2:
        raise BadInput("Spread needs at least 2 rows, since a single prediction has no variance; got 1.")
    if (values[:2] == values[0]).all() and (values == values[0]).all():
        raise BadInput(
            f"Predictions are all equal ({', '.join(f'{value:g}' for value in values[0])}), so there is no variance to "
            "account for: measure agreement=fs.Close(eps)" + (" of one of them." if len(values[0]) > 1 else " instead.")
        )
    columns, weight = np.ascontiguousarray(values.T), sample.weight
    for _ in range(2):  # far from 0, the first mean is rounded
        columns -= ((weight * columns).sum(axis=1) / weight.sum())[:, None]
    return columns, unit


def summed(moments: Moments, index: Ints, size: int) -> Moments:
    """The sums of the sets with the same index."""
    return np.stack([sums(index, column, size) for column in moments])


def whole(moments: Moments) -> Moments:
    """All sets as one."""
    return np.asarray(moments.sum(axis=1, keepdims=True))


def _freedom(weight: Any, square: Any) -> Floats:
    """``Σw - Σw² / Σw``, which is n - 1 if rows are not weighted; NaN for a single row."""
    freedom = weight - square / weight
    return np.where(freedom > 1e-12 * weight, freedom, np.nan)


def _about(moments: Moments, mean: Floats) -> Floats:
    """The weighted squared distances from points, one or one per set: ``Σ w |y - mean|²``."""
    distance = moments[-1] - 2 * (moments[2:-1] * mean).sum(axis=0) + moments[0] * (mean**2).sum(axis=0)
    return np.asarray(np.maximum(distance, 0.0))


class SpreadParts(NamedTuple):
    """Variances per row: within explanations (W), of silent rows about the mean (S), and of all rows (T)."""

    within: Floats
    silent: Floats
    whole: Floats

    @classmethod
    def of(cls, within: Floats, silent: Moments, everyone: Moments) -> "SpreadParts":
        """From W, the moments of silent rows and those of all rows."""
        mean, freedom = everyone[2:-1] / everyone[0], _freedom(*everyone[:2])
        return cls(np.asarray(within), _about(silent, mean) / freedom, _about(everyone, mean) / freedom)

    def asked(self, everyone: Moments, asking: Floats) -> "SpreadParts":
        """The same if rows of this weight ask: what is silent, of whomever, falls to them; unknown if nobody asks.

        The predictions of an explanation that was seen once differ from that of a row that asks, in the mean, by no
        more than both lie from the mean of all: ``v_g + (1 - s) v_r`` if a share s of its rows ask, of variance v_g.
        """
        known = asking > _NONE_LEFT * everyone[0]
        times = np.divide(everyone[0], asking, out=np.zeros(len(asking)), where=known)
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
    kurtosis: float  # of the predictions, about the mean of all: 3 for a normal distribution, more with outliers
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


def spread_of(
    total: Sums,
    left_out: LeftOut,
    rows: Moments,
    silent: tuple[Moments, Moments],
    without: Moments,
    unit: float,
    asking: Floats | None = None,
) -> SpreadCounts:
    """From the moments of rows, of silent ones with all rows and without each, and of all rows without each.

    `asking` is what asks of each row or block that is left out, if not all do.
    """
    everyone = whole(rows)
    parts = SpreadParts.of(np.array([total.agreeing / total.total]), silent[0], everyone)
    left = SpreadParts.of(left_out.value, silent[1], without)
    if asking is not None:
        parts = parts.asked(everyone, np.array([total.total]))
        left = left.asked(without, total.total - asking)
    weight, square = rows[0], rows[-1]
    kurtosis = float(np.sum(square**2 / weight) * weight.sum() / square.sum() ** 2)
    return SpreadCounts(parts, left, total.silent / total.total, kurtosis, unit)


def spread_of_plain_rows(sample: Sample) -> tuple[SpreadCounts, LeftOut, Ints, Floats, LabelPairs]:
    """`spread_by_explanation` of rows that count alike.

    With N rows of an explanation, and S their squared distances from their mean, they add ``N S / (N - 1)`` to the sum
    of W. Without a row, a from that mean, S is less by ``a² N / (N - 1)``. If the mean of all n is 0, it is
    ``-y / (n - 1)`` without a row at y.
    """
    columns, unit = _centered(sample)
    codes, first = sample.explanations.group()
    n, many = sample.n, len(first)
    sizes = np.bincount(codes, minlength=many)
    apart, distance = np.zeros(n), np.zeros(n)  # squared, from the mean of the explanation, and of all
    for column in columns:
        # About one value of each explanation first: exactly 0 if its values are equal, at any scale.
        origin = np.empty(many)
        origin[codes] = column
        from_mean = column - rows_at(origin, codes)
        from_mean -= rows_at(sums(codes, from_mean, many) / sizes, codes)
        apart += from_mean * from_mean
        distance += column * column
    within = sums(codes, apart, many)
    added = sizes * within / np.maximum(sizes - 1, 1)  # of a lone row nothing is within
    agreeing, every = float(added.sum()), float(distance.sum())
    # What an explanation adds without one of its rows, a² aside; and what falls with a².
    rest = np.where(sizes > 2, sizes - 2, np.inf) * (n - 1)
    left, falls = (agreeing - added) / (n - 1) + (sizes - 1) * within / rest, sizes / rest
    freedom = _freedom(n - 1.0, n - 1.0)
    value = rows_at(left, codes) - rows_at(falls, codes) * apart
    whole_left = np.maximum(every - n / (n - 1) * distance, 0.0) / freedom
    silent, gone, lone, about = np.zeros(n), np.zeros(n), np.empty(0, np.int64), 0.0
    if (sizes <= 2).any():  # leaving out a silent row, or one of two with an explanation, changes which rows are silent
        size, share = rows_at(sizes, codes), 1 / (n - 1)
        alone, two = size == 1, np.flatnonzero(size == 2)
        lone = np.flatnonzero(alone)
        at, about = columns[:, lone].sum(axis=1), float(distance[lone].sum())
        silent = (len(lone) - alone + (size == 2)) / (n - 1)
        moved = about + share * (2 * (at @ columns) + len(lone) * share * distance)
        gone = np.maximum(moved - (1 + share) ** 2 * distance * alone, 0.0)
        partner = two[np.argsort(codes[two], kind="stable")].reshape(-1, 2)
        for row, other in (partner.T, partner.T[::-1]):  # which becomes silent
            gone[row] += ((columns[:, other] + share * columns[:, row]) ** 2).sum(axis=0)
        gone /= freedom
    parts = SpreadParts(*np.array([[agreeing / n], [about / (n - 1)], [every / (n - 1)]]))
    spread = SpreadCounts(
        parts, SpreadParts(value, gone, whole_left), len(lone) / n, float(distance @ distance) * n / every**2, unit
    )
    pairs = LabelPairs.of_centered(columns.T, distance, np.ones(n))
    return spread, LeftOut(value, silent), sizes, sizes * within, pairs
