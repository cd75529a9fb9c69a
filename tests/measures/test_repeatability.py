"""The tables and notes of repeatability."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput

ROWS = pd.DataFrame({"age": [0.5, -0.2, 0.1], "job": [0.1, 0.9, 0.0]}, index=["ann", "bob", "cy"])


def test_rows_are_told_least_repeatable_first_with_their_labels_and_explanations():
    other = ROWS.assign(age=[0.5, 0.2, 0.1])
    table = fs.repeatability([ROWS, other, other], discretizer="sign").table()
    assert table["row"].tolist() == [1, 0, 2]
    assert table["index"].tolist() == ["bob", "ann", "cy"]
    assert table["value"].tolist() == pytest.approx([1 / 3, 1, 1])
    assert table.loc[0, ["commonest", "runs", "second", "second_runs"]].tolist() == [
        "age 1, job 1",
        2,
        "age -1, job 1",
        1,
    ]
    assert table.loc[1, ["different", "second", "second_runs"]].tolist() == [1, "", 0]


def test_the_positions_of_rows_are_those_that_the_caller_knows():
    repeated = fs.repeatability([ROWS, -ROWS], weights=[0, 1, 1])
    assert sorted(repeated.table()["row"]) == [1, 2]
    assert sorted(repeated.table()["index"]) == ["bob", "cy"]
    assert "1 row of weight 0 left out" in repeated.notes
    assert repeated.features().set_index("feature").loc["age", "mean_size"] == pytest.approx(0.15)


def test_features_of_importances_are_compared_by_sign_place_and_size():
    rng = np.random.default_rng(0)
    runs = [rng.normal(size=(40, 4)).round(1) for _ in range(3)]
    columns = fs.repeatability(runs).features(top=2).set_index("feature")
    stacked = np.stack(runs)
    pairs = [(0, 1), (0, 2), (1, 2)]
    kept = np.stack([fs.SignOfTop(2)(fs.Importances(run)).values != 0 for run in runs])
    for j in range(4):
        signs = np.mean([np.sign(runs[a][:, j]) != np.sign(runs[b][:, j]) for a, b in pairs])
        places = np.mean([kept[a][:, j] != kept[b][:, j] for a, b in pairs])
        spread = np.sqrt(np.mean(stacked[:, :, j].var(axis=0, ddof=1)))
        expected = signs, places, spread, np.abs(stacked[:, :, j]).mean()
        assert columns.loc[f"x{j}"].tolist() == pytest.approx(expected)
    assert columns["top_differs"].is_monotonic_decreasing
    assert len(fs.repeatability(runs).features(2)) == 2


def test_features_that_runs_have_in_another_order_are_the_same_features():
    turned = fs.repeatability([ROWS, ROWS[["job", "age"]]])
    assert turned.value == 1
    assert turned.features()["spread"].tolist() == [0, 0]


def test_features_of_rules_and_words_are_compared_by_whether_they_are_used():
    first = fs.Rules.from_conditions([[("age", "<=", 3)], [("job", "==", "cook")]], features=["age", "job"])
    second = fs.Rules.from_conditions([[("age", "<=", 4)], [("age", ">", 2), ("age", "<", 9)]], features=["age", "job"])
    repeated = fs.repeatability([first, second])
    assert repeated.value == 0
    used = repeated.features().set_index("feature")
    assert used.loc["age"].tolist() == [0.5, 0.75]
    assert used.loc["job"].tolist() == [0.5, 0.25]
    words = fs.repeatability([fs.Highlights([{"good"}, {"bad"}]), fs.Highlights([{"good", "plot"}, {"bad"}])])
    assert words.features(1)["feature"].tolist() == ["plot"]
    flips = [fs.Counterfactuals([[3.0, 1.0]], originals=[[1.0, 1.0]]), fs.Counterfactuals([[1.0, 4.0]], [[1.0, 1.0]])]
    assert fs.repeatability(flips).features()["use_differs"].tolist() == [1, 1]


def test_plain_keys_have_no_features():
    with pytest.raises(BadInput, match="plain keys, which name no features"):
        fs.repeatability([["a"], ["b"]]).features()


def test_pairs_and_runs_show_the_run_that_stands_out():
    repeated = fs.repeatability({"mon": list("aabb"), "tue": list("aabb"), "wed": list("abba")})
    assert repeated.runs_table()["run"].tolist()[0] == "runs['wed']"
    assert repeated.runs_table()["without"].tolist() == pytest.approx([1, 0.5, 0.5])
    assert repeated.pairs().iloc[-1].tolist() == ["runs['mon']", "runs['tue']", 1.0]


def test_a_constant_explainer_repeats_itself_by_chance_alone():
    repeated = fs.repeatability([["a"] * 50] * 3)
    assert (repeated.value, repeated.chance, repeated.adjusted) == (1, 1, None)
    assert "one and the same explanation" in str(repeated)


def test_runs_that_are_all_alike_leave_room_for_what_rows_may_hide():
    repeated = fs.repeatability([list(range(100))] * 5)
    assert repeated.value == repeated.high == 1
    assert repeated.low == pytest.approx(1 - np.log(40) / 100)
    assert "the seed does not reach it" in " ".join(str(repeated).split())


def test_real_numbers_that_nearly_all_differ_are_noted():
    rng = np.random.default_rng(0)
    runs = [rng.normal(size=(30, 3)) for _ in range(3)]
    assert "fs.SignOfTop(5)" in str(fs.repeatability(runs))
    assert "fs.SignOfTop(5)" not in str(fs.repeatability(runs, discretizer="sign"))


def test_of_two_runs_the_interval_is_for_further_rows():
    repeated = fs.repeatability([list("aabb") * 10, list("abbb") * 10])
    assert (repeated.low, repeated.high) == (repeated.rows_low, repeated.rows_high)
    assert repeated.method == "rows"
    assert "of 2 runs nothing is known about others" in str(repeated)


def test_rows_that_repeat_as_a_whole_are_noted_without_calling_the_value_too_high():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 10, axis=0)
    notes = fs.repeatability([np.sign(X), np.sign(X)], X).notes
    assert any("the interval is too narrow" in note for note in notes)
    assert not any("too high" in note for note in notes)


def test_the_chart_shows_rows_by_share():
    chart = fs.repeatability([list("aabb"), list("abba")]).plot().to_dict()
    assert "50% at 0.00, 50% at 1.00" in chart["description"]
    assert {layer["mark"]["style"] for layer in chart["layer"]} == {"rows", "chance-line", "interval", "here"}


def test_many_runs_and_rows_take_seconds():
    rng = np.random.default_rng(0)
    runs = list(rng.integers(0, 3, (10, 100_000)))
    assert fs.repeatability(runs).value == pytest.approx(1 / 3, abs=0.01)
