"""scikit-learn's HistGradientBoosting: ``x <= threshold`` in double precision; missing values have their way."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.reason.ensemble import Ensemble, Link
from faithscope.explainers.reason.forests import names_of
from faithscope.explainers.reason.nodes import Nodes

_LINKS: dict[str, Link] = {"IdentityLink": "identity", "LogLink": "exp"}


def read(model: Any) -> Ensemble:
    """Trees on top of a baseline."""
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        raise BadInput(
            f"This {type(model).__name__} splits on categories, which are not read: fit it on numbers, with "
            "categorical_features=None."
        )
    rounds, k = len(model._predictors), model.n_trees_per_iteration_
    classes = getattr(model, "classes_", None)
    return Ensemble(
        [_nodes(predictor.nodes) for trees in model._predictors for predictor in trees],
        model.n_features_in_,
        np.asarray(model._baseline_prediction, np.float64).ravel(),
        np.tile(np.arange(k), rounds),
        classes,
        link="identity" if classes is not None else _link(model),
        names=names_of(model),
    )


def _link(model: Any) -> Link:
    name = type(model._loss.link).__name__
    if name not in _LINKS:
        raise BadInput(f"This {type(model).__name__} has a link that is not known, {name}: use another loss.")
    return _LINKS[name]


def _nodes(nodes: Any) -> Nodes:
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    cuts = nodes["num_threshold"].astype(np.float64)
    to_left = nodes["missing_go_to_left"].astype(bool)
    return Nodes(left, right, nodes["feature_idx"].astype(np.int64), cuts, to_left, nodes["value"][:, None])
