"""Clustered rows of a log: the same estimates as in memory, to 1e-9, and pairs of rows that are strangers."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import faithscope as fs
from contracts.test_engines import DOCUMENTS, ENGINES, INPUTS, LABELS, MOMENTS, POPULATIONS, ROWS, RULES, VALUES, WORDS
from faithscope.cli import app
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.measures.comparing.populations import measure_groups
from faithscope.measures.consistency import measure_consistency
from faithscope.sample import Sample
from faithscope.tables.audit import audit
from faithscope.tables.log.writing import to_log
from laws.test_clusters import brute
from tables import engines

NUMBERS = ("value", "low", "high", "unverifiable", "verified", "verified_low", "verified_high", "chance", "effective_n")
NUMBERS += ("limit", "bracket")
FACTS = ("n", "distinct", "clusters", "above_chance", "agreement", "method", "notes")
RNG = np.random.default_rng(5)
CUSTOMERS = RNG.integers(0, 60, ROWS)
AGREEMENTS = (None, fs.Close(1.0), fs.Tolerance(1.0))


def assert_same(estimate, expected):
    assert [getattr(estimate, name) for name in FACTS] == [getattr(expected, name) for name in FACTS]
    for name in NUMBERS:
        assert getattr(estimate, name) == pytest.approx(getattr(expected, name), abs=1e-9), name


def by_group(explanations, predictions, clusters, groups, agreement=None):
    sample = Sample.of(explanations, predictions, None, None, agreement, clusters)
    return measure_groups(sample, groups, measure_consistency).estimates


def _systems(seed, many, numbers):
    """A log of many systems, each a population: pure and mixed, one cluster and many, silent and told."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(many):
        n = int(rng.choice([1, 2, 3, 5, 8, 13, 30, 80]))
        keys = rng.integers(0, max(1, int(n * rng.choice([0.02, 0.1, 0.3, 0.6, 1.2]))), n)
        clusters = rng.integers(0, max(1, int(n * rng.choice([0.02, 0.3, 0.6, 3.0]))), n)
        if number % 5 == 0:
            clusters = keys  # every explanation is of one cluster
        labels = rng.integers(0, rng.choice([1, 2, 4]), n)
        predictions = np.round(rng.normal(size=n), 1) if numbers else labels
        parts.append(pd.DataFrame({"key": keys, "y": predictions, "customer": clusters, "part": number}))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(("engine", "many"), [("duckdb", 300), ("postgres", 30), ("spark", 6)])
@pytest.mark.parametrize("agreement", AGREEMENTS, ids=str)
def test_many_systems_give_the_same_in_an_engine_as_in_memory(engine, many, agreement):
    log = _systems(many, many, agreement is not None)
    how = engines.put(engine, "clustered", pa.Table.from_pandas(log, preserve_index=False))
    how |= {"prediction": "y", "explanation": "key", "kind": "keys", "clusters": "customer", "agreement": agreement}
    audited = audit(**how, by="part")
    rows = (log.key.tolist(), log.y.to_numpy())
    assert_same(audited.consistency, fs.consistency(*rows, clusters=log.customer.to_numpy(), agreement=agreement))
    expected = by_group(*rows, log.customer.to_numpy(), log.part.to_numpy(), agreement)
    assert list(audited.populations.estimates) == list(expected)
    for name, estimate in audited.populations.estimates.items():
        assert_same(estimate, expected[name])


