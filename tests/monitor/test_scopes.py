"""A monitor of scopes: the sufficiency of all rows, and limits that hold although scopes overlap."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from typer.testing import CliRunner

import faithscope as fs
from faithscope.cli import app
from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.monitor.scopes import Scopes
from monitor.watched_rows import TEXTS, add, drawn, same
from noted import noted
from refused import refused


def test_the_leaves_of_a_tree_are_watched_as_by_consistency():
    from sklearn.tree import DecisionTreeClassifier

    rng = default_rng(0)
    X, y = rng.random((800, 2)), rng.integers(0, 2, 800)
    rules = fs.explainers.TreePath(DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, y)).explain(X)
    monitor = fs.Monitor(scopes=rules)
    monitor.add(rules, y, X=X, when="2026-01-01")
    assert Scopes.of(rules).classes.max() == 0
    assert monitor.single_look().method == "tight"
    expected = fs.sufficiency(rules, y, X)
    assert np.allclose(monitor.single_look().interval, expected.interval, rtol=0, atol=1e-12)
    assert monitor.limits().openers > 0.15 * 800


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 3), st.booleans()), min_size=1))
def test_no_row_lies_in_two_scopes_of_a_class(bounds):
    rules = [
        [("a", ">= or missing" if missing else ">=", low), ("a", "<", high), *([("b", "==", b)] if b else [])]
        for low, high, b, missing in bounds
    ]
    scopes = Scopes.of(fs.Rules.from_conditions(rules, features=["a", "b"]))
    X = np.array([(a, b) for a in (np.nan, *np.arange(-0.5, 10, 0.5)) for b in (np.nan, 0, 1, 2, 3)])
    inside = scopes.inside(scopes.rules, X, len(X))
    assert all((inside[:, scopes.classes == number].sum(axis=1) <= 1).all() for number in set(scopes.classes))
    assert Scopes.read(json.loads(json.dumps(scopes.written()))).written() == scopes.written()


def test_what_cannot_be_watched_is_refused_in_a_sentence(tmp_path):
    rows, path, plain = drawn(6), tmp_path / "state.duckdb", tmp_path / "plain.duckdb"
    monitor, X = fs.Monitor(path, scopes=TEXTS), rows[["a", "b"]]
    fs.Monitor(plain)
    labels, texts = rows["y"].tolist(), rows["rule"].tolist()
    log = {"prediction": "y", "explanation": "rule", "when": "day"}
    for error, words, call in (
        (BadInput, "pass X=", lambda: monitor.add(texts, labels)),
        (BadInput, "leave X away", lambda: fs.Monitor().add(texts, labels, X=X)),
        (BadInput, "'a <= 2' is not among", lambda: monitor.add(["a <= 2"] * 6, labels, X=X)),
        (WrongType, "one text per rule", lambda: monitor.add("a <= 1", labels, X=X)),
        (BadInput, "no use", lambda: monitor.add(texts, labels, X=X, discretizer=lambda e: e)),
        (BadInput, "rows", lambda: monitor.add(texts, labels, X=X[:3])),
        (BadInput, "no column 'b'", lambda: monitor.add(["b == 1"] * 6, labels, X=X[["a"]])),
        (BadInput, "no column 'a'", lambda: monitor.add_log(rows.drop(columns="a"), **log)),
        (BadInput, "not among", lambda: monitor.add_log(rows.assign(rule="b == 3"), **log)),
        (WrongType, "plain keys", lambda: monitor.add_log(rows, **log, kind="keys")),
        (BadInput, "other scopes", lambda: fs.Monitor(path, scopes=TEXTS[:2])),
        (BadInput, "begun without scopes", lambda: fs.Monitor(plain, scopes=TEXTS)),
        (BadInput, "got 0", lambda: fs.Monitor(scopes=[])),
        (BadInput, "1 to 500", lambda: fs.Monitor(scopes=[f"a <= {j}" for j in range(501)])),
        (WrongType, "one text per rule", lambda: fs.Monitor(scopes="a <= 1")),
    ):
        with pytest.raises(FaithscopeError, match=words) as refused:
            call()
        assert isinstance(refused.value, error), words
        assert str(refused.value).count(". ") <= 1, words
    assert fs.Monitor(path, scopes=TEXTS[::-1]).limits().n == 0


def test_a_row_that_its_rule_does_not_cover_counts_as_in_sufficiency():
    rows = drawn(40).astype({"a": float})
    rows.loc[[0, 1], "a"] = np.nan
    monitor = fs.Monitor(scopes=TEXTS)
    added = add(monitor, rows, when="2026-01-01")
    missing = rows["rule"].str.contains("a") & rows["a"].isna()
    assert bool(noted(added, "not covered by")) == bool(missing.any())
    same(monitor.single_look(), rows)


def test_one_row_is_unverifiable():
    monitor = fs.Monitor(scopes=TEXTS)
    add(monitor, drawn(1), when="2026-01-01")
    assert monitor.single_look().unverifiable == 1
    assert (monitor.limits().low, monitor.limits().high) == (0, 1)


def test_the_command_line_reads_scopes_from_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn(500).to_parquet("log.parquet")
    (tmp_path / "rules.txt").write_text("\n".join([*TEXTS, "", ""]))
    line = "monitor add log.parquet --state s.duckdb --prediction y --explanation rule --when day"

    def run(words):
        return CliRunner().invoke(app, shlex.split(words))

    assert run(f"{line} --scopes rules.txt --batch 1").exit_code == 0
    assert "added before" in run(f"{line} --batch 1").output
    (tmp_path / "rules.txt").write_text(TEXTS[0])
    assert "begun with other scopes" in str(run(f"{line} --scopes rules.txt --batch 2").exception)
    assert "'none.txt' cannot be read" in str(run(f"{line} --scopes none.txt --batch 2").exception)
    assert run("monitor report --state s.duckdb").output.startswith("sufficiency between")


def test_importances_are_watched_as_rules_of_the_features_they_name_in_bins_of_training_rows():
    rng = default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 900).astype(float), "hours": rng.integers(0, 60, 900).astype(float)})
    importances = fs.Importances(rng.random((900, 2)), names=list(X))
    predictions = (X["age"] > 50).to_numpy()
    monitor = fs.Monitor(scopes=importances.to_rules(X, k=1, bins=3))
    for part in (slice(0, 600), slice(600, None)):
        rules = importances.take(np.arange(900)[part]).to_rules(X[part], 1, 3, X)
        monitor.add(rules, predictions[part], X=X[part], when="2026-03-01", batch=str(part))
    single = fs.sufficiency(importances, predictions, X, relation=fs.Alike(1, 3))
    assert monitor.single_look().value == pytest.approx(single.value, abs=1e-12)
    refused(WrongType, r"importances.to_rules\(X, k, bins, X_train\)", monitor.add, importances, predictions, X=X)
    log = pd.DataFrame(importances.values, columns=["phi_age", "phi_hours"]).assign(**X, yhat=predictions)
    how = {"prediction": "yhat", "explanation": "phi_*", "kind": "importances", "when": "2026-03-01"}
    refused(WrongType, r"importances.to_rules\(X, k, bins, X_train\)", monitor.add_log, log, **how)
