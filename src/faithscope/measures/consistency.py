"""Consistency: of two rows with the same explanation, do both get the same prediction?"""

from dataclasses import replace
from typing import Any

from faithscope.agreements import Spread
from faithscope.counting.clusters import Strangers
from faithscope.counting.counts import count_rows
from faithscope.discretizers import Discretize
from faithscope.measures.estimate import (
    Estimate,
    Method,
    assemble,
    check_method,
    estimate,
    noted,
    refuse_for,
    refuse_unproven,
)
from faithscope.measures.intervals.margins import jackknife_margins
from faithscope.measures.named_labels import label_word_notes
from faithscope.measures.notes.given_codes import given_code_notes
from faithscope.measures.notes.intervals import cluster_notes
from faithscope.measures.numbers.spread import spread_consistency
from faithscope.measures.weighted import NOT_BY_PREDICTION, weighted_consistency
from faithscope.runtime.memory import FEWER_ROWS, in_memory
from faithscope.sample import Sample


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
    return measure_discretized(sample, discretizer, confidence, interval)


def measure_discretized(
    sample: Sample, discretizer: Discretize | None, confidence: float = 0.95, method: Method | None = None
) -> Estimate:
    """The consistency of a sample whose explanations are made coarser."""
    coarse = sample.discretized(discretizer)
    return noted(measure_consistency(coarse, confidence, method), label_word_notes(sample, coarse, discretizer))


def measure_consistency(sample: Sample, confidence: float = 0.95, method: Method | None = None) -> Estimate:
    """The consistency of a sample.

    With weights, ``M̂_w = (1/W) Σ_π W_π · Σ_y (W_{πy}² - V_{πy}) / (W_π² - V_π)``, where W are sums of weights and V
    sums of squared weights; its interval thins rows (`counting/weights/rows.py`), but for ``"jackknife"``.
    This needs the weight of each row, which takes one more pass over the rows.
    """
    check_method(method)
    counted = sample.counted()
    notes = (*counted.explanations.notes, *counted.notes, *given_code_notes(counted))
    if isinstance(counted.agreement, Spread):
        refuse_unproven(counted.agreement, method)
        return noted(spread_consistency(counted, confidence), notes)
    if counted.clusters is not None:
        return noted(_among_strangers(counted, confidence, method), notes)
    if counted.weights is None:
        return noted(estimate(count_rows(counted), confidence=confidence, interval=method), notes)
    refuse_for("weights", method)
    return noted(weighted_consistency(counted, confidence, method), notes)


def _among_strangers(sample: Sample, confidence: float, method: Method | None) -> Estimate:
    """Consistency of clustered rows: a row is compared with rows of other clusters, and clusters are left out."""
    refuse_for("clusters", method)
    strangers = Strangers.of(sample)
    terms, left_out = strangers.parts.terms()
    counts = replace(count_rows(sample), clusters=strangers.totals())
    margins = jackknife_margins(left_out, counts.effective_n, confidence)
    notes = () if sample.evenly().weights is None else (NOT_BY_PREDICTION,)
    notes = (*notes, *cluster_notes(sample, scoped=False))
    return assemble(counts, terms, margins, "consistency", confidence, notes=notes)
