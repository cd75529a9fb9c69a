"""Rows of every kind with models of them, fitted once when first asked for, that tests of several explainers share."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

DAY = pd.Timestamp("2024-01-01")
UNIFORM = np.random.default_rng(0).random((2000, 4))
MEDIAN = float(np.median(UNIFORM[:, 0]))


def first_is_high(rows):
    return np.asarray(rows)[:, 0] > MEDIAN


def corner(rows):
    """High where two features are: an anchor of it needs both, or one that is low."""
    return ((rows[:, 0] > 0.5) & (rows[:, 1] > 0.5)).astype(int)


def written(explanations):
    return [explanations.describe(row) for row in range(len(explanations))]


def covered(rules, X):
    """Whom each rule covers, condition by condition: (rules, rows)."""
    every = np.ones(len(X), bool)
    return np.array(
        [np.logical_and.reduce([every, *rules.holds(rules.conjunction(row), X)]) for row in range(len(rules))]
    )


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def graded(soon, every):
    """All cases, of which `make test` runs those that come soon."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[pytest.mark.thorough] * (case not in soon))
        for case in dict.fromkeys([*soon, *every])
    ]


def assert_refused(refusals):
    """Each call raises its error, with these words in one line: {error: [(call, words)]}."""
    for error, calls in refusals.items():
        for call, words in calls:
            with pytest.raises(error, match=words) as caught:
                call()
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) <= 400


SEED = {"random_state": 0}
QUIET = {"verbose": False, "allow_writing_files": False}
FAMILIES = {
    "tree": ("sklearn.tree", "DecisionTree", {"max_depth": 5, **SEED}),
    "forest": ("sklearn.ensemble", "RandomForest", {"n_estimators": 8, "max_depth": 5, **SEED}),
    "extra trees": ("sklearn.ensemble", "ExtraTrees", {"n_estimators": 8, "max_depth": 5, **SEED}),
    "boosting": ("sklearn.ensemble", "GradientBoosting", {"n_estimators": 12, **SEED}),
    "histograms": ("sklearn.ensemble", "HistGradientBoosting", {"max_iter": 15, **SEED}),
    "lightgbm": ("lightgbm", "LGBM", {"n_estimators": 15, "num_leaves": 8, "verbose": -1, "n_jobs": 1}),
    "xgboost": ("xgboost", "XGB", {"n_estimators": 15, "max_depth": 3, "n_jobs": 1}),
    "xgboost forest": ("xgboost", "XGBRF", {"n_estimators": 15, "max_depth": 3, "n_jobs": 1}),
    "catboost": ("catboost", "CatBoost", {"iterations": 15, "depth": 3, **QUIET}),
}


def trees(family, kind="Classifier", **how):
    """A model of trees of any library, not yet fitted."""
    module, stem, settings = FAMILIES[family]
    return getattr(library(module), stem + kind)(**{**settings, **how})


@cache
def tumors():
    """Six numbers of tumors, and whether these are benign."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :6], y


@cache
def forest():
    return RandomForestClassifier(5, max_depth=4, random_state=0).fit(*tumors())


@cache
def tree():
    return DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(*tumors())


@cache
def holey():
    """Numbers a quarter of which are missing, and a model in which that decides."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 3)) < 0.25, np.nan, rng.normal(size=(500, 3)))
    target = np.isnan(X[:, 0]) | (np.nan_to_num(X[:, 1]) > 0.5)
    return X, HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, target)


@cache
def diabetes():
    """Rows, numbers to predict, and a regressor."""
    X, y = load_diabetes(return_X_y=True)
    return X, y, GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y)


@cache
def regression_tree():
    return DecisionTreeRegressor(max_leaf_nodes=12, random_state=0).fit(*diabetes()[:2])


@cache
def reviews():
    """600 texts, and a linear model of their words with its vectorizer."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{j}" for j in range(60)])
    texts = [" ".join(rng.choice(words, rng.integers(3, 18))) for _ in range(600)]
    weights = dict(zip(words, rng.normal(size=60) * (rng.random(60) < 0.4), strict=True))
    vectorizer = CountVectorizer().fit(texts)
    liked = [sum(weights[word] for word in text.split()) > 0 for text in texts]
    return texts, LogisticRegression(C=10).fit(vectorizer.transform(texts), liked), vectorizer


def opinion(documents):
    _, linear, vectorizer = reviews()
    return linear.predict(vectorizer.transform(documents))


def people(n=80, seed=0, *, new=False):
    """Numbers, whole numbers, categories and dates, a seventh of them missing; some categories new if asked for."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "pay": rng.normal(3, 1, n).round(1),
            "age": pd.array(rng.integers(18, 80, n), "Int64"),
            "job": rng.choice(["clerk", "cook", "smith"], n),
            "since": DAY + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        }
    )
    holes = table.mask(rng.random(table.shape) < 1 / 7)
    if new:
        holes.loc[::5, "job"] = "astronaut"
    return holes.astype({"age": "Int64"})


class Rule:
    """A model of people that takes everything, insists on its table, and treats missing as a value of its own."""

    def predict(self, X):
        assert list(X.columns) == ["pay", "age", "job", "since"]
        assert str(X["since"].dtype).startswith("datetime64")
        late = (X["since"] > DAY + pd.Timedelta(days=400)).fillna(False)
        points = X["pay"].fillna(4.2) + (X["job"] == "cook") + X["job"].isna() * 0.5 + late * 1.5
        return np.asarray(points + X["age"].isna() > 4, bool)

    def predict_proba(self, X):
        sure = self.predict(X).astype(float) * 0.8 + 0.1
        return np.column_stack([1 - sure, sure])


def people_again(cells):
    """Cells as the model of people wants them: dates are nanoseconds there, None is missing."""
    table = pd.DataFrame(cells, columns=["pay", "age", "job", "since"])
    table["since"] = pd.to_datetime(table["since"].astype("Int64")).astype("datetime64[us]")
    return table.astype({"pay": float, "age": "Int64"})


def workers(n=250, seed=0):
    """Numbers, categories, truth values, and regions that are codes."""
    rng = np.random.default_rng(seed)
    numbers = {"age": rng.integers(18, 80, n), "pay": rng.normal(3, 1, n).round(1)}
    words = {"job": rng.choice(["clerk", "cook", "smith", "weaver"], n), "married": rng.random(n) < 0.5}
    return pd.DataFrame({**numbers, **words, "region": rng.integers(1, 5, n)})


def workers_again(cells):
    return pd.DataFrame(cells, columns=workers(1).columns).astype(workers(1).dtypes)


@cache
def wages():
    """A pipeline that knows columns by name, so it takes nothing but pandas, and answers in words."""
    table = workers()
    paid = table["age"] / 40 + table["pay"] * 0.3 + (table["job"] == "cook") + (table["region"] == 2) * table["married"]
    encode = make_column_transformer((OneHotEncoder(), ["job", "region"]), remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(max_depth=8, random_state=0))
    return model.fit(table, np.where(paid > 2.4, "high", "low"))


def network(outputs=1, middle="Tanh"):
    """A module of four numbers."""
    torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "faithscope[torch]"')
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), getattr(torch.nn, middle)(), torch.nn.Linear(8, outputs))
