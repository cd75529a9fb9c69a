"""Intervals of local measures: exact for shares of rows, and proven for means of agreements from 0 to 1."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, rel_entr, xlog1py

from faithscope.agreements import Agreement, Same, Spread, Tolerance
from faithscope.measures.intervals import check_confidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEPS = 12  # Newton's, more than a float can tell apart


def agreement_interval(
    agreement: Agreement, agreeing: NDArray[np.number], others: Ints, confidence: float
) -> tuple[Floats, Floats] | None:
    """Interval for the mean agreement with rows of an explanation, from the sum over `others` of them.

    Exact (`clopper_pearson`) if two predictions agree or not, proven (`chernoff`) if they agree from 0 to 1, and None
    for `Spread`: squared distances have no bound, so no interval holds for all predictions.
    """
    if isinstance(agreement, Spread):
        return None
    interval = clopper_pearson if isinstance(agreement, Same | Tolerance) else chernoff
    return interval(agreeing, others, confidence)


def clopper_pearson(agreeing: NDArray[np.number], others: Ints, confidence: float) -> tuple[Floats, Floats]:
    """Exact interval for a probability after `agreeing` of `others` independent trials; [0, 1] after none."""
    wrong = check_confidence(confidence) / 2
    hits, misses = agreeing.astype(np.float64), (others - agreeing).astype(np.float64)
    low, high = np.zeros(len(hits)), np.ones(len(hits))
    hit, missed = hits > 0, misses > 0
    low[hit] = betaincinv(hits[hit], misses[hit] + 1, wrong)
    high[missed] = betaincinv(hits[missed] + 1, misses[missed], 1 - wrong)
    return low, high


def chernoff(agreeing: NDArray[np.number], others: Ints, confidence: float) -> tuple[Floats, Floats]:
    """Interval that holds for the mean of independent numbers from 0 to 1, however they vary; [0, 1] for none.

    All q with ``m kl(mean, q) <= ln(2 / δ)``, where m numbers have this mean and kl is the relative entropy of two
    coins (Hoeffding 1963, Theorem 1). If all numbers are 1 its low end is Clopper and Pearson's.
    """
    wrong = check_confidence(confidence) / 2
    mean = np.clip(np.divide(agreeing, others, out=np.full(len(others), 0.5), where=others > 0), 0.0, 1.0)
    most = np.divide(-np.log(wrong), others, out=np.full(len(others), np.inf), where=others > 0)
    low, high = _lowest(mean, most), 1 - _lowest(1 - mean, most)
    return np.where(others > 0, low, 0.0), np.where(others > 0, high, 1.0)


def _lowest(mean: Floats, most: Floats) -> Floats:
    """The lowest q up to the mean with ``kl(mean, q) <= most``, from below.

    kl is convex in q, so Newton's steps from a point below that q never pass it. Two such points are known:
    ``kl >= 2 (mean - q)²`` (Pinsker), and ``kl >= mean ln(mean / q) + (1 - mean) ln(1 - mean)``.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = mean * np.exp((xlog1py(1 - mean, -mean) - most) / mean)
        below = np.nan_to_num(np.fmax(np.fmax(far, mean - np.sqrt(most / 2)), 0.0))
        for _ in range(_STEPS):
            excess = rel_entr(mean, below) + rel_entr(1 - mean, 1 - below) - most
            step = excess * below * (1 - below) / (mean - below)
            below = np.where((excess > 0) & np.isfinite(step), np.minimum(below + step, mean), below)
    return np.asarray(below)
