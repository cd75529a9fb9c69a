"""Which reader a model needs, by the class that it is, or inherits from; and the readers of scikit-learn's models."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.trees.boosters import read_catboost, read_lightgbm, read_xgboost
from faithscope.explainers.trees.forest import Forest, Tree, last_to_the_left
from faithscope.inputs.array_types import Floats
from faithscope.inputs.models import owner_of
from faithscope.inputs.tensors import known_as

_METHODS = ("predict", "predict_proba", "decision_function")
KNOWN = (
    "scikit-learn's decision trees, random forests, extra trees, GradientBoosting and HistGradientBoosting, and the "
    "models of XGBoost and LightGBM"
)


def tree_of(splits: Any, values: Floats) -> Tree:
    """A scikit-learn ``tree_``, which compares ``float32(x) <= threshold``."""
    left, right = (np.asarray(children, np.int64) for children in (splits.children_left, splits.children_right))
    to_left = np.asarray(splits.missing_go_to_left).astype(bool)
    cuts = last_to_the_left(np.asarray(splits.threshold, np.float64))
    return Tree(left, right, np.asarray(splits.feature, np.int64), cuts, to_left, np.asarray(values, np.float64))


def _read_mean(model: Any) -> Forest:
    """A tree, or a forest: the mean of the trees' probabilities, or numbers; the label is that of the highest mean."""
    members = getattr(model, "estimators_", None)
    splits = [tree.tree_ for tree in (members if members is not None else [model])]
    classes, outputs = getattr(model, "classes_", None), model.n_outputs_
    if outputs > 1 and classes is not None:
        raise BadInput(f"This {type(model).__name__} predicts {outputs} outputs: pass a model of one output.")
    values = [tree.value[:, :, 0] if classes is None else tree.value[:, 0, :] for tree in splits]
    return Forest(
        [tree_of(tree, value) for tree, value in zip(splits, values, strict=True)],
        model.n_features_in_,
        np.zeros(values[0].shape[1]),
        np.zeros(len(splits), np.int64) if classes is None and outputs == 1 else None,
        divisor=len(splits),
    )


def _read_boosting(model: Any) -> Forest:
    """GradientBoosting: trees times the learning rate, on top of a constant; sums in double precision."""
    start = model.init_
    drawn = getattr(start, "strategy", None) == "stratified"
    if drawn or (start != "zero" and not type(start).__name__.startswith("Dummy")):
        raise BadInput(
            f"This {type(model).__name__} begins with {'labels drawn at random' if drawn else type(start).__name__}, "
            "which cannot be read from its trees: leave init= out when you fit it."
        )
    rounds, k = model.estimators_.shape
    splits = [tree.tree_ for tree in model.estimators_.ravel()]
    return Forest(
        [tree_of(tree, model.learning_rate * tree.value[:, 0, :1]) for tree in splits],
        model.n_features_in_,
        np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_), np.float32))[0], np.float64),
        np.tile(np.arange(k), rounds),
        takes_missing=False,
    )


def _read_histograms(model: Any) -> Forest:
    """HistGradientBoosting: ``x <= threshold`` in double precision; missing values have their way."""
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        raise BadInput(
            f"This {type(model).__name__} splits on categories, which are not read: fit it on numbers, with "
            "categorical_features=None."
        )
    trees = []
    for nodes in (predictor.nodes for trees_of_round in model._predictors for predictor in trees_of_round):
        leaf = nodes["is_leaf"].astype(bool)
        left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
        cuts, to_left = nodes["num_threshold"].astype(np.float64), nodes["missing_go_to_left"].astype(bool)
        trees.append(Tree(left, right, nodes["feature_idx"].astype(np.int64), cuts, to_left, nodes["value"][:, None]))
    return Forest(
        trees,
        model.n_features_in_,
        np.asarray(model._baseline_prediction, np.float64).ravel(),
        np.tile(np.arange(model.n_trees_per_iteration_), len(model._predictors)),
    )


_READERS: Mapping[tuple[str, str], Callable[[Any], Forest]] = {
    **{("sklearn", name): _read_mean for name in ("BaseDecisionTree", "ForestClassifier", "ForestRegressor")},
    ("sklearn", "BaseGradientBoosting"): _read_boosting,
    ("sklearn", "BaseHistGradientBoosting"): _read_histograms,
    ("xgboost", "XGBModel"): read_xgboost,
    ("xgboost", "Booster"): read_xgboost,
    ("lightgbm", "LGBMModel"): read_lightgbm,
    ("lightgbm", "Booster"): read_lightgbm,
    ("catboost", "CatBoost"): read_catboost,
}


def read_forest(model: Any) -> Forest | None:
    """The trees of a fitted model; None if no reader knows it, or raises if its trees cannot be read."""
    owner, name = owner_of(model), type(owner_of(model)).__name__
    known = next((known_as(kind) for kind in type(owner).__mro__ if known_as(kind) in _READERS), None)
    if known is None:
        return None
    library = known[0]
    for method in _METHODS:  # a subclass may have a threshold of its own
        whose = next((part for part in type(owner).__mro__ if method in vars(part)), None)
        own = method in getattr(owner, "__dict__", {})
        if own or (whose is not None and known_as(whose)[0] != library):
            raise BadInput(
                f"This {name} has a {method} of its own, so its trees are not all that decides and nothing can be "
                f"proven: pass a model of {library} itself."
            )
    try:
        forest = _READERS[known](owner)
    except BadInput:
        raise
    except Exception as problem:  # not fitted, or of a version that keeps its trees elsewhere
        told = str(problem).partition("\n")[0].rstrip(".")
        raise BadInput(f"The trees of this {name} cannot be read: {told}. Pass a fitted model.") from problem
    if not forest.trees:
        raise BadInput(f"This {name} has no trees, so it gives every row the same prediction: fit it with trees.")
    names = getattr(owner, "feature_names_in_", forest.names)
    names = None if names is None else tuple(map(str, names))
    return replace(forest, classes=getattr(owner, "classes_", forest.classes), names=names)
