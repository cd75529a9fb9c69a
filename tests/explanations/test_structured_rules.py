"""Rationales that hold conditions as JSON become the rules that the conditions say."""

import json
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explanations.structured.operators import _KNOWN, to_operator

FEATURES = ["age", "job", "hours per week"]
SPELLINGS = {operator: [word for word, known in _KNOWN.items() if known == operator] for operator in _KNOWN.values()}
WRAPPINGS = (
    lambda objects: json.dumps(objects),
    lambda objects: json.dumps({"reasons": objects}),
    lambda objects: json.dumps({"answer": "no", "explanation": {"conditions": objects}}),
    lambda objects: f"Let me think [1].\n```json\n{json.dumps(objects, indent=2)}\n```\nThat's why {{so}}.",
    lambda objects: f"I say no, since {json.dumps(objects)}, as [2] has it." if objects else "[]",
    lambda objects: "\n".join(map(json.dumps, objects)) if objects else "[]",
    lambda objects: "\r\n".join(f"{number}. {json.dumps(held)}" for number, held in enumerate(objects)) or "[]",
    lambda objects: json.dumps([[held["feature"], held["op"], held["value"]] for held in objects]),
)


@st.composite
def triples(draw):
    feature = draw(st.sampled_from(FEATURES))
    if feature == "job":
        words = st.sampled_from(["clerk", "cook", "", 'it\'s "odd" ]}', "ü\ud800"])
        operator = draw(st.sampled_from(["==", "!=", "in", "not in"]))
        return feature, operator, draw(st.lists(words, max_size=3) if "in" in operator else words)
    number = st.one_of(st.integers(-3, 60), st.floats(allow_nan=False, allow_infinity=False))
    operator = draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!=", "in", "not in", "between"]))
    size = (2, 2) if operator == "between" else (0, 3)
    several = st.lists(number, min_size=size[0], max_size=size[1])
    return feature, operator, draw(several if "in" in operator or operator == "between" else number)


ROWS = st.lists(st.lists(triples(), max_size=4), min_size=1, max_size=6)


def objects(row, spell=lambda operator: operator):
    return [{"feature": feature, "op": spell(operator), "value": value} for feature, operator, value in row]


def conjunctions(rules):
    return [rules.conjunction(row) for row in range(len(rules))]


@given(ROWS, st.data())
def test_conditions_written_as_json_in_any_wrapping_are_the_rules_of_these_conditions(rows, data):
    spell = lambda operator: data.draw(st.sampled_from(SPELLINGS[operator]))  # noqa: E731
    texts = [data.draw(st.sampled_from(WRAPPINGS))(objects(row, spell)) for row in rows]
    rules = fs.Reasons(texts).to_rules(FEATURES)
    assert conjunctions(rules) == conjunctions(fs.Rules.from_conditions(rows, FEATURES))
    assert rules.features == tuple(FEATURES)
    assert rules.positional


@given(ROWS)
def test_without_features_their_names_are_those_of_from_conditions(rows):
    rules, oracle = fs.Reasons([json.dumps(objects(row)) for row in rows]).to_rules(), fs.Rules.from_conditions(rows)
    assert (rules.features, rules.positional) == (oracle.features, oracle.positional)
    assert conjunctions(rules) == conjunctions(oracle)


@given(ROWS, st.randoms())
def test_the_order_of_conditions_does_not_matter(rows, random):
    shuffled = [random.sample(row, len(row)) for row in rows]
    first, second = (
        fs.Reasons([json.dumps(objects(row)) for row in each]).to_rules(FEATURES) for each in (rows, shuffled)
    )
    assert conjunctions(first) == conjunctions(second)


