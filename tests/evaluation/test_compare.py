"""compare(): several explainers on the same rows, with paired differences and honest choices."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explainers import Constant, Random, TreePath, Unique
from faithscope.sample import Sample

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :6]
TREE = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X[:200], Y[:200])
ROWS = X[200:]
METHODS = {"path": TreePath(TREE), "same": Constant(), "random": Random(5), "unique": Unique()}


def test_each_explainer_is_measured_as_if_alone():
    found = fs.compare(TREE, METHODS, ROWS)
    assert list(found.evaluations) == list(METHODS)
    for name, one in METHODS.items():
        alone = fs.evaluate(TREE, one, ROWS)
        assert found.evaluations[name].consistency == alone.consistency
        assert found.evaluations[name].sufficiency == alone.sufficiency
        assert found.evaluations[name].name == name


def test_the_table_has_a_line_for_each_explainer_and_measure():
    table = fs.compare(TREE, METHODS, ROWS).table()
    assert table[["explainer", "measure"]].to_numpy().tolist() == [
        ["path", "consistency"],
        ["path", "sufficiency"],
        ["path", "necessity"],
        ["same", "consistency"],
        ["random", "consistency"],
        ["unique", "consistency"],
    ]
    assert table["value"].iloc[0] > 0.99


def test_differences_say_which_explainers_differ():
    lines = fs.compare(TREE, METHODS, ROWS).differences().set_index(["a", "b"])
    assert lines.loc[("path", "same"), "differ"]
    assert lines.loc[("path", "same"), "low"] > 0
    assert not lines.loc[("path", "unique"), "differ"]
    assert len(lines) == 6


def test_differences_in_sufficiency_are_paired_too():
    small = TreePath.surrogate(TREE, X[:200], max_leaf_nodes=2)
    lines = fs.compare(TREE, {"path": TreePath(TREE), "small": small}, ROWS).differences()
    assert lines["measure"].tolist() == ["consistency", "sufficiency", "necessity"]
    assert lines["value"].iloc[0] == pytest.approx(lines["value"].iloc[1], abs=0.05)
    assert (lines["low"] <= lines["value"]).all()


def test_one_discretizer_is_used_where_it_fits_and_the_table_says_where():
    def importances(rows):
        return rows.to_numpy() - rows.to_numpy().mean(axis=0)

    found = fs.compare(TREE, {"path": TreePath(TREE), "vectors": importances}, ROWS, discretizer=fs.Sign())
    assert found.table()["discretizer"].tolist() == ["Original()", "Original()", "Original()", "Sign()"]
    named = fs.compare(TREE, {"a": importances, "b": importances}, ROWS, discretizer={"a": fs.Rank()})
    assert named.table()["discretizer"].tolist() == ["Rank()", "Original()"]


def test_a_discretizer_that_was_named_for_an_explainer_must_fit_it():
    with pytest.raises(fs.errors.WrongType, match=r"Sign\(\) discretizes importances"):
        fs.compare(TREE, {"path": TreePath(TREE)}, ROWS, discretizer={"path": fs.Sign()})


def test_best_chooses_on_one_half_and_reports_on_the_other():
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    choosing, reporting = Sample(fs.Importances(noise), labels).halves(seed=3)
    looked, kept = choosing.positions, reporting.positions
    assert sorted([*looked, *kept]) == list(range(400))
    found = fs.compare(labels, {"noise": noise}, pd.DataFrame(noise), discretizer=fs.Best(), seed=3)
    ev = found.evaluations["noise"]
    assert found.rows_to_choose == 200
    assert ev.consistency.n == 200
    chosen = fs.Best()._among(choosing, 0.95)
    assert ev.discretizer == repr(chosen)
    assert ev.consistency.value == fs.consistency(noise[kept], labels[kept], discretizer=chosen).value
    alone = fs.evaluate(labels, noise, noise, discretizer=fs.Best(), seed=3)
    assert alone.consistency.value == ev.consistency.value


@pytest.mark.slow
def test_choosing_honestly_does_not_make_noise_look_good():
    """The best of many random partitions looks better than chance on the rows it was chosen on, not on others."""
    rng = np.random.default_rng(1)
    above_chosen = above_kept = 0.0
    for _ in range(30):
        table, labels = rng.integers(0, 10, (200, 40)).astype(float), rng.integers(0, 2, 200)
        picks = [lambda e, j=j: e.values[:, j] for j in range(40)]
        here = max((fs.consistency(table, labels, discretizer=p) for p in picks), key=lambda e: e.low)
        there = fs.evaluate(labels, table, table, discretizer=fs.Best(picks)).consistency
        above_chosen += here.verified - here.chance
        above_kept += there.verified - there.chance
    assert above_chosen / 30 > 0.02
    assert abs(above_kept / 30) < 0.01


def test_populations_are_measured_for_every_explainer():
    groups = np.where(ROWS["mean radius"] > 14, "large", "small")
    found = fs.compare(TREE, METHODS, ROWS, groups=groups)
    assert set(found.populations) == set(METHODS)
    assert sum(found.populations["same"].table()["n"]) == len(ROWS)


def test_a_comparison_reads_as_text_json_html_and_a_chart():
    found = fs.compare(TREE, METHODS, ROWS, groups=(ROWS["mean radius"] > 14).to_numpy())
    assert sum(": " in line for line in str(found).splitlines()) == 6
    assert max(map(len, str(found).splitlines())) <= 100
    assert json.loads(json.dumps(found.to_dict(), default=str))["evaluations"]["same"]["name"] == "same"
    assert "<table" in found._repr_html_()
    assert "<b>" not in fs.compare(TREE, {"<b>x</b>": Constant()}, ROWS)._repr_html_()
    assert found.plot().to_dict()


@pytest.mark.parametrize(
    ("explainers", "message"),
    [({}, "no explainer"), ([Constant()], "explainers by name"), ({"short": [1, 2]}, "explanations of short")],
)
def test_bad_explainers_get_a_clear_sentence(explainers, message):
    with pytest.raises(fs.errors.FaithscopeError, match=message):
        fs.compare(TREE, explainers, ROWS)


def test_best_needs_rows_and_discretizers():
    with pytest.raises(fs.errors.BadInput, match="at least 4"):
        fs.evaluate([0, 1], [[1.0], [2.0]], [[0], [1]], discretizer=fs.Best())
    with pytest.raises(fs.errors.BadInput, match="at least one discretizer"):
        fs.evaluate([0, 1] * 4, [[1.0], [2.0]] * 4, [[0], [1]] * 4, discretizer=fs.Best([]))


def test_a_comparison_is_a_mapping_from_names_to_evaluations():
    found = fs.compare(TREE, METHODS, ROWS, progress=False)
    assert found["path"] is found.evaluations["path"]
    assert list(found) == list(found.keys()) == list(METHODS)
    assert list(found.values()) == list(found.evaluations.values())
    assert dict(found.items()) == dict(found) == found.evaluations
    assert len(found) == 4
    assert "path" in found
    assert "tree" not in found
    assert 3 not in found


@pytest.mark.parametrize("name", ["pth", "nobody", 3, None, ["path"]])
def test_a_missing_name_gets_a_sentence_with_near_names(name):
    found = fs.compare(TREE, METHODS, ROWS, progress=False)
    with pytest.raises(KeyError) as error:
        found[name]
    assert isinstance(error.value, fs.errors.FaithscopeError)
    near = name in ("pth", ["path"])
    said = "Did you mean 'path'?" if near else "There are 'path', 'same', 'random', 'unique'."
    assert str(error.value) == f"No explainer is called {name!r}. {said}"


def test_groups_are_measured_by_every_measure_that_there_is():
    groups = pd.Series(np.where(ROWS["mean radius"] > 14, "large", "small"), name="size")
    found = fs.compare(TREE, METHODS, ROWS, groups=groups, progress=False)
    assert set(found.sufficiency_populations) == {"path"}
    alone = found["path"].by(groups, "sufficiency")
    assert found.sufficiency_populations["path"] == alone
    assert {one.by for one in (*found.populations.values(), alone)} == {"size"}


def test_only_our_baselines_are_known_as_such():
    found = fs.compare(TREE, {**METHODS, "ready": Constant().explain(ROWS)}, ROWS, progress=False)
    assert [name for name, ev in found.items() if ev.baseline] == ["same", "random", "unique"]
    assert fs.evaluate(TREE, Random(3), ROWS, progress=False).baseline


def test_a_discretizer_for_an_explainer_that_is_not_compared_is_refused_before_anything_is_asked():
    def never(rows):
        raise AssertionError("asked")

    with pytest.raises(fs.errors.UnknownName, match=r"discretizer names 'pth', .* Did you mean 'path'\?"):
        fs.compare(never, {"path": never, "lime": never}, ROWS, discretizer={"pth": fs.Sign(), "lime": None})


def test_explainers_and_their_discretizers_are_found_by_the_text_of_their_names():
    importances = ROWS.to_numpy() - ROWS.to_numpy().mean(axis=0)
    found = fs.compare(TREE, {1: importances, 2: importances}, ROWS, discretizer={1: fs.Sign()})
    assert found["1"].discretizer == "Sign()"
    assert found["2"].discretizer == "Original()"


def test_two_names_that_read_alike_are_refused():
    with pytest.raises(BadInput, match="Two explainers are called '1'"):
        fs.compare([0, 1], {1: ["a", "b"], "1": ["a", "a"]}, [[0.0], [1.0]])


def test_missing_groups_are_counted_before_anything_is_explained():
    def explain(rows):
        raise AssertionError("asked in vain")

    groups = pd.Series(["a", None, "b", None] + ["a"] * (len(ROWS) - 4), index=ROWS.index)
    with pytest.raises(fs.errors.BadInput, match=r"Groups are missing at row 1 \(.*\) and 1 more"):
        fs.compare(TREE, {"never": explain}, ROWS, groups=groups)
