"""The interval of repeatability: how far further rows, and further runs, may lie from these."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri, stdtrit

from faithscope.measures.intervals.margins import IndependentUnits, check_confidence
from faithscope.measures.repeatability.runs import Runs

Floats = NDArray[np.float64]

_SURE = 0.995  # how sure a note is that runs differ by more than rows explain


@dataclass(frozen=True)
class Variance:
    """A variance and its degrees of freedom."""

    variance: float
    freedom: float

    def __add__(self, other: "Variance") -> "Variance":
        """The sum of both, with Satterthwaite's degrees of freedom."""
        total = self.variance + other.variance
        if not total:
            return Variance(0.0, math.inf)
        return Variance(total, 1 / sum((each.variance / total) ** 2 / each.freedom for each in (self, other)))

    def margin(self, wrong: float) -> float:
        """Student's t times the standard error; `wrong` is the probability of either side."""
        return float(stdtrit(self.freedom, 1 - wrong)) * math.sqrt(self.variance) if self.variance else 0.0


@dataclass(frozen=True)
class CrossedRuns:
    """How often runs explain rows alike, over all rows and without some rows or runs.

    Rows are drawn at random, and so are runs, and every run explains every row. So the value varies with the rows, by
    the jackknife over rows (or clusters), and with the runs, by the jackknife over runs. All rows of a run may share
    its luck, as they do if models are retrained; rows then say nothing of further runs. The two variances add. Random
    errors of single explanations are in both, so that the sum is somewhat too large if there is nothing else.

    If runs fall into kinds of equal size, leaving out any of them changes nothing, though other runs would: so the
    variance of the agreements of pairs of runs, by their number, is added too.
    """

    runs: Runs

    @cached_property
    def units(self) -> IndependentUnits:
        """The clusters of rows, which vary independently."""
        return IndependentUnits(self.runs.weights, self.runs.clusters)

    @property
    def cluster_weights(self) -> Floats:
        """The weight of each cluster of rows."""
        return self.units.mass

    @cached_property
    def _total(self) -> float:
        return float(self.cluster_weights.sum())

    @property
    def value(self) -> float:
        """The share of pairs of runs that explain a row alike, over rows."""
        return min(1.0, self.units.mean(self.runs.shares))

    @cached_property
    def pairs(self) -> Floats:
        """The share of rows that two runs explain alike, of every pair, (runs, runs); 1 for a run with itself."""
        codes, weights = self.runs.codes, self.runs.weights
        shares = np.ones((len(codes), len(codes)))
        for run in range(len(codes) - 1):
            alike = (codes[run + 1 :] == codes[run]) @ weights / self._total
            shares[run, run + 1 :] = shares[run + 1 :, run] = alike
        return shares

    @cached_property
    def by_run(self) -> Floats:
        """How often the other runs explain rows as each run does, (runs,)."""
        return np.asarray((self.pairs.sum(axis=1) - 1) / (len(self.pairs) - 1))

    @property
    def without_run(self) -> Floats:
        """The value without each run, (runs,); NaN if a single run is left."""
        many = len(self.by_run)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(many > 2, (many * self.by_run.mean() - 2 * self.by_run) / (many - 2), np.nan)

    @property
    def of_rows(self) -> Variance:
        """How the value varies with the rows, for these runs."""
        apart = self.units.without_each(self.units.sums(self.runs.shares), self.cluster_weights)
        if apart is None:
            return Variance(math.inf, 1.0)
        if not apart.varies:
            return Variance(0.0, math.inf)
        return Variance((apart.rows - 1) / apart.rows * apart.second, apart.second**2 / apart.fourth)

    @property
    def of_runs(self) -> Variance:
        """How the value varies with the runs, for these rows; takes at least 3 runs."""
        many, left = len(self.by_run), self.without_run
        pairs = self.pairs[np.triu_indices(many, 1)]
        variance = (many - 1) / many * ((left - left.mean()) ** 2).sum() + pairs.var(ddof=1) / len(pairs)
        return Variance(float(variance) if variance > 1e-24 else 0.0, many - 1.0)

    def margins(self, confidence: float) -> tuple[float, float]:
        """How far the truth may lie from the value: for further rows of these runs, and for further runs too.

        Never less than ``ln(2/δ) max w / Σ w``, the rule of three's case: rare rows that are explained otherwise may
        have been missed, and weigh as much as the heaviest cluster. Of 2 runs both are the same: nothing is known of
        the spread between runs.
        """
        wrong = check_confidence(confidence) / 2
        rows = self.of_rows
        if math.isinf(rows.variance):
            return 1.0, 1.0
        of_rows = max(self.units.least(wrong), rows.margin(wrong))
        if len(self.by_run) < 3:
            return of_rows, of_rows
        return of_rows, max(of_rows, (rows + self.of_runs).margin(wrong))

    @property
    def differing(self) -> bool:
        """Whether pairs of runs agree more or less than others, beyond what rows explain.

        If only single explanations have luck, the agreement of a pair of runs, less the value, is a sum of independent
        terms, one per cluster of rows, whose squares tell how far it may be from 0; so is that of a run with others.
        """
        many, clusters = len(self.by_run), len(self.cluster_weights)
        if many < 3 or clusters < 2:
            return False
        bar = float(fdtri(many - 1, clusters - 1, _SURE)) * (1 + 1e-9)
        pairs = self.pairs[np.triu_indices(many, 1)] - self.value
        by_pair, by_run = self._scatter
        runs = self.by_run - self.value
        return float((pairs**2).sum()) > bar * by_pair or float((runs**2).sum()) > bar * by_run

    @property
    def _scatter(self) -> tuple[float, float]:
        """The sums over clusters of squared terms, of all pairs and of all runs, that `differing` compares with."""
        runs, many = self.runs, len(self.by_run)
        order = np.argsort(runs.clusters, kind="stable")
        begins = np.searchsorted(runs.clusters[order], np.arange(len(self.cluster_weights)))

        def squares(alike: NDArray[Any]) -> float:
            terms = (alike[:, order] - runs.shares[order]) * (runs.weights[order] / self._total)
            return float((np.add.reduceat(terms, begins, axis=1) ** 2).sum())

        codes = runs.codes
        by_pair = sum(squares(codes[run + 1 :] == codes[run]) for run in range(many - 1))
        return by_pair, sum(squares(each[None] / (many - 1)) for each in runs.companions)


def chance(runs: Runs) -> float | None:
    """How often the explanations of two different rows, by different runs, are equal; None if all rows are one cluster.

    Pairs of explanations that are equal, less those of one run, less those of one cluster of rows, plus those of both.
    """
    codes = runs.codes.ravel()
    run = np.repeat(np.arange(len(runs.names)), runs.n)
    cluster, weight = np.tile(runs.clusters, len(runs.names)), np.tile(runs.weights, len(runs.names))
    by_cluster = np.bincount(runs.clusters, runs.weights)
    strangers = by_cluster.sum() ** 2 - (by_cluster**2).sum()
    if len(by_cluster) < 2:
        return None
    in_run = codes * len(runs.names) + run
    equal = _squares(codes, weight) - _squares(in_run, weight)
    related = _squares(codes * len(by_cluster) + cluster, weight) - _squares(in_run * len(by_cluster) + cluster, weight)
    pairs = len(runs.names) * (len(runs.names) - 1) * strangers
    return float(np.clip((equal - related) / pairs, 0.0, 1.0))


def _squares(keys: NDArray[np.int64], weights: Floats) -> float:
    """The sum over keys of the squared sum of their weights."""
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return float((np.add.reduceat(weights[order], begins) ** 2).sum())
