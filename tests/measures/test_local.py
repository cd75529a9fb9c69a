"""Local measures, tables of explanations, counterexamples and rejection sampling."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from scipy.stats import binomtest

import brute
import faithscope as fs
from faithscope.measures import counterexamples as counterexamples_module
from faithscope.testing.systems import SYSTEMS
from strategies import samples


def evaluated(sample, X=None):
    explanations, predictions = sample
    return fs.evaluate(predictions, explanations, np.arange(len(predictions))[:, None] if X is None else X)


@given(samples(max_size=15))
@pytest.mark.slow
def test_every_row_has_its_local_consistency_and_the_counts_behind_it(sample):
    explanations, predictions = sample
    local = evaluated(sample).local()
    for i, row in enumerate(local.itertuples()):
        others = brute.others(explanations, i)
        agreeing = sum(predictions[j] == predictions[i] for j in others)
        assert (row.N_pi, row.N_pi_y) == (len(others) + 1, agreeing + 1)
        assert row.verifiable == bool(others)
        if others:
            exact = binomtest(agreeing, len(others)).proportion_ci(0.95, method="exact")
            assert row.consistency == pytest.approx(agreeing / len(others))
            assert (row.consistency_low, row.consistency_high) == pytest.approx((exact.low, exact.high), abs=1e-9)
        else:
            assert np.isnan(row.consistency)
            assert (row.consistency_low, row.consistency_high) == (0, 1)


@given(samples())
def test_the_global_measure_is_the_mean_of_the_local_ones(sample):
    ev = evaluated(sample)
    assert ev.local()["consistency"].fillna(0).mean() == pytest.approx(ev.consistency.value, abs=1e-12)
    assert ev.uniqueness == pytest.approx(brute.unverifiable(sample[0]))


@given(samples())
def test_the_table_lists_every_explanation_worst_first(sample):
    explanations, predictions = sample
    table = evaluated(sample).table()
    assert sorted(table["explanation"]) == sorted({str(k) for k in explanations})
    assert table["n"].sum() == len(explanations)
    assert table["disagreeing_pairs"].is_monotonic_decreasing
    for row in table.itertuples():
        mine = [predictions[i] for i, k in enumerate(explanations) if str(k) == row.explanation]
        pairs = [(a, b) for i, a in enumerate(mine) for b in mine[i + 1 :]]
        assert row.disagreeing_pairs == sum(a != b for a, b in pairs)
        assert row.purity == max(mine.count(y) for y in mine) / len(mine)
        assert mine.count(row.label) == round(row.purity * row.n)
        assert row.labels == len(set(mine))
        assert (
            np.isnan(row.consistency)
            if not pairs
            else row.consistency == pytest.approx(np.mean([a == b for a, b in pairs]))
        )


@given(samples())
def test_counterexamples_share_an_explanation_but_not_a_prediction(sample):
    explanations, predictions = sample
    pairs = evaluated(sample).counterexamples(k=7)
    disagreeing = {
        (i, j)
        for i in range(len(explanations))
        for j in range(i + 1, len(explanations))
        if explanations[i] == explanations[j] and predictions[i] != predictions[j]
    }
    found = [(a, b) for a, b in zip(pairs["row_a"], pairs["row_b"], strict=True)]
    assert len(found) == len(set(found)) == min(7, len(disagreeing))
    assert set(found) <= disagreeing
    assert pairs["disagreeing_pairs"].is_monotonic_decreasing
    for _, group in pairs.groupby("explanation"):
        assert group["distance"].is_monotonic_increasing


def test_every_explanation_gives_a_pair_before_any_gives_two():
    explanations = ["worst"] * 8 + ["bad"] * 2 + ["fine"] * 2
    predictions = [0, 1] * 4 + [0, 1] + [1, 1]
    pairs = evaluated((explanations, predictions)).counterexamples(k=4)
    assert pairs["explanation"].tolist() == ["worst"] * 3 + ["bad"]
    assert evaluated((explanations, predictions)).counterexamples(k=2)["explanation"].tolist() == ["worst", "bad"]


def test_nearest_rows_come_first_in_mixed_features():
    X = pd.DataFrame({"age": [0.0, 100.0, 1.0, np.nan], "job": ["a", "a", "b", "a"]})
    ev = fs.evaluate([0, 1, 1, 1], ["e"] * 4, X)
    pairs = ev.counterexamples()
    # Gower: age by its range 100, job by equality, averaged; a missing number is at distance 1 from any other.
    assert pairs["distance"].tolist() == pytest.approx([0.5, 0.5, 0.505])
    assert pairs[["row_a", "row_b"]].to_numpy().tolist() == [[0, 1], [0, 3], [0, 2]]
    assert fs.evaluate([0, 1, 1, 1], ["e"] * 4, pl.DataFrame(X)).counterexamples()[
        "distance"
    ].tolist() == pytest.approx([0.5, 0.5, 0.505])


def test_one_huge_explanation_takes_no_comparison_of_all_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    n = 20_000
    X = rng.random((n, 3))
    X[17_000] = X[123] + 1e-7
    y = (rng.random(n) < 0.5).astype(int)
    y[123], y[17_000] = 0, 1
    compared = []
    space = counterexamples_module._Rows
    original = space.distance
    monkeypatch.setattr(space, "distance", lambda self, a, b: compared.append(len(a)) or original(self, a, b))
    pairs = fs.evaluate(y, np.zeros(n), X).counterexamples(k=1)
    assert sum(compared) <= 16 * 4 * n
    assert pairs["distance"][0] < 1e-6, "the planted pair is found"


def test_without_comparable_rows_pairs_come_in_order():
    from faithscope.counting.counts import count_rows
    from faithscope.readers import as_explanations
    from faithscope.sample import Sample

    explanations = as_explanations(["a"] * 5)
    sample = Sample(explanations, np.array([0, 0, 1, 2, 0]))
    pairs = counterexamples_module.counterexamples(count_rows(sample), sample, k=3)
    assert list(zip(pairs["row_a"], pairs["row_b"], strict=True)) == [(0, 2), (1, 2), (2, 3)]
    assert np.isnan(pairs["distance"]).all()
    with pytest.raises(fs.errors.BadInput, match="whole number of at least 1; got 0"):
        counterexamples_module.counterexamples(count_rows(sample), sample, k=0)


class Model:
    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0).astype(int)


def test_a_row_outside_the_sample_is_compared_with_all_of_it():
    X = np.array([[1.0, 5.0], [-1.0, 5.0], [2.0, 5.0], [3.0, 6.0]])
    found = fs.local(np.array([7.0, 5.0]), Model(), lambda X: X[:, 1:], X)
    assert (found.value, found.others, found.agreeing, found.seen) == (2 / 3, 3, 2, 4)
    exact = binomtest(2, 3).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    assert "2 of 3 rows with this explanation agree" in str(found)
    never = fs.local([7.0, 99.0], Model(), lambda X: np.asarray(X)[:, 1:], X)
    assert never.value is None
    assert (never.low, never.high) == (0, 1)
    assert "nothing can be told" in str(never)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert fs.local(frame.iloc[[0]], Model(), lambda X: X[["b"]], frame).others == 3


def test_a_local_measure_needs_a_model_and_one_row():
    with pytest.raises(fs.errors.WrongType, match="can be called on x"):
        fs.local([1.0], [0, 1], lambda X: X, np.zeros((2, 1)))
    with pytest.raises(fs.errors.BadInput, match="one row; got 2"):
        fs.local(np.zeros((2, 1)), Model(), lambda X: X, np.zeros((2, 1)))


def batches(system, size, seed):
    rng = np.random.default_rng(seed)
    while True:
        yield system.draw(size, rng)


def test_sampling_goes_on_until_enough_rows_have_the_explanation():
    system = SYSTEMS["few common"]
    found = fs.sample_until(batches(system, 100, 0), 2, 0.1, 10**6, prediction=0)
    assert found.reached
    assert found.others == found.wanted == fs.local_sample_size(0.1)
    assert abs(found.value - system.q[2, 0]) <= 0.1
    assert found.seen == pytest.approx(found.wanted / system.p[2], rel=0.3)


def test_hoeffdings_promise_is_kept():
    system = SYSTEMS["few common"]
    errors = [
        abs(fs.sample_until(batches(system, 500, seed), 3, 0.1, 10**6, prediction=0).value - system.q[3, 0])
        for seed in range(100)
    ]
    assert np.mean(np.array(errors) <= 0.1) >= 0.9


def test_a_budget_that_runs_out_is_said():
    found = fs.sample_until(batches(SYSTEMS["many rare"], 100, 0), 2500, 0.1, 1000, prediction=0)
    assert not found.reached
    assert found.seen == 1000
    assert "not reached" in str(found)
    dry = fs.sample_until([("a", 1), ("b", 0), ("a", 1)], "a", 0.1, 10**6, prediction=1)
    assert (dry.others, dry.seen, dry.reached) == (2, 3, False)


def test_without_a_prediction_the_commonest_is_taken_and_the_interval_allows_for_it():
    rows = [("a", 1), ("a", 1), ("a", 0), ("b", 0)]
    chosen, given_ = fs.sample_until(rows, "a", 0.1, 100), fs.sample_until(rows, "a", 0.1, 100, prediction=1)
    assert chosen.prediction == given_.prediction == 1
    assert chosen.low < given_.low
    assert chosen.high == given_.high
    assert fs.sample_until([], "a", 0.1, 100).value is None


def test_importances_are_sampled_through_a_discretizer():
    rng = np.random.default_rng(0)
    source = ((phi, phi[:, 0] > 0) for phi in (rng.normal(size=(50, 2)) for _ in range(100)))
    found = fs.sample_until(source, np.array([0.3, 4.0]), 0.2, 5000, prediction=True, discretizer=fs.Sign())
    assert found.reached
    assert found.value == 1


def test_pairs_are_found_even_where_labels_lie_apart():
    n = 10_000
    ev = fs.evaluate(np.arange(n) >= n // 2, np.zeros(n), np.arange(float(n))[:, None])
    pairs = ev.counterexamples(k=10)
    assert len(pairs) == 10
    assert pairs[["row_a", "row_b"]].iloc[0].tolist() == [4999, 5000]


def test_numbers_among_objects_and_dates_are_measured_as_numbers():
    mixed = np.array([[1, "a"], [5, "a"], [2, "a"], [9, "a"]], object)
    pairs = fs.evaluate([0, 1, 1, 1], ["e"] * 4, mixed).counterexamples()
    assert pairs["distance"].tolist() == pytest.approx([1 / 16, 4 / 16, 8 / 16])
    days = pd.DataFrame({"day": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-05"])})
    assert fs.evaluate([0, 1, 1], ["e"] * 3, days).counterexamples()["distance"].tolist() == pytest.approx([0.25, 1])
    sparse = pytest.importorskip("scipy.sparse").csr_matrix(np.eye(3))
    assert fs.evaluate([0, 1, 1], ["e"] * 3, sparse).counterexamples()["distance"].isna().all()


def test_only_the_worst_are_listed_on_request():
    ev = evaluated((list("aabbcc"), [0, 1, 0, 0, 1, 0]))
    assert ev.table(k=2)["explanation"].tolist() == ["a", "c"]


def test_a_source_may_give_rows_batches_or_nothing():
    assert fs.sample_until([([], [])] * 3, "a", 0.1, 10).seen == 0
    target = pd.DataFrame({"x": [1.0]})
    assert fs.sample_until([(target, [1])], target, 0.1, 10).others == 1


def test_text_and_series_may_be_the_row():
    docs = ["good film", "bad film", "good play"]

    def first_word(rows):
        return [row.split()[0] for row in rows]

    found = fs.local("good grief", lambda rows: ["good" in row for row in rows], first_word, docs)
    assert found.others == 2
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [5.0, 5.0]})
    assert fs.local(table.iloc[0], lambda X: X["a"] > 0, lambda X: X[["b"]], table).others == 2
