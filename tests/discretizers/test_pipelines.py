"""Grouped.from_pipeline: every feature of a scikit-learn pipeline belongs to the column that it is made of."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from refused import refused

RNG = np.random.default_rng(0)
N = 80
X = pd.DataFrame(
    {
        "a_b": RNG.choice(["c", "d"], N),
        "age": np.where(np.arange(N) % 7, RNG.normal(size=N), np.nan),
        "a": RNG.choice(["b_e", "b_f", "z"], N),
        "hours": RNG.normal(size=N),
        "text": RNG.choice(["good plot", "bad film", "good film"], N),
        "rare": np.where(np.arange(N) % 9, "x", np.where(np.arange(N) % 2, "y", "w")),
        "flag": RNG.integers(0, 2, N).astype(bool),
    }
)
Y = RNG.integers(0, 2, N)
NUMBERS = make_column_transformer((StandardScaler(), ["hours", "age"]), (OneHotEncoder(), ["rare"]))


def groups(pipe, rows=X):
    return {name: list(features) for name, features in fs.Grouped.from_pipeline(pipe.fit(rows, Y)).groups}


def by_changing_columns(pipe, rows=X):
    """The oracle: the features that change with a column's values, whatever they are called."""
    names = np.asarray(pipe.get_feature_names_out())
    before, told = np.asarray(pipe.transform(rows)), {}
    for column in rows:
        changed = np.zeros(len(names), bool)
        for other in (1, 2, 3, 5):
            moved = rows.assign(**{column: np.roll(rows[column], other)})
            changed |= ~np.isclose(np.asarray(pipe.transform(moved)), before, equal_nan=True).all(axis=0)
        told[column] = list(names[changed])
    return {column: features for column, features in told.items() if features}


@pytest.mark.parametrize("verbose", [True, False])
@pytest.mark.slow
def test_features_belong_to_the_columns_they_change_with(verbose):
    encoder = OneHotEncoder(drop="if_binary", min_frequency=8, handle_unknown="infrequent_if_exist")
    pipe = ColumnTransformer(
        [
            ("category", encoder, ["rare", "a", "a_b"]),
            ("number", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["hours", "age"]),
            ("bins", KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), ["hours"]),
            ("words", TfidfVectorizer(), "text"),
            ("kept", "passthrough", ["flag"]),
        ],
        verbose_feature_names_out=verbose,
        sparse_threshold=0,
    )
    seen = groups(pipe)
    assert seen == by_changing_columns(pipe)
    assert list(seen) == list(X)
    assert seen["a_b"] == ["category__a_b_d" if verbose else "a_b_d"]


def test_names_are_not_taken_apart():
    seen = groups(make_column_transformer((OneHotEncoder(), ["a", "a_b"])))
    assert seen["a_b"] == ["onehotencoder__a_b_c", "onehotencoder__a_b_d"]
    assert seen["a"] == ["onehotencoder__a_b_e", "onehotencoder__a_b_f", "onehotencoder__a_z"]
    own = OneHotEncoder(feature_name_combiner=lambda column, category: category.upper())
    assert groups(make_pipeline(own), X[["a", "a_b"]]) == {"a": ["B_E", "B_F", "Z"], "a_b": ["C", "D"]}


@pytest.mark.parametrize(
    ("chosen", "columns"),
    [
        (["hours", "age"], ["age", "hours"]),
        ([3, 1], ["age", "hours"]),
        ([-4], ["hours"]),
        (slice("hours", "hours"), ["hours"]),
        (slice(3, 4), ["hours"]),
        (np.array([False, True, False, True, False, False, False]), ["age", "hours"]),
        (make_column_selector(dtype_include="number"), ["age", "hours"]),
    ],
)
def test_columns_may_be_chosen_in_every_way(chosen, columns):
    assert groups(ColumnTransformer([("n", StandardScaler(), chosen)])) == {name: [f"n__{name}"] for name in columns}


def test_a_column_that_comes_alone_is_named_too():
    doubled = FunctionTransformer(lambda x: np.c_[x, x], feature_names_out=lambda _, names: ["once", "twice"])
    assert groups(ColumnTransformer([("n", doubled, "age")])) == {"age": ["n__once", "n__twice"]}


def test_pipelines_in_pipelines_keep_the_order_of_the_table():
    inner = make_pipeline(make_column_transformer((OneHotEncoder(sparse_output=False), [1]), remainder="passthrough"))
    outer = ColumnTransformer([("later", inner, ["hours", "a"]), ("drop", "drop", ["age"])], remainder="passthrough")
    seen = groups(outer.set_output(transform="pandas"))
    assert list(seen) == ["a_b", "a", "hours", "text", "rare", "flag"]
    assert seen["a"] == [f"later__onehotencoder__a_{category}" for category in ("b_e", "b_f", "z")]
    assert seen["hours"] == ["later__remainder__hours"]


def test_steps_after_the_encoder_are_followed():
    union = FeatureUnion([("one", StandardScaler(with_mean=False)), ("two", MinMaxScaler())])
    model = LogisticRegression()
    imputed = make_pipeline(NUMBERS, SimpleImputer())
    selected = make_pipeline(imputed, SelectKBest(k=2), model)
    assert sum(map(len, groups(selected).values())) == 2
    assert groups(make_pipeline(imputed, union, model))["age"] == [
        "one__standardscaler__age",
        "two__standardscaler__age",
    ]
    assert len(groups(make_pipeline(imputed, SplineTransformer(3), model))["rare"]) == 3 * 5
    assert groups(make_pipeline(imputed, "passthrough"))["hours"] == ["standardscaler__hours"]
    search = GridSearchCV(make_pipeline(imputed, model), {"logisticregression__C": [1.0]}, cv=2)
    assert list(groups(search)) == ["age", "hours", "rare"]


def test_columns_without_names_are_numbered():
    rows = X[["age", "hours"]].to_numpy()
    assert groups(make_pipeline(SimpleImputer(), OrdinalEncoder()), rows) == {"x0": ["x0"], "x1": ["x1"]}


def test_features_that_mix_columns_are_refused():
    for mixing in (PCA(2), PolynomialFeatures(2)):
        told = f"{type(mixing).__name__} makes features of several columns, such as 'age' and"
        refused(BadInput, told, groups, make_pipeline(NUMBERS, SimpleImputer(), mixing))
    one = make_column_transformer((make_pipeline(SimpleImputer(), PolynomialFeatures(2)), ["age"]))
    assert list(groups(one)) == ["age"], "powers of one column are that column's"


@pytest.mark.parametrize(
    ("pipe", "error", "sentence"),
    [
        (make_pipeline(clone(NUMBERS), LogisticRegression()), BadInput, "is not fitted: call its fit"),
        (ColumnTransformer([("n", StandardScaler(), ["age"])]), BadInput, "is not fitted"),
        (make_pipeline(LogisticRegression()), BadInput, "a model and no transformer"),
        (LogisticRegression(), WrongType, "got LogisticRegression"),
        (ColumnTransformer, WrongType, "got ColumnTransformer"),
        (None, WrongType, "got NoneType"),
        (make_pipeline(FunctionTransformer()).fit(X), BadInput, "pass feature_names_out='one-to-one'"),
        (
            OneHotEncoder().fit(pd.DataFrame({"a_b": ["c", "d"], "a": ["b_c", "z"]})),
            BadInput,
            "2 features of this OneHotEncoder are named 'a_b_c': rename a column",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(pipe, error, sentence):
    refused(error, sentence, fs.Grouped.from_pipeline, pipe)
