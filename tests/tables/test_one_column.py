"""Explanations in one column of a log: the same numbers, whatever holds them, in whatever order."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithscope as fs
from contracts.test_engines import ENGINES
from faithscope.errors import BadInput, FaithscopeError, WrongType
from tables import engines

NAMES = ("age", "hours", "job")
RANDOM = np.random.default_rng(7)
VALUES = RANDOM.integers(-2, 3, (150, 3)) / 4
LABELS = RANDOM.integers(0, 2, 150)
DISCRETIZERS = (None, "sign", "1-fp", "rank", "sign-of-top-2")
SHUFFLED = [{NAMES[j]: row[j] for j in RANDOM.permutation(3)} for row in VALUES.tolist()]
LEFT_OUT = [{name: value for name, value in row.items() if value} for row in SHUFFLED]
MAPS = pa.map_(pa.string(), pa.float64())
HELD = {
    "JSON objects": pa.array(list(map(json.dumps, SHUFFLED))),
    "JSON objects without zeros": pa.array(list(map(json.dumps, LEFT_OUT))),
    "JSON lists": pa.array(list(map(json.dumps, VALUES.tolist()))),
    "structs": pa.array(SHUFFLED),
    "maps": pa.array([list(row.items()) for row in LEFT_OUT], MAPS),
    "lists": pa.array(VALUES.tolist()),
    "lists of float32": pa.array(VALUES.tolist(), pa.list_(pa.float32())),
    "arrays of three": pa.array(VALUES.tolist(), pa.list_(pa.float64(), 3)),
}


def log_of(explanations, labels=LABELS):
    return pa.table({"phi": explanations, "y": pa.array(labels)})


def audited(explanations, labels=LABELS, **how):
    return fs.audit(log_of(explanations, labels), prediction="y", explanation="phi", **how)


def expected(discretizer=None):
    return fs.consistency(fs.Importances(VALUES, NAMES), LABELS, discretizer=discretizer)


def same(estimate, other):
    parts = (estimate.value, estimate.low, estimate.high, estimate.unverifiable)
    return parts == pytest.approx((other.value, other.low, other.high, other.unverifiable), abs=1e-9)


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
@pytest.mark.parametrize("held", HELD)
def test_what_holds_the_numbers_does_not_matter(held, discretizer):
    columns = pa.table({f"phi_{name}": VALUES[:, j] for j, name in enumerate(NAMES)} | {"y": pa.array(LABELS)})
    one, several = (
        audited(HELD[held], discretizer=discretizer),
        fs.audit(columns, prediction="y", explanation="phi_*", discretizer=discretizer),
    )
    assert same(one.consistency, several.consistency)
    assert same(one.consistency, expected(discretizer))
    if "list" not in held.lower() and "array" not in held:
        assert one.table().explanation.tolist() == several.table().explanation.tolist()


@pytest.mark.parametrize("discretizer", [None, "sign-of-top-2"])
@pytest.mark.parametrize("held", ["JSON objects", "JSON objects without zeros", "JSON lists"])
@ENGINES
def test_every_engine_gives_the_numbers_of_memory(engine, held, discretizer):
    table = log_of(HELD[held]).append_column("id", pa.array(range(150)))
    log = engines.put(engine, "one_column", table)
    audit = fs.audit(**log, prediction="y", explanation="phi", discretizer=discretizer, id="id", by="y")
    assert same(audit.consistency, expected(discretizer))
    assert audit.populations.table().n.sum() == 150
    assert set(audit.counterexamples(1).columns) >= {"id_a", "id_b"}


@pytest.mark.engine
@pytest.mark.parametrize("kind", ["json", "jsonb"])
def test_json_columns_of_postgres_are_read(kind):
    engines.put("postgres", "json_texts", log_of(HELD["JSON objects without zeros"]))
    make = f"CREATE TABLE json_values AS SELECT phi::{kind} AS phi, y FROM json_texts"
    log = engines.run_postgres("json_values", make)
    assert same(fs.audit(**log, prediction="y", explanation="phi").consistency, expected())


@pytest.mark.engine
@pytest.mark.parametrize("held", ["structs", "maps", "lists"])
def test_spark_unpacks_its_own_nested_types(held):
    log = engines.put("spark", "nested", log_of(HELD[held]))
    assert same(fs.audit(**log, prediction="y", explanation="phi").consistency, expected())


@pytest.mark.parametrize("held", ["JSON objects", "JSON lists"])
def test_a_csv_file_holds_json(held, tmp_path):
    pyarrow.csv.write_csv(log_of(HELD[held]), tmp_path / "log.csv")
    assert same(fs.audit(tmp_path / "log.csv", prediction="y", explanation="phi").consistency, expected())


def test_json_lines_hold_objects(tmp_path):
    lines = [json.dumps({"phi": row, "y": label}) for row, label in zip(LEFT_OUT, LABELS.tolist(), strict=True)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    assert same(fs.audit(tmp_path / "log.jsonl", prediction="y", explanation="phi").consistency, expected())


def test_polars_holds_structs_and_arrays():
    frame = pl.DataFrame({"phi": SHUFFLED, "y": LABELS})
    assert same(fs.audit(frame, prediction="y", explanation="phi").consistency, expected())


def test_the_result_says_how_it_was_read_and_what_was_left_out():
    notes = audited(['{"b": 1, "a": 2}', '{"a": 2.0}', "{}"], [0, 1, 1]).notes
    assert notes[0] == "explanations were read from JSON objects in column 'phi': 2 features"
    assert notes[1] == "a feature that an explanation leaves out counts 0: 'a' in 1 row, 'b' in 2 rows"


def test_a_list_of_words_is_a_highlight():
    audit = audited(['["dull", "plot"]', '["plot","dull"]', '["great"]', "[]"], [0, 0, 1, 1])
    assert audit.explainer == "highlighted words"
    assert audit.consistency.value == 0.5


def test_a_list_of_conditions_is_a_rule():
    audit = audited(['[["age","<=",3]]', '[["age", "<=", 3]]', '[["age",">",3]]', "[]"], [0, 0, 1, 1])
    assert audit.explainer == "rules"
    assert audit.consistency.value == 0.5


def test_the_keys_of_objects_are_words_if_that_is_wanted():
    audit = audited(['{"dull": 1, "plot": 2}', '{"plot": 3, "dull": 1}', '{"great": 1}'], [0, 0, 1], kind="words")
    assert audit.explainer == "highlighted words"
    assert audit.consistency.value == pytest.approx(2 / 3)


def test_texts_that_only_stand_in_brackets_are_keys():
    assert audited(["[A]", "[A]", "[B]"], [0, 0, 1]).explainer == "keys"


BAD = {
    "nested": (['{"a": {"b": 1}}', '{"a": 1}'], "key 'a' of column 'phi' holds objects in 1 row"),
    "bool": (['{"a": true}', '{"a": 1}'], "holds true or false in 1 row"),
    "text": (['{"a": "0.3"}', '{"a": 1}'], "holds texts in 1 row"),
    "twice": (['{"a": 1, "a": 2}', '{"a": 1}'], "a key twice in 1 row"),
    "null": (['{"a": null}', '{"a": 1}'], "missing .* in 1 of 2 rows"),
    "infinite": (['{"a": 1e999}', '{"a": 1}'], "infinite number in 1 rows"),
    "nan": (['{"a": NaN}', '{"a": 1}'], "missing .* in 1 of 2 rows"),
    "large": (['{"a": 9007199254740993}', '{"a": 9007199254740992}'], r"whole numbers of 2\*\*53"),
    "ragged": (["[1, 2]", "[1, 2]", "[1]"], "2 numbers in 2 rows, but of 1 in 1"),
    "mixed items": (['[1, "a"]', "[1, 2]"], "JSON lists of numbers, but texts in 1 row"),
    "null words": (['["a", null]', '["a"]'], "JSON lists of words, but null in 1 row"),
    "mixed": (["[1]", '{"a": 1}', '{"a": 2}'], "JSON objects, but lists in 1 row"),
    "no JSON": (['{"a": 1}', '{"a": 1}', "oops"], "JSON objects, but text that is no JSON in 1 row, such as 'oops'"),
    "a dict of Python": (["{'a': 1}", "{'a': 2}"], "no JSON, such as .*json.dumps.*kind='keys'"),
    "an array of NumPy": (["[0.1 0.2]", "[0.1 0.3]"], "no JSON, such as .*json.dumps"),
    "nothing": (["{}", "{}"], "every object is empty"),
    "empty lists": (pa.array([[], []], pa.list_(pa.float64())), "no list with a number"),
    "text in structs": ([{"a": "x"}, {"a": "y"}], "field 'a' of column 'phi' holds string"),
    "many": ([json.dumps({f"k{j}": 1 for j in range(1001)})] * 2, "more than 1,000 different keys.*kind='words'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_is_one_sentence(case):
    explanations, sentence = BAD[case]
    with pytest.raises((BadInput, WrongType), match=sentence) as problem:
        audited(explanations, [0, 1, 1][: len(explanations)])
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("kept", [None, "null"])
def test_a_row_without_an_explanation_is_missing(kept):
    rows = [kept, '{"a": 1}', '{"a": 1}']
    assert audited(rows, [0, 1, 1], nulls="drop").consistency.n == 2
    with pytest.raises(BadInput, match="missing"):
        audited(rows, [0, 1, 1])


HOSTILE = st.text(max_size=8) | st.sampled_from(
    ["'; DROP TABLE log; --", '"', "a.b", "$.a", "/a", "~0", "*", "", "A", "a", "\\", "{0}", "%s"]
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(HOSTILE, st.sampled_from([0.5, -1.0, 2.0]), min_size=1), min_size=1, max_size=6))
@settings(max_examples=15, deadline=None)
def test_no_key_is_ever_read_as_anything_but_a_name(rows):
    rows = [row for row in rows if all(mark < "\ud800" or mark > "\udfff" for key in row for mark in key)]
    names = sorted({name for row in rows for name in row})
    labels = [row % 2 for row in range(2 * len(rows))]
    texts = [json.dumps(row) for row in rows] + [json.dumps(dict(reversed(row.items()))) for row in rows]
    try:
        audit = audited(texts, labels)
    except FaithscopeError as problem:
        pytest.fail(str(problem))
    values = [[row.get(name, 0.0) for name in names] for row in rows + rows]
    assert same(audit.consistency, fs.consistency(fs.Importances(values), labels))


def test_names_that_differ_in_case_alone_are_two_features():
    assert audited(['{"a": 1, "A": 2}', '{"a": 1, "A": 3}', '{"A": 2.0, "a": 1}'], [0, 1, 0]).consistency.distinct == 2


@pytest.mark.parametrize("none", ["null", "", " "])
def test_empty_texts_and_null_are_missing_among_json(none):
    rows = ['{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}'] + [none] * 6
    labels = [0, 1, *[0] * 6]
    for kind in (None, "importances"):
        estimate = audited(rows, labels, nulls="drop", kind=kind).consistency
        assert (estimate.value, estimate.n) == (0.0, 2)


MIXED = {
    "N/A": (['{"a": 1}', '{"a": 2}'] + ["N/A"] * 3, "JSON in 2 rows, but other texts in 3, such as 'N/A'"),
    "NaN": (['{"a": 1}', '{"a": 2}', "NaN"], "JSON objects, but numbers in 1 row, such as 'NaN'"),
    "a number": (['{"a": 1}', '{"a": 2}', "3"], "JSON objects, but numbers in 1 row, such as '3'"),
    "lists": (["[1, 2]", "none", "none"], "JSON in 1 row, but other texts in 2"),
}


@pytest.mark.parametrize("case", MIXED)
def test_json_among_other_texts_is_never_compared_as_texts(case):
    rows, sentence = MIXED[case]
    with pytest.raises(BadInput, match=f"{sentence}.*kind='keys'"):
        audited(rows, [0, 1, 0, 1, 0][: len(rows)])
    assert audited(rows, [0, 1, 0, 1, 0][: len(rows)], kind="keys").explainer == "keys"


def test_an_explicit_null_is_missing_and_a_key_left_out_is_0(tmp_path):
    rows = [{"a": 1, "b": 0}, {"a": 1}, {"a": 1, "b": None}, {"a": 2, "b": 1}]
    lines = [json.dumps({"phi": row, "y": y}) for row, y in zip(rows, [0, 1, 1, 1], strict=True)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    held = (
        tmp_path / "log.jsonl",
        pd.DataFrame({"phi": rows, "y": [0, 1, 1, 1]}),
        log_of(list(map(json.dumps, rows)), [0, 1, 1, 1]),
    )
    for log in held:
        how = {"prediction": "y", "explanation": "phi"}
        estimate = fs.audit(log, **how, nulls="drop").consistency
        assert (estimate.n, estimate.distinct) == (3, 2)
        with pytest.raises(BadInput, match="missing"):
            fs.audit(log, **how)


def test_a_struct_has_all_its_fields():
    rows = [{"a": 1.0, "b": 0.0}, {"a": 1.0, "b": None}, {"a": 1.0, "b": 0.0}]
    with pytest.raises(BadInput, match=r"field 'b' of the structs in column 'phi' in 1 row.*write 0"):
        audited(rows, [0, 1, 0])
    assert audited(rows, [0, 1, 0], nulls="drop").consistency.n == 2
    assert audited(rows, [0, 1, 0], nulls="key").consistency.distinct == 2


def test_fields_of_structs_are_words_if_that_is_wanted():
    audit = audited(
        [{"dull": 1, "plot": None}, {"dull": 3, "plot": None}, {"dull": 1, "plot": 2}], [0, 0, 1], kind="words"
    )
    assert audit.explainer == "highlighted words"
    assert audit.consistency.distinct == 2
    with pytest.raises(BadInput, match="kind must be"):
        audited([{"a": 1}, {"a": 2}], [0, 1], kind="wrods")


def test_a_note_says_if_names_decide_between_equal_features():
    rows = ['{"b": 1, "a": -1}', '{"a": 1.0, "b": 1}'] * 20
    labels = [0, 1] * 20
    assert any(
        "in the order of their names" in note for note in audited(rows, labels, discretizer="sign-of-top-1").notes
    )
    assert not any("in the order of their names" in note for note in audited(rows, labels, discretizer="sign").notes)
    assert not any("order" in note for note in audited(rows[::2], labels[::2], discretizer="sign-of-top-1").notes)


def test_dictionaries_of_pandas_keep_the_order_that_memory_gives_them():
    rows = [{"b": 1, "a": -1}, {"a": 1.0, "b": 1}] * 20
    audit = fs.audit(
        pd.DataFrame({"phi": rows, "y": [0, 1] * 20}), prediction="y", explanation="phi", discretizer="sign-of-top-1"
    )
    assert audit.consistency.value == fs.consistency(rows, [0, 1] * 20, discretizer="sign-of-top-1").value
