"""evaluate(): models, functions or arrays; one readable result."""

import numpy as np
import pandas as pd
import polars as pl
from numpy.random import default_rng

import faithscope as fs


def test_functions_of_tables_give_explanations_over_the_columns():
    X = pd.DataFrame(default_rng(0).normal(size=(20, 2)), columns=["age", "hours"])
    for rows in (X, pl.DataFrame(X)):
        for function, told in ((lambda rows: np.round(rows), "age "), (lambda rows: np.where(rows, "a", "b"), "age a")):
            explanations = fs.evaluate([0, 1] * 10, lambda rows: function(np.asarray(rows)), rows).explanations  # noqa: B023
            assert explanations.names == ("age", "hours")
            assert explanations.describe(0).startswith(told)
        wider = fs.evaluate([0, 1] * 10, lambda rows: np.ones((len(rows), 3)), rows).explanations
        assert wider.names is None, "of other features"
    assert fs.evaluate([0, 1] * 10, np.asarray, pd.DataFrame(X.to_numpy())).explanations.describe(0).startswith("x0 ")


def test_the_discretizer_in_use_stands_among_those_of_the_paper_once():
    rng = default_rng(0)
    phi, labels = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    for word, more in (("sign", 0), (fs.TopFeatures(2), 1)):
        ev = fs.evaluate(labels, fs.Importances(phi), phi, discretizer=word)
        lines = ev.discretizations().set_index("discretizer")
        assert len(lines) == len(fs.evaluate(labels, fs.Importances(phi), phi).discretizations()) + more
        assert lines.loc[ev.discretizer, "verified"] == ev.consistency.verified
