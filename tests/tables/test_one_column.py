"""Explanations in one column of a log: the same numbers, whatever holds them, in whatever order."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from refused import refused
from tables import engines
from tables.logs import assert_same

NAMES = ("age", "hours", "job")
RANDOM = default_rng(7)
VALUES = RANDOM.integers(-2, 3, (150, 3)) / 4
LABELS = RANDOM.integers(0, 2, 150)
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


@pytest.mark.parametrize("held", HELD)
def test_what_holds_the_numbers_does_not_matter(held):
    columns = pa.table({f"phi_{name}": VALUES[:, j] for j, name in enumerate(NAMES)} | {"y": pa.array(LABELS)})
    for discretizer in (None, "sign-of-top-2"):
        one = audited(HELD[held], discretizer=discretizer)
        assert_same(one.consistency, expected(discretizer))
        if "list" not in held.lower() and "array" not in held:
            several = fs.audit(columns, prediction="y", explanation="phi_*", discretizer=discretizer)
            assert sorted(one.table().explanation) == sorted(several.table().explanation)


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("held", ["json", "jsonb", "structs", "maps", "lists"])
def test_engines_unpack_their_own_nested_types(held):
    if held.startswith("json"):
        engines.put("postgres", "json_texts", log_of(HELD["JSON objects without zeros"]))
        make = f"CREATE TABLE json_values AS SELECT phi::{held} AS phi, y FROM json_texts"
        log = engines.run_postgres("json_values", make)
    else:
        log = engines.put("spark", "nested", log_of(HELD[held]))
    assert_same(fs.audit(**log, prediction="y", explanation="phi").consistency, expected())


def test_files_of_csv_and_json_lines_and_frames_of_polars_hold_explanations(tmp_path):
    lines = [json.dumps({"phi": row, "y": label}) for row, label in zip(LEFT_OUT, LABELS.tolist(), strict=True)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    for held in ("JSON objects", "JSON lists"):
        pyarrow.csv.write_csv(log_of(HELD[held]), tmp_path / f"{held}.csv")
    logs = [tmp_path / name for name in ("log.jsonl", "JSON objects.csv", "JSON lists.csv")]
    for log in (*logs, pl.DataFrame({"phi": SHUFFLED, "y": LABELS})):
        assert_same(fs.audit(log, prediction="y", explanation="phi").consistency, expected())


def test_the_result_says_how_it_was_read_and_what_was_left_out():
    notes = audited(['{"b": 1, "a": 2}', '{"a": 2.0}', "{}"], [0, 1, 1]).notes
    assert notes[0] == "explanations were read from JSON objects in column 'phi': 2 features"
    assert notes[1] == "a feature that an explanation leaves out counts 0: 'a' in 1 row, 'b' in 2 rows"


@pytest.mark.parametrize(
    ("texts", "kind", "explainer", "value"),
    [
        (['["dull", "plot"]', '["plot","dull"]', '["great"]', "[]"], None, "highlighted words", 0.5),
        (['[["age","<=",3]]', '[["age", "<=", 3]]', '[["age",">",3]]', "[]"], None, "rules", 0.5),
        (["[A]", "[A]", "[B]"], None, "keys", 2 / 3),
    ],
)
def test_lists_of_words_and_of_conditions_and_wanted_keys_are_what_they_look_like(texts, kind, explainer, value):
    audit = audited(texts, [0, 0, 1, 1][: len(texts)], kind=kind)
    assert audit.explainer == explainer
    assert audit.consistency.value == pytest.approx(value)


BAD = {
    "nested": (['{"a": {"b": 1}}', '{"a": 1}'], "importances that are no numbers .* in 1 row"),
    "bool": (['{"a": true}', '{"a": 1}'], "no numbers .* in 1 row, such as .*true"),
    "text": (['{"a": "0.3"}', '{"a": 1}'], "no numbers .* in 1 row"),
    "twice": (['{"a": 1, "a": 2}', '{"a": 1}'], "a key twice in 1 row"),
    "null": (['{"a": null}', '{"a": 1}'], "missing .* in 1 of 2 rows"),
    "infinite": (['{"a": 1e999}', '{"a": 1}'], "infinite number in 1 rows"),
    "nan": (['{"a": NaN}', '{"a": 1}'], "missing .* in 1 of 2 rows"),
    "large": (['{"a": 9007199254740993}', '{"a": 9007199254740992}'], r"no numbers below 2\*\*53"),
    "ragged": (["[1, 2]", "[1, 2]", "[1]"], "lists of 1 to 2 numbers"),
    "mixed items": (['[1, "a"]', "[1, 2]"], "JSON lists of numbers, but others in 1 row"),
    "null words": (['["a", null]', '["a"]'], "JSON lists of numbers, but others in 2 rows.*of texts for words"),
    "mixed": (["[1]", '{"a": 1}', '{"a": 2}'], "JSON objects, but none in 1 row"),
    "no JSON": (['{"a": 1}', '{"a": 1}', "oops"], "JSON objects, but none in 1 row, such as 'oops'"),
    "a dict of Python": (["{'a': 1}", "{'a': 2}"], "no JSON in 2 rows, such as .*json.dumps.*kind='keys'"),
    "an array of NumPy": (["[0.1 0.2]", "[0.1 0.3]"], "no JSON in 2 rows, such as .*json.dumps"),
    "nothing": (["{}", "{}"], "every object is empty"),
    "empty lists": (pa.array([[], []], pa.list_(pa.float64())), "no list with a number"),
    "text in structs": ([{"a": "x"}, {"a": "y"}], "no numbers .* in 2 rows"),
    "N/A": (['{"a": 1}', '{"a": 2}'] + ["N/A"] * 3, "JSON in 2 rows, but other texts in 3, such as 'N/A'.*kind='keys'"),
    "a NaN": (['{"a": 1}', '{"a": 2}', "NaN"], "JSON objects, but none in 1 row, such as 'NaN'.*kind='keys'"),
    "a number": (['{"a": 1}', '{"a": 2}', "3"], "JSON objects, but none in 1 row, such as '3'.*kind='keys'"),
    "lists among texts": (["[1, 2]", "none", "none"], "JSON in 1 row, but other texts in 2.*kind='keys'"),
    "a struct's hole": (
        [{"a": 1.0, "b": 0.0}, {"a": 1.0, "b": None}],
        "missing .*phi.*b.* in 1 of 2 rows",
    ),
    "many": ([json.dumps({f"k{j}": 1 for j in range(1001)})] * 2, "more than 1,000 different keys.*lists of the keys"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_is_one_sentence(case):
    explanations, sentence = BAD[case]
    with pytest.raises((BadInput, WrongType), match=sentence) as problem:
        audited(explanations, [0, 1, 1, 0, 1][: len(explanations)])
    assert "\n" not in str(problem.value)
    if sentence.endswith("kind='keys'") and sentence.startswith("JSON"):  # never compared as texts, unless asked
        assert audited(explanations, [0, 1, 1, 0, 1][: len(explanations)], kind="keys").explainer == "keys"


@pytest.mark.parametrize("none", [None, "null", "", " "])
def test_empty_texts_and_null_are_missing_among_json(none):
    rows, labels = ['{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}'] + [none] * 6, [0, 1, *[0] * 6]
    refused(BadInput, "missing", audited, rows, labels)
    for kind in (None, "importances"):
        estimate = audited(rows, labels, nulls="drop", kind=kind).consistency
        assert (estimate.value, estimate.n) == (0.0, 2)


HOSTILE = st.text(max_size=8) | st.sampled_from(
    ["'; DROP TABLE log; --", '"', "a.b", "$.a", "/a", "~0", "*", "", "A", "a", "\\", "{0}", "%s"]
)


@pytest.mark.thorough
@settings(max_examples=25)  # each is an audit of its own
@given(st.lists(st.dictionaries(HOSTILE, st.sampled_from([0.5, -1.0, 2.0]), min_size=1), min_size=1, max_size=6))
def test_no_key_is_ever_read_as_anything_but_a_name(rows):
    rows = [row for row in rows if all(mark < "\ud800" or mark > "\udfff" for key in row for mark in key)]
    names = sorted({name for row in rows for name in row})
    labels = [row % 2 for row in range(2 * len(rows))]
    texts = [json.dumps(row) for row in rows] + [json.dumps(dict(reversed(row.items()))) for row in rows]
    values = [[row.get(name, 0.0) for name in names] for row in rows + rows]
    assert_same(audited(texts, labels).consistency, fs.consistency(fs.Importances(values), labels))


def test_names_that_differ_in_case_alone_are_two_features():
    assert audited(['{"a": 1, "A": 2}', '{"a": 1, "A": 3}', '{"A": 2.0, "a": 1}'], [0, 1, 0]).consistency.distinct == 2


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
        refused(BadInput, "missing", fs.audit, log, **how)


def test_a_map_with_a_key_twice_is_refused(tmp_path):
    maps = pa.array([[("a", 1.0), ("a", 2.0)], [("a", 1.0), ("a", 3.0)], [("b", 1.0)]], MAPS)
    pq.write_table(pa.table({"phi": maps, "yhat": [0, 1, 0]}), tmp_path / "log.parquet")
    refused(
        BadInput,
        "'phi' holds objects with a key twice in 2 rows, such as 'a, a'",
        fs.audit,
        tmp_path / "log.parquet",
        prediction="yhat",
        explanation="phi",
    )


def test_a_note_says_if_names_decide_between_equal_features():
    rows = ['{"b": 1, "a": -1}', '{"a": 1.0, "b": 1}'] * 20
    labels = [0, 1] * 20
    told = "in the order of their names"
    for chosen, discretizer, said in ((1, "sign-of-top-1", True), (1, "sign", False), (2, "sign-of-top-1", False)):
        notes = audited(rows[::chosen], labels[::chosen], discretizer=discretizer).notes
        assert any(told in note for note in notes) == said
