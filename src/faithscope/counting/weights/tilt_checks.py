"""Whether a tilt may be believed: do labels weigh the same against each other in every explanation?"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import fdtrc

from faithscope.counting.counts import Counts, sums
from faithscope.counting.weights.tilted import Tilt

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING = 1e-9
_APART, _UNLIKELY = 2.5, 0.01


def believed(tilt: Tilt, cells: Ints, weights: Floats) -> bool:
    """Whether neither check speaks against the fit.

    Parameters
    ----------
    cells, weights : (n,) arrays
        The cell and the weight of each row.
    """
    apart = weights_apart(tilt.counts, tilt.of_cells)
    return apart <= _APART and interaction(tilt, cells, weights) >= _UNLIKELY


def even_weights_believed(counts: Counts) -> bool:
    """Whether agreement by weights is that of rows that all weigh the same: for numbers, which are not fitted."""
    return weights_apart(counts, np.ones(len(counts.given))) <= _APART


def weights_apart(counts: Counts, fitted: Floats) -> float:
    """How many standard errors agreement by weights is from agreement by fitted weights, in the same rows.

    Given the predictions of an explanation's rows, agreeing pairs weigh what the fit says, in the mean, if it is right.
    So the difference ``W (P / (W² - Σw²) - P_v / (V² - Σv²))`` is about 0 in the mean, whatever the number of rows.

    Parameters
    ----------
    fitted : (cells,) array
        The fitted weight of a row of each cell; within an explanation, only their ratios matter.
    """
    by_weight, weight = _agreement(counts, *counts.masses)
    by_fit, _ = _agreement(counts, counts.given * fitted, counts.given * fitted**2)
    several = sums(counts.explanation, counts.given, counts.distinct) > 2
    apart = (weight * (by_weight - by_fit))[several]
    error = float(np.sqrt(np.sum(apart**2)))
    return 0.0 if error <= _ROUNDING * weight.sum() else float(abs(apart.sum()) / error)


def _agreement(counts: Counts, mass: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """The agreement of the pairs of each explanation, 0 if it has none, and its mass."""
    own = counts.agreement.itself * squares
    columns = (mass * counts.sums_by_explanation(mass) - own, mass, squares)
    pairs, whole, square = (sums(counts.explanation, column, counts.distinct) for column in columns)
    all_pairs = whole**2 - square
    return np.divide(pairs, all_pairs, out=np.zeros(len(pairs)), where=all_pairs > 1e-12 * whole**2), whole


def interaction(tilt: Tilt, cells: Ints, weights: Floats) -> float:
    """How likely cells are to differ as much as they do if explanations and labels add up, in logarithms of weights.

    The F test of no interaction in a table of explanations by labels: cells against rows within cells. It is 1 if it
    cannot be told, and 0 if rows of one cell weigh the same but cells do not add up.
    """
    counts = tilt.counts
    logs = np.log(weights)
    rows = counts.given.astype(np.float64)
    means = sums(cells, logs, len(rows)) / rows
    within, free = float(np.sum((logs - means[cells]) ** 2)), len(cells) - len(rows)
    between, cells_free = float(np.sum(rows * _residuals(counts, means, rows) ** 2)), len(rows) - tilt.parameters
    if free < 1 or cells_free < 1 or between <= _ROUNDING * len(cells):
        return 1.0
    if within <= _ROUNDING * len(cells) * 1e-6:
        return 0.0
    return float(fdtrc(cells_free, free, between / cells_free / (within / free)))


def _residuals(counts: Counts, means: Floats, rows: Floats) -> Floats:
    """What is left of the means of cells after an explanation's and a label's part, by least squares."""
    shape = (counts.distinct, len(counts.labels))
    total = sums(counts.explanation, rows, counts.distinct)
    table = csr_array((rows, (counts.explanation, counts.label)), shape=shape)
    share = csr_array((rows / total[counts.explanation], (counts.explanation, counts.label)), shape=shape)
    centered = means - (sums(counts.explanation, rows * means, counts.distinct) / total)[counts.explanation]
    normal = np.diag(np.asarray(table.sum(axis=0)).reshape(-1)) - (share.T @ table).toarray()
    by_label = np.linalg.lstsq(normal, sums(counts.label, rows * centered, shape[1]), rcond=1e-10)[0]
    return np.asarray(centered - by_label[counts.label] + (share @ by_label)[counts.explanation])
