"""Sufficiency: wherever an explanation applies, is the prediction the same? And its kin, `within`."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.counting.coverage import Coverage, cover
from faithscope.explanations import Explanations, as_explanations
from faithscope.explanations.base import several
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_predictions
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.inputs.weights import to_weights
from faithscope.measures.estimate import Estimate, assemble, noted, shares
from faithscope.measures.intervals import jackknife_margins
from faithscope.measures.populations import Populations, split, weights_of_group
from faithscope.measures.weighted_coverage import weighted_sufficiency
from faithscope.relations import to_relation
from faithscope.runtime.memory import in_memory

if TYPE_CHECKING:
    pass

_FEWER = "sample rows, or explanations"  # what to do where memory is short


@in_memory(_FEWER)
def sufficiency(
    explanations: Any,
    X: Any,
    predictions: Any,
    *,
    relation: Any = None,
    confidence: float = 0.95,
    weights: Any = None,
    device: str = "auto",
) -> Estimate:
    """Probability that a row to which x's explanation applies gets x's prediction.

    Parameters
    ----------
    explanations : Explanations that say where they apply
        `Rules`, `Highlights`, `Counterfactuals`, or `Prototypes` with their points; anything with a `relation`.
    X : array-like or table, n rows
        The rows, or documents, that explanations apply to or not.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth), as for `consistency`.
    relation : Nearest, Ball or callable, optional
        ``applies(X, explanation)`` giving a mask of rows; by default what the kind of explanation itself says.
    confidence : float
        Of the interval, a jackknife: exact while explanations x rows is at most 10⁸, by blocks of rows above; always
        exact on a GPU.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
    device : {"auto", "cpu", "cuda"}
        Balls of counterfactuals, and of single prototypes, are counted on a GPU where there is one and they are many.

    Returns
    -------
    Estimate
        A row that its own explanation does not cover is compared with all rows it covers; `notes` say how many.
    """
    given, labels = as_explanations(explanations), to_predictions(predictions)
    same_length(explanations=len(given), predictions=len(labels), X=rows_of(X))
    notes = same_rows(X=X, explanations=explanations, predictions=predictions, weights=weights)
    how: dict[str, Any] = {"relation": relation, "confidence": confidence, "weights": weights, "device": device}
    return noted(measure_sufficiency(given, X, labels, **how), notes)


def measure_sufficiency(
    explanations: Explanations,
    X: Any,
    labels: NDArray[Any],
    *,
    relation: Any = None,
    confidence: float = 0.95,
    weights: Any = None,
    device: str = "auto",
) -> Estimate:
    """`sufficiency` of what was checked before: a part of the rows may look odd where the whole does not."""
    if weights is not None:
        return weighted_sufficiency(explanations, X, labels, weights, relation, confidence)
    found = cover(explanations, labels, X, to_relation(relation, explanations), device=device)
    return to_estimate(found, "sufficiency", confidence)


def to_estimate(found: Coverage, measure: str, confidence: float) -> Estimate:
    """An estimate from counted coverage."""
    counts = found.counts
    missed, empty = int(counts.missed.sum()), int(np.sum(counts.per_explanation == 0))
    holding = several(len(found.idle), "condition holds", "conditions hold")
    idle = f"{holding} on no row, such as {found.idle[0]!r}" if found.idle else ""
    remarks = (
        several(missed, "row is", "rows are") + " not covered by its own explanation" if missed else "",
        several(empty, "explanation covers", "explanations cover") + " no row at all" if empty else "",
        idle,
        "" if found.close is None else _on_gpu(found.close),
    )
    notes = tuple(remark for remark in remarks if remark)
    margins = jackknife_margins(found.left_out, counts.n, confidence)
    return assemble(counts, shares(counts.profile()), margins, measure, confidence, "jackknife", notes)


def _on_gpu(close: int) -> str:
    return f"counted on a GPU, {several(close, 'pair', 'pairs')} within 1e-5 of the distance in double precision"


def by(
    explanations: Explanations,
    X: Any,
    labels: NDArray[Any],
    groups: Any,
    relation: Any,
    confidence: float,
    weights: Any = None,
) -> Populations:
    """Sufficiency within each group of rows: only rows of the group are covered."""
    mass = None if weights is None else to_weights(weights, len(labels))
    options: dict[str, Any] = {"relation": relation, "confidence": confidence}
    parts = {}
    for name, rows in split(groups, len(labels)).items():
        part = None if mass is None else weights_of_group(mass, name, rows)
        taken = explanations.take(rows), take_rows(X, rows), labels[rows]
        parts[name] = measure_sufficiency(*taken, weights=part, **options)
    return Populations(parts)


@in_memory(_FEWER)
def count_covered(
    explanations: Any,
    X: Any,
    predictions: Any,
    *,
    relation: Any = None,
    among: Explanations | None = None,
) -> Counts:
    """Counts of whom explanations cover, to be added over parts of the rows.

    Two passes: collect the distinct explanations of all parts, ``(count(a, …) + count(b, …)).explanations``, then
    count every part `among` them and add up.
    """
    given, labels = as_explanations(explanations), to_predictions(predictions)
    same_length(explanations=len(given), predictions=len(labels), X=rows_of(X))
    same_rows(X=X, explanations=explanations, predictions=predictions)
    how = to_relation(relation, given if among is None else among)
    return cover(given, labels, X, how, interval=False, among=among).counts
