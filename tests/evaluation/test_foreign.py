"""Explainers of other libraries: those of shap are functions; of others it is told which function to pass."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :4]
LINE = LogisticRegression(max_iter=2000).fit(X.to_numpy(), Y)
ROWS = X.to_numpy()[::120]
KINDS = ["Kernel", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in ("Linear", "Sampling"))]


def evaluate(explainer, rows=ROWS, model=LINE):
    return fs.evaluate(model, explainer, rows)


@pytest.mark.parametrize("kind", KINDS)
def test_shaps_explainers_are_called(kind):
    """Also those with an `explain`, which is of one row."""
    shap = pytest.importorskip("shap")
    explainer = getattr(shap, f"{kind}Explainer")(LINE if kind == "Linear" else LINE.predict_proba, X.to_numpy()[:10])
    told = evaluate(explainer, ROWS[:4])
    theirs = np.asarray(explainer(ROWS[:4]).values)
    np.testing.assert_allclose(told.explanations.values, theirs[..., 1] if theirs.ndim == 3 else theirs, atol=0.1)
    assert told.name == f"{kind}Explainer"


def test_the_function_that_is_named_asks_lime():
    lime = pytest.importorskip("lime.lime_tabular")
    explainer = lime.LimeTabularExplainer(X.to_numpy(), feature_names=list(X), random_state=0)
    refused(BadInput, "LimeTabularExplainer has no explain.X.: pass a function", evaluate, explainer)
    told = evaluate(lambda X: [explainer.explain_instance(row, LINE.predict_proba) for row in np.asarray(X)])
    assert told.explanations.names == tuple(X)


class Captum:
    """What captum's methods look like."""

    forward_func = None

    def attribute(self, rows):
        return rows


class DiceMl:
    def generate_counterfactuals(self, rows):
        return rows


class Local:
    def predict(self, rows):
        return rows

    def explain_local(self, rows):
        return rows


@pytest.mark.parametrize(
    ("explainer", "instead"),
    [
        (Captum(), r"lambda X: explainer\.attribute"),
        (DiceMl(), "generate_counterfactuals"),
        (Local(), "explainer.explain_local"),
    ],
)
def test_explainers_of_other_libraries_are_refused_with_what_to_pass_instead(explainer, instead):
    refused(BadInput, instead, evaluate, explainer)
    refused(BadInput, instead, fs.repeatability, [explainer, explainer], ROWS)


def test_a_method_of_captum_as_a_function_explains_as_ours_does():
    captum, torch = pytest.importorskip("captum.attr"), pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2)).double()
    method = captum.IntegratedGradients(net)
    theirs = evaluate(lambda X: method.attribute(torch.as_tensor(X), target=1), model=net).explanations
    ours = fs.explainers.Gradient(net, method="integrated gradients").explain(ROWS)
    np.testing.assert_allclose(theirs.values, ours.values, atol=1e-6)
