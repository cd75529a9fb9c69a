"""Consistency within a distance: do rows with close explanations get the same prediction?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.counting.coverage import tallies
from faithscope.errors import BadInput
from faithscope.inputs.labels import to_numbers
from faithscope.measures.estimate import Estimate, Method, refuse_unproven, to_interval
from faithscope.measures.sufficiency import FEWER, Scoping, measure_scoped
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
    unseen: bool = False,
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
        Any metric of scikit-learn's; euclidean, manhattan and chebyshev also on a GPU.
    confidence, agreement, clusters
        As for `consistency`.
    interval, unseen
        As for `sufficiency`: by default the interval takes for granted that no explanation which the sample missed is
        close to many, and with ``unseen=True`` it does not.
    device : {"auto", "cpu", "cuda"}
        "auto" uses a GPU if there is one and the pairs are many. The answer is the same.

    Examples
    --------
    >>> within([[0.0], [0.1], [0.9]], [0, 0, 1], 0.2).verified
    1.0
    """
    sample = Sample.of(explanations, predictions, agreement=agreement, clusters=clusters).discretized(None)
    return _estimates(sample, [Within(tau, metric)], confidence, device, *to_interval(interval, unseen))[0]


@in_memory(FEWER)
def within_curve(
    explanations: Any,
    predictions: Any,
    taus: Any,
    *,
    metric: Any = "euclidean",
    confidence: float = 0.95,
    interval: Method | None = None,
    unseen: bool = False,
    agreement: Any = None,
    clusters: Any = None,
    device: str = "auto",
) -> "WithinCurve":
    """`within` for many distances in one pass over the pairs of explanations.

    Parameters
    ----------
    explanations, predictions, metric, confidence, interval, unseen, agreement, clusters, device
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
    relations = [Within(float(tau), metric) for tau in np.unique(to_numbers(taus, "taus"))]
    if not relations:
        raise BadInput("taus are empty: pass at least one distance.")
    estimates = _estimates(sample, relations, confidence, device, *to_interval(interval, unseen))
    return WithinCurve(tuple(relation.tau for relation in relations), tuple(estimates))


def _estimates(
    sample: Sample, relations: list[Within], confidence: float, device: str, method: str | None, unseen: bool
) -> list[Estimate]:
    """The estimate within each of these distances."""
    refuse_unproven(method, "scopes")
    return [
        measure_scoped(
            sample,
            Scoping(each, confidence, unseen=unseen, measure=f"consistency within {each.tau:g}"),
            tally.coverage(),
        )
        for each, tally in zip(relations, tallies(sample, relations, device=device), strict=True)
    ]


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
