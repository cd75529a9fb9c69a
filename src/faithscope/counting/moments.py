"""Spread, counted: the variance within explanations, of silent rows, and of all rows, from sums that add."""

from typing import NamedTuple

import numpy as np

from faithscope.agreements import scaled
from faithscope.counting.layout import sums
from faithscope.counting.leave_out import LeftOut, Parts, Sums, parts_left_out
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.chunks import over_chunks, rows_at
from faithscope.sample import Sample

_WIDTH = 4  # numbers worked on per row
_NONE_LEFT = 1e-12  # of the variance: what is left if one row holds all of it, up to rounding


Moments = Floats
"""Sums over m sets of rows, (3 + k, m): Σw, Σw², Σwy of each of k columns, and Σw|y|²."""


def moments_of(sample: Sample) -> Moments:
    """One set per row; predictions are `scaled`, and taken about their mean, so that squares do not cancel."""
    if sample.clusters is not None:
        raise NotProven("Spread is not measured for clustered rows: use agreement=fs.Close(eps) with clusters.")
    values, _ = scaled(sample.labels)
    _refuse_constant(values)
    weight = sample.weight
    values = values.T - (weight @ values / weight.sum())[:, None]
    return np.stack([weight, weight**2, *(weight * values), weight * (values**2).sum(axis=0)])


def summed(moments: Moments, index: Ints, size: int) -> Moments:
    """The sums of the sets with the same index."""
    return np.stack([sums(index, column, size) for column in moments])


def whole(moments: Moments) -> Moments:
    """All sets as one."""
    return np.asarray(moments.sum(axis=1, keepdims=True))


def kurtosis(moments: Moments) -> float:
    """Of the predictions, one per set, about the mean of all: 3 for a normal distribution, more with outliers."""
    weight, square = moments[0], moments[-1]
    return float(np.sum(square**2 / weight) * weight.sum() / square.sum() ** 2)


def _freedom(moments: Moments) -> Floats:
    """``Σw - Σw² / Σw``, which is n - 1 if rows are not weighted; NaN for a single row."""
    freedom = moments[0] - moments[1] / moments[0]
    return np.where(freedom > 1e-12 * moments[0], freedom, np.nan)


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
        mean, freedom = everyone[2:-1] / everyone[0], _freedom(everyone)
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
    return SpreadCounts(parts, left, total.silent / total.total, kurtosis(rows), unit)


def spread_by_explanation(sample: Sample) -> tuple[SpreadCounts, LeftOut, Parts, Moments]:
    """Spread among rows with the same explanation, in closed form; with its rows, in order, and their moments."""
    codes, first = sample.explanations.group()
    rows = moments_of(sample)
    kinds = _row_kinds(sample, rows, codes, len(first))
    counted, left_out = parts_left_out(kinds)
    everyone, silent = whole(rows), whole(rows[:, kinds.size == 1])
    two = np.flatnonzero(kinds.size == 2)
    order = two[np.argsort(codes[two], kind="stable")]
    partner = np.empty(sample.n, np.int64)  # of rows that share their explanation with just one other row
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    without = SpreadParts(left_out.value, np.empty(sample.n), np.empty(sample.n))

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        here, size = rows[:, part], kinds.size[part]
        rest = everyone - here
        _, gone, left = SpreadParts.of(without.within, silent, rest)
        # Leaving out a silent row, or one of two with an explanation, changes which rows are silent.
        mean, freedom = rest[2:-1] / rest[0], _freedom(rest)
        alone, pair = np.flatnonzero(size == 1), np.flatnonzero(size == 2)
        gone[alone] -= _about(here[:, alone], mean[:, alone]) / freedom[alone]
        gone[pair] += _about(rows[:, partner[start + pair]], mean[:, pair]) / freedom[pair]
        without.silent[part], without.whole[part] = np.maximum(gone, 0.0), left

    over_chunks(fill, sample.n, _WIDTH)
    parts = SpreadParts.of(np.array([counted.agreeing / counted.total]), silent, everyone)
    unit = scaled(sample.labels)[1]
    return SpreadCounts(parts, without, counted.silent / counted.total, kurtosis(rows), unit), left_out, kinds, rows


def _row_kinds(sample: Sample, rows: Moments, codes: Ints, groups: int) -> Parts:
    """Every row with the distances of the other rows that have its explanation, in place of agreeing ones."""
    sizes = np.bincount(codes, minlength=groups)
    weights = sizes if sample.weights is None else sums(codes, rows[0], groups)
    apart = np.zeros(sample.n)
    for column in rows[2:-1]:
        apart += _from_mean(column if sample.weights is None else column / rows[0], sample, codes, weights) ** 2
    squares = sums(codes, rows[0] * apart, groups)  # about each mean
    size, pairs = rows_at(sizes, codes), rows_at(weights * squares, codes)
    weight = square = size
    if sample.weights is not None:
        weight, square = rows_at(weights, codes), rows_at(sums(codes, rows[1], groups), codes)

    def distances(start: int, stop: int) -> None:
        part = slice(start, stop)
        apart[part] = (np.take(squares, codes[part]) + weight[part] * apart[part]) / 2

    over_chunks(distances, sample.n, _WIDTH)
    return Parts(size, weight, square, pairs, apart, rows[0], np.broadcast_to(np.ones(1), sample.n))


def _from_mean(values: Floats, sample: Sample, group: Ints, total: Array) -> Floats:
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
    mean = np.bincount(group, apart if sample.weights is None else sample.weights * apart, len(total)) / total
    apart -= rows_at(mean, group)
    return apart


def _refuse_constant(values: Floats) -> None:
    if len(values) < 2:
        raise BadInput("Spread needs at least 2 rows, since a single prediction has no variance; got 1.")
    if (values[:2] == values[0]).all() and (values == values[0]).all():
        raise BadInput(
            f"Predictions are all equal ({', '.join(f'{value:g}' for value in values[0])}), so there is no variance to "
            "account for: measure agreement=fs.Close(eps)" + (" of one of them." if len(values[0]) > 1 else " instead.")
        )
