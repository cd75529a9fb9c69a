"""SHAP: values that sum to the model's output, the same for a row in any batch."""

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import faithscope as fs
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers.shap.explainer import Shap
from faithscope.explainers.shared.classes import PREDICTED

X, Y = make_classification(900, 12, n_informative=8, random_state=0)
X3, Y3 = make_classification(600, 9, n_informative=7, n_classes=3, random_state=0)
BACKGROUND, ROWS = X[:40], X[600:630]
FOREST = RandomForestClassifier(15, max_depth=5, random_state=0).fit(X, Y)
BOOSTED = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X, Y)
HISTOGRAMS = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(X, Y)
LINEAR = LogisticRegression().fit(X, Y)
FOREST3 = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X3, Y3)


def chance(rows):
    """A smooth function with interactions; columns 3 and on are not used."""
    return 1 / (1 + np.exp(-rows[:, 0] * rows[:, 1] - rows[:, 2]))


SYSTEMS = {
    "tree margin": (lambda: Shap(BOOSTED, BACKGROUND, output="margin"), BOOSTED.decision_function),
    "tree probability": (
        lambda: Shap(BOOSTED, BACKGROUND, output="probability"),
        lambda rows: BOOSTED.predict_proba(rows)[:, 1],
    ),
    "forest": (lambda: Shap(FOREST, BACKGROUND), lambda rows: FOREST.predict_proba(rows)[:, 1]),
    "histograms margin": (lambda: Shap(HISTOGRAMS, BACKGROUND, output="margin"), HISTOGRAMS.decision_function),
    "histograms": (
        lambda: Shap(HISTOGRAMS, BACKGROUND, output="probability"),
        lambda rows: HISTOGRAMS.predict_proba(rows)[:, 1],
    ),
    "permutation": (
        lambda: Shap(LINEAR, BACKGROUND, output="probability"),
        lambda rows: LINEAR.predict_proba(rows)[:, 1],
    ),
    "kernel": (lambda: Shap(LINEAR, BACKGROUND, output="margin", algorithm="kernel"), LINEAR.decision_function),
    "function": (lambda: Shap(chance, BACKGROUND, algorithm="kernel", evaluations=100), chance),
    "label": (lambda: Shap(FOREST, BACKGROUND, output="label"), FOREST.predict),
}


@pytest.fixture(params=SYSTEMS)
def system(request):
    make, output = SYSTEMS[request.param]
    return make(), output


@pytest.mark.slow
def test_values_sum_to_the_output_less_its_mean_over_the_background(system):
    explainer, output = system
    gains = output(ROWS) - output(BACKGROUND).mean()
    np.testing.assert_allclose(explainer.explain(ROWS).values.sum(axis=1), gains, atol=1e-6)


@pytest.mark.slow
def test_a_row_is_explained_alike_in_any_batch(system):
    explainer, _ = system
    together = explainer.explain(ROWS).values
    order = np.random.default_rng(1).permutation(len(ROWS))
    np.testing.assert_allclose(explainer.explain(ROWS[order]).values, together[order], rtol=0, atol=1e-9)
    alone = np.vstack([explainer.explain(row[None]).values for row in ROWS[:4]])
    np.testing.assert_allclose(alone, together[:4], rtol=0, atol=1e-9)


def test_equal_rows_get_equal_values_to_the_last_bit(system):
    explainer, _ = system
    values = explainer.explain(np.vstack([ROWS[:7], ROWS[:7]])).values
    assert (values[:7] == values[7:]).all()


def test_the_same_seed_gives_the_same_values():
    draw = [Shap(chance, BACKGROUND, algorithm="permutation", seed=seed).explain(ROWS).values for seed in (3, 3, 4)]
    assert (draw[0] == draw[1]).all()
    assert np.abs(draw[0] - draw[2]).max() > 1e-6


def test_random_numbers_of_others_are_left_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    Shap(chance, BACKGROUND).explain(ROWS[:2])
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_equal_explanations_never_mix_predictions():
    grid = np.random.default_rng(0).integers(0, 3, size=(1_500, 4)).astype(float)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(grid, (grid[:, 0] * grid[:, 1] > 1))
    estimate = fs.consistency(Shap(model, grid[:50], output="margin").explain(grid), model.predict(grid))
    assert estimate.verified == 1.0
    assert estimate.unverifiable < 0.05


