"""LightGBM: ``x <= threshold`` and sums in double precision; missing values have their way, or are 0."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.reason.ensemble import Ensemble, Link
from faithscope.explainers.reason.forests import names_of
from faithscope.explainers.reason.nodes import Nodes

_LOGARITHM = ("poisson", "gamma", "tweedie")
_SUMS = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
_ZERO = float(np.float32(1e-35))  # LightGBM takes numbers from -_ZERO to _ZERO for 0


def read(model: Any) -> Ensemble:
    """Trees of a model or booster; labels if its ``predict`` gives labels."""
    booster = getattr(model, "booster_", model)
    _refuse_early_stop(model)
    content = booster.dump_model()  # as many rounds as predict sums
    objective = str(content["objective"]).split()
    outputs = int(content["num_tree_per_iteration"])
    classes = _classes(model, objective, outputs)
    trees = [_nodes(tree["tree_structure"], type(model).__name__) for tree in content["tree_info"]]
    return Ensemble(
        trees,
        int(content["max_feature_idx"]) + 1,
        np.zeros(outputs),
        np.arange(len(trees)) % outputs,
        classes,
        link=_link(objective[0]),
        divisor=len(trees) / outputs if content["average_output"] else 1.0,
        names=names_of(model) or _names(booster.feature_name()),
    )


def _refuse_early_stop(model: Any) -> None:
    """Raise if a model leaves trees out of a row's sum once it is large enough: those that are summed then vary."""
    settings = model.get_params() if hasattr(model, "get_params") else {}
    if settings.get("pred_early_stop"):
        raise BadInput(
            f"This {type(model).__name__} stops a row's sum early (pred_early_stop), of which nothing is proven: call "
            "set_params(pred_early_stop=False)."
        )


def _classes(model: Any, objective: list[str], outputs: int) -> Any:
    name, labels = type(model).__name__, getattr(model, "classes_", None)
    known = ("binary", "multiclass") if labels is not None else ("binary", *_SUMS, *_LOGARITHM)
    if objective[0] not in known or (labels is not None and (outputs == 1) != (objective[0] == "binary")):
        raise BadInput(
            f"This {name} has the objective {' '.join(objective)!r}, of which nothing is proven: use one of "
            f"{', '.join(known)}; for classes pass an LGBMClassifier."
        )
    if "sqrt" in objective:
        raise BadInput(f"This {name} was fitted with reg_sqrt, of which nothing is proven: fit it without.")
    return labels


def _link(objective: str) -> Link:
    return "sigmoid" if objective == "binary" else "exp" if objective in _LOGARITHM else "identity"


def _names(names: list[str]) -> tuple[str, ...] | None:
    """The features' names, unless LightGBM has only numbered them."""
    return None if names == [f"Column_{j}" for j in range(len(names))] else tuple(names)


def _nodes(root: Any, name: str) -> Nodes:
    """A tree of dictionaries as arrays; a tree may be a single leaf."""
    listed: list[Any] = []
    ahead = [root]
    children: list[tuple[int, int]] = []
    while len(listed) < len(ahead):
        node = ahead[len(listed)]
        listed.append(node)
        inner = "split_feature" in node
        children.append((len(ahead), len(ahead) + 1) if inner else (-1, -1))
        ahead += [node["left_child"], node["right_child"]] if inner else []
    splits = [_split(node, name) for node in listed]
    left, right = np.array(children, np.int64).T
    feature, cut, to_left, values = (np.array(column) for column in zip(*splits, strict=True))
    return Nodes(left, right, feature.astype(np.int64), cut.astype(np.float64), to_left.astype(bool), values[:, None])


def _split(node: Any, name: str) -> tuple[int, float, bool, float]:
    """The feature, the cut, whether missing goes left, and the value of a node."""
    if "split_feature" not in node:
        if "leaf_coeff" in node:
            raise BadInput(f"This {name} has linear functions in its leaves, which are not read: fit it without.")
        return 0, 0.0, False, float(node["leaf_value"])
    if node["decision_type"] != "<=":
        raise BadInput(f"This {name} splits on categories, which are not read: fit it on numbers alone.")
    cut, missing = float(node["threshold"]), node["missing_type"]
    if missing == "Zero":
        raise BadInput(f"This {name} reads 0 as missing, which is not read: fit it without zero_as_missing.")
    to_left = bool(node["default_left"]) if missing == "NaN" else cut >= 0  # else a missing value counts as 0
    return int(node["split_feature"]), _last_to_the_left(cut), to_left, 0.0


def _last_to_the_left(cut: float) -> float:
    """The largest double that LightGBM sends left at a cut."""
    return max(cut, _ZERO) if cut >= 0 else min(cut, float(np.nextafter(-_ZERO, -np.inf)))
