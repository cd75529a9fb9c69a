"""Explainers of regressors: from arrays and tables, the same in any batch; and which models predict numbers."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, IsolationForest, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators

import faithscope as fs
from faithscope import explainers
from faithscope.agreements import Close, Same, Spread, Tolerance
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.models import is_classifier, is_regressor
from faithscope.runtime.fingerprint import fingerprint

TABLE, TARGET = load_diabetes(return_X_y=True, as_frame=True)
ARRAY = TABLE.to_numpy()
LINEAR = make_pipeline(StandardScaler(), LinearRegression()).fit(ARRAY, TARGET)
FOREST = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(ARRAY, TARGET)
TREE = DecisionTreeRegressor(max_leaf_nodes=12, random_state=0).fit(ARRAY, TARGET)
TREES = {np.ndarray: TREE, pd.DataFrame: DecisionTreeRegressor(max_leaf_nodes=12, random_state=0).fit(TABLE, TARGET)}
EPS = Tolerance(30.0)
ROWS = slice(0, 120, 10)


def of_arrays(model):
    """The model as a function of arrays and of tables."""
    return lambda rows: model.predict(np.asarray(rows))


MAKERS = {
    "TreePath": lambda model, X: explainers.TreePath(TREES[type(X)]),
    "surrogate": lambda model, X: explainers.TreePath.surrogate(model, X, max_leaf_nodes=9),
    "NearestNeighbors": lambda model, X: explainers.NearestNeighbors(X, k=3),
    "Lime": lambda model, X: explainers.Lime(model, X, samples=300),
    "Shap": lambda model, X: explainers.Shap(model, X[:5]),
    "Anchors": lambda model, X: explainers.Anchors(model, X, agreement=EPS, threshold=0.7, beam=1, max_conditions=4),
    "Counterfactual": lambda model, X: explainers.Counterfactual(model, X, agreement=EPS),
}
SPREAD = float(TARGET.std())


def as_numbers(explanations):
    """What explanations say, as numbers if they are points or vectors, else in words."""
    if isinstance(explanations, fs.Importances):
        return explanations.values
    if isinstance(explanations, fs.Counterfactuals):
        return explanations.points.astype(float)
    return [explanations.describe(row) for row in range(len(explanations))]


def assert_alike(first, second):
    if isinstance(first, list):
        assert first == second
    else:
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-9 * SPREAD)


@pytest.mark.parametrize("model", [LINEAR, FOREST, of_arrays(LINEAR)], ids=["linear", "boosting", "function"])
@pytest.mark.parametrize("name", MAKERS)
def test_a_row_is_explained_alike_in_any_batch(name, model):
    explainer, rows = MAKERS[name](model, ARRAY), ARRAY[ROWS]
    together = as_numbers(explainer.explain(rows))
    backwards = as_numbers(explainer.explain(rows[::-1]))[::-1]
    assert_alike(together, backwards)
    repeated = as_numbers(explainer.explain(np.repeat(rows[:3], 2, axis=0)))
    assert_alike(together[:3], repeated[::2])
    for row in (0, 5, 11):
        assert_alike(together[row : row + 1], as_numbers(explainer.explain(rows[row : row + 1])))


@pytest.mark.parametrize("name", MAKERS)
def test_a_table_is_explained_as_the_array_of_its_values(name):
    model = of_arrays(FOREST)
    of_array = MAKERS[name](model, ARRAY).explain(ARRAY[ROWS])
    of_table = MAKERS[name](model, TABLE).explain(TABLE[ROWS])
    if isinstance(as_numbers(of_array), list):
        named = [
            " ".join({f"x{j}": column for j, column in enumerate(TABLE)}.get(word, word) for word in text.split())
            for text in as_numbers(of_array)
        ]
        assert as_numbers(of_table) == named
    else:
        assert_alike(as_numbers(of_array), as_numbers(of_table))


@pytest.mark.parametrize("name", MAKERS)
def test_explainers_of_regressors_pickle(name):
    explainer = MAKERS[name](FOREST, ARRAY)
    again = pickle.loads(pickle.dumps(explainer))
    assert_alike(as_numbers(explainer.explain(ARRAY[:4])), as_numbers(again.explain(ARRAY[:4])))


def test_the_paths_of_a_regression_tree_are_its_leaves():
    rules = explainers.TreePath(TREE).explain(ARRAY)
    codes, _ = rules.group()
    assert len(np.unique(codes)) == 12
    assert all(np.ptp(TREE.predict(ARRAY)[codes == code]) == 0 for code in range(12))


@pytest.mark.parametrize("model", [FOREST, FOREST.predict, of_arrays(FOREST)], ids=["regressor", "method", "function"])
def test_the_surrogate_of_a_regressor_is_scikit_learns_regression_tree(model):
    surrogate = explainers.TreePath.surrogate(model, ARRAY, max_leaf_nodes=6)
    assert isinstance(surrogate.tree, DecisionTreeRegressor)
    reference = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(ARRAY, FOREST.predict(ARRAY))
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
        lambda y: list(y),
        lambda y: y.astype(object),
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    ],
    ids=["far from zero", "large", "small", "negative", "a column", "a list", "objects", "a series"],
)
def test_a_surrogate_depends_on_no_unit_and_no_container(changed):
    plain = explainers.TreePath.surrogate(FOREST, ARRAY, max_leaf_nodes=6)
    other = explainers.TreePath.surrogate(lambda X: changed(FOREST.predict(X)), ARRAY, max_leaf_nodes=6)
    assert isinstance(other.tree, DecisionTreeRegressor)
    assert as_numbers(plain.explain(ARRAY)) == as_numbers(other.explain(ARRAY))


def test_whether_predictions_are_numbers_follows_a_rule_that_agreement_overrides():
    def kind(predict, rows=ARRAY, **how):
        return type(explainers.TreePath.surrogate(predict, rows, **how).tree)

    half_stars = np.round(TARGET.to_numpy() / 50) / 2
    assert kind(lambda X: half_stars) is DecisionTreeRegressor
    assert kind(lambda X: half_stars, agreement=Same()) is DecisionTreeClassifier
    assert kind(lambda X: half_stars[:5], ARRAY[:5]) is DecisionTreeRegressor, "however few rows there are"
    assert kind(lambda X: np.floor(half_stars)) is DecisionTreeClassifier
    assert kind(lambda X: np.floor(half_stars), agreement=Spread()) is DecisionTreeRegressor
    assert kind(lambda X: np.arange(442.0)) is DecisionTreeRegressor, "whole numbers that all differ"
    assert kind(lambda X: np.arange(442) % 60) is DecisionTreeClassifier
    assert kind(DummyRegressor(strategy="constant", constant=3).fit(ARRAY, TARGET)) is DecisionTreeRegressor
    stages = RandomForestClassifier(5, random_state=0).fit(ARRAY, TARGET > 150)
    assert kind(stages) is kind(stages.predict) is DecisionTreeClassifier
    assert kind(lambda X: stages.predict_proba(X)[:, 1]) is DecisionTreeRegressor


def test_a_surrogate_of_several_numbers_fits_them_together():
    def both(X):
        return np.column_stack([X[:, 0] > 0, X[:, 3] > 0]).astype(float)

    surrogate = explainers.TreePath.surrogate(both, ARRAY, max_leaf_nodes=4, agreement=Spread())
    assert len(np.unique(surrogate.explain(ARRAY).group()[0])) == 4


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, None, 1j])
def test_predictions_that_are_no_finite_numbers_are_refused_in_a_sentence(wrong):
    def predict(X):
        answer = X[:, 0].astype(complex if wrong == 1j else object if wrong is None else float)
        answer[len(answer) // 2] = wrong
        return answer

    makers = [
        lambda: explainers.TreePath.surrogate(predict, ARRAY),
        lambda: explainers.TreePath.surrogate(predict, ARRAY, agreement=Spread()),
        lambda: explainers.Anchors(predict, ARRAY, agreement=EPS).explain(ARRAY),
        lambda: explainers.Counterfactual(predict, ARRAY, agreement=EPS).explain(ARRAY),
        lambda: explainers.Lime(predict, ARRAY, samples=50, mode="regression").explain(ARRAY[:2]),
        lambda: explainers.Shap(predict, ARRAY[:5]),
    ]
    for make in makers:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            with pytest.raises((BadInput, WrongType)) as caught:
                make()
        assert "\n" not in str(caught.value)


CHOOSING = {
    "Anchors": lambda model, agreement: explainers.Anchors(model, ARRAY, agreement=agreement),
    "Counterfactual": lambda model, agreement: explainers.Counterfactual(model, ARRAY, agreement=agreement),
    "TextAnchors": lambda model, agreement: explainers.TextAnchors(model, agreement=agreement),
}


@pytest.mark.parametrize("name", CHOOSING)
@pytest.mark.parametrize("agreement", [Close(1.0), Spread(), lambda a, b: a == b], ids=["close", "spread", "own"])
def test_what_must_be_kept_or_not_takes_tolerance_alone(name, agreement):
    with pytest.raises(BadInput, match=rf"^{name} asks whether .* pass agreement=fs.Tolerance\(eps\)\.$"):
        CHOOSING[name](FOREST, agreement)


@pytest.mark.parametrize("name", CHOOSING)
def test_a_regressor_without_an_agreement_is_refused_at_once_and_a_function_once_it_answers(name):
    for model in (FOREST, FOREST.predict):
        with pytest.raises(BadInput, match=r"^GradientBoostingRegressor .* pass agreement=fs.Tolerance\(eps\)"):
            CHOOSING[name](model, None)
    rows = ["some words", "others"] if name == "TextAnchors" else ARRAY[:2]
    with pytest.raises(BadInput, match=r"^Predictions look continuous.* pass agreement=fs.Tolerance\(eps\)"):
        CHOOSING[name](lambda asked: np.linspace(0.1, 0.7, len(asked)), None).explain(rows)
    with pytest.raises(WrongType, match="cannot be applied"):
        CHOOSING[name](FOREST, 0.5)


@pytest.mark.parametrize("name", CHOOSING)
def test_the_agreement_is_in_the_repr_the_settings_and_the_fingerprint(name):
    narrow, same, wide, without = (
        CHOOSING[name](np.sum, agreement)
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
def test_the_regressors_and_classifiers_of_scikit_learn_are_known():
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
    assert not is_regressor(IsolationForest())
    assert not is_regressor(np.sum)


@pytest.mark.parametrize("library", ["xgboost.XGBRegressor", "lightgbm.LGBMRegressor", "catboost.CatBoostRegressor"])
def test_the_regressors_of_other_libraries_are_known(library):
    module, name = library.split(".")
    model = getattr(pytest.importorskip(module), name)()
    assert is_regressor(model)
    assert is_regressor(model.predict)
    assert not is_classifier(model)


def test_a_regressor_is_known_inside_others():
    assert is_regressor(make_pipeline(StandardScaler(), Ridge()))
    assert is_regressor(GridSearchCV(Ridge(), {"alpha": [1]}))
    assert not is_regressor(make_pipeline(StandardScaler(), LogisticRegression()))


def test_dice_names_what_explains_regressors():
    with pytest.raises(WrongType, match=r"RandomForestRegressor predicts numbers: use Counterfactual\(.*Tolerance"):
        explainers.Dice(RandomForestRegressor(), TABLE)


def test_the_top_coefficient_of_a_regressor_is_the_largest():
    texts = ["great film", "dull film", "great dull", "film"]
    vectorizer = CountVectorizer().fit(texts)
    model = Ridge(alpha=0.01).fit(vectorizer.transform(texts), [3.0, -4.0, -1.0, 0.0])
    words = explainers.TopCoefficient(model, vectorizer).explain([*texts, "unknown"])
    assert as_numbers(words)[:4] == ["great", "dull", "dull", "film"]
    with pytest.raises(BadInput, match="Ridge has no classes"):
        explainers.TopCoefficient(model, vectorizer, by="favor")


@pytest.mark.parametrize("shape", ["(n, 1)", "(n,)"])
def test_the_gradient_of_a_module_with_one_output_is_that_of_its_number(shape):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    linear = torch.nn.Linear(10, 1)
    module = linear if shape == "(n, 1)" else torch.nn.Sequential(linear, torch.nn.Flatten(0))
    values = explainers.Gradient(module, offset=True).explain(TABLE[:3]).values
    weights = linear.weight.detach().numpy().ravel().tolist()
    np.testing.assert_allclose(values, [[*weights, float(linear.bias.detach())]] * 3, rtol=1e-6)
