"""Regressors: models of known libraries whose predictions are numbers. None of these libraries is imported."""

import json
from typing import Any

_XGBOOST = ("reg:", "count:", "survival:")  # how the names of objectives of numbers begin
_PREDICTS = ("predict", "inplace_predict")
_LIGHTGBM = ["regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie"]


def regressor_name(model: Any) -> str | None:
    """The class name of a known regressor; None for classifiers, plain functions, and models that do not tell.

    scikit-learn's regressors, pipelines and searches are known by their tags, and so are those of XGBoost, LightGBM and
    CatBoost; boosters of XGBoost and LightGBM by their objective. The bound ``predict`` of a model, or
    ``inplace_predict`` of a booster, counts as the model.
    """
    owner = owner_of(model)
    if isinstance(owner, type):
        return None
    known = estimator_type(owner) == "regressor" or _boosts_numbers(owner)
    return type(owner).__name__ if known else None


def owner_of(model: Any) -> Any:
    """The model whose bound `predict` or `inplace_predict` this is, or the model itself."""
    return getattr(model, "__self__", model) if getattr(model, "__name__", "") in _PREDICTS else model


def classifier_name(model: Any) -> str | None:
    """The class name of a known classifier, or of the one whose bound `predict` this is; None for anything else."""
    owner = owner_of(model)
    known = not isinstance(owner, type) and estimator_type(owner) == "classifier"
    return type(owner).__name__ if known else None


def is_xgboost_booster(model: Any) -> bool:
    """Whether a model is a booster of XGBoost, whose `predict` takes nothing but a DMatrix."""
    return any(kind.__name__ == "Booster" and kind.__module__ == "xgboost.core" for kind in type(model).__mro__)


def is_torch_module(model: Any) -> bool:
    """Whether a model is a torch module, whose type does not tell what it predicts."""
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(model).__mro__)


def estimator_type(model: Any) -> Any:
    """What scikit-learn, XGBoost, LightGBM and CatBoost call the type of an estimator; None if it does not tell."""
    owner = owner_of(model)
    try:
        return owner.__sklearn_tags__().estimator_type
    except Exception:  # no estimator, or one of a library that is older than tags
        return getattr(owner, "_estimator_type", None)


def _boosts_numbers(model: Any) -> bool:
    """Whether this is a booster, of XGBoost or LightGBM, whose objective is a number."""
    library = type(model).__module__.partition(".")[0]
    if type(model).__name__ != "Booster" or library not in ("xgboost", "lightgbm"):
        return False
    try:
        if library == "xgboost":
            objective = json.loads(model.save_config())["learner"]["objective"]["name"]
            return str(objective).startswith(_XGBOOST)
        return str(model.dump_model(num_iteration=1)["objective"]).split()[0] in _LIGHTGBM
    except Exception:  # not trained yet, or an objective of one's own
        return False
