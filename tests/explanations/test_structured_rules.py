"""Rationales that hold conditions as JSON become the rules that the conditions say."""

import json
import re

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import faithscope as fs
from conditions import conditions
from faithscope.errors import BadInput
from faithscope.explanations.arrow import from_arrow, to_arrow
from faithscope.explanations.rule_text import SPELLINGS as KNOWN
from refused import refused

FEATURES = ["age", "job", "hours per week"]
SPELLINGS = {operator: [word for word, known in KNOWN.items() if known == operator] for operator in KNOWN.values()}
WRAPPINGS = (
    lambda objects: json.dumps(objects),
    lambda objects: json.dumps({"answer": "no", "reasons": objects}),
    lambda objects: f"Let me think [1].\n```json\n{json.dumps(objects, indent=2)}\n```\nThat's why {{so}}.",
    lambda objects: f"I say no, since {json.dumps(objects)}, as [2] has it." if objects else "[]",
    lambda objects: json.dumps(objects[0] if len(objects) == 1 else {"conditions": objects}),
)


NUMBERS = st.one_of(st.integers(-3, 60), st.floats(allow_nan=False, allow_infinity=False))
JOBS = st.sampled_from(["clerk", "cook", "", 'it\'s "odd" ]}', "ü\ud800"])
TRIPLES = conditions(st.sampled_from(FEATURES[::2]), NUMBERS, NUMBERS, ends=[""])
TRIPLES |= conditions(st.just("job"), JOBS, ends=[""])


ROWS = st.lists(st.lists(TRIPLES, max_size=4), min_size=1, max_size=6)


def objects(row, spell=lambda operator: operator):
    return [{"feature": feature, "op": spell(operator), "value": value} for feature, operator, value in row]


def conjunctions(rules):
    return [rules.conjunction(row) for row in range(len(rules))]


@given(ROWS, st.data())
def test_conditions_written_as_json_in_any_wrapping_are_the_rules_of_these_conditions(rows, data):
    spell = lambda operator: data.draw(st.sampled_from(SPELLINGS[operator]))  # noqa: E731
    texts = [data.draw(st.sampled_from(WRAPPINGS))(objects(row, spell)) for row in rows]
    for features in ((FEATURES,), ()):
        rules, oracle = fs.Reasons(texts).to_rules(*features), fs.Rules.from_conditions(rows, *features)
        assert conjunctions(rules) == conjunctions(oracle)
        assert (rules.features, rules.positional) == (oracle.features, oracle.positional)


@given(ROWS)
def test_dicts_and_their_json_are_read_alike_and_rules_survive_the_round_trip(rows):
    assume(any(rows))
    read = fs.read([objects(row) for row in rows], features=FEATURES)
    for written in (rows, read.to_conditions()):
        again = fs.Reasons([json.dumps(objects(row)) for row in written]).to_rules(FEATURES)
        assert conjunctions(again) == conjunctions(read)


PIECE = '{"feature": "age", "op": "<", "value": 3}'


def test_unreadable_rationales_are_an_error_or_uncovered_and_then_unverifiable():
    reasons = fs.Reasons([PIECE, PIECE, PIECE, "He is young.", "She is old."])
    told = r"2 rationales of 5 cannot be read; the first is row 3"
    refused(BadInput, f"{told}: it holds no conditions", reasons.to_rules)
    rules = reasons.to_rules(["age"], unreadable="uncovered")
    X = [[1], [2], [2.5], [50], [60]]
    estimate = fs.sufficiency(rules, ["no", "no", "yes", "no", "no"], X)
    assert estimate.unverifiable == 0.4
    assert any(told in note for note in estimate.notes)
    assert not any(next(rules.holds(rules.conjunction(3), X)))
    assert fs.Rules.from_conditions(rules.to_conditions()).group()[0].tolist() == [0, 0, 0, 1, 1]
    assert len(rules.join(rules)) == 10


def test_a_log_of_which_nothing_can_be_read_is_an_error_even_if_uncovered_rows_are_allowed():
    refused(BadInput, "2 rationales of 2 cannot be read", fs.Reasons(["young", "old"]).to_rules, unreadable="uncovered")
    assert len(fs.Reasons([]).to_rules()) == 0
    for unreadable in ("drop", None, 3, ["error"]):
        told = "unreadable must be one of 'error', 'uncovered'"
        refused(BadInput, told, fs.Reasons(["x"]).to_rules, unreadable=unreadable)


def one(operator, *value, feature="age", **more):
    return {"feature": feature, "op": operator, **({"value": value[0]} if value else {}), **more}


