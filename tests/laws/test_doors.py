"""Whoever asks gets one answer: in memory or of a log, with rows, clusters and columns in any order, beside others."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.counting import coverage


@pytest.mark.parametrize("seed", range(8))
def test_tests_of_encoding_are_those_of_clusters_whatever_the_order(seed):
    rng, n = default_rng(seed), 120
    rules = np.where(rng.random(n) < 0.5, "a <= 1", "a <= 2")
    table = pd.DataFrame({"rule": rules, "a": rng.choice([0.0, 0.0, 1.0], n), "who": rng.integers(0, 40, n)})
    table["yhat"] = np.where(rng.random(n) < np.where(rules == "a <= 1", 0.7, 0.4), "p", "q")

    def tested(rows):
        made = fs.Rules.parse(rows["rule"].tolist(), features=["a"])
        return fs.encoding(made, rows["yhat"].tolist(), rows[["a"]], clusters=rows["who"].tolist())

    moved = table.iloc[rng.permutation(n)].assign(who=lambda rows: 100 - rows["who"])
    log = fs.Log(table, prediction="yhat", explanation="rule", kind="rules", clusters="who")
    one, *others = (sorted(each.table()["p"]) for each in (tested(table), tested(moved), fs.encoding(log)))
    assert others == [one, one]


@pytest.mark.thorough
@pytest.mark.parametrize("scale", [0.0, 1e-3], ids=["equal rows", "rows apart"])
def test_tests_of_encoding_rarely_find_what_is_not_there_if_rows_of_clusters_are_alike(scale):
    found = []
    for seed in range(200):
        rng, owner = default_rng(seed), np.repeat(np.arange(40), 4)
        mostly, rules = rng.random(40) < 0.5, np.where(rng.random(160) < 0.5, "a <= 1", "a <= 2").tolist()
        labels = np.where(mostly[owner] ^ (rng.random(160) < 0.2), "p", "q").tolist()
        rows = scale * rng.normal(size=(160, 1))
        told = fs.encoding(fs.Rules.parse(rules, features=["a"]), labels, rows, clusters=owner.tolist())
        found.append([told.encodes, *(told.table()["p"] <= 0.05)])
    assert np.mean(found, axis=0).max() <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize("known", [{"weights": "weight"}, {"clusters": "who"}], ids=["weights", "clusters"])
def test_columns_that_no_rule_speaks_of_and_the_order_of_columns_say_nothing(known):
    for seed in range(4):
        rng, n = default_rng(seed), 200
        table = pd.DataFrame({"age": rng.integers(20, 60, n), "note": rng.permutation(n), "zip": rng.integers(0, 9, n)})
        inputs, rules = list(table), ["age <= 30", "age > 30 and zip <= 4", "age <= 45", "age > 25"]
        table = table.assign(weight=rng.choice([1.0, 2.0, 0.5], n), who=rng.integers(0, 60, n))
        table["rule"] = rng.choice(rules, n)
        table["yhat"] = np.where((table["age"] <= 40) ^ (rng.random(n) < 0.2), "p", "q")
        log = fs.Log(table, prediction="yhat", explanation="rule", kind="rules", **known)
        given = {name: table[column] for name, column in known.items()}
        audited, told = fs.audit(log), []
        for order in (inputs, inputs[::-1], ["zip", "age"]):
            made = fs.Rules.parse(table["rule"].tolist(), features=order)
            for rows in (table[order], table[order].to_numpy()):
                asked = (made, table["yhat"], rows)
                told.append((fs.sufficiency(*asked, **given), fs.encoding(*asked, **given)))
        told += [(audited.sufficiency, audited.encoding()), (fs.sufficiency(log), fs.encoding(log))]
        ends = [[one.low, one.high, other.low, other.high] for one, other in told]
        assert np.ptp(ends, axis=0).max() < 1e-9


def test_explainers_are_compared_without_the_same_rows_whatever_columns_their_rules_speak_of(monkeypatch):
    monkeypatch.setattr(coverage, "EXACT", 0)  # blocks of rows are left out
    rng, n = default_rng(2), 300
    X = pd.DataFrame({"age": 20 + rng.permutation(n) / 8, "zip": rng.permutation(n) / 40})
    labels = np.where((X["age"] <= 40) ^ (rng.random(n) < 0.2), "p", "q").tolist()
    by_age, by_zip = rng.choice(["age <= 30", "age <= 45", "age > 25"], n), rng.choice(["zip <= 4", "zip > 2"], n)
    told = []
    for more in ("", " and zip >= 0"):  # which holds everywhere
        texts = {"a": [text + more for text in by_age], "b": by_zip.tolist()}
        rules = {name: fs.Rules.parse(each, features=["age", "zip"]) for name, each in texts.items()}
        found = fs.compare(labels, rules, X, progress=False)
        told.append([[each.low, each.high] for each in found.pairs if each.measure != "consistency"])
    assert np.allclose(*told, atol=1e-9)


KEYS = {
    "texts": (["e"], "keys", None),
    "two columns": (["e", "f"], "keys", None),
    "importances": (["phi_a", "phi_b"], "importances", fs.Sign()),
}


@pytest.mark.parametrize(("columns", "kind", "discretizer"), KEYS.values(), ids=KEYS)
def test_of_a_log_the_rows_are_drawn_that_are_drawn_in_memory(columns, kind, discretizer):
    rng, n = default_rng(3), 120
    table = pd.DataFrame({"y": rng.choice([0.0, 1.5, 2.0, 4.0], n), "w": rng.choice([1.0, 2.0, 0.5], n)})
    table = table.assign(e=rng.choice(["k1", "k2", "k3"], n), f=rng.choice(["a", "b"], n))
    table = table.assign(phi_a=rng.normal(size=n), phi_b=rng.normal(size=n))
    rows = table[columns].to_numpy()
    given = fs.Importances(rows, ["a", "b"]) if discretizer else list(map(tuple if len(columns) > 1 else "".join, rows))
    asked = {"agreement": fs.Spread(), "discretizer": discretizer}
    memory = fs.consistency(given, table["y"], weights=table["w"], **asked)
    log = fs.audit(table, prediction="y", explanation=columns, kind=kind, weights="w", **asked).consistency
    assert log.interval == pytest.approx(memory.interval, abs=1e-12)


def test_predictions_that_are_all_alike_agree_by_chance_alone():
    for seed in range(40):
        rng = default_rng(seed)
        n = int(rng.integers(4, 40))
        weights, keys = rng.choice([1, 2, 0.5, 3.3, 0.1], n), rng.choice(list("abc"), n)
        told = fs.consistency(keys, ["a"] * n, weights=weights, clusters=np.arange(n) // 2)
        assert (told.chance, told.adjusted, told.above_chance) == (1, None, None)


def test_a_note_is_told_at_every_door_and_whatever_the_unit_of_weights():
    rng = default_rng(0)
    values, labels = rng.normal(size=(60, 2)), rng.choice(["p", "q"], 60).tolist()
    table = pd.DataFrame({"phi_a": values[:, 0], "phi_b": values[:, 1], "yhat": labels})
    (note,) = fs.consistency(values, labels).notes
    log = fs.Log(table, prediction="yhat", explanation="phi_*")
    for told in (fs.audit(log).consistency, fs.consistency(log), fs.evaluate(labels, values, values).consistency):
        assert note in told.notes
    rules = fs.Rules.parse(
        ["b <= 1", "everything", "a <= 0", "everything", "a <= 0", "b <= 1", "a <= 0", "a <= 0"], features=["a", "b"]
    )
    rows, weights = [[0, 0], [1, 0], [1, 1], [1, 1], [0, 0], [1, 0], [1, 1], [0, 1]], np.array([2, 1, 2, 1, 1, 2, 2, 1])
    notes = [fs.encoding(rules, list("xxyxyxxy"), rows, weights=unit * weights).notes for unit in (1, 7.5, 1000)]
    assert notes[0] == notes[1] == notes[2]
    assert any("lean on one other row" in note for note in notes[0])
    weightless = pd.DataFrame({"rule": ["a <= 1", "true", "a > 1", "true"] * 5, "a": [0.0, 1.0, 2.0, 3.0] * 5})
    weightless = weightless.assign(yhat=list("pqpp") * 5, w=[0.0, 1.0, 2.0, 1.0] * 5)
    audited = fs.audit(weightless, prediction="yhat", explanation="rule", kind="rules", weights="w")
    for told in (audited.consistency, audited.sufficiency, audited.necessity):
        assert "5 rows of weight 0 left out" in told.notes
