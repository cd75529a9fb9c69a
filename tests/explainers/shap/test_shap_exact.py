"""SHAP values are Shapley values: every model family and output against enumerated coalitions of the model itself."""

import warnings
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shap.explainer import Shap
from faithscope.explanations.arrow.tables import from_arrow, to_arrow

D = 8  # so many that all coalitions are more than are tried by default


def columns(rows):
    return pd.DataFrame(rows, columns=[f"c{j}" for j in range(D)]).assign(c7=np.where(rows[:, 7] > 0, "yes", "no"))


def pipeline(model):
    words = make_column_transformer((OneHotEncoder(), ["c7"]), remainder=StandardScaler())
    return make_pipeline(words, model)


def lightgbm(kind="LGBMClassifier", **how):
    return getattr(pytest.importorskip("lightgbm"), kind)(n_estimators=15, num_leaves=8, verbose=-1, **how)


def xgboost(kind="XGBClassifier", **how):
    return getattr(pytest.importorskip("xgboost"), kind)(n_estimators=15, max_depth=3, **how)


def catboost(kind="CatBoostClassifier", **how):
    how = {"iterations": 15, "depth": 3, "verbose": False, "allow_writing_files": False, **how}
    return getattr(pytest.importorskip("catboost"), kind)(**how)


CLASSIFIERS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(8, max_depth=5, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(8, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=12, random_state=0),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=15, random_state=0),
    "lightgbm": lightgbm,
    "lightgbm of dart": lambda: lightgbm(boosting_type="dart"),
    "lightgbm one against all": lambda: lightgbm(objective="multiclassova"),
    "xgboost": xgboost,
    "xgboost forest": lambda: xgboost("XGBRFClassifier"),
    "catboost": catboost,
    "logistic": lambda: LogisticRegression(),
    "svc": lambda: SVC(),
    "network": lambda: MLPClassifier((5,), max_iter=60, random_state=0),
}
TABLES = {
    "pipeline of logistic": lambda: pipeline(LogisticRegression()),
    "pipeline of histograms": lambda: pipeline(HistGradientBoostingClassifier(max_iter=15, random_state=0)),
    "pipeline of lightgbm": lambda: pipeline(lightgbm()),
    "pipeline of xgboost": lambda: pipeline(xgboost()),
    "pipeline of catboost": lambda: pipeline(catboost()),
}
REGRESSORS = {
    "tree": lambda: DecisionTreeRegressor(max_depth=5, random_state=0),
    "forest": lambda: RandomForestRegressor(8, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=12, random_state=0),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=15, random_state=0),
    "histograms of counts": lambda: HistGradientBoostingRegressor(loss="poisson", max_iter=15, random_state=0),
    "lightgbm": lambda: lightgbm("LGBMRegressor"),
    "lightgbm of counts": lambda: lightgbm("LGBMRegressor", objective="poisson"),
    "xgboost": lambda: xgboost("XGBRegressor"),
    "xgboost of counts": lambda: xgboost("XGBRegressor", objective="count:poisson"),
    "catboost": lambda: catboost("CatBoostRegressor"),
    "catboost of counts": lambda: catboost("CatBoostRegressor", loss_function="Poisson"),
    "linear": lambda: LinearRegression(),
}


@cache
def sample(classes):
    """Rows, few of them alike: (training rows, labels)."""
    return make_classification(400, D, n_informative=6, n_classes=classes, class_sep=0.6, random_state=0)


@cache
def fitted(family, name, classes):
    X, y = sample(classes)
    rows = columns(X) if family is None else X
    target = np.exp(X[:, 0] + X[:, 1] * (X[:, 2] > 0)) if family == "regressor" else y
    if "against all" in name and classes == 2:
        pytest.skip("of two classes there is one against one")
    make = {None: TABLES, "classifier": CLASSIFIERS, "regressor": REGRESSORS}[family][name]
    with warnings.catch_warnings(action="ignore"):
        return make().fit(rows, target), rows[:7], rows[200:204]


