"""A log that was written reads back to the same numbers."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.random import default_rng
from scipy.sparse import csr_array

import faithscope as fs
from faithscope.explanations.arrow import to_arrow
from faithscope.explanations.keys import Plain, Records
from faithscope.tables.audit import audit
from faithscope.tables.writing import to_log, write_log
from tables.logs import assert_same

RNG = default_rng(3)
ROWS = 60
LABELS = RNG.choice(["yes", "nö"], ROWS)
VALUES = np.round(RNG.normal(size=(ROWS, 3)), 0)
FRAME = pd.DataFrame({"prediction": VALUES[:, 0], "rule": RNG.choice(["a", None], ROWS), "phi_a": VALUES[:, 1]})
TEXTS = [" ".join(RNG.choice(["good", "bad", "né"], 3)) for _ in range(ROWS)]
OTHER = VALUES + RNG.integers(0, 2, VALUES.shape)


def _rules(features):
    pool = [[(features[0], "<=", 0.0)], [(features[0], ">", -1.0), (features[2], "!=", 1.0)], []]
    return fs.Rules.from_conditions([pool[i] for i in RNG.integers(0, 3, ROWS)], features=features)


CASES = {
    "importances": (fs.Importances(VALUES, names=["a", "b", "c"]), FRAME),
    "importances without rows": (fs.Importances(VALUES), None),
    "keys": (Plain(RNG.integers(0, 5, ROWS)), VALUES),
    "tuples": (Plain([("a", int(i)) for i in RNG.integers(0, 5, ROWS)]), VALUES),
    "records": (Records([RNG.integers(0, 2, ROWS), RNG.choice(["p", "q"], ROWS)], ["n", "w"]), VALUES),
    "rules on a table": (_rules(list(FRAME.columns)), FRAME),
    "rules on an array": (_rules(["u", "v w", "select"]), VALUES),
    "highlights": (fs.Highlights([set(text.split()[:1]) for text in TEXTS]), TEXTS),
    "highlights with a tokenizer": (fs.Highlights([{text[0]} for text in TEXTS], tokenizer=list), TEXTS),
    "highlights of a bag": (
        fs.Highlights([{"u"}, {"v"}, set()] * 20, vocabulary=["u", "v"]),
        csr_array((VALUES[:, :2] > 0).astype(int)),
    ),
    "prototypes": (fs.Prototypes(RNG.integers(0, 4, (ROWS, 2))), VALUES),
    "counterfactuals": (fs.Counterfactuals(OTHER, VALUES), VALUES),
    "changes": (fs.Delta()(fs.Counterfactuals(OTHER, VALUES, names=["p", "q", "r"])), VALUES),
}


@pytest.mark.parametrize("name", CASES)
def test_an_audit_of_a_written_log_finds_the_same_numbers(name, tmp_path):
    explanations, X = CASES[name]
    path = tmp_path / "log.parquet"
    write_log(path, explanations, LABELS, X)
    audited = audit(path)
    expected = fs.evaluate(LABELS, explanations, VALUES if X is None else X)
    assert_same(audited.consistency, expected.consistency)
    assert audited.uniqueness == pytest.approx(expected.uniqueness)
    if name.startswith(("rules", "highlights")):
        assert_same(audited.sufficiency, expected.sufficiency)


def test_names_that_collide_stay_apart():
    table = to_log(fs.Importances(VALUES, names=["a", "b", "c"]), LABELS, FRAME)
    assert table.column_names == ["phi_a", "phi_b", "phi_c", "prediction", "prediction_2", "rule", "phi_a_2"]
    assert table.column("prediction").to_pylist() == LABELS.tolist()


def test_the_row_labels_of_a_frame_are_columns_of_its_log(tmp_path):
    explanations, X = CASES["rules on a table"]
    levels = pd.MultiIndex.from_arrays([np.arange(ROWS) + 900, [f"c{row}" for row in range(ROWS)]], names=["n", "rule"])
    for index, written in ((X.index[::-1], ["index"]), (levels, ["n", "rule_3"]), (X.index, [])):
        named = X.set_axis(index)
        table = to_log(explanations, LABELS, named)
        assert table.column_names[len(table.column_names) - len(written) :] == written
        assert [tuple(row.values()) for row in table.select(written).to_pylist()] == (
            [label if isinstance(label, tuple) else (label,) for label in index] if written else [()] * ROWS
        )
    fs.evaluate(LABELS, explanations, X.set_axis(X.index[::-1])).to_parquet(tmp_path / "log.parquet")
    pair = audit(tmp_path / "log.parquet", id="index").counterexamples(1).iloc[0]
    assert [LABELS[ROWS - 1 - pair[f"index_{end}"]] for end in "ab"] == [pair["prediction_a"], pair["prediction_b"]]


def test_rules_without_their_inputs_say_that_sufficiency_is_missing():
    audited = audit(to_log(_rules(["u", "v", "w"]), LABELS))
    assert audited.sufficiency is None
    assert "the log has no column 'u'" in audited.notes[0]
    assert audited.notes[0] in " ".join(str(audited).split())


@pytest.mark.parametrize("discretizer", [None, fs.SignOfTop(2), fs.Sign()])
def test_importances_of_a_log_with_inputs_are_measured_by_the_features_that_they_name(discretizer, tmp_path):
    rng = default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    X["e"] = rng.choice(np.array(["u", "v", None], object), 300)
    phi = np.where(rng.random((300, 5)) < 0.1, 0, rng.normal(size=(300, 5)) * [3, 2, 1, 0.5, 0.1])
    y = np.where(X.a + X.b > 0, "yes", "no")
    ev = fs.evaluate(y, fs.Importances(phi, names=list(X)), X, discretizer=discretizer, progress=False)
    log = pd.concat([X, pd.DataFrame(phi, columns=[f"phi_{name}" for name in X]), pd.Series(y, name="yhat")], axis=1)
    audit = fs.audit(log, prediction="yhat", explanation="phi_*", discretizer=discretizer)
    for ours, theirs in ((audit.sufficiency, ev.sufficiency), (audit.necessity, ev.necessity)):
        assert (ours.value, *ours.interval) == pytest.approx((theirs.value, *theirs.interval), abs=1e-12)
    assert tuple(audit.sufficiency.beyond_random) == pytest.approx(tuple(ev.sufficiency.beyond_random), abs=1e-12)
    assert tuple(audit.sufficiency.beyond_global) == pytest.approx(tuple(ev.sufficiency.beyond_global), abs=1e-12)
    ev.to_parquet(tmp_path / "log.parquet")
    written = fs.audit(tmp_path / "log.parquet").sufficiency
    if discretizer is None or discretizer == fs.SignOfTop(2):
        assert written.value == pytest.approx(ev.sufficiency.value, abs=1e-12)


@pytest.mark.parametrize("prefix", ["phi_", "shap_", "lime_"])
def test_importances_are_of_the_columns_that_they_are_named_after(prefix):
    rng = default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=["age", "phi_rate", "sex", "debt"])
    values = X.to_numpy() * [3.0, 0.1, 1.0, 0.2]
    log = X.assign(**{f"{prefix}{name}": values[:, j] for j, name in enumerate(X)}, yhat=values.sum(axis=1) > 0)
    columns = [f"{prefix}{name}" for name in X]
    found = fs.audit(log, prediction="yhat", explanation=columns, discretizer="sign-of-top-2").sufficiency
    expected = fs.sufficiency(fs.Importances(values, names=list(X)), log.yhat, X, relation=fs.Alike(2))
    assert found.value == pytest.approx(expected.value, abs=1e-12)


def test_importances_of_changes_are_not_those_of_levels():
    rng = default_rng(0)
    log = pd.DataFrame(rng.normal(size=(80, 4)), columns=["income", "debt", "shap_delta_income", "shap_delta_debt"])
    log["yhat"] = log.shap_delta_income > 0
    assert fs.audit(log, prediction="yhat", explanation="shap_*", discretizer=fs.SignOfTop(1)).sufficiency is None


def test_a_written_log_knows_which_codes_are_categories(tmp_path):
    rng = np.random.default_rng(0)
    before, after = ({"ward": pd.Categorical(rng.integers(0, 4, 90)), "age": rng.integers(0, 2, 90)} for _ in range(2))
    pairs, labels = fs.Counterfactuals(pd.DataFrame(after), pd.DataFrame(before)), rng.integers(0, 2, 90)
    pq.write_table(to_arrow(pairs).append_column("prediction", pa.array(labels)), tmp_path / "log.parquet")
    for discretizer in (fs.Delta(), fs.DeltaSign()):
        logged = audit(tmp_path / "log.parquet", prediction="prediction", discretizer=discretizer)
        known = fs.consistency(pairs, labels, discretizer=discretizer)
        assert logged.consistency.value == pytest.approx(known.value)
