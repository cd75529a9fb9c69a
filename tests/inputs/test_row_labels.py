"""The labels of pandas rows are read: other orders are refused, and answers speak of rows by their labels."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.random import default_rng
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput

N = 80
RNG = default_rng(0)
X = pd.DataFrame(
    {"a": RNG.integers(0, 4, N), "b": RNG.integers(0, 3, N)}, index=[f"customer {number}" for number in range(N)]
)
Y = ((X["a"] > 1) ^ (X["b"] > 1)).astype(int)
WHY = X[["a"]].astype(float)
ROWS = WHY.to_numpy()
GROUPS = X["b"] > 0
WEIGHTS = pd.Series(np.linspace(1, 2, N), index=X.index)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
RULES = fs.explainers.TreePath(TREE).explain(X)


def moved(thing):
    return thing.iloc[::-1]


def renamed(thing):
    return thing.set_axis(range(1000, 1000 + N), axis=0)


DAYS = pd.Series(pd.date_range("2026-01-01", periods=N), index=X.index)


def watched(why, predictions, by=None, when="2026-01-01"):
    """A monitor's answer, with the notes of what was added."""
    monitor = fs.Monitor(by=None if by is None else "g")
    added = monitor.add(why, predictions, by=by, when=when, batch="all")
    look = monitor.single_look(None if by is None else True)
    return SimpleNamespace(notes=added.notes, value=(look.value, monitor.limits()))


