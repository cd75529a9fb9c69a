"""Calls of every explainer with hostile training rows, settings and rows; models are tiny and answer anything."""

from functools import cache

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import faithscope as fs
from faithscope.agreements import Close, Same, Spread, Tolerance
from fuzz import hostile
from fuzz.choices import COUNTS, DISTANCES, METRICS, SEEDS, SHARES, WORDS
from fuzz.functions import _tree
from fuzz.hostile import SCALARS, TEXTS
from fuzz.kinds import grid, options, with_words
from fuzz.registry import target

NUMBERS, TEXT = "explainers of rows", "explainers of texts"
TRAIN = np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [-1.0, 0.0], [1.0, 1.0], [0.0, -1.0]])
EX = fs.explainers


def predict(rows):
    """A label for rows of any kind: whether the first column is positive, where it is a number."""
    return proba(rows)[:, 1] > 0.5


def proba(rows):
    """Probabilities of two classes for rows of any kind."""
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    try:
        first = pd.DataFrame(rows).iloc[:, 0].to_numpy(float)
        ones = np.where(first > 0, 0.9, 0.1)
    except Exception:  # texts, dates, tables without columns
        ones = np.full(n, 0.1)
    return np.column_stack([1 - ones, ones])


def numbers(rows):
    """A number for rows of any kind, or for texts."""
    return proba(rows)[:, 1] * 3.5


def about(texts):
    """A label for texts: whether they speak of a."""
    return ["a" in str(text) for text in texts]


def some_table(n):
    return st.one_of(grid(n), grid(n).map(with_words), hostile.tables(n))


CATEGORICAL = st.one_of(st.just([0]), st.just(["x1"]), st.lists(SCALARS, max_size=2), SCALARS)
CLASSES = st.one_of(st.sampled_from([None, 0, 1, 2, -1, "predicted"]), SCALARS)
MODELS = st.sampled_from(
    [predict, proba, numbers, None, 3, "model", object(), lambda X: None, lambda X: [1], lambda X: X]
)
AGREEMENTS = st.one_of(
    st.sampled_from([None, Same(), Tolerance(0.5), Tolerance(1e-300), Close(1.0), Spread(), predict]),
    SCALARS,
)
TOKENIZERS = st.sampled_from([str.split, list, None, 3, "split", lambda text: None, lambda text: [1]])

MADE = {
    "TreePath": (lambda: EX.TreePath(_tree()), {}),
    "SufficientReason": (lambda: EX.SufficientReason(_tree()), {}),
    "NearestNeighbors": (lambda: EX.NearestNeighbors(TRAIN), {"k": COUNTS, "metric": METRICS}),
    "Lime": (
        lambda: EX.Lime(proba, TRAIN, samples=20),
        {
            "class_index": CLASSES,
            "categorical": CATEGORICAL,
            "discretize": st.booleans(),
            "seed": SEEDS,
            "mode": st.one_of(st.sampled_from(["classification", "regression"]), WORDS),
            "draws": st.one_of(st.sampled_from(["shared", "own"]), WORDS),
        },
    ),
    "Anchors": (
        lambda: EX.Anchors(predict, TRAIN, beam=1, max_conditions=1),
        {
            "threshold": SHARES,
            "categorical": CATEGORICAL,
            "delta": SHARES,
            "tau": SHARES,
            "seed": SEEDS,
            "agreement": AGREEMENTS,
        },
    ),
    "Counterfactual": (
        lambda: EX.Counterfactual(predict, TRAIN),
        {
            "categorical": CATEGORICAL,
            "metric": METRICS,
            "candidates": st.sampled_from([1, 3, 0, -1, 1.5, "1", None]),
            "agreement": AGREEMENTS,
        },
    ),
    "Shap": (
        lambda: EX.Shap(proba, TRAIN, algorithm="permutation", evaluations=10),
        {
            "output": WORDS,
            "class_index": CLASSES,
            "algorithm": WORDS,
            "evaluations": st.sampled_from([10, 0, -1, "1"]),
            "seed": SEEDS,
        },
    ),
}
FIRST = {"Lime": proba, "Anchors": predict, "Counterfactual": predict, "Shap": proba}
FAST = {
    "Lime": {"samples": 20},
    "Anchors": {"beam": 1, "max_conditions": 1},
    "Shap": {"algorithm": "permutation", "evaluations": 10},
}
RUN_FOR = {"Anchors": 8, "Shap": 15, "Counterfactual": 20}