def test_equal_explanations_mean_equal_outputs_even_where_rows_differ():
    values = Shap(chance, BACKGROUND).explain(np.vstack([ROWS, ROWS + np.r_[np.zeros(3), np.ones(9)]])).values
    np.testing.assert_array_equal(values[:30], values[30:])


def test_a_feature_that_is_not_used_gets_exactly_nothing():
    for algorithm in ("permutation", "kernel"):
        explainer = Shap(chance, BACKGROUND[:, :9], algorithm=algorithm)
        assert (explainer.explain(ROWS[:5, :9]).values[:, 3:] == 0).all()


def test_few_features_are_explained_exactly_by_either_algorithm():
    def formula(rows):
        return rows[:, 0] * rows[:, 1] + rows[:, 2]

    zero = np.zeros((1, 3))
    for algorithm in ("permutation", "kernel"):
        explanations = Shap(formula, zero, output="margin", algorithm=algorithm).explain([[2.0, 3.0, 5.0]])
        assert explanations.values.tolist() == [[3.0, 3.0, 5.0]]


@pytest.mark.slow
def test_sampled_values_miss_the_exact_ones_no_more_than_those_of_shap():
    shap = pytest.importorskip("shap")
    rows, asked = ROWS[:10], 500

    def kernel(seed):
        np.random.seed(seed)  # noqa: NPY002
        return shap.KernelExplainer(chosen, BACKGROUND).shap_values(rows, nsamples=asked, l1_reg=False, silent=True)

    def permutation(seed):
        return shap.PermutationExplainer(chosen, BACKGROUND, seed=seed)(rows, max_evals=asked, silent=True).values

    exact = Shap(chosen, BACKGROUND, evaluations=2**12).explain(rows).values
    for algorithm, reference in (("kernel", kernel), ("permutation", permutation)):
        ours = [Shap(chosen, BACKGROUND, algorithm=algorithm, evaluations=asked, seed=seed) for seed in range(6)]
        missed = np.mean([np.square(explainer.explain(rows).values - exact).mean() for explainer in ours])
        assert 0 < missed < 1.3 * np.mean([np.square(reference(seed) - exact).mean() for seed in range(6)])


def chosen(rows):
    return FOREST.predict_proba(rows)[:, 1]


def test_values_are_those_of_the_shap_package():
    shap = pytest.importorskip("shap")
    trees = shap.TreeExplainer(BOOSTED, BACKGROUND, feature_perturbation="interventional").shap_values(ROWS)
    np.testing.assert_allclose(Shap(BOOSTED, BACKGROUND, output="margin").explain(ROWS).values, trees, atol=1e-6)
    narrow = LogisticRegression().fit(X[:, :6], Y)
    kernel = shap.KernelExplainer(lambda rows: narrow.predict_proba(rows)[:, 1], BACKGROUND[:, :6])
    exact = kernel.shap_values(ROWS[:5, :6], l1_reg=False, silent=True)
    values = Shap(narrow, BACKGROUND[:, :6], output="probability").explain(ROWS[:5, :6]).values
    np.testing.assert_allclose(values, exact, atol=1e-6)


def test_the_whole_background_counts():
    explainer = Shap(BOOSTED, X[:300], output="margin")
    assert explainer.algorithm == "tree"
    gains = BOOSTED.decision_function(ROWS) - BOOSTED.decision_function(X[:300]).mean()
    np.testing.assert_allclose(explainer.explain(ROWS).values.sum(axis=1), gains, atol=1e-6)


def test_rows_at_a_threshold_go_the_way_the_model_sends_them():
    at = [tree[0].nodes["num_threshold"][~tree[0].nodes["is_leaf"].astype(bool)] for tree in HISTOGRAMS._predictors]
    ask = [tree[0].nodes["feature_idx"][~tree[0].nodes["is_leaf"].astype(bool)] for tree in HISTOGRAMS._predictors]
    rows = np.repeat(ROWS[:1], 300, axis=0)
    for row, threshold, feature in zip(rows, np.concatenate(at), np.concatenate(ask), strict=False):
        row[feature] = threshold
    values = Shap(HISTOGRAMS, BACKGROUND, output="margin").explain(rows).values
    gains = HISTOGRAMS.decision_function(rows) - HISTOGRAMS.decision_function(BACKGROUND).mean()
    np.testing.assert_allclose(values.sum(axis=1), gains, atol=1e-6)


