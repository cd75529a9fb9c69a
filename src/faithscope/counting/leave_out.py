"""Leaving out: what each row adds to a measure, and the measure without one row; units that vary independently."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, Self

import numpy as np

from faithscope.agreements.base import AgreementSums, GroupedRows
from faithscope.counting.layout import Bits, Layout, run_starts, sums
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.chunks import over_chunks
from faithscope.sample import Sample

_CELLS = 2**17  # of masks multiplied at once, so that they stay in cache
_COVERED = 16  # one bit of so many: if more are set, all are multiplied, else those that are set are listed
_WIDTH = 4  # numbers worked on per entry


@dataclass(frozen=True, eq=False)
class Units:
    """Rows with their weights, and the units that vary independently: clusters, or the rows themselves.

    Examples
    --------
    >>> units = Units(np.array([1.0, 1.0, 2.0]), np.array([0, 0, 1]))
    >>> units.sums(np.array([1.0, 0.0, 1.0])).tolist(), units.mean(np.array([1.0, 0.0, 1.0]))
    ([1.0, 2.0], 0.75)
    """

    weight: Floats
    clusters: Ints | None = None

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """The rows of a sample."""
        return cls(sample.weight, sample.clusters)

    def sums(self, values: Floats) -> Floats:
        """Per unit, the weighted sum over its rows."""
        weighed = self.weight * values
        return weighed if self.clusters is None else sums(self.clusters, weighed)

    def mean(self, values: Floats) -> float:
        """The weighted mean over all rows."""
        return float(self.weight @ values / self.weight.sum())

    @cached_property
    def mass(self) -> Floats:
        """The weight of each unit."""
        return self.sums(np.ones(len(self.weight)))

    @property
    def effective_n(self) -> float:
        """As how many independent rows that count alike these are: ``(Σw)² / Σ_k W_k²`` over units k."""
        return float(self.mass.sum() ** 2 / (self.mass @ self.mass))

    @property
    def good(self) -> float:
        """As how many rows of the same weight they are if one that was missed may weigh as much as the heaviest."""
        return float(self.mass.sum() / self.mass.max())

    @property
    def heaviest(self) -> float:
        """How many effective rows a row, or cluster, may count for that was not seen: 1 if rows count alike."""
        return self.effective_n / self.good


class ClusterTotals(NamedTuple):
    """Of clusters: how many there are, as how many rows they count, and chance among rows of different ones."""

    clusters: int
    effective_n: float  # (Σw)² / Σ_k (Σ of the weights of cluster k)²
    chance: float | None  # None if all rows are of one cluster

    @classmethod
    def of(cls, units: Units, chance: float | None = None) -> "ClusterTotals | None":
        """Those of units of which some have a weight; None if rows have no clusters."""
        chance = 1.0 if chance is not None and chance > 1 - 1e-12 else chance  # sums of weights are not exact
        return None if units.clusters is None else cls(int(np.sum(units.mass > 0)), units.effective_n, chance)


class CountsRows:
    """What is known of all rows together, whatever holds them."""

    weight: Floats | None
    clusters: ClusterTotals | None

    @property
    @abstractmethod
    def masses(self) -> tuple[Array, Array]:
        """Weights and squared weights of rows, or of sets of rows."""

    def profile(self) -> Any:
        """What is known of rows by kind, without explanations and labels; not of draws, each of which is one row's."""
        raise NotImplementedError

    @property
    def plain(self) -> bool:
        """Whether rows are independent and count the same."""
        return self.weight is None and self.clusters is None

    @property
    def effective_n(self) -> float:
        """Rows, or with weights the effective sample size (Σw)² / Σw², where a cluster counts as one row."""
        mass, squares = self.masses
        return float(mass.sum() ** 2 / squares.sum()) if self.clusters is None else self.clusters.effective_n


