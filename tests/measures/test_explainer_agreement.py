"""Agreement of explainers: granularities, kinds, rows, and what it refuses."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput, UnknownName, WrongType

RNG = np.random.default_rng(0)
SHAP = RNG.normal(size=(40, 4))
LIME = SHAP + RNG.normal(size=(40, 4))
NAMES = ["age", "job", "hours", "pay"]
LABELS = [f"row {i}" for i in range(40)]
ROWS = pd.DataFrame(SHAP, columns=NAMES, index=LABELS)
RULES = fs.Rules.from_conditions([[("age", ">", 0.0)] if row[0] > 0 else [] for row in SHAP], features=NAMES)
PREDICTIONS = SHAP[:, 0] > 0


def test_importances_are_compared_by_the_usual_granularity_and_a_note_says_so():
    agreement = fs.explainer_agreement({"shap": SHAP, "lime": LIME})
    assert agreement.explainers == {"shap": "SignOfTop(k=5)", "lime": "SignOfTop(k=5)"}
    assert "importances were compared by SignOfTop(k=5)" in agreement.notes[0]
    explicit = fs.explainer_agreement({"shap": SHAP, "lime": LIME}, discretizer="sign-of-top-5")
    assert explicit.pairs[0].same == agreement.pairs[0].same
    assert not any("SignOfTop" in note for note in explicit.notes)


def test_a_comparison_is_asked_at_the_granularity_at_which_it_was_made():
    comparison = fs.compare(PREDICTIONS, {"shap": SHAP, "lime": LIME}, ROWS, discretizer="sign", progress=False)
    ready = fs.explainer_agreement({"shap": SHAP, "lime": LIME}, discretizer="sign")
    assert comparison.agreement().pairs[0] == ready.pairs[0]
    assert comparison.agreement("rank").pairs[0].same != ready.pairs[0].same
    plain = fs.compare(PREDICTIONS, {"shap": SHAP, "lime": LIME}, ROWS, progress=False)
    assert "SignOfTop" in plain.agreement().notes[0]
    assert plain.agreement(confidence=0.5).confidence == 0.5


def test_weights_and_clusters_are_those_of_the_comparison():
    weights, clusters = RNG.integers(0, 3, 40), np.arange(40) // 2
    both = {"weights": weights, "clusters": clusters}
    comparison = fs.compare(PREDICTIONS, {"shap": SHAP, "lime": LIME}, ROWS, discretizer="sign", **both, progress=False)
    ready = fs.explainer_agreement({"shap": SHAP, "lime": LIME}, discretizer="sign", **both)
    assert comparison.agreement().pairs[0] == ready.pairs[0]
    assert comparison.agreement().clusters == ready.clusters < 21
    assert ready.n == np.count_nonzero(weights)


def test_repeated_rows_are_told():
    twice, rows = np.repeat(SHAP, 2, axis=0), pd.DataFrame(np.repeat(SHAP, 2, axis=0))
    named = {"shap": twice, "lime": np.repeat(LIME, 2, axis=0)}
    comparison = fs.compare(np.repeat(PREDICTIONS, 2), named, rows, progress=False)
    assert "50% of rows repeat an earlier row in every column, so intervals may be" in comparison.agreement().notes[0]
    together = fs.compare(np.repeat(PREDICTIONS, 2), named, rows, clusters=np.arange(80) // 2, progress=False)
    alone = fs.compare(PREDICTIONS, {"shap": SHAP, "lime": LIME}, ROWS, progress=False)
    assert together.agreement().pairs[0].kappa == pytest.approx(alone.agreement().pairs[0].kappa)
    assert not any("repeat" in note for note in together.agreement().notes)


def test_rows_that_served_to_choose_are_not_among_those_reported():
    comparison = fs.compare(
        PREDICTIONS, {"shap": SHAP, "lime": LIME}, ROWS, discretizer=fs.Best(["sign"]), progress=False
    )
    agreement, reported = comparison.agreement(), comparison["shap"].rows
    assert agreement.n == 20
    rows = agreement.rows("shap", "lime", 40)
    assert set(rows["row"]) <= set(reported.tolist())
    assert rows["index"].tolist() == [LABELS[row] for row in rows["row"]]
    same = (np.sign(SHAP) == np.sign(LIME)).all(axis=1)[reported]
    assert agreement.pairs[0].same.value == pytest.approx(same.mean())


def test_rows_are_those_that_differ_the_least_alike_first():
    agreement = fs.explainer_agreement({"shap": ROWS, "lime": LIME}, k=2, weights=[0] * 10 + [1] * 30)
    rows = agreement.rows("lime", "shap", k=100)
    signs = np.sign(SHAP) == np.sign(LIME)
    assert sorted(rows["row"]) == [row for row in range(10, 40) if not signs[row].all()]
    assert rows["index"].tolist() == [LABELS[row] for row in rows["row"]]
    assert rows["feature_agreement"].is_monotonic_increasing
    first = rows.iloc[0]
    described = [fs.SignOfTop(5)(fs.Importances(each, names=NAMES)).describe(first["row"]) for each in (LIME, SHAP)]
    told = [first["explanation_a"].split(", "), first["explanation_b"].split(", ")]
    assert [[part.split()[-1] for part in each] for each in told] == [
        [part.split()[-1] for part in each.split(", ")] for each in described
    ]


def test_features_are_matched_by_name_whatever_their_order():
    turned = pd.DataFrame(LIME[:, ::-1], columns=NAMES[::-1])
    pair = fs.explainer_agreement({"shap": ROWS.reset_index(drop=True), "lime": turned}, k=2).pairs[0]
    assert pair == fs.explainer_agreement({"shap": SHAP, "lime": LIME}, k=2).pairs[0]


def test_one_hot_features_are_compared_with_their_column_once_they_are_summed():
    hot = fs.Importances(SHAP, names=["age", "job_clerk", "job_cook", "pay"])
    raw = fs.Importances(LIME[:, :3], names=["age", "job", "pay"])
    named = {"hot": hot, "raw": raw}
    unmatched = fs.explainer_agreement(named, k=2).pairs[0]
    assert unmatched.same is unmatched.rank_agreement is None
    assert any("fs.Grouped" in note for note in unmatched.notes)
    grouped = fs.Grouped({"job": ["job_clerk", "job_cook"]})
    how = {"hot": grouped | fs.SignOfTop(1), "raw": fs.SignOfTop(1)}
    summed = fs.Importances(np.column_stack([SHAP[:, 0], SHAP[:, 1:3].sum(axis=1), SHAP[:, 3]]), names=raw.names)
    expected = fs.explainer_agreement({"hot": summed, "raw": raw}, discretizer=fs.SignOfTop(1), k=2).pairs[0]
    assert fs.explainer_agreement(named, discretizer=how, k=2).pairs[0] == expected


def test_rules_over_features_in_another_order_are_the_same_rules():
    one = fs.Rules.parse(["age <= 3 and job == clerk", "job == cook", "everything"])
    other = fs.Rules.parse(["job == clerk and age <= 3", "job == cook and age > 9", "everything"])
    pair = fs.explainer_agreement({"one": one, "other": other}).pairs[0]
    assert pair.same.value == pytest.approx(2 / 3)
    assert pair.feature_agreement.value == pytest.approx((1 + 0.5 + 1) / 3)


def test_highlights_are_compared_however_documents_are_read():
    one, other = fs.Highlights([{"great"}, {"dull"}]), fs.Highlights([{"great"}, {"plot"}], tokenizer=list)
    assert fs.explainer_agreement({"one": one, "other": other}).pairs[0].same.value == 0.5


def test_counterfactuals_name_what_they_change():
    points = SHAP + np.array([1.0, 0, 0, 0])
    pair = fs.explainer_agreement({"cf": fs.Counterfactuals(points, SHAP), "shap": np.abs(SHAP)}, k=1).pairs[0]
    assert pair.feature_agreement.value == pytest.approx(np.mean(np.abs(SHAP).argmax(axis=1) == 0))
    assert pair.same is pair.sign_agreement is None


def test_signs_alone_have_no_ranks():
    pair = fs.explainer_agreement({"a": fs.Sign()(fs.Importances(SHAP)), "b": fs.Sign()(fs.Importances(LIME))}).pairs[0]
    assert pair.rank_agreement is pair.signed_rank_agreement is None
    assert pair.sign_agreement.value == pytest.approx(np.mean(np.sign(SHAP) == np.sign(LIME)))


def test_pairs_that_cannot_be_compared_stay_in_the_table_with_a_reason():
    agreement = fs.explainer_agreement({"shap": SHAP, "rules": RULES, "keys": LABELS})
    table = agreement.table()
    assert table[["a", "b"]].values.tolist() == [["shap", "rules"], ["shap", "keys"], ["rules", "keys"]]
    assert table["same"].isna().all()
    assert table["feature_agreement"].notna().tolist() == [True, False, False]
    assert all(pair.notes for pair in agreement.pairs)
    assert "cannot be the same explanation" in agreement.pair("keys", "shap").notes[0]


def test_a_matrix_is_square_and_knows_the_short_names():
    agreement = fs.explainer_agreement({"shap": SHAP, "lime": LIME, "rules": RULES}, k=2)
    matrix = agreement.matrix("FA")
    assert matrix.index.tolist() == matrix.columns.tolist() == ["shap", "lime", "rules"]
    assert matrix.equals(agreement.matrix("feature_agreement"))
    assert np.array_equal(matrix, matrix.T)
    assert matrix.loc["shap", "lime"] == agreement.pair("lime", "shap").feature_agreement.value
    assert agreement.matrix("sra").isna().sum().tolist() == [1, 1, 2]
    assert agreement.matrix("chance").loc["shap", "lime"] == agreement.pair("lime", "shap").chance


def test_all_features_named_is_said():
    assert any("pass a smaller k" in note for note in fs.explainer_agreement({"a": SHAP, "b": LIME}, k=4).notes)
    assert not any("smaller k" in note for note in fs.explainer_agreement({"a": SHAP, "b": LIME}, k=3).notes)


def test_an_explainer_that_says_nothing_names_nothing():
    nothing = np.zeros_like(SHAP)
    assert fs.explainer_agreement({"a": nothing, "b": SHAP}).pairs[0].feature_agreement.value == 0
    both = fs.explainer_agreement({"a": nothing, "b": nothing}).pairs[0]
    assert both.feature_agreement.value == both.same.value == both.chance == 1
    assert both.kappa is None


@pytest.mark.parametrize(
    "agreement", [{"a": SHAP, "b": LIME}, {"a": SHAP, "b": LIME, "c": -SHAP}, {"a": SHAP, "b": RULES}]
)
def test_a_line_fits_a_terminal(agreement):
    assert len(str(fs.explainer_agreement(agreement, k=2))) <= 100


BAD = [
    ({"a": SHAP}, {}, BadInput, "at least two explainers; got 1"),
    (SHAP, {}, WrongType, "takes explanations by name"),
    ({"a": SHAP, "b": LIME[:9]}, {}, BadInput, "have 40 rows but explanations of b have 9"),
    ({1: SHAP, "1": LIME}, {}, BadInput, "Two explainers are called '1'"),
    ({"a": SHAP, "b": LIME}, {"k": 0}, BadInput, "k, the number of features"),
    ({"a": SHAP, "b": LIME}, {"confidence": 1}, BadInput, "confidence must be"),
    ({"a": SHAP, "b": LIME}, {"discretizer": {"c": "sign"}}, UnknownName, "which is no explainer here"),
    ({"a": SHAP, "b": LIME}, {"clusters": [1] * 40}, BadInput, "of one cluster"),
    ({"a": RULES, "b": RULES}, {"discretizer": "sign"}, WrongType, "discretizes importances"),
    ({"a": LABELS, "b": SHAP}, {}, BadInput, "No two of these explainers can be compared; 'a' and 'b': plain keys and"),
    ({"a": SHAP[:, :3], "b": LIME}, {}, BadInput, "No two of these explainers"),
    ({"a": ROWS, "b": ROWS[::-1]}, {}, BadInput, "in another order"),
]


@pytest.mark.parametrize(("given", "how", "error", "words"), BAD)
def test_what_cannot_be_compared_gets_one_sentence(given, how, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        fs.explainer_agreement(given, **how)


def test_one_explainer_cannot_agree_with_another():
    comparison = fs.compare(PREDICTIONS, {"shap": SHAP}, ROWS, progress=False)
    with pytest.raises(BadInput, match="at least two explainers; got only 'shap'"):
        comparison.agreement()
    agreement = fs.explainer_agreement({"a": SHAP, "b": LIME})
    with pytest.raises(UnknownName, match="Did you mean 'same'"):
        agreement.matrix("sme")
    with pytest.raises(BadInput, match="'a' twice"):
        agreement.rows("a", "a")
    with pytest.raises(UnknownName, match="No explainer is called 'z'"):
        agreement.pair("a", "z")


def test_importances_without_names_meet_all_others_in_one_order():
    table = pd.DataFrame([[1.0, -2.0, 3.0], [3.0, 1.0, -2.0]] * 5, columns=list("abc"))
    given = {"plain": table.to_numpy(), "table": table, "turned": table[list("cab")]}
    agreement = fs.explainer_agreement(given, discretizer=fs.SignOfTop(1), k=1)
    assert [(pair.same.value, pair.feature_agreement.value) for pair in agreement.pairs] == [(1.0, 1.0)] * 3
    assert "plain has no names of features" in agreement.notes[0]
    assert not fs.explainer_agreement({"plain": table.to_numpy(), "table": table}, discretizer="sign", k=1).notes


def test_explanations_that_cannot_be_read_are_named():
    with pytest.raises(BadInput, match="Explanations of 'lime' cannot be read: Importances hold nan at row 1"):
        fs.explainer_agreement({"shap": [[1.0], [2.0]], "lime": [[1.0], [np.nan]]})
