"""Every kind of explanation survives Arrow tables, Parquet files and pickling: same keys, same scope, same words."""

import datetime
import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput, TooLarge, WrongType
from faithscope.explainers import TreePath
from faithscope.explanations.arrow import from_arrow, read_settings, to_arrow
from faithscope.explanations.keys import Plain, Records
from faithscope.relations import says_where
from refused import refused

HOSTILE = ["a b", 'quote"', "semi;colon --", "Größe", "select"]
ROWS = [[1.0, 0.5], [1.5, -0.5], [2.0, 0.25], [1.0, 0.5]]
MIXED = pd.DataFrame({"age": [30, 40, 50, 30], "job": ["clerk", "cook", "clerk", "clerk"]})
OTHER = pd.DataFrame({"age": [31, 40, 45, 31], "job": ["cook", "clerk", "clerk", "cook"]})
IMPORTANCES = fs.Importances([[0.19, -0.11], [0.1, 0.2], [-0.0, 0.0], [0.19, -0.11]], names=HOSTILE[:2])
COUNTERFACTUALS = fs.Counterfactuals([[1.0, 2.0], [3.0, 4.0]], [[0.0, 2.0], [3.0, 5.0]])
MAPS = fs.Importances(default_rng(0).normal(size=(5, 1, 4, 4)))
TEXTS = ["", " \t\n", "\x00", "a\x00b", "\ud800", "<script>", "x" * 10**6, "\u202eabc", "שלום", "…"]

KINDS = {
    "importances": IMPORTANCES,
    "importances without names": fs.Importances([[0.5, 1.0]]),
    "importances in single precision": fs.Importances(np.array([[0.1, 1e-30]], np.float32), names=["a", "A"]),
    "two features of one name": fs.Importances([[0.5, 1.0]], names=["a", "a"]),
    "floored": fs.Floor(1)(IMPORTANCES),
    "signs of the top": fs.SignOfTop(1)(fs.Floor(1)(IMPORTANCES)),
    "rankings": fs.Rank()(IMPORTANCES),
    "no rows": fs.Importances(np.empty((0, 3))),
    "maps": MAPS,
    "regions": (fs.Pool((2, 2)) | fs.TopRegions(1))(MAPS),
    "rankings of maps": fs.Rank()(MAPS),
    "rules on codes of categories": fs.Rules.parse(["job == clerk and age <= 3", "job != cook"])._with(
        categories={"job": {0: "clerk", 1: "cook"}}
    ),
    "reasons": fs.Reasons(["He is old.", "he is OLD", *TEXTS]),
    "no reasons": fs.Reasons([]),
    "reasons with inputs": fs.Reasons(["a\x00b", "\ud800", "x"], ["in\nput", "\ud800", ""]),
    "templates": fs.Template(["yes"])(fs.Reasons(["yes, a dog", "no"], ["dog", "cat"])),
    "codes of reasons": fs.Codebook({"age": "old"})(fs.Reasons(["old", "x"])),
    "words": Plain(["leaf 1", "", "né\n", "leaf 1"]),
    "lone surrogate": Plain(["\ud800", "a"]),
    "large integers": Plain([2**70, 3]),
    "unsigned": Plain(np.array([2**63 + 1, 3], np.uint64)),
    "floats": Plain([0.1, -0.0, 1e300]),
    "booleans": Plain([True, False]),
    "tuples": Plain([("a", 1), ("a", 1.0), (0.5, None), (("b",), frozenset({1, 2}))]),
    "sets": Plain([frozenset({"a", "b"}), frozenset({"b", "a"}), frozenset()]),
    "dates": Plain([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]),
    "moments": Plain(np.array(["2026-01-01T00:00:01.5", "2026-01-02"], "M8[us]")),
    "bytes": Plain([b"x", b"\xff"]),
    "decimals": Plain([Decimal("0.10"), Decimal("3.00")]),
    "spans": Plain([datetime.timedelta(1, 2, 3), datetime.timedelta(-1)]),
    "records": Records([["a", "b"], [1, 2], [0.5, 1.0], [("x", "y"), ()]], HOSTILE[:4]),
    "no records": Records([[], []], ["a", "b"]),
    "rules": fs.Rules.from_conditions(
        [[(HOSTILE[2], "<=", 0.1), ("job", "in", ["é", None])], [], [("job", "in", [])], [("job", "!=", None)]],
        features=[HOSTILE[2], "job"],
    ),
    "rules by name": fs.Rules.from_conditions([[("a", ">", 2**60 + 1)], [("b", "==", True)]]),
    "highlights": fs.Highlights([{"great", "né"}, set(), {"dull"}], vocabulary=["great", "né", "dull"]),
    "concepts": fs.Concepts([[1, 0, 1], [0, 0, 0]], ["stripes", "hooves", "mane"]),
    "codes": fs.Codes([["R14", "é;"], [], [14, None], ["R14", "é;"]]),
    "reason codes": fs.ReasonCodes(1, against="a | b", ordered=True)(IMPORTANCES),
    "prototypes": fs.Prototypes([[4, 1], [1, 4], [7], []]),
    "prototypes with points": fs.Prototypes([0, 2, 1], points=ROWS, metric="manhattan"),
    "prototypes of mixed points": fs.Prototypes([[0, 2], [1, 3]], points=MIXED, metric="gower"),
    "counterfactuals": COUNTERFACTUALS,
    "mixed counterfactuals": fs.Counterfactuals(MIXED, OTHER),
    "changes": fs.Delta()(COUNTERFACTUALS),
    "mixed changes": fs.Delta()(fs.Counterfactuals(MIXED, OTHER)),
    "which changes": fs.Modified()(fs.Counterfactuals(MIXED, OTHER)),
}


