"""Populations by the names of columns of X: one column, or several crossed."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

RANDOM = default_rng(11)
N = 200
X = pd.DataFrame(
    {
        "sex": RANDOM.choice(["f", "m"], N),
        "race": RANDOM.choice(["a", "b", "c"], N),
        "child": RANDOM.integers(0, 2, N).astype(bool),
        "age": RANDOM.normal(size=N),
    }
)
LABELS = RANDOM.integers(0, 2, N)
KEYS = RANDOM.choice(list("pqr"), N).tolist()
TABLES = {"pandas": X, "polars": pl.from_pandas(X), "arrow": pa.table(X), "shuffled index": X.set_index(X.index[::-1])}


def evaluated(rows=X, **how):
    return fs.evaluate(LABELS, KEYS, rows, **how)


def test_a_name_means_the_column_of_that_name_and_several_their_combinations():
    for held in TABLES:
        by_name = evaluated(TABLES[held]).by("sex")
        assert by_name.by == "sex"
        assert by_name.table().equals(evaluated().by(X.sex).table())
        populations = evaluated(TABLES[held]).by(["sex", "race"])
        assert populations.by == "sex × race"
        crossed = evaluated().by(list(zip(X.sex, X.race, strict=True)))
        assert populations.estimates == crossed.estimates
        assert populations.table().n.sum() == N


def test_an_audit_says_the_same_of_combinations():
    groups = ["sex", "race"]
    populations, log = evaluated().by(groups), X.assign(y=LABELS, key=KEYS)
    differences = populations.differences()
    assert len(differences) == 15
    audit = fs.audit(log, prediction="y", explanation="key", by=groups)
    pd.testing.assert_frame_equal(audit.populations.table(), populations.table())
    pd.testing.assert_frame_equal(audit.by(groups).differences(), differences)


def test_compare_and_assert_faithful_take_names():
    populations = fs.compare(LABELS, {"one": KEYS}, X, by=["sex", "child"])["one"].populations
    assert populations.by == "sex × child"
    assert len(populations.estimates) == 4
    refused(AssertionError, "sex × race", fs.assert_faithful, evaluated(), at_least=0.99, by=["sex", "race"])


BAD = {
    "sx": (X, "no column 'sx' to group rows by. Did you mean 'sex'"),
    "age": (X, r"200 different numbers.*pd\.cut\(X\['age'\], 4\)"),
    "sex": (pd.concat([X, X[["sex"]]], axis=1), "2 columns that are called 'sex'"),
    "race": (X[["age"]].to_numpy(), "'race' names a column, but X is ndarray"),
    ("neither", "nor"): (X, "groups have 2"),
}


@pytest.mark.parametrize("name", BAD)
def test_names_that_give_no_groups_are_one_sentence(name):
    rows, words = BAD[name]
    for call in (lambda: evaluated(rows).by(name), lambda: evaluated(rows, by=name)):
        refused(BadInput, words, call)
    if name == "sx":
        refused(BadInput, words, evaluated, by=["sex", "sx"])