CALLS = {
    "consistency, predictions": (lambda y: fs.consistency(WHY, y), Y),
    "consistency, explanations": (lambda why: fs.consistency(why, Y), WHY),
    "consistency, weights": (lambda w: fs.consistency(WHY, Y, weights=w), WEIGHTS),
    "sufficiency, X": (lambda rows: fs.sufficiency(RULES, Y, rows), X),
    "sufficiency, predictions": (lambda y: fs.sufficiency(RULES, y, X), Y),
    "within": (lambda y: fs.within(WHY, y, 0.5), Y),
    "tolerance_curve": (lambda y: fs.tolerance_curve(WHY, y, [0.5]).estimates[0], Y),
    "evaluate, predictions": (lambda y: fs.evaluate(y, WHY, X).consistency, Y),
    "evaluate, explanations": (lambda why: fs.evaluate(Y, why, X).consistency, WHY),
    "evaluate, X": (lambda rows: fs.evaluate(Y, RULES, rows).sufficiency, X),
    "compare, predictions": (lambda y: fs.compare(y, {"a": WHY}, X).evaluations["a"].consistency, Y),
    "compare, groups": (lambda g: fs.compare(Y, {"a": WHY}, X, by=g)["a"].populations.estimates[True], GROUPS),
    "by": (lambda g: fs.evaluate(Y, WHY, X).by(g).estimates[True], GROUPS),
    "monitor, predictions": (lambda y: watched(WHY, y), Y),
    "monitor, groups": (lambda g: watched(WHY, Y, by=g), GROUPS),
    "monitor, moments": (lambda when: watched(WHY, Y, when=when), DAYS),
    "certify": (lambda y: fs.certify(WHY, y).estimates[0], Y),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_labels_in_another_order_are_an_error_and_other_labels_a_note(name):
    call, given = CALLS[name]
    assert not any("row labels" in note for note in call(given).notes)
    with pytest.raises(BadInput, match="in another order: at position 0, "):
        call(moved(given))
    told = [note for note in call(renamed(given)).notes if "row labels" in note]
    assert len(told) == 1
    assert told[0].endswith("differ, so rows were matched by position")
    assert call(renamed(given)).value == call(given).value


@pytest.mark.parametrize(
    "call",
    [
        lambda y: fs.GibbsDecoder().fit(WHY, y),
        lambda y: fs.sample_until([(WHY, y)], [0.0], 0.3, 50),
        lambda y: fs.evaluate(lambda rows: y, WHY, X),
        lambda y: fs.evaluate(Y, lambda rows: y.to_frame().astype(float), X),
        lambda y: fs.local(X.iloc[0], lambda rows: y if len(rows) > 1 else [0], lambda rows: rows[["a"]], X),
        lambda y: fs.compare(Y.to_numpy(), {"a": WHY, "b": WHY.loc[y.index]}, ROWS),
        lambda y: fs.Counterfactuals(X.loc[y.index] + 1, X),
        lambda y: fs.consistency(WHY, Y, discretizer=lambda given: WHY.loc[y.index]),
    ],
)
def test_nothing_that_takes_two_of_them_looks_away(call):
    call(Y)
    with pytest.raises(BadInput, match="in another order"):
        call(moved(Y))


def test_evaluate_and_compare_say_alike_how_to_align_explanations():
    for explanations in (moved(WHY), moved(WHY)["a"], fs.Importances(moved(WHY)), renamed(WHY)):
        said = []
        for call in (
            lambda: fs.evaluate(Y, explanations, ROWS),  # noqa: B023
            lambda: fs.compare(Y, {"a": explanations}, ROWS)["a"],  # noqa: B023
        ):
            try:
                said.append(call().consistency.notes)
            except BadInput as error:
                said.append(str(error))
        assert said[0] == said[1]
        assert said[0]


def test_the_error_says_how_to_align_and_both_ways_run():
    predictions, explanations = moved(Y), WHY
    with pytest.raises(BadInput) as refused:
        fs.consistency(explanations, predictions)
    by_label, by_position = "predictions.loc[explanations.index]", "predictions.to_numpy()"
    assert by_label in str(refused.value)
    assert by_position in str(refused.value)
    names = {"predictions": predictions, "explanations": explanations}
    assert fs.consistency(WHY, eval(by_label, names)).value == fs.consistency(WHY, Y).value
    assert fs.consistency(WHY, eval(by_position, names)).value != fs.consistency(WHY, Y).value


def test_repeated_labels_are_fine_in_the_same_order_and_never_aligned_by_label():
    labels = np.repeat(np.arange(N // 2), 2)
    why, y = WHY.set_axis(labels), Y.set_axis(labels)
    assert fs.consistency(why, y).notes == ()
    with pytest.raises(BadInput, match="pass them without labels") as refused:
        fs.consistency(why, moved(y))
    assert "if labels do not repeat" in str(refused.value)


def test_labels_of_other_levels_or_missing_ones_can_be_compared():
    levels = pd.MultiIndex.from_arrays([X.index, range(N)])
    for mine, theirs in ((levels, X.index), (X.index, levels)):
        (note,) = fs.consistency(WHY.set_axis(mine), Y.set_axis(theirs)).notes
        assert "matched by position" in note
    missing = pd.Index([pd.NA, *X.index[1:]], dtype=object)
    assert not fs.consistency(WHY.set_axis(missing), Y.set_axis(missing)).notes
    with pytest.raises(BadInput, match="at position 0, 'customer 79' instead of <NA>"):
        fs.consistency(WHY.set_axis(missing), Y.set_axis(missing[::-1]))


def test_what_has_no_labels_cannot_disagree():
    plain = fs.consistency(WHY.to_numpy(), Y.to_numpy())
    for why in (WHY, WHY.to_numpy(), pl.from_pandas(WHY), WHY["a"].tolist()):
        for y in (Y, Y.to_numpy(), pl.Series(Y.to_numpy()), Y.tolist()):
            assert fs.consistency(why, y).value == plain.value
            assert fs.consistency(why, y).notes == ()
    assert fs.consistency(WHY.set_axis(X.index.astype("category")), Y).notes == ()


def test_what_a_function_makes_anew_is_in_the_order_of_its_rows():
    for rows in (moved(X), X.reset_index(drop=True).sample(frac=1, random_state=0)):
        found = fs.evaluate(lambda X: pd.Series(TREE.predict(X)), lambda X: pd.DataFrame(X.to_numpy()), rows)
        assert found.consistency.notes == ()


def test_explanations_take_their_labels_along():
    kinds = {
        "importances": fs.Importances(WHY),
        "rules": RULES,
        "prototypes": fs.Prototypes(X["a"]),
        "counterfactuals": fs.Counterfactuals((X + 1).to_numpy(), X),
        "highlights": fs.Highlights(pd.Series([{"good"}] * N, index=X.index)),
        "conditions": fs.Rules.from_conditions(pd.Series([[("a", ">", 1)]] * N, index=X.index), features=["a", "b"]),
    }
    for name, one in kinds.items():
        assert one.index.equals(X.index), name
        assert one.take([3, 1]).index.tolist() == ["customer 3", "customer 1"], name
        assert one.take(slice(2)).index.tolist() == ["customer 0", "customer 1"], name
        assert one.take(slice(2)).join(one.take([5])).index.tolist()[-1] == "customer 5", name
        assert one.take([0]).join(one._with(index=None)).index is None, name


def pairs_hold(pairs, rows, labels, predictions, why):
    """Positions and labels of pairs both lead to rows with the same explanation and different predictions."""
    assert len(pairs)
    for pair in pairs.to_dict("records"):
        for end in "ab":
            assert labels[pair[f"row_{end}"]] == pair[f"index_{end}"]
            assert predictions[pair[f"row_{end}"]] == pair[f"prediction_{end}"]
        assert why[pair["row_a"]] == why[pair["row_b"]]
        assert pair["prediction_a"] != pair["prediction_b"]


@pytest.mark.parametrize("discretizer", [None, fs.Best([fs.Sign(), None])])
def test_counterexamples_name_the_rows_that_were_handed_over(discretizer):
    why = np.sign(WHY["a"].to_numpy()) if discretizer else WHY["a"].to_numpy()
    found = fs.evaluate(Y, WHY, X, discretizer=discretizer)
    pairs_hold(found.counterexamples(), X, X.index, Y.to_numpy(), why)
    found = fs.evaluate(Y.to_numpy(), WHY.to_numpy(), X.to_numpy(), discretizer=discretizer)
    pairs_hold(found.counterexamples(), X, np.arange(N), Y.to_numpy(), why)
    several = fs.compare(Y, {"one": WHY, "other": RULES}, X, discretizer={"one": discretizer})
    pairs_hold(several.evaluations["one"].counterexamples(), X, X.index, Y.to_numpy(), why)