MORE = "several pieces of JSON"
REFUSED = {
    "Operator 'contains' on feature 'age' is unknown": one("contains", "k"),
    "'<' has no value": one("<"),
    "{'or': [": {"or": [one("<", 3)]},
    "{'logic': 'OR'": {"logic": "OR", "conditions": [one("<", 3)]},
    "{'for': [": {"for": [one("<", 3)], "against": [one(">", 3)]},
    "has 'negated' beside its": one("<", 3, negated=True),
    "age in takes several values": one("in", "clerk, cook"),
    "age < (3, 4): a tuple is neither number": one("<", [3, 4]),
    "age == {'a': 1}: a dict is neither number": one("==", {"a": 1}),
    "between on feature 'age' needs (low, high); got 3": one("between", 3),
    "between on feature 'age' needs (low, high)": one("between", [3]),
    "text has no order": one("<", "old"),
    "a missing value has no order": one("<", None),
    "Did you mean 'age'": one("<", 3, feature="Age"),
    "{'age': 3} is no condition": [one("<", 3), {"age": 3}],
    "mixes values of several kinds": one("in", [3, "x"]),
    "holds no conditions as JSON": [["age", "<", 3]],
    f"{MORE},": f"First I thought {PIECE}, but then {PIECE}",
    f"{MORE}, which may": f'Since {PIECE} and {{"feature": "job", "op": "is", "value": clerk}}.',
    f"{MORE}, which may not": f"{PIECE} and {{'feature': 'job', 'op': 'is', 'value': 'clerk'}}",
    f"{MORE}, which may not be one rule": f'```\n{PIECE}\n```\nand ```json\n{{"feature": "job", "op": "is", "val',
    "it holds several": f'{PIECE} and {{"feature": "job", "value": "clerk"}}',
    "'feature' stands twice": PIECE.replace("{", '{"feature": "job", '),
    "its JSON is broken (Expecting value": f'{{"reasons": [{PIECE}, {{"feature": "job", "op": }}]}}',
    "its JSON is broken (Expecting property": f"{{feature: job, op: is, value: clerk}} and {PIECE}",
    "its JSON nests too deeply": '[{"reasons": ' * 100_000,
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_a_rule_cannot_say_is_refused_with_its_row(why):
    text = REFUSED[why] if isinstance(REFUSED[why], str) else json.dumps(REFUSED[why])
    refused(BadInput, f"row 1.*{re.escape(why)}", fs.Reasons([PIECE, text]).to_rules, ["age", "job"])


def test_brackets_in_words_are_no_broken_conditions():
    for words in ("as {so} says", "see [[1]] and [[Age]]", "of {1, 2}", "{}", "[] {x} or [y]"):
        assert fs.Reasons([f"{words}: {PIECE}, {words}"]).to_rules().describe(0) == "age < 3"


def test_a_rule_that_no_row_satisfies_over_no_features_is_written_and_read_back():
    rules = fs.Reasons(['{"reasons": []}', "junk"]).to_rules(unreadable="uncovered")
    for written in (fs.Rules.from_conditions(rules.to_conditions()), from_arrow(to_arrow(rules))):
        assert conjunctions(written) == conjunctions(rules)
        assert written.features == ()
    named = fs.Rules.parse(["age <= 3", "nothing"])
    assert rules.join(named).group()[0].tolist() == [0, 1, 2, 1]
    assert fs.sufficiency(rules, [0, 1], [[1.0], [2.0]]).unverifiable == 0.5


def test_values_are_read_as_the_column_holds_them_and_told():
    X = pd.DataFrame(
        {"age": [1, 2], "ward": ["37", "38"], "old": [True, False], "day": pd.to_datetime(["2024-01-01"] * 2)}
    )
    row = [("age", "==", "2"), ("ward", "is", 37), ("old", "==", "true"), ("day", "<=", "2024-01-02")]
    for table in (X, pl.DataFrame(X), pl.DataFrame(X).to_arrow()):
        rules = fs.Reasons([json.dumps(objects(row))]).to_rules(table)
        assert rules.describe(0) == 'age == 2 and ward == "37" and old == 1 and day <= 2024-01-02'
        assert "values written as texts, such as '2', were read as numbers (1 time)" in rules.notes
        assert any("read as texts" in note for note in rules.notes)
    bounds = [("age", "<=", "37"), ("ward", "==", "37")]
    assert fs.Reasons([json.dumps(objects(bounds))]).to_rules().describe(0) == 'age <= 37 and ward == "37"'


def test_rationales_without_conditions_cover_everything_and_are_told():
    rules = fs.Reasons(['{"reasons": []}', "[]", PIECE]).to_rules()
    assert rules.describe(0) == rules.describe(1) == "everything"
    assert any("2 rationales name no condition" in note for note in rules.notes)


def test_missing_and_present_are_asked_for():
    row = [one("is null"), one("exists", feature="job"), one("is", None, feature="x")]
    assert fs.read([row]).describe(0) == "age is missing and job is present and x is missing"


def test_operators_are_read_as_people_write_them():
    for written, read in {
        "is_greater_than": "> 3",
        "IS NOT": "!= 3",
        "Equals": "== 3",
        "is": "== 3",
        "≤": "<= 3",
    }.items():
        assert fs.read([one(written, 3)]).describe(0) == f"age {read}"


def test_dicts_of_importances_are_no_conditions():
    assert fs.read([{"feature": 0.3, "op": 0.1, "value": 0.2}]).kind.startswith("importances")
