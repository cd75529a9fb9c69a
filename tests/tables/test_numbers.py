"""Predictions that are numbers, counted in an engine: the same estimates as in memory, to 1e-9."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import faithscope as fs
from contracts.test_engines import DOCUMENTS, ENGINES, INPUTS, MOMENTS, POPULATIONS, ROWS, RULES, VALUES, WORDS
from faithscope.agreements import OwnAgreement
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.tables.audit import audit
from faithscope.tables.log.writing import to_log
from faithscope.tables.numbers.agreement_sums import agreeing
from faithscope.tables.scoped.measures import scoped_measures
from faithscope.tables.sources.source import open_source
from tables import engines

AGREEMENTS = (fs.Close(0.3), fs.Tolerance(0.3), fs.Spread())
RNG = np.random.default_rng(17)
Y = np.round(VALUES[:, 0] + 0.3 * RNG.normal(size=ROWS), 1)
NUMBERS = ("value", "low", "high", "unverifiable", "verified", "verified_low", "verified_high", "chance", "upper")


def assert_same(estimate, expected):
    assert (estimate.n, estimate.distinct, estimate.agreement) == (expected.n, expected.distinct, expected.agreement)
    assert (estimate.above_chance, estimate.notes) == (expected.above_chance, expected.notes)
    for name in NUMBERS:
        assert getattr(estimate, name) == pytest.approx(getattr(expected, name), abs=1e-9), name
    if expected.gap is not None:
        assert estimate.gap**2 == pytest.approx(expected.gap**2, rel=1e-9, abs=1e-12)


def _system(rng, kind):
    """Explanations and numbers: ties on a grid, huge offsets, heavy tails, groups of one and of many."""
    n = int(rng.choice([2, 3, 4, 5, 8, 13, 30, 80]))
    keys = rng.integers(0, max(1, int(n * rng.choice([0.02, 0.1, 0.3, 0.6, 1.2]))), n)
    values = [
        np.round(rng.normal(size=n), 1),
        rng.normal(size=n) * 10.0 ** rng.integers(-6, 7),
        rng.integers(0, 5, n) * 0.1,
        1e9 + rng.normal(size=n),
        rng.standard_t(1.5, size=n),
        keys + 0.1 * rng.normal(size=n),
        0.7 * keys,
    ]
    return keys, values[kind % len(values)]


def _systems(seed, many):
    """A log of many systems, each a population; without those of which one row has all of the variance."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(many):
        keys, values = _system(rng, number)
        while np.unique(values, return_counts=True)[1].max() >= len(values) - 1:
            keys, values = _system(rng, number)
        parts.append(pd.DataFrame({"key": keys, "y": values, "part": number}))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("engine", "seed", "many"),
    [("duckdb", 1, 350), ("postgres", 2, 35), ("spark", 3, 21)],
)
@pytest.mark.parametrize("agreement", AGREEMENTS, ids=str)
def test_hundreds_of_systems_give_the_same_in_an_engine_as_in_memory(engine, seed, many, agreement):
    log = _systems(seed, many)
    how = engines.put(engine, "systems", pa.Table.from_pandas(log, preserve_index=False))
    parts = audit(**how, prediction="y", explanation="key", kind="keys", by="part", agreement=agreement).populations
    assert list(parts.estimates) == list(range(many))
    for name, part in log.groupby("part"):
        assert_same(parts.estimates[name], fs.consistency(part.key.tolist(), part.y.to_numpy(), agreement=agreement))


