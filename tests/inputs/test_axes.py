"""What explainers of other libraries hand over is named, and no advice leads to a wrong number."""

import re

import numpy as np
import pandas as pd
import pytest
import shap
from sklearn.ensemble import RandomForestClassifier

import faithscope as fs
from faithscope.errors import BadInput

N, D, CLASSES = 60, 4, 3


@pytest.fixture(scope="module")
def system():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    return X, y, RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)


def advice(thing, labels):
    """The message, the same whether explanations are measured or only made."""
    messages = set()
    for call in (lambda: fs.consistency(thing, labels), lambda: fs.Importances(thing)):
        with pytest.raises(BadInput) as refused:
            call()
        messages.add(str(refused.value))
    (message,) = messages
    assert len(message) < 400
    assert "…" not in message
    return message


def test_a_shap_explanation_of_several_classes_says_which_axis_is_which_and_its_advice_runs(system):
    X, y, model = system
    explanations = shap.TreeExplainer(model)(X)
    assert explanations.values.shape == (N, D, CLASSES)
    message = advice(explanations, y)
    assert "rows, features, classes" in message
    for code in ("explanations[:, :, 1]", "explanations.values.reshape(len(explanations), -1)"):
        assert code in message
        assert fs.consistency(eval(code), y).n == N
    one = fs.Importances(eval("explanations[:, :, 1]"))
    assert np.array_equal(one.values, explanations.values[:, :, 1])


def test_every_slice_that_is_advised_is_right_for_the_axes_it_names(system):
    X, y, model = system
    values = shap.TreeExplainer(model).shap_values(X)
    conditions = {
        "rows, features, classes (shap)": (values, values[:, :, 1]),
        "rows, classes, features and a bias (CatBoost)": (
            np.concatenate([values.transpose(0, 2, 1), np.zeros((N, CLASSES, 1))], axis=2),
            values[:, :, 1],
        ),
        "rows and pixels of images": (np.ones((N, 8, 8)), np.ones((N, 64))),
    }
    for axes, (given, meant) in conditions.items():
        sentence = next(part for part in re.split(r"\. (?=If )", advice(given, y)) if axes in part)
        code = re.search(r"values(?:\[[^]]*\]|\.reshape\(.*\))", sentence)[0]
        assert np.array_equal(eval(code, {"values": given, "len": len}), meant)


def test_one_array_per_class_is_recognized(system):
    X, y, model = system
    values = shap.TreeExplainer(model).shap_values(X)
    per_class = [values[:, :, label] for label in range(CLASSES)]
    for thing in (per_class, np.array(per_class)):
        message = advice(thing, y)
        assert "looks like one array per class: classes, rows, features" in message
        assert "values[1]" in message
        assert "[:, :, 1]" not in message
    assert "values[0]" in advice(per_class[:1], y)


def test_catboost_puts_classes_in_the_middle_and_a_bias_last(system):
    catboost = pytest.importorskip("catboost")
    X, y, _ = system
    model = catboost.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False).fit(X, y)
    values = model.get_feature_importance(catboost.Pool(X, y), type="ShapValues")
    assert values.shape == (N, CLASSES, D + 1)
    assert "values[:, 1, :-1]" in advice(values, y)
    assert fs.Importances(eval("values[:, 1, :-1]")).values.shape == (N, D)


def test_images_keep_their_pixels():
    assert "values.reshape(len(values), -1)" in advice(np.ones((N, 8, 8, 3)), np.zeros(N))


def test_what_lime_hands_over_is_recognized_and_its_advice_gives_its_weights(system):
    lime_tabular = pytest.importorskip("lime.lime_tabular")
    X, y, model = system
    explainer = lime_tabular.LimeTabularExplainer(X, mode="classification", random_state=0)
    objects = [explainer.explain_instance(x, model.predict_proba, num_features=3, num_samples=50) for x in X[:8]]
    wanted = np.zeros((8, D))
    for row, one in enumerate(objects):
        for feature, weight in one.as_map()[1]:
            wanted[row, feature] = weight
    maps = [one.as_map() for one in objects]
    pairs = [one[1] for one in maps]
    for given in (objects, maps, pairs, np.array(pairs)):
        message = advice(given, y[:8])
        assert "lime" in message
        code = re.search(r"\[\[dict.* for explanation in explanations\]", message)[0]
        made = eval(code, {"explanations": given, "n_features": D})
        assert np.array_equal(fs.Importances(made).values, wanted)
        assert "values[" not in message
    texts = advice([one.as_list() for one in objects], y[:8])
    assert "as_list()" in texts
    assert "as_map()" in texts


@pytest.mark.parametrize(
    "made", [list, np.array, pd.Series, lambda rows: [[list(pair) for pair in row] for row in rows]]
)
def test_pairs_of_lime_are_recognized_in_whatever_they_were_put(made):
    rows = [[(2, -0.5), (0, 0.25), (1, 0)], [(0, 0.5), (1, -0.25), (2, 0.1)]] * 3
    assert "as_map()" in advice(made(rows), [0, 1] * 3)
    assert "as_list()" in advice(made([[(f"x{j} <= 1", weight) for j, weight in row] for row in rows]), [0, 1] * 3)


def test_interactions_of_features_are_no_classes(system):
    X, y, _ = system
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y > 0)
    explainer = shap.TreeExplainer(model)
    values, wanted = explainer.shap_interaction_values(X)[..., 1], explainer.shap_values(X)[..., 1]
    explanations = shap.Explanation(values, data=X)
    for given, code in ((values, "values.sum(axis=2)"), (explanations, "explanations.values.sum(axis=2)")):
        message = advice(given, y)
        assert code in message
        assert "classes" not in message
        assert np.allclose(eval(code), wanted, atol=1e-6)


def test_fewer_rows_than_features_do_not_look_like_classes():
    message = advice(np.arange(600.0).reshape(10, 30, 2), [0, 1] * 5)
    assert "rows, features, classes (shap)" in message
    assert "values[:, :, 1]" in message


def test_keys_that_are_tuples_are_no_pairs():
    keys = [(("age", 0.5), ("job", -0.1)), (("age", 0.5), ("job", -0.1)), (("job", 0.2), ("age", 0.1))]
    assert fs.consistency(keys, [0, 0, 1]).distinct == 2