@given(ROWS)
def test_dicts_and_their_json_are_read_alike_and_rules_survive_the_round_trip(rows):
    listed = [objects(row) for row in rows]
    if not any(rows):
        return
    read = fs.read(listed, features=FEATURES)
    assert conjunctions(read) == conjunctions(fs.Reasons(list(map(json.dumps, listed))).to_rules(FEATURES))
    again = [json.dumps(objects(row)) for row in read.to_conditions()]
    assert conjunctions(fs.Reasons(again).to_rules(FEATURES)) == conjunctions(read)


def _holds(row, feature, operator, value):
    tests = {
        "<": lambda x: x < value,
        "<=": lambda x: x <= value,
        ">": lambda x: x > value,
        ">=": lambda x: x >= value,
        "==": lambda x: x == value,
        "!=": lambda x: x != value,
        "in": lambda x: x in value,
        "not in": lambda x: x not in value,
        "between": lambda x: value[0] <= x <= value[1],
    }
    return tests[operator](row[feature])


@given(
    ROWS,
    st.lists(st.tuples(st.integers(-3, 60), st.sampled_from(["clerk", "cook", ""]), st.integers(0, 9)), min_size=1),
)
def test_rules_cover_exactly_the_rows_on_which_every_condition_holds(rows, people):
    X = pd.DataFrame(people, columns=FEATURES, index=range(len(people), 0, -1))
    rules = fs.Reasons([json.dumps({"reasons": objects(row)}) for row in rows]).to_rules(X)
    for number, row in enumerate(rows):
        parts = rules.conjunction(number)
        masks = list(rules.holds(parts, X))
        covered = np.logical_and.reduce([np.ones(len(X), bool), *masks])
        assert covered.tolist() == [all(_holds(person, *triple) for triple in row) for _, person in X.iterrows()]


def test_sufficiency_of_structured_reasons_is_that_of_their_rules():
    X = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70], "job": ["a", "b", "a", "b", "a", "b"]})
    labels = ["no", "no", "no", "yes", "yes", "yes"]
    texts = ['{"feature": "age", "op": "below", "value": 45}'] * 3 + [
        '{"feature": "job", "op": "is", "value": "b"}'
    ] * 3
    rules = fs.Reasons(texts).to_rules(X)
    oracle = fs.Rules.parse(["age < 45"] * 3 + ["job == b"] * 3)
    assert fs.sufficiency(rules, labels, X).value == fs.sufficiency(oracle, labels, X).value


def test_unreadable_rationales_are_an_error_with_their_number_and_the_first_row():
    reasons = fs.Reasons(['{"feature": "age", "op": "<", "value": 3}', "He is young.", "She is old."])
    with pytest.raises(BadInput, match=r"2 rationales of 3 cannot be read; the first is row 1: it holds no conditions"):
        reasons.to_rules()


def test_unreadable_rationales_can_be_uncovered_and_are_then_unverifiable():
    texts = ['{"feature": "age", "op": "<", "value": 45}'] * 3 + ["He is old."]
    rules = fs.Reasons(texts).to_rules(["age"], unreadable="uncovered")
    estimate = fs.sufficiency(rules, ["no", "no", "yes", "no"], [[20], [30], [40], [50]])
    assert estimate.unverifiable == 0.25
    assert any("1 rationale of 4 cannot be read; the first is row 3" in note for note in estimate.notes)
    assert not any(next(rules.holds(rules.conjunction(3), [[20], [30], [40], [50]])))


def test_uncovered_rules_can_be_written_and_joined():
    rules = fs.Reasons(['{"feature": "age", "op": "<", "value": 45}', "?"]).to_rules(unreadable="uncovered")
    assert fs.Rules.from_conditions(rules.to_conditions()).group()[0].tolist() == [0, 1]
    assert len(rules.join(rules)) == 4


def test_a_log_of_which_nothing_can_be_read_is_an_error_even_if_uncovered_rows_are_allowed():
    with pytest.raises(BadInput, match="None is left to measure"):
        fs.Reasons(["young", "old"]).to_rules(unreadable="uncovered")
    assert len(fs.Reasons([]).to_rules()) == 0


