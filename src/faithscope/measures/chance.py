"""Against chance: do rows agree more than they would if predictions were shuffled over the rows?"""

import math

import numpy as np
from scipy.special import ndtri

from faithscope.counting.profile import Profile
from faithscope.measures.intervals.margins import check_confidence

_ROUNDING = 1e-9  # times n: sums of shares are not exact
_EXCEEDING = 25  # shuffles that may agree as much as the sample: of 1,000, at a confidence of .95
_DRAWS = 10**7  # numbers drawn for one test at most, about a second
_CALL = 100  # draws that take as long as asking for them
_MOST = 10**9  # rows that NumPy deals


def exceeds_chance(profile: Profile, agreeing: float, chance: float, confidence: float, weight: float | None) -> bool:
    """Whether a permutation test of the predictions finds more agreement than chance.

    Shuffled predictions agree on ``chance * checked`` rows on average, where `checked` are the rows whose explanation
    covers another row; silent rows are on neither side. The spread of that number is known in closed form
    (`shuffled_spread`). With few explanations the number is skewed like chi-squared with one degree of freedom, so less
    than its quantile is no more than chance. Rare labels and explanations make it more skewed still. Beyond
    ``sqrt(1/wrong - 1)`` spreads no distribution has more than `wrong` of its mass (Cantelli); in between, labels
    are shuffled (`_rarer_than`). For other relations, and for numbers, the quantile stands alone.

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
    wrong, rounding, spread = check_confidence(confidence) / 2, _ROUNDING * profile.n, shuffled_spread(profile, weight)
    critical = (float(ndtri(1 - wrong / 2)) ** 2 - 1) / math.sqrt(2)
    if excess <= critical * spread + rounding:
        return False
    if not profile.covers_once or profile.agreement.of_numbers or excess > math.sqrt(1 / wrong - 1) * spread:
        return True
    return _rarer_than(wrong, profile, agreeing - rounding)


def _rarer_than(wrong: float, profile: Profile, agreeing: float) -> bool:
    """Whether shuffled labels agree as much with a chance of at most `wrong`; not if that takes too many shuffles.

    With the sample, m shuffles are m + 1 numbers in random order: that no more than ``wrong (m + 1)`` of them are as
    large as the sample's has at most that chance.
    """
    met = profile.others > 0
    others, place = np.unique(profile.others[met], return_inverse=True)
    sizes = np.repeat(others + 1, np.bincount(place, profile.rows[met]).astype(np.int64) // (others + 1))
    share = np.append(1 / (sizes - 1), 0.0)
    sizes = np.append(sizes, profile.n - sizes.sum())  # silent rows are one group, of which no pair counts
    sides = [(np.sort(profile.label_rows), np.ones(len(profile.label_rows))), (sizes, share)]
    dealt, among = sorted(sides, key=lambda side: len(side[0]))
    many = min(math.ceil(_EXCEEDING / wrong), int(_DRAWS / (len(dealt[0]) * (_CALL + len(among[0])))))
    most = math.floor(wrong * many + 1e-9)
    if most < 1 or profile.n >= _MOST:
        return False
    rng, exceeding = np.random.default_rng(0), 1  # the sample itself
    for _ in range(many - 1):
        left, total = among[0].copy(), 0.0
        for rows, part in zip(*dealt, strict=True):
            drawn = rng.multivariate_hypergeometric(left, rows, method="marginals")
            left -= drawn
            total += part * float(drawn * (drawn - 1) @ among[1])
        exceeding += total >= agreeing
        if exceeding > most:
            return False
    return True


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