@ENGINES
def test_discretized_importances_populations_and_windows_give_the_same(engine):
    columns = {f"phi_{j}": pa.array(VALUES[:, j]) for j in range(3)}
    more = {"y": pa.array(Y), "region": pa.array(POPULATIONS.tolist()), "when": pa.array(MOMENTS)}
    how = {**engines.put(engine, "numbers", pa.table({**columns, **more})), "prediction": "y", "explanation": "phi_*"}
    importances = fs.Importances(VALUES[:, :3], names=["0", "1", "2"])
    weeks = pd.Series(MOMENTS).dt.to_period("W").dt.start_time
    for discretizer, agreement in zip((fs.Sign(), fs.SignOfTop(2), fs.Floor(0)), AGREEMENTS, strict=True):
        asked = {"discretizer": discretizer, "agreement": agreement}
        audited = audit(**how, **asked, by="region", time="when", every="1w")
        coarse = discretizer(importances)
        assert_same(audited.consistency, fs.consistency(coarse, Y, agreement=agreement))
        for group, chosen in (("populations", POPULATIONS), ("windows", weeks)):
            estimates = getattr(audited, group).estimates
            assert len(estimates) == len(set(chosen))
            for name, estimate in estimates.items():
                rows = np.flatnonzero(np.asarray(chosen) == (name if group == "populations" else np.datetime64(name)))
                assert_same(estimate, fs.consistency(coarse.take(rows), Y[rows], agreement=agreement))
    proven = audit(**how, agreement=fs.Close(0.3), interval="mcdiarmid", discretizer=fs.Sign()).consistency
    expected = fs.consistency(fs.Sign()(importances), Y, agreement=fs.Close(0.3), interval="mcdiarmid")
    assert_same(proven, expected)


@ENGINES
def test_several_outputs_add_up(engine):
    outputs = np.column_stack([Y, RNG.normal(size=ROWS), VALUES[:, 2]])
    columns = {f"p_{j}": pa.array(outputs[:, j]) for j in range(3)}
    keys = np.round(VALUES[:, 0])
    how = engines.put(engine, "outputs", pa.table({"key": pa.array(keys), **columns}))
    for prediction in (["p_0", "p_1", "p_2"], ["p_*"], ["p_1"]):
        audited = audit(**how, prediction=prediction, explanation="key", kind="keys", agreement=fs.Spread())
        chosen = outputs if len(prediction) > 1 or "*" in prediction[0] else outputs[:, 1]
        assert_same(audited.consistency, fs.consistency(keys.tolist(), chosen, agreement=fs.Spread()))
    worst = audit(**how, prediction=["p_*"], explanation="key", kind="keys", agreement=fs.Spread())
    found = worst.table(1).iloc[0]
    inside = outputs[keys == float(found.explanation)]
    assert found["mean"] == pytest.approx(tuple(inside.mean(axis=0)))
    assert found.spread == pytest.approx(np.sqrt(inside.var(axis=0, ddof=1).sum()))
    gaps = np.sqrt(((inside[:, None] - inside[None]) ** 2).sum(axis=2))
    assert gaps.max() / 2 <= found.largest_gap <= gaps.max() + 1e-9
    pair = worst.counterexamples(1).iloc[0]
    assert found.largest_gap - 1e-9 <= pair.gap <= gaps.max() + 1e-9


@ENGINES
def test_rules_and_words_are_as_sufficient_as_in_memory(engine):
    for name, explanations, rows in (("rules", RULES, INPUTS), ("words", WORDS, DOCUMENTS)):
        table = to_log(explanations, Y, rows).replace_schema_metadata()
        how = {**engines.put(engine, f"y_{name}", table), "prediction": "prediction"}
        for agreement in AGREEMENTS:
            audited = audit(**how, explanation=table.column_names[0], agreement=agreement)
            assert_same(audited.consistency, fs.consistency(explanations, Y, agreement=agreement))
            assert_same(audited.sufficiency, fs.sufficiency(explanations, Y, rows, agreement=agreement))
            blocks = scoped_measures(audited._measured, exact=0).sufficiency
            assert blocks.value == pytest.approx(audited.sufficiency.value, abs=1e-9)
            assert blocks.low <= blocks.value <= blocks.high


