"""Intervals of shares: exact of rows, proven for means of agreements from 0 to 1, and of means over all rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv, gammaln, rel_entr

from faithscope.agreements import Agreement, Same, Spread, Tolerance
from faithscope.counting.layout import divided
from faithscope.inputs.array_types import Array, Floats
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
    wrong, hits, misses = check_confidence(confidence) / 2, agreeing[each], (others - agreeing)[each]
    low = np.where(hits > 0, betaincinv(hits, misses + 1, wrong), 0.0)
    high = np.where(misses > 0, betaincinv(hits + 1, misses, 1 - wrong), 1.0)
    return low[codes], high[codes]


def exact_share(agreeing: float, others: float, confidence: float) -> tuple[float, float]:
    """`clopper_pearson` of one share."""
    low, high = clopper_pearson(np.array([agreeing]), np.array([others]), confidence)
    return float(low[0]), float(high[0])


def label_interval(
    labeled: Array, rows: Array, confidence: float, *, commonest: bool = False, together: Array | None = None
) -> tuple[Floats, Floats]:
    """Interval for the share of a label with `labeled` of `rows`; it holds for all labels at once, however many.

    The ends are the p with ``P(Bin(rows, p) >= labeled) = p δ/2`` and with ``P(Bin(rows, p) <= labeled) = p δ/2``.
    A label whose true share is p misses either end with a chance of at most p δ/2, and true shares add up to 1: so
    it holds for any label that is chosen after looking. The low end is 0 for fewer than two rows.

    Of the label that is `commonest` in these rows the high end is Clopper and Pearson's: it has at least as many rows
    here as the label with the largest true share. Of rows in clusters, of which `together` are in one at most, the
    bounds of `chernoff` take the place of the tails.
    """
    log_tail, alone = _log_binomial_tail, clopper_pearson
    if together is not None:
        log_tail, alone = _log_chernoff_bound, chernoff
        labeled, rows = labeled / together, rows / together
    low, high = _ends(labeled, rows, confidence, log_tail, shared=True)
    return low, alone(labeled, rows, confidence)[1] if commonest else high


def log_choose(n: Any, k: Any) -> Floats:
    """The logarithm of how many ways there are to choose k of n, elementwise."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def chernoff(agreeing: Array, others: Array, confidence: float) -> tuple[Floats, Floats]:
    """Interval that holds for the mean of independent numbers from 0 to 1, however they vary; [0, 1] for none.

    All q with ``m kl(mean, q) <= ln(2 / δ)``, where m numbers have this mean and kl is the relative entropy of two
    coins (Hoeffding 1963, Theorem 1); by bisection, from outside. If all numbers are 1 its low end is Clopper and
    Pearson's.
    """
    return _ends(agreeing, others, confidence, _log_chernoff_bound)


def _log_binomial_tail(hits: Floats, draws: Floats, p: Floats, upper: bool) -> Floats:
    """The logarithm of the probability of no more than so many hits, which bounds p above, or of no fewer."""
    misses = draws - hits
    return np.asarray(np.log(betainc(misses, hits + 1, 1 - p) if upper else betainc(hits, misses + 1, p)))


def _log_chernoff_bound(hits: Floats, draws: Floats, p: Floats, upper: bool) -> Floats:
    """The logarithm of what the same probability is at most, of numbers from 0 to 1 that add up to `hits`."""
    mean = hits / draws
    return np.asarray(-draws * (rel_entr(mean, p) + rel_entr(1 - mean, 1 - p)))


def _ends(
    hits: Array,
    draws: Array,
    confidence: float,
    log_tail: Callable[[Floats, Floats, Floats, bool], Floats],
    *,
    shared: bool = False,
) -> tuple[Floats, Floats]:
    """Where the tails on both sides reach δ/2, by bisection from outside; [0, 1] without draws.

    If all labels share the error, each by its share, δ/2 becomes q δ/2. The tail over q then grows with q up to
    ``(hits - 1) / (draws - 1)``, at which it is above δ/2, and falls from the mean on.
    """
    codes, each = group([np.column_stack([hits, draws])])
    wrong, draws = check_confidence(confidence) / 2, draws[each]
    hits = np.clip(hits[each], 0.0, draws)  # sums of agreements are not exact
    mean = divided(hits, draws, 0.0)
    turn, few = mean, draws > 0
    if shared:
        turn, few = np.clip(divided(hits - 1, draws - 1, 0.0), 0.0, mean), (hits > 1) & (draws > 1)

    def root(start: Floats, stop: Floats, upper: bool) -> Floats:
        """The end of the last interval that is farther from the share."""
        for _ in range(_HALVES):
            middle = (start + stop) / 2
            with np.errstate(divide="ignore", invalid="ignore"):
                error = np.log(middle * wrong if shared else wrong)
                beyond = (log_tail(hits, draws, middle, upper) < error) == upper
            start, stop = np.where(beyond, start, middle), np.where(beyond, middle, stop)
        return stop if upper else start

    low, high = root(np.zeros(len(mean)), turn, upper=False), root(mean, np.ones(len(mean)), upper=True)
    return np.where(few, low, 0.0)[codes], np.where(draws > 0, high, 1.0)[codes]


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
