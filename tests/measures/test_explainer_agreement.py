"""Agreement of explainers: granularities, kinds, rows, and what it says of itself."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples
from faithscope.card import Table
from faithscope.report.summary import summarize

RNG = default_rng(0)
SHAP = RNG.normal(size=(40, 4))
LIME = SHAP + RNG.normal(size=(40, 4))
BOTH = {"shap": SHAP, "lime": LIME}
NAMES = ["age", "job", "hours", "pay"]
LABELS = [f"row {i}" for i in range(40)]
ROWS = pd.DataFrame(SHAP, columns=NAMES, index=LABELS)
RULES = fs.Rules.from_conditions([[("age", ">", 0.0)] if row[0] > 0 else [] for row in SHAP], features=NAMES)
PREDICTIONS = SHAP[:, 0] > 0
SAME_SIGNS = np.sign(SHAP) == np.sign(LIME)


def compared(predictions=PREDICTIONS, named=BOTH, rows=ROWS, **how):
    return fs.compare(predictions, named, rows, progress=False, **how)


def pair(one, other, **how):
    return fs.explainer_agreement({"one": one, "other": other}, **how).pairs[0]


def test_importances_are_compared_by_the_usual_granularity_and_a_note_says_so():
    agreement = fs.explainer_agreement(BOTH)
    assert agreement.explainers == {"shap": "SignOfTop(k=5)", "lime": "SignOfTop(k=5)"}
    assert "importances were compared by SignOfTop(k=5)" in agreement.notes[0]
    assert "SignOfTop" in compared().explainer_agreement().notes[0]
    explicit = fs.explainer_agreement(BOTH, discretizer="sign-of-top-5")
    assert explicit.pairs[0].same == agreement.pairs[0].same
    assert not any("SignOfTop" in note for note in explicit.notes)


def test_a_comparison_is_asked_at_the_granularity_and_with_the_rows_with_which_it_was_made():
    how = {"discretizer": "sign", "weights": RNG.integers(0, 3, 40), "clusters": np.arange(40) // 2}
    comparison, ready = compared(**how), fs.explainer_agreement(BOTH, **how)
    assert comparison.explainer_agreement().pairs[0] == ready.pairs[0]
    assert comparison.explainer_agreement().clusters == ready.clusters
    assert ready.n == np.count_nonzero(how["weights"])
    assert comparison.explainer_agreement("rank").pairs[0].same != ready.pairs[0].same
    assert comparison.explainer_agreement(confidence=0.5).confidence == 0.5


@pytest.mark.thorough
def test_as_many_features_are_named_as_the_discretizer_keeps_unless_one_says_otherwise():
    few, most = fs.SignOfTop(2), fs.Floor(1) | fs.TopFeatures(3)
    for discretizer, k in ((None, 5), ("sign", 5), (few, 2), (most, 3), ({"shap": few, "lime": most}, 3)):
        asked = fs.explainer_agreement(BOTH, discretizer=discretizer)
        explicit = fs.explainer_agreement(BOTH, discretizer=discretizer, k=k)
        assert (asked.k, asked.pairs) == (k, explicit.pairs)
        (reported,), (pair,) = compared(discretizer=discretizer).explainer_agreement().pairs, explicit.pairs
        assert replace(reported, notes=()) == replace(pair, notes=())
    (table,) = examples.blocks(summarize(compared(discretizer=few), examples=0).agreement, Table)
    reported = table.rows[0][table.columns.index("feature agreement")].value
    assert reported == fs.explainer_agreement(BOTH, discretizer=few, k=2).pairs[0].columns()["feature_agreement"]
    assert compared(discretizer=few).explainer_agreement(k=1).k == 1


def test_repeated_rows_are_told_unless_they_are_clusters():
    twice = {name: np.repeat(each, 2, axis=0) for name, each in BOTH.items()}
    for clusters in (None, np.arange(80) // 2):
        again = compared(
            np.repeat(PREDICTIONS, 2), twice, pd.DataFrame(twice["shap"]), clusters=clusters
        ).explainer_agreement()
        told = "50% of rows repeat an earlier row in every column, so intervals may be" in again.notes[0]
        assert told == (clusters is None)
    assert again.pairs[0].kappa == pytest.approx(compared().explainer_agreement().pairs[0].kappa)


def test_features_are_matched_by_name_whatever_their_order():
    turned = pd.DataFrame(LIME[:, ::-1], columns=NAMES[::-1])
    assert pair(ROWS.reset_index(drop=True), turned, k=2) == pair(SHAP, LIME, k=2)
    first, fewer, others = (pd.DataFrame(SHAP[:, :2], columns=names) for names in (["a", "b"], ["a"] * 2, ["a", "c"]))
    assert not any("matched by name" in note for note in pair(first, fewer.iloc[:, :1], k=1).notes)
    assert "'b', 'c' are known to one explainer only" in " ".join(pair(first, others, k=1).notes)


def test_rules_over_features_in_another_order_are_the_same_rules():
    one = fs.Rules.parse(["age <= 3 and job == clerk", "job == cook", "everything"])
    other = fs.Rules.parse(["job == clerk and age <= 3", "job == cook and age > 9", "everything"])
    assert pair(one, other).same.value == pytest.approx(2 / 3)
    assert pair(one, other).feature_agreement.value == pytest.approx((1 + 0.5 + 1) / 3)


def test_importances_of_which_signs_are_left_name_all_features():
    signs = pair(*(fs.Sign()(fs.Importances(each)) for each in (SHAP, LIME)), k=1)
    assert signs.sign_agreement.value == pytest.approx(np.mean(SAME_SIGNS))


def test_pairs_that_cannot_be_compared_stay_in_the_table_with_a_reason():
    agreement = fs.explainer_agreement({"shap": SHAP, "rules": RULES, "keys": LABELS})
    table = agreement.table()
    assert table[["a", "b"]].values.tolist() == [["shap", "rules"], ["shap", "keys"], ["rules", "keys"]]
    assert table["same"].isna().all()
    assert table["feature_agreement"].notna().tolist() == [True, False, False]
    assert all(pair.notes for pair in agreement.pairs)
    assert "so no two can be equal" in agreement.pair("keys", "shap").notes[0]


def test_a_matrix_is_square():
    agreement = fs.explainer_agreement({**BOTH, "rules": RULES}, k=2)
    matrix, told = agreement.matrix("feature_agreement"), agreement.pair("lime", "shap")
    assert matrix.index.tolist() == matrix.columns.tolist() == ["shap", "lime", "rules"]
    assert matrix.equals(matrix.T)
    assert matrix.loc["shap", "lime"] == told.feature_agreement.value
    assert agreement.matrix("chance").loc["shap", "lime"] == told.chance
    assert agreement.matrix("sign_agreement").isna().sum().tolist() == [1, 1, 2]


def test_explainers_of_which_no_two_say_the_same_have_a_table_and_a_page_too(tmp_path):
    comparison = compared(named={"shap": SHAP, "tree": RULES}, discretizer={"shap": fs.SignOfTop(2)})
    table = comparison.explainer_agreement().table()
    assert table[["same", "same_low", "same_high", "kappa_low"]].isna().all(axis=None)
    assert table["feature_agreement_low"].notna().all()
    comparison.to_html(tmp_path / "report.html")
    assert "Agreement of explainers on the same rows" in (tmp_path / "report.html").read_text()
    assert comparison.explainer_agreement().to_markdown()
