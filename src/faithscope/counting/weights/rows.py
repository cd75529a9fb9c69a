"""Weighted terms: the sums of M̂ and U for a target population, and both without each row."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts, sums
from faithscope.counting.leaving_out.leave_out import LeftOut, Sums
from faithscope.counting.weights.thinned import Alike, thin
from faithscope.counting.weights.tilt_checks import believed, even_weights_believed
from faithscope.counting.weights.tilted import Tilt
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEW = "thinned to about {} rows, since weights differ much, and depend on the prediction in no simple way"


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows with weights, counted.

    Attributes
    ----------
    counts : Counts
        Their weighted counts.
    cells : (n,) array
        The cell of each row.
    weights : (n,) array
        The weight of each row, above 0.
    """

    counts: Counts
    cells: Ints
    weights: Floats

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @property
    def kept(self) -> float:
        """How many rows are kept if the heaviest is kept for sure, and others in proportion to their weight."""
        return self.total / float(self.weights.max())

    @cached_property
    def thinning_is_cheap(self) -> bool:
        """Whether at least half the effective sample size is kept."""
        return _keeps(self.weights, 1 / 2)


@dataclass(frozen=True, eq=False)
class WeightedTerms:
    """What a weighted estimate is made of.

    Attributes
    ----------
    sums : Sums
        Their `silent` holds how much higher the sum of M̂ could be, which is more than the weight of rows alone.
    left_out : LeftOut
    method : {"thinned", "tilted"}
    notes : tuple of str
    """

    sums: Sums
    left_out: LeftOut
    method: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: WeightedRows) -> "WeightedTerms | None":
        """By the narrowest estimator that holds; None for numbers if weights do not seem to depend on them.

        Rows are tilted if they weigh exactly ``g_π v_y``. Else they are thinned if that is cheap. Else they are tilted
        if the fit is believed, and thinned if it is not, whatever that costs.
        """
        if rows.counts.agreement.of_numbers:
            return _thinned(rows) if rows.thinning_is_cheap or not even_weights_believed(rows.counts) else None
        tilt = Tilt.fit(rows.counts)
        if tilt is not None and tilt.fits_exactly(rows.cells, rows.weights):
            return _tilted(rows, tilt, 1 / rows.kept)
        if rows.thinning_is_cheap or tilt is None or not believed(tilt, rows.cells, rows.weights):
            return _thinned(rows)
        return _tilted(rows, tilt, max(1 / rows.counts.effective_n, 1 / float(tilt.of_cells[rows.cells].sum())))


def can_be_thinned(sample: Sample) -> bool:
    """Whether rules are measured on thinned rows: labels of independent rows, if it is cheap or labels say weights."""
    weights, plain = sample.weights, sample.clusters is None and not sample.agreement.of_numbers
    if weights is None or not plain:
        return False
    names, labels = sample.numbered_labels
    of_label = np.zeros(len(names))
    of_label[labels] = weights
    return bool((weights == of_label[labels]).all()) or _keeps(weights, 1 / 4)  # there is no tilt to turn to


def _keeps(weights: Floats, share: float) -> bool:
    """Whether rows that are kept in proportion to their weight are at least this share of the effective sample size."""
    return float(weights.max() * weights.sum()) * share <= float(np.sum(weights**2))


def _thinned(rows: WeightedRows) -> WeightedTerms:
    """Row i is kept with probability ``w_i / max w``: what is kept is a plain sample of the target population."""
    most = float(rows.weights.max())
    entries, entry = Alike.of_rows(rows.cells, rows.weights / most)
    thinned = thin(rows.counts, entries)
    pairs = [(most * thinned.agreeing, most * thinned.agreeing_without[entry])]
    pairs.append((most * thinned.silent, most * thinned.silent_without[entry]))
    notes = () if rows.thinning_is_cheap else (_FEW.format(f"{rows.kept:,.0f}"),)
    return _terms(rows, pairs, 1 / rows.kept, "thinned", notes)


def _tilted(rows: WeightedRows, tilt: Tilt, heaviest: float) -> WeightedTerms:
    """Rows are kept with probability ``v_y``, and what an explanation adds counts ``g_π = W_π / V_π``.

    Leaving out a row also changes g, and v to first order.
    """
    counts, cells = rows.counts, rows.cells
    explanation, v = counts.explanation[cells], tilt.of_cells
    thinned = thin(counts, Alike(np.arange(len(v)), v, counts.given))
    scale = tilt.weight / tilt.tilted
    several = sums(counts.explanation, counts.given, counts.distinct)[explanation] > 1
    tilted = np.where(several, tilt.tilted[explanation] - v[cells], 1.0)
    without = np.where(several, (tilt.weight[explanation] - rows.weights) / tilted, 0.0)
    pairs = []
    columns = (thinned.agreeing, thinned.agreeing_without), (thinned.silent, thinned.silent_without)
    for whole, changed in columns:
        # Sums are linear in the probability of each row, so leaving it out gives the slope.
        slopes = counts.given * (whole[counts.explanation] - changed) - whole[counts.explanation] * tilt.share
        slope = sums(counts.label, scale[counts.explanation] * slopes, len(tilt.v))
        pairs.append((scale * whole, without * changed[cells] + tilt.influence(slope, cells, rows.weights)))
    return _terms(rows, pairs, heaviest, "tilted")


def _terms(
    rows: WeightedRows,
    pairs: list[tuple[Floats, Floats]],
    heaviest: float,
    method: str,
    notes: tuple[str, ...] = (),
) -> WeightedTerms:
    """Terms from sums per explanation, each beside what it becomes for its explanation without each row.

    Parameters
    ----------
    heaviest : float
        How much of all weight the heaviest row may have.
    """
    explanation, total = rows.counts.explanation[rows.cells], rows.total
    left = np.maximum(total - rows.weights, total * 1e-12)
    (agreeing, value), (silent, alone) = (
        (float(whole.sum()), (whole.sum() - whole[explanation] + changed) / left) for whole, changed in pairs
    )
    nobody = len(rows.cells) == rows.counts.distinct  # then all of it is silent, to the last digit
    terms = Sums(agreeing, total if nobody else min(silent, total), total)
    left_out = LeftOut(value, alone, heaviest=heaviest * rows.counts.effective_n)
    return WeightedTerms(terms, left_out, method, notes)