REFUSED = {
    "operator 'contains' is unknown": {"feature": "job", "op": "contains", "value": "k"},
    "has no value": {"feature": "age", "op": "<"},
    "joined by 'or'": {"or": [{"feature": "age", "op": "<", "value": 3}]},
    "joined by 'OR'": {"logic": "OR", "conditions": [{"feature": "age", "op": "<", "value": 3}]},
    "negated by 'negated'": {"feature": "age", "op": "<", "value": 3, "negated": True},
    "needs a list of values": {"feature": "job", "op": "in", "value": "clerk, cook"},
    "needs one value": {"feature": "age", "op": "<", "value": [3, 4]},
    "needs [low, high]": {"feature": "age", "op": "between", "value": 3},
    "text has no order": {"feature": "age", "op": "<", "value": "old"},
    "a missing value has no order": {"feature": "age", "op": "<", "value": None},
    "Did you mean 'age'": {"feature": "agee", "op": "<", "value": 3},
    "conditions under 'for' and 'against'": {
        "for": [{"feature": "age", "op": "<", "value": 3}],
        "against": [{"feature": "age", "op": ">", "value": 3}],
    },
    "item 1 is no condition": [{"feature": "age", "op": "<", "value": 3}, {"age": 3}],
    "mixes numbers and text": {"feature": "age", "op": "in", "value": [3, "x"]},
    "is an object": {"feature": "age", "op": "<", "value": {"a": 1}},
    "operator 'about' is unknown": [["age", "<", 3], {"feature": "age", "op": "<", "value": 3}, ["age", "about", 3]],
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_a_rule_cannot_say_is_refused_with_its_row(why):
    texts = ['{"feature": "age", "op": "<", "value": 3}', json.dumps(REFUSED[why])]
    with pytest.raises(BadInput) as told:
        fs.Reasons(texts).to_rules(["age", "job"])
    assert why in str(told.value)
    assert "row 1" in str(told.value)


def test_two_separate_pieces_of_json_are_not_taken_for_one_rule():
    piece = '{"feature": "age", "op": "<", "value": 3}'
    with pytest.raises(BadInput, match="2 pieces of JSON with words between"):
        fs.Reasons([f"First I thought {piece}, but then {piece}"]).to_rules()
    with pytest.raises(BadInput, match="2 pieces of JSON"):
        fs.Reasons([f"```json\n{piece}\n```\nor rather\n```json\n{piece}\n```"]).to_rules()


def test_values_are_read_as_the_column_holds_them_and_told():
    X = pd.DataFrame(
        {"age": [1, 2], "ward": ["37", "38"], "old": [True, False], "day": pd.to_datetime(["2024-01-01"] * 2)}
    )
    row = [("age", "==", "2"), ("ward", "is", 37), ("old", "==", "true"), ("day", "<=", "2024-01-02")]
    rules = fs.Reasons([json.dumps(objects(row))]).to_rules(X)
    assert rules.describe(0) == 'age == 2 and ward == "37" and old == 1 and day <= 2024-01-02'
    assert "values written as texts, such as '2', were read as numbers (1 time)" in rules.notes
    assert any("read as texts" in note for note in rules.notes)
    for table in (pl.DataFrame(X), pl.DataFrame(X).to_arrow()):
        assert fs.Reasons([json.dumps(objects(row))]).to_rules(table).describe(0) == rules.describe(0)


def test_a_bound_written_as_text_is_a_number_and_an_equal_text_is_not():
    rules = fs.Reasons([json.dumps(objects([("age", "<=", "37"), ("ward", "==", "37")]))]).to_rules()
    assert rules.describe(0) == 'age <= 37 and ward == "37"'


def test_features_in_another_spelling_are_read_and_told():
    rules = fs.Reasons([json.dumps(objects([("Hours_per_week", ">", 40)]))]).to_rules(["age", "hours per week"])
    assert rules.describe(0) == '"hours per week" > 40' or rules.describe(0) == "hours per week > 40"
    assert "feature 'Hours_per_week' was read as 'hours per week' (1 time)" in rules.notes


def test_what_conditions_say_besides_is_told():
    rules = fs.Reasons(['{"feature": "age", "op": "<", "value": 3, "weight": 0.9}'] * 2).to_rules()
    assert rules.notes == ("what conditions say under 'weight' was left aside (2 times)",)


def test_rationales_without_conditions_cover_everything_and_are_told():
    rules = fs.Reasons(['{"reasons": []}', "[]", '{"feature": "age", "op": "<", "value": 3}']).to_rules()
    assert rules.describe(0) == rules.describe(1) == "everything"
    assert any("2 rationales name no condition" in note for note in rules.notes)


def test_missing_and_present_are_asked_for():
    row = [
        {"feature": "age", "op": "is null"},
        {"feature": "job", "op": "exists"},
        {"feature": "x", "op": "<= or missing", "value": 3},
    ]
    assert fs.read([row]).describe(0) == "age is missing and job is present and (x <= 3 or missing)"


HOSTILE = [
    "[" * 100_000,
    '{"a":' * 100_000,
    '[{"feature": "age", "op": "<", "value": ' * 20_000,
    "{" * 1_000_000,
    '{"' * 500_000,
    "[[" * 500_000,
    "\0" * 1_000_000,
    "\ud800{\udfff",
    '{"feature": "age", "feature": "job", "op": "<", "value": 3}',
    '{"feature": "age", "op": "<", "value": NaN}',
    '{"feature": "age", "op": "<", "value": ' + "9" * 10_000 + "}",
    "```" * 300_000,
    "``` {" * 200_000,
    "1." * 500_000 + '{"feature": "age", "op": "<", "value": 3} and' + " 1" * 500_000,
    '{"feature": "age", "op": "<", "value": 3}' + " and" * 200_000 + ' x {"feature": "age", "op": "<", "value": 3}',
    '{"feature": "\0<script>\n", "op": "<", "value": 3' + "1" * 300 + "}",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:20]))
