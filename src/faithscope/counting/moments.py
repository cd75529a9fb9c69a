"""Spread, counted: the variance within explanations, of silent rows, and of all rows, from sums that add."""

from typing import Any, NamedTuple

import numpy as np

from faithscope.agreements import scaled
from faithscope.counting.layout import sums
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.counting.profile import LabelPairs
from faithscope.errors import BadInput, NotProven
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.chunks import over_chunks, rows_at
from faithscope.sample import Sample

_WIDTH = 4  # numbers worked on per row
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
    _refuse_constant(values)
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


def kurtosis(moments: Moments) -> float:
    """Of the predictions, one per set, about the mean of all: 3 for a normal distribution, more with outliers."""
    weight, square = moments[0], moments[-1]
    return float(np.sum(square**2 / weight) * weight.sum() / square.sum() ** 2)


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


def spread_by_explanation(sample: Sample) -> tuple[SpreadCounts, LeftOut, Ints, Floats, LabelPairs]:
    """Spread among rows with the same explanation, in closed form.

    With W, V and S an explanation's weight, its sum of squared weights and its squared distances from its mean, its
    rows add ``W P / (W² - V)``, where P = W S. Without a row that weighs w, a from that mean, P is
    ``(W - w) S - W w a²``. If the mean of all is 0, it is ``-r y`` without a row at y, with r = w / (Σw - w).

    Returns
    -------
    SpreadCounts, LeftOut
        With all rows, and without each.
    sizes, pairs : (explanations,) arrays
        Rows with each explanation, and P.
    LabelPairs
        How far any two rows are apart, not weighted.
    """
    columns, unit = _centered(sample)
    codes, first = sample.explanations.group()
    n, many, plain, weight = sample.n, len(first), sample.weights is None, sample.weight

    def weighed(values: Floats) -> Floats:
        return values if plain else weight * values

    sizes = np.bincount(codes, minlength=many)
    mass, square = (sizes, sizes) if plain else (sums(codes, weight, many), sums(codes, weight**2, many))
    apart, distance = np.zeros(n), np.zeros(n)  # squared, from the mean of the explanation, and of all
    for column in columns:
        # About one value of each explanation first: exactly 0 if its values are equal, at any scale.
        origin = np.empty(many)
        origin[codes] = column
        from_mean = column - rows_at(origin, codes)
        from_mean -= rows_at(sums(codes, weighed(from_mean), many) / mass, codes)
        apart += from_mean * from_mean
        distance += column * column
    within = sums(codes, weighed(apart), many)
    total, squares, pairs, several = float(mass.sum()), float(square.sum()), mass * within, sizes > 1
    added = mass * pairs / np.where(several, mass**2 - square, np.inf)
    agreeing, every = float(added.sum()), float(weighed(distance).sum())
    lone = np.flatnonzero(rows_at(sizes, codes) == 1) if not several.all() else np.empty(0, np.int64)
    held, about = float(weight[lone].sum()), float(np.sum(weight[lone] * distance[lone]))
    at = [float(np.sum(weight[lone] * column[lone])) for column in columns]
    value, left, silent, gone, few = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n), bool((sizes <= 2).any())

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        here, far = codes[part], distance[part]
        own: Any = 1.0 if plain else weight[part]
        size, theirs, other = np.take(sizes, here), np.take(mass, here), total - own
        rest, ratio = theirs - own, own / other
        met = rest * rest - ((theirs if plain else np.take(square, here)) - own * own)
        after = rest * np.take(within, here) - theirs * own * apart[part]
        after *= rest / np.where((size > 2) & (met > 0), met, np.inf)
        value[part] = (agreeing - np.take(added, here) + after) / other
        freedom = _freedom(other, squares - own * own)
        left[part] = np.maximum(every - own * (1 + ratio) * far, 0.0) / freedom
        if not few:
            return
        # Leaving out a silent row, or one of two with an explanation, changes which rows are silent.
        silent[part] = (held - own * (size == 1) + rest * (size == 2)) / other
        beside = sum(y * column[part] for y, column in zip(at, columns, strict=True))
        moved = about + ratio * (2 * beside + held * ratio * far)
        gone[part] = np.maximum(moved - own * (1 + ratio) ** 2 * far * (size == 1), 0.0) / freedom

    over_chunks(fill, n, _WIDTH)
    two = np.flatnonzero(rows_at(sizes, codes) == 2) if few else np.empty(0, np.int64)
    two = two[np.argsort(codes[two], kind="stable")]
    partner = two.reshape(-1, 2)[:, ::-1].reshape(-1)  # becomes silent without a row that shares its explanation alone
    own, other = weight[two], total - weight[two]
    further = sum((column[partner] + own / other * column[two]) ** 2 for column in columns)
    gone[two] += weight[partner] * further / _freedom(other, squares - own * own)
    freedom = _freedom(total, squares)
    parts = SpreadParts(*np.array([[agreeing / total], [about / freedom], [every / freedom]]))
    fourth = float(weighed(distance) @ distance)
    spread = SpreadCounts(parts, SpreadParts(value, gone, left), held / total, fourth * total / every**2, unit)
    return spread, LeftOut(value, silent), sizes, pairs, LabelPairs.of_centered(columns.T, distance, np.ones(n))


def _refuse_constant(values: Floats) -> None:
    if len(values) < 2:
        raise BadInput("Spread needs at least 2 rows, since a single prediction has no variance; got 1.")
    if (values[:2] == values[0]).all() and (values == values[0]).all():
        raise BadInput(
            f"Predictions are all equal ({', '.join(f'{value:g}' for value in values[0])}), so there is no variance to "
            "account for: measure agreement=fs.Close(eps)" + (" of one of them." if len(values[0]) > 1 else " instead.")
        )
