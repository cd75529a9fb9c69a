"""A log in several files is one log, whatever their order and names; cells of CSV stay what they are."""

import itertools
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.tables.audit import audit
from refused import refused

HOW = {"prediction": "yhat", "explanation": "phi", "kind": "importances"}


def _put(path, phi, labels, **more):
    pq.write_table(pa.table({"phi": phi, "yhat": pa.array(labels), **more}), path)
    return path


WHOLE = pa.array([1, 1, 2, 2])
FRACTIONS = pa.array([1.25, 1.25, 2.25, 2.25])
SINGLE = pa.array([0.1, 0.2] * 2, pa.float32())
ONE = pa.array([Decimal("1.1"), Decimal("1.2")] * 2, pa.decimal128(4, 1))
TWO = pa.array([Decimal("1.15"), Decimal("1.25")] * 2, pa.decimal128(9, 2))


def test_files_of_other_types_are_widened_exactly_in_any_order(tmp_path):
    labels = [["a", "b", "a", "b"], ["a", "a", "b", "b"]]
    narrow = (WHOLE.cast(pa.int32()), FRACTIONS.cast(pa.float32()))
    for pair in ((WHOLE, FRACTIONS), narrow, (SINGLE, pa.array([0.1, 0.2] * 2)), (ONE, TWO), (WHOLE, TWO)):
        files = [str(_put(tmp_path / f"{k}.parquet", phi, labels[k])) for k, phi in enumerate(pair)]
        values = np.concatenate([np.array(phi.to_pylist(), float) for phi in pair])
        expected = fs.consistency(fs.Importances(values[:, None]), [*labels[0], *labels[1]])
        for order in (1, -1):
            estimate = audit(files[::order], **HOW).consistency
            assert (estimate.distinct, estimate.value) == (expected.distinct, pytest.approx(expected.value))


@pytest.mark.parametrize("order", [1, -1])
def test_types_that_nothing_holds_exactly_are_refused(tmp_path, order):
    for second in (pa.array(["1", "x", "1", "1"]), pa.array([True] * 4), ONE.cast(pa.float64())):
        first = TWO if pa.types.is_floating(second.type) else WHOLE
        files = [_put(tmp_path / "1.parquet", first, [0, 1] * 2), _put(tmp_path / "2.parquet", second, [0, 1] * 2)]
        refused(BadInput, r"phi.*no type holds exactly|no type holds exactly .*phi", audit, files[::order], **HOW)
    large = _put(tmp_path / "1.parquet", pa.array([2**53 + 1] * 4), [0, 1] * 2)
    files = [large, _put(tmp_path / "2.parquet", FRACTIONS, [0, 1] * 2)]
    refused(BadInput, r"'phi' holds .*whole numbers beyond 2\*\*53", audit, files[::order], **HOW)


def test_a_column_that_some_files_do_not_have_is_missing_there(tmp_path):
    more = {"region": pa.array(["n", "s"] * 2)}
    files = [_put(tmp_path / "1.parquet", WHOLE, [0, 1] * 2), _put(tmp_path / "2.parquet", WHOLE, [0, 1] * 2, **more)]
    for order in itertools.permutations(files):
        assert audit(list(order), **HOW).consistency.n == 8
        refused(BadInput, "'region' in 4 of 8 rows", audit, list(order), **HOW, by="region")


def test_what_files_say_about_themselves_must_be_the_same(tmp_path):
    for name, values in {"a": [[1.0], [2.0]], "b": [[1.0], [2.0]]}.items():
        ev = fs.evaluate([0, 1], fs.Importances(values, names=[name]), np.array(values))
        ev.to_parquet(tmp_path / f"{name}.parquet")
    for order in ("ab", "ba"):
        refused(BadInput, "Say which column is the prediction", audit, [tmp_path / f"{name}.parquet" for name in order])


def test_json_takes_types_from_all_lines(tmp_path):
    lines = [{"phi": 1, "yhat": "a"}] * 30_000 + [{"phi": 1.25, "yhat": "b"}] * 10_000
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert audit(tmp_path / "log.jsonl", **HOW).consistency.value == 1
    (tmp_path / "1.jsonl").write_text("\n".join(map(json.dumps, lines[:10])))
    (tmp_path / "2.jsonl").write_text("\n".join(map(json.dumps, lines[-10:])))
    for order in ("12", "21"):
        estimate = audit([tmp_path / f"{name}.jsonl" for name in order], **HOW).consistency
        assert (estimate.n, estimate.distinct) == (20, 2)