def test_hostile_texts_are_read_or_refused_in_one_sentence_and_soon(text):
    start = time.perf_counter()
    with suppress(BadInput):  # whose messages are one line by construction
        assert "\n" not in fs.Reasons([text]).to_rules().describe(0)
    assert time.perf_counter() - start < 5


def test_a_key_that_stands_twice_is_named():
    with pytest.raises(BadInput, match="'feature' stands twice"):
        fs.Reasons(['{"feature": "age", "feature": "job", "op": "<", "value": 3}']).to_rules()


@pytest.mark.parametrize("unreadable", ["drop", None, 3, ["error"]])
def test_an_unknown_choice_for_unreadable_rationales_is_refused(unreadable):
    with pytest.raises(BadInput, match="unreadable must be one of error, uncovered"):
        fs.Reasons(["x"]).to_rules(unreadable=unreadable)


def test_every_spelling_is_of_one_operator():
    assert to_operator("is_greater_than") == ">"
    assert to_operator("IS NOT") == "!="
    assert to_operator("is one of") == "in"
    assert to_operator("=") == to_operator("is") == "=="


def test_dicts_of_importances_are_no_conditions():
    assert fs.read([{"feature": 0.3, "op": 0.1, "value": 0.2}]).kind.startswith("importances")


@pytest.mark.parametrize("key", ["not", "negated", "any", "or"])
def test_a_mark_beside_conditions_that_turns_them_is_no_conjunction(key):
    held = {"conditions": [{"feature": "age", "op": ">", "value": 3}], key: True}
    with pytest.raises(BadInput, match=f"turned by '{key}'"):
        fs.Reasons([json.dumps(held)]).to_rules()
    assert fs.Reasons([json.dumps(held | {key: False})]).to_rules().describe(0) == "age > 3"
