"""What lime hands over, objects, maps, pairs and texts, is read with every weight in its feature's column."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

lime_tabular = pytest.importorskip("lime.lime_tabular")

N, D = 8, 4
NAMES = ["age", "hours per week", "job", "zip"]


@pytest.fixture(scope="module")
def system():
    rng = default_rng(0)
    X = rng.normal(size=(60, D))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    return X, y, RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)


def explained(system, **options):
    X, _, model = system
    explainer = lime_tabular.LimeTabularExplainer(X, feature_names=NAMES, random_state=0)
    return [explainer.explain_instance(x, model.predict_proba, num_samples=50, **options) for x in X[:N]]


def weights(objects, label, names=D):
    wanted = np.zeros((len(objects), names))
    for row, item in enumerate(objects):
        for feature, weight in item.as_map()[label]:
            wanted[row, feature] = weight
    return wanted


def test_objects_of_tables_are_importances_over_all_features(system):
    objects = explained(system, num_features=3)
    read = fs.read(objects)
    assert np.array_equal(read.values, weights(objects, 1))
    assert read.names == tuple(NAMES)
    assert any("3 of 4 features" in note for note in read.notes)
    est = fs.consistency(objects, system[1][:N], discretizer=fs.SignOfTop(2))
    assert est.value == fs.consistency(weights(objects, 1), system[1][:N], discretizer=fs.SignOfTop(2)).value


def test_several_classes_are_chosen_by_their_index_or_all_count(system):
    two = explained(system, labels=(0, 2))
    assert np.array_equal(fs.read(two, class_index=0).values, weights(two, 0))
    told = r"class_index=1 is not among .* \[0, 2\]: pass labels=\(1,\)"
    refused(BadInput, told, fs.read, two, class_index=1)
    for labels in ((0, 2), (0, 1)):  # two of three classes
        some = explained(system, labels=labels)
        wanted = np.hstack([weights(some, label) for label in labels])
        assert np.array_equal(fs.read(some).values, wanted)
        assert fs.read(some).names[D] == f"age | class {labels[1]}"
    assert np.array_equal(fs.read([item.as_map() for item in two]).values, fs.read(two).values)
    three = explained(system, labels=(0, 1, 2))
    every = [weights(three, label) for label in (0, 1, 2)]
    for given in (three, [item.as_map() for item in three]):
        assert np.array_equal(fs.read(given).values, np.hstack(every))
    turned = fs.read(three, features=NAMES[::-1])
    assert np.array_equal(turned.values, np.hstack([each[:, ::-1] for each in every]))
    assert fs.read(three).names[D] == "age | class 1"
    assert any("all 3 classes" in note and "'predicted'" in note for note in fs.read(three).notes)
    likeliest = [int(np.argmax(item.predict_proba)) for item in three]
    own = np.array([weights([item], label)[0] for item, label in zip(three, likeliest, strict=True)])
    assert np.array_equal(fs.read(three, class_index="predicted").values, own)


def test_rows_of_explainers_that_know_other_columns_are_refused(system):
    X, _, model = system
    turned = lime_tabular.LimeTabularExplainer(X, feature_names=NAMES[::-1], random_state=0)
    other = turned.explain_instance(X[0], model.predict_proba, num_samples=50)
    refused(BadInput, "lime have different features", fs.read, [*explained(system)[:1], other])


def test_regression_has_one_set_of_weights_and_features_that_nobody_named_have_no_names(system):
    X, _, _ = system
    model = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    explainer = lime_tabular.LimeTabularExplainer(X, mode="regression", random_state=0)
    objects = [explainer.explain_instance(x, model.predict, num_samples=50) for x in X[:N]]
    assert np.array_equal(fs.read(objects).values, weights(objects, 1))
    assert fs.read(objects).names is None
    assert fs.read(objects, features=NAMES).names == tuple(NAMES)


def test_maps_and_pairs_taken_out_of_objects_are_read_alike(system):
    objects = explained(system, num_features=3)
    maps = [item.as_map() for item in objects]
    pairs = [item[1] for item in maps]
    for given in (maps, pairs, pd.Series(pairs)):
        read = fs.read(given, features=NAMES)
        assert np.array_equal(read.values, weights(objects, 1))
        assert read.names == tuple(NAMES)


def test_texts_of_conditions_are_importances_over_conditions(system):
    listed = [item.as_list() for item in explained(system)]
    for read in (fs.read(listed), fs.read(list(map(dict, listed)))):
        said = [{name: v for name, v in zip(read.names, row, strict=True) if v} for row in read.values]
        assert said == [{name: weight for name, weight in pairs if weight} for pairs in listed]


def test_texts_are_highlights():
    lime_text = pytest.importorskip("lime.lime_text")
    documents = ["a great plot, and a great cast", "dull plot", "great fun", "dull and slow"]

    def predict(texts):
        great = np.array(["great" in text for text in texts], float)
        return np.column_stack([1 - great, great])

    explainer = lime_text.LimeTextExplainer(random_state=0)
    objects = [explainer.explain_instance(text, predict, num_samples=200) for text in documents]
    for rows in (objects, [item.as_list() for item in objects]):
        read = fs.read(rows, top=1)
        assert isinstance(read, fs.Highlights)
        assert [read.item(row) for row in (0, 2)] == [{"great"}, {"great"}]
    read = fs.read(objects, top=1)
    assert fs.sufficiency(read, predict(documents)[:, 1] > 0.5, documents).counts.missed.sum() == 0


def test_another_object_among_them_is_named(system):
    objects = [*explained(system)[:2], "text"]
    refused(BadInput, r"Row 2 is a str, and not of the kind of other rows \(lime\)", fs.read, objects)


def test_rows_that_explain_their_own_class_are_read_with_a_warning(system):
    single, ranked = (explained(system, labels=(), top_labels=many) for many in (1, 2))
    first = [item.top_labels[0] for item in single]
    assert len(set(first)) > 1
    assert any("different classes" in note for note in fs.read([item.as_map() for item in single]).notes)
    for objects, choice in ((single, None), (single, "predicted"), (ranked, None)):
        read = fs.read(objects, class_index=choice)
        wanted = [weights([item], item.top_labels[0])[0] for item in objects]
        assert np.array_equal(read.values, wanted)
        assert any("different classes" in note for note in read.notes)


def test_a_class_that_was_not_explained_is_not_taken_for_the_predicted_one(system):
    X, y, _ = system
    two = X, y, RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y > 0)
    objects = explained(two)  # lime explains class 1, whatever is predicted
    for given in (objects, [item.as_map() for item in objects]):
        assert np.array_equal(fs.read(given).values, weights(objects, 1))
        refused(BadInput, "did not explain the class that was predicted", fs.read, given, class_index="predicted")


@pytest.mark.parametrize(
    "categories", [["<0", "0<=X<200", ">=200", "none"], ["a", "b=c", "d", "e"], ["=", "b", "c", "d"]]
)
def test_a_category_with_an_equality_sign_is_no_part_of_a_name(categories):
    rng = default_rng(0)
    X = np.column_stack([rng.normal(size=40), np.arange(40) % 4])
    explainer = lime_tabular.LimeTabularExplainer(
        X, feature_names=["amount", "x=status"], categorical_features=[1], categorical_names={1: categories}
    )
    model = RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
    objects = [explainer.explain_instance(x, model.predict_proba, num_samples=30) for x in X[:4]]
    assert fs.read(objects).names == ("amount", "x=status")
