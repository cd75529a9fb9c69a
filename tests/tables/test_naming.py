"""A log has no row numbers: rows are told by the columns that identify them, or by their own."""

import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples
from faithscope.report.summary import summarize
from faithscope.tables.audit import audit
from tables import engines

RNG = default_rng(5)
ROWS = 80
LOG = pd.DataFrame(
    {
        "customer": [f"C{number}" for number in RNG.permutation(ROWS) + 1000],
        "phi_a": RNG.integers(-1, 2, ROWS).astype(float),
        "phi_b": RNG.integers(-1, 2, ROWS).astype(float),
        "yhat": RNG.integers(0, 2, ROWS),
        "visit": RNG.permutation(ROWS),
        "age": RNG.integers(20, 60, ROWS),
        "letter": ["dear " * 100] * ROWS,
    }
)
WHO = LOG.set_index("customer")
HOW = {"prediction": "yhat", "explanation": "phi_*"}


def _holds(pair, explanations):
    a, b = WHO.loc[pair.customer_a], WHO.loc[pair.customer_b]
    assert [a.yhat, b.yhat] == [pair.prediction_a, pair.prediction_b]
    assert a.yhat != b.yhat
    place = {customer: row for row, customer in enumerate(LOG.customer)}
    described = {explanations.describe(place[name]) for name in (pair.customer_a, pair.customer_b)}
    assert described == {pair.explanation}


@engines.EACH
def test_ids_lead_to_the_rows_that_contradict_each_other(engine):
    log = engines.put(engine, "people", pa.table({name: pa.array(LOG[name].tolist()) for name in LOG}))
    importances = fs.Importances(LOG[["phi_a", "phi_b"]].to_numpy(), names=["a", "b"])
    for discretizer in (None, fs.Sign(), fs.SignOfTop(1), fs.TopFeatures(1), fs.Rank()):
        audited = audit(**log, **HOW, discretizer=discretizer, id=["customer", "visit"])
        pairs = audited.counterexamples(5)
        assert list(pairs.columns[:4]) == ["customer_a", "customer_b", "visit_a", "visit_b"]
        explanations = importances if discretizer is None else discretizer(importances)
        for pair in pairs.itertuples():
            _holds(pair, explanations)
            assert pair.index_a == f"customer {pair.customer_a}, visit {pair.visit_a}"
            assert pair.visit_b == WHO.visit[pair.customer_b]
        assert list(audited.X.columns) == ["customer", "visit", "age", "letter"]


def test_without_ids_rows_are_told_by_their_own_columns_and_never_by_a_number():
    wide = LOG.assign(**{f"more_{j}": j for j in range(20)})
    pairs = audit(wide, **HOW).counterexamples(5)
    assert "customer_a" not in pairs
    assert pairs.index_a.str.startswith("customer C").all()
    assert pairs.index_a.str.contains(r"age \d\d, letter dear.*…, more_0 0, more_1 1, … \(18 more\)").all()
    assert pairs.index_a.str.len().max() < 200
    alone = audit(LOG[["phi_a", "phi_b", "yhat"]], **HOW).counterexamples(2)
    assert set(alone.index_a) == {"a row without other columns"}


def test_ids_are_never_measured():
    with_ids = audit(LOG, **HOW, id="customer", by="age", discretizer=fs.Sign())
    without = audit(LOG.drop(columns="customer"), **HOW, by="age", discretizer=fs.Sign())
    assert with_ids.to_dict() == without.to_dict()
    assert with_ids.counterexamples(5).distance.tolist() == without.counterexamples(5).distance.tolist()
    glob = audit(LOG, prediction="yhat", explanation="*", id=["customer", "visit"], kind="keys").consistency
    named = audit(LOG, prediction="yhat", explanation=["phi_a", "phi_b", "age", "letter"]).consistency
    assert (glob.distinct, glob.value) == (named.distinct, named.value)


def test_a_glob_never_means_the_prediction():
    audited = audit(LOG[["phi_a", "yhat"]], prediction="yhat", explanation="*", kind="keys")
    assert audited.consistency.value == audit(LOG, prediction="yhat", explanation="phi_a").consistency.value < 1


@pytest.mark.slow
def test_the_report_tells_rows_by_their_ids(tmp_path):
    LOG.to_parquet(tmp_path / "log.parquet")
    audited = audit(tmp_path / "log.parquet", **HOW, discretizer=fs.SignOfTop(1), id="customer")
    pairs = examples.pairs(summarize(audited).explainers[0])
    assert pairs
    for pair in pairs:
        a, b = (name.removeprefix("customer ") for name in (pair.index_a, pair.index_b))
        assert [str(WHO.yhat[a]), str(WHO.yhat[b])] == [pair.prediction_a, pair.prediction_b]
        shown = {feature.name: (feature.a, feature.b) for feature in pair.features}
        assert shown["age"] == (str(WHO.age[a]), str(WHO.age[b]))
    page = tmp_path / "r.html"
    audited.to_html(page)
    assert f"<bdi>{pairs[0].index_a}</bdi>, predicted" in page.read_text()
