"""Rows that the sample missed: under many rules they decide the measure, and one end of an interval may miss them."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from refused import refused


class WordLists:
    """Topics of about c documents, each with a rule; word lists of mass λ/n, predicted otherwise, under all rules."""

    def __init__(self, n, c, rate):
        self.n, self.topics, self.share = n, n // c, rate / n
        own = (1 - self.share) / self.topics
        self.truth = (1 - self.share) * own / (own + self.share) + self.share

    def draw(self, rng):
        topics = rng.integers(0, self.topics, self.n)
        lists = rng.random(self.n) < self.share
        X = np.column_stack([np.where(lists, -1.0, topics), rng.random(self.n)])
        return np.where(lists, -1, topics), lists.astype(int), X

    @staticmethod
    def applies(X, topic):
        """A topic's rule covers its documents and every list; that of a list covers lists."""
        return (X[:, 0] == topic) | (X[:, 0] == -1)


@pytest.mark.parametrize(("n", "c"), [(100, 3), pytest.param(400, 10, marks=pytest.mark.thorough)])
def test_an_unseen_row_under_every_rule_is_allowed_for_if_asked(n, c):
    system, rng, held, missed = WordLists(n, c, 0.5), np.random.default_rng(c), 0, []
    for _ in range(60):
        topics, labels, X = system.draw(rng)
        both = (fs.sufficiency(topics, labels, X, relation=system.applies, unseen=how) for how in (False, True))
        default, widest = both
        held += widest.low <= system.truth <= widest.high
        if not default.low <= system.truth <= default.high:
            missed.append(default)
    assert held >= 57
    assert len(missed) > 6
    assert all(any("no unseen row" in note for note in found.notes) for found in missed), "it says what it assumes"


def test_rules_of_which_a_row_meets_exactly_one_assume_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    tree = DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(X, y)
    rules = fs.explainers.TreePath(tree).explain(X)
    default, widest = (fs.sufficiency(rules, tree.predict(X), X, unseen=how) for how in (False, True))
    assert default.interval == widest.interval
    assert not any("unseen" in note for note in default.notes)
    assert default.interval == fs.evaluate(tree.predict(X), rules, X).consistency.interval


def test_proven_intervals_of_consistency_are_refused_for_rules_unless_each_row_meets_one():
    topics, labels, X = WordLists(100, 10, 0.5).draw(np.random.default_rng(2))
    for ask in (
        lambda: fs.sufficiency(topics, labels, X, relation=WordLists.applies, interval="proven"),
        lambda: fs.within(X, labels, 0.5, interval="proven"),
        lambda: fs.necessity(topics, labels, X, relation=WordLists.applies, interval="proven"),
    ):
        refused(fs.errors.NotProven, "proven for consistency only: pass interval=None", ask)
    leaves = fs.explainers.TreePath(DecisionTreeClassifier(max_leaf_nodes=9, random_state=0).fit(X, labels)).explain(X)
    found = fs.sufficiency(leaves, labels, X, interval="proven")
    assert found.method == "proven"
    assert found.interval == fs.consistency(leaves, labels, interval="proven").interval


def test_an_old_word_of_intervals_is_read_and_told():
    topics, labels, X = WordLists(100, 10, 0.5).draw(np.random.default_rng(2))
    for word, new in (("tight", "None"), ("jackknife", "None"), ("mcdiarmid", "'proven'"), ("any", "unseen=True")):
        with pytest.warns(FutureWarning, match=f"interval='{word}' is an old word: pass .*{new}"):
            fs.consistency(topics, labels, interval=word)
    with pytest.warns(FutureWarning):
        old = fs.sufficiency(topics, labels, X, relation=WordLists.applies, interval="any")
    assert old == fs.sufficiency(topics, labels, X, relation=WordLists.applies, unseen=True)
    with pytest.raises(fs.errors.BadInput, match="unseen must be True or False"):
        fs.sufficiency(topics, labels, X, relation=WordLists.applies, unseen="yes")
