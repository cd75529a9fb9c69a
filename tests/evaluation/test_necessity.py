"""Necessity in evaluations, comparisons, assertions and tables: shown, asked for by name, never judged by default."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput, NotProven
from faithscope.measures.telling.verdict import judge
from faithscope.report import summarize
from faithscope.report.terminal import render
from refused import refused

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.integers(0, 10, 300).astype(float), "b": RNG.integers(0, 3, 300).astype(float)})
LABELS = np.where(X["a"] < 7, "yes", "no")
NARROW = fs.Rules.from_conditions([[("a", "==", a)] for a in X["a"]], features=["a", "b"])
BROAD = fs.Rules.from_conditions(
    [[("a", "<", 7.0)] if a < 7 else [("a", ">=", 7.0)] for a in X["a"]], features=["a", "b"]
)


def test_an_evaluation_has_the_necessity_of_its_rows():
    for how in ({}, {"weights": RNG.random(300) + 0.1}, {"clusters": np.arange(300) // 3}):
        assert fs.evaluate(LABELS, NARROW, X, **how).necessity == fs.necessity(NARROW, LABELS, X, **how)


def test_it_is_measured_by_population():
    parts = fs.evaluate(LABELS, NARROW, X).by("b", measure="necessity")
    rows = np.flatnonzero(X["b"] == 1)
    assert parts.estimates[1.0] == fs.necessity(NARROW.take(rows), LABELS[rows], X.iloc[rows])
    differences = parts.differences()
    assert differences["a_at_equal_n"].isna().all()
    assert (differences["low"] <= differences["high"]).all()
    assert "verdict" not in parts.to_markdown()


def test_it_is_compared_on_the_same_rows():
    comparison = fs.compare(LABELS, {"narrow": NARROW, "broad": BROAD, "again": BROAD}, X)
    lines = comparison.differences().query("measure == 'necessity'").set_index(["a", "b"])
    first = lines.loc[("narrow", "broad")]
    assert first["value"] == comparison["narrow"].necessity.value - comparison["broad"].necessity.value
    assert first["differ"]
    assert lines.loc[("broad", "again"), ["low", "high"]].tolist() == [0, 0]
    assert (comparison.table()["measure"] == "necessity").sum() == 3
    for how in ({"weights": np.linspace(1, 2, 300)}, {"clusters": np.arange(300) // 3}):
        lines = fs.compare(LABELS, {"narrow": NARROW, "broad": BROAD}, X, **how).differences()
        pair = lines.query("measure == 'necessity'").iloc[0]
        assert pair["low"] <= pair["value"] <= pair["high"] < 0


def test_it_is_judged_only_if_asked_for():
    narrow, broad = fs.evaluate(LABELS, NARROW, X), fs.evaluate(LABELS, BROAD, X)
    fs.assert_faithful(narrow, at_least=0.9)
    fs.assert_faithful(broad, at_least=0.9, measure="necessity")
    fs.assert_faithful(broad, at_least=0.8, measure="necessity", by="b")
    refused(
        AssertionError,
        r"necessity was not shown to be at least 0\.9",
        fs.assert_faithful,
        narrow,
        at_least=0.9,
        measure="necessity",
    )


ONE = fs.Rules.parse(["a <= 1", "a > 1"], features=["a"]), [0, 1], [[0.0], [2.0]]
METHODS = "interval must be one of jackknife, any, or None for the tightest"


def test_what_it_has_not_is_refused():
    refused(
        BadInput,
        "has no necessity by population",
        fs.assert_faithful,
        fs.evaluate(LABELS, BROAD, X, groups="b"),
        measure="necessity",
    )
    refused(
        BadInput,
        "'consistency', 'sufficiency' or 'necessity'",
        fs.assert_faithful,
        fs.evaluate(LABELS, NARROW, X),
        measure="recall",
    )
    refused(NotProven, "plan from sufficiency", fs.plan, fs.necessity(NARROW, LABELS, X))
    refused(BadInput, METHODS, fs.necessity, *ONE, interval="bootstrap")
    refused(BadInput, METHODS, fs.sufficiency, *ONE, interval="bootstrap")


def test_it_changes_no_verdict_and_is_shown_beside_the_measures():
    evaluation = fs.evaluate(LABELS, NARROW, X)
    summary = summarize(evaluation)
    (explainer,) = summary.explainers
    assert [estimate.measure for estimate in explainer.measures] == ["consistency", "sufficiency"]
    assert explainer.verdict.level == judge(explainer.measures, {}).level == "faithful"
    assert explainer.necessity == evaluation.necessity
    assert "necessity" in render(summary)
    assert "Explanations apply to" in evaluation.necessity.to_markdown()


def test_scopes_have_a_recall_with_an_interval():
    table = fs.evaluate(LABELS, NARROW, X).scopes()
    for line in table.itertuples():
        value = float(line.explanation.split()[-1])
        covered = ((X["a"] == value) & (line.label == LABELS)).sum()
        assert line.recall == covered / (line.label == LABELS).sum()
        assert line.recall_low <= line.recall <= line.recall_high
    broad = fs.evaluate(LABELS, BROAD, X).scopes()
    assert broad["recall"].tolist() == [1.0, 1.0]
    assert (broad["recall_low"] < 1).all()


def test_the_interval_of_a_recall_is_as_wide_as_its_label_is_rare():
    labels, x = np.array(["rare", "rare", *["other"] * 48]), np.array([[0.0], [0.0], *[[1.0]] * 48])
    rules = fs.Rules.from_conditions([[("a", "==", value)] for value in x[:, 0]], features=["a"])
    table = fs.evaluate(labels, rules, x).scopes().set_index("label")
    assert table.loc["rare", ["recall", "recall_high"]].tolist() == [1.0, 1.0]
    assert table.loc["rare", "recall_low"] < 0.02
    assert table.loc["other", "recall_low"] > 0.9


@pytest.mark.parametrize("draws", [40, pytest.param(400, marks=pytest.mark.thorough)])
def test_intervals_of_recalls_cover_whichever_label_is_chosen(draws):
    rng, missed = np.random.default_rng(1), 0
    for _ in range(draws):
        place = rng.integers(0, 20, 60)
        rules = fs.Rules.from_conditions([[("p", "<=", float(p // 7 * 7 + 6))] for p in place], features=["p"])
        table = fs.evaluate(place % 5, rules, place[:, None].astype(float)).scopes()
        line = table.iloc[int(rng.integers(0, len(table)))]
        kinds = np.arange(20)[np.arange(20) % 5 == line["label"]]
        truth = np.mean(kinds <= float(line["explanation"].split()[-1]))
        missed += not line["recall_low"] <= truth <= line["recall_high"]
    assert missed / draws <= 0.05
