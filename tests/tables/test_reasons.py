"""Reasons in words in a log: the same numbers as in memory, for every discretizer of reasons."""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from noted import noted
from refused import refused
from tables import engines
from tables.logs import CODEBOOK, assert_same
from tables.logs import TEXTS as PLAIN

CODES = fs.Codebook(CODEBOOK)
TEXTS = [*PLAIN, "\x00"]
INPUTS = ["a man runs", "an old dog", "she sleeps"]

HOW = {"prediction": "answer", "explanation": "rationale", "kind": "reasons"}


def _log(rows=240, seed=0):
    rng = default_rng(seed)
    return pd.DataFrame(
        {
            "rationale": rng.choice(np.array(TEXTS, object), rows),
            "answer": rng.choice(["yes", "no"], rows, p=[0.7, 0.3]),
            "about": rng.choice(INPUTS, rows),
            "region": rng.choice(["north", "south"], rows),
            "person": rng.integers(0, rows // 3, rows),
            "case": np.arange(rows),
        }
    )


def _reasons(log):
    return fs.Reasons(log["rationale"].tolist(), log["about"].tolist())


def assert_masked_alike(estimate, expected):
    """The numbers without notes, of which a log has others."""
    for name in ("n", "distinct", "value", "low", "high", "unverifiable", "chance"):
        assert getattr(estimate, name) == pytest.approx(getattr(expected, name), abs=1e-12), name


@engines.EACH
def test_leakage_of_reasons_in_a_log_is_that_of_memory(engine):
    log = _log()
    log["rationale"] = log["rationale"].str.replace("\x00", "?")  # which Postgres cannot store
    where = engines.put(engine, "reasons", pa.Table.from_pandas(log, preserve_index=False))
    for discretizer in (None, fs.Template() | CODES):
        leak = fs.audit(**where, **HOW, discretizer=discretizer, inputs="about").leakage()
        expected = fs.leakage(_reasons(log), log["answer"].tolist(), discretizer=discretizer)
        assert (leak.share, leak.own, leak.words, leak.n) == (expected.share, expected.own, expected.words, expected.n)
        assert (leak.low, leak.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
        assert_masked_alike(leak.masked, expected.masked)
        for name in ("value", "low", "high"):
            assert getattr(leak.difference, name) == pytest.approx(getattr(expected.difference, name), abs=1e-12)


def test_pairs_of_rows_show_reasons_as_written():
    log = _log()
    audited = fs.audit(log, **HOW, id="case")
    first = log.set_index("case")["rationale"]
    for line in audited.counterexamples(5).itertuples():
        folded = fs.Reasons([line.explanation, first[line.case_a], first[line.case_b]]).folded
        if "x00" not in line.explanation and line.explanation != "''":  # shown so that they can be seen
            assert len({*folded}) == 1
    assert {"He is old.", "he is  OLD"} & {*audited.table(5)["explanation"]}


def test_a_log_of_our_own_knows_its_reasons_and_inputs(tmp_path):
    log = _log()
    texts = [*log["rationale"][:-1], "lone \ud800 surrogate"]
    reasons = fs.Reasons(texts, log["about"].tolist())
    evaluation = fs.evaluate(log["answer"].tolist(), reasons, log[["case"]], progress=False)
    evaluation.to_parquet(tmp_path / "log.parquet")
    for discretizer in (None, fs.Template(), fs.Codebook(CODEBOOK, folded=False)):
        audited = fs.audit(tmp_path / "log.parquet", discretizer=discretizer)
        assert_same(audited.consistency, fs.consistency(reasons, log["answer"].tolist(), discretizer=discretizer))
    assert audited.explainer == "reasons in words"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discretizer": fs.Clusters(np.zeros((3, 2)), 2)}, "one embedding per row"),
        ({"discretizer": fs.Template()}, "name its column with inputs="),
        ({"discretizer": fs.Template(), "inputs": "person"}, "Inputs are texts"),
        ({"discretizer": fs.Sign()}, "importances"),
        ({"inputs": "nowhere"}, "no column 'nowhere' for inputs"),
        ({"explanation": "person"}, "Reasons are a column of texts; 'person' holds int64"),
        ({"explanation": ["rationale", "about"]}, "sit in one column"),
        ({"explanation": "person", "kind": "keys", "inputs": "about"}, "the log holds keys"),
        (
            {"explanation": "person", "kind": "keys", "discretizer": CODES},
            "discretizes reasons in words",
        ),
    ],
)
def test_what_cannot_be_asked_of_reasons_is_refused(options, message):
    refused(BadInput, message, fs.audit, _log(), **{**HOW, **options})


def test_leakage_is_asked_of_reasons_with_words():
    log = _log()
    refused(
        WrongType,
        "these explanations are keys of a log",
        fs.audit(log, prediction="answer", explanation="region").leakage,
    )
    numbers = log.assign(answer=(log["answer"] == "yes").astype(int))
    audited = fs.audit(numbers, **HOW)
    assert not noted(audited.consistency, "name a label")
    refused(BadInput, "no words that reasons could name", audited.leakage)
    told = audited.leakage(words=["yes", "no"])
    expected = fs.leakage(_reasons(log), numbers["answer"].tolist(), words=["yes", "no"])
    assert (told.share, told.words) == (expected.share, expected.words)
    assert_masked_alike(told.masked, expected.masked)


def test_a_codebook_works_without_the_parser_of_python(monkeypatch):
    reasons = fs.Reasons(["aab", "old man", "x"])
    expected = fs.Codebook({"a": "a+b", "old": r"\bold"})(reasons).values.tolist()
    monkeypatch.setitem(sys.modules, "re._parser", None)
    assert fs.Codebook({"a": "a+b", "old": r"\bold"})(reasons).values.tolist() == expected


def test_numbers_are_measured_with_labels_masked_too():
    rng = default_rng(0)
    word, about = rng.choice(["good", "bad"], 200), rng.choice(["income", "debt"], 200)
    y = np.where(word == "good", 1.0, 0.0) + 0.1 * rng.integers(0, 3, 200)
    log = pd.DataFrame({"why": [f"{a} {b}" for a, b in zip(word, about, strict=True)], "y": y})
    close = fs.Close(0.5)
    audited = fs.audit(log, prediction="y", explanation="why", kind="reasons", agreement=close)
    found = audited.leakage(words=["good", "bad"])
    assert found.masked.value == pytest.approx(fs.consistency(about.tolist(), y, agreement=close).value, abs=1e-12)
    assert found.masked.value < audited.consistency.value - 0.2
