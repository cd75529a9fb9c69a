"""What two explainers would reach if each drew from its own frequencies, and how far beyond that they agree."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.measures.explainer_agreement.shares import CountedRows, Floats, Ints, Share
from faithscope.measures.intervals.margins import Deviations, check_confidence

_CERTAIN = 1 - 1e-12  # chance from which on nothing is left to exceed it


class Chance(NamedTuple):
    """The probability that two rows of different clusters are given the same, one by each explainer.

    Attributes
    ----------
    value : float or None
        ``Σ w_i w_j 1(a_i = b_j) / Σ w_i w_j`` over rows i and j of different clusters, which is unbiased for
        ``Σ_π p_a(π) p_b(π)``; None if all rows are of one cluster.
    left_out : (clusters,) array
        The same without each cluster; NaN if the rest is one cluster.
    """

    value: float | None
    left_out: Floats


@dataclass(frozen=True, eq=False)
class GivenWeights:
    """By cluster and explanation: the weight of the rows that explainer a, and explainer b, gave that explanation."""

    cluster: Ints
    explanation: Ints
    a: Floats
    b: Floats

    @classmethod
    def of(cls, a: Ints, b: Ints, rows: CountedRows) -> "GivenWeights":
        """From numbers of explanations; -1 in b is one that explainer a gave to no row."""
        size = int(a.max()) + 2
        columns = [rows.cluster * size + a, rows.cluster * size + np.where(b < 0, size - 1, b)]
        keys, place = np.unique(np.concatenate(columns), return_inverse=True)
        of_a, of_b = np.split(place.reshape(-1), 2)
        weights = [np.bincount(part, rows.weights, len(keys)).astype(np.float64) for part in (of_a, of_b)]
        return cls(*np.divmod(keys, size), *weights)

    def chance(self, rows: CountedRows) -> Chance:
        """Chance, from all pairs of rows less those within a cluster."""
        whole_a, whole_b = (np.bincount(self.explanation, part) for part in (self.a, self.b))
        pairs = float(whole_a @ whole_b - self.a @ self.b)
        elsewhere_a, elsewhere_b = whole_a[self.explanation] - self.a, whole_b[self.explanation] - self.b
        lost = np.bincount(self.cluster, self.a * elsewhere_b + self.b * elsewhere_a)
        mass, total = rows.by_cluster, rows.total
        everything = total**2 - float((mass**2).sum())
        if len(mass) < 2:
            return Chance(None, np.full(len(mass), np.nan))
        left = everything - 2 * mass * (total - mass)
        rest = np.where(len(mass) > 2, left, np.nan)
        return Chance(float(np.clip(pairs / everything, 0, 1)), np.clip((pairs - lost) / rest, 0, 1))


def beyond_chance(holds: NDArray[np.bool_], chance: Chance, rows: CountedRows, confidence: float) -> Share | None:
    """Kappa, ``(same - chance) / (1 - chance)``, with its interval; None if chance is 1 or unknown.

    The interval is Student's t by the jackknife over clusters, at least as wide as that of a share of rows of which
    none was seen to differ, by ``1 - chance``. It is -1 to 1 if one cluster decides whether kappa is defined.
    """
    if chance.value is None or chance.value >= _CERTAIN:
        return None
    same = holds.astype(np.float64)
    value = 1 - (1 - float(rows.weights @ same) / rows.total) / (1 - chance.value)
    wrong = check_confidence(confidence) / 2
    without = 1 - chance.left_out
    if not (without > 1 - _CERTAIN).all():  # NaN too
        return Share(value, min(-1.0, value), 1.0)
    left_out = 1 - (1 - rows.left_out(same)) / without
    spread = Deviations.of(left_out, np.ones(len(left_out))).margin(wrong)[0]
    margin = max(spread, min(1.0, rows.units.least(wrong)) / (1 - chance.value))
    return Share(value, min(value, max(-1.0, value - margin)), min(1.0, value + margin))
