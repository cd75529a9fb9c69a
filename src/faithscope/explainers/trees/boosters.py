"""Forests of XGBoost, LightGBM and CatBoost, from what each writes of its models."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.trees.forest import Forest, Tree, last_to_the_left
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.models import is_xgboost_booster

_PROBABILITY = ("binary:logistic", "reg:logistic")  # whose base_score is a probability
_LOGARITHM = ("count:poisson", "reg:gamma", "reg:tweedie")
_CLASSES = ("multi:softmax", "multi:softprob")

_ZERO = float(np.float32(1e-35))  # LightGBM takes numbers from -_ZERO to _ZERO for 0


def read_xgboost(model: Any) -> Forest:
    """A model or booster: ``float32(x) < threshold``, sums in single precision; missing values have their way."""
    name = type(model).__name__
    booster = model if is_xgboost_booster(model) else model.get_booster()
    learner = json.loads(booster.save_raw("json"))["learner"]
    objective, parameters = learner["objective"]["name"], learner["learner_model_param"]
    boosting = learner["gradient_booster"]
    kind, missing = boosting["name"], getattr(model, "missing", None)
    content = boosting.get("gbtree", boosting)["model"]  # dart holds a gbtree
    if (
        "trees" not in content
        or any(any(tree["split_type"]) or int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in content["trees"])
        or not (missing is None or np.isnan(missing))
    ):
        raise BadInput(
            f"This {name} splits on categories, has no trees or several outputs per leaf, or reads {missing!r} as "
            "missing, which is not read: fit it on numbers alone, with booster='gbtree', "
            "multi_strategy='one_output_per_tree' and missing=np.nan."
        )
    try:  # the rounds before early stopping, which models sum, and boosters do not
        last = content["iteration_indptr"][int(model.best_iteration) + 1] if model is not booster else None
    except AttributeError:
        last = None
    weights = boosting.get("weight_drop", np.ones(len(content["trees"])))
    outputs = max(1, int(parameters["num_class"])) * max(1, int(parameters.get("num_target", 1)))
    base, error = _margins(json.loads(parameters["base_score"]), outputs, objective)
    unproven = ""
    single = objective == "binary:logistic"
    if kind == "dart" or objective not in ("binary:logistic", *_CLASSES) or single != (outputs == 1):
        unproven = (
            f"This {name} has booster={kind!r} and the objective {objective!r} of {outputs} outputs, of which nothing "
            "is proven: use booster='gbtree' and 'binary:logistic', or 'multi:softmax' of several classes."
        )
    trees = []
    for tree, weight in list(zip(content["trees"], weights, strict=True))[:last]:
        left, right = (np.array(tree[side], np.int64) for side in ("left_children", "right_children"))
        conditions = np.array(tree["split_conditions"], np.float32)
        below = np.nextafter(conditions, np.float32(-np.inf))  # x < t exactly if x <= the float before t
        cut, values = last_to_the_left(below.astype(np.float64)), conditions[:, None].astype(np.float64) * weight
        to_left = np.array(tree["default_left"], bool)
        trees.append(Tree(left, right, np.array(tree["split_indices"], np.int64), cut, to_left, values))
    return Forest(
        trees,
        int(parameters["num_feature"]),
        base,
        np.asarray(content["tree_info"][:last], np.int64),
        np.arange(outputs) if objective == "multi:softmax" else None,
        precision=2.0**-23,
        blur=1e-5 + 2 * error,
        names=tuple(booster.feature_names) if booster.feature_names else None,
        unproven=unproven,
    )


def _margins(scores: Any, outputs: int, objective: str) -> tuple[Floats, float]:
    """What XGBoost's sums begin with, as margins, and how far these may be off.

    XGBoost computes them in single precision, in which 1/p - 1 has few digits left if the probability p is near 1.
    """
    single = np.broadcast_to(np.atleast_1d(np.asarray(scores, np.float32)), (outputs,))
    margins = []
    for kind in (np.float64, np.float32):
        score: Array = single.astype(kind)
        with np.errstate(divide="ignore"):
            if objective in _PROBABILITY:
                score = -np.log(1 / score - 1)
            elif objective in _LOGARITHM:
                score = np.log(score)
        margins.append(score.astype(np.float64))
    if not np.isfinite(margins[1]).all():
        raise BadInput(f"The base_score {scores} leaves nothing to be decided by trees: fit it with another.")
    return margins[1], float(np.abs(margins[0] - margins[1]).max())


def read_lightgbm(model: Any) -> Forest:
    """A model or booster: ``x <= threshold`` and sums in double precision; missing values have their way, or are 0."""
    name, booster = type(model).__name__, getattr(model, "booster_", model)
    if hasattr(model, "get_params") and model.get_params().get("pred_early_stop"):
        raise BadInput(
            f"This {name} stops a row's sum early (pred_early_stop), of which nothing is proven: call "
            "set_params(pred_early_stop=False)."
        )
    content = booster.dump_model()  # as many rounds as predict sums
    objective, outputs = str(content["objective"]).split(), int(content["num_tree_per_iteration"])
    unproven = ""
    if objective[0] not in ("binary", "multiclass") or (outputs == 1) != (objective[0] == "binary"):
        unproven = (
            f"This {name} has the objective {' '.join(objective)!r}, of which nothing is proven: use binary, or "
            "multiclass of several classes."
        )
    trees = [_light_tree(tree["tree_structure"], name) for tree in content["tree_info"]]
    names = booster.feature_name()
    numbered = names == [f"Column_{j}" for j in range(len(names))]
    return Forest(
        trees,
        int(content["max_feature_idx"]) + 1,
        np.zeros(outputs),
        np.arange(len(trees)) % outputs,
        divisor=len(trees) / outputs if content["average_output"] else 1.0,
        names=None if numbered else tuple(names),
        unproven=unproven,
    )


def _light_tree(root: Any, name: str) -> Tree:
    """A tree of dictionaries as arrays; a tree may be a single leaf."""
    ahead, nodes = [root], []
    for node in ahead:  # which grows
        if "leaf_coeff" in node or node.get("decision_type", "<=") != "<=" or node.get("missing_type") == "Zero":
            raise BadInput(
                f"This {name} splits on categories, reads 0 as missing, or has linear functions in its leaves, which "
                "is not read: fit it on numbers alone, without zero_as_missing and linear_tree."
            )
        if "split_feature" not in node:
            nodes.append((-1, -1, 0, 0.0, False, float(node["leaf_value"])))
            continue
        cut = float(node["threshold"])
        to_left = bool(node["default_left"]) if node["missing_type"] == "NaN" else cut >= 0  # else missing counts as 0
        last = max(cut, _ZERO) if cut >= 0 else min(cut, float(np.nextafter(-_ZERO, -np.inf)))
        nodes.append((len(ahead), len(ahead) + 1, int(node["split_feature"]), last, to_left, 0.0))
        ahead += [node["left_child"], node["right_child"]]
    tree = Tree(*map(np.array, zip(*nodes, strict=True)))
    return tree._replace(values=tree.values[:, None])


def read_catboost(model: Any) -> Forest:
    """A model whose trees ask the same at all nodes of a level: ``float32(x) <= border``, sums in double precision."""
    name = type(model).__name__
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        content = json.loads(path.read_text("utf-8"))
    if set(content["features_info"]) != {"float_features"} or "oblivious_trees" not in content:
        raise BadInput(f"This {name} splits on categories, or has trees of another shape, which are not read.")
    features = content["features_info"]["float_features"]
    scale, base = content["scale_and_bias"]
    trees = []
    for tree in content["oblivious_trees"]:
        splits = tree["splits"][::-1]  # the first split decides between neighboring leaves
        leaves = 1 << len(splits)
        level = np.repeat(np.arange(len(splits)), 1 << np.arange(len(splits)))
        asked = [features[split["float_feature_index"]] for split in splits]
        feature, cut, to_left = (
            np.append(np.array(part, kind)[level], np.zeros(leaves, kind))
            for part, kind in (
                ([known["flat_feature_index"] for known in asked], np.int64),
                (last_to_the_left(np.array([split["border"] for split in splits], np.float64)), np.float64),
                ([known["nan_value_treatment"] != "AsTrue" for known in asked], bool),
            )
        )
        left, right = (np.append(2 * np.arange(leaves - 1) + side, np.full(leaves, -1)) for side in (1, 2))
        values = scale * np.reshape(tree["leaf_values"], (leaves, -1))
        values = np.vstack([np.zeros((leaves - 1, values.shape[1])), values])
        trees.append(Tree(left, right, feature, cut, to_left, values))
    return Forest(
        trees,
        1 + max(known["flat_feature_index"] for known in features),
        np.array(base, np.float64),
        None,
        unproven=f"This {name} is of CatBoost, of which nothing is proven: explain it with Anchors.",
    )