def test_a_file_is_itself_whatever_its_name(tmp_path):
    (tmp_path / "a[b]").mkdir()
    (tmp_path / "ab").mkdir()
    for other in ("log1.parquet", "log2.parquet", "ab/log1.parquet", "ab/1.parquet", "1.parquet"):
        _put(tmp_path / other, WHOLE, ["a", "b", "c", "d"])
    for name in ("log[1].parquet", "log?.parquet", "log*.parquet", "a[b]/log1.parquet", "{1,2}.parquet"):
        path = _put(tmp_path / name, pa.array([3, 3]), ["a", "a"])
        estimate = audit(str(path), **HOW).consistency
        assert (estimate.n, estimate.value) == (2, 1.0)
        path.unlink()


def test_what_a_writer_has_not_finished_is_no_part_of_a_folder(tmp_path):
    logs = tmp_path / "_logs"
    (logs / "day=1").mkdir(parents=True)
    (logs / "_temporary" / "0").mkdir(parents=True)
    hidden = ("_temporary/0/part.parquet", "_started.parquet", ".part.parquet", "day=1/.hidden.parquet")
    for name in ("day=1/part.parquet", *hidden):
        _put(logs / name, WHOLE, ["a", "b"] * 2)
    for path in (logs, f"{logs}/**/*.parquet"):
        assert audit(path, **HOW).consistency.n == 4
    assert audit(f"{logs}/_*.parquet", **HOW).consistency.n == 4


def test_a_file_counts_once_whatever_links_lead_to_it(tmp_path):
    logs, elsewhere = tmp_path / "logs", tmp_path / "elsewhere"
    logs.mkdir(), elsewhere.mkdir()
    (logs / "latest.parquet").symlink_to(_put(logs / "1.parquet", WHOLE, ["a", "b"] * 2))
    (logs / "kept.parquet").hardlink_to(logs / "1.parquet")
    _put(elsewhere / "2.parquet", WHOLE, ["a", "b"] * 2)
    (logs / "loop").symlink_to(logs)
    assert audit(logs, **HOW).consistency.n == 4
    assert audit([logs, elsewhere], **HOW).consistency.n == 8
    assert audit(f"{logs}/*.parquet", **HOW).consistency.n == 4
    assert audit([logs / "1.parquet", logs / "latest.parquet", f"{logs}/./1.parquet"], **HOW).consistency.n == 4


def test_an_index_that_pandas_wrote_without_a_name_names_rows(tmp_path):
    frame = pd.DataFrame({"phi": [1.5, 1.5, 2.5], "yhat": ["a", "b", "a"]})
    frame.to_csv(tmp_path / "log.csv")
    assert audit(tmp_path / "log.csv", **HOW).consistency.value == audit(frame, **HOW).consistency.value
    for said in ({}, {"id": "Unnamed: 0"}):
        assert audit(tmp_path / "log.csv", **HOW, **said).counterexamples()["Unnamed: 0_b"].tolist() == [1]


def test_a_cell_of_csv_may_be_long(tmp_path):
    frame = pd.DataFrame({"phi": [1.5, 1.5], "yhat": ["a", "b"], "text": ["x" * 200_000, "y"]})
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert audit(tmp_path / "log.csv", **HOW).consistency.n == 2


CELLS = (
    'key,phi,more,yhat,customer\n#1,1.10,0.5,\'Yes\',007\n#2,1.1,0.25,yes,7\nx,2,1e3,Yes,08\nx,2,1.5,"a, ""b""\n c",9\n'
)


def test_cells_of_csv_stay_what_they_are(tmp_path):
    folder, zipped = tmp_path / "logs", tmp_path / "log.csv.gz"
    folder.mkdir()
    (folder / "log.csv").write_text(CELLS)
    pd.read_csv(folder / "log.csv", dtype=str).to_csv(zipped, index=False)
    for path in (folder / "log.csv", zipped, folder):
        how = {"prediction": "key"}
        key = audit(path, prediction="yhat", explanation="key", id="customer", by="customer")
        assert (key.consistency.n, key.consistency.distinct) == (4, 3)
        assert set(key.populations.estimates) == {"007", "7", "08", "9"}
        pairs, table = key.counterexamples(), key.table(None)
        assert {*pairs.customer_a, *pairs.customer_b} == {"08", "9"}
        assert table.loc[table.explanation == "x", "labels"].item() == 2
        for name, distinct in {"phi": 3, "customer": 4, "yhat": 4}.items():
            assert audit(path, **how, explanation=name).consistency.distinct == distinct
        numbers = audit(path, **how, explanation=["phi", "more"], discretizer=fs.Floor(1))
        assert numbers.consistency.distinct == 4
        assert audit(path, **HOW | {"prediction": "key"}).consistency.distinct == 2