@ENGINES
def test_the_worst_explanations_come_first_with_their_rows_farthest_apart(engine):
    keys = np.array([f"leaf {number:g}" for number in np.round(VALUES[:, 0]) + 0.0])
    table = pa.table({"key": keys.tolist(), "y": Y, "id": np.arange(ROWS), "x": VALUES[:, 1]})
    how = {**engines.put(engine, "worst", table), "prediction": "y", "explanation": "key", "kind": "keys", "id": "id"}
    for agreement in AGREEMENTS:
        audited = audit(**how, agreement=agreement)
        expected = _by_explanation(keys, agreement)
        found = audited.table(None)
        assert found.disagreement.tolist() == pytest.approx(sorted(expected.disagreement, reverse=True), abs=1e-6)
        told = found.set_index("explanation").loc[expected.index]
        for name in ("n", "mean", "spread", "lowest", "highest", "largest_gap", "consistency"):
            assert told[name].tolist() == pytest.approx(expected[name].tolist(), abs=1e-9, nan_ok=True), name
        pairs = audited.counterexamples(5)
        assert pairs.explanation.tolist() == found.explanation.tolist()[:5]
        assert pairs.gap.tolist() == pytest.approx(found.largest_gap.tolist()[:5])
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
        spread = y.std(ddof=1) if len(y) > 1 else np.nan
        ends = (len(y), y.mean(), spread, y.min(), y.max(), np.ptp(y), consistency, apart.sum())
        lines[key] = ends
    names = ["n", "mean", "spread", "lowest", "highest", "largest_gap", "consistency", "disagreement"]
    return pd.DataFrame.from_dict(lines, orient="index", columns=names)


@ENGINES
def test_the_ends_of_a_window_are_decided_as_doubles_are_subtracted(engine):
    for number, eps in enumerate([0.1, 0.2, 0.3, 0.7, 1.0, 1 / 3]):
        grid = np.concatenate([np.arange(-9, 10) * 0.1, np.arange(9) * eps, [1e12, 1e12 + eps], [5e-324, -eps]])
        grid = np.unique(np.concatenate([grid, np.nextafter(grid, 9), np.nextafter(grid, -9)]))
        table = engines.put(engine, f"ends{number}", pa.table({"y0": pa.array(grid)}))
        answer = agreeing(open_source(**_opened(table)).table, fs.Tolerance(eps), []).to_pyarrow()
        found = dict(zip(answer.column("y0").to_pylist(), answer.column("agreeing").to_pylist(), strict=True))
        for value in grid:
            assert found[value] + 1 == np.sum(np.abs(grid - value) <= eps), (eps, value)
        if engine == "spark":
            return


def _opened(how):
    return {"log": how["table"], "connect": how.get("connect")}


def test_two_texts_of_one_rule_are_one_explanation():
    rules = ["a <= 1 and b > 2", "b > 2 and a <= 1", "a <= 1", "a <= 1.0"]
    texts = np.random.default_rng(0).choice(rules, 60)
    one = np.where(np.isin(texts, rules[:2]), rules[0], rules[2])
    y = np.random.default_rng(1).normal(size=60)
    log = pd.DataFrame({"rule": texts, "y": y, "a": 0.0, "b": 3.0})
    for agreement in AGREEMENTS:
        audited = audit(log, prediction="y", explanation="rule", kind="rules", agreement=agreement)
        assert_same(audited.consistency, fs.consistency(one.tolist(), y, agreement=agreement))
        assert audited.table().n.sum() == 60
        assert len(audited.counterexamples(3)) == 3


@pytest.mark.parametrize("agreement", AGREEMENTS, ids=str)
def test_integers_decimals_booleans_and_floats_are_numbers_whatever_holds_them(agreement, tmp_path):
    rng = np.random.default_rng(3)
    whole, keys = rng.integers(0, 9, 50), rng.integers(0, 4, 50).tolist()
    cents = pa.array([f"{number}.25" for number in whole]).cast(pa.decimal128(8, 2))
    small = (whole + 0.1).astype(np.float32)
    for column, values in ((whole, whole), (cents, whole + 0.25), (whole > 4, whole > 4), (small, small)):
        expected = fs.consistency(keys, values, agreement=agreement)
        log = pa.table({"key": keys, "y": column})
        how = {"prediction": "y", "explanation": "key", "kind": "keys", "agreement": agreement}
        assert_same(audit(log, **how).consistency, expected)
        if values is not small and values.dtype != bool:  # a CSV file has texts, "true" among them
            log.to_pandas().to_csv(tmp_path / "log.csv", index=False)
            assert_same(audit(tmp_path / "log.csv", **how).consistency, expected)


