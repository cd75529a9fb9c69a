"""Consistency within a distance: do rows whose explanations are near each other get the same prediction?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.counting.coverage import cover, cover_curve
from faithscope.errors import BadInput
from faithscope.explanations import as_explanations
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.checks import same_length
from faithscope.inputs.frames import frame
from faithscope.inputs.labels import to_numbers, to_predictions
from faithscope.measures.estimate import Estimate, noted
from faithscope.relations import Within
from faithscope.runtime.memory import in_memory

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
from faithscope.measures.sufficiency import _FEWER, to_estimate


@in_memory(_FEWER)
def within(
    explanations: Any,
    predictions: Any,
    tau: float,
    *,
    metric: Any = "euclidean",
    confidence: float = 0.95,
    device: str = "auto",
) -> Estimate:
    """Probability that a row whose explanation is within tau of x's gets x's prediction (paper, section 4.2).

    A relation between explanations: it generalizes consistency (tau = 0), and is not sufficiency.

    Parameters
    ----------
    explanations : (n, d) array-like
        Vectors of numbers.
    tau : float
        Distances up to and including this count as the same.
    metric : str or callable
        Any metric of scikit-learn's; euclidean, manhattan, chebyshev, cosine and hamming also on a GPU.
    device : {"auto", "cpu", "cuda"}
        "auto" takes a GPU where there is one and the pairs are many. The counts are the same, and the interval is
        then exact for any number of rows.
    """
    given, labels = as_explanations(explanations), to_predictions(predictions)
    same_length(explanations=len(given), predictions=len(labels))
    notes = same_rows(explanations=explanations, predictions=predictions)
    found = cover(given, labels, None, Within(tau, metric), device=device)
    return noted(to_estimate(found, f"consistency within {tau:g}", confidence), (*given.notes, *notes))


@in_memory(_FEWER)
def within_curve(
    explanations: Any,
    predictions: Any,
    taus: Any,
    *,
    metric: Any = "euclidean",
    confidence: float = 0.95,
    device: str = "auto",
) -> "WithinCurve":
    """`within` for many distances in one pass over the pairs of explanations.

    Returns
    -------
    WithinCurve
        The estimates, smallest distance first, and a `table`.
    """
    given, labels = as_explanations(explanations), to_predictions(predictions)
    same_length(explanations=len(given), predictions=len(labels))
    notes = same_rows(explanations=explanations, predictions=predictions)
    relations = [Within(float(tau), metric) for tau in np.unique(to_numbers(taus, "taus"))]
    if not relations:
        raise BadInput("taus are empty: pass at least one distance.")
    found = cover_curve(given, labels, relations, device=device)
    names = [f"consistency within {relation.tau:g}" for relation in relations]
    notes = (*given.notes, *notes)
    estimates = [noted(to_estimate(one, name, confidence), notes) for one, name in zip(found, names, strict=True)]
    return WithinCurve(tuple(relation.tau for relation in relations), tuple(estimates))


@dataclass(frozen=True)
class WithinCurve:
    """Estimates for growing distances: from explanations that are all different to one that fits all."""

    taus: tuple[float, ...]
    estimates: tuple[Estimate, ...]

    @property
    def table(self) -> "pd.DataFrame":
        """One line a distance."""
        names = ("value", "low", "high", "unverifiable", "verified", "chance")
        columns: dict[str, Any] = {"tau": self.taus}
        return frame(columns | {name: [getattr(found, name) for found in self.estimates] for name in names})

    def plot(self) -> "alt.LayerChart":
        """The measure by distance, with intervals and chance, as an Altair chart."""
        from faithscope.charts import within_curve

        return within_curve(self.taus, self.estimates)

    def __str__(self) -> str:
        return "\n".join(map(str, self.estimates))
