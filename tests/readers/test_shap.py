"""What shap and boosted models hand over for several classes is read as the class that a caller names."""

import re

import numpy as np
import pytest
from numpy.random import default_rng
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

shap = pytest.importorskip("shap")

N, D, CLASSES = 60, 4, 3
NAMES = ["age", "hours", "job", "zip"]


@pytest.fixture(scope="module")
def system():
    rng = default_rng(0)
    X = rng.normal(size=(N, D))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    return X, y, RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def explained(system):
    X, _, model = system
    values = shap.TreeExplainer(model).shap_values(X)
    assert values.shape == (N, D, CLASSES)
    return values


def shapes(values, X):
    """The five shapes in which importances of several classes come."""
    bias = np.broadcast_to([0.5, 0.25, 0.25], (N, CLASSES))[:, :, None]
    stacked = np.concatenate([values.transpose(0, 2, 1), bias], axis=2)
    return {
        "an Explanation": shap.Explanation(values, data=X, feature_names=NAMES),
        "an array": values,
        "one array per class": [values[:, :, label] for label in range(CLASSES)],
        "CatBoost and XGBoost": stacked,
        "LightGBM": stacked.reshape(N, -1),
    }


def test_the_five_shapes_of_several_classes_give_the_class_that_is_asked_for(system, explained):
    X, y, _ = system
    for shape, given in shapes(explained, X).items():
        for label in range(CLASSES):
            read = fs.read(given, class_index=label, features=NAMES)
            assert np.array_equal(read.values, explained[:, :, label]), shape
            assert read.names == tuple(NAMES), shape
        assert fs.consistency(read, y).interval == fs.consistency(explained[:, :, label], y).interval
        if "Boost" not in shape and shape != "LightGBM":  # which do not tell features
            assert np.array_equal(fs.read(given, class_index=2).values, explained[:, :, 2]), shape


def test_all_classes_count_where_none_is_chosen_and_a_note_says_so(system, explained):
    X, y, _ = system
    explanation = shap.Explanation(explained, data=X, feature_names=NAMES, output_names=["a", "b", "c"])
    est = fs.consistency(explanation, y)
    assert est.value == fs.consistency(explained.reshape(N, -1), y).value
    assert any("all 3 classes count" in note for note in est.notes)
    assert fs.read(explanation).names[:5] == (
        "age | class a",
        "hours | class a",
        "job | class a",
        "zip | class a",
        "age | class b",
    )
    for names, columns in ((NAMES, explained), (NAMES[::-1], explained[:, ::-1])):
        read = fs.read(explanation, features=names)
        assert np.array_equal(read.values, columns.transpose(0, 2, 1).reshape(N, -1))
    assert fs.read(explanation, class_index=1, features=["job"]).values.tolist() == explained[:, 2:3, 1].tolist()
    one = fs.read(explanation[:, 2, 1])
    assert (one.names, one.values.tolist()) == (("job",), explained[:, 2:3, 1].tolist())


def test_of_two_classes_the_second_is_read_and_a_note_says_so(system):
    X, y, _ = system
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y > 0)
    explanation = shap.TreeExplainer(model)(X)
    assert explanation.values.shape == (N, D, 2)
    read = fs.read(explanation)
    assert np.array_equal(read.values, explanation.values[:, :, 1])
    assert any("importances are those of class" in note for note in fs.consistency(explanation, y).notes)


def test_boosted_models_are_read_as_they_explain_themselves(system):
    X, y, _ = system
    lightgbm, xgboost, catboost = map(pytest.importorskip, ("lightgbm", "xgboost", "catboost"))
    light = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1).fit(X, y)
    extreme = xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(X, y)
    cat = catboost.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False).fit(X, y)
    contributions = [
        (light, light.predict(X, pred_contrib=True)),
        (extreme, extreme.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)),
        (cat, cat.get_feature_importance(catboost.Pool(X, y), type="ShapValues")),
    ]
    for model, values in contributions:
        read = fs.read(values, class_index=1, features=NAMES)
        wanted = shap.TreeExplainer(model)(X).values[:, :, 1]
        assert np.allclose(read.values, wanted, atol=1e-4)
        assert any("bias" in note for note in read.notes)


def test_a_bias_is_left_out_only_where_features_are_named_and_the_column_is_constant():
    values = default_rng(0).normal(size=(20, 5))
    values[:, 4] = 0.25
    assert fs.read(values).values.shape == (20, 5)
    assert np.array_equal(fs.read(values, features=NAMES).values, values[:, :4])
    values[3, 4] = 0.5
    refused(BadInput, "features= has 4 names, but importances have 5 columns", fs.read, values, features=NAMES)


def test_a_class_that_no_feature_moves_is_no_bias():
    values, names = default_rng(0).normal(size=(20, 3, 4)), ["a", "b", "c"]
    values[:, :, 3] = 0.0
    for given in (values, np.repeat(values[:1], 5, axis=0)):
        assert np.array_equal(fs.read(given, class_index=1, features=names).values, given[:, :, 1])