def test_repeated_rows_in_another_order_give_the_same():
    rng = np.random.default_rng(5)
    log = pd.DataFrame({"key": rng.integers(0, 5, 40), "y": np.round(rng.normal(size=40), 1)})
    log = pd.concat([log, log, log.iloc[:1]], ignore_index=True)
    how = {"prediction": "y", "explanation": "key", "kind": "keys"}
    for agreement in AGREEMENTS:
        mixed = audit(log.sample(frac=1, random_state=1), **how, agreement=agreement).consistency
        assert_same(mixed, fs.consistency(log.key.tolist(), log.y, agreement=agreement))


def test_missing_numbers_are_refused_or_dropped_and_never_a_value():
    log = pd.DataFrame({"key": [1, 1, 2, 2, 2], "y": [0.5, None, 0.5, 0.7, 0.9]})
    how = {"prediction": "y", "explanation": "key", "kind": "keys", "agreement": fs.Close(0.5)}
    with pytest.raises(BadInput, match=r"'y' in 1 of 5 rows"):
        audit(log, **how)
    dropped = audit(log, **how, nulls="drop").consistency
    assert dropped.value == pytest.approx(
        fs.consistency([1, 2, 2, 2], [0.5, 0.5, 0.7, 0.9], agreement=fs.Close(0.5)).value
    )
    assert "1 row was dropped: values missing" in dropped.notes
    with pytest.raises(BadInput, match=r'missing in 1 rows, and Close.* say nulls="drop"'):
        audit(log, **how, nulls="key")
    with pytest.raises(BadInput, match="infinite number in 1 rows"):
        audit(log.assign(y=[1.0, 2.0, np.inf, 3.0, 4.0]), **how)


def test_a_single_row_and_equal_predictions():
    how = {"prediction": "y", "explanation": "key", "kind": "keys"}
    for agreement in (fs.Close(1.0), fs.Tolerance(1.0)):
        one = audit(pd.DataFrame({"key": [1], "y": [0.5]}), **how, agreement=agreement).consistency
        assert_same(one, fs.consistency([1], [0.5], agreement=agreement))
        equal = audit(pd.DataFrame({"key": [1, 1, 2], "y": [0.5] * 3}), **how, agreement=agreement).consistency
        assert_same(equal, fs.consistency([1, 1, 2], [0.5] * 3, agreement=agreement))
    with pytest.raises(BadInput, match="at least 2 rows"):
        audit(pd.DataFrame({"key": [1], "y": [0.5]}), **how, agreement=fs.Spread())
    with pytest.raises(BadInput, match=r"all equal \(0.5\)"):
        audit(pd.DataFrame({"key": [1, 1, 2], "y": [0.5] * 3}), **how, agreement=fs.Spread())


def test_populations_and_windows_without_variance_are_unknown_and_the_rest_is_measured():
    regions = ["n"] * 20 + ["s"] * 5 + ["lone"]
    days = pd.to_datetime(["2026-03-01"] * 20 + ["2026-03-02"] * 5 + ["2026-03-03"])
    keys, y = [0, 1] * 13, np.random.default_rng(4).normal(size=26)
    y[20:25] = 0.5
    log = pd.DataFrame({"key": keys, "y": y, "region": regions, "day": days})
    how = {"prediction": "y", "explanation": "key", "kind": "keys", "agreement": fs.Spread()}
    audited = audit(log, **how, by="region", time="day", every="1d")
    evaluated = fs.evaluate(y, keys, np.arange(26.0)[:, None], agreement=fs.Spread())
    for name, expected in evaluated.by(regions).estimates.items():
        assert_same(audited.populations.estimates[name], expected)
    named = dict(zip(audited.windows.estimates.values(), ("n", "s", "lone"), strict=True))
    for window, name in named.items():
        assert_same(window, audited.populations.estimates[name])
    assert "one row" in audited.populations.estimates["lone"].notes[-1]
    assert "(0.5)" in audited.populations.estimates["s"].notes[-1]
    assert len(audited.populations.differences()) == 3
    assert str(audited)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-162, 1e-160, 1e150, 1e154, 1e200, 1e307])
