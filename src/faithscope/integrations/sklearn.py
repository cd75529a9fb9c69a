"""Faithfulness as a score of scikit-learn: for `GridSearchCV`, `cross_val_score` and `cross_validate`."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from faithscope.errors import NotScoped, WrongType
from faithscope.evaluation.evaluate import evaluate
from faithscope.inputs.checks import check_word
from faithscope.measures.estimate import Method

Measure = Literal["consistency", "sufficiency"]
Bound = Literal["low", "value", "verified", "adjusted"]

__all__ = ["FaithfulnessScorer", "scorer"]


@dataclass(frozen=True)
class FaithfulnessScorer:
    """A scorer of scikit-learn, made by `scorer`: called with a fitted estimator and rows, it gives one number.

    Examples
    --------
    >>> import faithscope as fs
    >>> scorer(fs.explainers.TreePath, bound="value").bound
    'value'
    """

    explainer: Callable[[Any], Any]
    measure: Measure = "consistency"
    bound: Bound = "low"
    discretizer: Any = None
    confidence: float = 0.95
    interval: Method | None = None
    agreement: Any = None

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """How faithful the explanations of a fitted estimator are on these rows; NaN if the number is undefined."""
        ev = evaluate(
            estimator,
            self.explainer(estimator),
            X,
            discretizer=self.discretizer,
            confidence=self.confidence,
            interval=self.interval,
            agreement=self.agreement,
            progress=False,
        )
        estimate = ev.consistency if self.measure == "consistency" else ev.sufficiency
        if estimate is None:
            raise NotScoped(
                f"{ev.explanations.kind} do not say where they apply, so sufficiency is undefined: "
                "score by measure='consistency'."
            )
        number = getattr(estimate, self.bound)
        return math.nan if number is None else float(number)


def scorer(
    explainer: Callable[[Any], Any],
    *,
    measure: Measure = "consistency",
    bound: Bound = "low",
    discretizer: Any = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    agreement: Any = None,
) -> FaithfulnessScorer:
    """A scorer for scikit-learn: how faithful the explanations of a fitted estimator are on rows held out.

    A model that predicts the same for every row is faithfully explained by anything, so choose models by this number
    beside their accuracy (``scoring={"accuracy": "accuracy", "faithful": scorer(...)}``), or by ``bound="adjusted"``.

    Parameters
    ----------
    explainer : callable
        From the fitted estimator to its explainer: a class such as ``fs.explainers.TreePath``, or a function, such as
        ``lambda model: fs.explainers.Lime(model, X_train)``. The explainer is made anew for every fit.
    measure : {"consistency", "sufficiency"}
        What is scored.
    bound : {"low", "value", "verified", "adjusted"}
        Which number of the `Estimate` is the score. "low", the default, asks for evidence, and grows with the rows.
        "verified" and "adjusted" are NaN if no row can be checked, "adjusted" also if all predictions are the same:
        scikit-learn ranks NaN last.
    discretizer, confidence, interval, agreement
        As for `evaluate`.

    Returns
    -------
    FaithfulnessScorer
        Called as ``(estimator, X, y=None)``; it can be pickled if the explainer and the discretizer can.

    Examples
    --------
    >>> import faithscope as fs
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> faithful = scorer(fs.explainers.TreePath, bound="value")
    >>> cross_val_score(DecisionTreeClassifier(max_depth=2, random_state=0), X, y, scoring=faithful, cv=3).tolist()
    [1.0, 1.0, 1.0]
    """
    if not callable(explainer) or (hasattr(explainer, "explain") and not isinstance(explainer, type)):
        raise WrongType(
            "explainer must be a function from the fitted estimator to its explainer, such as fs.explainers.TreePath "
            f"or lambda model: fs.explainers.Lime(model, X_train); got {type(explainer).__name__}."
        )
    check_word(measure, "measure", get_args(Measure))
    check_word(bound, "bound", get_args(Bound))
    return FaithfulnessScorer(explainer, measure, bound, discretizer, confidence, interval, agreement)
