"""Intervals of local measures: exact for shares of rows, and proven for means of agreements from 0 to 1."""

from typing import Any

import numpy as np
from scipy.special import betainc, betainccinv, betaincinv, betaln, gammaln, rel_entr

from faithscope.agreements import Agreement, Same, Spread, Tolerance
from faithscope.counting.layout import divided
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.grouping import group
from faithscope.measures.intervals.margins import check_confidence

_MOST_STEPS = 100  # of Newton's method; about eight are taken
_HALVES = 50  # of bisection


def agreement_interval(
    agreement: Agreement,
    agreeing: Array,
    others: Array,
    confidence: float,
    together: Array | None = None,
) -> tuple[Floats, Floats] | None:
    """Interval for the mean agreement with rows of an explanation, from the sum over `others` of them.

    Exact (`clopper_pearson`) if two predictions agree or not, proven (`chernoff`) if they agree from 0 to 1, and None
    for `Spread`: squared distances have no bound, so no interval holds for all predictions.

    Of rows in clusters, of which `together` are in one at most, Chernoff's: a cluster's rows and its agreement are each
    divided by that number, so that each cluster is one draw of numbers from 0 to 1. Let a and b be the two, with
    ``E b = p E a``. Then ``exp(λ b - a ln(1 - p + p e^λ))``, convex in (a, b), has a mean of at most 1.
    """
    if isinstance(agreement, Spread):
        return None
    together, (low, high) = np.ones(len(others)) if together is None else together, np.empty((2, len(others)))
    exact = isinstance(agreement, Same | Tolerance) & (together == 1)
    for interval, which in ((clopper_pearson, exact), (chernoff, ~exact)):
        low[which], high[which] = interval((agreeing / together)[which], (others / together)[which], confidence)
    return low, high


def clopper_pearson(agreeing: Array, others: Array, confidence: float) -> tuple[Floats, Floats]:
    """Exact interval for a probability after `agreeing` of `others` independent trials; [0, 1] after none."""
    wrong = check_confidence(confidence) / 2
    hits, misses = agreeing.astype(np.float64), (others - agreeing).astype(np.float64)
    low, high = np.zeros(len(hits)), np.ones(len(hits))
    hit, missed = hits > 0, misses > 0
    low[hit] = betaincinv(hits[hit], misses[hit] + 1, wrong)
    high[missed] = betaincinv(hits[missed] + 1, misses[missed], 1 - wrong)
    return low, high


def exact_share(agreeing: float, others: float, confidence: float) -> tuple[float, float]:
    """`clopper_pearson` of one share."""
    low, high = clopper_pearson(np.array([agreeing]), np.array([others]), confidence)
    return float(low[0]), float(high[0])


def label_interval(
    labeled: Ints, rows: Ints, confidence: float, *, commonest: bool = False, together: Array | None = None
) -> tuple[Floats, Floats]:
    """Interval for the share of a label with `labeled` of `rows`; it holds for all labels at once, however many.

    The ends are the p with ``P(Bin(rows, p) >= labeled) = p δ/2`` and with ``P(Bin(rows, p) <= labeled) = p δ/2``.
    A label whose true share is p misses either end with a chance of at most p δ/2, and true shares add up to 1: so
    it holds for any label that is chosen after looking. The low end is 0 for fewer than two rows.

    Of the label that is `commonest` in these rows the high end is Clopper and Pearson's: it has at least as many rows
    here as the label with the largest true share. Of rows in clusters, of which `together` are in one at most, the
    bounds of `chernoff` take the place of the tails.
    """
    if together is not None:
        alone, (low, high) = together == 1, np.empty((2, len(rows)))
        low[alone], high[alone] = label_interval(labeled[alone], rows[alone], confidence, commonest=commonest)
        hits, draws = ((sums / together)[~alone] for sums in (labeled, rows))
        low[~alone], high[~alone] = chernoff(hits, draws, confidence, shared=True)
        if commonest:
            high[~alone] = chernoff(hits, draws, confidence)[1]
        return low, high
    codes, first = group([np.column_stack([labeled, rows])])
    labeled, rows = labeled[first], rows[first]
    low, high = clopper_pearson(labeled, rows, confidence)
    low = _shared_end(low, labeled, rows, confidence, upper=False)
    if not commonest:
        high = _shared_end(high, labeled, rows, confidence, upper=True)
    return low[codes], high[codes]


