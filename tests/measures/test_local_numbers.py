"""Local measures, tables and counterexamples of numbers, against pairs of rows one by one."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr
from scipy.stats import binomtest

import faithscope as fs
from faithscope.measures.intervals.local import chernoff, clopper_pearson
from faithscope.measures.numbers.farthest_pairs import farthest_pairs
from number_evaluations import between, evaluated, systems


def others_of(system, i):
    return [j for j, key in enumerate(system.keys) if key == system.keys[i] and j != i]


@given(systems())
def test_every_row_has_its_local_consistency_and_what_the_others_are(system):
    table = evaluated(system.keys, system.numbers, agreement=system.agreement).local()
    for i, row in enumerate(table.itertuples()):
        others = others_of(system, i)
        rest = system.numbers[others]
        assert (row.N_pi, row.verifiable, row.prediction) == (len(others) + 1, bool(others), system.numbers[i])
        if not others:
            assert np.isnan([row.consistency, row.mean, row.spread, row.residual]).all()
            continue
        assert row.consistency == pytest.approx(system.local(i, others), abs=1e-7)
        assert row.mean == pytest.approx(rest.mean())
        assert row.residual == pytest.approx(system.numbers[i] - rest.mean(), abs=1e-7)
        if len(rest) > 1:
            assert row.spread == pytest.approx(rest.std(ddof=1), abs=1e-7)
        else:
            assert np.isnan(row.spread)


@given(systems())
def test_the_global_measure_is_the_mean_of_the_local_ones(system):
    evaluation = evaluated(system.keys, system.numbers, agreement=system.agreement)
    local, estimate = evaluation.local(), evaluation.consistency
    if isinstance(system.agreement, fs.Spread):
        within = (1 - local["consistency"]).fillna(0).mean()
        assert estimate.upper == pytest.approx(1 - within, abs=1e-7)
        assert "consistency_low" not in local
    else:
        assert local["consistency"].fillna(0).mean() == pytest.approx(estimate.value, abs=1e-9)
        assert (local["consistency_low"] <= local["consistency"].fillna(1) + 1e-9).all()
        assert (local["consistency_high"] >= local["consistency"].fillna(0) - 1e-9).all()


def test_the_interval_of_a_tolerance_is_exact_and_that_of_close_holds():
    keys, numbers = ["a"] * 6, [0.0, 0.1, 0.2, 0.3, 5.0, 6.0]
    exact = binomtest(3, 5).proportion_ci(0.95, method="exact")
    row = evaluated(keys, numbers, agreement=fs.Tolerance(1.0)).local().iloc[0]
    assert (row["consistency_low"], row["consistency_high"]) == pytest.approx((exact.low, exact.high))
    low, high = chernoff(np.array([5.0, 0.0, 0.0]), np.array([5, 5, 0]), 0.95)
    assert low == pytest.approx([0.025 ** (1 / 5), 0, 0])
    assert high == pytest.approx([1, 1 - 0.025 ** (1 / 5), 1])


@given(st.integers(0, 50), st.integers(0, 50), st.floats(0.5, 0.99))
def test_a_proven_interval_is_never_inside_the_exact_one_of_a_share(hits, misses, confidence):
    many = (np.array([hits]), np.array([hits + misses]), confidence)
    (low, high), (least, most) = clopper_pearson(*many), chernoff(*many)
    assert least[0] <= low[0] + 1e-9
    assert most[0] >= high[0] - 1e-9


@given(st.floats(0, 1), st.integers(1, 10_000), st.floats(0.01, 0.999))
def test_the_ends_of_a_proven_interval_are_where_the_entropy_is_reached_and_never_inside(mean, m, confidence):
    (low,), (high,) = chernoff(np.array([mean * m]), np.array([m]), confidence)
    most = np.log(2 / (1 - confidence)) / m
    share = min(1.0, mean * m / m)
    for end, extreme in ((low, 0.0), (high, 1.0)):
        entropy = rel_entr(share, end) + rel_entr(1 - share, 1 - end)
        assert abs(end - extreme) < 1e-12 or entropy == pytest.approx(most, rel=1e-6, abs=1e-12)
    assert 0 <= low <= share <= high <= 1


@pytest.mark.parametrize("shape", [(1, 1), (0.2, 0.2), (8, 1), (0.05, 2)])
@pytest.mark.parametrize("m", [2, 8, 40])
def test_the_interval_of_agreements_covers_their_mean(shape, m):
    draws = np.random.default_rng(0).beta(*shape, size=(4000, m)).sum(axis=1)
    low, high = chernoff(draws, np.full(4000, m), 0.9)
    mean = shape[0] / sum(shape)
    assert np.mean((low <= mean) & (mean <= high)) >= 0.9


@given(systems())
def test_the_table_shows_how_the_predictions_of_each_explanation_spread(system):
    table = evaluated(system.keys, system.numbers, agreement=system.agreement).table()
    assert sorted(table["explanation"]) == sorted(set(system.keys))
    assert (np.diff(table["disagreement"]) <= 1e-9).all()
    spread = isinstance(system.agreement, fs.Spread)
    for row in table.itertuples():
        members = [i for i, key in enumerate(system.keys) if key == row.explanation]
        mine = system.numbers[members]
        assert (row.n, row.lowest, row.highest, row.largest_gap) == (
            *(len(mine), mine.min(), mine.max(), mine.max() - mine.min()),
        )
        assert row.mean == pytest.approx(mine.mean())
        pairs = [between(system.agreement, a, b) for a, b in combinations(mine, 2)]
        apart = sum(2 * d for d in pairs) if spread else sum(1 - k for k in pairs)
        assert row.disagreement == pytest.approx(apart, abs=1e-6)
        if len(mine) == 1:
            assert np.isnan([row.spread, row.consistency]).all()
            continue
        assert row.spread == pytest.approx(mine.std(ddof=1), abs=1e-7)
        assert row.consistency == pytest.approx(
            np.mean([system.local(i, [j for j in members if j != i]) for i in members]), abs=1e-7
        )


@given(systems(most=10), st.integers(1, 12))
def test_counterexamples_are_the_pairs_that_are_farthest_apart(system, k):
    pairs = evaluated(system.keys, system.numbers, agreement=system.agreement).counterexamples(k)
    assert len(set(zip(pairs["row_a"], pairs["row_b"], strict=True))) == len(pairs) <= k
    for key, shown in pairs.groupby("explanation"):
        mine = system.numbers[[i for i, other in enumerate(system.keys) if other == key]]
        gaps = sorted((abs(a - b) for a, b in combinations(mine, 2)), reverse=True)
        assert shown["gap"].tolist() == pytest.approx(gaps[: len(shown)])
    for pair in pairs.itertuples():
        assert system.keys[pair.row_a] == system.keys[pair.row_b] == pair.explanation
        assert (pair.prediction_a, pair.prediction_b) == tuple(system.numbers[[pair.row_a, pair.row_b]])
        agreeing = between(system.agreement, pair.prediction_a, pair.prediction_b)
        assert agreeing > 0 if isinstance(system.agreement, fs.Spread) else agreeing < 1
    assert (
        pairs["disagreement"].max()
        == evaluated(system.keys, system.numbers, agreement=system.agreement).table()["disagreement"].max()
        or pairs.empty
    )


@given(systems(agreements=(fs.Close(1.5), fs.Tolerance(1.0)), most=10))
def test_as_many_counterexamples_are_shown_as_there_are(system):
    pairs = evaluated(system.keys, system.numbers, agreement=system.agreement).counterexamples(100)
    groups = [system.numbers[[i for i, other in enumerate(system.keys) if other == key]] for key in set(system.keys)]
    disagreeing = [between(system.agreement, a, b) < 1 for mine in groups for a, b in combinations(mine, 2)]
    assert len(pairs) == sum(disagreeing)


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_the_farthest_pairs_of_many_numbers_are_exact(seed, wanted):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 40, 60) * 0.5
    pairs = farthest_pairs(numbers, fs.Close(1.0), wanted)
    gaps = np.sort(np.abs(numbers[pairs[:, 0]] - numbers[pairs[:, 1]]))[::-1][:wanted]
    every = np.sort([abs(a - b) for a, b in combinations(numbers, 2)])[::-1]
    assert gaps.tolist() == [gap for gap in every[:wanted].tolist() if gap > 0]


def test_vectors_are_compared_by_their_distance():
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(700, 3))
    evaluation = evaluated(["a"] * 600 + ["b"] * 100, vectors, np.arange(1400.0).reshape(700, 2), fs.Spread())
    for key, rows in (("a", vectors[:600]), ("b", vectors[600:])):
        largest = max(np.linalg.norm(rows - row, axis=1).max() for row in rows)
        shown = evaluation.counterexamples(2).set_index("explanation").loc[key]
        assert largest / 2 <= shown["gap"] <= largest + 1e-12
        assert largest / 2 <= evaluation.table().set_index("explanation").loc[key, "largest_gap"] <= largest + 1e-12
    assert shown["gap"] == pytest.approx(largest)  # a hundred vectors are compared with each other
    local = evaluation.local()
    others = np.delete(vectors[:600], 5, axis=0)
    assert local["mean"][5] == pytest.approx(tuple(others.mean(axis=0)))
    assert local["residual"][5] == pytest.approx(np.linalg.norm(vectors[5] - others.mean(axis=0)))
    assert local["spread"][5] ** 2 == pytest.approx(others.var(axis=0, ddof=1).sum())


def test_an_outlier_does_not_blur_the_spread_of_the_others():
    local = evaluated(["a"] * 4, [0.1, 0.1, 0.1, 1e12], agreement=fs.Spread()).local()
    assert (local["mean"][3], local["spread"][3]) == (0.1, 0.0)


@pytest.mark.parametrize("agreement", [fs.Close(0.5), fs.Tolerance(0.5), fs.Spread()])
def test_equal_predictions_have_no_spread_whatever_their_rounding(agreement):
    evaluation = evaluated(["a"] * 7 + ["b"] * 3, [0.1] * 7 + [0.7, 0.7, 9.9], agreement=agreement)
    calm = evaluation.table().set_index("explanation").loc["a"]
    assert (calm["spread"], calm["largest_gap"], calm["disagreement"], calm["consistency"]) == (0, 0, 0, 1)
    assert set(evaluation.counterexamples()["explanation"]) == {"b"}


@given(systems(agreements=(fs.Spread(),)), st.sampled_from([2.0**-500, 2.0**500]))
def test_no_scale_of_the_predictions_is_too_small_or_too_large(system, scale):
    numbers = system.numbers - system.numbers.min()
    plain, scaled = (evaluated(system.keys, y, agreement=fs.Spread()) for y in (numbers, scale * numbers))
    pd.testing.assert_series_equal(plain.local()["consistency"], scaled.local()["consistency"])
    pd.testing.assert_series_equal(plain.table()["consistency"], scaled.table()["consistency"])
    for column in ("mean", "spread", "residual"):
        assert (scale * plain.local()[column]).tolist() == pytest.approx(scaled.local()[column].tolist(), nan_ok=True)
    for column in ("mean", "spread", "largest_gap"):
        assert (scale * plain.table()[column]).tolist() == pytest.approx(scaled.table()[column].tolist(), nan_ok=True)
    decoders = [fs.OptimalDecoder().fit(system.keys, y, agreement=fs.Spread()) for y in (numbers, scale * numbers)]
    assert decoders[0].predict(system.keys) * scale == pytest.approx(decoders[1].predict(system.keys))


def test_weights_do_not_change_tables_of_rows():
    keys, numbers = ["a", "a", "b", "b", "a"], [1.0, 2.0, 4.0, 4.5, 9.0]
    for agreement in (fs.Close(2.0), fs.Spread()):
        plain = evaluated(keys, numbers, agreement=agreement)
        weighted = evaluated(keys, numbers, agreement=agreement, weights=[1, 2, 3, 4, 5])
        pd.testing.assert_frame_equal(plain.local(), weighted.local())
        pd.testing.assert_frame_equal(plain.table(), weighted.table())
        pd.testing.assert_frame_equal(plain.counterexamples(), weighted.counterexamples())


def test_rows_keep_their_labels_and_kinds_of_numbers_do_not_matter():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["r", "s", "t"])
    kinds = [[1, 2, 3], np.array([1, 2, 3], np.float32), pd.Series([1, 2, 3], index=X.index), [[1], [2], [3]]]
    frames = [evaluated(["a", "a", "b"], numbers, X, fs.Close(2.0)).local() for numbers in kinds]
    assert frames[0].index.tolist() == ["r", "s", "t"]
    for frame in frames[1:]:
        pd.testing.assert_frame_equal(frames[0], frame)


@given(systems())
def test_a_row_outside_the_sample_is_compared_with_all_rows_of_its_explanation(system):
    from faithscope.counting.counts import count_rows
    from faithscope.measures.local import at_row
    from faithscope.readers import as_explanations

    sample = fs.Sample.of(system.keys, system.numbers, agreement=system.agreement)
    key, number = system.keys[0], float(system.numbers[0]) + 0.3
    mine = [i for i, other in enumerate(system.keys) if other == key]
    local = at_row(count_rows(sample), as_explanations([key]), number)
    mean = np.mean([between(system.agreement, number, system.numbers[i]) for i in mine])
    if isinstance(system.agreement, fs.Spread):
        assert local.value == pytest.approx(1 - mean / system.numbers.var(ddof=1), abs=1e-7)
        assert local.low is local.high is None
    else:
        assert local.value == pytest.approx(mean, abs=1e-7)
        assert local.low <= local.value <= local.high
    assert (local.others, local.mean) == (len(mine), pytest.approx(system.numbers[mine].mean()))
    json.dumps(local.to_dict())
    assert f"{len(mine)} rows with this explanation have mean" in str(local)


def test_rejection_sampling_of_numbers_needs_a_prediction_and_a_bound():
    batches = [(["a", "b"] * 50, [1.0, 7.0] * 50)] * 10
    local = fs.sample_until(batches, "a", 0.1, 1000, prediction=1.5, agreement=fs.Close(1.0))
    assert local.value == 0.5
    assert local.reached
    with pytest.raises(fs.errors.BadInput, match="pass prediction="):
        fs.sample_until(batches, "a", 0.1, 1000, agreement=fs.Close(1.0))
    with pytest.raises(fs.errors.NotProven, match="for agreements from 0 to 1"):
        fs.sample_until(batches, "a", 0.1, 1000, prediction=1.5, agreement=fs.Spread())