def test_axes_that_may_be_either_are_asked_about():
    values = default_rng(0).normal(size=(20, 3, 4))
    biased = np.concatenate([values, np.ones((20, 3, 1))], axis=2)
    for given in (values, values[:, :, :3], biased, biased.repeat(3, axis=1)):
        refused(BadInput, "not clear which axis is classes", fs.read, given, class_index=1)
    assert np.array_equal(fs.read(values, class_index=3, features=["a", "b", "c"]).values, values[:, :, 3])


def test_a_class_that_was_not_explained_is_refused(explained):
    for label in (3, 7):
        refused(BadInput, "of 3 classes: choose one, class_index=0 to 2; got", fs.read, explained, class_index=label)
    for given in (explained[:, :, 1], shap.Explanation(explained[:, :, 1])):
        refused(BadInput, "leave it out", fs.read, given, class_index=2)
    named = shap.Explanation(explained[:, :, 1], output_names="b")
    refused(BadInput, "speak of 'b': leave it out", fs.read, named, class_index=0)


def test_one_number_per_feature_is_of_class_1_of_two_and_class_0_has_the_other_sign(system):
    X, y, _ = system
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y > 0)
    explanation = shap.TreeExplainer(model)(X)
    assert explanation.values.shape == (N, D)
    for given in (explanation, explanation.values, list(explanation)):
        zero, one = (fs.read(given, class_index=label) for label in (0, 1))
        assert np.array_equal(zero.values, -explanation.values)
        assert np.array_equal(one.values, explanation.values)
        assert "with the other sign for class 0" in zero.notes[0]


def test_the_predicted_class_is_read_from_what_values_and_base_values_add_up_to(system, explained):
    X, y, _ = system
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    explanation = shap.TreeExplainer(model)(X)
    wanted = explanation.values[np.arange(N), :, model.predict(X)]
    for given in (explanation, list(explanation)):
        read = fs.read(given, class_index="predicted")
        assert np.array_equal(read.values, wanted)
        assert any("different classes" in note for note in read.notes)
    for without in (explained, shap.Explanation(explained)):
        refused(
            BadInput, "'predicted' needs the predictions", fs.read, without, class_index="predicted", features=NAMES
        )


def test_the_advice_on_the_predicted_class_can_be_followed_whatever_the_axes():
    classes = default_rng(0).normal(size=(N, 3, len(NAMES)))
    biased = np.concatenate([classes, np.ones((N, 3, 1))], axis=2)
    predicted = np.arange(N) % 3
    for values in (biased.reshape(N, -1), biased, classes.transpose(0, 2, 1), list(classes.transpose(1, 0, 2))):
        with pytest.raises(BadInput) as told:
            fs.read(values, class_index="predicted", features=NAMES)
        advice = re.search(r"own, (.+), as an array", str(told.value))[1]
        own = eval(advice, {"np": np, "values": values, "predicted": predicted})
        assert np.array_equal(own, classes[np.arange(N), predicted])


def test_interactions_are_to_be_summed(system):
    X, y, _ = system
    explainer = shap.TreeExplainer(RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y > 0))
    values, wanted = explainer.shap_interaction_values(X)[..., 1], explainer.shap_values(X)[..., 1]
    refused(BadInput, r"values.sum\(axis=2\)", fs.consistency, values, y)
    refused(BadInput, r"explanations.values.sum\(axis=2\)", fs.consistency, shap.Explanation(values, data=X), y)
    assert np.allclose(values.sum(axis=2), wanted, atol=1e-6)


def test_one_object_per_row_is_read_as_one_of_all_rows(system):
    X, _, model = system
    explainer = shap.TreeExplainer(model)
    together = fs.read(explainer(X[:6]), class_index=1)
    for apart in ([explainer(X[i : i + 1]) for i in range(6)], list(explainer(X[:6]))):
        assert np.allclose(fs.read(apart, class_index=1).values, together.values)
    assert np.array_equal(fs.read(explainer(X[:6])[2], class_index=1).values, together.values[2:3])
    one_feature = shap.Explanation(np.arange(6.0).reshape(2, 1, 3), data=np.zeros((2, 1)))
    assert fs.read(list(one_feature), class_index=2).values.tolist() == [[2.0], [5.0]]


def texts(values):
    """What shap gives for texts of different lengths."""
    tokens = [["a ", "great ", "plot "], ["dull ", "and ", "un", "believ", "able "], ["great ", "cast "]]
    data = tuple(np.array(row, object) for row in tokens)
    held = np.array([np.array(row) for row in values], object)
    return shap.Explanation(held, data=data, base_values=np.zeros(3))