def _shared_end(start: Floats, labeled: Ints, rows: Ints, confidence: float, *, upper: bool) -> Floats:
    """The p at which the tail of a binomial, at least (or at most) `labeled` of `rows`, is ``p δ/2``.

    It is below (or above) `start`, Clopper and Pearson's end. By Newton's method in log p: the logarithm of either
    tail is concave in it, so no step but the first ends inside of the solution.
    """
    ends, solved = np.full(len(start), float(upper)), labeled < rows if upper else labeled > 1
    known, wrong = start[solved], check_confidence(confidence) / 2
    a, b = ((labeled + upper)[solved].astype(np.float64), (rows - labeled + (not upper))[solved].astype(np.float64))
    scale, sign, place = betaln(a, b), -1 if upper else 1, np.log(known)
    if upper:  # the p with P(Bin <= labeled) = start δ/2 is above the solution
        limits = (place, np.log(betainccinv(a, b, known * wrong)))
        place = limits[1]
    else:  # P(Bin >= labeled) is at most C(rows, labeled) p^labeled, so the solution is no lower than this
        limits = ((np.log(wrong) + scale + np.log(a)) / (a - 1), place)
    for _ in range(_MOST_STEPS):
        p = np.exp(place)
        tail = betainc(b, a, 1 - p) if upper else betainc(a, b, p)  # betaincc would be a hundred times slower
        slope = np.exp(a * place + (b - 1) * np.log1p(-p) - scale) / tail  # |d log(tail) / d log p|
        step = (np.log(tail) - place - np.log(wrong)) / (sign * slope - 1)
        place, before = np.clip(place - step, *limits), place
        if np.all(np.abs(place - before) <= 1e-12):  # the next step would be about the square of this one
            break
    ends[solved] = np.exp(place)
    return ends


def log_choose(n: Any, k: Any) -> Floats:
    """The logarithm of how many ways there are to choose k of n, elementwise."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def chernoff(agreeing: Array, others: Array, confidence: float, *, shared: bool = False) -> tuple[Floats, Floats]:
    """Interval that holds for the mean of independent numbers from 0 to 1, however they vary; [0, 1] for none.

    All q with ``m kl(mean, q) <= ln(2 / δ)``, where m numbers have this mean and kl is the relative entropy of two
    coins (Hoeffding 1963, Theorem 1); by bisection, from outside. If all numbers are 1 its low end is Clopper and
    Pearson's. If all labels share the error, each by its share, δ becomes q δ: the excess of the left side then falls
    with q up to ``(agreeing - 1) / (m - 1)``, at which it is negative, and rises from the mean on.
    """
    codes, each = group([np.column_stack([agreeing, others])])
    agreeing, others = agreeing[each], others[each]
    wrong, mean = check_confidence(confidence) / 2, np.clip(divided(agreeing, others, 0.0), 0.0, 1.0)
    turn = np.clip(divided(agreeing - 1, others - 1, 0.0), 0.0, mean) if shared else mean.copy()
    (low, below), (above, high) = (np.zeros(len(mean)), turn), (mean.copy(), np.ones(len(mean)))
    for _ in range(_HALVES):
        for start, stop, rising in ((low, below, False), (above, high, True)):
            middle = (start + stop) / 2
            with np.errstate(divide="ignore", invalid="ignore"):
                apart = others * (rel_entr(mean, middle) + rel_entr(1 - mean, 1 - middle))
                excess = apart + np.log(middle * wrong if shared else wrong)
            first = (excess > 0) != rising  # the root lies behind the middle
            start[first], stop[~first] = middle[first], middle[~first]
    few = (agreeing > 1) & (others > 1) if shared else others > 0
    return np.where(few, low, 0.0)[codes], np.where(others > 0, high, 1.0)[codes]