def test_a_background_of_one_row_works(system):
    explainer, output = system
    again = Shap(explainer.model, ROWS[:1], output=explainer.output, algorithm=explainer.algorithm)
    values = again.explain(ROWS[:3]).values
    assert (values[0] == 0).all()
    np.testing.assert_allclose(values.sum(axis=1), output(ROWS[:3]) - output(ROWS[:1]), atol=1e-6)


def test_no_rows_give_no_explanations(system):
    assert system[0].explain(ROWS[:0]).values.shape == (0, 12)


def test_explainers_pickle(system):
    explainer = system[0]
    if explainer.model is not chance:
        again = pickle.loads(pickle.dumps(explainer))
        assert (again.explain(ROWS[:3]).values == explainer.explain(ROWS[:3]).values).all()
        assert repr(again) == repr(explainer)


@pytest.mark.slow
def test_progress_ends_with_all_rows(system):
    told = []
    system[0].explain(np.vstack([ROWS, ROWS[:5]]), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (35, 35)
    assert told == sorted(told)


def test_all_of_three_classes_are_explained_unless_one_is_chosen():
    names = ["age", "job", *"abcdefg"]
    background, rows = pd.DataFrame(X3[:20], columns=names), pd.DataFrame(X3[400:410], columns=names)
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(pd.DataFrame(X3, columns=names), Y3)
    every = Shap(model, background).explain(rows)
    assert every.values.shape == (10, 27)
    assert every.names[:2] == ("age | class 0", "job | class 0")
    assert every.names[-9] == "age | class 2"
    for number in range(3):
        alone = Shap(model, background, class_index=number).explain(rows)
        assert alone.names == tuple(names)
        np.testing.assert_array_equal(alone.values, every.values[:, 9 * number : 9 * number + 9])
        gains = model.predict_proba(rows)[:, number] - model.predict_proba(background)[:, number].mean()
        np.testing.assert_allclose(alone.values.sum(axis=1), gains, atol=1e-6)
    assert Shap(model, background).explain(rows[:0]).values.shape == (0, 27)


@pytest.mark.parametrize("model", [BOOSTED, LINEAR], ids=["tree", "permutation"])
def test_a_single_margin_is_that_of_class_1(model):
    chosen = [Shap(model, BACKGROUND, output="margin", class_index=number).explain(ROWS[:5]) for number in (None, 1, 0)]
    np.testing.assert_array_equal(chosen[0].values, chosen[1].values)
    np.testing.assert_array_equal(chosen[0].values, -chosen[2].values)


@pytest.mark.parametrize(("model", "wrong"), [(BOOSTED, 2), (LINEAR, -1), (FOREST, "first"), (chance, True)])
def test_a_class_that_does_not_exist_is_refused(model, wrong):
    with pytest.raises(BadInput, match="class_index must be a class from 0 to 1"):
        Shap(model, BACKGROUND, class_index=wrong)


def test_the_predicted_class_is_explained_with_a_warning():
    explainer = Shap(FOREST3, X3[:20], class_index="predicted")
    with pytest.warns(UserWarning, match="equal vectors may speak of different classes"):
        values = explainer.explain(X3[300:320]).values
    every = Shap(FOREST3, X3[:20]).explain(X3[300:320]).values.reshape(20, 3, 9)
    np.testing.assert_array_equal(values, every[np.arange(20), FOREST3.predict(X3[300:320])])


def test_a_fixed_class_is_more_consistent_than_the_predicted_one():
    data = load_breast_cancer()
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(data.data[:, :10], data.target)
    rows, measured = data.data[:, :10], []
    for class_index in (1, "predicted"):
        explainer = Shap(model, rows[::25], class_index=class_index)
        explanations = explainer.explain(rows) if class_index == 1 else _quietly(explainer, rows)
        measured.append(fs.consistency(explanations, model.predict(rows), discretizer=fs.SignOfTop(5)))
    assert measured[0].value > measured[1].value + 0.1
    assert measured[0].verified > 0.9


def _quietly(explainer, rows):
    with pytest.warns(UserWarning, match=PREDICTED[:30]):
        return explainer.explain(rows)


def test_labels_are_explained_as_their_place_among_the_classes():
    data = load_iris()
    names = np.array(["virginica", "setosa", "versicolor"])[data.target]  # sorted: setosa, versicolor, virginica
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(data.data, names)
    background, rows = data.data[::10], data.data[::7]
    for asked in (model, model.predict):
        values = Shap(asked, background, output="label").explain(rows).values
        place = np.searchsorted(model.classes_, model.predict(rows))
        mean = np.searchsorted(model.classes_, model.predict(background)).mean()
        np.testing.assert_allclose(values.sum(axis=1), place - mean, atol=1e-9)


def test_labels_of_a_function_must_be_numbers():
    values = Shap(lambda rows: 5 * (rows[:, 0] > 0), BACKGROUND, output="label").explain(ROWS).values
    assert (values[:, 1:] == 0).all()
    with pytest.raises(BadInput, match="predicts 'yes', which is no number"):
        Shap(lambda rows: ["yes"] * len(rows), BACKGROUND, output="label")


def test_a_model_that_gives_probabilities_for_labels_is_told_so():
    with pytest.raises(BadInput, match="Predictions look continuous"):
        Shap(chance, BACKGROUND, output="label")
    with pytest.raises(BadInput, match="If these are class probabilities"):
        Shap(LINEAR.predict_proba, BACKGROUND, output="label")


def test_the_label_has_no_class_and_no_trees():
    with pytest.raises(BadInput, match="class_index must be None; got 1"):
        Shap(FOREST, BACKGROUND, output="label", class_index=1)
    with pytest.raises(BadInput, match='Trees do not give output="label"'):
        Shap(FOREST, BACKGROUND, output="label", algorithm="tree")


def test_trees_are_used_where_shap_reads_them_right():
    three = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X3, Y3)
    assert Shap(FOREST3, X3[:5]).algorithm == "tree"
    assert Shap(three, X3[:5]).algorithm == "permutation"
    with pytest.raises(BadInput, match="shap reads no trees from this GradientBoostingClassifier"):
        Shap(three, X3[:5], algorithm="tree")


