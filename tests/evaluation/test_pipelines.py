"""Models of tables as people have them: every explainer speaks of the table's own columns, or says what it needs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import faithscope as fs
from faithscope import datasets, explainers
from faithscope.errors import BadInput, WrongType
from refused import refused

START = pd.Timestamp("2020-01-01")


@pytest.fixture(scope="module")
def adult():
    """Two hundred people: texts, categories, codes, flags, dates and numbers, all but the numbers with holes."""
    table = datasets.load("adult").X.iloc[:200].reset_index(drop=True)
    age = table["age"]
    return pd.DataFrame(
        {
            "age": age,
            "workclass": table["workclass"].astype("category"),
            "education": table["education"].astype(object),
            "education-num": pd.Categorical(table["education-num"]),
            "occupation": table["occupation"],
            "sex": table["sex"] == "Male",
            "married": pd.array(np.where(age % 7 == 0, None, age % 2 == 0), dtype="boolean"),
            "since": (START + pd.to_timedelta(age * 13, "D")).where(age % 11 != 0),
            "hours": table["hours-per-week"].where(age % 5 != 0).astype("Int64"),
            "gain": table["capital-gain"].astype("float32").where(age % 9 != 0),
        }
    )


def rich(table):
    return ((table["age"] > 40) ^ table["sex"].to_numpy(bool)).to_numpy(int)


def days(table):
    return table.apply(lambda column: (column - START).dt.days.astype(float))


def floats(table):
    return table.astype("Float64").astype(float)


def without_dates(table):
    """What boosters take: dates as days, texts as categories, nullable types as floats."""
    table = table.assign(since=days(table[["since"]])["since"])
    return table.assign(
        **{name: floats(table[name]) for name in ("married", "hours")},
        **{name: table[name].astype("category") for name in ("education", "occupation")},
    )


def pipeline(table):
    numbers, categories = ["age", "sex", "married", "hours", "gain"], ["workclass", "education", "education-num"]
    as_floats, as_days = (FunctionTransformer(function, feature_names_out="one-to-one") for function in (floats, days))
    encoder = ColumnTransformer(
        [
            ("number", make_pipeline(as_floats, SimpleImputer(), StandardScaler()), numbers),
            ("category", OneHotEncoder(handle_unknown="ignore", min_frequency=5), [*categories, "occupation"]),
            ("date", make_pipeline(as_days, SimpleImputer(), StandardScaler()), ["since"]),
        ]
    )
    return make_pipeline(encoder, LogisticRegression(max_iter=500)).fit(table, rich(table)), table


def lightgbm(table):
    library, table = pytest.importorskip("lightgbm"), without_dates(table)
    return library.LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1).fit(table, rich(table)), table


def xgboost(table):
    library, table = pytest.importorskip("xgboost"), without_dates(table)
    return library.XGBClassifier(n_estimators=10, enable_categorical=True, n_jobs=1).fit(table, rich(table)), table


def histogram(table):
    table = without_dates(table)
    model = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    return model.fit(table, rich(table)), table


def catboost(table):
    library, table = pytest.importorskip("catboost"), without_dates(table)
    names = ["workclass", "education", "education-num", "occupation"]
    texts = {name: table[name].astype(object).where(table[name].notna(), "missing").astype(str) for name in names}
    table = table.assign(**texts)
    model = library.CatBoostClassifier(iterations=10, verbose=0, cat_features=names, thread_count=1)
    return model.fit(table, rich(table)), table


MODELS = [xgboost, *(pytest.param(f, marks=pytest.mark.thorough) for f in (lightgbm, pipeline, histogram, catboost))]
ALL = {name for name in explainers.__all__ if isinstance(getattr(explainers, name), type)}
OF_TEXTS = {"AllWords", "FirstWord", "TextAnchors", "TopCoefficient"}


def every_explainer(model, table):
    known = table[:120]
    return {
        "TreePath": explainers.TreePath.surrogate(model, known, max_leaf_nodes=8),
        "NearestNeighbors": explainers.NearestNeighbors(known, metric="gower"),
        "Lime": explainers.Lime(model, known, samples=100),
        "Anchors": explainers.Anchors(model, known, beam=1, threshold=0.8),
        "Shap": explainers.Shap(model, known[:5], evaluations=42),
        "Counterfactual": explainers.Counterfactual(model, known),
        "Constant": explainers.Constant(),
        "Random": explainers.Random(3),
        "Unique": explainers.Unique(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("fitted", MODELS)
def test_every_explainer_speaks_of_the_tables_own_columns(adult, fitted, tmp_path):
    model, table = fitted(adult)
    asked = every_explainer(model, table)
    # SufficientReason refuses pipelines and splits on categories: its proofs are about numbers.
    assert ALL - OF_TEXTS - {"Gradient", "Dice", "SufficientReason"} <= set(asked), "a new explainer belongs here"
    rows = table[120:135]
    comparison = fs.compare(model, asked, rows, discretizer={"Shap": "sign", "Lime": "sign"})
    if fitted is pipeline:  # the table that has every type of column
        comparison.to_html(tmp_path / "comparison.html")
    comparison["Counterfactual"].to_html(tmp_path / "evaluation.html")
    for name in ("Lime", "Shap", "Counterfactual"):
        assert comparison[name].explanations.names == tuple(table)
    for name in ("TreePath", "Anchors"):
        told = comparison[name].explanations
        assert {condition[0] for row in range(15) for condition in told.item(row)} <= set(table)
        assert comparison[name].sufficiency.n == 15
    assert len(comparison["Counterfactual"].explanations) == 15


def test_what_tables_cannot_have_is_said_in_one_sentence(adult):
    torch = pytest.importorskip("torch")
    pytest.importorskip("dice_ml")
    large = pd.DataFrame({"id": np.arange(20) + 2**40, "x": np.arange(20.0)})
    narrow = ColumnTransformer([("kept", "passthrough", ["x"])])
    model = make_pipeline(narrow, LogisticRegression()).fit(large, large["x"] > 9)
    refused(BadInput, "use metric='gower'", explainers.NearestNeighbors(adult).explain, adult[:3])
    gradient, whole = explainers.Gradient(torch.nn.Linear(10, 1)), adult.dropna()[:3]
    refused(WrongType, "column 'workclass' is str .*must be a number", gradient.explain, whole)
    words = r"'id' holds whole numbers.*use Counterfactual\(model, X_train\)"
    refused(BadInput, words, lambda: explainers.Dice(model, large).explain(large[:1]))


def test_codes_that_a_table_declares_to_be_categories_are_categories():
    table = pd.DataFrame({"code": pd.Categorical([1, 5, 9] * 10), "x": np.arange(30.0)})

    def model(rows):
        assert set(rows["code"].dropna().unique()) <= {1, 5, 9}, "no code in between"
        return (rows["code"] == 5).to_numpy()

    assert explainers.TreePath.surrogate(model, table).explain(table[:2]).describe(1) == "code == 5"
    flipped = explainers.Counterfactual(model, table).explain(table[:1])
    assert flipped.points[0].tolist()[0] == 5
    near = explainers.NearestNeighbors(table, metric="gower").explain(table.assign(x=0.0)[:3])
    assert [near.describe(row) for row in range(3)] == ["{0}", "{1}", "{2}"]
