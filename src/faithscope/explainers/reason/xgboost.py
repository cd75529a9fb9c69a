"""XGBoost: ``float32(x) < threshold``, sums in single precision; missing values have their way."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explainers.reason.ensemble import Ensemble, Link
from faithscope.explainers.reason.forests import names_of
from faithscope.explainers.reason.nodes import Nodes
from faithscope.explainers.shared.arrays import Floats
from faithscope.explanations.conditions.tree_paths import last_to_the_left
from faithscope.inputs.regressors import is_xgboost_booster

_PROBABILITY = ("binary:logistic", "reg:logistic")  # whose base_score is a probability
_LOGARITHM = ("count:poisson", "reg:gamma", "reg:tweedie")
_SUMS = ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror", "reg:squaredlogerror")
_RAW = ("binary:logitraw", *_SUMS)
_CLASSES = ("multi:softmax", "multi:softprob")


def read(model: Any) -> Ensemble:
    """Trees of a model or booster; labels if its ``predict`` gives labels."""
    booster = model if is_xgboost_booster(model) else model.get_booster()
    learner = json.loads(booster.save_raw("json"))["learner"]
    objective, boosting = learner["objective"]["name"], learner["gradient_booster"]
    _refuse(model, boosting, objective)
    trees, info = _trees(boosting["model"], _rounds(model))
    base, error = _base(learner["learner_model_param"], objective)
    return Ensemble(
        [_nodes(tree) for tree in trees],
        int(learner["learner_model_param"]["num_feature"]),
        base,
        np.asarray(info, np.int64),
        _classes(model, objective, len(base)),
        link=_link(objective),
        precision=2.0**-23,
        blur=1e-5 + 2 * error,
        names=names_of(model) or (tuple(booster.feature_names) if booster.feature_names else None),
    )


def _refuse(model: Any, boosting: Any, objective: str) -> None:
    name, kind = type(model).__name__, boosting["name"]
    if kind != "gbtree":
        raise BadInput(f"This {name} has booster={kind!r}, of which nothing is proven: fit it with booster='gbtree'.")
    trees = boosting["model"]["trees"]
    if any(any(tree["split_type"]) for tree in trees):
        raise BadInput(f"This {name} splits on categories, which are not read: fit it on numbers alone.")
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees):
        raise BadInput(f"This {name} has several outputs per leaf: fit it with multi_strategy='one_output_per_tree'.")
    if objective not in (*_PROBABILITY, *_LOGARITHM, *_RAW, *_CLASSES):
        raise BadInput(f"This {name} has the objective {objective!r}, of which nothing is proven: use another one.")
    missing = getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise BadInput(f"This {name} reads {missing!r} as missing, which is not read: fit it with missing=np.nan.")


def _rounds(model: Any) -> int | None:
    """The number of rounds that ``predict`` sums: those before early stopping, of models; None for all."""
    try:
        return None if is_xgboost_booster(model) else int(model.best_iteration) + 1
    except AttributeError:
        return None


def _trees(content: Any, rounds: int | None) -> tuple[list[Any], list[int]]:
    last = len(content["trees"]) if rounds is None else content["iteration_indptr"][rounds]
    return content["trees"][:last], content["tree_info"][:last]


def _base(parameters: Any, objective: str) -> tuple[Floats, float]:
    """What sums begin with, as a margin, and how far it may be off.

    XGBoost computes it in single precision, in which 1/p - 1 has few digits left if the probability p is near 1.
    """
    outputs = max(1, int(parameters["num_class"])) * max(1, int(parameters.get("num_target", 1)))
    scores = np.atleast_1d(np.asarray(json.loads(parameters["base_score"]), np.float32))
    single = np.broadcast_to(scores, (outputs,))
    exact, rounded = (_margin(single.astype(kind), objective).astype(np.float64) for kind in (np.float64, np.float32))
    if not np.isfinite(rounded).all():
        raise BadInput(f"The base_score {scores.tolist()} leaves nothing to be decided by trees: fit it with another.")
    return rounded, float(np.abs(exact - rounded).max())


def _margin(scores: NDArray[Any], objective: str) -> NDArray[Any]:
    if objective in _PROBABILITY:
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(1 / scores - 1))
    return np.asarray(np.log(scores)) if objective in _LOGARITHM else scores


def _classes(model: Any, objective: str, outputs: int) -> Any:
    labels = getattr(model, "classes_", None)
    if labels is None and objective == "multi:softmax":
        return np.arange(outputs)
    if labels is None and objective == "multi:softprob":
        raise BadInput(
            "This Booster predicts a probability per class and no label: pass an XGBClassifier, or fit it with "
            "objective='multi:softmax'."
        )
    if labels is None and outputs > 1:
        raise BadInput(f"This {type(model).__name__} predicts {outputs} outputs: pass a model of one output.")
    if labels is not None and outputs == 1 and objective != "binary:logistic":
        raise BadInput(
            f"This {type(model).__name__} has the objective {objective!r}, whose labels are not read: use "
            "objective='binary:logistic'."
        )
    return labels


def _link(objective: str) -> Link:
    return "sigmoid" if objective in _PROBABILITY else "exp" if objective in _LOGARITHM else "identity"


def _nodes(tree: Any) -> Nodes:
    left, right = (np.array(tree[side], np.int64) for side in ("left_children", "right_children"))
    conditions = np.array(tree["split_conditions"], np.float32)
    below = np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64)  # x < t exactly if x <= the float before t
    to_left = np.array(tree["default_left"], bool)
    values = conditions[:, None].astype(np.float64)
    return Nodes(left, right, np.array(tree["split_indices"], np.int64), last_to_the_left(below), to_left, values)
