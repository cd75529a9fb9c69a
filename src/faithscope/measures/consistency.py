"""Consistency: of two rows with the same explanation, do both get the same prediction?"""

from dataclasses import replace
from typing import Any

from faithscope.agreements import Spread
from faithscope.counting.clusters import Strangers
from faithscope.counting.counts import Counts, count_rows
from faithscope.counting.kept import Kept, keep
from faithscope.counting.leave_out import LeftOut, Sums, parts_left_out
from faithscope.discretizers import Discretize
from faithscope.measures.estimate import Estimate, Method, check_method, estimate, noted, to_estimate
from faithscope.measures.intervals.margins import Bracket, IndependentUnits, margins
from faithscope.measures.named_labels import label_word_notes
from faithscope.measures.notes import cluster_notes, given_code_notes
from faithscope.measures.spread import spread_consistency
from faithscope.runtime.memory import FEWER_ROWS, in_memory
from faithscope.sample import Sample

_MATTERS = 0.02  # silence that a reader should know of
NOT_BY_PREDICTION = "assumes that weights do not depend on the prediction, among rows that an explanation covers"


@in_memory(FEWER_ROWS)
def consistency(
    explanations: Any,
    predictions: Any,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
) -> Estimate:
    """Probability that two rows with the same explanation get the same prediction.

    Two things are taken for granted: rows are independent draws (or `clusters` of rows are), and the explainer was
    fixed before they were seen. A note tells if no such rows would have explanations as often as these do.

    Parameters
    ----------
    explanations : array-like, table or Explanations
        One explanation per row: importances, of shape (n_rows, n_features), or any hashable value per row.
        NumPy, lists, pandas, polars, Arrow or a ``shap.Explanation``. Rows are matched by position; if two pandas
        inputs have the same row labels in another order, that is an error, and if the labels differ, a note.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth). Numbers agree only if they are equal: a note says so if
        they look like probabilities (3 or more different ones inside (0, 1), none outside [0, 1]), hold more than 20
        different fractions, or if labels are more than 20 and more than rows / 20. From 20 rows on, numbers that
        nearly all differ are refused.
    discretizer : discretizer, str or callable, optional
        Makes explanations coarser: ``Floor(1)``, ``SignOfTop(5)``, or the word for it, ``"1-fp"``, ``"sign-of-top-5"``.
    confidence : float
        The confidence of the interval.
    interval : {"tight", "jackknife", "mcdiarmid", "any"}, optional
        How the interval is made. By default the tightest that holds: "tight" for rows that count alike, which lets rows
        with one companion or two tell how much silence hides; "thinned" for weighted rows; else
        "jackknife", which adds all silence. All are approximate; "mcdiarmid" is proven for every system, and wide.
        "any" concerns `sufficiency`.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        They may depend on the prediction. The value weighs pairs, which is off if they do and explanations have few
        rows; the interval is not, but that of ``"jackknife"`` is: it keeps rows in proportion to their weights,
        averaged over all ways of doing so ("thinned").
    agreement : Close, Tolerance, Spread or callable, optional
        How much two predictions agree where they are numbers; by default they are labels, which agree if equal.
    clusters : array-like, (n,), optional
        Which rows belong together, such as a customer's number: a row is then compared with rows of other clusters
        only, and the interval leaves out whole clusters. Without it, rows must be independent: repeated ones vouch for
        each other, and the estimate is too high.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> est = consistency(["leaf 1", "leaf 1", "leaf 2", "leaf 2"], ["yes", "yes", "no", "yes"])
    >>> est.value
    0.5
    """
    sample = Sample.of(explanations, predictions, None, weights, agreement, clusters)
    coarse = sample.discretized(discretizer)
    return noted(measure_consistency(coarse, confidence, interval), label_word_notes(sample, coarse, discretizer))


