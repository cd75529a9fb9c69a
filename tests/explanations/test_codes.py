"""Codes: a set of codes per row, however a caller holds them, in memory and in logs."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.measures.explainer_agreement.named_features import named_features
from faithscope.tables.log.writing import write_log

ROWS = st.lists(st.lists(st.sampled_from(["R01", "R14", "14", "é x", "a-b"]), max_size=4), min_size=1, max_size=12)
RNG = np.random.default_rng(3)
POOL = ["R01", "R14", "R22", "007", "it's"]
SETS = [RNG.choice(POOL, RNG.integers(0, 5), replace=False).tolist() for _ in range(200)]
LABELS = np.where(RNG.random(200) < 0.2, "approved", np.where([len(codes) > 1 for codes in SETS], "denied", "approved"))


def padded(rows, empty=None):
    return {f"code_{j}": [row[j] if j < len(row) else empty for row in rows] for j in range(4)}


@given(ROWS, st.randoms())
def test_rows_are_alike_if_their_codes_are_whatever_their_order_and_number(rows, random):
    shuffled = [random.sample(row + row, 2 * len(row)) for row in rows]
    both = fs.Codes([*rows, *shuffled])
    numbers = both.group()[0].tolist()
    assert numbers[: len(rows)] == numbers[len(rows) :]
    assert len(set(numbers)) == len(set(map(frozenset, rows)))
    for row, codes in enumerate(rows):
        assert both.item(row) == frozenset(codes)
        assert both.describe(row) == (", ".join(sorted(set(codes))) or "no code")


@given(ROWS)
def test_whatever_holds_the_codes_they_are_the_same(rows):
    expected = fs.Codes(rows).values.tolist()
    columns = padded(rows)
    joined = [";".join(row) for row in rows]
    held = [pd.DataFrame(columns), pd.DataFrame(padded(rows, " ")), pl.DataFrame(columns), pa.table(columns)]
    held += [np.array([list(row) for row in zip(*columns.values(), strict=True)], object), list(map(set, rows))]
    held += [joined, pd.Series(joined), [" ; ".join(row) for row in rows], pd.DataFrame({"codes": joined})]
    for each in held:
        assert fs.Codes(each).values.tolist() == expected
    assert fs.Codes(["+".join(row) for row in rows], separator="+").values.tolist() == expected


def test_whole_numbers_are_codes_however_a_table_writes_them():
    ints, floats = pd.Series([14, 7]), pd.Series([np.nan, 3.0])
    assert fs.Codes(pd.DataFrame({"a": ints, "b": floats})).values.tolist() == [("14",), ("3", "7")]
    assert fs.Codes(["14.0; 7", "7.0;14"]).group()[0].tolist() == [0, 0]
    assert fs.Codes(["007", "7"]).group()[0].tolist() == [0, 1], "texts keep their zeros"


@pytest.mark.parametrize(
    "codes", [[[1.5]], [[True]], [[b"x"]], [[2.0**60]], np.zeros((2, 2, 2)), "R01", 5, [[float("inf")]]]
)
def test_what_is_no_code_is_refused_in_a_sentence(codes):
    with pytest.raises(FaithscopeError, match=r"code|Codes"):
        fs.Codes(codes)


def test_a_separator_is_a_text():
    for separator in ("", " ", 5):
        with pytest.raises(WrongType, match="separator is the text between two codes"):
            fs.Codes(["a;b"], separator=separator)
    assert fs.Codes(["a, b; c"]).describe(0) == "a, b, c"
    assert fs.Codes(["a, b; c"]).item(0) == {"a, b", "c"}, "the first separator that occurs splits"
    assert fs.Codes([["a;b"], ["a", "b"]]).group()[0].tolist() == [0, 1], "texts inside lists are not split"


def test_codes_are_features_that_explainers_name_and_have_no_scope():
    named = named_features(fs.Codes(["R1;R2", "", "R2"]), 5)
    assert [named.known_names[feature] for feature in named.features] == ["R1", "R2", "R2"]
    agreement = fs.explainer_agreement({"a": fs.Codes(["R1;R2", "R1"]), "b": fs.Codes(["R2;R1", "R3"])})
    assert agreement.pairs[0].same.value == 0.5
    with pytest.raises(FaithscopeError, match="do not say where they apply"):
        fs.sufficiency(fs.Codes(["a", "b"]), [0, 1], [[0], [1]])


def _logs():
    yield "columns", pd.DataFrame(padded(SETS)), "code_*"
    yield "columns of empty texts", pd.DataFrame(padded(SETS, "")), "code_*"
    yield "reversed columns", pd.DataFrame(padded([row[::-1] for row in SETS])).iloc[:, ::-1], "code_*"
    for separator in (";", "|", ", "):
        yield f"joined by {separator}", pd.DataFrame({"why": [separator.join(row) or None for row in SETS]}), "why"
    yield "lists", pd.DataFrame({"why": pd.Series([row or None for row in SETS], dtype=object)}), "why"
    yield "JSON lists", pd.DataFrame({"why": [json.dumps(row) for row in SETS]}), "why"


@pytest.mark.parametrize(("log", "columns"), [pytest.param(log, names, id=name) for name, log, names in _logs()])
def test_an_audit_counts_codes_as_memory_does(log, columns):
    expected = fs.consistency(fs.Codes(SETS), LABELS)
    for nulls in ("error", "drop", "key"):
        audited = fs.audit(
            log.assign(decision=LABELS), prediction="decision", explanation=columns, kind="codes", nulls=nulls
        )
        measured = audited.consistency
        assert (measured.n, measured.distinct) == (expected.n, expected.distinct)
        assert (measured.value, measured.low, measured.high) == pytest.approx(
            (expected.value, expected.low, expected.high)
        )
    described = {fs.Codes(SETS).describe(row) for row in range(len(SETS))}
    assert set(audited.table(None).explanation) == described
    assert set(audited.counterexamples(2).explanation) <= described


def test_files_of_codes_are_read_alike(tmp_path):
    expected = fs.consistency(fs.Codes(SETS), LABELS)
    pd.DataFrame(padded(SETS)).assign(decision=LABELS).to_csv(tmp_path / "log.csv", index=False)
    how = {"prediction": "decision", "explanation": "code_*", "kind": "codes"}
    assert fs.audit(tmp_path / "log.csv", **how).consistency.value == pytest.approx(expected.value)
    write_log(tmp_path / "own.parquet", fs.Codes(SETS), LABELS)
    assert fs.audit(tmp_path / "own.parquet").consistency.value == pytest.approx(expected.value)
    numbers = {"R01": 1, "R14": 14, "R22": 22, "007": 7, "it's": 3}
    floats = pd.DataFrame(padded([[numbers[code] for code in row] for row in SETS], np.nan)).assign(decision=LABELS)
    floats.to_csv(tmp_path / "numbers.csv", index=False)  # writes 14.0
    for log in (floats, tmp_path / "numbers.csv"):
        assert fs.audit(log, **how).consistency.value == pytest.approx(expected.value)
    with pytest.raises(BadInput, match=r"column 'code_0' holds 1 other, such as 1\.5"):
        fs.audit(floats.assign(code_0=[1.5, *floats.code_0[1:]]), **how)
    with pytest.raises(WrongType, match=r"column 'decided' holds timestamp"):
        fs.audit(floats.assign(decided=pd.Timestamp("2026-01-01")), **how | {"explanation": ["code_0", "decided"]})


def test_columns_of_texts_with_empty_cells_are_told_about_codes():
    log = pd.DataFrame(padded(SETS)).assign(decision=LABELS)
    with pytest.raises(BadInput, match=r"If these columns hold codes.* pass kind='codes'"):
        fs.audit(log, prediction="decision", explanation="code_*")
    log["code_3"] = None
    with pytest.raises(BadInput, match=r"pass kind='codes'"):
        fs.audit(log, prediction="decision", explanation="code_*")
    assert fs.audit(log, prediction="decision", explanation="code_*", kind="codes").consistency.n == 200


def test_codes_that_only_one_decision_has_are_told():
    codes = [["a"], ["b", "c"], ["c"]] * 10 + [[]] * 30
    labels = ["denied"] * 30 + ["approved"] * 30
    told = "all rows predicted denied have codes and no other row has one"
    log = pd.DataFrame({"y": labels, "c": codes})
    assert any(told in note for note in fs.consistency(fs.Codes(codes), labels).notes)
    assert any(told in note for note in fs.audit(log, prediction="y", explanation="c", kind="codes").consistency.notes)
    labels[0] = "approved"
    assert not any(told in note for note in fs.consistency(fs.Codes(codes), labels).notes)


def test_lists_written_as_json_are_read_alike_in_memory_and_in_logs():
    texts = [json.dumps(codes) for codes in (["R1", "R2"], ["R2", "R1"], ["R1"], [])] + [None, ""]
    codes = fs.Codes(texts)
    assert codes.group()[0].tolist() == [0, 0, 1, 2, 2, 2]
    log = pd.DataFrame({"c": texts, "y": list("ababab")})
    audit = fs.audit(log, prediction="y", explanation="c", kind="codes")
    assert audit.consistency.value == pytest.approx(fs.consistency(codes, log["y"]).value)


@pytest.mark.parametrize(
    "codes", [["['R1', 'R2']", "['R2', 'R1']"], ['["R1"]', "R1,R2"], [{"code": "R1"}, {"code": "R2"}]]
)
def test_lists_of_other_languages_and_objects_are_no_codes(codes):
    with pytest.raises(FaithscopeError, match="row"):
        fs.Codes(codes)


def test_decimals_are_codes_if_they_are_whole_in_memory_and_in_logs():
    whole = pa.table({"c": [Decimal("1.0"), Decimal("2.0"), None, Decimal("2.0")], "y": list("abaa")})
    audit = fs.audit(whole, prediction="y", explanation="c", kind="codes")
    assert audit.consistency.value == fs.consistency(fs.Codes(whole.select(["c"])), list("abaa")).value
    parts = pa.table({"c": [Decimal("1.5"), Decimal("2.0")] * 2, "y": list("abab")})
    for measure in (
        lambda: fs.Codes(parts.select(["c"])),
        lambda: fs.audit(parts, prediction="y", explanation="c", kind="codes"),
    ):
        with pytest.raises(BadInput, match="whole one"):
            measure()


def test_columns_of_marks_are_refused():
    with pytest.raises(BadInput, match="marks of the codes"):
        fs.Codes(pd.DataFrame({"R1": [0, 1], "R2": [1, 0]}))
    with pytest.raises(BadInput, match="marks of the codes"):
        fs.Codes(np.array([[0, 1], [1, 0]]))
    assert fs.Codes([["0", "1"], ["1"]]).describe(0) == "0, 1"


def test_columns_of_marks_are_refused_in_logs_too():
    log = pd.DataFrame({"R1": [0, 1, 1, 0], "R2": [1.0, 0.0, None, 1.0], "y": ["a", "b", "a", "b"]})
    how = {"prediction": "y", "explanation": ["R1", "R2"], "kind": "codes"}
    with pytest.raises(BadInput, match="marks of the codes"):
        fs.audit(log, **how)
    assert fs.audit(log.assign(R2=[2, 1, 2, 1]), **how).consistency.n == 4
    assert fs.audit(log.assign(R1=["0", "1", "1", "0"]), **how).consistency.n == 4


def test_lists_in_several_columns_are_refused():
    with pytest.raises(WrongType, match="row 0 has"):
        fs.Codes(pd.DataFrame({"a": [["R1"], ["R2"]], "b": ["x", "y"]}))