def test_rows_with_other_features_or_of_other_classes_are_never_read_as_if_they_were_alike(system):
    X, _, model = system
    titles = ["denied", "open", "approved"]
    whole = shap.TreeExplainer(model)(X)
    whole = shap.Explanation(whole.values, whole.base_values, whole.data, feature_names=NAMES, output_names=titles)
    own = fs.read([whole[row, :, int(place)] for row, place in enumerate(model.predict(X))])
    assert np.array_equal(own.values, fs.read(whole, class_index="predicted").values)
    assert own.label is None
    assert own.remarks == fs.read(whole, class_index="predicted").remarks
    refused(BadInput, "different classes", fs.read, [whole[0, :, 0], whole[1, :, 1]], class_index=0)
    other = shap.Explanation(X[0], 0.0, X[0], feature_names=NAMES[::-1])
    refused(BadInput, "different features", fs.read, [shap.Explanation(X[0], 0.0, X[0], feature_names=NAMES), other])


def test_importances_that_were_read_have_no_number_of_words():
    refused(BadInput, r"top=1.*SignOfTop\(1\)", fs.read, fs.Importances([[1.0, 2.0]]), top=1)


def test_texts_of_different_lengths_are_highlights_of_the_largest_tokens():
    explanation = texts([[0.0, 0.5, -0.7], [0.1, 0.2, 0.3, 0.3, 0.3], [0.1, 0.0]])
    read = fs.read(explanation, top=1)
    assert [read.item(row) for row in range(3)] == [{"plot"}, {"unbelievable"}, {"great"}]
    documents = ["A great plot.", "Dull and unbelievable", "great cast"]
    assert fs.sufficiency(read, [0, 1, 1], documents).counts.missed.sum() == 0
    assert fs.read(explanation).item(0) == {"great", "plot"}
    assert any("5 words largest" in note for note in fs.consistency(explanation, [0, 1, 1]).notes)


def test_texts_of_several_classes_need_a_class():
    explanation = texts([np.eye(3)[:, ::-1], np.ones((5, 3)), np.ones((2, 3))])
    refused(BadInput, "of 3 classes: choose one", fs.read, explanation)
    for label, word in enumerate(["plot", "great", "a"]):
        assert fs.read(explanation, class_index=label, top=1).item(0) == {word}


@pytest.mark.thorough
def test_texts_of_one_length_and_single_texts_are_highlights():
    def score(texts):
        return np.array([text.count("great") - text.count("dull") for text in texts], float)

    texts = shap.Explainer(score, shap.maskers.Text(r"\W+"))(["a great plot", "a dull plot"], silent=True)
    assert texts.values.shape == (2, 3)
    for given in (texts, list(texts)):
        assert [fs.read(given, top=1).item(row) for row in range(2)] == [{"great"}, {"dull"}]
    assert fs.read(texts[0], top=1).item(0) == {"great"}


def test_columns_that_look_like_biases_are_noted(explained):
    stacked = np.concatenate([explained.transpose(0, 2, 1), np.ones((N, CLASSES, 1))], axis=2)
    flat, gradient = stacked.reshape(N, -1), np.ones((N, 3))  # the latter is of a linear model
    for given in (stacked[:1], flat[:1]):
        assert np.array_equal(fs.read(given, class_index=2, features=NAMES).values, explained[:1, :, 2])
    for given, noted in ((flat, True), (explained[:, :, 0], False), (gradient, False)):
        assert any("the last column is the same" in note for note in fs.read(given).notes) == noted
    refused(BadInput, "several classes with a bias each", fs.read, flat, features=NAMES)


def test_rows_that_are_not_those_that_were_explained_are_noted():
    import pandas as pd
    import shap

    rng = default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 60, 80), "pay": rng.normal(size=80), "job": rng.choice(["a", "b"], 80)})
    coded = X.assign(job=(X.job == "a") * 1)
    held = shap.Explanation(coded * 0.1, np.zeros(80), coded.to_numpy(), feature_names=list(X))
    missing = X.assign(job=X.job.where(X.job == "a"), pay=X.pay.where(X.pay < 1))  # the other was imputed
    lists = X.assign(job=[[word] for word in X.job])
    scaled = (coded - coded.mean()) / -coded.std()
    same = (
        X,
        missing,
        lists,
        coded,
        coded.to_numpy(),
        coded.astype("float32"),
        scaled,
        X[["job", "pay", "age"]].assign(more=1),
    )
    others = (X[::-1].reset_index(drop=True), coded.sample(frac=1, random_state=0).to_numpy())
    for rows in (*same, *others):
        doors = [fs.evaluate(X.job.to_numpy(), held, rows).consistency]
        if rows is not lists:  # in which rows cannot be alike
            doors.append(fs.sufficiency(held, X.job.to_numpy(), rows, relation=fs.Alike(2)))
        for estimate in doors:
            told = [note for note in estimate.notes if note.startswith("shap explained other rows than X: they differ")]
            assert bool(told) == any(rows is each for each in others)
    unnamed = shap.Explanation(coded.to_numpy() * 0.1, np.zeros(80), coded.to_numpy())
    assert not any("other rows" in note for note in fs.evaluate(X.job.to_numpy(), unnamed, X).consistency.notes)
