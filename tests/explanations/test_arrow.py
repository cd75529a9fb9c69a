"""Every kind of explanation survives an Arrow table and a Parquet file: same keys, same scope, same words."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import from_arrow, read_settings, to_arrow
from faithscope.explanations.counterfactuals import Balls
from faithscope.explanations.keys import Plain, Records
from faithscope.relations import says_where

HOSTILE = ["a b", 'quote"', "semi;colon --", "Größe", "select"]
ROWS = [[1.0, 0.5], [1.5, -0.5], [2.0, 0.25], [1.0, 0.5]]
MIXED = pd.DataFrame({"age": [30, 40, 50, 30], "job": ["clerk", "cook", "clerk", "clerk"]})
OTHER = pd.DataFrame({"age": [31, 40, 45, 31], "job": ["cook", "clerk", "clerk", "cook"]})
IMPORTANCES = fs.Importances([[0.19, -0.11], [0.1, 0.2], [-0.0, 0.0], [0.19, -0.11]], names=HOSTILE[:2])
COUNTERFACTUALS = fs.Counterfactuals([[1.0, 2.0], [3.0, 4.0]], [[0.0, 2.0], [3.0, 5.0]])

KINDS = {
    "importances": IMPORTANCES,
    "importances without names": fs.Importances([[0.5, 1.0]]),
    "importances in single precision": fs.Importances(np.array([[0.1, 1e-30]], np.float32), names=["a", "A"]),
    "two features of one name": fs.Importances([[0.5, 1.0]], names=["a", "a"]),
    "floored": fs.Floor(1)(IMPORTANCES),
    "signs": fs.Sign()(IMPORTANCES),
    "signs of the top": fs.SignOfTop(1)(fs.Floor(1)(IMPORTANCES)),
    "rankings": fs.Rank()(IMPORTANCES),
    "no rows": fs.Importances(np.empty((0, 3))),
    "rules on codes of categories": fs.Rules.parse(["job == clerk and age <= 3", "job != cook"])._with(
        categories={"job": {0: "clerk", 1: "cook"}}
    ),
    "reasons": fs.Reasons(["He is old.", "he is OLD", "<script>", ""]),
    "reasons with inputs": fs.Reasons(["a\x00b", "\ud800", "x"], ["in\nput", "\ud800", ""]),
    "templates": fs.Template(["yes"])(fs.Reasons(["yes, a dog", "no"], ["dog", "cat"])),
    "codes of reasons": fs.Codebook({"age": "old"})(fs.Reasons(["old", "x"])),
    "words": Plain(["leaf 1", "", "né\n", "leaf 1"]),
    "lone surrogate": Plain(["\ud800", "a"]),
    "integers": Plain([3, 2**62, -5]),
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
    "long decimals": Plain([Decimal("0.1"), Decimal("1e30"), Decimal("-1e-30")]),
    "spans": Plain([datetime.timedelta(1, 2, 3), datetime.timedelta(-1)]),
    "mixed numbers": Plain([1, 1.0, 2.5, 1e16]),
    "records": Records([["a", "b"], [1, 2], [0.5, 1.0], [("x", "y"), ()]], HOSTILE[:4]),
    "no records": Records([[], []], ["a", "b"]),
    "rules": fs.Rules.from_conditions(
        [[(HOSTILE[2], "<=", 0.1), ("job", "in", ["é", None])], [], [("job", "in", [])], [("job", "!=", None)]],
        features=[HOSTILE[2], "job"],
    ),
    "rules by name": fs.Rules.from_conditions([[("a", ">", 2**60 + 1)], [("b", "==", True)]]),
    "highlights": fs.Highlights([{"great", "né"}, set(), {"dull"}], vocabulary=["great", "né", "dull"]),
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
    "balls": COUNTERFACTUALS.balls(),
    "mixed balls": fs.Counterfactuals(MIXED, OTHER).balls(),
}


def assert_same(again, explanations):
    assert type(again) is type(explanations)
    assert len(again) == len(explanations)
    assert again.kind == explanations.kind
    assert [again.describe(row) for row in range(len(again))] == [
        explanations.describe(row) for row in range(len(again))
    ]
    again.check_comparable(explanations)
    first = np.arange(len(again))
    codes, _ = explanations.group()
    assert again.group()[0].tolist() == codes.tolist()
    if len(again):
        both = explanations.join(again)
        assert (both.group()[0][len(first) :] == codes).all()


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_survives_an_arrow_table(name):
    assert_same(from_arrow(to_arrow(KINDS[name])), KINDS[name])


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_survives_a_parquet_file_beside_other_columns(name, tmp_path):
    table = to_arrow(KINDS[name]).append_column("prediction", pa.array(list(range(len(KINDS[name])))))
    pq.write_table(table, tmp_path / "log.parquet")
    assert_same(from_arrow(pq.read_table(tmp_path / "log.parquet")), KINDS[name])


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if says_where(kind, None)])
def test_scope_is_the_same(name):
    explanations, again = KINDS[name], from_arrow(to_arrow(KINDS[name]))
    for mine, theirs in zip(explanations.scope_key, again.scope_key, strict=True):
        assert mine.tolist() == theirs.tolist()


def test_a_tree_stays_a_partition_and_rules_stay_positional():
    from sklearn.tree import DecisionTreeClassifier

    X = np.random.default_rng(0).normal(size=(60, 3))
    rules = fs.Rules.from_tree(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, X[:, 0] > X[:, 1]), X)
    again = from_arrow(to_arrow(rules))
    assert again.tree == rules.tree
    assert again.partitions
    assert not from_arrow(to_arrow(KINDS["rules by name"])).positional
    labels = X[:, 2] > 0
    assert str(fs.sufficiency(again, labels, X)) == str(fs.sufficiency(rules, labels, X))


@given(
    st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), min_size=1),
    st.lists(st.text(), min_size=2, max_size=2),
)
@pytest.mark.slow
def test_any_importances_survive(values, names):
    explanations = fs.Importances(values, names=names)
    again = from_arrow(to_arrow(explanations))
    assert again.values.tobytes() == explanations.values.tobytes()
    assert again.names == explanations.names


@given(st.lists(st.text(alphabet=st.characters())) | st.lists(st.tuples(st.text(), st.integers())))
def test_any_keys_survive(values):
    again = from_arrow(to_arrow(Plain(values)))
    assert again.values.tolist() == values


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
    assert to_arrow(KINDS["balls"]).column_names == ["center_x0", "center_x1", "radius"]


def test_a_tokenizer_is_asked_for_again():
    highlights = fs.Highlights([{"a"}], tokenizer=list)
    table = to_arrow(highlights)
    with pytest.raises(BadInput, match="pass tokenizer="):
        from_arrow(table)
    assert_same(from_arrow(table, tokenizer=list), highlights)


def test_what_cannot_be_stored_says_so():
    with pytest.raises(WrongType, match="slice"):
        to_arrow(Plain([slice(1), slice(2)]))
    with pytest.raises(WrongType, match="nanoseconds"):
        to_arrow(Plain([pd.Timestamp("2026-01-01") + pd.Timedelta(1, "ns")]))
    with pytest.raises(BadInput, match="lone surrogate"):
        to_arrow(fs.Highlights([{"\ud800"}]))
    with pytest.raises(WrongType, match="is a function"):
        to_arrow(Balls(np.zeros((1, 1)), np.ones(1), lambda a, b: 0.0))
    with pytest.raises(BadInput, match="as tables that to_arrow writes"):
        from_arrow(pa.table({"a": [1]}))


def test_a_newer_file_is_refused():
    table = to_arrow(IMPORTANCES)
    said = {**read_settings(table), "version": 99}
    with pytest.raises(BadInput, match="newer version"):
        from_arrow(table.replace_schema_metadata({b"faithscope": json.dumps(said).encode()}))


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("importances", {"dtype": "S1000000000000"}),
        ("importances", {"dtype": "V1000000000000"}),
        ("importances", {"columns": ["no such column"]}),
        ("importances", {"columns": None}),
        ("prototypes", {"points": {"table": "AAAA"}}),
        ("prototypes", {"points": {"table": 7}}),
    ],
)
def test_hostile_metadata_is_one_sentence(kind, changed):
    table = to_arrow({"importances": IMPORTANCES, "prototypes": KINDS["prototypes"]}[kind])
    said = {**read_settings(table), **changed}
    with pytest.raises(BadInput, match="cannot be read"):
        from_arrow(table.replace_schema_metadata({b"faithscope": json.dumps(said).encode()}))


def test_rows_that_take_no_bytes_are_refused_before_they_are_unpacked():
    said = read_settings(to_arrow(KINDS["highlights"]))
    empty = pa.table({"words": pa.Array.from_buffers(pa.null(), 2**40, [None])}).replace_schema_metadata(
        {b"faithscope": json.dumps(said).encode()}
    )
    with pytest.raises(fs.errors.TooLarge, match="1,099,511,627,776 explanations"):
        from_arrow(empty)


@pytest.mark.parametrize("digits", ["1", "1" + "0" * 40], ids=["short", "long"])
def test_equal_decimals_are_equal_in_a_table_however_they_were_written(digits):
    column = to_arrow(Plain([Decimal(one) for one in ("0.3", "0.30", "3e-1", digits, "0", "-0.00", "0.31")]))[
        "explanation"
    ]
    assert column.combine_chunks().dictionary_encode().indices.to_pylist() == [0, 0, 0, 1, 2, 2, 3]
    again = from_arrow(to_arrow(Plain([Decimal("0.3"), Decimal("0.30"), Decimal(digits)])))
    assert again.group()[0].tolist() == [0, 0, 1]


def test_codes_of_categories_survive():
    again = from_arrow(to_arrow(KINDS["rules on codes of categories"]))
    assert again.categories == {"job": {0: "clerk", 1: "cook"}}