def test_a_tree_too_large_for_shap_is_not_given_to_it():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 3))
    model = DecisionTreeRegressor(random_state=0).fit(rows, rng.normal(size=20_000))
    assert Shap(model, rows[:5], output="margin").algorithm == "permutation"
    with pytest.raises(BadInput, match="crashes on trees of over 32,767 nodes"):
        Shap(model, rows[:5], output="margin", algorithm="tree")


def test_a_regression_is_explained_by_its_margin():
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, 1e6 * X[:, 0] * X[:, 1])
    explainer = Shap(model, BACKGROUND, output="margin")
    gains = model.predict(ROWS) - model.predict(BACKGROUND).mean()
    np.testing.assert_allclose(explainer.explain(ROWS).values.sum(axis=1), gains, rtol=1e-6)
    with pytest.raises(WrongType, match='DecisionTreeRegressor has no predict_proba: use output="margin"'):
        Shap(model, BACKGROUND, output="probability")


def test_a_regressor_has_one_output_and_no_classes():
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, X[:, 0] * X[:, 1])
    for algorithm in ("tree", "permutation", "kernel"):
        explainer = Shap(model, BACKGROUND, algorithm=algorithm)
        np.testing.assert_allclose(explainer.expected_value, [model.predict(BACKGROUND).mean()])
        gains = model.predict(ROWS) - explainer.expected_value
        np.testing.assert_allclose(explainer.explain(ROWS).values.sum(axis=1), gains, atol=1e-6)
    for class_index in (0, 1, "predicted"):
        with pytest.raises(BadInput, match="A regression has no classes: class_index must be None; got"):
            Shap(model, BACKGROUND, class_index=class_index)
    for given in (model, model.predict):
        with pytest.raises(BadInput, match='DecisionTreeRegressor predicts numbers, not labels: use output="margin"'):
            Shap(given, BACKGROUND, output="label")


