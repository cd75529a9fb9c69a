"""Codes: a set of codes per row, however a caller holds them, in memory and in logs."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.measures.named_features import named_features
from held import tables
from refused import refused

ROWS = st.lists(st.lists(st.sampled_from(["R01", "R14", "14", "é x", "a-b"]), max_size=4), min_size=1, max_size=12)
RNG = default_rng(3)
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
    table, joined = pd.DataFrame(padded(rows)), [";".join(row) for row in rows]
    held = [*tables(table), pd.DataFrame(padded(rows, " ")), table.to_numpy(object), list(map(set, rows))]
    held += [joined, pd.Series(joined), [" ; ".join(row) for row in rows], pd.DataFrame({"codes": joined})]
    for each in held:
        assert fs.Codes(each).values.tolist() == fs.Codes(rows).values.tolist()
    assert fs.Codes(["+".join(row) for row in rows], separator="+").values.tolist() == fs.Codes(rows).values.tolist()


def test_whole_numbers_are_codes_however_a_table_writes_them():
    assert fs.Codes(pd.DataFrame({"a": [14, 7], "b": [np.nan, 3.0]})).values.tolist() == [("14",), ("3", "7")]
    assert fs.Codes(np.array([[5.0]], np.float16)).values.tolist() == [("5",)]
    assert fs.Codes(["14.0; 7", "7.0;14"]).group()[0].tolist() == [0, 0]
    assert fs.Codes(["007", "7"]).group()[0].tolist() == [0, 1], "texts keep their zeros"


@pytest.mark.parametrize(
    ("codes", "error", "words"),
    [
        *(([[code]], FaithscopeError, "code|Codes") for code in (1.5, True, b"x", float("inf"))),
        (np.zeros((2, 2, 2)), FaithscopeError, "code|Codes"),
        ("R01", FaithscopeError, "code|Codes"),
        (["['R1', 'R2']", "['R2', 'R1']"], FaithscopeError, "row"),
        (['["R1"]', "R1,R2"], FaithscopeError, "row"),
        (pd.DataFrame({"R1": [0, 1], "R2": [1, 0]}), BadInput, "marks of the codes"),
        (np.array([[0, 1], [1, 0]]), BadInput, "marks of the codes"),
        (pa.table({"c": [Decimal("1.5"), Decimal("2.0")]}), WrongType, "whole number; row 0 has 1.5"),
        ([np.timedelta64(1, "D")], WrongType, "a whole number; row 0 has 1 days"),
    ],
)
def test_what_is_no_code_is_refused_in_a_sentence(codes, error, words):
    refused(error, words, fs.Codes, codes)


def test_a_separator_is_a_text():
    for separator in ("", " ", 5):
        refused(WrongType, "separator is the text between two codes", fs.Codes, ["a;b"], separator=separator)
    assert fs.Codes(["a, b; c"]).item(0) == {"a, b", "c"}, "the first separator that occurs splits"
    assert fs.Codes([["a;b"], ["a", "b"]]).group()[0].tolist() == [0, 1], "texts inside lists are not split"
    assert fs.Codes([["0", "1"], ["1"]]).describe(0) == "0, 1", "texts are no marks"
    assert fs.Codes(pd.DataFrame({"a": [["R2", "R1"]], "b": ["x;y"]})).item(0) == {"R1", "R2", "x;y"}, "cells are lists"


def test_codes_are_features_that_explainers_name_and_have_no_scope():
    named = named_features(fs.Codes(["R1;R2", "", "R2"]), 5)
    assert [named.names[feature] for feature in named.features] == ["R1", "R2", "R2"]
    agreement = fs.explainer_agreement({"a": fs.Codes(["R1;R2", "R1"]), "b": fs.Codes(["R2;R1", "R3"])})
    assert agreement.pairs[0].same.value == 0.5
    refused(FaithscopeError, "do not say where they apply", fs.sufficiency, fs.Codes(["a", "b"]), [0, 1], [[0], [1]])


def audited(log, explanation="code_*", **how):
    how = {"prediction": "decision", "kind": "codes"} | how
    return fs.audit(log.assign(decision=LABELS) if hasattr(log, "assign") else log, explanation=explanation, **how)


def test_columns_of_logs_that_hold_no_codes_are_refused():
    numbers = [[POOL.index(code) for code in row] for row in SETS]
    texts, numbers = (pd.DataFrame(padded(rows, empty)) for rows, empty in ((SETS, None), (numbers, np.nan)))
    halves = numbers.assign(code_0=[1.5, *numbers.code_0[1:]])
    refused(WrongType, r"whole number; the log has 1\.5", audited, halves)
    dated = numbers.assign(decided=pd.Timestamp("2026-01-01"))
    refused(WrongType, "whole number; the log has 2026-01-01", audited, dated, ["code_0", "decided"])
    told = "If these columns hold codes.* pass kind='codes'"
    for log in (texts, texts.assign(code_3=None)):
        refused(BadInput, told, audited, log, kind=None)
    assert audited(texts.assign(code_3=None)).consistency.n == 200
    marks = pd.DataFrame({"R1": [0, 1] * 100, "R2": [1.0, 0.0, None, 1.0] * 50})
    refused(BadInput, "marks of the codes", audited, marks, ["R1", "R2"])
    decimals = pa.table({"c": [Decimal("1.5"), Decimal("2.0")] * 100, "decision": LABELS.tolist()})
    refused(BadInput, "whole number", audited, decimals, "c")
    for log in (marks.assign(R2=[2, 1] * 100), marks.assign(R1=["0", "1"] * 100)):
        assert audited(log, ["R1", "R2"]).consistency.n == 200


def test_codes_that_only_one_decision_has_are_told():
    codes = [["a"], ["b", "c"], ["c"]] * 10 + [[]] * 30
    labels = ["denied"] * 30 + ["approved"] * 30
    told = "all rows predicted denied have codes and no other row has one"
    log = pd.DataFrame({"y": labels, "c": codes})
    audit = fs.audit(log, prediction="y", explanation="c", kind="codes")
    for estimate in (fs.consistency(fs.Codes(codes), labels), audit.consistency):
        assert any(told in note for note in estimate.notes)
    mixed = fs.consistency(fs.Codes(codes), ["approved", *labels[1:]])
    assert not any(told in note for note in mixed.notes)
