"""evaluate(): models, functions or arrays; one readable result."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused


def test_a_tree_explained_by_its_own_leaves_is_perfectly_consistent():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(X[:300], y[:300])
    ev = fs.evaluate(tree, tree.apply, X[300:])
    assert ev.consistency.verified == ev.consistency.upper == 1
    assert len(ev.counterexamples()) == 0
    assert str(ev) == str(ev.consistency)
    assert ev.uniqueness == ev.consistency.unverifiable == ev.to_dict()["uniqueness"]


def test_functions_and_ready_arrays_give_the_same():
    X = np.random.default_rng(0).normal(size=(200, 3))

    class Explainer:
        def explain(self, rows):
            return fs.Importances(np.round(rows))

    made = fs.evaluate(lambda rows: rows[:, 0] > 0, Explainer(), X)
    assert made.consistency == fs.evaluate(X[:, 0] > 0, np.round(X), X).consistency
    assert made._repr_html_().startswith(made.consistency._repr_html_())


def test_functions_of_tables_give_explanations_over_the_columns():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["age", "hours"])
    for rows in (X, pl.DataFrame(X)):
        for function, told in ((lambda rows: np.round(rows), "age "), (lambda rows: np.where(rows, "a", "b"), "age a")):
            explanations = fs.evaluate([0, 1] * 10, lambda rows: function(np.asarray(rows)), rows).explanations  # noqa: B023
            assert explanations.names == ("age", "hours")
            assert explanations.describe(0).startswith(told)
        wider = fs.evaluate([0, 1] * 10, lambda rows: np.ones((len(rows), 3)), rows).explanations
        assert wider.names is None, "of other features"
    assert fs.evaluate([0, 1] * 10, np.asarray, pd.DataFrame(X.to_numpy())).explanations.describe(0).startswith("x0 ")


def test_weighted_rows_are_still_listed_one_by_one():
    ev = fs.evaluate([0, 1, 1], ["a", "a", "b"], np.zeros((3, 1)), weights=[1.0, 2.0, 0.0])
    assert len(ev.local()) == 3
    assert ev.table()["n"].sum() == 3
    assert len(ev.counterexamples()) == 1
    refused(BadInput, "X have 3 rows but predictions have 2", fs.evaluate, [0, 1], ["a", "b"], np.zeros((3, 1)))


def test_importing_loads_nothing_heavy():
    heavy = ("pandas", "sklearn", "polars", "shap", "torch", "pyarrow", "ibis", "duckdb", "altair", "rich", "typer")
    heavy += ("jinja2", "hypothesis", "scipy.stats", "scipy.optimize", "scipy.spatial")
    program = f"import sys, faithscope; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_discretizer_in_use_stands_among_those_of_the_paper_once():
    rng = np.random.default_rng(0)
    phi, labels = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    for word, more in (("sign", 0), (fs.TopFeatures(2), 1)):
        ev = fs.evaluate(labels, fs.Importances(phi), phi, discretizer=word)
        lines = ev.discretizations().set_index("discretizer")
        assert len(lines) == len(fs.evaluate(labels, fs.Importances(phi), phi).discretizations()) + more
        assert lines.loc[ev.discretizer, "verified"] == ev.consistency.verified
