"""Consistency: of two rows with the same explanation, do both get the same prediction?"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from faithscope.agreements import Spread
from faithscope.counting.clusters import Kinds
from faithscope.counting.counts import count_rows
from faithscope.counting.kept import Kept, goes_with_predictions, keep, kept_note, kept_rows
from faithscope.counting.leave_out import LeftOut, Sums, parts_left_out
from faithscope.discretizers import Discretize, Original, usual
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.measures.comparing.beside import Beside
from faithscope.measures.comparing.populations import Populations, by_groups, measure_groups
from faithscope.measures.covered import spread_consistency
from faithscope.measures.estimate import (
    FOR_EQUALITY,
    Estimate,
    Method,
    about,
    estimate,
    noted,
    refuse_unproven,
    to_estimate,
    to_interval,
)
from faithscope.measures.intervals.margins import IndependentUnits, margins
from faithscope.measures.named_labels import label_word_notes
from faithscope.measures.notes import NOT_BY_PREDICTION, given_code_notes, occurrence_notes, restatement_notes
from faithscope.notes import MAY_MISS, Note, Notes
from faithscope.runtime.memory import FEWER_ROWS
from faithscope.runtime.of_logs import takes_log
from faithscope.sample import Sample, refuse_nobody, with_askers
from faithscope.words import several


@by_groups
@takes_log(FEWER_ROWS)
def consistency(
    explanations: Any,
    predictions: Any = None,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
    askers: Any = None,
    by: None = None,
) -> Any:
    """Probability that two rows with the same explanation get the same prediction.

    Two things are taken for granted: rows are independent draws (or `clusters` of rows are), and the explainer was
    fixed before they were seen. A note tells if no such rows would have explanations as often as these do.

    Parameters
    ----------
    explanations : array-like, table, Explanations or Log
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
    interval : {"proven"}, optional
        How the interval is made. By default the tightest that holds in simulations (``docs/intervals.md``); "proven"
        holds for every model, explainer and population, and is wider.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        They may depend on the prediction. The value weighs pairs, which is off if they do and explanations have few
        rows; the interval is not: it keeps rows by chance in proportion to their weights, averaged over all ways of
        doing so.
    agreement : Close, Tolerance, Spread or callable, optional
        How much two predictions agree where they are numbers; by default they are labels, which agree if equal.
    clusters : array-like, (n,), optional
        Which rows belong together, such as a customer's number: a row is then compared with rows of other clusters
        only, and the interval leaves out whole clusters. Their sizes may go with the prediction, as if declined
        customers come back: rows of one explanation and cluster are one draw, kept by chance. Without it, rows must be
        independent: repeated ones vouch for each other, and the estimate is too high.
    askers : array-like of bool, (n,), optional
        Which rows ask: each of them is compared with all rows that have its explanation, whether these ask or not. So a
        group is measured beside everybody.
    by : array-like, (n,), optional
        The group of each row: every group asks in turn, and is measured among its own rows too.

    Returns
    -------
    Estimate, or Populations if `by` is given

    Examples
    --------
    >>> est = consistency(["leaf 1", "leaf 1", "leaf 2", "leaf 2"], ["yes", "yes", "no", "yes"])
    >>> est.value
    0.5
    """
    sample = with_askers(Sample.of(explanations, predictions, None, weights, agreement, clusters), askers, by)
    coarse = sample.discretized(discretizer)
    method, _ = to_interval(interval)
    if by is not None:
        return measure_by(coarse, by, confidence, method)
    found = measure_consistency(coarse, confidence, method)
    notes = granularity_notes(found, coarse.explanations, discretizer)
    return noted(found, (*notes, *label_word_notes(sample, coarse, discretizer)))


def granularity_notes(found: Estimate, explanations: Explanations, discretizer: Any) -> Notes:
    """A note on explanations of real numbers of which few rows have the same: which discretizer to try."""
    coarsest: Any = usual(explanations)[-1]
    coarse = getattr(explanations, "left", "") != "" or not isinstance(discretizer, Original | None)
    if coarse or found.distinct < max(2, found.n / 2) or isinstance(coarsest, Original):
        return ()
    named = " | ".join(f"fs.{step!r}" for step in steps(coarsest))
    different = f"{found.n:,} rows have {found.distinct:,} different explanations"
    told = "no two rows have the same explanation" if found.distinct == found.n else different
    fact, choice = f"{told}, since real numbers are hardly ever equal", f"discretizer={named}"
    return (Note(fact, option=(choice, "--discretize"), advice=f"to share explanations, pass {choice}"),)


def measure_by(sample: Sample, groups: Any, confidence: float = 0.95, method: str | None = None) -> Populations:
    """The consistency of each group of rows, beside everybody and among themselves."""
    if isinstance(sample.agreement, Spread):
        refuse_unproven(method, "Spread")
    return measure_groups(
        sample,
        groups,
        lambda part: measure_consistency(part, confidence, method),
        lambda rows: _beside(rows, confidence, method),
    )


def _beside(sample: Sample, confidence: float, method: str | None) -> Beside:
    """Rows that ask beside everybody, with notes on how explanations are given to all rows, whichever of them ask."""
    counted = sample.counted()
    counts = count_rows(counted)
    occurrence = occurrence_notes(counts) if sample.clusters is None else ()
    return Beside.of(counted.noting((*occurrence, *restatement_notes(counts))), confidence, method)


def measure_consistency(sample: Sample, confidence: float = 0.95, method: str | None = None) -> Estimate:
    """The consistency of a sample.

    With clusters, a row is compared with rows of other clusters, and clusters are left out. With weights,
    ``M̂_w = (1/W) Σ_π W_π · Σ_y (W_{πy}² - V_{πy}) / (W_π² - V_π)``, where W are sums of weights and V sums of squared
    weights; the interval of both is that of kept rows (`counting/kept.py`). This needs the weight of each row, which
    takes one more pass over the rows. Rows that all weigh the same are not weighted at all; their counts are, so that
    they add up with others.
    """
    counted = sample.counted()
    even = counted.evenly()

    if counted.askers is not None:
        refuse_unproven(method, "askers")
        refuse_nobody(counted)
        return _beside(counted, confidence, method).estimate(1)

    again = partial(measure_consistency, confidence=confidence, method=method)
    if isinstance(counted.agreement, Spread):
        refuse_unproven(method, "Spread")
        found = spread_consistency(counted, confidence)
        if method != "jackknife":
            found = settled(found, replace(even, X=None), again)
    elif even.plain:
        found = estimate(count_rows(even), confidence=confidence, interval=method)
        found = found if even is counted else replace(found, counts=count_rows(counted))
    else:
        kinds = Kinds.of(counted)
        counts = replace(count_rows(counted), clusters=kinds.totals())
        sums, left_out, kept = weighed_pairs(kinds, by_pairs=method == "jackknife")
        known = margins(left_out, counts.effective_n, confidence)
        notes = (NOT_BY_PREDICTION,) if kept is None and counted.clusters is None else ()
        found = to_estimate(counts, sums, known, "consistency", confidence, notes=notes)
        if kept is not None:
            found = about(found, to_estimate(counts, kept.sums, known, "consistency", confidence, notes=kept.notes))
        if method in FOR_EQUALITY:
            found = by_kept_rows(found, replace(counted, X=None), again)
    return noted(found, (*counted.all_notes, *given_code_notes(counted)))


def settled(estimate: Estimate, sample: Sample, measure: Callable[[Sample], Estimate]) -> Estimate:
    """An estimate by weighed pairs; with the interval of kept rows, if weights or sizes go with predictions.

    Distances of `Spread` have no bound, so that it is not asked whether they do.
    """
    if sample.plain:
        return estimate
    if isinstance(sample.agreement, Spread) or goes_with_predictions(sample):
        return by_kept_rows(estimate, sample, measure)
    return estimate if sample.weights is None else noted(estimate, (NOT_BY_PREDICTION,))


def by_kept_rows(estimate: Estimate, sample: Sample, measure: Callable[[Sample], Estimate]) -> Estimate:
    """The estimate with the interval of what is measured on rows that are kept by chance, one draw of them."""
    rows = kept_rows(sample)
    told = kept_note(sample, several(rows.n, "row", "rows"))
    try:
        return about(estimate, replace(measure(rows), notes=(told,)))
    except BadInput:  # by `Spread`, of predictions that do not vary
        return noted(estimate, (Note(f"{told}, but {MAY_MISS}, since of these no variance is known", "interval"),))


def weighed_pairs(kinds: Kinds, *, by_pairs: bool) -> tuple[Sums, LeftOut | None, Kept | None]:
    """The sums of weighed pairs; the measure without each row, or cluster; and the terms of rows that are kept.

    There is none of the last if few rows would be kept, all are of one cluster, or the interval is to be `by_pairs`.
    """
    sums, left_out = parts_left_out(kinds.parts)
    if len(left_out.value) == 1:  # all rows are of one cluster
        return sums, None, None
    kept = None if by_pairs else keep(kinds.sample, kinds)
    if kept is not None:
        return sums, kept.left_out, kept
    return sums, replace(left_out, heaviest=IndependentUnits.of(kinds.sample).heaviest), None