def assert_same(again, explanations):
    rows = range(len(explanations))
    assert type(again) is type(explanations)
    assert (len(again), again.kind) == (len(explanations), explanations.kind)
    assert [again.describe(row) for row in rows] == [explanations.describe(row) for row in rows]
    for held in ("shape", "categories", "concepts", "positional", "texts", "folded", "about"):
        assert np.array_equal(getattr(again, held, None), getattr(explanations, held, None)), held
    again.check_comparable(explanations)
    codes, _ = explanations.group()
    assert again.group()[0].tolist() == codes.tolist()
    if len(again):
        assert (explanations.join(again).group()[0][len(again) :] == codes).all()
    if says_where(explanations, None):
        for mine, theirs in zip(explanations.scope_key, again.scope_key, strict=True):
            assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_survives_a_table_a_file_beside_other_columns_and_pickling(name, tmp_path):
    explanations = KINDS[name]
    table = to_arrow(explanations)
    pq.write_table(table.append_column("prediction", [list(range(len(table)))]), tmp_path / "log.parquet")
    assert_same(from_arrow(table), explanations)
    assert_same(from_arrow(pq.read_table(tmp_path / "log.parquet")), explanations)
    assert_same(pickle.loads(pickle.dumps(explanations)), explanations)


def test_a_tree_stays_a_partition():
    X = default_rng(0).normal(size=(60, 3))
    rules = TreePath(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, X[:, 0] > X[:, 1])).explain(X)
    again = from_arrow(to_arrow(rules))
    assert again.tree == rules.tree
    assert again.partitions


@given(st.lists(st.frozensets(st.integers(0, 5) | st.booleans().map(float)), max_size=6))
def test_equal_keys_are_equal_texts(values):
    written = to_arrow(Plain(values)).column("explanation").to_pylist()
    assert [a == b for a in written for b in written] == [a == b for a in values for b in values]


def test_the_columns_are_those_of_the_log_format():
    assert to_arrow(IMPORTANCES).column_names == ["phi_a b", 'phi_quote"']
    assert to_arrow(fs.Importances([[1.0, 2.0]])).column_names == ["phi_x0", "phi_x1"]
    assert to_arrow(KINDS["importances in single precision"]).column_names == ["phi_a", "phi_A_2"]
    assert to_arrow(KINDS["rankings"]).column_names == ["rank_0", "rank_1"]
    assert to_arrow(KINDS["rules"]).column("rule")[1].as_py() == "true"
    assert to_arrow(KINDS["highlights"]).schema.field("words").type == pa.list_(pa.string())
    assert to_arrow(KINDS["prototypes"]).schema.field("prototypes").type == pa.list_(pa.int64())
    assert to_arrow(KINDS["mixed counterfactuals"]).column_names == ["cf_age", "cf_job", "original_age", "original_job"]