def enumerated(function, background, rows):
    """Shapley's formula itself over all coalitions: (n, d, outputs)."""
    kind = object if isinstance(rows, pd.DataFrame) else float
    own, other = np.asarray(rows, kind), np.asarray(background, kind)
    d = own.shape[1]
    coalitions = [members for size in range(d + 1) for members in combinations(range(d), size)]
    masked = np.empty((len(coalitions), len(own), len(other), d), kind)
    for block, members in zip(masked, coalitions, strict=True):
        block[:] = other
        block[:, :, members] = own[:, None, members]
    flat = masked.reshape(-1, d)
    if isinstance(rows, pd.DataFrame):
        flat = pd.DataFrame(flat, columns=rows.columns).astype(dict(rows.dtypes))
    outputs = np.asarray(function(flat), float).reshape(*masked.shape[:3], -1).mean(axis=2)
    worth = dict(zip(coalitions, outputs, strict=True))
    values = np.zeros((len(own), d, outputs.shape[2]))
    for j in range(d):
        for members in coalitions:
            if j not in members:
                added = worth[tuple(sorted((*members, j)))] - worth[members]
                values[:, j] += added / (d * comb(d - 1, len(members)))
    return values


def margin_of(model):
    """How a user gets the margin from a model; None where there is none."""
    last = model[-1] if hasattr(model, "steps") else model
    if hasattr(model, "decision_function"):
        return model.decision_function
    if "lightgbm" in type(last).__module__:
        return lambda rows: model.predict(rows, raw_score=True)
    if "xgboost" in type(last).__module__:
        return lambda rows: model.predict(rows, output_margin=True)
    if "catboost" in type(last).__module__:
        return lambda rows: model.predict(rows, prediction_type="RawFormulaVal")
    return None


def assert_exact(explainer, function, background, rows):
    exact = enumerated(function, background, rows)
    exact = exact[:, :, 1:] if exact.shape[2] == 2 else exact  # class 1 of two
    explanations = explainer.explain(rows)
    scale = max(1.0, np.abs(exact).max())
    wanted = exact.transpose(0, 2, 1).reshape(len(rows), -1)
    np.testing.assert_allclose(explanations.values, wanted, rtol=0, atol=2e-6 * scale)
    assert explainer.error == 0.0
    assert explanations.notes == ()


ALL = [("classifier", name) for name in CLASSIFIERS] + [(None, name) for name in TABLES]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("family", "name"), ALL, ids=[name for _, name in ALL])
@pytest.mark.slow
def test_probabilities_are_explained_by_their_shapley_values(family, name, classes):
    model, background, rows = fitted(family, name, classes)
    if not hasattr(model, "predict_proba"):
        with pytest.raises(WrongType, match="has no predict_proba"):
            Shap(model, background, output="probability")
        return
    explainer = Shap(model, background, output="probability", evaluations=2**D)
    assert_exact(explainer, model.predict_proba, background, rows)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("family", "name"), ALL, ids=[name for _, name in ALL])
@pytest.mark.slow
def test_the_margin_is_explained_by_its_shapley_values_where_there_is_one_else_the_probability(family, name, classes):
    model, background, rows = fitted(family, name, classes)
    explainer = Shap(model, background, evaluations=2**D)
    margin = margin_of(model)
    assert explainer.output == ("probability" if margin is None else "margin")
    assert_exact(explainer, margin or model.predict_proba, background, rows)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("family", "name"), ALL, ids=[name for _, name in ALL])
@pytest.mark.slow
def test_labels_are_explained_by_their_shapley_values(family, name, classes):
    model, background, rows = fitted(family, name, classes)
    explainer = Shap(model, background, output="label", evaluations=2**D)
    assert_exact(explainer, lambda asked: np.ravel(model.predict(asked)), background, rows)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.slow
def test_regressions_are_explained_by_their_shapley_values(name):
    model, background, rows = fitted("regressor", name, 2)
    assert_exact(Shap(model, background, evaluations=2**D), model.predict, background, rows)


