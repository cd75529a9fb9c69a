"""Leaving out: what each row adds to a measure, and the measure without one row; units that vary independently."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from faithscope.counting.layout import sums
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.chunks import over_chunks
from faithscope.sample import Sample

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
        asked, weight, square, pairs, mine, own, agreeing, answered, met, kept, rows = (
            column[start:stop] for column in parts[:11]
        )
        silenced, silences = met <= 0, kept <= 0
        share = _share(asked, weight, square, pairs, silenced)
        rest, less = asked - mine, mine * agreeing + own * answered
        after = rest * _share(rest, weight - own, square - mine * own, pairs - less, silences)
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


def _share(asking: Array, weight: Array, square: Array, pairs: Array, silent: Bools) -> Floats:
    """What each row that asks adds to the sum of M̂, ``P / (m W - V)``: 0 if its explanation is silent."""
    all_pairs = asking * weight - square
    return pairs / np.where(~silent & (all_pairs > 0), all_pairs, np.inf)


def ratio(part: Array, whole: Array) -> Floats:
    """Elementwise part / whole; 0 if the whole is 0 or the part is not positive."""
    return np.maximum(part, 0.0) / np.where(whole > 0, whole, np.inf)


def without_each(table: Array) -> Floats:
    """Sums over all blocks (the first column), and over all blocks but one (the others)."""
    left = np.empty((len(table), table.shape[1] + 1))
    np.sum(table, axis=1, out=left[:, 0])
    np.subtract(left[:, :1], table, out=left[:, 1:])
    return left
