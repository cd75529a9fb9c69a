"""Against chance: do rows agree more than they would if predictions were shuffled over the rows?"""

import math

import numpy as np
from scipy.special import ndtri

from faithscope.counting.profile import Profile
from faithscope.measures.intervals.margins import check_confidence

_ROUNDING = 1e-9  # times n: sums of shares are not exact


def exceeds_chance(profile: Profile, agreeing: float, chance: float, confidence: float, weight: float | None) -> bool:
    """Whether a permutation test of the predictions finds more agreement than chance.

    Shuffled predictions agree on ``chance * checked`` rows on average, where `checked` are the rows whose explanation
    covers another row; silent rows are on neither side. The spread of that number is known in closed form
    (`shuffled_spread`), so nothing is shuffled. With few explanations the number is skewed like chi-squared with one
    degree of freedom, the most skewed of its limits, so the critical value is taken from that distribution.

    Parameters
    ----------
    agreeing : float
        The sum over rows of the share of their other rows that agree: ``n * value``.
    chance : float
        Probability that two rows share a prediction.
    confidence : float
        One minus twice the probability of a false alarm.
    weight : float, optional
        Sum over rows of the squared `LeftOut.weight`; None for equality.
    """
    checked = float(profile.rows[profile.others > 0].sum())
    excess = agreeing - chance * checked
    quantile = float(ndtri(1 - check_confidence(confidence) / 4)) ** 2
    critical = (quantile - 1) / math.sqrt(2)
    return excess > critical * shuffled_spread(profile, weight) + _ROUNDING * profile.n


def shuffled_spread(profile: Profile, weight: float | None = None) -> float:
    """Standard deviation of ``n * value`` when predictions are shuffled over the rows; infinite below four rows.

    ``n * value`` is ``sum_ij a_ij b_ij`` with ``a_ij = 1 / c_i`` if row i's explanation covers row j (c_i is the number
    of such rows) and ``b_ij = 1`` if both have the same prediction. Its variance under permutations is Mantel's, which
    reads three sums of `a` and three of `b`. It is exact for equality. For other relations `a` is not symmetric and
    the sum of its squares is an upper bound; the result is then at most 1.42 times too large.
    """
    n = float(profile.n)
    if n < 4:
        return math.inf
    others = profile.others > 0
    rows = profile.rows[others].astype(np.float64)
    checked, squares = rows.sum(), np.sum(rows / profile.others[others])
    by_row = checked if weight is None else weight / 4  # of (a + its transpose) / 2, which gives the same sum
    _, spread, spread_by_row = profile.pairs_of_labels  # of b less its mean, so that nothing large cancels
    two, three = n * (n - 1), n * (n - 1) * (n - 2)
    variance = (
        2 * squares * spread / two
        + 4 * (by_row - squares) * (spread_by_row - spread) / three
        + (checked**2 - 4 * by_row + 2 * squares) * (2 * spread - 4 * spread_by_row) / (three * (n - 3))
    )
    return math.sqrt(max(0.0, float(variance)))