def measure_consistency(sample: Sample, confidence: float = 0.95, method: Method | None = None) -> Estimate:
    """The consistency of a sample.

    With clusters, a row is compared with rows of other clusters, and clusters are left out. With weights,
    ``M̂_w = (1/W) Σ_π W_π · Σ_y (W_{πy}² - V_{πy}) / (W_π² - V_π)``, where W are sums of weights and V sums of squared
    weights; its interval thins rows (`counting/kept.py`), but for ``"jackknife"``. This needs the weight of
    each row, which takes one more pass over the rows. Rows that all weigh the same are not weighted at all; their
    counts are, so that they add up with others.
    """
    counted = sample.counted()
    by_variance = isinstance(counted.agreement, Spread)
    given = {"Spread": by_variance, "clusters": counted.clusters is not None, "weights": counted.weights is not None}
    check_method(method, *(name for name, asked in given.items() if asked))
    even = counted.evenly()
    if by_variance:
        found = spread_consistency(counted, confidence)
    elif counted.clusters is None and even.weights is None:
        found = estimate(count_rows(even), confidence=confidence, interval=method)
        found = found if even is counted else replace(found, counts=count_rows(counted))
    else:
        counts = count_rows(counted)
        if counted.clusters is not None:
            counts = replace(counts, clusters=Strangers(counted).totals())
        sums, left_out, kept = weighed_pairs(counts, counted, thinned=method != "jackknife")
        known = margins(left_out, counts.effective_n, confidence)
        if kept is not None:
            thinned = to_estimate(counts, kept.sums, known, "consistency", confidence, "thinned", kept.notes)
            found = _about_pairs(thinned, sums)
        else:
            assumed = even.weights is not None and (counted.clusters is not None or method != "jackknife")
            notes = (*((NOT_BY_PREDICTION,) if assumed else ()), *cluster_notes(counted, scoped=False))
            found = to_estimate(counts, sums, known, "consistency", confidence, notes=notes)
    return noted(found, (*counted.explanations.notes, *counted.notes, *given_code_notes(counted)))


def weighed_pairs(counts: Counts, sample: Sample, *, thinned: bool) -> tuple[Sums, LeftOut | None, Kept | None]:
    """The sums of weighed pairs; the measure without each row, or cluster; and the terms of rows that are thinned.

    Rows are thinned if that is asked for and they have weights but no clusters, unless it would keep few of them.
    """
    sums, left_out = parts_left_out(Strangers(sample).parts)
    if thinned and sample.weights is not None and sample.clusters is None:
        kept = keep(counts, sample)
        if kept is not None:
            return sums, kept.left_out, kept
    if len(left_out.value) == 1:  # all rows are of one cluster
        return sums, None, None
    return sums, replace(left_out, heaviest=IndependentUnits.of(sample).heaviest), None


def _about_pairs(kept: Estimate, pairs: Sums) -> Estimate:
    """The value of weighed pairs, M̂_w, with the interval that an estimate from kept rows has about its own bracket."""
    value, silent = min(pairs.agreeing, pairs.total - pairs.silent) / pairs.total, pairs.silent / pairs.total
    verified, low, high = None if silent >= 1 else value / (1 - silent), kept.verified_low, kept.verified_high
    if verified is not None and low is not None and high is not None:
        low, high = min(low, verified), max(high, verified)
    least, most = kept.value, min(1.0, kept.value + kept.unverifiable)
    notes: tuple[str, ...] = ()
    if most - least - silent > _MATTERS:
        notes = (f"weights leave as much open as if {most - least:.0%} of rows were unverifiable",)
    if not kept.low <= value <= kept.high and not kept.low <= min(1.0, value + silent) <= kept.high:
        notes = (*notes, "the value weighs pairs, and is off if weights depend on the prediction: read the interval")
    return replace(
        kept,
        value=value,
        unverifiable=silent,
        verified=verified,
        verified_low=low,
        verified_high=high,
        margins=replace(kept.margins, bracket=Bracket(least, most)),
        notes=(*kept.notes, *notes),
    )
