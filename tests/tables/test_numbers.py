"""Predictions that are numbers, counted in an engine: the same estimates as in memory, to 1e-9."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.tables.audit import audit
from refused import refused
from tables import engines
from tables.logs import NUMBERS as Y
from tables.logs import ROWS, VALUES, assert_same

AGREEMENTS = (fs.Close(0.3), fs.Tolerance(0.3), fs.Spread())
KEYS = {"prediction": "y", "explanation": "key", "kind": "keys"}


def test_missing_weights_are_dropped_and_never_a_value():
    log = pd.DataFrame({"why": [1, 1, 2, 2], "yhat": [0, 0, 1, 1], "w": [1.0, 2.0, None, 1.0]})
    asked = {"prediction": "yhat", "explanation": "why", "kind": "keys", "weights": "w"}
    for nulls in ("error", "key"):
        refused(
            fs.errors.BadInput,
            r'[Ss]ay nulls="drop" \(--nulls drop\) to leave such rows out\.$',
            fs.audit,
            log,
            nulls=nulls,
            **asked,
        )
    assert fs.audit(log, nulls="drop", **asked).consistency.n == 3


def key_and_y(keys, y, **how):
    """The audit of a log of keys and numbers."""
    return audit(pd.DataFrame({"key": keys, "y": y}), **KEYS, **how)


@engines.EACH
def test_several_outputs_add_up(engine):
    outputs = np.column_stack([Y, default_rng(17).normal(size=ROWS), VALUES[:, 2]])
    columns = {f"p_{j}": pa.array(outputs[:, j]) for j in range(3)}
    keys = np.round(VALUES[:, 1])
    how = engines.put(engine, "outputs", pa.table({"key": pa.array(keys), **columns}))
    for prediction in (["p_0", "p_1", "p_2"], ["p_*"], ["p_1"]):
        audited = audit(**how, prediction=prediction, explanation="key", kind="keys", agreement=fs.Spread())
        chosen = outputs if len(prediction) > 1 or "*" in prediction[0] else outputs[:, 1]
        assert_same(audited.consistency, fs.consistency(keys.tolist(), chosen, agreement=fs.Spread()))
    worst = audit(**how, prediction=["p_*"], explanation="key", kind="keys", agreement=fs.Spread())
    found = worst.table(1).iloc[0]
    inside = outputs[keys == float(found.explanation)]
    assert found["mean"] == pytest.approx(tuple(inside.mean(axis=0)))
    gaps = np.sqrt(((inside[:, None] - inside[None]) ** 2).sum(axis=2))
    pair = worst.counterexamples(1).iloc[0]
    assert gaps.max() / 2 <= pair.gap <= gaps.max() + 1e-9


@engines.EACH
def test_the_worst_explanations_come_first_with_their_rows_farthest_apart(engine):
    keys = np.array([f"leaf {number:g}" for number in np.round(VALUES[:, 1]) + 0.0])
    table = pa.table({"key": keys.tolist(), "y": Y, "id": np.arange(ROWS), "x": VALUES[:, 1]})
    how = {**engines.put(engine, "worst", table), "prediction": "y", "explanation": "key", "kind": "keys", "id": "id"}
    for agreement in AGREEMENTS:
        audited = audit(**how, agreement=agreement)
        expected = _by_explanation(keys, agreement)
        found = audited.table(None)
        assert found.disagreement.tolist() == pytest.approx(sorted(expected.disagreement, reverse=True), abs=1e-6)
        told = found.set_index("explanation").loc[expected.index]
        for name in ("n", "mean", "lowest", "highest", "consistency"):
            assert told[name].tolist() == pytest.approx(expected[name].tolist(), abs=1e-9, nan_ok=True), name
        pairs = audited.counterexamples(5)
        assert pairs.explanation.tolist() == found.explanation.tolist()[:5]
        assert pairs.gap.tolist() == pytest.approx((found.highest - found.lowest).tolist()[:5])
        for _, pair in pairs.iterrows():
            assert abs(Y[pair.id_a] - Y[pair.id_b]) == pytest.approx(pair.gap)
            assert (Y[pair.id_a], Y[pair.id_b]) == (pair.prediction_a, pair.prediction_b)
            assert keys[pair.id_a] == keys[pair.id_b] == pair.explanation


def _by_explanation(keys, agreement):
    """Every explanation by brute force over pairs."""
    lines = {}
    for key in np.unique(keys):
        y = Y[keys == key]
        gaps = np.abs(y[:, None] - y[None, :])[np.triu_indices(len(y), 1)]
        apart = gaps**2
        if not isinstance(agreement, fs.Spread):
            close = np.maximum(0, 1 - gaps / agreement.eps)
            apart = 1 - (close if isinstance(agreement, fs.Close) else (gaps <= agreement.eps))
        mean = apart.mean() if len(apart) else np.nan
        consistency = 1 - (mean / 2 / Y.var(ddof=1) if isinstance(agreement, fs.Spread) else mean)
        ends = (len(y), y.mean(), y.min(), y.max(), consistency, apart.sum())
        lines[key] = ends
    names = ["n", "mean", "lowest", "highest", "consistency", "disagreement"]
    return pd.DataFrame.from_dict(lines, orient="index", columns=names)


def test_missing_numbers_are_dropped_and_never_a_value():
    keys, y, close = [1, 1, 2, 2, 2], [0.5, None, 0.5, 0.7, 0.9], fs.Close(0.5)
    dropped = key_and_y(keys, y, agreement=close, nulls="drop").consistency
    assert dropped.value == pytest.approx(fs.consistency([1, 2, 2, 2], [0.5, 0.5, 0.7, 0.9], agreement=close).value)
    assert "1 row was dropped: values missing" in dropped.notes
    for values, nulls, words in (
        (y, "error", r"'y' in 1 of 5 rows"),
        (y, "key", r'missing in 1 rows, and predicted numbers.* say nulls="drop"'),
        ([1.0, 2.0, np.inf, 3.0, 4.0], "error", "infinite number in 1 rows"),
    ):
        refused(BadInput, words, key_and_y, keys, values, agreement=close, nulls=nulls)


def test_a_spread_does_not_depend_on_the_scale_of_predictions():
    rng = default_rng(0)
    keys = rng.integers(0, 6, 200)
    y = keys + rng.normal(size=200)
    expected = key_and_y(keys, y, agreement="spread").consistency
    for scale in (1e-300, 1e-200, 1e-162, 1e-160, 1e150, 1e154, 1e200, 1e307):
        scaled = key_and_y(keys, y * scale, agreement="spread").consistency
        assert scaled.gap == pytest.approx(expected.gap * scale, rel=1e-9)
        assert_same(replace(scaled, gap=expected.gap), expected)


@pytest.mark.parametrize("noise", [0.0, 2.0**-24])
def test_a_small_spread_within_explanations_is_not_rounded_away(noise):
    rng = default_rng(0)
    keys = rng.integers(0, 6, 5000)
    y = np.array([120000.1, 250000.3, 310000.7, 99999.9, 180000.2, 420000.6])[keys] + noise * rng.integers(0, 9, 5000)
    gap = key_and_y(keys, y, agreement="spread").consistency.gap
    parts = [y[keys == key] - y[keys == key].min() for key in range(6)]
    expected = sum(len(part) * part.var(ddof=1) for part in parts) / 5000
    assert gap == pytest.approx(np.sqrt(2 * expected), rel=1e-9, abs=0.0)


@pytest.mark.parametrize("y", [default_rng(0).normal(size=60), np.arange(60) * 7])
def test_numbers_without_an_agreement_are_told_of_it(y):
    with pytest.raises(BadInput, match=r"agreement=fs.Spread\(\) or fs.Close\(eps\), .* --agreement spread") as told:
        key_and_y([1, 2] * 30, y)
    assert len(str(told.value)) < 350
    assert "…" not in str(told.value)


def test_both_rows_of_a_pair_are_of_different_clusters():
    log = pd.DataFrame({"key": [1] * 6 + [2] * 4, "y": [0.0, 9, 0, 9, 5, 4, 0, 8, 1, 7]})
    log["owner"], log["id"] = [0, 0, 0, 0, 1, 2, 3, 3, 3, 3], range(10)
    audited = audit(log, **KEYS, agreement=fs.Close(1.0), clusters="owner", id="id")
    pairs = audited.counterexamples(4)
    assert (log.owner[pairs.id_a].to_numpy() != log.owner[pairs.id_b].to_numpy()).all()
    assert set(pairs.explanation) == {"1"}  # all rows of the other are of one cluster
    assert pairs.gap.tolist()[0] == 5