def test_a_spread_does_not_depend_on_the_scale_of_predictions(scale):
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 6, 200)
    y = keys + rng.normal(size=200)
    estimates = [
        audit(
            pd.DataFrame({"key": keys, "y": y * by}), prediction="y", explanation="key", kind="keys", agreement="spread"
        ).consistency
        for by in (1.0, scale)
    ]
    assert estimates[1].gap == pytest.approx(estimates[0].gap * scale, rel=1e-9)
    for name in NUMBERS:
        assert getattr(estimates[1], name) == pytest.approx(getattr(estimates[0], name), abs=1e-9), name


@pytest.mark.parametrize("noise", [0.0, 2.0**-24])
def test_a_small_spread_within_explanations_is_not_rounded_away(noise):
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 6, 5000)
    y = np.array([120000.1, 250000.3, 310000.7, 99999.9, 180000.2, 420000.6])[keys] + noise * rng.integers(0, 9, 5000)
    log = pd.DataFrame({"key": keys, "y": y})
    gap = audit(log, prediction="y", explanation="key", kind="keys", agreement="spread").consistency.gap
    parts = [y[keys == key] - y[keys == key].min() for key in range(6)]
    expected = sum(len(part) * part.var(ddof=1) for part in parts) / 5000
    assert gap == pytest.approx(np.sqrt(2 * expected), rel=1e-9, abs=0.0)


def test_what_cannot_be_counted_in_an_engine_is_one_sentence():
    log = pd.DataFrame({"key": [1, 1, 2], "y": [0.5, 0.6, 0.7], "word": ["a", "b", "c"], "big": [2**60, 1, 2]})
    how = {"explanation": "key", "kind": "keys"}
    with pytest.raises(NotProven, match=r"cannot be applied in an engine: .* fs.consistency"):
        audit(log, prediction="y", agreement=lambda a, b: a == b, **how)
    with pytest.raises(NotProven, match="cannot be applied in an engine"):
        audit(log, prediction="y", agreement=OwnAgreement(max), **how)
    with pytest.raises(WrongType, match=r"Column 'word' holds .*, but Spread\(\) compares numbers"):
        audit(log, prediction="word", agreement=fs.Spread(), **how)
    with pytest.raises(BadInput, match=r"beyond 2\*\*53"):
        audit(log, prediction="big", agreement=fs.Spread(), **how)
    with pytest.raises(BadInput, match=r"one column; got 2: .* agreement=fs.Spread\(\)"):
        audit(log, prediction=["y", "big"], agreement=fs.Close(1.0), **how)
    with pytest.raises(BadInput, match="one column; got 2"):
        audit(log, prediction=["y", "big"], **how)
    with pytest.raises(NotProven, match="not for Spread"):
        audit(log, prediction="y", agreement=fs.Spread(), interval="mcdiarmid", **how)
    with pytest.raises(BadInput, match="farther apart than eps=1e-18"):
        audit(log, prediction="y", agreement=fs.Close(1e-18), **how)


@pytest.mark.parametrize("y", [np.random.default_rng(0).normal(size=60), np.arange(60) * 7])
def test_numbers_without_an_agreement_are_told_of_it(y):
    log = pd.DataFrame({"key": [1, 2] * 30, "y": y})
    with pytest.raises(BadInput, match=r"agreement=fs.Spread\(\) or fs.Close\(eps\), .* --agreement spread") as told:
        audit(log, prediction="y", explanation="key", kind="keys")
    assert len(str(told.value)) < 350
    assert "…" not in str(told.value)


def test_an_audit_says_how_predictions_were_compared(tmp_path):
    log = pd.DataFrame({"key": [1, 2] * 30, "y": np.random.default_rng(0).normal(size=60)})
    audited = audit(log, prediction="y", explanation="key", kind="keys", agreement="close:0.5")
    assert audited.agreement == fs.Close(0.5)
    assert audited.to_dict()["agreement"] == "Close(eps=0.5)"
    assert fs.plan(audited.consistency).n == 60
    audited.to_html(tmp_path / "r.html")
    assert audited.over_time is not None
