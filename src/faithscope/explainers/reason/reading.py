"""Which reader a model needs, by the class that it is, or inherits from."""

from collections.abc import Callable, Mapping
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.reason.ensemble import Ensemble
from faithscope.explainers.reason.forests import read as read_forest
from faithscope.explainers.reason.hist_boosting import read as read_hist_boosting
from faithscope.explainers.reason.lightgbm import read as read_lightgbm
from faithscope.explainers.reason.sklearn_boosting import read as read_boosting
from faithscope.explainers.reason.xgboost import read as read_xgboost
from faithscope.inputs.regressors import owner_of

_FORESTS = ("BaseDecisionTree", "ForestClassifier", "ForestRegressor")
_KNOWN = (
    "scikit-learn's decision trees, random forests, extra trees, GradientBoosting and HistGradientBoosting, and the "
    "models of XGBoost and LightGBM"
)
_READERS: Mapping[tuple[str, str], Callable[[Any], Ensemble]] = {
    **{("sklearn", name): read_forest for name in _FORESTS},
    ("sklearn", "BaseGradientBoosting"): read_boosting,
    ("sklearn", "BaseHistGradientBoosting"): read_hist_boosting,
    ("xgboost", "XGBModel"): read_xgboost,
    ("xgboost", "Booster"): read_xgboost,
    ("lightgbm", "LGBMModel"): read_lightgbm,
    ("lightgbm", "Booster"): read_lightgbm,
}


def read(model: Any) -> Ensemble:
    """The trees of a fitted model; raises if they cannot be read, or not with a proof."""
    owner, name = owner_of(model), type(owner_of(model)).__name__
    for kind in type(owner).__mro__:
        reader = _READERS.get((kind.__module__.partition(".")[0], kind.__name__))
        if reader is not None:
            try:
                return reader(owner)
            except BadInput:
                raise
            except Exception as problem:  # not fitted, or of a version that keeps its trees elsewhere
                told = str(problem).partition("\n")[0]
                raise BadInput(f"The trees of this {name} cannot be read: {told} Pass a fitted model.") from problem
    raise WrongType(
        f"A sufficient reason is proven from the trees of a model, and {name} has none that can be read: pass one of "
        f"{_KNOWN}; explain other models with Anchors."
    )
