"""Anchors of rows of every kind, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from anchor_systems import MEDIAN, UNIFORM, corner, first_is_high, written
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.anchors.explainer import Anchors


def table(n=600):
    chance = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "job": chance.choice(["clerk", "cook", "pilot"], n),
            "age": chance.integers(18, 80, n),
            "member": chance.random(n) < 0.5,
        }
    )


class Clerks:
    """A model that insists on its own kind of table, and answers in words."""

    def predict(self, rows):
        assert isinstance(rows, pd.DataFrame)
        assert rows.dtypes.equals(table().dtypes)
        return np.where(rows["job"] == "clerk", "yes", "no")


def test_categories_are_equalities_and_pandas_models_get_pandas():
    rows = table()
    rules = Anchors(Clerks(), rows).explain(rows.head(20))
    assert {written(rules)[i] for i in np.flatnonzero(rows["job"].head(20) == "clerk")} == {"job == clerk"}
    assert fs.sufficiency(rules, np.zeros(20), rows.head(20)).counts.missed.sum() == 0


def test_numbers_may_be_codes_of_categories():
    codes = np.column_stack([np.arange(300) % 5, np.arange(300) % 7])
    rules = Anchors(lambda rows: rows[:, 0] == 3, codes, categorical=[0, 1]).explain([[3, 2], [4, 3]])
    assert rules.describe(0) == "x0 == 3"


def test_truth_values_and_whole_numbers_have_bounds():
    rows = table()
    rules = Anchors(lambda X: X["member"].to_numpy(), rows).explain(rows.head(10))
    assert {condition.feature for row in range(10) for condition in rules.conjunction(row)} == {"member"}
    assert fs.sufficiency(rules, np.zeros(10), rows.head(10)).counts.missed.sum() == 0


def test_several_classes_and_labels_of_any_kind():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, names[y])
    rules, precision, _ = Anchors(tree, X, threshold=0.9).explain_with_precision(X[::10])
    assert written(rules)[:5] == ["x3 <= 0.3"] * 5
    assert written(rules)[-5:] == ["x3 > 1.8"] * 5
    assert (precision[:5] == 1).all()
    assert (precision[5:10] > 0.5).all()  # quarters of the training rows are too coarse here, and it says so


def test_labels_may_be_tuples():
    plain = Anchors(first_is_high, UNIFORM).explain(UNIFORM[:20])
    pairs = Anchors(lambda rows: [("above", bool(high)) for high in first_is_high(rows)], UNIFORM).explain(UNIFORM[:20])
    assert written(pairs) == written(plain)


@pytest.mark.parametrize(
    "names", [[1, 0, 2], ["", " and ", "x <= 3"], [("a", 1), ("a", 2), ("b", 1)], ["x1", "x0", "=="]]
)
def test_columns_may_be_called_anything(names):
    frame = pd.DataFrame(UNIFORM[:, :3])
    frame.columns = pd.Index(names, tupleize_cols=False)
    rules = Anchors(lambda rows: first_is_high(rows.to_numpy()), frame).explain(frame.head(20))
    assert {condition.position for row in range(20) for condition in rules.conjunction(row)} == {0}
    assert fs.sufficiency(rules, np.zeros(20), frame.head(20)).counts.missed.sum() == 0


def test_two_columns_of_the_same_name_are_refused_at_once():
    with pytest.raises(BadInput, match="Two features are called 'a'"):
        Anchors(first_is_high, pd.DataFrame(UNIFORM[:, :3], columns=["a", "b", "a"]))


def test_what_is_infinite_is_named_with_how_many_there_are():
    rows = UNIFORM.copy()
    rows[[3, 5], 1] = np.inf
    with pytest.raises(BadInput, match="'x1' holds inf at row 3 and 1 more"):
        Anchors(first_is_high, rows)
    with pytest.raises(BadInput, match="'x1' holds inf at row 3 and 1 more"):
        Anchors(first_is_high, UNIFORM).explain(rows)


def test_rows_in_single_precision_keep_their_rules():
    rows = np.random.default_rng(9).normal(size=(301, 3)).astype(np.float32)
    rules = Anchors(lambda X: X.sum(axis=1) > 0, rows, threshold=0.9, beam=1).explain(rows)
    assert fs.sufficiency(rules, np.zeros(301), rows).counts.missed.sum() == 0


def test_a_constant_feature_is_never_used():
    rows = UNIFORM.copy()
    rows[:, 2] = 7.0
    rules = Anchors(corner, rows, threshold=0.99).explain(rows[:50])
    assert "x2" not in {condition.feature for row in range(50) for condition in rules.conjunction(row)}


def test_a_row_beyond_all_training_rows_keeps_its_rule():
    rules = Anchors(first_is_high, UNIFORM).explain([[9.0, 9.0, -9.0, 9.0], [-9.0, 9.0, 9.0, 9.0]])
    assert written(rules) == [f"x0 > {MEDIAN:.7g}", f"x0 <= {MEDIAN:.7g}"]


def test_a_model_of_one_class_gives_the_rule_that_covers_everything():
    rules, precision, coverage = Anchors(lambda rows: np.zeros(len(rows)), UNIFORM).explain_with_precision(UNIFORM[:5])
    assert written(rules) == ["everything"] * 5
    assert (precision == 1).all()
    assert (coverage == 1).all()


def test_one_training_row_has_no_conditions_to_offer():
    rules, precision, _ = Anchors(first_is_high, UNIFORM[:1]).explain_with_precision(UNIFORM[:10])
    assert written(rules) == ["everything"] * 10
    same = first_is_high(UNIFORM[:10]) == first_is_high(UNIFORM[:1])
    assert (precision == same).all()


def test_no_rows_give_no_rules():
    rules, precision, coverage = Anchors(first_is_high, UNIFORM).explain_with_precision(UNIFORM[:0])
    assert len(rules) == len(precision) == len(coverage) == 0
    assert rules.features == ("x0", "x1", "x2", "x3")


def test_a_model_that_gives_probabilities_is_refused():
    with pytest.raises(BadInput, match="continuous"):
        Anchors(lambda rows: rows[:, 0], UNIFORM).explain(UNIFORM[:3])
    with pytest.raises(BadInput, match="probabilities"):
        Anchors(lambda rows: np.full((len(rows), 2), 0.5), UNIFORM).explain(UNIFORM[:3])


def test_a_model_that_forgets_rows_is_refused():
    with pytest.raises(BadInput, match="pass one of each per row"):
        Anchors(lambda rows: np.zeros(len(rows) - 1), UNIFORM).explain(UNIFORM[:30])


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 0}, {"threshold": 1.2}, {"beam": 0}, {"delta": 1}, {"tau": 0}, {"max_conditions": 0},
        {"categorical": ["nobody"]},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BadInput):
        Anchors(first_is_high, UNIFORM, **wrong)


def test_what_is_no_model_is_refused_at_once():
    with pytest.raises(WrongType):
        Anchors("model", UNIFORM)
