"""Intervals of shares: exact of rows, proven for means of agreements from 0 to 1, and of means over all rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv, gammaln, rel_entr

from faithscope.agreements import Agreement, Same, Spread, Tolerance
from faithscope.counting.layout import divided
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.grouping import group
from faithscope.measures.intervals.margins import IndependentUnits, Share, check_confidence

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
    if together is not None:
        return chernoff(agreeing / together, others / together, confidence)
    interval = clopper_pearson if isinstance(agreement, Same | Tolerance) else chernoff
    return interval(agreeing, others, confidence)


def clopper_pearson(agreeing: Array, others: Array, confidence: float) -> tuple[Floats, Floats]:
    """Exact interval for a probability after `agreeing` of `others` independent trials; [0, 1] after none."""
    codes, each = group([np.column_stack([agreeing, others])])
    wrong, agreeing, others = check_confidence(confidence) / 2, agreeing[each], others[each]
    hits, misses = agreeing.astype(np.float64), (others - agreeing).astype(np.float64)
    low, high = np.zeros(len(hits)), np.ones(len(hits))
    hit, missed = hits > 0, misses > 0
    low[hit] = betaincinv(hits[hit], misses[hit] + 1, wrong)
    high[missed] = betaincinv(hits[missed] + 1, misses[missed], 1 - wrong)
    return low[codes], high[codes]


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
        hits, draws = labeled / together, rows / together
        low, high = chernoff(hits, draws, confidence, shared=True)
        return low, chernoff(hits, draws, confidence)[1] if commonest else high
    codes, first = group([np.column_stack([labeled, rows])])
    k, n = labeled[first].astype(np.float64), rows[first].astype(np.float64)
    wrong, (low, high) = check_confidence(confidence) / 2, clopper_pearson(k, n, confidence)

    def excess(p: Floats, upper: bool) -> Floats:
        """How much larger the logarithm of ``p δ/2`` is than that of the tail."""
        tail = betainc(n - k, k + 1, 1 - p) if upper else betainc(k, n - k + 1, p)
        return np.asarray(np.log(p * wrong) - np.log(tail))

    low = np.where(k > 1, _root(partial(excess, upper=False), np.zeros(len(k)), low, rising=False), 0.0)
    if not commonest:
        high = np.where(k < n, _root(partial(excess, upper=True), high, np.ones(len(k)), rising=True), 1.0)
    return low[codes], high[codes]


def _root(excess: Callable[[Floats], Floats], start: Floats, stop: Floats, *, rising: bool) -> Floats:
    """Where an excess changes its sign, by bisection: the end of the last interval that is farther from the share."""
    for _ in range(_HALVES):
        middle = (start + stop) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            behind = (excess(middle) > 0) != rising
        start, stop = np.where(behind, middle, start), np.where(behind, stop, middle)
    return stop if rising else start


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

    def excess(q: Floats) -> Floats:
        apart = others * (rel_entr(mean, q) + rel_entr(1 - mean, 1 - q))
        return np.asarray(apart + np.log(q * wrong if shared else wrong))

    turn = np.clip(divided(agreeing - 1, others - 1, 0.0), 0.0, mean) if shared else mean
    low, high = (
        _root(excess, np.zeros(len(mean)), turn, rising=False),
        _root(excess, mean, np.ones(len(mean)), rising=True),
    )
    few = (agreeing > 1) & (others > 1) if shared else others > 0
    return np.where(few, low, 0.0)[codes], np.where(others > 0, high, 1.0)[codes]


def mean_share(
    values: Floats, units: IndependentUnits, confidence: float, *, exact: bool = False
) -> tuple[Share, bool]:
    """The mean of numbers from 0 to 1 with its interval, and whether that is exact.

    It is Student's t by the jackknife over rows, or clusters, and at least the rule of three's; of what is true or not
    of rows that count alike, Clopper and Pearson's, if it may be `exact`.
    """
    value = min(1.0, units.mean(values))
    if exact and len(units.mass) == len(values) and np.ptp(units.mass) == 0:
        return Share(value, *exact_share(round(float(values.sum())), len(values), confidence)), True
    found = units.margins(values, confidence)
    return Share(value, max(0.0, value - found.below), min(1.0, value + found.above)), False
