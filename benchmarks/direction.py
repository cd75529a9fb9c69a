"""Do signs say where the model goes? SHAP, LIME and gradients on the paper's tables and two others.

    python benchmarks/direction.py            # some minutes; kept in results/direction.txt
    python benchmarks/direction.py --quick    # two tables, fewer rows

FAITHSCOPE_DATA names the folder that holds the data sets. Categories are numbered. Trees are HistGradientBoosting's, 30
rounds of 15 leaves, explained by shap's TreeExplainer and by fs.explainers.Lime; the network is scikit-learn's, with 16
hidden units on standardized columns, and its gradients are central differences: the gradient itself, and times what
the row differs from the training mean. All speak of the class predicted for each row. Up to 2,000 unseen rows name
three features each, and redraw them from 2,000 training rows. Missing numbers are the median.

value       of named features that move the probability, the share that moves it as the sign says, with its interval
still       share of named features whose redrawing moves it too little to tell, or not at all
found       of 100 samples of half of these rows, those whose interval lies above one half; that of flipped signs is
            its mirror image, so it lies below as often
"""

import warnings

import numpy as np
import shap
from numpy.random import default_rng
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import faithscope as fs
from ratios import describe_machine, numbers, options, tell
from wrong_reasons import of_predicted, table_of

NAMES = ("heart", "bank", "adult", "avila", "chess", "covtype", "wine", "breast cancer")
SAMPLES, HIDDEN, STEP = 100, 16, 1e-4


def table(name):
    """Rows as numbers, and labels, in random order."""
    X, y = table_of(name)
    X = numbers(X)
    order = default_rng(0).permutation(len(X))[:12_000]
    return X[order], y[order]


def gradient(model, X, scale):
    """The slope of the predicted class's probability by each column, per standard deviation."""
    place = model.predict_proba(X).argmax(axis=1)
    slopes = np.empty(X.shape)
    for j in range(X.shape[1]):
        ends = [model.predict_proba(X + side * STEP * scale * (np.arange(X.shape[1]) == j)) for side in (1, -1)]
        slopes[:, j] = (ends[0] - ends[1])[np.arange(len(X)), place] / (2 * STEP)
    return slopes


def explained(train, y, X):
    """For each explainer, the model, and importances of the classes predicted for the rows."""
    trees = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=15, random_state=0).fit(train, y)
    place = trees.predict_proba(X).argmax(axis=1)
    yield "SHAP", trees, of_predicted(shap.TreeExplainer(trees)(X).values, place)
    lime = fs.explainers.Lime(trees, train[:2_000], samples=1_000).explain(X).values
    many = len(trees.classes_)
    lime = lime if many == 2 else lime.reshape(len(X), many, -1).transpose(0, 2, 1)
    yield "LIME", trees, of_predicted(lime, place)
    net = make_pipeline(StandardScaler(), MLPClassifier((HIDDEN,), max_iter=40, random_state=0)).fit(train, y)
    scale = np.where(train.std(axis=0) > 0, train.std(axis=0), 1.0)
    slopes = gradient(net, X, scale)
    yield "gradient", net, slopes
    yield "gradient x offset", net, slopes * (X - train.mean(axis=0)) / scale


def lines(quick):
    """The table, line by line."""
    yield describe_machine(("faithscope", "numpy", "scikit-learn", "shap"))
    yield ""
    yield f"{'table':<14}{'explainer':<19}{'rows':>6}{'value':>8}  {'interval':<16}{'still':>6}{'found':>7}"
    for name in ("breast cancer", "adult") if quick else NAMES:
        X, y = table(name)
        pool = min(400 if quick else 2_000, len(X) // 2)
        train, labels, X = X[pool:], y[pool:], X[:pool]
        for explainer, model, importances in explained(train, labels, X):
            whole = fs.direction(
                importances, model, X, population=fs.Perturbed(train[:2_000], draws=50), class_index="predicted"
            )
            found = above(whole, pool)
            ends = f"[{whole.low:.3f}, {whole.high:.3f}]"
            still = whole.still
            yield f"{name:<14}{explainer:<19}{pool:>6,}{whole.value:>8.3f}  {ends:<16}{still:>6.0%}{found:>6}"


def above(whole, pool):
    """How many samples of half of the rows have an interval above one half: the moves of their pairs are known."""
    moved, rng = whole._moved, default_rng(1)
    samples = [np.isin(moved.rows, rng.permutation(pool)[: pool // 2]) for _ in range(SAMPLES)]
    return sum(moved.line(sample, whole.confidence)["low"] > whole.chance for sample in samples)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "Stochastic Optimizer")  # a network that is not trained to the end will do
    quick = options(__doc__, quick=False).quick
    tell(lines(quick), None if quick else "direction.txt")
