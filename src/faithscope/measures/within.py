"""Consistency within a distance: do rows with close explanations get the same prediction?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.counting.counted import Coverage
from faithscope.counting.coverage import cover, cover_curve
from faithscope.errors import BadInput
from faithscope.inputs.labels import to_numbers
from faithscope.measures.estimate import Estimate, Method, check_method, noted
from faithscope.measures.notes import cluster_notes
from faithscope.measures.sufficiency import FEWER, coverage_estimate
from faithscope.measures.telling import Curve
from faithscope.relations import Within
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample


@in_memory(FEWER)
def within(
    explanations: Any,
    predictions: Any,
    tau: float,
    *,
    metric: Any = "euclidean",
    confidence: float = 0.95,
    interval: Method | None = None,
    agreement: Any = None,
    clusters: Any = None,
    device: str = "auto",
) -> Estimate:
    """Probability that a row whose explanation is within tau of x's gets x's prediction (paper, section 4.2).

    This compares explanations with each other: it generalizes consistency (tau = 0), and is not sufficiency. Like
    these it takes for granted that rows are independent draws, and that the explainer was fixed before they were seen.

    Parameters
    ----------
    explanations : (n, d) array-like
        Vectors of numbers.
    predictions : array-like, (n,)
        As for `consistency`.
    tau : float
        Explanations at a distance of at most this count as the same.
    metric : str or callable
        Any metric of scikit-learn's; euclidean, manhattan, chebyshev, cosine and hamming also on a GPU.
    confidence, agreement, clusters
        As for `consistency`.
    interval : {"jackknife", "any"}, optional
        How the interval is made, as for `sufficiency`: by default it takes for granted that no explanation which the
        sample missed is close to many.
    device : {"auto", "cpu", "cuda"}
        "auto" uses a GPU if there is one and the pairs are many. The counts are the same, and the interval then leaves
        out every row, for any number of rows.

    Examples
    --------
    >>> within([[0.0], [0.1], [0.9]], [0, 0, 1], 0.2).verified
    1.0
    """
    sample = Sample.of(explanations, predictions, agreement=agreement, clusters=clusters).discretized(None)
    method = check_method(interval, "scopes")
    coverage = cover(sample, Within(tau, metric), device=device)
    return _estimate(coverage, tau, sample, confidence, method)


@in_memory(FEWER)
def within_curve(
    explanations: Any,
    predictions: Any,
    taus: Any,
    *,
    metric: Any = "euclidean",
    confidence: float = 0.95,
    interval: Method | None = None,
    agreement: Any = None,
    clusters: Any = None,
    device: str = "auto",
) -> "WithinCurve":
    """`within` for many distances in one pass over the pairs of explanations.

    Parameters
    ----------
    explanations, predictions, metric, confidence, interval, agreement, clusters, device
        As for `within`.
    taus : array-like
        The distances, in any order.

    Returns
    -------
    WithinCurve
        The estimates, smallest distance first, and a `table`.

    Examples
    --------
    >>> [round(estimate.value, 2) for estimate in within_curve([[0.0], [0.1], [0.9]], [0, 0, 1], [0.2, 1.0]).estimates]
    [0.67, 0.33]
    """
    sample = Sample.of(explanations, predictions, agreement=agreement, clusters=clusters).discretized(None)
    method = check_method(interval, "scopes")
    relations = [Within(float(tau), metric) for tau in np.unique(to_numbers(taus, "taus"))]
    if not relations:
        raise BadInput("taus are empty: pass at least one distance.")
    coverages = cover_curve(sample, relations, device=device)
    pairs = zip(coverages, relations, strict=True)
    estimates = [_estimate(coverage, relation.tau, sample, confidence, method) for coverage, relation in pairs]
    return WithinCurve(tuple(relation.tau for relation in relations), tuple(estimates))


def _estimate(coverage: Coverage, tau: float, sample: Sample, confidence: float, method: Method | None) -> Estimate:
    estimate = coverage_estimate(coverage, f"consistency within {tau:g}", confidence, method)
    return noted(estimate, (*sample.explanations.notes, *sample.notes, *cluster_notes(sample)))


@dataclass(frozen=True, repr=False)
class WithinCurve(Curve):
    """Consistency for several distances within which explanations count as the same, smallest first.

    Examples
    --------
    >>> curve = within_curve([[0.0], [0.1], [0.9]], [0, 0, 1], [0.2, 1.0])
    >>> curve.table()[["tau", "value", "unverifiable"]].round(2).values.tolist()
    [[0.2, 0.67, 0.33], [1.0, 0.33, 0.0]]
    """

    taus: tuple[float, ...]
    estimates: tuple[Estimate, ...]

    _label, _chart, _points, _title = "tau", "within_curve", "taus", "Consistency within distances of explanations"
