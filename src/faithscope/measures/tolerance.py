"""The tolerance curve: how faithful explanations of numbers are, for every choice of eps."""

import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithscope.agreements import Close, Tolerance, scaled
from faithscope.discretizers import Discretize
from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array
from faithscope.inputs.checks import is_real
from faithscope.inputs.labels import to_numbers
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.estimate import Estimate
from faithscope.measures.sufficiency import FEWER, Scoping, measure_scoped
from faithscope.measures.telling import Curve
from faithscope.relations import Judged
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample

_LEAST, _MOST = 0.01, 4.0  # of the standard deviation of the predictions
_STEPS = (1, 1.5, 2, 3, 5, 7)  # per power of ten


@in_memory(FEWER)
def tolerance_curve(
    explanations: Any,
    predictions: Any,
    eps: Any = None,
    *,
    agreement: Any = Close,
    discretizer: Discretize | None = None,
    X: Any = None,
    relation: Any = None,
    confidence: float = 0.95,
    weights: Any = None,
) -> "ToleranceCurve":
    """Consistency, or sufficiency, of explanations of numbers for many eps, since an eps is a choice.

    Compare it with its chance at every eps: both rise to 1, and faithful explanations rise first.

    Parameters
    ----------
    explanations, predictions, discretizer, confidence, weights
        As for `consistency`; predictions are numbers, one per row.
    eps : array-like, optional
        In the units of the predictions. By default round numbers from 0.01 to 4 standard deviations of the predictions.
    agreement : fs.Close or fs.Tolerance
        The kind of agreement, without its eps.
    X, relation
        If X is given, sufficiency is measured, as by `sufficiency`.

    Returns
    -------
    ToleranceCurve
        The estimates, smallest eps first, with `table` and `plot`.

    Examples
    --------
    >>> curve = tolerance_curve(["a", "a", "b", "b"], [1.0, 1.5, 4.0, 6.0], [1.0, 2.0, 4.0])
    >>> [round(estimate.value, 3) for estimate in curve.estimates]
    [0.25, 0.375, 0.688]
    """
    if agreement is not Close and agreement is not Tolerance:
        raise WrongType(
            f"agreement={agreement!r} has no eps to vary: pass fs.Close or fs.Tolerance, without parentheses, and eps=."
        )
    if X is None and not isinstance(relation, Judged | None):
        raise BadInput("relation= is for sufficiency, which needs the rows: pass X= as well.")
    sample = Sample.of(explanations, predictions, X, weights, agreement(1.0)).discretized(discretizer)
    sample, relation = sample._scoped_by(relation)
    if eps is None:
        values = _grid(sample.counted().labels)
    else:
        values = np.unique(to_numbers([eps] if is_real(eps) else eps, "eps")).tolist()
    if not values:
        raise BadInput("eps are empty: pass at least one, in the units of the predictions.")
    parts = [replace(sample, agreement=agreement(value)) for value in values]
    scoped = X is not None or relation is not None
    how = Scoping(relation, confidence)
    estimates = (measure_scoped(part, how) if scoped else measure_consistency(part, confidence) for part in parts)
    return ToleranceCurve(tuple(values), tuple(estimates))


def _grid(predictions: Array) -> list[float]:
    """Round numbers from 0.01 to 4 standard deviations of the predictions."""
    if (predictions == predictions[0]).all():
        raise BadInput("Predictions are all equal, so no eps can be chosen by their spread: pass eps=[...].")
    columns, unit = scaled(predictions)  # in which no square is too large or too small
    spread = float(columns[:, 0].std()) * unit
    least, most = _LEAST * spread, _MOST * spread
    if not sys.float_info.min < least < most < sys.float_info.max:
        raise BadInput(f"Predictions have a standard deviation of {spread:g}: pass eps=[...], or them in another unit.")
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps = [float(f"{step}e{power}") for power in powers for step in _STEPS]
    return [step for step in steps if least <= step <= most]


@dataclass(frozen=True, repr=False)
class ToleranceCurve(Curve):
    """Faithfulness to numbers for several eps, smallest first.

    Attributes
    ----------
    eps : tuple of float
        In the units of the predictions.
    estimates : tuple of Estimate
        One per eps.

    Examples
    --------
    >>> curve = tolerance_curve(["a", "a", "b", "b"], [1.0, 1.5, 4.0, 6.0], [2.0, 4.0])
    >>> curve.table()[["eps", "value", "chance"]].round(2).values.tolist()
    [[2.0, 0.38, 0.12], [4.0, 0.69, 0.33]]
    """

    eps: tuple[float, ...]
    estimates: tuple[Estimate, ...]

    _label, _chart, _points = "eps", "tolerance_curve", "eps"

    @property
    def _title(self) -> str:
        return f"{self.estimates[0].measure} by eps"