def test_a_tokenizer_is_asked_for_again():
    highlights = fs.Highlights([{"a"}], tokenizer=list)
    refused(BadInput, "pass tokenizer=", from_arrow, to_arrow(highlights))
    assert_same(from_arrow(to_arrow(highlights), tokenizer=list), highlights)


def test_what_cannot_be_stored_says_so():
    refused(WrongType, "slice", Plain, [slice(1), slice(2)])
    moment = pd.Timestamp("2026-01-01") + pd.Timedelta(1, "ns")
    refused(WrongType, "nanoseconds", to_arrow, Plain([(moment, 1)]))
    assert from_arrow(to_arrow(Plain([moment]))).locate(Plain([moment])).tolist() == [0]
    refused(BadInput, "lone surrogate", to_arrow, fs.Highlights([{"\ud800"}]))
    refused(WrongType, "type Decimal", to_arrow, Plain([Decimal("1e30"), Decimal("1e-30")]))
    refused(WrongType, "use a kind that faithscope defines", to_arrow, COUNTERFACTUALS.balls())
    measured = fs.Counterfactuals([[1.0]], [[0.0]], metric=lambda a, b: 0.0)
    refused(WrongType, "is a function", to_arrow, measured)
    refused(BadInput, "as tables that to_arrow writes", from_arrow, pa.table({"a": [1]}))


def saying(table, **changed):
    """A table with other metadata."""
    said = {**read_settings(table), **changed}
    return table.replace_schema_metadata({b"faithscope": json.dumps(said).encode()})


@pytest.mark.parametrize(
    ("kind", "changed", "words"),
    [
        ("importances", {"version": 99}, "newer version"),
        ("importances", {"dtype": "S1000000000000"}, "cannot be read"),
        ("importances", {"columns": ["no such column"]}, "cannot be read"),
        ("prototypes", {"points": {"table": "AAAA"}}, "cannot be read"),
    ],
)
def test_newer_files_and_hostile_metadata_are_refused(kind, changed, words):
    refused(BadInput, words, from_arrow, saying(to_arrow(KINDS[kind]), **changed))


def test_rows_that_take_no_bytes_are_refused_before_they_are_unpacked():
    table = to_arrow(KINDS["highlights"])
    empty = pa.table({"words": pa.Array.from_buffers(pa.null(), 2**40, [None])})
    empty = saying(empty.replace_schema_metadata(table.schema.metadata))
    refused(TooLarge, "1,099,511,627,776 explanations", from_arrow, empty)


def test_equal_decimals_are_equal_in_a_table_however_they_were_written():
    written = to_arrow(Plain([Decimal(one) for one in ("0.3", "0.30", "3e-1", "1", "0", "-0.00", "0.31")]))
    column = written["explanation"].combine_chunks()
    assert column.dictionary_encode().indices.to_pylist() == [0, 0, 0, 1, 2, 2, 3]
    assert from_arrow(written).group()[0].tolist() == [0, 0, 0, 1, 2, 2, 3]


class Largest(fs.TopFeatures):
    """The same under another name."""


def test_what_is_left_of_importances_is_declared_not_read_off_a_name():
    stranger = type("TopFeatures", (fs.Floor,), {})  # of this name, and no such discretizer
    assert stranger(1)(IMPORTANCES).describe(0) == fs.Floor(1)(IMPORTANCES).describe(0) != "a b, quote"
    mine, theirs = Largest(2)(IMPORTANCES), fs.TopFeatures(2)(IMPORTANCES)
    assert mine.describe(0) == theirs.describe(0) == 'a b, quote"'
    four = fs.Importances([[4.0, 3.0, 2.0, 1.0]])
    assert from_arrow(to_arrow(Largest(4)(four))).named()[0].tolist() == [[1, 1, 1, 1]]


def test_files_that_do_not_say_what_is_left_of_importances_are_refused():
    table = to_arrow(fs.SignOfTop(2)(IMPORTANCES))
    metadata = {name: value for name, value in read_settings(table).items() if name != "left"}
    older = table.replace_schema_metadata({b"faithscope": json.dumps(metadata).encode()})
    refused(BadInput, "cannot be read .*'left'", lambda: from_arrow(older))
