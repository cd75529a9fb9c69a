"""evaluate(): a model, an explainer and rows in; an Evaluation out."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, NotScoped, WrongType
from faithscope.explanations import Explanations, as_explanations, discretize
from faithscope.explanations.inputs import is_frame, rows_of, same_length
from faithscope.explanations.labels import to_predictions
from faithscope.explanations.relations import says_where, to_relation
from faithscope.frames import frame
from faithscope.measures import scopes
from faithscope.measures.consistency import consistency
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.counts import count
from faithscope.measures.coverage import Coverage, cover
from faithscope.measures.estimate import Estimate, Interval
from faithscope.measures.local import Local, at_row, per_explanation, per_row
from faithscope.measures.populations import Populations, by
from faithscope.measures.sufficiency import by as sufficiency_by
from faithscope.measures.sufficiency import to_estimate

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
    sufficiency : Estimate or None
        Wherever the explanation applies, same prediction? None where explanations do not say where they apply, and
        where rows are weighted.
    explanations : Explanations
        As they were measured, after discretization.
    predictions : array, (n,)
    X : rows
        As they were given.
    """

    consistency: Estimate
    sufficiency: Estimate | None
    explanations: Explanations = field(repr=False)
    predictions: NDArray[Any] = field(repr=False)
    X: Any = field(repr=False)
    weights: Any = field(default=None, repr=False)
    relation: Any = field(default=None, repr=False)
    _coverage: Coverage | None = field(default=None, repr=False)

    @property
    def uniqueness(self) -> float:
        """Share of rows whose explanation no other row was given."""
        counts = self.consistency.counts
        return float(np.sum(counts.per_explanation == 1) / counts.n)

    def local(self) -> "pd.DataFrame":
        """One line a row: local consistency and sufficiency with exact intervals, and the counts behind them."""
        columns = per_row(self._counts(), self.explanations, self.predictions, self.consistency.confidence)
        if self._coverage is not None:
            columns |= scopes.per_row(self._coverage, self.predictions, self.consistency.confidence)
        return frame(columns)

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line an explanation, worst first; only the k worst where k is given."""
        return frame(per_explanation(self._counts(), self.consistency.confidence, k))

    def counterexamples(self, k: int = 10) -> "pd.DataFrame":
        """Pairs of rows, same explanation, different prediction: worst explanations first, nearest rows first."""
        return frame(counterexamples(self._counts(), self.explanations, self.predictions, self.X, k))

    def scopes(self, k: int | None = None) -> "pd.DataFrame":
        """One line an explanation that says where it applies: its precision and coverage on these rows, worst first."""
        return frame(scopes.per_scope(self._scoped(), self.consistency.confidence, k))

    def wrongly_covered(self, k: int = 10) -> "pd.DataFrame":
        """Rows that an explanation covers although they get another prediction, worst explanations first."""
        how = to_relation(self.relation, self.explanations)
        found = scopes.wrongly_covered(self._scoped(), self.explanations, self.predictions, self.X, how, k)
        return frame(found)

    def _scoped(self) -> Coverage:
        if self._coverage is None:
            to_relation(self.relation, self.explanations).scopes(self.explanations)  # says why, for most kinds
            raise NotScoped("Sufficiency was not measured here: rows are weighted.")
        return self._coverage

    def by(self, groups: Any, measure: Literal["consistency", "sufficiency"] = "consistency") -> Populations:
        """The same measure for each group of rows, with intervals on the differences."""
        if measure == "sufficiency":
            self._scoped()
            how = (self.relation, self.consistency.confidence)
            return sufficiency_by(self.explanations, self.X, self.predictions, groups, *how)
        if measure != "consistency":
            raise BadInput(f"measure must be 'consistency' or 'sufficiency'; got {measure!r}.")
        found = self.consistency
        options: dict[str, Any] = {"confidence": found.confidence, "interval": found.interval, "weights": self.weights}
        return by(self.explanations, self.predictions, groups, **options)

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this evaluation, ready for JSON."""
        sufficiency = None if self.sufficiency is None else self.sufficiency.to_dict()
        return {"consistency": self.consistency.to_dict(), "sufficiency": sufficiency, "uniqueness": self.uniqueness}

    def _estimates(self) -> list[Estimate]:
        return [self.consistency] if self.sufficiency is None else [self.consistency, self.sufficiency]

    def __str__(self) -> str:
        return "\n".join(map(str, self._estimates()))

    def _repr_html_(self) -> str:
        return "".join(found._repr_html_() for found in self._estimates())

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
    relation: Any = None,
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
    relation : Nearest, Ball or callable, optional
        As for `sufficiency`.

    Returns
    -------
    Evaluation
    """
    predictions, explanations = _predictions(predict, X), discretize(_explanations(explainer, X), discretizer)
    same_length(X=rows_of(X), predictions=len(predictions), explanations=len(explanations))
    found = consistency(explanations, predictions, confidence=confidence, interval=interval, weights=weights)
    if weights is not None or not says_where(explanations, relation):
        return Evaluation(found, None, explanations, predictions, X, weights, relation)
    covered = cover(explanations, predictions, X, to_relation(relation, explanations), confidence=confidence)
    sufficient = to_estimate(covered, "sufficiency", confidence)
    return Evaluation(found, sufficient, explanations, predictions, X, None, relation, covered)


def local(
    x: Any,
    predict: Any,
    explainer: Any,
    X: Any,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    relation: Any = None,
) -> Local:
    """Local consistency and sufficiency at a row outside the sample: the paper's Algorithm 1.

    Parameters
    ----------
    x : one row
        A vector, or a table of one row.
    predict, explainer, X, discretizer, relation
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
    labels, explanations = _predictions(predict, X), discretize(_explanations(explainer, X), discretizer)
    one, prediction = discretize(_explanations(explainer, row), discretizer), _predictions(predict, row).tolist()[0]
    found = at_row(count(explanations, labels), one, prediction, confidence=confidence)
    if not says_where(explanations, relation):
        return found
    how = to_relation(relation, explanations)
    scope = scopes.at_row(one, prediction, explanations, labels, X, how, confidence=confidence)
    return replace(found, sufficiency=scope)


def _one_row(x: Any) -> Any:
    if is_frame(x):
        row = x
    elif hasattr(x, "to_frame") and hasattr(x, "index"):
        row = x.to_frame().T.infer_objects()  # a pandas Series: one row of a table, with its names
    else:
        row = [x] if isinstance(x, str) else np.asarray(x)
        row = row[None, :] if np.ndim(row) == 1 and not isinstance(row, list) else row
    if rows_of(row) != 1:
        raise BadInput(f"x must be one row; got {rows_of(row):,}.")
    return row


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
