"""faithscope demo: boosted trees on scikit-learn's breast-cancer data, explained in many ways."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from faithscope.cli.options import CacheFolder, Json, ReportFile, SummaryFile
from faithscope.cli.outcome import Outlets, tell

if TYPE_CHECKING:
    from faithscope.evaluation.compare import Comparison

_TITLE = "Breast cancer: boosted trees, explained in many ways"


def demo(
    report: ReportFile = Path("report.html"),
    as_json: Json = False,
    summary: SummaryFile = None,
    cache: CacheFolder = None,
) -> None:
    """Compare explainers of boosted trees on data that ships with scikit-learn.

    Prints one table and writes report.html. Takes less than a minute on two cores.

    Example: faithscope demo --report report.html
    """
    outlets = Outlets(report, as_json, summary)
    outlets.check()
    if not find_spec("shap"):
        typer.echo(
            "SHAP is left out, since the shap package is not installed: pip install 'faithscope[shap]'", err=True
        )
    tell(demonstrate(cache=cache), outlets, _TITLE)


def demonstrate(*, cache: Any = None) -> "Comparison":
    """Compare explainers on rows that the model has not seen; SHAP among them if its package is installed."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import train_test_split

    from faithscope.discretizers import DeltaSign, SignOfTop
    from faithscope.evaluation.compare import compare

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :10]  # the mean of each measured property
    train, rows, labels, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(train, labels)
    explainers = _explainers(model, train)
    groups = np.where(rows["mean radius"] > train["mean radius"].median(), "larger tumors", "smaller tumors")
    discretizers = {"SHAP": SignOfTop(5), "LIME": SignOfTop(5), "counterfactual": DeltaSign()}
    chosen = {name: discretizer for name, discretizer in discretizers.items() if name in explainers}
    return compare(model, explainers, rows, discretizer=chosen, groups=groups, cache=cache)


def _explainers(model: Any, train: Any) -> dict[str, Any]:
    """Explainers by name, and three baselines that say nothing on purpose."""
    from faithscope import explainers

    shap = {"SHAP": explainers.Shap(model, train.sample(100, random_state=0))} if find_spec("shap") else {}
    return shap | {
        "LIME": explainers.Lime(model, train),
        "anchors": explainers.Anchors(model, train, beam=2),
        "surrogate tree": explainers.TreePath.surrogate(model, train, max_leaf_nodes=8),
        "counterfactual": explainers.Counterfactual(model, train),
        "always the same": explainers.Constant(),
        "at random": explainers.Random(8),
        "all different": explainers.Unique(),
    }