@cache
def ready(name):
    return MADE[name][0]()


def _constructor(name, settings):
    @target(f"explainers.{name}", NUMBERS, RUN_FOR.get(name, 20))
    def _(draw):
        train = draw(st.one_of(st.just(TRAIN), some_table(draw(st.sampled_from([0, 1, 5])))))
        how = draw(options(**settings))
        first = [draw(st.one_of(st.just(FIRST[name]), st.just(FIRST[name]), MODELS))] if name in FIRST else []

        def call():
            explainer = getattr(EX, name)(*first, train, **{**FAST.get(name, {}), **how})
            return explainer.explain(train)

        return call


def _explain(name, method="explain", **how):
    @target(f"explainers.{name}.{method}", NUMBERS, RUN_FOR.get(name, 20))
    def _(draw):
        X = draw(some_table(draw(st.sampled_from([0, 1, 3]))))
        return lambda: getattr(ready(name), method)(X, **how)


for name, (_, settings) in MADE.items():
    if name not in ("TreePath", "SufficientReason"):
        _constructor(name, settings)
    _explain(name)
_explain("Anchors", "explain_at", thresholds=[0.5, 0.95])
_explain("Anchors", "explain_with_precision", samples=10)
_explain("Counterfactual", "find")
_explain("Shap", "explain_with_error")


@target("explainers.TreePath", NUMBERS)
def _(draw):
    given = draw(SCALARS)
    return lambda: EX.TreePath(given).explain(TRAIN)


@target("explainers.SufficientReason", NUMBERS, 30)
def _(draw):
    model = draw(st.one_of(st.builds(_tree), MODELS, SCALARS))
    train = draw(st.one_of(st.just(None), st.just(TRAIN), some_table(3)))
    orders = st.one_of(st.sampled_from(["importance", "coverage", [0], ["x1"], [0, 0]]), WORDS, SCALARS)
    how = draw(options(order=orders, minimal=st.booleans(), widen=st.booleans(), eps=SCALARS))
    return lambda: EX.SufficientReason(model, train, **how).explain(TRAIN)


@target("explainers.TreePath.surrogate", NUMBERS, 30)
def _(draw):
    given = draw(st.one_of(st.just(predict), MODELS)), draw(st.one_of(st.just(TRAIN), some_table(5)))
    how = draw(options(max_leaf_nodes=COUNTS, seed=SEEDS, agreement=AGREEMENTS))
    return lambda: EX.TreePath.surrogate(*given, **how)


@target("explainers.Shap.read", NUMBERS)
def _(draw):
    import shap

    values = draw(st.one_of(hostile.matrices(3), SCALARS))
    given = draw(st.sampled_from([values, shap.Explanation(np.zeros((3, 2, 2))), shap.Explanation(np.zeros((3, 2)))]))
    how = draw(options(class_index=CLASSES))
    return lambda: EX.Shap.read(given, **how)


@target("explainers.Dice", NUMBERS, 15)
def _(draw):
    given = draw(st.one_of(MODELS, SCALARS)), draw(some_table(3))
    how = draw(options(method=WORDS, categorical=CATEGORICAL, seed=SEEDS))
    return lambda: EX.Dice(*given, **how)


@target("explainers.Gradient", NUMBERS, 15)
def _(draw):
    given = draw(st.one_of(MODELS, SCALARS))
    how = draw(options(method=WORDS, offset=SCALARS, class_index=CLASSES, baseline=SCALARS, steps=COUNTS))
    return lambda: EX.Gradient(given, **how)


def _heavy(name, method):
    @target(f"explainers.{name}.{method}", NUMBERS, 10)
    def _(draw):
        X = draw(st.one_of(SCALARS, hostile.columns(2)))
        return lambda: getattr(_made_heavy(name), method)(X)


@cache
def _classifier():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression().fit(pd.DataFrame(TRAIN, columns=["x0", "x1"]), [0, 1, 1, 0, 1, 0])


