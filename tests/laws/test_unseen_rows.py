"""Rows that the sample missed: under many rules they decide the measure, and one end of an interval may miss them."""

import numpy as np
import pytest
from numpy.random import default_rng
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput, NotProven
from faithscope.testing import word_lists
from noted import noted
from refused import refused

ROWS = word_lists(10, 0.005).rows(100, default_rng(2))


def test_an_interval_says_whether_it_assumes_that_no_row_under_many_rules_was_missed():
    default, widest = (fs.sufficiency(**ROWS, unseen=how) for how in (False, True))
    assert widest.low < default.low
    assert [bool(noted(found, "no unseen row")) for found in (default, widest)] == [True, False]


def test_rules_of_which_a_row_meets_exactly_one_assume_nothing():
    rng = default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    tree = DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(X, y)
    rules = fs.explainers.TreePath(tree).explain(X)
    default, widest = (fs.sufficiency(rules, tree.predict(X), X, unseen=how) for how in (False, True))
    assert default.interval == widest.interval
    assert not noted(default, "unseen")
    assert default.interval == fs.evaluate(tree.predict(X), rules, X).consistency.interval


def test_proven_intervals_of_consistency_are_refused_for_rules_unless_each_row_meets_one():
    X, y = default_rng(2).normal(size=(100, 2)), ROWS["predictions"]
    for measure, given in (
        (fs.sufficiency, ROWS),
        (fs.necessity, ROWS),
        (fs.within, {"explanations": X, "predictions": y, "tau": 0.5}),
    ):
        refused(NotProven, "proven for consistency only: pass interval=None", measure, **given, interval="proven")
    leaves = fs.explainers.TreePath(DecisionTreeClassifier(random_state=0).fit(X, X[:, 0] > 0)).explain(X)
    found = fs.sufficiency(leaves, y, X, interval="proven")
    assert found.method == "proven"
    assert found.interval == fs.consistency(leaves, y, interval="proven").interval


def test_an_old_word_of_intervals_is_read_and_told():
    keys, labels = np.arange(100) // 10, ROWS["predictions"]
    for word, new in (("tight", "None"), ("jackknife", "None"), ("mcdiarmid", "'proven'")):
        with pytest.warns(FutureWarning, match=f"interval='{word}' is an old word: pass .*{new}"):
            fs.consistency(keys, labels, interval=word)
    with pytest.warns(FutureWarning, match="interval='any' is an old word: pass unseen=True"):
        old = fs.sufficiency(**ROWS, interval="any")
    assert old == fs.sufficiency(**ROWS, unseen=True)
    refused(BadInput, "unseen must be True or False", fs.sufficiency, **ROWS, unseen="yes")
