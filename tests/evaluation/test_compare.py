"""compare(): several explainers on the same rows, with paired differences and honest choices."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, UnknownName, WrongType
from faithscope.explainers import Constant, Random, TreePath, Unique
from faithscope.sample import Sample
from refused import refused

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :6]
TREE = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X[:200], Y[:200])
ROWS = X[200:]
GROUPS = pd.Series(np.where(ROWS["mean radius"] > 14, "large", "small"), name="size")
METHODS = {"path": TreePath(TREE), "same": Constant(), "random": Random(5), "unique": Unique()}


def importances(rows):
    return rows.to_numpy() - rows.to_numpy().mean(axis=0)


@pytest.fixture(scope="module")
def found():
    return fs.compare(TREE, METHODS, ROWS, groups=GROUPS)


def test_each_explainer_is_measured_as_if_alone_and_groups_by_every_measure_that_there_is(found):
    for name, method in METHODS.items():
        alone = fs.evaluate(TREE, method, ROWS)
        assert (found[name].name, alone.baseline, found[name].baseline) == (name, name != "path", name != "path")
        assert found[name].consistency == alone.consistency
        assert found[name].sufficiency == alone.sufficiency
        assert found.populations[name] == alone.by(GROUPS)
    assert found.sufficiency_populations == {"path": found["path"].by(GROUPS, "sufficiency")}
    assert {parts.by for parts in (*found.populations.values(), *found.sufficiency_populations.values())} == {"size"}


def test_the_table_and_the_text_have_a_line_for_each_explainer_and_measure(found):
    lines = [("path", "consistency"), ("path", "sufficiency"), ("path", "necessity")]
    lines += [(name, "consistency") for name in ("same", "random", "unique")]
    assert list(found.table()[["explainer", "measure"]].itertuples(index=False, name=None)) == lines
    assert found.table()["value"].iloc[0] > 0.99
    assert sum(": " in line for line in str(found).splitlines()) == 6
    assert max(map(len, str(found).splitlines())) <= 100
    assert "<b>" not in fs.compare(TREE, {"<b>x</b>": Constant()}, ROWS)._repr_html_()


def test_differences_say_which_explainers_differ(found):
    lines = found.differences().set_index(["a", "b"])
    assert lines.loc[("path", "same"), "differ"]
    assert lines.loc[("path", "same"), "low"] > 0
    assert not lines.loc[("path", "unique"), "differ"]
    assert len(lines) == 6
    small = TreePath.surrogate(TREE, X[:200], max_leaf_nodes=2)
    lines = fs.compare(TREE, {"path": METHODS["path"], "small": small}, ROWS).differences()
    assert lines["measure"].tolist() == ["consistency", "sufficiency", "necessity"]
    assert lines["value"].iloc[0] == pytest.approx(lines["value"].iloc[1], abs=0.05)
    assert (lines["low"] <= lines["value"]).all()


def test_rules_that_group_rows_alike_may_differ_and_unseen_rows_are_allowed_for_if_asked():
    rng = np.random.default_rng(0)
    x, labels = rng.integers(0, 40, (200, 1)).astype(float), rng.integers(0, 2, 200)

    def differences(one, other, **how):
        """Of rules which say of each row the values from its own on, so many."""
        given = {
            name: fs.Rules.from_conditions([[("k", ">=", k), ("k", "<", k + width)] for k in x[:, 0]], features=["k"])
            for name, width in {"a": one, "b": other}.items()
        }
        return fs.compare(labels, given, x, **how).differences().set_index("measure")

    default, widest = differences(1.0, 4.0), differences(1.0, 4.0, interval="any")
    assert (default.high > default.low).all()
    assert widest.low["sufficiency"] < default.low["sufficiency"] - 0.02
    assert widest.high["sufficiency"] > default.high["sufficiency"] + 0.02
    assert (differences(4.0, 4.0)[["low", "high"]] == 0).all(axis=None), "the same rules, though made apart"


def test_a_certificate_of_rows_logged_again_says_so():
    rng = np.random.default_rng(0)
    for times in (2, 12, 100):
        explanations, labels = np.repeat(rng.integers(0, 10**6, 200), times), np.repeat(rng.integers(0, 2, 200), times)
        certificate = fs.certify(explanations, labels, [None])
        assert any(f"exactly {times} rows" in note for note in certificate.notes)
        assert certificate.notes[0] in " ".join(str(certificate).split())
        assert certificate.to_dict()["notes"] == list(certificate.notes)


def test_one_discretizer_is_used_where_it_fits_and_the_table_says_where():
    mixed = fs.compare(TREE, {"path": METHODS["path"], "vectors": importances}, ROWS, discretizer=fs.Sign())
    assert mixed.table()["discretizer"].tolist() == ["Original()", "Original()", "Original()", "Sign()"]
    for names in ("ab", (1, 2)):  # found by the text of their names
        named = fs.compare(TREE, dict.fromkeys(names, importances), ROWS, discretizer={names[0]: fs.Rank()})
        assert named.table()["discretizer"].tolist() == ["Rank()", "Original()"]


def test_best_chooses_on_one_half_and_reports_on_the_other():
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    choosing, reporting = Sample(fs.Importances(noise), labels).halves(seed=3)
    kept = reporting.positions
    assert sorted([*choosing.positions, *kept]) == list(range(400))
    found = fs.compare(labels, {"noise": noise}, pd.DataFrame(noise), discretizer=fs.Best(), seed=3)
    assert found.rows_to_choose == found["noise"].consistency.n == 200
    chosen = fs.Best()._among(choosing, 0.95)
    assert found["noise"].discretizer == repr(chosen)
    alone = fs.evaluate(labels, noise, noise, discretizer=fs.Best(), seed=3).consistency.value
    value = fs.consistency(noise[kept], labels[kept], discretizer=chosen).value
    assert found["noise"].consistency.value == alone == value


@pytest.mark.thorough
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


def test_a_comparison_is_a_mapping_from_names_to_evaluations(found):
    assert found["path"] is found.evaluations["path"]
    assert list(found) == list(found.keys()) == list(METHODS)
    assert list(found.values()) == list(found.evaluations.values())
    assert dict(found.items()) == dict(found) == found.evaluations
    assert len(found) == 4
    assert [name in found for name in ("path", "tree", 3)] == [True, False, False]
    for name in ("pth", "nobody", 3, None, ["path"]):
        with pytest.raises(KeyError) as error:
            found[name]
        assert isinstance(error.value, FaithscopeError)
        near = name in ("pth", ["path"])
        said = "Did you mean 'path'?" if near else "There are 'path', 'same', 'random', 'unique'."
        assert str(error.value) == f"No explainer is called {name!r}. {said}"


def never(rows):
    raise AssertionError("asked in vain")


HOLES = pd.Series(["a", None, "b", None] + ["a"] * (len(ROWS) - 4), index=ROWS.index)


def test_a_mistake_gets_a_clear_sentence_before_anything_is_asked():
    refused(FaithscopeError, "no explainer", fs.compare, TREE, {}, ROWS)
    refused(FaithscopeError, "explainers by name", fs.compare, TREE, [Constant()], ROWS)
    refused(FaithscopeError, "explanations of short", fs.compare, TREE, {"short": [1, 2]}, ROWS)
    refused(
        WrongType, r"Sign\(\) discretizes importances", fs.compare, TREE, METHODS, ROWS, discretizer={"path": fs.Sign()}
    )
    refused(
        UnknownName,
        r"discretizer names 'pth', .* Did you mean 'path'\?",
        fs.compare,
        never,
        {"path": never, "lime": never},
        ROWS,
        discretizer={"pth": fs.Sign(), "lime": None},
    )
    refused(
        BadInput,
        r"Groups are missing at row 1 \(.*\) and 1 more",
        fs.compare,
        TREE,
        {"never": never},
        ROWS,
        groups=HOLES,
    )
    refused(
        BadInput, "Two explainers are called '1'", fs.compare, [0, 1], {1: ["a", "b"], "1": ["a", "a"]}, [[0.0], [1.0]]
    )
    refused(BadInput, "at least 4", fs.evaluate, [0, 1], [[1.0], [2.0]], [[0], [1]], discretizer=fs.Best())
    refused(
        BadInput,
        "at least one discretizer",
        fs.evaluate,
        [0, 1] * 4,
        [[1.0], [2.0]] * 4,
        [[0], [1]] * 4,
        discretizer=fs.Best([]),
    )
