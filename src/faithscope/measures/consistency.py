"""Consistency: of two rows with the same explanation, do both get the same prediction?"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from faithscope.explanations import Explanations, as_explanations, discretize
from faithscope.explanations.discretize import Discretizer
from faithscope.explanations.labels import to_predictions
from faithscope.measures.counts import count
from faithscope.measures.estimate import Estimate, Interval, estimate
from faithscope.measures.weighting import weighted_consistency
from faithscope.memory import FEWER_ROWS, in_memory


@in_memory(FEWER_ROWS)
def consistency(
    explanations: Any,
    predictions: Any,
    *,
    discretizer: Callable[[Explanations], Any] | None = None,
    confidence: float = 0.95,
    interval: Interval = "jackknife",
    weights: Any = None,
) -> Estimate:
    """Probability that two rows with the same explanation get the same prediction.

    Parameters
    ----------
    explanations : array-like, table or Explanations
        One a row: importances (n x d numbers), or any hashable a row.
        NumPy, lists, pandas, polars, Arrow or a ``shap.Explanation``.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth).
    discretizer : callable, optional
        Makes explanations coarser, such as ``Floor(1)`` or ``SignOfTop(5)``.
    confidence : float
        Of the interval.
    interval : {"jackknife", "mcdiarmid"}
        Approximate and narrow, or proven for every system and wide.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        Weights that depend on the prediction want tens of rows an explanation: of few, the estimate is too low.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> est = consistency(["leaf 1", "leaf 1", "leaf 2", "leaf 2"], ["yes", "yes", "no", "yes"])
    >>> est.value
    0.5
    """
    given, labels = as_explanations(explanations), to_predictions(predictions)
    coarse = discretize(given, discretizer)
    if weights is not None:
        found = weighted_consistency(coarse, labels, weights, confidence, interval)
    else:
        ours = isinstance(discretizer, Discretizer) and coarse is not given
        found = estimate(count(coarse, labels, ours=ours), confidence=confidence, interval=interval)
    return replace(found, notes=(*found.notes, *given.notes)) if given.notes else found
