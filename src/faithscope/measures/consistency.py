"""Consistency: of two rows with the same explanation, do both get the same prediction?"""

from typing import Any

from numpy.typing import NDArray

from faithscope.counting.counts import count
from faithscope.discretizers import Discretize, Discretizer, discretize, to_discretizer
from faithscope.explanations import Explanations, as_explanations
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.labels import to_predictions
from faithscope.measures.estimate import Estimate, Interval, estimate, noted
from faithscope.measures.weighting import weighted_consistency
from faithscope.runtime.memory import FEWER_ROWS, in_memory


@in_memory(FEWER_ROWS)
def consistency(
    explanations: Any,
    predictions: Any,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    interval: Interval = "jackknife",
    weights: Any = None,
) -> Estimate:
    """Probability that two rows with the same explanation get the same prediction.

    Parameters
    ----------
    explanations : array-like, table or Explanations
        One a row: importances (n x d numbers), or any hashable a row.
        NumPy, lists, pandas, polars, Arrow or a ``shap.Explanation``. Rows are matched by position; where two pandas
        inputs have the same row labels in another order, that is an error, and where the labels differ, a note.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth). Numbers agree only where they are equal: a note says so where
        they look like probabilities (3 or more different ones inside (0, 1), none outside [0, 1]), hold more than 20
        different fractions, or where labels are more than 20 and more than rows / 20. From 20 rows on, numbers that
        nearly all differ are refused.
    discretizer : discretizer, str or callable, optional
        Makes explanations coarser: ``Floor(1)``, ``SignOfTop(5)``, or the word for it, ``"1-fp"``, ``"sign-of-top-5"``.
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
    notes = same_rows(explanations=explanations, predictions=predictions, weights=weights)
    how: dict[str, Any] = {"discretizer": discretizer, "confidence": confidence, "interval": interval}
    return noted(measure_consistency(given, labels, weights=weights, **how), notes)


def measure_consistency(
    explanations: Explanations,
    labels: NDArray[Any],
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    interval: Interval = "jackknife",
    weights: Any = None,
) -> Estimate:
    """`consistency` of what was checked before: a part of the rows may look odd where the whole does not."""
    coarse = discretize(explanations, discretizer)
    if weights is not None:
        found = weighted_consistency(coarse, labels, weights, confidence, interval)
    else:
        ours = isinstance(to_discretizer(discretizer), Discretizer) and coarse is not explanations
        found = estimate(count(coarse, labels, ours=ours), confidence=confidence, interval=interval)
    return noted(found, explanations.notes)