@dataclass(frozen=True, eq=False)
class LeftOut:
    """M̂ and U with each row, or each block of rows, left out in turn.

    Attributes
    ----------
    value, silent : (k,) arrays
        M̂ and U without each row, or each block of rows.
    reach : float
        How much the terms of other rows lean on one row at most: ``max_j Σ_i 1(π_i covers j) / c_i``; 1 for equality.
    weight : (k,) array, optional
        How much each row takes part in the measure: 1 if it has a term of its own, plus how much the terms of other
        rows lean on it. None for equality: there, a row that can be checked has weight 2, and any other row 0.
    rows : (k,) array, optional
        How many rows each value stands for; None if it is one row, or one block, per value.
    heaviest : float
        How many effective rows a row may count for that was not seen: ``n_eff · max w / Σw``, or 1.
    """

    value: Floats
    silent: Floats
    reach: float = 1.0
    weight: Floats | None = None
    rows: Array | None = None
    heaviest: float = 1.0


class Parts(NamedTuple):
    """Rows of one explanation that are left out together, for equality: a single row, or its rows of one cluster.

    Each entry stands for one or more parts that are alike. If all rows ask and answer, and are neither weighted nor
    clustered, `asking`, `weight` and `square` are how many rows the explanation has, and `pairs` counts ordered pairs.
    """

    asking: Array  # the weight of the rows that ask, of the explanation, m
    weight: Array  # the same of the rows that answer, W
    square: Array  # the one weight of each part times the other, summed, V
    pairs: Array  # the weight of the agreeing ordered pairs of rows of different parts, P
    mine: Array  # the weight of the rows that ask, of the part itself
    own: Array  # the same of the rows that answer
    agreeing: Array  # the weight of other parts' rows that answer and agree with a row of this part, in the mean
    answered: Array  # the same of those that ask
    met: Array  # above 0 if rows of two parts ask and answer
    left: Array  # the same without the part
    rows: Array  # how many parts the entry stands for
    unit: Ints | None = None  # the cluster of each part; None if each is left out by itself


class Sums(NamedTuple):
    """Sums over rows, all to be divided by the same total."""

    agreeing: float  # rows, each by its weight and by the share of its others that agree
    silent: float  # rows whose explanation covers nobody else
    total: float


def parts_left_out(parts: Parts) -> tuple[Sums, LeftOut]:
    """The sums of M̂ and U, and both with each row, one row of each kind, or each cluster left out.

    An explanation whose rows that ask weigh m adds ``m P / (m W - V)`` to M̂, or m to U if no other answers. Without
    a part that weighs w, of which m' ask, it has the weights W - w and m - m', the squares V - m' w, and the agreeing
    pairs P - m' A - w B, where A is the weight of its other parts' rows that agree, and B of those among them that ask.
    If all rows ask, m is W, and the pairs are P - 2 w A.
    """
    value, silent, left = np.empty(len(parts.met)), np.empty(len(parts.met)), parts.mine

    def change(start: int, stop: int) -> Sums:
        columns = map(itemgetter(slice(start, stop)), parts[:11])
        asked, weight, square, pairs, mine, own, agreeing, answered, met, kept, rows = columns
        silenced, silences = met <= 0, kept <= 0
        all_pairs, rest = asked * weight - square, asked - mine
        share = pairs / np.where(~silenced & (all_pairs > 0), all_pairs, np.inf)
        all_pairs, less = rest * (weight - own) - (square - mine * own), mine * agreeing + own * answered
        after = rest * ((pairs - less) / np.where(~silences & (all_pairs > 0), all_pairs, np.inf))
        np.subtract(after, asked * share, out=value[start:stop])
        silent[start:stop] = np.where(silences, rest, 0) - np.where(silenced, asked, 0)
        mass = rows * mine
        return Sums(float(np.sum(mass * share)), float(np.sum(mass[silenced])), float(np.sum(mass)))

    added = over_chunks(change, len(value), _WIDTH) or [Sums(0.0, 0.0, 0.0)]
    whole = Sums(*np.sum(added, axis=0).tolist())
    if parts.unit is not None:
        value, silent, left = (sums(parts.unit, column) for column in (value, silent, left))

    rest = np.maximum(whole.total - left, 1e-12 * whole.total)  # 0 if there is no other
    value, silent = (whole.agreeing + value) / rest, (whole.silent + silent) / rest
    return whole, LeftOut(value, silent, rows=parts.rows if parts.unit is None else None)