def test_plain_numbers_and_moments_of_csv_are_numbers_and_moments(tmp_path):
    frame = pd.DataFrame(
        {"phi": [0.5, -1.0, 2.25], "yhat": [0, 10, 10], "when": pd.date_range("2026-01-01", periods=3)}
    )
    frame.to_csv(tmp_path / "log.csv", index=False, sep=";")
    audited = audit(tmp_path / "log.csv", prediction="yhat", explanation="phi", time="when")
    counts = audited.consistency.counts
    assert (sorted(counts.labels), counts.label_rows.tolist()) == ([0, 10], [1, 2])
    assert len(audited.windows.estimates) == 3


def test_csv_that_cannot_be_read_whole_says_so(tmp_path):
    for text, message in {
        "phi,yhat\n1,a,extra\n2,b\n": "failed",
        "phi,phi,yhat\n1,1,a\n": "must name every column, each once",
        "": "must name every column",
        "phi,yhat\n1,ä\n2,b\n": "is not UTF-8.*pandas.read_csv",
    }.items():
        (tmp_path / "log.csv").write_text(text, encoding="latin-1")
        refused(BadInput, message, audit, tmp_path / "log.csv", **HOW)


TOLD_APART = {
    "whole numbers of 20 digits": [10**20 - 1, 10**20 - 2],
    "whole numbers beside a float": [2**53 + 1, 2**53, 0.5],
    "dates": ["2020-01-01", "2020-1-1"],
    "dates of a day first": ["01-02-2020", "1-2-2020"],
    "times": ["12:00", "12:00:00"],
    "uuids": [f"550e8400-e29b-41d4-a716-44665544000{letter}" for letter in "aA"],
}


@pytest.mark.parametrize("what", TOLD_APART)
def test_json_lines_tell_apart_what_their_texts_and_whole_numbers_tell_apart(what, tmp_path):
    keys = TOLD_APART[what] * 2
    labels = [f"is {key!r}" for key in keys]
    lines = [json.dumps({"leaf": key, "yhat": label}) for key, label in zip(keys, labels, strict=True)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    estimate = fs.consistency(fs.Log(tmp_path / "log.jsonl", prediction="yhat", explanation="leaf", kind="keys"))
    expected = fs.consistency(list(map(str, keys)), labels)
    assert (estimate.value, estimate.distinct) == (1, expected.distinct)


def test_moments_of_json_lines_are_moments_and_nan_is_missing(tmp_path):
    days = ["2026-03-01", "2026-03-01", "2026-03-02"]
    for when in (days, [f"{day}T12:00:00" for day in days], [f"{day}T12:00:00+01:00" for day in days]):
        lines = [json.dumps({"leaf": 1, "yhat": 1, "when": each, "phi": float("nan")}) for each in when]
        (tmp_path / "log.jsonl").write_text("\n".join(lines))
        log = fs.Log(tmp_path / "log.jsonl", prediction="yhat", explanation="leaf", kind="keys", time="when")
        assert [each.n for each in fs.audit(log, every="1d").windows.estimates.values()] == [2, 1]
    log = fs.Log(tmp_path / "log.jsonl", prediction="yhat", explanation="phi", kind="keys")
    refused(BadInput, "missing|null", fs.consistency, log)


def test_json_lines_have_labels_of_several_types_and_no_objects_as_labels(tmp_path):
    lines = [json.dumps({"leaf": i % 3, "y": [1, "a"][i % 2], "o": {"k": i % 2}}) for i in range(30)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    expected = fs.consistency([i % 3 for i in range(30)], [i % 2 for i in range(30)]).value
    assert fs.audit(tmp_path / "log.jsonl", prediction="y", explanation="leaf").consistency.value == expected
    refused(
        BadInput,
        "a prediction is one label per row",
        fs.audit,
        tmp_path / "log.jsonl",
        prediction="o",
        explanation="leaf",
    )


def test_fractions_in_full_precision_are_numbers_and_other_texts_stay_texts(tmp_path):
    drawn = default_rng(0).normal(size=200)
    texts = {"zip": ["01", "1"] * 100, "version": ["1.10", "1.1"] * 100, "late": [*map(str, drawn[1:]), "n/a"]}
    frame = pd.DataFrame({"a": drawn, "tiny": drawn * 1e-12, "third": np.arange(200) / 3, **texts})
    frame.assign(phi_a=drawn, phi_b=-drawn, y=drawn > 0).to_csv(tmp_path / "log.csv", index=False)
    kinds = fs.Log(tmp_path / "log.csv", prediction="y", explanation="phi_*").read().X.schema
    numbers = dict.fromkeys(("a", "tiny", "third"), "double")
    assert {name: str(kinds.field(name).type) for name in kinds.names} == {**numbers, **dict.fromkeys(texts, "string")}
