"""Sufficiency: wherever an explanation applies, is the prediction the same?"""

from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.counting.counts import Counts
from faithscope.counting.coverage import count_among, cover
from faithscope.counting.tally import Coverage
from faithscope.explanations.base import Explanations, several
from faithscope.inputs.rows import rows_of
from faithscope.measures.estimate import Estimate, assemble, noted, sums
from faithscope.measures.intervals import jackknife_margins
from faithscope.measures.spread import spread_estimate
from faithscope.relations import to_relation
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample

FEWER = "sample rows, or explanations"  # what to do if memory is short


@in_memory(FEWER)
def sufficiency(
    explanations: Any,
    predictions: Any,
    X: Any,
    *,
    relation: Any = None,
    confidence: float = 0.95,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
    device: str = "auto",
) -> Estimate:
    """Probability that a row to which x's explanation applies gets x's prediction.

    Parameters
    ----------
    explanations : Explanations that say where they apply
        `Rules`, `Highlights`, `Counterfactuals`, or `Prototypes` with their points; any kind if `relation` is given.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth), as for `consistency`.
    X : array-like or table, n rows
        The rows, or documents, to which explanations may apply.
    relation : Nearest, Ball or callable, optional
        A callable ``applies(X, explanation)`` returns a mask of rows; by default the kind of explanation decides.
    confidence : float
        The confidence of the interval, a jackknife. It leaves out every row while explanations x rows is at most 10⁸,
        and blocks of rows beyond; on a GPU always every row.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        The interval then leaves out blocks of rows.
    agreement : Close, Tolerance, Spread or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`.
    device : {"auto", "cpu", "cuda"}
        "auto" counts balls of counterfactuals, and of single prototypes, on a GPU if there is one and they are many.

    Returns
    -------
    Estimate
        A row that its own explanation does not cover is compared with all rows that it covers; `notes` give the number
        of such rows.

    Examples
    --------
    >>> from faithscope import Rules
    >>> rules = Rules.from_conditions([[("age", "<=", 40.0)]] * 3, features=["age"])
    >>> sufficiency(rules, ["no", "no", "yes"], [[25.0], [31.0], [38.0]]).value
    0.3333333333333333
    """
    rows_of(X)  # None has no rows
    sample = Sample.of(explanations, predictions, X, weights, agreement, clusters)
    return measure_sufficiency(sample, relation, confidence, device)


def measure_sufficiency(
    sample: Sample, relation: Any = None, confidence: float = 0.95, device: str = "auto"
) -> Estimate:
    """The sufficiency of a sample.

    With weights, ``M̂_w = (1/W) Σ_π G_π · Σ_y (G_{πy} C_{πy} - V_{πy}) / (G_π C_π - V_π)``, where G is the weight of the
    rows that were given π and that it covers, V the sum of their squared weights, and C the weight of all rows that it
    covers; rows that their own explanation misses have no V. For rules that partition the rows this is weighted
    consistency.
    """
    counted = sample.counted()
    if counted.weights is not None and (counted.weights == counted.weights[0]).all():
        counted = replace(counted, weights=None)  # rows that count alike can be left out one by one
    coverage = cover(counted, to_relation(relation, counted.explanations), device=device)
    return noted(coverage_estimate(coverage, "sufficiency", confidence), counted.notes)


def coverage_estimate(coverage: Coverage, measure: str, confidence: float) -> Estimate:
    """An estimate from counted coverage."""
    counts = coverage.counts
    missed, empty = int(counts.missed.sum()), int(np.sum(counts.per_explanation == 0))
    holding = several(len(coverage.idle), "condition holds", "conditions hold")
    remarks = (
        several(missed, "row is not covered by its", "rows are not covered by their") + " own explanation"
        if missed
        else "",
        several(empty, "explanation covers", "explanations cover") + " no row at all" if empty else "",
        f"{holding} on no row, such as {coverage.idle[0]!r}" if coverage.idle else "",
        "" if coverage.close is None else _on_gpu(coverage.close),
    )
    notes = tuple(remark for remark in remarks if remark)
    if coverage.spread is not None and coverage.left_out is not None:
        return spread_estimate(counts, coverage.spread, coverage.left_out, measure, confidence, notes)
    margins = jackknife_margins(coverage.left_out, counts.effective_n, confidence)
    terms = sums(counts.profile()) if coverage.sums is None else coverage.sums
    return assemble(counts, terms, margins, measure, confidence, notes=notes)


def _on_gpu(close: int) -> str:
    return f"counted on a GPU, {several(close, 'pair', 'pairs')} within 1e-5 of the distance in double precision"


@in_memory(FEWER)
def count_covered(
    explanations: Any,
    predictions: Any,
    X: Any,
    *,
    relation: Any = None,
    among: Explanations | None = None,
) -> Counts:
    """Counts of the rows that explanations cover; counts of parts of the rows can be added.

    This takes two passes: collect the distinct explanations of all parts, ``(count(a, …) + count(b, …)).explanations``,
    then count every part `among` them, and add.
    """
    rows_of(X)  # None has no rows
    sample = Sample.of(explanations, predictions, X)
    if among is None:
        return cover(sample, to_relation(relation, sample.explanations), interval=False).counts
    return count_among(sample, to_relation(relation, among), among)