def ratio(part: Array, whole: Array) -> Floats:
    """Elementwise part / whole; 0 if the whole is 0 or the part is not positive."""
    return np.maximum(part, 0.0) / np.where(whole > 0, whole, np.inf)


def without_each(table: Array) -> Floats:
    """Sums over all blocks (the first column), and over all blocks but one (the others)."""
    left = np.empty((len(table), table.shape[1] + 1))
    np.sum(table, axis=1, out=left[:, 0])
    np.subtract(left[:, :1], table, out=left[:, 1:])
    return left


class Losses(NamedTuple):
    """What the terms of askers lose if their explanation covers one witness fewer.

    Attributes
    ----------
    by_scope : (k, explanations) array
        What changes whoever the witness is: the first row is the change of the terms.
    alike : GroupedRows
        By explanation and prediction, how much less the change is if the witness wholly agrees with that prediction.
    kernel : AgreementSums
    labels : int
        Number of predictions.
    """

    by_scope: Floats
    alike: GroupedRows
    kernel: AgreementSums
    labels: int

    def by_row(
        self, batches: Iterable[tuple[int, Bits]], layout: Layout, label: Ints, dense: bool, step: int
    ) -> Floats:
        """For each row, the sums of the losses over the explanations that cover it: (k, n).

        Parameters
        ----------
        batches : iterable of (int, bitmaps)
            Bitmaps of explanations, with the number of the first.
        label : (n,) array
            The prediction of each row, by number.
        dense : bool
            Whether bits may be multiplied: labels of which each has many rows.
        step : int
            How many explanations to work on at once.
        """
        total = np.zeros((len(self.by_scope), len(layout.source)))
        label = label[layout.source]
        parts = ((start + at, bits[at : at + step]) for start, bits in batches for at in range(0, len(bits), step))
        for start, bits in parts:
            stop = start + len(bits)
            here = slice(*np.searchsorted(self.alike.group, [start, stop]))
            group, value, weight = self.alike
            alike, lost = GroupedRows(group[here], value[here], weight[here]), self.by_scope[:, start:stop]
            if dense and _COVERED * np.sum(np.bitwise_count(bits), dtype=np.int64) > 64 * bits.size:
                agreed = np.zeros((len(bits), self.labels))
                agreed[group[here] - start, value[here]] = weight[here]
                words_at_once = max(1, _CELLS // (64 * len(bits)))
                for number, first in enumerate(layout.first.tolist()):  # words of one label stand together
                    last, weights = first + int(layout.depth[number]), lost.astype(np.float64)
                    weights[0] -= agreed[:, number]
                    for begin in range(first, last, words_at_once):
                        words = slice(begin, min(begin + words_at_once, last))
                        part = np.ascontiguousarray(bits[:, words]).view(np.uint8)
                        masks = np.unpackbits(part, axis=1, bitorder="little").astype(np.float64)
                        total[:, 64 * words.start : 64 * words.stop] += weights @ masks
                continue
            which, place = layout.ones(bits)
            cell = which * self.labels + label[place]
            starts = run_starts(cell)  # one look-up per cell, since tables of all cells would be mostly empty
            agreeing = self.kernel.at(alike, start + which[starts], label[place[starts]])
            changes = lost[:, which].astype(np.float64)
            changes[0] -= np.repeat(agreeing, np.diff(starts, append=len(cell)))
            for row, change in zip(total, changes, strict=True):
                row += sums(place, change, len(row))
        return total[:, layout.position]
