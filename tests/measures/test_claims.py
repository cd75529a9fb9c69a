"""What explanations claim of their own precision stands beside what was measured, and travels with them."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.explanations.base import claims

ROWS = pd.DataFrame({"x": np.arange(400) % 10, "z": np.arange(400) % 3})
LABELS = np.where(ROWS["x"] < 5, "low", "high")
LABELS[:40] = "low"  # of each value of x, one row in ten is "low" whatever it is
RULES = fs.Rules.parse(np.where(ROWS["x"] < 5, "x < 5", "x >= 5").tolist(), features=["x", "z"])


def claiming(rules, precision):
    return rules._with(claimed=claims({"precision": np.asarray(precision, float)}))


def scopes(precision):
    return fs.evaluate(LABELS, claiming(RULES, np.broadcast_to(precision, 400)), ROWS).scopes()


@pytest.mark.parametrize(
    ("precision", "claimed", "told"),
    [
        (0.9, 0.9, "holds"),
        (1.0, 1.0, "too high"),
        (0.5, 0.5, "too low"),
        (ROWS["x"].map({9: 0.8, 7: 0.6, 6: 0.6, 5: 0.6}), np.mean([0.8, 0.6, 0.6, 0.6]), "too low"),
    ],
)
def test_a_claim_is_the_mean_over_rows_that_claim_and_is_told_if_it_is_outside_the_interval(precision, claimed, told):
    line = scopes(precision).set_index("explanation").loc["x >= 5"]
    assert (line["claimed"], line["claim"]) == (pytest.approx(claimed), told)
    assert (line["precision_low"] <= claimed <= line["precision_high"]) == (told == "holds")


def test_claims_for_other_predictions_are_not_held_against_the_commonest():
    """A rule for everybody: rows of either label claim the share of their own label, and both claims are true."""
    labels = np.repeat(["low", "high"], [240, 160])
    rules = claiming(fs.Rules.from_conditions([[]] * 400, features=["x", "z"]), np.where(labels == "low", 0.6, 0.4))
    line = fs.evaluate(labels, rules, ROWS).scopes().iloc[0]
    assert (line["label"], line["claim"], line["claimed"]) == ("low", "holds", pytest.approx(0.6))


def test_a_rule_that_claims_nothing_has_no_verdict():
    assert scopes(np.nan)[["claimed", "claim"]].isna().all(axis=None)
    assert "claimed" not in fs.evaluate(LABELS, RULES, ROWS).scopes()


def test_anchors_claim_the_precision_that_their_search_measured():
    def great(texts):
        return ["great" in text for text in texts]

    tabular = fs.explainers.Anchors(lambda rows: np.asarray(rows)[:, 0] >= 5, ROWS.to_numpy(), beam=1)
    for anchors, rows in (
        (tabular, ROWS.to_numpy()[:20]),
        (fs.explainers.TextAnchors(great), ["a great film", "a dull plot", ""]),
    ):
        claimed = anchors.explain(rows).claimed["precision"]
        assert ((claimed > 0.5) & (claimed <= 1)).all()
    assert "claim" in fs.evaluate(great, anchors, rows).scopes()
