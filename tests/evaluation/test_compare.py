"""compare(): several explainers on the same rows, with paired differences and honest choices."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
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
    return fs.compare(TREE, METHODS, ROWS, by=GROUPS)


def test_each_explainer_is_measured_as_if_alone_and_groups_by_every_measure_that_there_is(found):
    for name, method in METHODS.items():
        alone = fs.evaluate(TREE, method, ROWS)
        assert (found[name].name, alone.baseline, found[name].baseline) == (name, name != "path", name != "path")
        assert found[name].consistency == alone.consistency
        assert found[name].sufficiency == alone.sufficiency
        assert found[name].populations == alone.by(GROUPS)
        assert found[name].populations.by == "size"
    assert found["path"].sufficiency_populations == found["path"].by(GROUPS, "sufficiency")
    assert found["same"].sufficiency_populations is None


def test_the_table_and_the_text_have_a_line_for_each_explainer_and_measure(found):
    lines = [("path", "consistency"), ("path", "sufficiency"), ("path", "necessity")]
    lines += [(name, "consistency") for name in ("same", "random", "unique")]
    assert list(found.table()[["explainer", "measure"]].itertuples(index=False, name=None)) == lines
    assert sum(": " in line for line in str(found).splitlines()) == 6
    assert max(map(len, str(found).splitlines())) <= 100
    assert "<b>" not in fs.compare(TREE, {"<b>x</b>": Constant()}, ROWS)._repr_html_()


def test_differences_say_which_explainers_differ(found):
    lines = found.differences().set_index(["a", "b"])
    assert len(lines) == 6
    assert lines.loc[("path", "same"), "differ"]
    assert lines.loc[("path", "same"), "low"] > 0
    assert not lines.loc[("path", "unique"), "differ"]


def test_one_discretizer_is_used_where_it_fits_and_the_table_says_where():
    mixed = fs.compare(TREE, {"path": METHODS["path"], "vectors": importances}, ROWS, discretizer=fs.Sign())
    assert mixed.table()["discretizer"].tolist() == ["Original()"] * 3 + ["Sign()"] * 3
    for names in ("ab", (1, 2)):  # found by the text of their names
        named = fs.compare(TREE, dict.fromkeys(names, importances), ROWS, discretizer={names[0]: fs.Rank()})
        assert named.table()["discretizer"].tolist() == ["Rank()"] * 3 + ["Original()"] * 3


def test_what_best_has_for_all_explainers_is_used_where_it_fits():
    found = fs.compare(TREE, {"path": METHODS["path"], "vectors": importances}, ROWS, discretizer=fs.Best([fs.Sign()]))
    assert [each.discretizer for each in found.values()] == ["Original()", "Sign()"]


def test_best_chooses_on_one_half_and_reports_on_the_other():
    for how in [{"discretizer": fs.Best(), "seed": 3}, {"discretizer": fs.Best(seed=3)}]:
        rng = default_rng(0)
        noise, labels = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
        choosing, reporting = Sample(fs.Importances(noise), labels).halves(seed=3)
        kept = reporting.positions
        assert sorted([*choosing.positions, *kept]) == list(range(400))
        found, alone = fs.compare(labels, {"noise": noise}, noise, **how), fs.evaluate(labels, noise, noise, **how)
        chosen = fs.Best()._among(choosing, 0.95)
        assert found.rows_to_choose == 200
        assert found["noise"].discretizer == repr(chosen)
        wanted = fs.consistency(noise[kept], labels[kept], discretizer=chosen)
        for estimate in (found["noise"].consistency, alone.consistency):
            assert (estimate.value, estimate.n) == (wanted.value, 200)


def test_a_comparison_is_a_mapping_from_names_to_evaluations(found):
    assert found["path"] is found.evaluations["path"]
    assert dict(found) == dict(found.items()) == dict(zip(found.keys(), found.values(), strict=True))
    assert list(found) == list(METHODS)
    assert len(found) == 4
    assert [name in found for name in ("path", "tree", 3)] == [True, False, False]
    for name in ("pth", "nobody", 3, None, ["path"]):
        near = name in ("pth", ["path"])
        said = "Did you mean 'path'?" if near else "There are 'path', 'same', 'random', 'unique'."
        with pytest.raises(KeyError) as error:
            found[name]
        assert isinstance(error.value, FaithscopeError)
        assert str(error.value) == f"No explainer is called {name!r}. {said}"


def never(rows):
    raise AssertionError("asked in vain")


NO_GROUPS = pd.Series([None] * len(ROWS), index=ROWS.index)


def test_a_mistake_gets_a_clear_sentence_before_anything_is_asked():
    asked = {"path": never, "lime": never}
    for error, words, explainers, options in (
        (FaithscopeError, "no explainer", {}, {}),
        (FaithscopeError, "explainers by name", [Constant()], {}),
        (FaithscopeError, "explanations of short", {"short": [1, 2], "none": Constant()}, {}),
        (WrongType, r"Sign\(\) discretizes importances", METHODS, {"discretizer": {"path": fs.Sign()}}),
        (
            UnknownName,
            r"discretizer names 'pth', .* Did you mean 'path'\?",
            asked,
            {"discretizer": {"pth": fs.Sign(), "lime": None}},
        ),
        (BadInput, r"Groups are missing at row 0 \(.*\) and \d+ more", asked, {"by": NO_GROUPS}),
        (BadInput, "Two explainers are called alike", {1: never, "1": never}, {}),
    ):
        refused(error, words, fs.compare, TREE, explainers, ROWS, **options)
    for n, best, words in ((1, fs.Best(), "at least 4"), (4, fs.Best([]), "at least one discretizer")):
        refused(BadInput, words, fs.evaluate, [0, 1] * n, [[1.0], [2.0]] * n, [[0], [1]] * n, discretizer=best)
