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

_METHODS = ("predict", "predict_proba", "decision_function")
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
    kind = _known_kind(owner)
    if kind is not None:
        _refuse_own_predictions(owner, kind)
        return _with_trees(_READERS[_key(kind)], owner)
    steps = getattr(owner, "steps", None)
    if isinstance(steps, list) and steps and _known_kind(steps[-1][-1]) is not None:
        raise WrongType(
            f"A sufficient reason is proven of what trees read, and this {name} changes rows before its trees read "
            "them: pass its last step and the changed rows, SufficientReason(model[-1]).explain("
            "model[:-1].transform(X))."
        )
    raise WrongType(
        f"A sufficient reason is proven from the trees of a model, and {name} has none that can be read: pass one of "
        f"{_KNOWN}; explain other models with Anchors."
    )


def _known_kind(model: Any) -> type | None:
    """The class that a model is, or inherits from, whose trees can be read."""
    return next((kind for kind in type(model).__mro__ if _key(kind) in _READERS), None)


def _key(kind: type) -> tuple[str, str]:
    return kind.__module__.partition(".")[0], kind.__name__


def _with_trees(reader: Callable[[Any], Ensemble], model: Any) -> Ensemble:
    name = type(model).__name__
    try:
        ensemble = reader(model)
    except BadInput:
        raise
    except Exception as problem:  # not fitted, or of a version that keeps its trees elsewhere
        told = str(problem).partition("\n")[0].rstrip(".")
        raise BadInput(f"The trees of this {name} cannot be read: {told}. Pass a fitted model.") from problem
    if not ensemble.trees:
        raise BadInput(f"This {name} has no trees, so it gives every row the same prediction: fit it with trees.")
    return ensemble


def _refuse_own_predictions(model: Any, known: type) -> None:
    """Raise if a model predicts by other code than its library's, such as a subclass with a threshold of its own."""
    library = known.__module__.partition(".")[0]
    for method in _METHODS:
        owner = next((kind for kind in type(model).__mro__ if method in vars(kind)), None)
        own = method in getattr(model, "__dict__", {})
        if own or (owner is not None and owner.__module__.partition(".")[0] != library):
            raise BadInput(
                f"This {type(model).__name__} has a {method} of its own, so its trees are not all that decides and "
                f"nothing can be proven: pass a model of {library} itself."
            )