def _made_heavy(name):
    if name == "Dice":
        return EX.Dice(_classifier(), pd.DataFrame(TRAIN, columns=["x0", "x1"]))
    try:
        from torch.nn import Linear
    except ImportError:
        return EX.Gradient(object())  # refused: torch is not installed, or this is no module
    return EX.Gradient(Linear(2, 2))


_heavy("Dice", "explain")
_heavy("Dice", "find")
_heavy("Gradient", "explain")


@target("explainers.Random", NUMBERS, 30)
def _(draw):
    how = draw(options(k=COUNTS, seed=SEEDS))
    X = draw(some_table(3))
    return lambda: EX.Random(**how).explain(X)


@target("explainers.Constant", NUMBERS, 1)
def _(draw):
    return EX.Constant


@target("explainers.Unique", NUMBERS, 1)
def _(draw):
    return EX.Unique


for name in ("Random", "Constant", "Unique"):

    @target(f"explainers.{name}.explain", NUMBERS, 30)
    def _(draw, name=name):
        X = draw(some_table(draw(st.sampled_from([0, 1, 3]))))
        return lambda: getattr(EX, name)().explain(X)


def documents(n):
    return st.one_of(st.lists(st.sampled_from([t[:50] for t in TEXTS]), min_size=n, max_size=n), hostile.tables(n))


for name in ("AllWords", "FirstWord"):

    @target(f"explainers.{name}", TEXT, 30)
    def _(draw, name=name):
        given, X = draw(TOKENIZERS), draw(documents(3))
        return lambda: getattr(EX, name)(given).explain(X)

    @target(f"explainers.{name}.explain", TEXT, 30)
    def _(draw, name=name):
        X = draw(documents(draw(st.sampled_from([0, 1, 3]))))
        return lambda: getattr(EX, name)().explain(X)


@cache
def _linear():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    texts = ["good plot", "dull plot", "good good", "dull"]
    vectorizer = CountVectorizer().fit(texts)
    return LogisticRegression().fit(vectorizer.transform(texts), [1, 0, 1, 0]), vectorizer


@target("explainers.TopCoefficient", TEXT, 20)
def _(draw):
    model, vectorizer = draw(st.one_of(st.builds(_linear), st.tuples(SCALARS, SCALARS)))
    how = draw(options(by=st.one_of(st.sampled_from(["absolute", "favor"]), WORDS)))
    return lambda: EX.TopCoefficient(model, vectorizer, **how).explain(["good plot"])


@target("explainers.TopCoefficient.explain", TEXT, 30)
def _(draw):
    X = draw(documents(draw(st.sampled_from([0, 1, 3]))))
    return lambda: EX.TopCoefficient(*_linear()).explain(X)


@target("explainers.TextAnchors", TEXT, 8)
def _(draw):
    given = draw(st.one_of(st.just(about), MODELS))
    how = draw(
        options(
            threshold=SHARES,
            delta=SHARES,
            tau=DISTANCES,
            tokenizer=TOKENIZERS,
            unknown=SCALARS,
            seed=SEEDS,
            agreement=AGREEMENTS,
        )
    )
    return lambda: EX.TextAnchors(given, **{"beam": 1, "max_words": 1, **how}).explain(["a b", "c"])


for method in ("explain", "explain_with_precision"):

    @target(f"explainers.TextAnchors.{method}", TEXT, 8)
    def _(draw, method=method):
        X = draw(documents(draw(st.sampled_from([0, 1, 3]))))
        return lambda: getattr(EX.TextAnchors(about, beam=1, max_words=1), method)(X)


PLAIN = {
    **{name: make for name, (make, _) in MADE.items()},
    "Dice": lambda: _made_heavy("Dice"),
    "Gradient": lambda: _made_heavy("Gradient"),
    "TopCoefficient": lambda: EX.TopCoefficient(*_linear()),
    "TextAnchors": lambda: EX.TextAnchors(about),
    **{name: getattr(EX, name) for name in ("FirstWord", "AllWords", "Constant", "Random", "Unique")},
}
for explainer in EX.__all__:

    @target(f"explainers.{explainer}.get_params", TEXT, 3)
    def _(draw, explainer=explainer):
        deep = draw(SCALARS)
        return lambda: list(PLAIN[explainer]().get_params(deep))