@pytest.mark.parametrize("outputs", [2, 3])
def test_every_output_of_a_regressor_of_several_is_explained(outputs):
    targets = np.column_stack([X[:, 0], X[:, 1] ** 2, X[:, 0] * X[:, 2]])[:, :outputs]
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, targets)
    every = Shap(model, BACKGROUND).explain(ROWS)
    parts = np.split(every.values, outputs, axis=1)
    for output, part in enumerate(parts):
        np.testing.assert_allclose(part, Shap(model, BACKGROUND, class_index=output).explain(ROWS).values, atol=1e-9)
        gains = model.predict(ROWS)[:, output] - model.predict(BACKGROUND)[:, output].mean()
        np.testing.assert_allclose(part.sum(axis=1), gains, atol=1e-6)
    assert every.names[-1].endswith(f" | output {outputs - 1}")
    with pytest.raises(BadInput, match=f"None, or an output from 0 to {outputs - 1}; got 'predicted'"):
        Shap(model, BACKGROUND, class_index="predicted")


def test_a_model_without_a_margin_is_told_so():
    model = MLPClassifier((3,), max_iter=2)
    with pytest.warns(UserWarning, match="converge"):
        model.fit(X, Y)
    with pytest.raises(WrongType, match='MLPClassifier has no margin: use output="probability"'):
        Shap(model, BACKGROUND, output="margin")


def test_boosters_of_other_libraries_are_read_as_trees():
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    for labels, rows, outputs in ((Y, X, 1), (Y3, X3, 3)):
        model = xgboost.XGBClassifier(n_estimators=10, max_depth=4).fit(rows, labels)
        for asked in (model, model.get_booster()):
            explainer = Shap(asked, rows[:20], output="margin")
            assert explainer.algorithm == "tree"
            margins = model.predict(rows, output_margin=True).reshape(len(rows), outputs).astype(float)
            sums = explainer.explain(rows[:30]).values.reshape(30, outputs, -1).sum(axis=2)
            np.testing.assert_allclose(sums, margins[:30] - margins[:20].mean(axis=0), atol=1e-5)


@pytest.mark.slow
def test_what_no_known_function_makes_of_trees_is_sampled_instead():
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    model = lightgbm.LGBMClassifier(n_estimators=10, objective="multiclassova", verbose=-1).fit(X3, Y3)
    explainer = Shap(model.predict_proba, X3[:20])
    auto = Shap(model, X3[:20], output="probability")
    assert auto.algorithm == "permutation"  # a logistic function for every class, all divided by their sum
    np.testing.assert_array_equal(auto.explain(X3[:3]).values, explainer.explain(X3[:3]).values)
    with pytest.raises(BadInput, match="shap misreads this LGBMClassifier"):
        Shap(model, X3[:20], output="probability", algorithm="tree")


TABLE = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["clerk", "cook", "clerk", "nurse"], "pay": [1.0, 2.0, 4.0, 0.5]})


def nurses(rows):
    assert isinstance(rows, pd.DataFrame)
    assert list(rows.columns) == ["age", "job", "pay"]
    return rows["age"].to_numpy() * (rows["job"] == "nurse").to_numpy() + rows["pay"].to_numpy()


def test_a_model_of_tables_gets_tables_and_categories_that_the_background_has_not():
    explanations = Shap(nurses, TABLE[:1], output="margin").explain(TABLE)
    assert explanations.names == ("age", "job", "pay")
    np.testing.assert_allclose(explanations.values[3], [15, 35, -0.5])  # age and job gain 50 together, 20 by job alone
    again = Shap(lambda rows: nurses(rows.to_pandas()), pl.from_pandas(TABLE)[:1], output="margin")
    np.testing.assert_array_equal(again.explain(pl.from_pandas(TABLE)).values, explanations.values)


def test_categories_that_the_columns_cannot_hold_are_refused():
    rows = TABLE.assign(job=TABLE["job"].astype("category"))
    background = rows[:1].assign(job=rows[:1]["job"].cat.remove_unused_categories())
    with pytest.raises(BadInput, match="cannot hold every category of these rows"):
        Shap(nurses, background, output="margin").explain(rows)


