"""Tilt: weights as a product of a part by explanation, a part by label, and chance."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from faithscope.counting.counts import Counts, sums

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_STEPS, _HALVINGS = 50, 30
_MOST_LABELS = 500  # the fit takes the inverse of a (labels, labels) matrix
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Tilt:
    """The fit of ``E[w | π, y] = g_π v_y``, and what it says of every cell.

    `v` solves ``Σ_π (W_πy - W_π s_πy) = 0`` with ``s_πy = n_πy v_y / V_π`` and ``V_π = Σ_y n_πy v_y``, and
    ``g_π = W_π / V_π``: the conditional Poisson fit, which is consistent even if explanations have two rows each.
    Labels that never meet in one explanation have no common scale; the largest of those that meet is 1.

    Attributes
    ----------
    counts : Counts
        Weighted counts of labels.
    v : (labels,) array
        The part by label, at most 1.
    """

    counts: Counts
    v: Floats

    @classmethod
    def fit(cls, counts: Counts) -> "Tilt | None":
        """The fit to weighted counts; None if labels are too many, or if it does not converge."""
        if len(counts.labels) > _MOST_LABELS:
            return None
        rows, weight = (sums(counts.label, column, len(counts.labels)) for column in (counts.given, counts.masses[0]))
        starts = [cls(counts, np.ones(len(rows))), cls(counts, weight / rows)]
        tilt = max(starts, key=lambda start: start._likelihood)
        for _ in range(_STEPS):
            if np.abs(tilt._score).max() <= 1e-12 * weight.sum():
                return cls(counts, tilt.v / tilt._highest)
            further = tilt._step()
            if further is None:
                break
            tilt = further
        return cls(counts, tilt.v / tilt._highest) if np.abs(tilt._score).max() <= 1e-7 * weight.sum() else None

    @cached_property
    def tilted(self) -> Floats:
        """V of each explanation."""
        return self._by_explanation(self.counts.given * self.v[self.counts.label])

    @property
    def of_cells(self) -> Floats:
        """V of each cell."""
        return self.v[self.counts.label]

    @cached_property
    def share(self) -> Floats:
        """S of each cell."""
        counts = self.counts
        return np.asarray(counts.given * self.v[counts.label] / self.tilted[counts.explanation])

    @cached_property
    def weight(self) -> Floats:
        """W of each explanation."""
        return self._by_explanation(self.counts.masses[0])

    @property
    def mean_weight(self) -> Floats:
        """``g v`` of each cell: the fitted mean weight of its rows."""
        counts = self.counts
        return np.asarray((self.weight / self.tilted)[counts.explanation] * self.v[counts.label])

    @property
    def parameters(self) -> int:
        """How many numbers the fit chose: one per explanation and per label, less one per component."""
        return self.counts.distinct + len(self.v) - len(set(self._component.tolist()))

    def fits_exactly(self, cells: Ints, weights: Floats) -> bool:
        """Whether each row weighs ``g v``, and enough rows could have weighed something else to tell."""
        fitted = self.mean_weight[cells]
        return len(cells) - self.parameters >= 10 and bool((np.abs(weights - fitted) <= _ROUNDING * fitted).all())

    def influence(self, slopes: Floats, cells: Ints, weights: Floats) -> Floats:
        """What a sum changes through v if one row is left out, to first order.

        Parameters
        ----------
        slopes : (labels,) array
            The derivative of the sum by ``log v``, of v before it is scaled.
        cells, weights : (n,) arrays
            The cell and the weight of each row.
        """
        counts, v = self.counts, self.v
        top = np.flatnonzero(v == 1.0)
        _, first = np.unique(self._component[top], return_index=True)
        slopes = slopes.copy()
        slopes[top[first]] -= sums(self._component, slopes, len(first))  # the largest stays 1
        pull = np.linalg.lstsq(self._curvature, slopes, rcond=1e-10)[0]
        by_weight = self._by_explanation(pull[counts.label] * counts.masses[0])
        by_fit = self._by_explanation(pull[counts.label] * counts.given * v[counts.label])
        explanation, label = counts.explanation[cells], counts.label[cells]
        before = by_weight - self.weight * by_fit / self.tilted
        left = self._by_explanation(counts.given)[explanation] > 1
        tilted = np.where(left, self.tilted[explanation] - v[label], 1.0)
        after = by_weight[explanation] - pull[label] * weights
        after -= (self.weight[explanation] - weights) * (by_fit[explanation] - pull[label] * v[label]) / tilted
        return np.where(left, after, 0.0) - before[explanation]

    def _by_explanation(self, values: NDArray[np.float64] | Ints) -> Floats:
        return sums(self.counts.explanation, values, self.counts.distinct)

    @cached_property
    def _score(self) -> Floats:
        counts = self.counts
        apart = counts.masses[0] - self.weight[counts.explanation] * self.share
        return sums(counts.label, apart, len(self.v))

    @property
    def _likelihood(self) -> float:
        return float(np.sum(self.counts.masses[0] * np.log(self.share)))

    @cached_property
    def _curvature(self) -> Floats:
        """Minus the derivative of the score by ``log v``."""
        counts, shape = self.counts, (self.counts.distinct, len(self.v))
        cells, mass = (counts.explanation, counts.label), self.share * self.weight[counts.explanation]
        shares, masses = csr_array((self.share, cells), shape=shape), csr_array((mass, cells), shape=shape)
        return np.asarray(np.diag(masses.sum(axis=0)) - (shares.T @ masses).toarray())

    @cached_property
    def _component(self) -> Ints:
        """Which labels meet, directly or through others: the number of each label's component."""
        counts = self.counts
        many, place = counts.distinct + len(self.v), counts.distinct + counts.label
        edges = csr_array((np.ones(len(place)), (counts.explanation, place)), shape=(many, many))
        of = connected_components(edges, directed=False)[1][counts.distinct :]
        return np.unique(of, return_inverse=True)[1]

    @property
    def _highest(self) -> Floats:
        highest = np.zeros(len(self.v))
        np.maximum.at(highest, self._component, self.v)
        return highest[self._component]

    def _step(self) -> "Tilt | None":
        """One Newton step, shortened until the likelihood rises; None if it cannot."""
        step = np.linalg.lstsq(self._curvature, self._score, rcond=1e-10)[0]
        for halving in range(_HALVINGS):
            further = Tilt(self.counts, self.v * np.exp(np.clip(step / 2**halving, -5, 5)))
            closer = np.abs(further._score).max() < np.abs(self._score).max()
            if further._likelihood > self._likelihood or (closer and halving == 0):  # likelihoods equal up to rounding
                return further
        return None
