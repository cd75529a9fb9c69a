"""Sample, the one door: what a caller hands over is checked once, and sliced alike everywhere."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.sample import Sample
from noted import noted
from refused import refused

RNG = default_rng(0)
X = RNG.normal(size=(300, 2))
LABELS = (X[:, 0] > 0).astype(int)
RULES = fs.Rules.from_conditions([[("a", "<=", round(float(x), 1))] for x in X[:, 0]], features=["a", "b"])
WEIGHTS = RNG.integers(0, 4, 300).astype(float)
OF_SHAP = SimpleNamespace(values=X, base_values=X[:, 0], data=X, output_names=None, feature_names=["a", "b"])


def test_the_parts_of_a_sample_keep_its_notes():
    sample = Sample.of(RULES, LABELS, X).noting(("read from a log",))
    parts = sample.split(np.arange(len(LABELS)) % 2)
    assert all(part.notes == sample.notes for part in parts.values())


@given(st.integers(4, 60), st.integers(0, 5))
def test_halves_are_every_row_once_in_order_and_depend_on_the_seed_alone(n, seed):
    one, other = Sample(fs.Importances(np.zeros((n, 1))), np.zeros(n)).halves(seed)
    assert sorted([*one.positions, *other.positions]) == list(range(n))
    assert one.n == n // 2
    assert one.positions.tolist() == sorted(one.positions)
    assert one.take(np.array([1, 0])).positions.tolist() == [one.positions[1], one.positions[0]], "of the whole"
    again, _ = Sample(fs.Importances(np.ones((n, 1))), np.ones(n)).halves(seed)
    assert again.positions.tolist() == one.positions.tolist()


TREE = DecisionTreeClassifier(random_state=0).fit(X, LABELS)


def test_arguments_in_each_others_place_are_an_error_that_says_so():
    for message, call, asked in [
        ("seem to be swapped", fs.count, (LABELS, RULES)),
        ("seem to be swapped", fs.sufficiency, (LABELS, RULES, X)),
        ("seem to be swapped", fs.consistency, (LABELS, RULES)),
        ("seem to be swapped, since predictions are an Explanation of shap:", fs.consistency, (LABELS, OF_SHAP)),
        (r"seem to be swapped \(SimpleNamespace, ", fs.evaluate, (OF_SHAP, LABELS, X)),
        ("seem to be swapped", fs.evaluate, (fs.explainers.Constant(), lambda rows: LABELS, X)),
        ("seem to be swapped", fs.evaluate, (RULES, LABELS, X)),
        ("seem to be swapped", fs.compare, (fs.explainers.Constant(), {"a": RULES}, X)),
        (r"seem to be swapped \(.*DecisionTreeClassifier", fs.evaluate, (LABELS, TREE, X)),
        (r"seem to be swapped \(.*DecisionTreeClassifier", fs.compare, (LABELS, {"tree": TREE}, X)),
    ]:
        refused(BadInput, rf"{message}.*pass \(", call, *asked)


def test_a_class_in_place_of_its_instance_is_refused_in_a_sentence():
    for model, explainer in [(DecisionTreeClassifier, RULES), (TREE, fs.explainers.Random)]:
        refused(BadInput, r"is a class: pass an instance of it, \w+\(\.\.\.\)", fs.evaluate, model, explainer, X)
        refused(BadInput, "is a class: pass an instance", fs.compare, model, {"a": explainer}, X)


def test_labels_that_are_tuples_and_models_with_more_labels_than_documents_are_no_swap():
    words = fs.Highlights([["a"], ["b"], ["a"]])
    for labels, documents, value in (
        ([(0, 1), (1, 0), (0, 1)], ["a x", "b y", "a z"], 2 / 3),
        (["p", "q", "r"], ["a", "b", "a"], 0),
        (["yes", "no", "no"], ["", "", ""], 0),
    ):
        assert fs.sufficiency(words, labels, documents).value == pytest.approx(value)


def test_callables_with_two_faces_are_called():
    class Both:
        def __call__(self, rows):
            return np.sign(rows)

        def predict(self, rows):
            raise AssertionError

    assert fs.evaluate(LABELS, Both(), X).consistency.n == 300


def test_rows_of_which_none_has_weight_are_refused_in_a_sentence():
    rows, weights = np.arange(8.0)[:, None], np.zeros(8)
    weights[default_rng(0).permutation(8)[0]] = 1  # in the half that `Best` chooses on
    how = {"weights": weights, "discretizer": "best", "seed": 0}
    refused(BadInput, "All 4 rows measured here have weight 0", fs.evaluate, [0, 1] * 4, rows, rows, **how)


def test_an_interval_that_is_not_proven_says_so():
    evaluation = fs.evaluate(LABELS, RULES, X, interval="proven", by=LABELS)
    assert evaluation.consistency.method == "proven"
    groups = evaluation.sufficiency_populations
    for estimate in (evaluation.sufficiency, *groups.among.estimates.values()):
        assert noted(estimate, "the interval of sufficiency is not proven")
    for estimate in groups.estimates.values():
        assert noted(estimate, "the interval beside everybody is a jackknife")


def test_compare_takes_what_evaluate_takes():
    for options in [{"weights": WEIGHTS + 1, "confidence": 0.9}, {"interval": "proven"}]:
        groups = np.where(X[:, 1] > 0, "up", "down")
        explainers = {"rules": RULES, "near": fs.Prototypes([[0]] * 300, points=X[:3])}
        together = fs.compare(LABELS, explainers, X, by=groups, relation={"near": fs.Ball(1.0)}, **options)
        for name, relation in (("rules", None), ("near", fs.Ball(1.0))):
            alone = fs.evaluate(LABELS, explainers[name], X, by=groups, relation=relation, **options)
            assert together[name].consistency == alone.consistency
            assert together[name].sufficiency == alone.sufficiency
            for parts, measure in (("populations", "consistency"), ("sufficiency_populations", "sufficiency")):
                wanted = alone.by(groups, measure).table()
                assert getattr(alone, parts).table().equals(wanted)
                assert getattr(together[name], parts).table().equals(wanted)
