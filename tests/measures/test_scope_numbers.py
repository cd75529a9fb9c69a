"""What rules cover if predictions are numbers: agreement, spread, and the rows farthest off, pair by pair."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.measures import scopes
from faithscope.relations import to_relation
from number_evaluations import AGREEMENTS, between, evaluated, exponential


def ruled(seed, n=14):
    """Rows, rules that overlap (and may miss their own row), and numbers."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.integers(0, 8, n).astype(float)})
    cuts, signs = rng.integers(0, 8, n), rng.choice(["<=", ">="], n)
    rules = fs.Rules.from_conditions(
        [[("x", str(sign), float(cut))] for cut, sign in zip(cuts, signs, strict=True)], features=["x"]
    )
    masks = np.array([X["x"] <= cut if sign == "<=" else X["x"] >= cut for cut, sign in zip(cuts, signs, strict=True)])
    return X, rules, masks, rng.integers(0, 12, n) * 0.5, [f"x {s} {c}" for s, c in zip(signs, cuts, strict=True)]


def mean_agreement(agreement, y, i, others):
    mean = np.mean([between(agreement, y[i], y[j]) for j in others])
    return 1 - mean / np.var(y, ddof=1) if isinstance(agreement, fs.Spread) else mean


@given(st.integers(0, 10_000), st.sampled_from(AGREEMENTS))
def test_every_row_has_its_local_sufficiency(seed, agreement):
    X, rules, masks, y, _ = ruled(seed)
    local = evaluated(rules, y, X, agreement).local()
    for i, row in enumerate(local.itertuples()):
        others = [j for j in np.flatnonzero(masks[i]) if j != i]
        assert (row.covered, row.covers_itself) == (masks[i].sum(), masks[i, i])
        if others:
            assert row.sufficiency == pytest.approx(mean_agreement(agreement, y, i, others), abs=1e-9)
        else:
            assert np.isnan(row.sufficiency)


@given(st.integers(0, 10_000), st.sampled_from(AGREEMENTS))
def test_scopes_show_what_is_covered_and_how_much_it_disagrees(seed, agreement):
    X, rules, masks, y, names = ruled(seed)
    table = evaluated(rules, y, X, agreement).scopes()
    assert sorted(table["explanation"]) == sorted(set(names))
    assert (np.diff(table["disagreement"]) <= 1e-9).all()
    for row in table.itertuples():
        members = [i for i, name in enumerate(names) if name == row.explanation]
        covered = np.flatnonzero(masks[members[0]])
        assert (row.n, row.coverage) == (len(members), pytest.approx(len(covered) / len(y)))
        if not len(covered):
            assert np.isnan([row.mean, row.spread, row.lowest, row.largest_gap]).all()
            continue
        mine = y[covered]
        assert (row.lowest, row.highest, row.mean) == (mine.min(), mine.max(), pytest.approx(mine.mean()))
        assert row.largest_gap == max(abs(y[i] - y[j]) for i in members for j in covered)
        if len(mine) > 1:
            assert row.spread == pytest.approx(mine.std(ddof=1))
        pairs = [between(agreement, y[i], y[j]) for i in members for j in covered if i != j]
        apart = sum(2 * d for d in pairs) if isinstance(agreement, fs.Spread) else sum(1 - k for k in pairs)
        assert row.disagreement == pytest.approx(apart, abs=1e-9)
    assert table.head(2).equals(evaluated(rules, y, X, agreement).scopes(2))


@given(st.integers(0, 10_000), st.sampled_from(AGREEMENTS), st.integers(1, 20))
@example(875, fs.Close(1.5), 10)  # a rule whose disagreement is rounding
def test_wrongly_covered_rows_are_covered_and_farthest_from_the_row_given_the_explanation(seed, agreement, k):
    X, rules, masks, y, names = ruled(seed)
    wrong = evaluated(rules, y, X, agreement).wrongly_covered(k)
    assert len(wrong) <= k
    for key, shown in wrong.groupby("explanation"):
        row = int(shown["row"].iloc[0])
        assert (shown["row"] == row).all()
        assert names[row] == key
        assert masks[row, shown["wrong_row"]].all()
        gaps = np.sort(np.abs(y[masks[row]] - y[row]))[::-1]
        assert shown["gap"].tolist() == gaps[: len(shown)].tolist()
        agreeing = [between(agreement, y[row], y[j]) for j in shown["wrong_row"]]
        assert all(k > 0 for k in agreeing) if isinstance(agreement, fs.Spread) else all(k < 1 for k in agreeing)


def test_vectors_under_rules_have_means_and_gaps_that_are_reached():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"x": rng.normal(size=60), "z": rng.normal(size=60)})
    y = rng.normal(size=(60, 2))
    rules = fs.Rules.from_conditions([[("x", "<=", 0.0)] if x <= 0 else [("z", ">", 0.0)] for x in X["x"]], ["x", "z"])
    masks = {"x <= 0": (X["x"] <= 0).to_numpy(), "z > 0": (X["z"] > 0).to_numpy()}
    given = {"x <= 0": X["x"] <= 0, "z > 0": X["x"] > 0}
    evaluation = evaluated(rules, y, X, fs.Spread())
    for row in evaluation.scopes().itertuples():
        mine, told = y[masks[row.explanation]], y[given[row.explanation]]
        largest = max(np.linalg.norm(mine - one, axis=1).max() for one in told)
        assert row.mean == pytest.approx(tuple(mine.mean(axis=0)))
        assert largest / 3 <= row.largest_gap <= largest + 1e-12
    wrong = evaluation.wrongly_covered(4)
    assert wrong["gap"].tolist() == pytest.approx(
        [np.linalg.norm(y[a] - y[b]) for a, b in zip(wrong["row"], wrong["wrong_row"], strict=True)]
    )


@pytest.mark.parametrize("agreement", [fs.Close(2.0), fs.Tolerance(1.0), fs.Spread(), exponential])
def test_a_row_outside_the_sample_is_compared_with_the_rows_its_rule_applies_to(agreement):
    X, rules, masks, y, _ = ruled(5)
    sample = fs.Sample.of(rules, y, X, agreement=agreement)
    local = scopes.at_row(rules.take(np.array([0])), 2.25, sample, to_relation(None, rules), 0.95)
    mean = np.mean([between(agreement, 2.25, other) for other in y[masks[0]]])
    expected = 1 - mean / np.var(y, ddof=1) if isinstance(agreement, fs.Spread) else mean
    assert (local.value, local.others) == (pytest.approx(expected), masks[0].sum())
    assert local.mean == pytest.approx(y[masks[0]].mean())
    assert "rows it applies to have mean" in str(local)
