"""The demonstration: boosted trees on scikit-learn's breast-cancer data, explained in many ways."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from faithscope import explainers
from faithscope.discretizers import DeltaSign, SignOfTop
from faithscope.evaluation.compare import Comparison, compare
from faithscope.runtime.progress import Told

TITLE = "Breast cancer: boosted trees, explained in many ways"


def demonstrate(*, cache: Any = None, progress: bool | Told | None = None) -> tuple[Comparison, list[str]]:
    """Compare explainers on rows that the model has not seen; what was left out is said in words."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import train_test_split

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :10]  # the mean of each measured property
    train, rows, labels, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(train, labels)
    methods, left_out = _explainers(model, train)
    groups = np.where(rows["mean radius"] > train["mean radius"].median(), "larger tumors", "smaller tumors")
    coarser = {"SHAP": SignOfTop(5), "LIME": SignOfTop(5), "counterfactual": DeltaSign()}
    chosen = {name: one for name, one in coarser.items() if name in methods}
    options: dict[str, Any] = {"groups": groups, "cache": cache, "progress": progress}
    return compare(model, methods, rows, discretizer=chosen, **options), left_out


def _explainers(model: Any, train: Any) -> tuple[dict[str, Any], list[str]]:
    methods: dict[str, Any] = {}
    left_out = []
    if find_spec("shap"):
        methods["SHAP"] = explainers.Shap(model, train.sample(100, random_state=0))
    else:
        left_out.append("SHAP is left out, since the shap package is not installed: pip install 'faithscope[shap]'")
    methods["LIME"] = explainers.Lime(model, train)
    methods["anchors"] = explainers.Anchors(model, train, beam=2)
    methods["surrogate tree"] = explainers.TreePath.surrogate(model, train, max_leaf_nodes=8)
    methods["counterfactual"] = explainers.Counterfactual(model, train)
    methods["always the same"] = explainers.Constant()
    methods["at random"] = explainers.Random(8)
    methods["all different"] = explainers.Unique()
    return methods, left_out
