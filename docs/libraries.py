"""What other libraries made, and what it is read as: makes each object with the real library, and prints a table.

    python docs/libraries.py

A library that is not installed is left out, and named below the table.
"""

import atexit
import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import faithscope as fs

ROWS = 12


@dataclass(frozen=True)
class Line:
    """One line of the table: a library, what it hands over, and how that is read."""

    package: str  # as pip names it
    module: str  # as Python imports it
    what: str
    kind: type[fs.Explanations]
    make: Callable[[], Any]
    asked: tuple[tuple[str, Any], ...] = ()

    def read(self) -> fs.Explanations:
        """The object that the library makes, read."""
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return fs.read(self.make(), **dict(self.asked))


@cache
def system() -> tuple[Any, Any, Any]:
    """Three kinds of wine, and a forest that tells them apart."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, y, RandomForestClassifier(10, max_depth=3, random_state=0).fit(X.to_numpy(), y)


def rows() -> Any:
    """Rows of all kinds."""
    X, _, _ = system()
    return X.to_numpy()[:: len(X) // ROWS][:ROWS]


def shap_explanation() -> Any:
    import shap

    return shap.TreeExplainer(system()[2])(rows())


def shap_list() -> Any:
    values = shap_explanation().values
    return [values[:, :, label] for label in range(values.shape[2])]


def shap_texts() -> Any:
    import shap

    def score(texts: Any) -> Any:
        return np.array([text.count("great") - text.count("dull") for text in texts], float)

    explainer = shap.Explainer(score, shap.maskers.Text(r"\W+"))
    return explainer(["a great plot", "dull and slow", "great cast and great fun"], silent=True)


def lightgbm_contributions() -> Any:
    import lightgbm

    X, y, _ = system()
    return lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X.to_numpy(), y).predict(rows(), pred_contrib=True)


def xgboost_contributions() -> Any:
    import xgboost

    X, y, _ = system()
    booster = xgboost.XGBClassifier(n_estimators=5).fit(X.to_numpy(), y).get_booster()
    return booster.predict(xgboost.DMatrix(rows()), pred_contribs=True)


def catboost_contributions() -> Any:
    import catboost

    X, y, _ = system()
    model = catboost.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False).fit(X.to_numpy(), y)
    return model.get_feature_importance(catboost.Pool(rows()), type="ShapValues")


def lime_tables() -> Any:
    from lime.lime_tabular import LimeTabularExplainer

    X, _, model = system()
    explainer = LimeTabularExplainer(X.to_numpy(), feature_names=list(X.columns), random_state=0)
    return [explainer.explain_instance(row, model.predict_proba, num_samples=50) for row in rows()]


def lime_texts() -> Any:
    from lime.lime_text import LimeTextExplainer

    def predict(texts: Any) -> Any:
        great = np.array(["great" in text for text in texts], float)
        return np.column_stack([1 - great, great])

    explainer = LimeTextExplainer(random_state=0)
    return [explainer.explain_instance(text, predict, num_samples=50) for text in ("a great plot", "dull and slow")]


def boosting_machine() -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    X, y, _ = system()
    return ExplainableBoostingClassifier(interactions=2, max_rounds=5, n_jobs=1).fit(X.to_numpy(), y)


def local_terms() -> Any:
    return boosting_machine().explain_local(rows())


def terms() -> Any:
    return boosting_machine().eval_terms(rows())


def captum_attributions() -> Any:
    import torch
    from captum.attr import IntegratedGradients

    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2))
    return IntegratedGradients(module).attribute(torch.rand(6, 1, 8, 8, requires_grad=True), target=1)


def captum_language() -> Any:
    import torch
    from captum.attr import LLMAttributionResult

    return [LLMAttributionResult(input_tokens=["a", "great", "plot"], output_tokens=["x"], seq_attr=torch.rand(3))]


def quantus_attributions() -> Any:
    import quantus
    import torch

    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2))
    images = np.random.default_rng(0).normal(size=(6, 1, 8, 8)).astype(np.float32)
    return quantus.explain(module, images, np.zeros(6, int), method="Saliency")


def anchors() -> Any:
    from anchor.anchor_tabular import AnchorTabularExplainer

    X, _, model = system()
    np.random.seed(0)  # noqa: NPY002 (anchor-exp draws from it)
    explainer = AnchorTabularExplainer(["0", "1", "2"], list(X.columns), X.to_numpy())
    return [explainer.explain_instance(row, model.predict, threshold=0.9) for row in rows()[:3]]


def dice_counterfactuals() -> Any:
    import dice_ml

    X, y, _ = system()
    two = X[y < 2]
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(two, y[y < 2])
    data = dice_ml.Data(dataframe=two.assign(kind=y), continuous_features=list(X.columns), outcome_name="kind")
    dice = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method="random")
    return dice.generate_counterfactuals(two[::40], total_CFs=1, desired_class="opposite", random_seed=0)


def pyxai_reasons() -> Any:
    import pycsp3
    from pyxai import Explaining, Learning, Tools

    atexit.unregister(pycsp3.end)  # which would print a warning below the table
    Tools.set_verbose(0)
    X, y, _ = system()
    learner = Learning.Scikitlearn(
        X.assign(kind=y), problem_type="classification", instances_type="tabular", labels_type="classes"
    )
    explainer = Explaining.initialize(learner.evaluate(splitting_method=Learning.HOLD_OUT, model_type=Learning.DT))
    reasons = []
    for _, row in X[::40].iterrows():
        explainer.set_instance(row)
        reasons.append(explainer.to_features(explainer.sufficient_reason(), details=True))
    return reasons


def calibrated() -> Any:
    from calibrated_explanations import WrapCalibratedExplainer

    X, y, _ = system()
    rows, labels = X[y < 2].to_numpy(), y[y < 2].to_numpy()
    wrapped = WrapCalibratedExplainer(RandomForestClassifier(10, max_depth=3, random_state=0))
    wrapped.fit(rows[::2], labels[::2])
    wrapped.calibrate(rows[1::2], labels[1::2], feature_names=list(X.columns))
    return wrapped.explain_factual(rows[::20])


ONE = (("class_index", 1),)
NAMED = (*ONE, ("features", tuple(load_wine().feature_names)))
LINES = (
    Line("shap", "shap", "`Explanation` (n, features, classes)", fs.Importances, shap_explanation, ONE),
    Line("shap", "shap", "one array per class", fs.Importances, shap_list, ONE),
    Line("shap", "shap", "`Explanation` of texts", fs.Highlights, shap_texts),
    Line("lightgbm", "lightgbm", "`predict(pred_contrib=True)`", fs.Importances, lightgbm_contributions, NAMED),
    Line("xgboost-cpu", "xgboost", "`predict(pred_contribs=True)`", fs.Importances, xgboost_contributions, NAMED),
    Line("catboost", "catboost", "`get_feature_importance`", fs.Importances, catboost_contributions, NAMED),
    Line("lime", "lime", "`Explanation` objects of tables", fs.Importances, lime_tables),
    Line("lime", "lime", "`Explanation` objects of texts", fs.Highlights, lime_texts),
    Line("interpret-core", "interpret", "`explain_local(X)`", fs.Importances, local_terms, ONE),
    Line("interpret-core", "interpret", "`eval_terms(X)`", fs.Importances, terms, ONE),
    Line("anchor-exp", "anchor", "`AnchorExplanation` objects", fs.Rules, anchors),
    Line("dice-ml", "dice_ml", "`CounterfactualExplanations`", fs.Counterfactuals, dice_counterfactuals),
    Line("pyxai", "pyxai", "`to_features(reason, details=True)`", fs.Rules, pyxai_reasons),
    Line("calibrated-explanations", "calibrated_explanations", "factual explanations", fs.Rules, calibrated),
    Line("captum", "captum", "attributions (n, C, H, W)", fs.Importances, captum_attributions),
    Line("captum", "captum", "`LLMAttributionResult` objects", fs.Highlights, captum_language),
    Line("quantus", "quantus", "`a_batch` (n, C, H, W)", fs.Importances, quantus_attributions),
)


def table(lines: tuple[Line, ...] = LINES) -> Iterator[str]:
    """The table in Markdown, of the libraries that are installed."""
    yield "| library | version | what it made | read as |"
    yield "|---|---|---|---|"
    for line in lines:
        if find_spec(line.module):
            read = type(line.read()).__name__
            yield f"| {line.package} | {version(line.package)} | {line.what} | {read} |"
    missing = sorted({line.package for line in lines if not find_spec(line.module)})
    if missing:
        yield f"\nNot installed here: {', '.join(missing)}."


if __name__ == "__main__":
    print("\n".join(table()))