@pytest.mark.parametrize("algorithm", ["permutation", "kernel"])
def test_functions_are_explained_by_their_shapley_values(algorithm):
    def function(rows):
        return np.exp(rows[:, 0]) * rows[:, 1] - np.maximum(rows[:, 2], rows[:, 3]) ** 3

    X, _ = sample(2)
    assert_exact(Shap(function, X[:7], algorithm=algorithm, evaluations=2**D), function, X[:7], X[200:204])


BOOSTERS = ["histograms", "lightgbm", "xgboost", "catboost", "boosting"]


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_probability_of_a_booster_is_exact_without_being_asked_to_be(name):
    model, background, rows = fitted("classifier", name, 2)
    explainer = Shap(model, background, output="probability")
    assert explainer.algorithm == "tree"
    assert_exact(explainer, model.predict_proba, background, rows)


def mixed(seed, rows):
    """Numbers and words of which some are missing; numbers first, then category dtypes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["age", "pay", "hours"])
    frame.loc[rng.random(rows) < 0.3, "pay"] = np.nan
    frame["age"] = frame["age"].where(frame["hours"] < 1)
    frame["job"] = rng.choice(np.array(["clerk", "cook", "nurse", None], object), rows)
    frame["sex"] = rng.choice(["f", "m"], rows)
    label = frame["pay"].fillna(2) * (frame["job"] != "cook") + frame["age"].isna() - (frame["sex"] == "f") > 0
    return frame, label.to_numpy().astype(int)


def categories(frame):
    return frame.assign(job=frame["job"].astype(JOBS), sex=frame["sex"].astype(SEXES))


JOBS = pd.CategoricalDtype(["clerk", "cook", "nurse"])
SEXES = pd.CategoricalDtype(["f", "m"])
NUMBERS = ["age", "pay", "hours"]


def words():
    encoder = OneHotEncoder(handle_unknown="ignore")
    histograms = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    return make_pipeline(make_column_transformer((encoder, ["job", "sex"]), remainder="passthrough"), histograms)


INCOMPLETE = {
    "histograms of numbers": (lambda: HistGradientBoostingClassifier(max_iter=20), lambda t: t[NUMBERS]),
    "tree of numbers": (lambda: DecisionTreeClassifier(max_depth=5, random_state=0), lambda t: t[NUMBERS]),
    "forest of an array": (lambda: RandomForestClassifier(8, random_state=0), lambda t: t[NUMBERS].to_numpy()),
    "lightgbm of numbers": (lightgbm, lambda t: t[NUMBERS]),
    "xgboost of numbers": (xgboost, lambda t: t[NUMBERS]),
    "catboost of numbers": (catboost, lambda t: t[NUMBERS]),
    "histograms of categories": (
        lambda: HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype"),
        categories,
    ),
    "lightgbm of categories": (lightgbm, categories),
    "xgboost of categories": (lambda: xgboost(enable_categorical=True), categories),
    "catboost of words": (
        lambda: catboost(cat_features=["job", "sex"]),
        lambda table: table.assign(job=table["job"].fillna("none")),
    ),
    "pipeline": (words, lambda table: table),
}


@pytest.mark.parametrize("output", [None, "probability", "label"])
@pytest.mark.parametrize("name", INCOMPLETE)
@pytest.mark.slow
def test_missing_values_are_values_like_any_other(name, output):
    make, prepared = INCOMPLETE[name]
    table, labels = mixed(0, 300)
    rows = prepared(table)
    model = make().fit(rows, labels)
    background, asked = rows[:9], rows[200:212]
    explainer = Shap(model, background, output=output)
    functions = {"probability": model.predict_proba, "label": model.predict, "margin": margin_of(model)}
    assert_exact(explainer, functions[explainer.output], background, asked)
    if name.endswith("of numbers") and output != "label":
        assert explainer.algorithm == "tree"


def test_an_unseen_category_reaches_the_model_as_it_is_beside_missing_ones():
    table, labels = mixed(0, 300)
    model = words().fit(table, labels)
    table["number"] = table["hours"]
    seen = set()

    def known(rows):
        seen.update(rows["job"])
        return model.decision_function(rows)

    rows = table[200:206].assign(job=["pilot", None, "clerk", "pilot", "vet", "cook"])
    explainer = Shap(known, table[:9])
    assert_exact(explainer, model.decision_function, table[:9], rows)
    assert {"pilot", "vet", "clerk"} <= seen
    alone = [explainer.explain(rows[j : j + 1]).values[0] for j in range(6)]
    np.testing.assert_allclose(alone, explainer.explain(rows).values, rtol=0, atol=1e-9)


def test_equal_rows_with_missing_values_are_explained_once():
    asked = []

    def counted(rows):
        asked.append(len(rows))
        return np.nan_to_num(rows).sum(axis=1)

    explainer = Shap(counted, np.array([[0.0, 1.0], [np.nan, 2.0]]))
    before = len(asked)
    values = explainer.explain(np.array([[np.nan, 5.0]] * 50)).values
    assert max(asked[before:]) <= 2
    assert (values == values[0]).all()
    assert values[0].tolist() == [0.0, 3.5]


# What is not exact is told.


WIDE = np.random.default_rng(0).normal(size=(60, 12))


def smooth(rows):
    return 1 / (1 + np.exp(-rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3] * rows[:, 4] + rows[:, 5:].sum(axis=1)))


@pytest.mark.parametrize(("algorithm", "evaluations"), [("permutation", None), ("permutation", 700), ("kernel", 500)])
@pytest.mark.slow
def test_the_error_told_is_the_error_made(algorithm, evaluations):
    background, rows = WIDE[:10], WIDE[10:40]
    exact = Shap(smooth, background, evaluations=2**12)
    wanted = exact.explain(rows).values
    ratios = []
    for seed in range(12):
        explainer = Shap(smooth, background, algorithm=algorithm, evaluations=evaluations, seed=seed)
        explanations, errors = explainer.explain_with_error(rows)
        assert errors.shape == explanations.values.shape
        assert explainer.error == explanations.error == errors.max() > 0
        ratios.append(np.square(explanations.values - wanted).mean() / np.square(errors).mean())
    assert exact.error == 0.0
    assert 0.7 < np.mean(ratios) < 1.5


@pytest.mark.slow
def test_sampled_values_say_so_wherever_they_are_measured(tmp_path):
    background, rows = WIDE[:10], WIDE[10:40]
    explainer = Shap(smooth, background)
    labels = smooth(rows) > 0.5
    explanations = explainer.explain(rows)
    note = f"importances are sampled, with standard errors up to {explanations.error:.2g}"
    assert explanations.notes == (note,)
    for discretizer in (None, fs.Sign(), fs.Rank(), fs.SignOfTop(2) | fs.Sign(), lambda given: given.values.round(1)):
        assert note in str(fs.consistency(explanations, labels, discretizer=discretizer))
        assert note in fs.evaluate(labels, explainer, rows, discretizer=discretizer).consistency.notes
    for _ in range(2):  # from the cache, too
        kept = fs.evaluate(labels, explainer, rows, cache=tmp_path, discretizer=fs.Sign())
        assert note in kept.to_dict()["consistency"]["notes"]
    assert note in fs.within(explanations, labels, 0.1).notes
    kept.to_html(tmp_path / "report.html")
    assert note in (tmp_path / "report.html").read_text("utf-8")
    assert from_arrow(to_arrow(explanations)).error == explanations.error
    assert explanations.take(slice(3)).join(explanations).error == explanations.error


def test_exact_values_carry_no_note():
    explanations = Shap(smooth, WIDE[:10], evaluations=2**12).explain(WIDE[10:20])
    assert fs.consistency(explanations, smooth(WIDE[10:20]) > 0.5).notes == ()


def test_too_few_draws_to_tell_the_error_are_told():
    explainer = Shap(smooth, WIDE[:10], evaluations=24)
    explanations = explainer.explain(WIDE[10:13])
    assert explainer.error == np.inf
    assert explanations.notes == ("importances are sampled, with standard errors that too few draws leave unknown",)
    assert from_arrow(to_arrow(explanations)).error == np.inf


def test_a_row_that_differs_in_few_features_is_exact_where_others_are_sampled():
    background = WIDE[:1]
    rows = np.vstack([np.r_[WIDE[1, :5], background[0, 5:]], WIDE[2]])
    _, errors = Shap(smooth, background).explain_with_error(rows)
    assert (errors[0] == 0).all()
    assert errors[1].max() > 0


def test_the_probability_of_a_booster_over_many_features_is_sampled_with_its_error_told():
    X, y = make_classification(300, 18, n_informative=12, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    explainer = Shap(model, X[:5], output="probability")
    explanations, errors = explainer.explain_with_error(X[100:104])
    exact = Shap(model, X[:5], output="probability", evaluations=2**18)
    missed = np.abs(explanations.values - exact.explain(X[100:104]).values)
    assert exact.error == 0.0
    assert 0 < explainer.error < 0.1
    assert (missed <= 4 * errors.max()).all()


def test_the_representation_names_no_row_of_the_background():
    marker = 987654.5
    background = WIDE[:5].copy()
    background[:, 3] = marker
    explainer = Shap(smooth, background)
    explainer.explain(WIDE[5:8])
    assert str(marker) not in repr(explainer)
    assert str(int(marker)) not in str(explainer)


def test_a_row_that_shap_would_send_the_wrong_way_is_explained_by_asking_the_model():
    X, y = sample(2)
    model = lightgbm().fit(X, y)  # trained without missing values, it takes them for 0; shap sends them one way
    rows = X[200:204].copy()
    rows[:2, 1] = np.nan
    explainer = Shap(model, X[:7], evaluations=2**D)
    assert explainer.algorithm == "tree"
    assert_exact(explainer, margin_of(model), X[:7], rows)
    _, errors = Shap(model, X[:7]).explain_with_error(rows)
    assert (errors[:2].max(axis=1) > 0).all()
    assert (errors[2:] == 0).all()
    with pytest.raises(BadInput, match="shap misreads this LGBMClassifier"):
        Shap(model, X[:7], algorithm="tree").explain(rows)


def test_a_booster_that_takes_zeros_for_missing_is_not_read_as_if_it_did_not():
    X, y = sample(2)
    X = np.where(X > 0.3, 0.0, X)
    model = xgboost(missing=0.0).fit(X, y)
    explainer = Shap(model, X[:7], evaluations=2**D)
    assert explainer.algorithm == "permutation"
    assert_exact(explainer, margin_of(model), X[:7], X[200:204])


@pytest.mark.parametrize("name", ["tree", "forest", "boosting", "histograms", "lightgbm", "xgboost", "catboost"])
@pytest.mark.slow
def test_trees_over_whole_numbers_and_truth_values_are_read(name):
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(17, 90, 400).astype(np.int8),
        "gain": np.where(rng.random(400) < 0.8, 0, rng.integers(1, 99_999, 400)),
        "married": rng.random(400) < 0.5,
        "hours": rng.integers(0, 99, 400).astype(np.float32),
    }
    rows = pd.DataFrame(columns)
    labels = (rows["age"] + 40 * rows["married"] + rows["gain"] / 500 - rows["hours"] > 20).astype(int)
    model = CLASSIFIERS[name]().fit(rows, labels)
    for output in ("margin", "probability"):
        explainer = Shap(model, rows[:15], output=output)
        assert explainer.algorithm == "tree"
        function = margin_of(model) if output == "margin" else model.predict_proba
        assert_exact(explainer, function or model.predict_proba, rows[:15], rows[100:140])