@pytest.mark.parametrize("seed", range(20))
def test_an_audit_compares_rows_of_different_clusters(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    log = pd.DataFrame({"key": rng.integers(0, 4, n), "y": rng.integers(0, 3, n), "customer": rng.integers(0, n, n)})
    log.loc[:1, "customer"] = [0, 1]  # at least two
    estimate = fs.audit(log, prediction="y", explanation="key", kind="keys", clusters="customer").consistency
    key, y, customer = (log[name].to_numpy() for name in ("key", "y", "customer"))
    expected = brute(key, key[:, None] == key, (y[:, None] == y).astype(float), customer, np.ones(n))
    assert (estimate.value, estimate.unverifiable) == pytest.approx(expected)


@ENGINES
def test_discretized_importances_populations_and_windows_give_the_same(engine):
    columns = {f"phi_{j}": pa.array(VALUES[:, j]) for j in range(3)}
    more = {"y": pa.array(LABELS.tolist()), "region": pa.array(POPULATIONS.tolist()), "when": pa.array(MOMENTS)}
    names = [f"C{number}" for number in CUSTOMERS]
    how = engines.put(engine, "customers", pa.table({**columns, **more, "customer": pa.array(names)}))
    how |= {"prediction": "y", "explanation": "*", "clusters": "customer", "kind": "importances"}
    how["explanation"] = "phi_*"
    for discretizer in (None, fs.Sign(), fs.SignOfTop(2)):
        audited = audit(**how, discretizer=discretizer, by="region")
        coarse = Sample.of(VALUES[:, :3], LABELS).discretized(discretizer).explanations
        assert_same(audited.consistency, fs.consistency(coarse, LABELS, clusters=CUSTOMERS))
        expected = by_group(coarse, LABELS, CUSTOMERS, POPULATIONS)
        for name, estimate in audited.populations.estimates.items():
            assert_same(estimate, expected[name])
    windows = audited.over_time("when", "1w", 2)
    weeks = (pd.Series(MOMENTS) - pd.Timestamp("1969-12-22")).dt.days // 7
    expected = by_group(coarse, LABELS, CUSTOMERS, weeks.to_numpy())
    for estimate, wanted in zip(windows.estimates.values(), expected.values(), strict=True):
        assert_same(estimate, wanted)
    first = weeks.isin(sorted(set(weeks))[:2]).to_numpy()
    reference = fs.consistency(coarse.take(np.flatnonzero(first)), LABELS[first], clusters=CUSTOMERS[first])
    assert_same(windows.reference, reference)
    pairs = audited.counterexamples(20)
    assert len(pairs) == 20
    assert (pairs.customer_a != pairs.customer_b).all()


@ENGINES
def test_rules_and_words_give_the_same_and_sufficiency_says_why_it_is_not_measured(engine):
    for name, explanations, rows in (("rule", RULES, INPUTS), ("words", WORDS, DOCUMENTS)):
        log = to_log(explanations, LABELS, rows).append_column("customer", pa.array(CUSTOMERS))
        how = engines.put(engine, f"clustered_{name}", log.replace_schema_metadata())
        audited = audit(**how, prediction="prediction", explanation=name, clusters="customer")
        assert_same(audited.consistency, fs.consistency(explanations, LABELS, clusters=CUSTOMERS))
        assert audited.sufficiency is None
        assert "call fs.sufficiency(..., clusters=...)" in audited.notes[0]
        pairs = audited.counterexamples(5)
        assert len(pairs) == 5
        assert (pairs.customer_a != pairs.customer_b).all()


def test_a_rule_written_in_two_ways_is_one_explanation():
    rules = ["a <= 1 and b > 2", "b > 2 and a <= 1"] * 10
    log = pd.DataFrame({"rule": rules, "y": ["x", "x", "y", "x"] * 5, "customer": np.arange(20) // 4})
    audited = fs.audit(log, prediction="y", explanation="rule", clusters="customer")
    expected = fs.consistency(["one"] * 20, log.y, clusters=log.customer)
    assert_same(audited.consistency, expected)
    strangers = [(a, b) for a in range(20) for b in range(a) if log.customer[a] != log.customer[b]]
    disagreeing = sum(log.y[a] != log.y[b] for a, b in strangers)
    assert audited.counterexamples(3).disagreeing_pairs.tolist() == [disagreeing] * 3


def _log(n=400, seed=1):
    rng = np.random.default_rng(seed)
    keys, labels = rng.integers(0, 300, n), rng.integers(0, 2, n)
    return pd.DataFrame({"leaf": keys, "yhat": labels, "row": np.arange(n)})


def _ask(log, **how):
    return fs.audit(log, prediction="yhat", explanation="leaf", kind="keys", **how)


def test_rows_logged_twice_tell_no_more_than_once():
    log = _log()
    twice = pd.concat([log, log], ignore_index=True)
    once, again = _ask(log).consistency, _ask(twice, clusters="row").consistency
    for name in ("value", "unverifiable", "verified", "chance", "effective_n"):
        assert getattr(again, name) == pytest.approx(getattr(once, name), abs=1e-12)
    assert again.low <= 0.5 <= again.high
    assert (again.n, again.clusters) == (800, 400)
    assert _ask(twice).consistency.low > 0.5  # where the truth is .5


def test_clusters_of_one_row_are_rows():
    log = _log()
    assert_same(_ask(log, clusters="row").consistency, fs.consistency(log.leaf, log.yhat, clusters=log.row))
    plain, alone = fs.consistency(log.leaf, log.yhat, interval="jackknife"), _ask(log, clusters="row").consistency
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_an_explanation_of_one_cluster_is_unverifiable():
    log = pd.DataFrame({"leaf": [1] * 6 + [2] * 4, "yhat": list("aaaaaaabab"), "customer": [0] * 6 + [1, 2, 3, 4]})
    assert _ask(log, clusters="customer").consistency.unverifiable == pytest.approx(0.6)
    assert len(_ask(log, clusters="customer").counterexamples()) == 4
    log["yhat"] = list("aaabbbaaaa")
    assert len(_ask(log, clusters="customer").counterexamples()) == 0
    assert _ask(log, clusters="customer").table(1).disagreeing_pairs.tolist() == [9]  # rows as they are


def test_pairs_of_strangers_are_found_behind_many_rows_of_one_customer():
    many = pd.DataFrame({"leaf": 1, "yhat": np.repeat([0, 1], 200), "customer": "A"})
    log = pd.concat([many, pd.DataFrame({"leaf": [1], "yhat": [1], "customer": ["B"]})], ignore_index=True)
    pairs = _ask(log, clusters="customer").counterexamples(1)
    assert {pairs.customer_a[0], pairs.customer_b[0]} == {"A", "B"}
    pairs = _ask(log.astype({"yhat": float}), clusters="customer", agreement=fs.Close(0.5)).counterexamples(1)
    assert {pairs.customer_a[0], pairs.customer_b[0]} == {"A", "B"}


def test_numbers_and_texts_name_the_same_clusters(tmp_path):
    log = _log().assign(customer=lambda rows: rows.row // 4)
    expected = _ask(log, clusters="customer").consistency
    for kind in (str, float, "int8", "category"):
        assert_same(_ask(log.astype({"customer": kind}), clusters="customer").consistency, expected)
    log.to_csv(tmp_path / "log.csv", index=False)
    assert_same(_ask(tmp_path / "log.csv", clusters="customer").consistency, expected)


def test_rows_without_a_cluster_follow_nulls():
    log = _log().assign(customer=lambda rows: (rows.row // 3).astype(object))
    log.loc[::4, "customer"] = None
    with pytest.raises(BadInput, match="'customer' in 100 of 400 rows"):
        _ask(log, clusters="customer")
    kept = log.dropna()
    dropped = _ask(log, clusters="customer", nulls="drop").consistency
    assert dropped.value == pytest.approx(fs.consistency(kept.leaf, kept.yhat, clusters=kept.customer).value)
    assert dropped.notes[-1] == "100 rows were dropped: values missing"
    keyed = _ask(log, clusters="customer", nulls="key")
    assert_same(keyed.consistency, fs.consistency(log.leaf, log.yhat, clusters=log.customer.fillna(-1)))
    assert len(keyed.counterexamples(5)) == 5
    floats = log.assign(customer=log.customer.astype(float))
    assert_same(_ask(floats, clusters="customer", nulls="key").consistency, keyed.consistency)


def test_what_cannot_be_done_with_clusters_is_refused_in_a_sentence():
    log = _log(40).assign(one="A", list=[[1]] * 40, raw=[b"x"] * 40)
    with pytest.raises(BadInput, match="All 40 rows are of one cluster in column 'one'"):
        _ask(log, clusters="one")
    with pytest.raises(NotProven, match="use 'jackknife' with clusters"):
        _ask(log, clusters="row", interval="mcdiarmid")
    with pytest.raises(NotProven, match=r"use agreement=fs.Close\(eps\) with clusters"):
        _ask(log, clusters="row", agreement=fs.Spread())
    with pytest.raises(BadInput, match="no column 'rows' for clusters"):
        _ask(log, clusters="rows")
    with pytest.raises(WrongType, match="clusters is the name of a column"):
        _ask(log, clusters=["row"])
    with pytest.raises(BadInput, match="both for clusters and for prediction"):
        _ask(log, clusters="yhat")
    with pytest.raises(BadInput, match="both for clusters and for explanation"):
        _ask(log, clusters="leaf")
    for column in ("list", "raw"):
        with pytest.raises(WrongType, match=column):
            _ask(log, clusters=column)
    with pytest.raises(NotProven, match="independent rows"):
        fs.plan(_ask(log, clusters="row").consistency)


def test_a_glob_never_means_the_column_of_clusters():
    log = _log(60)[["leaf", "yhat", "row"]].assign(other=1)
    found = fs.audit(log, prediction="yhat", explanation="*", clusters="row", kind="keys").consistency
    assert found.distinct == log.leaf.nunique()


def test_the_command_line_and_the_report_know_clusters(tmp_path):
    log = _log().assign(customer=lambda rows: rows.row // 4)
    log.to_parquet(tmp_path / "log.parquet")
    words = ["audit", str(tmp_path / "log.parquet"), "--prediction", "yhat", "--explanation", "leaf", "--kind", "keys"]
    report = tmp_path / "r.html"
    done = CliRunner().invoke(app, [*words, "--cluster", "customer", "--report", str(report), "--json"])
    told = json.loads(done.stdout)["consistency"]
    assert told["clusters"] == 100
    assert told["value"] == pytest.approx(_ask(log, clusters="customer").consistency.value)
    assert "Effective rows" in report.read_text()


def test_importances_from_a_wide_stream_keep_their_clusters():
    values = np.round(RNG.normal(size=(ROWS, 3)))
    log = pd.DataFrame(values, columns=[f"phi_{j}" for j in range(3)]).assign(yhat=LABELS, customer=CUSTOMERS)
    log["customer"] = log.customer.astype(object)
    log.loc[0, "customer"] = None
    audited = fs.audit(
        log, prediction="yhat", explanation="phi_*", clusters="customer", discretizer=fs.Rank(), nulls="drop"
    )
    coarse = fs.Rank()(fs.Importances(values[1:]))
    expected = fs.consistency(coarse, LABELS[1:], clusters=CUSTOMERS[1:])
    assert audited.consistency.value == pytest.approx(expected.value)
    assert (audited.consistency.low, audited.consistency.clusters) == pytest.approx((expected.low, expected.clusters))
