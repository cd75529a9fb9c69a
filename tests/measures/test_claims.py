"""What explanations claim of their own precision stands beside what was measured, and travels with them."""

import pickle

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.explanations.arrow.tables import from_arrow, to_arrow
from faithscope.readers.shared.conditions import claims

ROWS = pd.DataFrame({"x": np.arange(400) % 10, "z": np.arange(400) % 3})
LABELS = np.where(ROWS["x"] < 5, "low", "high")
LABELS[:40] = "low"  # of each value of x, one row in ten is "low" whatever it is


def claiming(precision):
    """Two rules, which hold for nine rows in ten or more, with a claim per row."""
    texts = np.where(ROWS["x"] < 5, "x < 5", "x >= 5")
    return fs.Rules.parse(list(texts), features=["x", "z"])._with(claimed=claims({"precision": precision}))


@pytest.mark.parametrize(("claimed", "told"), [(0.9, "holds"), (1.0, "too high"), (0.5, "too low")])
def test_a_claim_outside_the_interval_is_told(claimed, told):
    table = fs.evaluate(LABELS, claiming(np.full(400, claimed)), ROWS).scopes().set_index("explanation")
    line = table.loc["x >= 5"]
    assert line["claimed"] == pytest.approx(claimed)
    assert line["claim"] == told
    inside = line["precision_low"] <= claimed <= line["precision_high"]
    assert inside == (told == "holds")


def test_the_claim_of_a_rule_is_the_mean_over_its_rows_that_claim():
    precision = np.where(ROWS["x"] == 9, 0.8, 0.6)
    precision[ROWS["x"] == 8] = np.nan
    table = fs.evaluate(LABELS, claiming(precision), ROWS).scopes().set_index("explanation")
    assert table.loc["x >= 5", "claimed"] == pytest.approx(np.mean([0.8, 0.6, 0.6, 0.6]))
    assert table.loc["x < 5", "claimed"] == pytest.approx(0.6)


def test_claims_for_other_predictions_are_not_held_against_the_commonest():
    """A rule for everybody: rows of either label claim the share of their own label, and both claims are true."""
    labels = np.array(["low"] * 240 + ["high"] * 160)
    rules = fs.Rules.from_conditions([[]] * 400, features=["x", "z"])
    rules = rules._with(claimed=claims({"precision": np.where(labels == "low", 0.6, 0.4)}))
    line = fs.evaluate(labels, rules, ROWS).scopes().iloc[0]
    assert (line["label"], line["claim"]) == ("low", "holds")
    assert line["claimed"] == pytest.approx(0.6)


def test_a_rule_that_claims_nothing_has_no_verdict():
    table = fs.evaluate(LABELS, claiming(np.full(400, np.nan)), ROWS).scopes()
    assert table["claimed"].isna().all()
    assert table["claim"].isna().all()
    assert "claimed" not in fs.evaluate(LABELS, claiming(np.ones(400))._with(claimed=None), ROWS).scopes()


@pytest.mark.parametrize("kind", ["rules", "highlights"])
def test_claims_travel_with_their_rows(kind):
    given = claiming(np.arange(400.0)) if kind == "rules" else fs.Highlights([{"a"}, {"b"}, {"a"}] * 2)
    given = given if kind == "rules" else given._with(claimed=claims({"precision": np.arange(6.0)}))
    rows = np.array([3, 1, 1])
    assert given.take(rows).claimed["precision"].tolist() == [3.0, 1.0, 1.0]
    assert given.take(np.arange(len(given)) == 2).claimed["precision"].tolist() == [2.0]
    assert given.join(given.take(rows)).claimed["precision"].tolist()[-3:] == [3.0, 1.0, 1.0]
    assert given.join(given.take(rows)._with(claimed=None)).claimed is None
    for copy in (pickle.loads(pickle.dumps(given)), from_arrow(to_arrow(given))):
        assert copy.claimed["precision"].tolist() == given.claimed["precision"].tolist()


def test_anchors_claim_the_precision_that_their_search_measured():
    anchors = fs.explainers.Anchors(lambda rows: np.asarray(rows)[:, 0] >= 5, ROWS.to_numpy(), beam=1)
    rules = anchors.explain(ROWS.to_numpy()[:20])
    assert ((rules.claimed["precision"] > 0.5) & (rules.claimed["precision"] <= 1)).all()
    fresh = anchors.explain_with_precision(ROWS.to_numpy()[:20])
    assert fresh.explanations.claimed["precision"].tolist() == fresh.precision.tolist()
    assert fresh.explanations.claimed["coverage"].tolist() == fresh.coverage.tolist()


def test_text_anchors_claim_a_precision_too():
    anchors = fs.explainers.TextAnchors(lambda texts: ["great" in text for text in texts])
    texts = ["a great film", "a dull plot", ""]
    table = fs.evaluate(lambda texts: ["great" in text for text in texts], anchors, texts).scopes()
    assert {"claimed", "precision", "claim"} <= set(table)
    assert (table["claimed"] == 1.0).all()
