"""evaluate(): a model, an explainer and rows in; an Evaluation out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations import Explanations, as_explanations, discretize
from faithscope.explanations.inputs import is_frame, same_length, to_predictions
from faithscope.frames import frame
from faithscope.measures.consistency import consistency
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.counts import count
from faithscope.measures.estimate import Estimate, Interval
from faithscope.measures.local import Local, at_row, per_explanation, per_row
from faithscope.measures.populations import Populations, by

if TYPE_CHECKING:
    import pandas as pd

Discretize = Callable[[Explanations], Any]


@dataclass(frozen=True)
class Evaluation:
    """How faithful one explainer is to one model on some rows.

    Attributes
    ----------
    consistency : Estimate
        Same explanation, same prediction?
    explanations : Explanations
        As they were measured, after discretization.
    predictions : array, (n,)
    X : rows
        As they were given.
    """

    consistency: Estimate
    explanations: Explanations = field(repr=False)
    predictions: Any = field(repr=False)
    X: Any = field(repr=False)
    weights: Any = field(default=None, repr=False)

    @property
    def uniqueness(self) -> float:
        """Share of rows whose explanation no other row was given."""
        counts = self.consistency.counts
        return float(np.sum(counts.per_explanation == 1) / counts.n)

    def local(self) -> "pd.DataFrame":
        """One line a row: local consistency with its exact interval, and the counts behind it."""
        return frame(per_row(self._counts(), self.explanations, self.predictions, self.consistency.confidence))

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line an explanation, worst first; only the k worst where k is given."""
        return frame(per_explanation(self._counts(), self.consistency.confidence, k))

    def counterexamples(self, k: int = 10) -> "pd.DataFrame":
        """Pairs of rows, same explanation, different prediction: worst explanations first, nearest rows first."""
        return frame(counterexamples(self._counts(), self.explanations, self.predictions, self.X, k))

    def by(self, groups: Any) -> Populations:
        """The same measure for each group of rows, with intervals on the differences."""
        found = self.consistency
        how: dict[str, Any] = {"confidence": found.confidence, "interval": found.interval, "weights": self.weights}
        return by(self.explanations, self.predictions, groups, **how)

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this evaluation, ready for JSON."""
        return {"consistency": self.consistency.to_dict(), "uniqueness": self.uniqueness}

    def __str__(self) -> str:
        return str(self.consistency)

    def _repr_html_(self) -> str:
        return self.consistency._repr_html_()

    def _counts(self) -> Any:
        """Every row counts once, whatever its weight."""
        return self.consistency.counts if self.weights is None else count(self.explanations, self.predictions)


def evaluate(
    predict: Any,
    explainer: Any,
    X: Any,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    interval: Interval = "jackknife",
    weights: Any = None,
) -> Evaluation:
    """Measure how faithful an explainer is to a model on the rows X.

    Parameters
    ----------
    predict : model, function or array-like
        Anything with ``predict``, a function from rows to labels, or the predictions themselves.
    explainer : explainer, function or array-like
        Anything with ``explain``, a function from rows to explanations, or the explanations themselves.
    X : array-like or table, n rows
        Rows the model will meet in use; no labels are needed.
    discretizer, confidence, interval, weights
        As for `consistency`.

    Returns
    -------
    Evaluation
    """
    predictions, explanations = _predictions(predict, X), discretize(_explanations(explainer, X), discretizer)
    same_length(X=_rows(X), predictions=len(predictions), explanations=len(explanations))
    found = consistency(explanations, predictions, confidence=confidence, interval=interval, weights=weights)
    return Evaluation(found, explanations, predictions, X, weights)


def local(
    x: Any,
    predict: Any,
    explainer: Any,
    X: Any,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
) -> Local:
    """Local consistency at a row outside the sample: the paper's Algorithm 1.

    Parameters
    ----------
    x : one row
        A vector, or a table of one row.
    predict, explainer, X, discretizer
        As for `evaluate`; model and explainer must be functions, since x is new to them.

    Returns
    -------
    Local
    """
    if _function(predict, "predict") is None or _function(explainer, "explain") is None:
        raise WrongType(
            "local needs a model and an explainer that can be called on x, not ready predictions or explanations."
        )
    row = _one_row(x)
    sample = count(discretize(_explanations(explainer, X), discretizer), _predictions(predict, X))
    explanation = discretize(_explanations(explainer, row), discretizer)
    return at_row(sample, explanation, _predictions(predict, row).tolist()[0], confidence=confidence)


def _one_row(x: Any) -> Any:
    if is_frame(x):
        row = x
    elif hasattr(x, "to_frame") and hasattr(x, "index"):
        row = x.to_frame().T.infer_objects()  # a pandas Series: one row of a table, with its names
    else:
        row = [x] if isinstance(x, str) else np.asarray(x)
        row = row[None, :] if np.ndim(row) == 1 and not isinstance(row, list) else row
    if _rows(row) != 1:
        raise BadInput(f"x must be one row; got {_rows(row):,}.")
    return row


def _rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if shape == () or (shape is None and not hasattr(X, "__len__")):
        raise WrongType(f"X must be rows that can be counted, such as an array or a table; got {type(X).__name__}.")
    return int(shape[0]) if shape else len(X)


def _function(given: Any, method: str) -> Callable[[Any], Any] | None:
    """The method of this name, or the function itself; None where it is neither: then it is the answer itself."""
    found = getattr(given, method, None)
    return found if callable(found) else given if callable(given) else None


def _predictions(predict: Any, X: Any) -> Any:
    function = _function(predict, "predict")
    return to_predictions(predict if function is None else function(X))


def _explanations(explainer: Any, X: Any) -> Explanations:
    if isinstance(explainer, Explanations):
        return explainer
    function = _function(explainer, "explain")
    return as_explanations(explainer if function is None else function(X))
