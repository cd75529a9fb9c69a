"""scikit-learn's GradientBoosting: single-precision rows, sums in double precision."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.reason.ensemble import Ensemble
from faithscope.explainers.reason.forests import names_of, nodes_of


def read(model: Any) -> Ensemble:
    """Trees times the learning rate, on top of a constant."""
    start = model.init_
    if start != "zero" and not type(start).__name__.startswith("Dummy"):
        raise BadInput(
            f"This {type(model).__name__} adds its trees to the predictions of {type(start).__name__}, which cannot be "
            "read: leave init= out when you fit it."
        )
    if getattr(start, "strategy", None) == "stratified":
        raise BadInput(
            f"This {type(model).__name__} begins with labels drawn at random (init is 'stratified'), so nothing can "
            "be proven: leave init= out when you fit it."
        )
    rounds, k = model.estimators_.shape
    splits = [tree.tree_ for tree in model.estimators_.ravel()]
    return Ensemble(
        [nodes_of(tree, model.learning_rate * tree.value[:, 0, :1]) for tree in splits],
        model.n_features_in_,
        np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_), np.float32))[0], np.float64),
        np.tile(np.arange(k), rounds),
        getattr(model, "classes_", None),
        takes_missing=False,
        names=names_of(model),
    )
