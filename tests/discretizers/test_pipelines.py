"""Grouped.from_pipeline: every feature of a scikit-learn pipeline belongs to the column that it is made of."""

import numpy as np
import pandas as pd
from numpy.random import default_rng
from scipy.sparse import issparse
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

RNG = default_rng(0)
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

    def made(rows):
        cells = pipe.transform(rows)
        return pd.DataFrame(cells.toarray() if issparse(cells) else np.asarray(cells)).fillna(-9e9).to_numpy()

    names, told = np.asarray(pipe.get_feature_names_out()), {}
    for column in rows:
        moved = [made(rows.assign(**{column: np.roll(rows[column], by)})) for by in (1, 2, 3, 5)]
        told[column] = list(names[(np.array(moved) != made(rows)).any(axis=(0, 1))])
    return {column: features for column, features in told.items() if features}


def pipes():
    """Steps of every kind, with the columns that they are given in every way."""
    encoder = OneHotEncoder(drop="if_binary", min_frequency=8, handle_unknown="infrequent_if_exist")
    parts = [
        ("category", encoder, ["rare", "a", "a_b"]),
        ("number", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["hours", "age"]),
        ("bins", KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), ["hours"]),
        ("words", TfidfVectorizer(), "text"),
        ("kept", "passthrough", ["flag"]),
    ]
    own = OneHotEncoder(feature_name_combiner=lambda column, category: category.upper())
    doubled = FunctionTransformer(lambda x: np.c_[x, x], feature_names_out=lambda _, names: ["once", "twice"])
    inner = make_column_transformer((OneHotEncoder(sparse_output=False), [1]), remainder="passthrough")
    outer = [("later", make_pipeline(inner), ["hours", "a"]), ("drop", "drop", ["age"])]
    imputed = make_pipeline(NUMBERS, SimpleImputer())
    union = FeatureUnion([("one", StandardScaler(with_mean=False)), ("two", MinMaxScaler())])
    chosen = [[3, 1], slice("hours", "hours"), make_column_selector(dtype_include="number")]
    return [
        ColumnTransformer(parts),
        ColumnTransformer(parts, verbose_feature_names_out=False),
        make_column_transformer((OneHotEncoder(), ["a", "a_b"])),  # of which a has the category b_e
        make_column_transformer((own, ["a", "a_b"])),
        ColumnTransformer([("n", doubled, "age")]),
        ColumnTransformer(outer, remainder="passthrough").set_output(transform="pandas"),
        *[make_pipeline(imputed, step) for step in (SelectKBest(k=2), union, "passthrough")],
        make_pipeline(make_column_transformer((SimpleImputer(), ["hours", "age"])), SplineTransformer(3)),
        *[ColumnTransformer([("n", StandardScaler(), columns)]) for columns in chosen],
    ]


def test_features_belong_to_the_columns_they_change_with_in_the_order_of_the_table():
    for pipe in pipes():
        seen = groups(pipe)
        assert seen == by_changing_columns(pipe)
        assert list(seen) == [column for column in X if column in seen]


def test_models_and_searches_are_looked_into_and_columns_without_names_numbered():
    models = make_pipeline(NUMBERS, SimpleImputer(), LogisticRegression())
    for pipe in (models, GridSearchCV(models, {"logisticregression__C": [1.0]}, cv=2)):
        assert list(groups(pipe)) == ["age", "hours", "rare"]
    rows = X[["age", "hours"]].to_numpy()
    assert groups(make_pipeline(SimpleImputer(), OrdinalEncoder()), rows) == {"x0": ["x0"], "x1": ["x1"]}


def test_features_that_mix_columns_are_refused():
    for mixing in (PCA(2), PolynomialFeatures(2)):
        told = f"{type(mixing).__name__} makes features of several columns, such as 'age' and"
        refused(BadInput, told, groups, make_pipeline(NUMBERS, SimpleImputer(), mixing))
    one = make_column_transformer((make_pipeline(SimpleImputer(), PolynomialFeatures(2)), ["age"]))
    assert list(groups(one)) == ["age"], "powers of one column are that column's"


def test_what_cannot_be_read_is_refused():
    for pipe, error, sentence in (
        (make_pipeline(clone(NUMBERS), LogisticRegression()), BadInput, "is not fitted.*fit it first"),
        (ColumnTransformer([("n", StandardScaler(), ["age"])]), BadInput, "is not fitted"),
        (make_pipeline(LogisticRegression()), WrongType, "changes columns; got LogisticRegression"),
        (LogisticRegression(), WrongType, "got LogisticRegression"),
        (ColumnTransformer, WrongType, "got ColumnTransformer"),
        (None, WrongType, "got NoneType"),
        (make_pipeline(FunctionTransformer()).fit(X), BadInput, "pass feature_names_out='one-to-one'"),
        (
            OneHotEncoder().fit(pd.DataFrame({"a_b": ["c", "d"], "a": ["b_c", "z"]})),
            BadInput,
            "columns and features cannot be matched",
        ),
    ):
        refused(error, sentence, fs.Grouped.from_pipeline, pipe)