def test_trees_over_categories_are_not_given_to_shap():
    with pytest.raises(BadInput, match="over numbers only, not over categories"):
        Shap(nurses, TABLE, output="margin", algorithm="tree")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"output": "log-odds"}, "output must be one of None, 'margin', 'probability', 'label'; got 'log-odds'"),
        ({"algorithm": "deep"}, "algorithm must be one of"),
        ({"evaluations": 23}, "evaluations must be at least 2 per feature, which is 24; got 23"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"algorithm": "tree"}, "shap reads no trees from this function"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given, message):
    with pytest.raises(BadInput, match=message):
        Shap(chance, BACKGROUND, **given)


def test_rows_of_other_features_are_refused():
    with pytest.raises(BadInput, match="Rows have 3 features but training rows have 12"):
        Shap(chance, BACKGROUND).explain(ROWS[:, :3])


def test_a_model_that_gives_too_few_outputs_is_told_so():
    with pytest.raises(BadInput, match="gave 1 outputs for 40 rows"):
        Shap(lambda rows: [0.5], BACKGROUND, output="margin")


def test_a_large_background_is_warned_of():
    with pytest.warns(UserWarning, match="A background of 1,800 rows makes SHAP slow"):
        Shap(chance, np.vstack([X, X]))


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    for algorithm in ("auto", "tree"):
        with pytest.raises(MissingExtra, match=r'pip install "faithscope\[shap\]"'):
            Shap(FOREST, BACKGROUND, algorithm=algorithm)
    assert Shap(FOREST, BACKGROUND, algorithm="permutation").explain(ROWS[:1]).values.shape == (1, 12)


def test_a_ready_explanation_is_read():
    shap = pytest.importorskip("shap")
    ready = shap.TreeExplainer(BOOSTED, pd.DataFrame(BACKGROUND).add_prefix("f"))(pd.DataFrame(ROWS).add_prefix("f"))
    explanations = Shap.read(ready)
    np.testing.assert_array_equal(explanations.values, ready.values)
    assert explanations.names[0] == "f0"
    np.testing.assert_array_equal(Shap.read(ready[4]).values, ready.values[4:5])
    with pytest.raises(BadInput, match="have no axis of classes: class_index must be None; got 1"):
        Shap.read(ready, class_index=1)


def test_a_ready_explanation_of_classes_is_read_class_by_class():
    shap = pytest.importorskip("shap")
    ready = shap.TreeExplainer(FOREST3, X3[:20], feature_perturbation="interventional")(X3[300:320])
    assert ready.values.shape == (20, 9, 3)
    ours = Shap(FOREST3, X3[:20])
    np.testing.assert_allclose(Shap.read(ready).values, ours.explain(X3[300:320]).values, atol=1e-6)
    assert Shap.read(ready).names == ours.explain(X3[300:301]).names
    np.testing.assert_array_equal(Shap.read(ready, class_index=2).values, ready.values[:, :, 2])
    np.testing.assert_array_equal(Shap.read(ready[4], class_index=2).values, ready.values[4:5, :, 2])
    with pytest.warns(UserWarning, match="different class from row to row"):
        values = Shap.read(ready, class_index="predicted").values
    np.testing.assert_array_equal(values, ready.values[np.arange(20), :, FOREST3.predict(X3[300:320])])
    with pytest.raises(BadInput, match="class_index must be a class from 0 to 2"):
        Shap.read(ready, class_index=3)


def test_what_is_no_explanation_of_features_is_refused():
    shap = pytest.importorskip("shap")
    with pytest.raises(WrongType, match=r"reads a shap.Explanation; got ndarray"):
        Shap.read(np.zeros((3, 2)))
    pairs = shap.Explanation(np.zeros((5, 4, 4)), base_values=np.zeros(5), data=np.zeros((5, 4)))
    with pytest.raises(BadInput, match="interaction values"):
        Shap.read(pairs)


def test_a_plain_function_needs_no_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    explanations = Shap(lambda rows: rows[:, 0] - rows[:, 1], [[0.0, 1.0]], output="margin").explain([[3.0, 2.0]])
    np.testing.assert_allclose(explanations.values, [[3.0, -1.0]])
