"""Explainers of regressors: which models predict numbers, what surrogates of them are, which agreement they need."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import IsolationForest, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators

import faithscope as fs
from explainers.systems import diabetes, regression_tree, trees, written
from faithscope.agreements import Close, Same, Spread, Tolerance
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import (
    Anchors,
    Counterfactual,
    Dice,
    Lime,
    NearestNeighbors,
    Shap,
    TextAnchors,
    TopCoefficient,
    TreePath,
)
from faithscope.explainers.shared.models import is_classifier, is_regressor
from faithscope.runtime.fingerprint import fingerprint

TABLE, TARGET = load_diabetes(return_X_y=True, as_frame=True)
ARRAY = TABLE.to_numpy()
EPS = Tolerance(30.0)


def predict(rows):
    """The regressor as a function of arrays and of tables."""
    return diabetes()[2].predict(np.asarray(rows))


MAKERS = {
    "tree path": lambda X: TreePath(DecisionTreeRegressor(max_leaf_nodes=12, random_state=0).fit(X, TARGET)),
    "surrogate": lambda X: TreePath.surrogate(predict, X, max_leaf_nodes=9),
    "neighbors": lambda X: NearestNeighbors(X, k=3),
    "lime": lambda X: Lime(predict, X, samples=300),
    "shap": lambda X: Shap(predict, X[:5]),
    "anchors": lambda X: Anchors(predict, X, agreement=EPS, threshold=0.7, beam=1, max_conditions=4),
    "counterfactual": lambda X: Counterfactual(predict, X, agreement=EPS),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_table_is_explained_as_the_array_of_its_values(name):
    plain, named = (MAKERS[name](rows).explain(rows[:120:10]) for rows in (ARRAY, TABLE))
    if isinstance(plain, fs.Importances):
        np.testing.assert_allclose(plain.values, named.values, rtol=0, atol=1e-7)
    elif isinstance(plain, fs.Counterfactuals):
        np.testing.assert_allclose(plain.points.astype(float), named.points.astype(float), rtol=0, atol=1e-7)
    else:
        names = {f"x{j}": column for j, column in enumerate(TABLE)}
        renamed = [" ".join(names.get(word, word) for word in text.split()) for text in written(plain)]
        assert renamed == written(named)


def test_the_paths_of_a_regression_tree_are_its_leaves():
    codes = TreePath(regression_tree()).explain(ARRAY).group()[0]
    assert len(np.unique(codes)) == 12
    assert all(np.ptp(regression_tree().predict(ARRAY)[codes == code]) == 0 for code in range(12))


@pytest.mark.parametrize("model", [lambda: diabetes()[2], lambda: diabetes()[2].predict, lambda: predict])
def test_the_surrogate_of_a_regressor_is_scikit_learns_regression_tree(model):
    surrogate = TreePath.surrogate(model(), ARRAY, max_leaf_nodes=6)
    assert isinstance(surrogate.tree, DecisionTreeRegressor)
    reference = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(ARRAY, predict(ARRAY))
    codes, leaves = surrogate.explain(ARRAY).group()[0], reference.apply(ARRAY)
    assert len(set(zip(codes, leaves, strict=True))) == len(set(leaves)) == 6


@pytest.mark.parametrize(
    "changed",
    [
        lambda y: y + 1e12,
        lambda y: y * 1e150,
        lambda y: y * 1e-150,
        lambda y: -y,
        lambda y: y[:, None],
        list,
        lambda y: y.astype(object),
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    ],
    ids=["far from zero", "large", "small", "negative", "a column", "a list", "objects", "a series"],
)
def test_a_surrogate_depends_on_no_unit_and_no_container(changed):
    plain, other = (
        TreePath.surrogate(lambda X, make=make: make(predict(X)), ARRAY, max_leaf_nodes=6)
        for make in (np.asarray, changed)
    )
    assert isinstance(other.tree, DecisionTreeRegressor)
    assert written(plain.explain(ARRAY)) == written(other.explain(ARRAY))


def test_whether_predictions_are_numbers_follows_a_rule_that_agreement_overrides():
    stars = np.round(TARGET.to_numpy() / 50) / 2
    stages = RandomForestClassifier(5, random_state=0).fit(ARRAY, TARGET > 150)
    constant = DummyRegressor(strategy="constant", constant=3).fit(ARRAY, TARGET)
    numbers = [
        (lambda X: stars[: len(X)], {}),
        (lambda X: np.floor(stars), {"agreement": Spread()}),
        (lambda X: np.arange(442.0), {}),  # whole numbers that all differ
        (constant, {}),
        (lambda X: stages.predict_proba(X)[:, 1], {}),
    ]
    labels = [
        (lambda X: stars, {"agreement": Same()}),
        (lambda X: np.floor(stars), {}),
        (lambda X: np.arange(442) % 60, {}),
        (stages, {}),
        (stages.predict, {}),
    ]
    for kind, cases in ((DecisionTreeRegressor, numbers), (DecisionTreeClassifier, labels)):
        assert {type(TreePath.surrogate(model, ARRAY, **how).tree) for model, how in cases} == {kind}
    assert type(TreePath.surrogate(numbers[0][0], ARRAY[:5]).tree) is DecisionTreeRegressor, "however few rows"


def test_a_surrogate_of_several_numbers_fits_them_together():
    both = lambda X: np.column_stack([X[:, 0] > 0, X[:, 3] > 0]).astype(float)  # noqa: E731
    surrogate = TreePath.surrogate(both, ARRAY, max_leaf_nodes=4, agreement=Spread())
    assert len(np.unique(surrogate.explain(ARRAY).group()[0])) == 4


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, None, 1j])
def test_predictions_that_are_no_finite_numbers_are_refused_in_a_sentence(wrong):
    def model(X):
        answer = X[:, 0].astype(complex if wrong == 1j else object if wrong is None else float)
        answer[len(answer) // 2] = wrong
        return answer

    for call in (
        lambda: TreePath.surrogate(model, ARRAY),
        lambda: TreePath.surrogate(model, ARRAY, agreement=Spread()),
        lambda: Anchors(model, ARRAY, agreement=EPS).explain(ARRAY),
        lambda: Counterfactual(model, ARRAY, agreement=EPS).explain(ARRAY),
        lambda: Lime(model, ARRAY, samples=50, mode="regression").explain(ARRAY[:2]),
        lambda: Shap(model, ARRAY[:5]),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            with pytest.raises((BadInput, WrongType)) as caught:
                call()
        assert "\n" not in str(caught.value)


CHOOSING = {
    Anchors: lambda model, agreement: Anchors(model, ARRAY, agreement=agreement),
    Counterfactual: lambda model, agreement: Counterfactual(model, ARRAY, agreement=agreement),
    TextAnchors: lambda model, agreement: TextAnchors(model, agreement=agreement),
}


@pytest.mark.parametrize("kind", CHOOSING)
def test_what_must_be_kept_or_not_takes_tolerance_alone_which_regressors_need(kind):
    make, model = CHOOSING[kind], diabetes()[2]
    for agreement in (Close(1.0), Spread(), lambda a, b: a == b):
        with pytest.raises(BadInput, match=rf"^{kind.__name__} asks whether .* pass agreement=fs.Tolerance\(eps\)\.$"):
            make(model, agreement)
    for asked in (model, model.predict):
        with pytest.raises(BadInput, match=r"^GradientBoostingRegressor .* pass agreement=fs.Tolerance\(eps\)"):
            make(asked, None)
    rows = ["some words", "others"] if kind is TextAnchors else ARRAY[:2]
    with pytest.raises(BadInput, match=r"^Predictions look continuous.* pass agreement=fs.Tolerance\(eps\)"):
        make(lambda asked: np.linspace(0.1, 0.7, len(asked)), None).explain(rows)
    with pytest.raises(WrongType, match="cannot be applied"):
        make(model, 0.5)


@pytest.mark.parametrize("kind", CHOOSING)
def test_the_agreement_is_in_the_repr_the_settings_and_the_fingerprint(kind):
    narrow, same, wide, without = (
        CHOOSING[kind](np.sum, agreement)
        for agreement in (Tolerance(1), Tolerance(np.float64(1)), Tolerance(2.5), None)
    )
    assert repr(wide).endswith("agreement=Tolerance(eps=2.5))")
    assert repr(without).endswith("agreement=None)")
    assert wide.get_params()["agreement"] == Tolerance(2.5)
    assert narrow == same
    assert hash(narrow) == hash(same)
    assert narrow != wide != without
    assert len({fingerprint(explainer) for explainer in (narrow, wide, without)}) == 3


@pytest.mark.filterwarnings("ignore::FutureWarning")  # scikit-learn's, about estimators that it will remove
def test_regressors_and_classifiers_are_known_inside_others_too():
    for kind, known, other in (("regressor", is_regressor, is_classifier), ("classifier", is_classifier, is_regressor)):
        for name, estimator in all_estimators(type_filter=kind):
            try:
                model = estimator()
            except TypeError:  # it needs another estimator
                continue
            if name == "SelfTrainingClassifier":  # so does this, once it is asked
                continue
            assert known(model), name
            assert not other(model), name
    for model in (make_pipeline(StandardScaler(), Ridge()), GridSearchCV(Ridge(), {"alpha": [1]})):
        assert is_regressor(model)
    for model in (IsolationForest(), np.sum, make_pipeline(StandardScaler(), LogisticRegression())):
        assert not is_regressor(model)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_the_regressors_of_other_libraries_are_known(library):
    model = trees(library, "Regressor")
    assert is_regressor(model)
    assert is_regressor(model.predict)
    assert not is_classifier(model)


def test_dice_names_what_explains_regressors():
    with pytest.raises(WrongType, match=r"RandomForestRegressor predicts numbers: use Counterfactual\(.*Tolerance"):
        Dice(RandomForestRegressor(), TABLE)


def test_the_top_coefficient_of_a_regressor_is_the_largest():
    texts = ["great film", "dull film", "great dull", "film"]
    vectorizer = CountVectorizer().fit(texts)
    model = Ridge(alpha=0.01).fit(vectorizer.transform(texts), [3.0, -4.0, -1.0, 0.0])
    words = TopCoefficient(model, vectorizer).explain([*texts, "unknown"])
    assert written(words)[:4] == ["great", "dull", "dull", "film"]
    with pytest.raises(BadInput, match="Ridge has no classes"):
        TopCoefficient(model, vectorizer, by="favor")
