"""Necessity in evaluations, comparisons, assertions and tables: shown, asked for by name, never judged by default."""

import json

import numpy as np
import pandas as pd
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, NotProven
from faithscope.report.summary import summarize
from refused import refused
from report_examples import printed as render

RNG = default_rng(0)
X = pd.DataFrame({"a": RNG.integers(0, 10, 300).astype(float), "b": RNG.integers(0, 3, 300).astype(float)})
LABELS = np.where(X["a"] < 7, "yes", "no")
NARROW = fs.Rules.from_conditions([[("a", "==", a)] for a in X["a"]], features=["a", "b"])
BROAD = fs.Rules.from_conditions(
    [[("a", "<", 7.0)] if a < 7 else [("a", ">=", 7.0)] for a in X["a"]], features=["a", "b"]
)


def importances():
    return fs.Importances(RNG.normal(size=(300, 2)) * [1, 0], names=["a", "b"])


def test_an_evaluation_has_the_necessity_of_its_rows():
    for how in ({}, {"weights": RNG.random(300) + 0.1}, {"clusters": np.arange(300) // 3}):
        assert fs.evaluate(LABELS, NARROW, X, **how).necessity == fs.necessity(NARROW, LABELS, X, **how)


def test_an_evaluation_by_group_has_it_beside_everybody_and_among_themselves():
    evaluation = fs.evaluate(LABELS, NARROW, X, by="b")
    parts = evaluation.necessity_populations
    assert parts == fs.necessity(NARROW, LABELS, X, by="b")
    assert json.loads(json.dumps(evaluation.to_dict()))["necessity_populations"] == parts.to_dict()
    for told in (evaluation.to_markdown(), render(summarize(evaluation))):
        assert "necessity by b, beside everybody" in told
        assert "necessity by b, among themselves" in told
    comparison = fs.compare(LABELS, {"narrow": NARROW, "keys": X["a"].tolist()}, X, by="b")
    assert [each.necessity_populations for each in comparison.values()] == [parts, None]
    fs.assert_faithful(fs.evaluate(LABELS, BROAD, X, by="b"), at_least=0.8, measure="necessity")


def test_it_is_judged_only_if_asked_for():
    narrow, broad = fs.evaluate(LABELS, NARROW, X), fs.evaluate(LABELS, BROAD, X)
    fs.assert_faithful(narrow, at_least=0.9)
    fs.assert_faithful(broad, at_least=0.8, measure="necessity", by="b")
    words = r"necessity was not shown to be at least 0\.9"
    refused(AssertionError, words, fs.assert_faithful, narrow, at_least=0.9, measure="necessity")


METHODS = "interval must be 'proven' or None"


def test_what_it_has_not_is_refused():
    for found, measure, words in (
        (fs.evaluate(LABELS, importances(), X, by="b"), "necessity", "has no necessity by population: pass by="),
        (fs.evaluate(LABELS, NARROW, X), "recall", "'consistency', 'sufficiency', 'necessity'"),
    ):
        refused(BadInput, words, fs.assert_faithful, found, measure=measure)
    refused(NotProven, "plan from sufficiency", fs.plan, fs.necessity(NARROW, LABELS, X))
    for measure in (fs.necessity, fs.sufficiency):
        refused(BadInput, METHODS, measure, NARROW, LABELS, X, interval="bootstrap")


def test_scopes_have_a_recall():
    for line in fs.evaluate(LABELS, NARROW, X).scopes().itertuples():
        labeled = X["a"][line.label == LABELS]
        assert line.recall == (labeled == float(line.explanation.split()[-1])).mean()
    assert fs.evaluate(LABELS, BROAD, X).scopes()["recall"].tolist() == [1.0, 1.0]
